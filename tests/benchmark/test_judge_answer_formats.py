"""A judge behind a local server that errs by a known rule: in every answer format its answers come back to the rows
that they are about, with what it cannot tell, leaves out or says otherwise when rows are shuffled."""

import hashlib
import json
import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.utils import timezone

from benchmark.models import RunItem
from benchmark.services.cached_answers import cached_answers
from benchmark.services.documents import document_of
from benchmark.services.estimates import askings_of, estimate, estimate_all
from benchmark.services.follow_ups import ask_missing, gaps_of
from benchmark.services.judges import version_of
from benchmark.services.launches import judging_plans, start_run
from benchmark.services.plan_checks import check
from benchmark.services.reports import report_of
from benchmark.suites.omnitom.data import JUDGE
from benchmark.suites.omnitom.steps import JUDGED_AT
from judge.services.judgements import judgements_of, versions_of
from tests.benchmark.planning import planned
from tests.benchmark.rule_server import answering
from tests.benchmark.settled import make_endpoint, published, started, work_off
from tests.cast import new_cast, new_story
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)
BELIEFS = [
    ("Ines", f"the {thing} is in the {place}") for place in ("bag", "drawer") for thing in ("key", "coin", "ring")
]
RESTATED, MURKY, SKIPPED = "As Ines sees it, ", "It is murky whether ", "Left out: "


def table(*rows: tuple[str, str]) -> str:
    return "\n".join(["Actor | Belief | Order", *(f"{actor} | {belief} | 1" for actor, belief in rows)])


def extracted(body) -> str:
    """Two rows in gold's words, one restated, one murky, one that the judge leaves out at first, and an invention."""
    starts = ("", "", RESTATED, MURKY, SKIPPED)
    rows = [(actor, start + belief) for start, (actor, belief) in zip(starts, BELIEFS[1:], strict=True)]
    return table(*rows, ("Ines", "the moon is made of cheese"))


def copied(body) -> str:
    return table(*BELIEFS)


def errs(first: str, other: str) -> bool:
    """One pair of five, the same in both directions and in every order."""
    return hashlib.sha256("|".join(sorted((first, other))).encode()).digest()[0] % 5 == 0


def says(first: str, other: str) -> bool:
    """What the server takes for the same: the truth, but for its errors."""
    true = any(first == start + other or other == start + first for start in ("", RESTATED, MURKY, SKIPPED))
    return true != errs(first, other)


ROW = re.compile(r'^\{"id": .*\}$', re.MULTILINE)


def tables(text: str) -> list[list[dict]]:
    sides = re.split(r"(?m)^(?:Ground truth:|\"gold\")$", text)
    return [[json.loads(line) for line in ROW.findall(side)] for side in (*sides, "")[:2]]


def answer(body) -> str:
    """Judges the rows that it is asked about; the first row of a table that it was shown is never matched by
    `careless`."""
    messages = [message["content"] for message in body["messages"] if message["role"] == "user"]
    whole = tables(messages[0].partition("Answer in the form")[0])
    later = messages[-1] if messages[1:] else messages[0].partition("Answer in the form")[2]
    asked = tables(later) if ROW.search(later) else whole
    flagged = "cannot_tell" in json.dumps(body)
    careless = body["model"] == "careless"
    sides = []
    for rows, other, first in ((asked[0], whole[1], whole[0]), (asked[1], whole[0], whole[1])):
        out = []
        for row in rows:
            if row["belief"].startswith(SKIPPED) and not messages[1:]:
                continue
            matches = [to["id"] for to in other if says(row["belief"], to["belief"])]
            if careless and row["id"] == first[0]["id"]:
                matches = []
            unsure = flagged and row["belief"].startswith(MURKY)
            told = {"cannot_tell": unsure} if flagged else {}
            out.append({"id": row["id"], "matches": [] if unsure else matches, **told})
        sides.append(out)
    return json.dumps({"predictions": sides[0], "gold": sides[1]})


@pytest.fixture
def asked() -> list[dict]:
    return []


