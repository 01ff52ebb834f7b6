"""Several judges of the same answers in one launch, side by side, and a panel of them."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from benchmark.models import Run
from benchmark.services.judges import judged_beside
from benchmark.services.runs import launched_with
from judge.domain.judgements import PassVerdict, StoryJudgement, row_judgement
from judge.services.judges_beside import rows_of_judges, voted_rows
from tests.benchmark.settled import baselines, make_endpoint, published, started, work_off, written
from tests.cast import new_cast, new_story
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)
ROWS = [("Ines", f"the {thing} is in the bag") for thing in ("key", "coin", "ring", "map")]


def extracted(body) -> str:
    return "\n".join(["Actor | Belief | Order", *(f"{actor} | {belief} | 1" for actor, belief in ROWS)])


def judging(wrong: int):
    """A judge that says 1 of every row but the one at a place, which it matches with nothing."""

    def answer(body) -> str:
        tables = []
        for name in ("Prediction", "Ground Truth"):
            rows = [f"{actor},{belief},{int(at != wrong)}" for at, (actor, belief) in enumerate(ROWS)]
            tables.append(f"{name} Table:\nActor,Belief,MatchCount\n" + "\n".join(rows))
        return "\n\n".join(tables)

    return answer


@pytest.fixture
def cast():
    return new_cast()


@pytest.fixture
def run(cast, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "extracted", extracted)
    for number in range(3):
        monkeypatch.setitem(FUNCTIONS, f"wrong-{number}", judging(number))
        make_endpoint(f"judge-{number}", model=f"judge-{number}", options={"function": f"wrong-{number}"})
    gold = published(cast, lambda number, **fields: new_story(cast, number, rows=ROWS, **fields), 3)
    model = make_endpoint("model", model="model", options={"function": "extracted"})
    baselines()
    return work_off(started(cast, gold, [model], ("extract",)))


def test_one_launch_has_several_judges_whose_majority_outvotes_the_errors_of_each(cast, run, client):
    client.force_login(cast.alice)
    slug = run.project.slug
    chosen = {
        "judge": "judge-0", "judges": ["judge-1", "judge-2", "judge-0"], "judge_level": 2, "shots": 3,
        "judge_answer_format": "same", "passes": "1", "settle": "none", "title": "Three", "budget": "",
    }  # fmt: skip
    estimate = written(client.get(reverse("benchmark:estimate_judging", args=[slug, run.uid]), chosen))
    assert "9 calls" in estimate
    page = client.post(reverse("benchmark:judge_anew", args=[slug, run.uid]), chosen)
    first = Run.objects.get(uid=page.url.rstrip("/").rpartition("/")[2])
    runs = launched_with(first)
    assert [(one.judge.name, one.title) for one in runs] == [(f"judge-{n}", f"Three: judge-{n}") for n in range(3)]
    for one in runs:
        assert not work_off(one).job.has_failed
    assert judged_beside(run) == judged_beside(first) == runs

    # Each judge takes one row of four for unmatched on either side: F1 75 %. No row is unmatched for two of three.
    *single, panel = rows_of_judges(runs, runs)
    assert [row["repaired-f1"].value for row in single] == [0.75] * 3
    assert [row["official-f1"] for row in single] == [0.75] * 3
    assert (panel["repaired-f1"].value, panel["official-f1"], panel["flipped"]) == (1, None, 3 * 6)
    # Two of them differ about two rows of each side: undecided, which bounds state, and no 0.
    pair = rows_of_judges(runs, runs[:2])[-1]
    assert (pair["repaired-f1"].value, pair["cannot_tell"]) == (1, 12)
    assert pair["repaired-precision"].bounds == [0.5, 1]
    assert (pair["alone"], panel["alone"], "alone" in single[0]) == (0, 0, False)

    address = reverse("judge:run_judges", args=[slug, run.uid])
    shown = written(client.get(address))
    assert "One judge alone" in shown and "at least two have to say so" in shown
    assert "Panel of 3, majority" in shown and "judge-1, level 2" in shown and "100.00" in shown
    fewer = f"{address}judges.csv?panel={runs[0].uid}&panel={runs[1].uid}"
    rows = client.get(fewer).content.decode().splitlines()
    assert len(rows) == 1 + 4 and rows[-1].startswith('"Panel of 2, majority",model,100,')
    assert b"tabular" in client.get(f"{address}judges.tex").content
    assert "Judges side by side" in written(client.get(reverse("benchmark:run", args=[slug, run.uid])))


def test_the_command_and_the_interface_take_several_judges(cast, run, client, capsys):
    both = ("--judge", "judge-0", "--judge", "judge-1")
    call_command("runs", "judge", run.uid, *both, "--no-self-test", "--wait", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["of"] == run.uid and len(told["beside"]) == 1 and told["state"] == "finished"
    other = Run.objects.get(uid=told["beside"][0])
    assert other.judge.name == "judge-1" and other.job.state == "finished"
    client.force_login(cast.alice)
    body = {"judge": "judge-2", "judges": ["lexical-judge"], "options": {"self_test": False}}
    address = reverse("api:judge_anew", args=[run.project.slug, run.uid])
    made = client.post(address, json.dumps(body), content_type="application/json")
    assert made.status_code == 201, made.content
    call_command("runs", "judge", run.uid, "--judge", "judge-0", "--no-self-test", "--title", "Once more")
    assert [one.judge.name for one in judged_beside(run)] == ["judge-0", "judge-1", "judge-2", "lexical-judge"]


def judged(*verdicts):
    """What one judge says of a table without gold: a count, None where it cannot tell, "" where it left the row out."""
    passes = [(None if said == "" else PassVerdict(said, None),) for said in verdicts]
    predicted = tuple(row_judgement(None, reading) for reading in passes)
    return [StoryJudgement("v", "r", "model", "s", 1, "c", 0, "call", predicted, (), (), None)]


def test_one_judge_of_a_panel_decides_nothing_alone():
    first, second, third = judged(2, 1, 0, None, ""), judged(None, 1, "", None, ""), judged("", 1, 0, 1, "")
    [voted] = voted_rows([first, second, third]).values()
    assert [row.count for row in voted.rows] == [None, 1, 0, None, None]
    assert [row.cannot_tell for row in voted.rows] == [True, False, False, True, False] and voted.rows[4].missing
    # a judge whose answer gave no row at all is not heard, and silences nobody
    for order in ([judged(), second, third], [second, judged(), third]):
        [voted] = voted_rows(order).values()
        assert [row.count for row in voted.rows] == [None, 1, None, None, None]
