"""Structure against answers: what is joined, what a page shows of it, and who may see it."""

import csv
import io
import json
from threading import Event

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import Assignment, Scope
from annotation.services.accounts import make_token
from benchmark.domain.inference.cases import Case
from benchmark.models import Audience, Run, StoryScores
from benchmark.services.structure import ALL, STORIES, Choice, apart_of, association_of, lowest, sides_of
from benchmark.services.structure_tables import cut_text, signed
from core import kept as keeper
from tests.benchmark.results_world import HOSTILE
from tests.benchmark.results_world import STORIES as NINE
from tests.benchmark.structure_world import structure_world
from tests.patience import PATIENCE
from workers.models import Job, JobState

pytestmark = [pytest.mark.django_db(transaction=True)]


BOTH = "stage1.f1,stage2.overall_accuracy"
LABELLING = "measure=stage2.overall_accuracy"


@pytest.fixture
def world(tmp_path):
    return structure_world(tmp_path)


@pytest.fixture
def page(world, client):
    """Opens the page as Alice: `page("cut=40")`."""
    client.force_login(world.alice)
    return lambda query="", place="": client.get(f"{world.base}/results/structure/{place}?{query}")


def told(response) -> str:
    return " ".join(response.content.decode().split())


def choice_of(world, **chosen) -> tuple:
    sides = sides_of(world.dataset.project)
    key = chosen.pop("measure", "stage2.overall_accuracy")
    measure = next(of for of in sides.measures if of.key == key)
    answers = sides.groups("answers")[0]
    models = tuple(sides.models(measure, answers.key))
    return sides, Choice(measure, answers, chosen.pop("models", models), **chosen)


def table_of(world, model: str, **chosen):
    """(the association of this model alone, its table)"""
    association = association_of(*choice_of(world, models=(model,), **chosen))
    return association, association.tables[model]


def scores_are(world, *, f1: list[float], accuracy: list[float]) -> None:
    """Give the mute model these scores of the first stories, nought of the others, and right and wrong answers in
    turn."""
    answered = StoryScores.objects.get(run=world.answers, entrant__name=HOSTILE)
    columns = answered.metrics["tombench"]["repaired"]
    columns["values"]["accuracy"] = [float(at % 2 == 0) for at in range(len(columns["stories"]))]
    columns["unreadable"] = {}
    answered.save()
    kept = StoryScores.objects.get(run=world.run, entrant__name=HOSTILE)
    for group, share, values in (("stage1", "f1", f1), ("stage2", "overall_accuracy", accuracy)):
        columns = kept.metrics[group]["repaired"]
        columns["values"][share] = [*values, *[0.0] * (len(columns["stories"]) - len(values))]
        columns |= {"unreadable": {}, "unjudged": {}}
    kept.save()


def test_models_of_both_runs_are_joined_and_counted_over_stories_of_the_same_text(world):
    sides, choice = choice_of(world)
    assert choice.models == tuple(sorted(["majority", "random", HOSTILE], key=str))  # omniscient answered no question
    association = association_of(sides, choice)
    joined = association.frame[association.frame["model"] == "random"]
    assert len(joined) == 2 * NINE and association.left_out == [1, 0, 0]
    # the questions 1 and 2 are about the first story
    assert joined[["story", "question"]][:3].tolist() == [(1, 1), (1, 2), (2, 3)]
    assert association.stories == frozenset(range(1, NINE + 1))
    assert list(association.tables) == [ALL, *choice.models]
    assert {part for part, *_ in association.categories} == {row.category for row in world.dataset.samples.all()}
    _, table = table_of(world, "random", cut=0.5)
    right = world.answers.entrants.get(name="random").items.filter(repaired_score=1.0, sample__number__lte=2 * NINE)
    assert table.cells[0] + table.cells[2] == right.count()
    assert sum(table.cells) == 2 * NINE and not table.missing
    # what nobody can read is missing, with bounds
    _, table = table_of(world, HOSTILE, cut=0.5)
    assert sum(table.cells) == 0 and table.no_score == table.missing == 2 * NINE
    assert table.bounds == (-1.0, 1.0) and table.difference.value is None
    assert sum(table_of(world, "random", counted=STORIES)[1].cells) == NINE, "whole stories count once"
    association, table = table_of(world, "random")
    assert [len(apart_of(association, right)) for right in ("structure", "answer")] == [table.cells[1], table.cells[2]]
    assert sum(table.cells[1:3]) > 0