@pytest.fixture
def address(asked) -> Iterator[str]:
    def served(body):
        asked.append(body)
        return answer(body)

    with answering(served) as url:
        yield url


@pytest.fixture
def run(monkeypatch):
    """Extractions of two stories by two models that copy gold, wholly and in part."""
    monkeypatch.setitem(FUNCTIONS, "extracted", extracted)
    monkeypatch.setitem(FUNCTIONS, "copied", copied)
    cast = new_cast()
    gold = published(cast, lambda number, **fields: new_story(cast, number, rows=BELIEFS, **fields), 2)
    models = [make_endpoint(name, model=name, options={"function": name}) for name in ("extracted", "copied")]
    return work_off(started(cast, gold, models, ("extract",)))


def judging(run, judge, **options):
    [plan] = judging_plans(run, judges=[judge], options={"self_test": False, **options})
    return plan


def judged(run, judge, **options):
    return work_off(start_run(by=None, plan=judging(run, judge, **options), now=timezone.now()))


def judged_by(run, address, model="exact", **options):
    name = f"{model}-{len(options)}-{'-'.join(map(str, options.values()))}"
    judge = make_endpoint(name, provider="vllm", model=model, base_url=address)
    return judged(run, judge, judge_level=2, **options)


def first_of(run):
    """The first judgement of the model that copies in part."""
    return next(one for one in judgements_of(run) if one.model == "extracted")


def told(run) -> list[tuple[int | None, tuple[int, ...] | None]]:
    """(count, links) of each predicted row of it."""
    return [(row.count, row.links) for row in first_of(run).predicted]


def test_links_and_what_it_cannot_tell_come_back_and_skipped_rows_are_asked_again(run, address, asked):
    judgement = judged_by(run, address, judge_answer_format="links")
    gold = [belief for _, belief in BELIEFS]
    rows = [line.split(" | ")[1] for line in extracted({}).splitlines()[1:]]
    expected = [tuple(at for at, belief in enumerate(gold) if says(row, belief)) for row in rows]
    first = first_of(judgement)
    assert [row.links for row in first.predicted[:3]] == expected[:3] and first.predicted[5].links == expected[5]
    assert first.predicted[3].cannot_tell and first.predicted[4].missing
    of_gold = [tuple(at for at, row in enumerate(rows) if says(row, belief)) for belief in gold]
    assert [row.links for row in first.gold] == of_gold
    assert gaps_of(judgement)["rows"] == 2  # one of each story; what it cannot tell is not asked again
    overall = report_of(judgement).entrants[0].groups["stage1"].parses.overall("repaired")
    low, high = overall.bounds_of("precision")
    assert overall.unjudged.predicted == 4 and low < overall.value_of("precision") <= high
    # Official: MatchCounts read off the links; rows without any count 0 there, as in the released code.
    item = RunItem.objects.filter(entrant__run=judgement, entrant__name="extracted", step=JUDGE).first()
    assert item.official["pred"] == [len(links) for links in expected[:3]] + [0, 0, len(expected[5])]
    ask_missing(by=None, run=judgement, now=timezone.now())
    judgement = work_off(judgement)
    after = first_of(judgement)
    assert after.predicted[4].links == expected[4] and after.predicted[3].cannot_tell
    call = item.entrant.items.filter(step="follow").first().call
    assert "cannot_tell" in call.body and '"enum":[5]' in call.body.replace(" ", "")
    assert after.price is None or len(after.calls) == 2


def test_passes_with_shuffled_rows_outvote_what_depends_on_the_order(run, address):
    links = {"judge_answer_format": "links"}
    once, thrice = (judged_by(run, address, "careless", **links, passes=passes) for passes in (1, 3))
    whole = judged_by(run, address, **links)
    assert told(once)[0] == (0, ()) != told(whole)[0]
    assert told(thrice) == told(whole)
    first = first_of(thrice)
    assert first.predicted[0].flipped and len(first.calls) == 3 and first.predicted[4].missing
    steps = RunItem.objects.filter(entrant__run=thrice).values_list("step", flat=True)
    assert sorted(set(steps)) == sorted(("extract", *JUDGED_AT[:3])) and len(steps) == 4 * 4
    assert len({version_of(one) for one in (once, thrice, whole)}) == 3
    of_version = versions_of(run.project)[version_of(thrice)]
    assert [one.run for of in of_version for one in judgements_of(of)] == [thrice.uid] * 4


