"""Launching on its page: the estimate, what is refused and where it says so, one run for a form that is sent twice."""

from copy import copy
from decimal import Decimal

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from annotation.models import AuditEvent, Split
from benchmark.models import AnswerFormat, Run, RunItem
from benchmark.services import estimates
from benchmark.services.asking import request_of, step_request
from benchmark.services.cached_answers import cached_answers
from benchmark.services.datasets import publish_version
from benchmark.services.detectable import can_show
from benchmark.services.documents import document_of
from benchmark.services.estimates import extent_of, sizes_of
from benchmark.services.launches import judging_plans, run_again, start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import RunRefused, draft_of
from benchmark.suites.omnitom import steps
from benchmark.suites.omnitom.prompting.sets import built_in
from benchmark.views import launch
from tests.benchmark.planning import planned
from tests.benchmark.settled import make_endpoint, published, settle, started, work_off, written
from workers.domain.pricing import Money
from workers.models import Call, Job

pytestmark = pytest.mark.django_db(transaction=True)

ALL = ("extract", "judge", "label")
JUDGED = {"judge_answer_format": "same", "passes": "1", "settle": "none"}
ASKED = {
    "dataset": "1", "steps": ALL, "judge": "lexical-judge", "judge_level": "4", "shots": "3", "with_story": "on",
    "level": "3", "answer_format": "text", "examples": "1", "examples_from": "sample", "prompt_set": "omnitom-1",
    "max_tokens": "6000", "seed": "1", "repetitions": "1", "once": "token-1", **JUDGED,
}  # fmt: skip
NEW = "/p/minds/runs/new/"
LABEL = {"endpoints": ["majority"], "steps": ["label"]}


def known(there: int) -> str:
    return f"{there} of {there} answers are there already"


@pytest.mark.once
def test_the_page_says_what_is_missing_and_offers_what_each_endpoint_can_do(alice, cast, make_story):
    assert "No gold is published yet" in written(alice.get(NEW))
    published(cast, make_story, 1)
    assert "No model is registered" in written(alice.get(NEW))
    make_endpoint("lexical-judge", provider="baseline", model="lexical-judge")
    assert "No model is registered" in written(alice.get(NEW))
    for name in ("majority", "random", "omniscient"):
        make_endpoint(name, provider="baseline", model=name)
    make_endpoint("small", json_schema=False)
    make_endpoint("off", active=False)
    told = written(alice.get(NEW))
    assert 'value="majority"' in told and 'value="small"' in told and 'value="off"' not in told
    assert 'name="endpoints" value="lexical-judge"' not in told, "a judge alone takes no part"
    assert told.count(">baseline<") == 3
    for able in ("free text only", "only labelling", "only extraction"):
        assert able in told, able


def test_a_form_that_is_sent_twice_makes_the_run_that_was_chosen_once(alice, cast, gold, models):
    asked = ASKED | {"endpoints": ["omniscient", "majority"], "budget": "2.5", "limit": "3", "title": "Baselines"}
    addresses = {alice.post(NEW, asked)["Location"] for _ in range(2)}
    made = Run.objects.get()
    assert addresses == {f"/p/minds/runs/{made.uid}/"} and Job.objects.count() == 1
    assert (made.title, made.judge.name, made.created_by) == ("Baselines", "lexical-judge", cast.alice)
    assert made.job.budget == Decimal("2.5")
    assert (made.params["stories"], made.params["shots"], made.params["with_story"]) == (3, 3, True)
    assert RunItem.objects.count() == 3 + 3  # extraction by omniscient, labelling by majority, of three stories
    assert AuditEvent.objects.filter(action="run.started").count() == 1
    alice.post(NEW, ASKED | LABEL | {"once": "token-2"})
    assert Run.objects.count() == 2 and Run.objects.latest("pk").judge is None, "nothing is judged"