def test_the_lower_of_two_scores_is_missing_where_one_is_and_bounds_have_no_minus_before_nought():
    # 0.8 and 0.4: the lower; one missing: between 0 and the other's best; one undefined: none
    known, low = Case.scored(0.8), Case.scored(0.4)
    assert lowest([known, low]) == (0.4, 0.4, 0.4)
    assert lowest([known, Case(0.0, 1.0, None, True)]) == (None, 0.0, 0.8)
    assert lowest([known, None]) is None
    assert [signed(100 * value, "") for value in (-0.0, -0.0004, 0.0, -0.5)] == ["0.0", "0.0", "0.0", "−50.0"]
    assert signed(-0.04) == "+0.0"


def test_extraction_and_labelling_are_right_together_where_both_are_on_page_by_command_and_api(world, page, capsys):
    scores_are(world, f1=[0.9, 0.9, 0.2, 0.2], accuracy=[0.8, 0.1, 0.8, 0.1])
    sides, choice = choice_of(world, measure=BOTH, cut=0.5)
    assert choice.measure.label == "F1 of extraction and Accuracy of labelling"
    assert sides.measures[-1].key == BOTH, "the single figures come first"
    assert choice.models == (HOSTILE,), "only one model was asked for both and for answers"
    association = association_of(sides, choice)
    assert cut_text(association) == f"{choice.measure.label}, each of at least 50 %"
    seen = dict(association.frame[["story", "structure"]].tolist())
    assert [seen[number] for number in (1, 2, 3, 4)] == [0.8, 0.1, 0.2, 0.1]
    both, structure_alone, *_ = association.tables[HOSTILE].cells
    assert both + structure_alone == 2, "two questions about the only story of which both are right"
    text = page(f"measure={BOTH}&cut=50")
    shown = next(tab["key"] for tab in text.context["apart"] if tab["count"])
    text = page(f"measure={BOTH}&cut=50&show={shown}")
    assert "each of at least 50 %" in text.content.decode() and "Both together" in text.content.decode()
    assert text.context["choice"].measure.key == BOTH
    row = next(row for row in text.context["rows"])
    story = page(row["href"].partition("?")[2].replace("&amp;", "&"), f"{row['story']}/").content.decode()
    assert "Stage 1: extraction" in story and "Stage 2: labelling" in story, "both parts stand side by side"
    slug = world.dataset.project.slug
    filters = ("--filter", f"measure={BOTH}", "--filter", "cut=50")
    call_command("results", "structure-two-by-two", "--project", slug, *filters, "--json")
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["model"] == HOSTILE
    api, address, query = api_of(world.alice), f"/api/v1/projects/{slug}/structure/", {"measure": BOTH, "cut": "50"}
    [crossed] = api.get(address, query).json()["models"]
    assert all(crossed[name] == row[name] for name in ("both", "structure", "answer", "neither"))
    assert api.get(address, query | {"cut": "much"}).status_code == 422
    csv_file = api.get(f"{address}tables/two-by-two/", query | {"format": "csv"})
    assert csv_file.status_code == 200 and csv_file.content.count(b"\r\n") == 2


def api_of(user) -> APIClient:
    _, secret = make_token(by=user, name="tests", scope=Scope.READ, days=None, now=timezone.now())
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {secret}")
    return client


def test_the_page_says_that_it_is_computed(world, page, monkeypatch, request):
    for kept in StoryScores.objects.filter(run=world.answers):
        kept.metrics["tombench"]["official"] = None
        kept.save()
    assert "no official figures of multiple choice" in page("parse=official").content.decode()
    monkeypatch.setattr(keeper, "WAIT_SECONDS", 0.01)
    busy = Event()
    request.addfinalizer(busy.set)
    for _ in range(2):  # both of its threads
        keeper._pool.submit(busy.wait, PATIENCE)
    assert "no official figures of multiple choice" in page("parse=official").content.decode(), "it is kept"
    assert "This is being computed" in page().content.decode()