def test_rows_in_gold_s_words_are_settled_and_a_story_without_others_makes_no_call(run, address, asked):
    fresh = make_endpoint("fresh", model="fresh", price_input=Decimal(1), price_output=Decimal(1))
    plans = [judging(run, fresh, judge_answer_format="links", settle=rule) for rule in ("none", "exact")]
    whole, less = (estimate_all(askings_of(plan, check(plan)), cached_answers).total for plan in plans)
    assert (whole.calls, whole.to_make, less.calls, less.to_make) == (4, 4, 4, 2)
    assert 0 < less.cost.priced < whole.cost.priced, "what a rule settles is not paid for"
    judgement = judged_by(run, address, judge_answer_format="links", settle="exact")
    assert len(asked) == 2  # of four tables two are copies
    copied_rows = [row for one in judgements_of(judgement) if one.model == "copied" for row in one.rows]
    assert len(copied_rows) == 24 and all(row.settled and row.count == 1 for row in copied_rows)
    first = first_of(judgement)
    assert [row.settled for row in first.predicted] == [True, True, False, False, False, False]
    assert [row.settled for row in first.gold] == [False, True, True, False, False, False]
    text = asked[0]["messages"][-1]["content"]
    assert "Some rows need no judgement" in text and text.count(BELIEFS[1][1]) == 2 < text.count(BELIEFS[3][1])
    copies = RunItem.objects.filter(entrant__run=judgement, entrant__name="copied", step=JUDGE)
    told = ("call__answered_by", "call__attempts_made", "item__made", "score")
    assert set(copies.values_list(*told)) == {("rule", 0, 0, 1.0)}
    assert document_of(judgement) and not judgement.job.has_failed


def test_free_text_takes_passes_and_settled_rows_too_and_old_versions_keep_their_digest(run, monkeypatch):
    judge = make_endpoint("words", model="words", options={"function": "tabled"})
    monkeypatch.setitem(FUNCTIONS, "tabled", lambda body: _tables(body["task"]))
    runs = [judged(run, judge, **options) for options in ({}, {"passes": 2, "settle": "normalised"})]
    plain, more = ([row.count for one in judgements_of(of) for row in one.rows] for of in runs)
    assert plain == more and "rows" not in RunItem.objects.filter(entrant__run=runs[0], step=JUDGE).first().repaired
    first = RunItem.objects.filter(entrant__run=runs[1], step=JUDGE, entrant__name="extracted").first()
    same = RunItem.objects.get(entrant__run=runs[0], step=JUDGE, entrant__name="extracted", sample=first.sample)
    assert (first.official, first.score) == (same.official, same.score)
    assert version_of(runs[0]) != version_of(runs[1])
    told = [str(document_of(of).methods) for of in runs]
    assert "2 passes" in told[1] and "matched by rule" in told[1] and "passes" not in told[0]
    asked_for = estimate(planned(run.dataset, [judge], ("extract", "judge"), judge=judge, passes=3, settle="exact"))
    assert [line.step for line in asked_for.lines] == ["extract", *JUDGED_AT[:3]]
    assert asked_for.lines[1].output_tokens == asked_for.lines[2].output_tokens > 0


def _tables(task) -> str:
    parts = []
    for name, rows, others in (("Prediction", "predictions", "gold"), ("Ground Truth", "gold", "predictions")):
        counts = [
            [*row[:2], sum(row[1].endswith(to[1]) or to[1].endswith(row[1]) for to in task[others])]
            for row in task[rows]
        ]
        parts.append(f"{name} Table:\nActor,Belief,MatchCount\n" + "\n".join(f'{a},"{b}",{n}' for a, b, n in counts))
    return "\n\n".join(parts)