REFUSED = [
    ({}, "endpoints", "Tick at least one model."),
    ({"endpoints": ["majority"], "steps": []}, "steps", "Tick at least one step."),
    ({"endpoints": ["majority"], "steps": ["judge"]}, "steps", "Judging needs extractions"),
    ({"endpoints": ["omniscient"], "judge": ""}, "judge", "Judging needs a judge"),
    ({"endpoints": ["omniscient"], "steps": ["label"]}, "endpoints", "omniscient is a baseline that can only extract"),
    (LABEL | {"endpoints": ["plain"], "answer_format": "structured"}, "answer_format", "plain cannot hold its answers"),
    (LABEL | {"batch": "on"}, "batch", "majority has no batch form"),
    (LABEL | {"max_tokens": "0"}, "max_tokens", "Ensure this value is greater than or equal to 1."),
    (LABEL | {"max_tokens": "many"}, "max_tokens", "Enter a whole number."),
    (LABEL | {"max_tokens": ""}, "max_tokens", "This field is required."),
    (LABEL | {"budget": "-1"}, "budget", "greater than or equal to 0"),
    (LABEL | {"split": "held-out"}, "split", "leaves no story"),
]


@pytest.mark.once
def test_a_refusal_stands_beside_its_field_and_in_the_estimate_and_makes_nothing(alice, cast, gold, models):
    make_endpoint("plain", provider="openai", base_url="http://127.0.0.1:1/v1", json_schema=False)
    Split.objects.create(project=cast.project, name="held-out")
    for chosen, field, sentence in REFUSED:
        response = alice.post(NEW, ASKED | chosen)
        assert (response.status_code, list(response.context["form"].errors)) == (200, [field]), chosen
        assert sentence in written(response), chosen
        if field != "batch":  # half the price, and whether it can be had is asked at the launch
            assert sentence in written(alice.get(f"{NEW}estimate/", ASKED | chosen)), chosen
    assert not Run.objects.exists() and not Job.objects.exists()
    assert alice.get(f"{NEW}estimate/").status_code == 200


# --- the estimate