def test_the_page_keeps_its_choice_and_leads_to_stories_and_files(world, page):
    text = told(page("cut=40&measure=stage2.acc_order&model=random&counted=stories"))
    assert 'value="40"' in text and 'value="stage2.acc_order" selected' in text
    assert "of at least 40 %" in text and "1 of 3 models" in text
    assert "cut=40" in text and "model=random" in text  # in the addresses of files and stories
    text = told(page())
    assert "the median" in text and "<script>alert(1)" not in text and "Beyond category" in text
    assert "&#x27;much&#x27; is not a number from 0 to 100" in told(page("cut=much&parse=loud&measure=none"))
    # a story is read side by side
    apart = apart_of(table_of(world, "random")[0], "structure")[0]
    found = page(f"model=random&{LABELLING}&show=structure").content.decode()
    address = f"{world.base}/results/structure/{apart['story']}/?of=random&amp;question={apart['question']}"
    assert address in found
    text = page(f"of=random&question={apart['question']}&{LABELLING}", f"{apart['story']}/").content.decode()
    sample = world.dataset.samples.get(number=apart["story"])
    question = f"first person think? ({apart['question']})"
    for shown in (sample.text[:40], sample.beliefs[0]["belief"][:20], question, "It is there"):
        assert shown in text
    assert page("of=random&question=1", "2/").status_code == 404  # the question is about another story
    assert page("of=nobody&question=1", "1/").status_code == 404
    # files have every model and question
    long = list(csv.DictReader(io.StringIO(page(LABELLING, "tables/observations.csv").content.decode())))
    assert len(long) == 3 * 2 * NINE and {row["structure right"] for row in long} == {"yes", "no", "missing"}
    assert len(page(LABELLING, "tables/observations.json").json()["rows"]) == len(long)
    for name in ("two-by-two", "association", "categories", "measures"):
        assert page("", f"tables/{name}.json").status_code == 200
        assert r"\begin{table" in page("", f"tables/{name}.tex").content.decode()
    assert b"<svg" in page("", "figures/right-answers.svg").content
    assert page("", "tables/none.csv").status_code == 404 and page("", "figures/none.svg").status_code == 404
    assert page("cut=much", "tables/two-by-two.csv").status_code == 302  # to the page, which says why
    baselines = "Among all models are baselines, which the choice above can leave out: majority, random."
    several, one = (page(query, "tables/association.json").json() for query in (LABELLING, f"{LABELLING}&model=random"))
    assert baselines in several["notes"] and not any("Among all models" in note for note in one["notes"])


def test_a_run_that_is_archived_or_under_way_has_no_part_in_it(world, page, client):
    need, button = "No model has both: it needs two finished runs of the same models", f'{world.base}/runs/new/">Launch'
    Job.objects.filter(run=world.answers).update(state=JobState.RUNNING, finished_at=None, outcome="")
    assert need in told(page())
    Job.objects.filter(run=world.answers).update(
        state=JobState.FINISHED, outcome="finished", finished_at=timezone.now()
    )
    Run.objects.filter(pk=world.answers.pk).update(archived_at=timezone.now())
    assert need in told(page()) and button in told(page())
    assert page("", "tables/two-by-two.csv").status_code == 302
    world.show_to(Audience.EVERYONE)
    client.force_login(world.esi)
    text = told(client.get(f"{world.base}/results/structure/"))
    assert need in text and button not in text


def test_open_work_on_a_story_makes_all_of_it_wait(world, client):
    world.show_to(Audience.EVERYONE)
    client.force_login(world.bob)
    base = f"{world.base}/results/structure/"
    assert client.get(base).status_code == 200 and "Beyond category" in client.get(base).content.decode()
    project = world.dataset.project
    story = project.stories.get(number=8)
    Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=project.overlap)
    text = client.get(base).content.decode()
    assert "you still have work to do on 1 of them" in text and "Beyond category" not in text
    files = (
        "tables/observations.csv",
        "tables/two-by-two.json",
        "figures/right-answers.svg",
        "1/?of=random&question=1",
    )
    assert [client.get(base + file).status_code for file in files] == [403] * 4
    api, address = api_of(world.bob), f"/api/v1/projects/{project.slug}/structure/"
    queries = ("", f"?{LABELLING}", f"?measure={BOTH}&counted=stories&parse=official")
    assert {api.get(address + query).status_code for query in queries} == {403}
    assert api.get(f"{address}tables/observations/?format=csv").status_code == 403


def test_the_command_prints_and_writes_the_same(world, tmp_path, capsys):
    slug = world.dataset.project.slug
    ask = ["--filter", "model=random", "--filter", "cut=50", "--filter", LABELLING]
    call_command("results", "structure-association", "--project", slug, *ask)
    assert "random" in capsys.readouterr().out
    file = tmp_path / "long.csv"
    call_command("results", "structure-observations", "--project", slug, *ask, "--json", "--output", str(file))
    assert len(file.read_text().splitlines()) == 1 + 2 * NINE
    for wrong, sentence in (
        ("measure=stage9", "there is none of that name"),
        ("model=nobody", "there are: "),
        ("cut=much", "is not a number from 0 to 100"),
        ("colour=red", "expected one of measure"),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("results", "structure-association", "--project", slug, "--filter", wrong)