@pytest.mark.once
def test_sizes_are_those_of_the_requests_and_money_is_counted_by_hand(gold, models):
    """Built whole for one story of each category and by addition for the others: the same as building all."""
    prompts, judge = built_in(), models["lexical-judge"]
    model = make_endpoint("paid", price_input=Decimal(2), price_output=Decimal(10))  # a million tokens
    for answer_format in AnswerFormat.values:
        for level in (1, 4):
            plan = planned(gold, [model], ALL, judge=judge, answer_format=answer_format, level=level)
            stories = check(plan)
            draft = draft_of(plan, stories)
            parts = [part for part in estimates.parts_of(plan, stories) if part.step in ALL]
            sizes = sizes_of(draft, [(part.step, story) for part in parts for story in part.stories])
            for step in ALL:
                for story in stories:
                    whole = extent_of(request_of(story, step, draft, prompts))
                    assert sizes[step][story.pk].question == whole, (answer_format, level, step, story)
    plan = planned(gold, [model], ["label"], max_tokens=1000)
    found = estimates.estimate(plan)
    [line] = found.lines
    draft = draft_of(plan, found.stories)
    asked = [extent_of(step_request(story, "label", draft, prompts)) for story in found.stories]
    # three ASCII characters to a token, rounded up for each call, and every other byte one
    tokens = sum(-(-one.ascii // 3) + one.other_bytes for one in asked)
    assert (line.calls, line.cached, line.input_tokens) == (4, None, tokens)
    assert line.cost == (2 * tokens + 10 * line.output_tokens) / Decimal(1_000_000)
    assert line.most == (2 * tokens + 10 * 4000) / Decimal(1_000_000)
    assert found.total.calls == found.total.to_make == 4
    half = estimates.estimate(planned(gold, [model], ["label"], max_tokens=1000, batch=True))
    assert half.lines[0].cost == line.cost / 2
    named = estimates.estimate(planned(gold, [model], ["label"], max_tokens=1000, answer_format="structured"))
    assert named.lines[0].output_tokens > line.output_tokens, "with the name of its dimension beside each label"
    free = estimates.estimate(planned(gold, [models["omniscient"], models["majority"]], ALL, judge=judge))
    lines = [(line.model.name, line.step, line.calls) for line in free.lines]
    assert lines == [("omniscient", "extract", 4), ("omniscient", "judge", 4), ("majority", "label", 4)]
    assert (free.total.input_tokens, free.total.most) == (0, Money())


def test_the_estimate_looks_into_the_ledger_and_warns_of_what_may_not_do(alice, cast, gold, models, monkeypatch):
    def held(*endpoints, steps=ALL) -> dict:
        plan = planned(gold, endpoints, steps, judge=models["lexical-judge"])
        stories = check(plan)
        return cached_answers(plan, stories, estimates.parts_of(plan, stories))

    chosen = models["omniscient"], models["majority"]
    assert {len(there) for there in held(*chosen).values()} == {0}
    work_off(started(cast, gold, chosen, ALL, judge=models["lexical-judge"]))
    assert {key[1]: len(there) for key, there in held(*chosen).items()} == {"extract": 4, "judge": 4, "label": 4}
    # a baseline reads the data, whatever the prompt's level
    for asked, there in (
        ({"endpoints": ["omniscient", "majority"]}, 12),
        ({"endpoints": ["majority"], "level": "4"}, 4),
    ):
        told = written(alice.get(f"{NEW}estimate/", ASKED | asked | {"ledger": "1"}))
        assert known(there) in told and "<strong>0 calls</strong>" in told
    run = work_off(started(cast, gold, chosen, ALL, judge=models["lexical-judge"]))
    assert run.job.items.filter(made=True).count() == 0, "what the estimate says is what happens"
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    model = make_endpoint("remote", provider="openai", api_key_env="NO_SUCH_KEY")
    assert held(model, steps=["label"]) == {(model.pk, "label"): set()}, "its key may be elsewhere"
    make_endpoint("tiny-context", context_tokens=6100)
    make_endpoint("paid", price_output=Decimal(10))
    for asked, sentence, warns in (
        ({"endpoints": ["tiny-context"]}, "4 questions of labelling cannot fit into the context", True),
        ({"endpoints": ["paid"], "budget": "0.01"}, "The budget may not suffice", True),
        ({"endpoints": ["paid"], "budget": "10"}, "The budget may not suffice", False),
    ):
        told = written(alice.get(f"{NEW}estimate/", ASKED | {"steps": ["label"]} | asked))
        assert (sentence in told) == warns, asked


@pytest.mark.once
def test_what_it_can_show_takes_the_spread_of_earlier_runs(alice, cast, gold, models):
    settle(cast.project.stories.get(number=1), context="Deceptive")  # else every story would give the same difference
    gold, _ = publish_version(by=cast.alice, project=cast.project)
    chosen = [models["majority"], models["random"]]
    asked = ASKED | {"dataset": "2", "endpoints": ["majority", "random"], "steps": ["label"]}
    plan = planned(gold, chosen, ["label"])
    stories = [copy(one) for one in list(gold.samples.all()) * 3]
    for at, one in enumerate(stories):
        one.cluster = f"story {at}"
    categories = len({one.category for one in stories})
    [before] = can_show(plan, stories)
    tests = 1 + categories if categories > 1 else 1
    assert (before.sd_is_default, before.tests, before.stories) == (True, tests, 12)
    assert "so few stories can show no difference" in written(alice.get(f"{NEW}estimate/", asked))  # there are four
    work_off(started(cast, gold, chosen))
    [after] = can_show(plan, stories)
    assert not after.sd_is_default and after.difference < before.difference
    found = estimates.estimate(plan)
    shown = {"can_show": [before, after], "estimate": found, "total": found.total}
    page = " ".join(render_to_string("benchmark/launch/_estimate.html", shown).split())
    assert "spread assumed at its most cautious" in page and "spread as in earlier runs" in page
    assert f"differences from <strong>{100 * after.difference:.1f} points</strong>" in page


@pytest.mark.once
def test_the_prompt_is_shown_before_anything_is_asked_and_a_report_states_what_was_sent(alice, cast, gold, models):
    reader = make_endpoint("reader")
    of_a_judge = {"endpoints": ["majority"], "judge": "reader"}
    for asked, words, prompted in (
        (of_a_judge | {"shown": "extract"}, "Story 1.", True),
        (of_a_judge | {"shown": "label"}, "The key is in the bag", True),
        (of_a_judge | {"shown": "judge"}, "Gold stands in", True),
        ({"endpoints": ["omniscient"], "shown": "judge"}, "lexical-judge reads no prompt", False),
        ({}, "Tick at least one model", False),
    ):
        told = written(alice.get(f"{NEW}preview/", ASKED | asked))
        assert words in told and ("tokens." in told and "<h3>System</h3>" in told) == prompted, asked
    run = work_off(started(cast, gold, [reader], max_tokens=700, seed=7))
    sent = dict(document_of(run).facts)["Sent to reader, labelling"]
    assert "max_tokens: 700" in sent and "seed: 7" in sent and "messages" not in sent


# --- more of a run that is there


@pytest.fixture
def extracted(cast, gold, models):
    chosen = [models["omniscient"], models["majority"]]
    return work_off(started(cast, gold, chosen, ALL, judge=models["lexical-judge"], limit=2))


def estimated(client, run, what: str, **asked) -> tuple[tuple[int, int], str]:
    """(calls to make, calls in all), and what the fragment says, when the ledger was looked into."""
    response = client.get(f"/p/minds/runs/{run.uid}/{what}/estimate/", asked | {"ledger": "1"})
    if response.context["problems"]:
        return (0, 0), written(response)
    total = response.context["total"]
    return (total.to_make, total.calls), written(response)


def test_another_judge_reads_the_same_extractions(alice, cast, gold, models, extracted):
    judge = make_endpoint("strict", provider="baseline", model="lexical-judge", options={"threshold": 0.9})
    address = f"/p/minds/runs/{extracted.uid}/judge/"
    asked = {"judge_level": "4", "shots": "0", "once": "j1"} | JUDGED
    assert estimated(alice, extracted, "judge", judge="strict", **asked)[0] == (2, 2)
    told, page = estimated(alice, extracted, "judge", judge="lexical-judge", **asked)
    assert told == (0, 2) and known(2) in page, "this judge has answered"
    make_endpoint("paid", price_output=Decimal(10))
    _, page = estimated(alice, extracted, "judge", judge="paid", **asked)
    # two answers of at most 6,000 tokens at 10 dollars a million
    assert "$0.12" in page and "omniscient" in page and "<strong>2 calls</strong>" in page
    page = written(alice.get(address))
    assert "Judge anew" in page and f'hx-get="{address}estimate/"' in page
    new = {alice.post(address, asked | {"judge": "strict"})["Location"] for _ in range(2)}
    made = Run.objects.get(source=extracted)
    assert len(new) == 1, "sent twice"
    assert (made.steps, made.judge, made.params["with_story"], made.params["shots"]) == (["judge"], judge, False, 0)
    assert [one.name for one in made.entrants.all()] == ["omniscient"], "majority has no extraction"
    work_off(made)
    assert made.job.items.count() == 2 and RunItem.objects.filter(entrant__run=made, step="judge").count() == 2
    labelled = started(cast, gold, [models["majority"]])
    page = written(alice.get(f"/p/minds/runs/{labelled.uid}/judge/"))
    assert "There is nothing to judge" in page and "The run has no extractions yet." in page
    waiting, jobs = started(cast, gold, [models["omniscient"]], ["extract"]), Job.objects.count()
    [plan] = judging_plans(waiting, judges=[models["lexical-judge"]], options={"shots": 0})
    with pytest.raises(RunRefused):
        start_run(by=None, plan=plan, now=timezone.now())
    assert Job.objects.count() == jobs, "no job without items is left behind"


def test_a_run_is_extended_and_read_again_and_says_so(alice, cast, extracted, models, settings, monkeypatch):
    settings.CREDENCE_VERSION = "9.9"
    base = f"/p/minds/runs/{extracted.uid}/"

    def posted(what: str, **sent) -> str:
        return written(alice.post(f"{base}{what}/", sent, follow=True))

    told = written(alice.get(f"{base}extend/"))
    assert "2 stories of the dataset are not in it yet" in told and f'hx-get="{base}extend/estimate/"' in told
    assert 'value="random"' in told and 'value="majority"' not in told
    assert "Tick a model, or more stories." in posted("extend")
    models["omniscient"].options = {"seed": 3}
    models["omniscient"].save()
    # random labels 4 stories; majority labels and omniscient extracts 2 more each
    assert "8 questions were added." in posted("extend", endpoints=["random"], more="on")
    assert "are all in the run already" in posted("extend", more="on")
    calls = Call.objects.count()
    assert f"{base}read/" in written(alice.get(base)) and "every answer reads as it did." in posted("read")
    extracted.refresh_from_db()
    first, second = extracted.spec["later"]
    assert (first["did"], first["models"], first["stories"], first["by"]["code"]) == ("extended", ["random"], 2, "9.9")
    assert first["settings"] == ["omniscient"] and first["by"]["packages"]["django"] and first["by"]["python"]
    assert (second["did"], second["parses"]) == ("read again", 0)
    facts = dict(document_of(extracted).facts)
    [said] = [text for name, text in facts.items() if name.startswith("Extended ")]
    assert said.startswith("models random; 2 stories; with settings changed since the launch: omniscient; Credence 9.9")
    assert any(name.startswith("Read again ") for name in facts)
    assert "Credence 9.9" in written(alice.get(f"{base}made/"))
    read = steps.parse_stage2
    monkeypatch.setattr(steps, "parse_stage2", lambda record, answer, **how: read(record, "", **how))
    assert "2 parses changed." in posted("read") and Call.objects.count() == calls
    monkeypatch.setattr(launch, "MOST_READ_AT_ONCE", 5)
    assert f"manage.py runs reread {extracted.uid}" in posted("read")


def test_again_makes_the_same_without_a_call_or_says_why_not(alice, cast, extracted, models):
    address = f"/p/minds/runs/{extracted.uid}/again/"
    told, page = estimated(alice, extracted, "again")
    assert told == (0, 6) and known(6) in page  # two extractions, two judgements, two labellings
    assert estimated(alice, started(cast, extracted.dataset, [models["random"]], limit=2), "again")[0] == (2, 2)
    page = written(alice.get(address))
    assert f"{address}estimate/" in page and "What the ledger holds is not asked again" in page
    quick = written(alice.get(f"{address}estimate/"))
    assert f'hx-get="{address}estimate/?ledger=1"' in quick and "looking into the ledger" in quick
    [new] = {alice.post(address, {"once": "a1"})["Location"] for _ in range(2)}
    made = Run.objects.latest("pk")
    assert made.uid in new and made.params == extracted.params
    work_off(made)
    assert made.job.items.filter(made=True).count() == 0
    assert run_again(by=cast.alice, run=made, now=timezone.now()).pk not in (made.pk, extracted.pk)
    models["majority"].options = {"threshold": 2}  # it can no longer be asked
    models["majority"].save()
    assert estimated(alice, extracted, "again")[0][1] == 6
    models["majority"].active = False
    models["majority"].save()
    assert "The endpoint majority is switched off." in written(alice.post(address, follow=True))


def test_the_estimate_of_an_extension_counts_what_is_new(alice, cast, gold, models, extracted):
    # Two of four stories are new: omniscient extracts them, the judge judges them, majority labels them. Their gold is
    # that of the first two, and majority reads no story: its two answers are known.
    assert estimated(alice, extracted, "extend", more="on")[0] == (4, 6)
    # and random labels all four
    told, page = estimated(alice, extracted, "extend", more="on", endpoints=["random"])
    assert told == (8, 10) and "<bdi>random</bdi>" in page
    assert estimated(alice, extracted, "extend", more="on", limit="2")[0] == (0, 0), "they are there"
    work_off(started(cast, gold, [models["random"]], limit=3))
    told, page = estimated(alice, extracted, "extend", endpoints=["random"])
    assert told == (0, 2) and known(2) in page
    assert "Tick a model, or more stories." in estimated(alice, extracted, "extend")[1]
    before = extracted.job.items.filter(made=True).count()
    alice.post(f"/p/minds/runs/{extracted.uid}/extend/", {"more": "on"})
    work_off(extracted)
    assert extracted.job.items.filter(made=True).count() - before == 4, "what the estimate says is what happens"
    run = work_off(started(cast, gold, [make_endpoint("paid", price_output=Decimal(10))], limit=1, max_tokens=1000))
    _, page = estimated(alice, run, "extend", more="on")
    # three stories are new, each with an answer of at most 1,000 tokens at 10 dollars a million
    assert "$0.03" in page and "<strong>3 calls</strong>" in page
