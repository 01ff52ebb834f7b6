"""Launching on its page: the estimate, what is refused and where it says so, one run for a form that is sent twice."""

from __future__ import annotations

from copy import copy
from decimal import Decimal

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from annotation.models import AuditEvent
from benchmark.models import AnswerFormat, Dataset, Run, RunItem
from benchmark.services import estimates
from benchmark.services.asking import step_request
from benchmark.services.cached_answers import cached_answers
from benchmark.services.datasets import publish_version
from benchmark.services.detectable import can_show
from benchmark.services.documents import document_of
from benchmark.services.launches import judging_plans, run_again, start_run
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused, draft_of
from benchmark.services.question_sizes import extent_of, request_of
from benchmark.suites.omnitom import steps
from benchmark.suites.omnitom.prompting.sets import built_in
from benchmark.views import launch
from benchmark.views.launch import able_text
from tests.benchmark.planning import planned
from tests.benchmark.settled import baselines, make_endpoint, published, settle, started, work_off, written
from workers.domain.pricing import Money
from workers.models import Call, Job

pytestmark = pytest.mark.django_db(transaction=True)

JUDGED = {"judge_answer_format": "same", "passes": "1", "settle": "none"}
ASKED = {
    "dataset": "1", "steps": ["extract", "judge", "label"], "judge": "lexical-judge", "judge_level": "4", "shots": "3",
    "with_story": "on", "level": "3", "answer_format": "text", "examples": "1", "examples_from": "sample",
    "prompt_set": "omnitom-1",
    "max_tokens": "6000", "seed": "1", "repetitions": "1", "once": "token-1",
    **JUDGED,
}  # fmt: skip
ESTIMATE = "/p/minds/runs/new/estimate/"


@pytest.fixture
def alice(cast, client):
    client.force_login(cast.alice)
    return client


@pytest.fixture
def models(db):
    return baselines()


@pytest.fixture
def gold(cast, make_story):
    return published(cast, make_story)


def plan_for(dataset, *endpoints, steps=("extract", "judge", "label"), **fields) -> Plan:
    return planned(dataset, endpoints, steps, **fields)


def known(plan: Plan) -> dict:
    stories = check(plan)
    return cached_answers(plan, stories, estimates.parts_of(plan, stories))


# --- the page
# ------------------------------------------------------------------------------------------------------------------
def test_the_page_says_what_is_missing_before_a_run_can_be(alice, cast, make_story):
    assert "No gold is published yet" in written(alice.get("/p/minds/runs/new/"))
    published(cast, make_story, 1)
    assert "No model is registered" in written(alice.get("/p/minds/runs/new/"))
    make_endpoint("judge-only", provider="baseline", model="lexical-judge")
    assert "No model is registered" in written(alice.get("/p/minds/runs/new/"))


@pytest.mark.once
def test_the_form_offers_what_each_endpoint_can_do(alice, gold, models):
    make_endpoint("small", json_schema=False)
    make_endpoint("off", active=False)
    told = written(alice.get("/p/minds/runs/new/"))
    assert 'value="majority"' in told and 'value="small"' in told and 'value="off"' not in told
    assert 'name="endpoints" value="lexical-judge"' not in told, "a judge alone takes no part"
    assert "free text only" in told and told.count(">baseline<") == 3


def test_what_a_model_can_do_is_one_short_line():
    assert able_text(["Extraction", "Labelling"], []) == "every step"
    assert able_text(["Labelling"], ["Extraction", "Judging"]) == "only labelling"
    assert able_text(["Extraction", "Labelling"], ["Judging"]) == "not judging"
    assert able_text(["A", "B"], ["C", "D", "E"]) == "2 of 5 steps"
    assert able_text([], ["A"]) == "no step"


def test_launching_makes_the_run_that_was_chosen(alice, cast, gold, models):
    asked = ASKED | {"endpoints": ["omniscient", "majority"], "budget": "2.5", "limit": "3", "title": "Baselines"}
    response = alice.post("/p/minds/runs/new/", asked)
    made = Run.objects.get()
    assert response["Location"] == f"/p/minds/runs/{made.uid}/"
    assert (made.title, made.judge.name, made.job.budget, made.created_by) == (
        "Baselines",
        "lexical-judge",
        Decimal("2.5"),
        cast.alice,
    )
    assert (made.params["stories"], made.params["shots"], made.params["with_story"]) == (3, 3, True)
    assert RunItem.objects.count() == 3 + 3  # extraction by omniscient, labelling by majority, of three stories
    assert AuditEvent.objects.filter(action="run.started").count() == 1


def test_without_judging_the_judge_is_left_out(alice, gold, models):
    alice.post("/p/minds/runs/new/", ASKED | {"endpoints": ["majority"], "steps": ["label"]})
    assert Run.objects.get().judge is None


REFUSED = [
    ({}, "endpoints", "Tick at least one model."),
    ({"endpoints": ["majority"], "steps": []}, "steps", "Tick at least one step."),
    ({"endpoints": ["majority"], "steps": ["judge"]}, "steps", "Judging needs extractions"),
    ({"endpoints": ["omniscient"], "judge": ""}, "judge", "Judging needs a judge"),
    ({"endpoints": ["omniscient"], "steps": ["label"]}, "endpoints", "omniscient is a baseline that can only extract"),
    (
        {"endpoints": ["plain"], "steps": ["label"], "answer_format": "structured"},
        "answer_format",
        "plain cannot hold its answers to a schema",
    ),
    ({"endpoints": ["majority"], "steps": ["label"], "batch": "on"}, "batch", "majority has no batch form"),
    (
        {"endpoints": ["majority"], "steps": ["label"], "max_tokens": "0"},
        "max_tokens",
        "It is 0; expected a whole number from 1 to 200000.",
    ),
    ({"endpoints": ["majority"], "steps": ["label"], "budget": "-1"}, "budget", "greater than or equal to 0"),
]


@pytest.mark.once
@pytest.mark.parametrize(("chosen", "field", "sentence"), REFUSED)
def test_a_refusal_stands_beside_its_field_and_makes_nothing(alice, gold, models, chosen, field, sentence):
    make_endpoint("plain", provider="openai", base_url="http://127.0.0.1:1/v1", json_schema=False)
    response = alice.post("/p/minds/runs/new/", ASKED | chosen)
    assert response.status_code == 200
    errors = response.context["form"].errors
    assert list(errors) == [field] and sentence in errors[field][0]
    assert sentence in written(response)
    assert not Run.objects.exists() and not Job.objects.exists()


def test_an_empty_choice_of_stories_is_refused_beside_the_split(alice, cast, gold, models):
    from annotation.models import Split

    Split.objects.create(project=cast.project, name="held-out")
    response = alice.post("/p/minds/runs/new/", ASKED | {"endpoints": ["majority"], "split": "held-out"})
    assert "leaves no story" in response.context["form"].errors["split"][0]


# --- once
# ----------------------------------------------------------------------------------------------------------------------
def test_a_form_that_is_sent_twice_starts_one_run(alice, gold, models):
    asked = ASKED | {"endpoints": ["majority"]}
    addresses = {alice.post("/p/minds/runs/new/", asked)["Location"] for _ in range(2)}
    assert len(addresses) == Run.objects.count() == Job.objects.count() == 1
    alice.post("/p/minds/runs/new/", asked | {"once": "token-2"})
    assert Run.objects.count() == 2


# --- the estimate
# ----------------------------------------------------------------------------------------------------------------
@pytest.mark.once
@pytest.mark.parametrize("answer_format", AnswerFormat.values)
@pytest.mark.parametrize("level", [1, 4])
def test_sizes_are_those_of_the_requests(gold, models, answer_format, level):
    """Built whole for one story of each category and by addition for the others: the same as building all."""
    plan = plan_for(
        gold, make_endpoint("paid"), judge=models["lexical-judge"], answer_format=answer_format, level=level
    )
    stories, prompts = check(plan), built_in()
    draft = draft_of(plan, stories)
    sizes = estimates._sizes(plan, stories, estimates.parts_of(plan, stories))
    for step in ("extract", "judge", "label"):
        for story in stories:
            whole = extent_of(request_of(story, step, draft, prompts))
            assert sizes[step][story.pk].question == whole, (step, story)


@pytest.mark.once
def test_money_is_counted_by_hand(gold):
    """Four stories labelled at 2 dollars in and 10 out a million tokens."""
    model = make_endpoint("paid", price_input=Decimal(2), price_output=Decimal(10))
    plan = plan_for(gold, model, steps=["label"], max_tokens=1000)
    found = estimates.estimate(plan)
    (line,) = found.lines
    draft, prompts = draft_of(plan, found.stories), built_in()
    asked = [extent_of(step_request(story, "label", draft, prompts)) for story in found.stories]
    # three ASCII characters to a token, rounded up for each call, and every other byte one
    tokens = sum(-(-one.ascii // 3) + one.other_bytes for one in asked)
    assert (line.calls, line.cached, line.input_tokens) == (4, None, tokens)
    assert line.cost == (2 * tokens + 10 * line.output_tokens) / Decimal(1_000_000)
    assert line.most == (2 * tokens + 10 * 4000) / Decimal(1_000_000)
    assert found.total.calls == found.total.to_make == 4
    half = estimates.estimate(plan_for(gold, model, steps=["label"], max_tokens=1000, batch=True))
    assert half.lines[0].cost == line.cost / 2


def test_baselines_cost_nothing_and_judgements_count(gold, models):
    plan = plan_for(gold, models["omniscient"], models["majority"], judge=models["lexical-judge"])
    found = estimates.estimate(plan)
    assert [(line.model.name, line.step, line.calls) for line in found.lines] == [
        ("omniscient", "extract", 4), ("omniscient", "judge", 4), ("majority", "label", 4),
    ]  # fmt: skip
    assert (found.total.input_tokens, found.total.most) == (0, Money())


def test_questions_that_cannot_fit_are_counted(alice, gold, models):
    make_endpoint("tiny-context", context_tokens=6100)
    told = written(alice.get(ESTIMATE, ASKED | {"endpoints": ["tiny-context"], "steps": ["label"]}))
    assert "4 questions of labelling cannot fit into the context of tiny-context." in told


def test_the_ledger_is_asked_for_every_keep(alice, cast, gold, models):
    chosen = models["omniscient"], models["majority"]
    plan = plan_for(gold, *chosen, judge=models["lexical-judge"])
    assert {len(held) for held in known(plan).values()} == {0}
    work_off(started(cast, gold, chosen, ["extract", "judge", "label"], judge=models["lexical-judge"]))
    assert {key[1]: len(held) for key, held in known(plan).items()} == {"extract": 4, "judge": 4, "label": 4}
    told = written(alice.get(ESTIMATE, ASKED | {"endpoints": ["omniscient", "majority"], "ledger": "1"}))
    assert "<strong>0 calls</strong>" in told and "12 of 12 answers are there already" in told
    told = written(alice.get(ESTIMATE, ASKED | {"endpoints": ["majority"], "level": "4", "ledger": "1"}))
    assert "4 of 4 answers are there already" in told, "a baseline reads the data, whatever the prompt's level"
    run = started(cast, gold, chosen, ["extract", "judge", "label"], judge=models["lexical-judge"])
    work_off(run)
    assert run.job.items.filter(made=True).count() == 0, "what the estimate says is what happens"


def test_a_model_whose_key_is_elsewhere_is_looked_up_too(gold, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    model = make_endpoint("remote", provider="openai", api_key_env="NO_SUCH_KEY")
    plan = plan_for(gold, model, steps=["label"])
    assert known(plan) == {(model.pk, "label"): set()}


@pytest.mark.once
def test_the_fragment_says_what_the_form_lacks(alice, gold, models):
    assert "Tick at least one model." in written(alice.get(ESTIMATE, ASKED))
    told = written(alice.get(ESTIMATE, ASKED | {"endpoints": ["majority"], "max_tokens": ""}))
    assert "Longest answer in tokens: This field is required." in told
    for sent in ("0", "many"):
        told = written(alice.get(ESTIMATE, ASKED | {"endpoints": ["majority"], "max_tokens": sent}))
        found = "0" if sent == "0" else "&#x27;many&#x27;"
        assert f"Longest answer in tokens: It is {found}; expected a whole number from 1 to 200000." in told
    told = written(alice.get(ESTIMATE, ASKED | {"endpoints": ["omniscient"], "judge": ""}))
    assert "Judging needs a judge" in told
    assert alice.get(ESTIMATE).status_code == 200


def test_a_budget_that_may_not_suffice_is_said(alice, gold, models):
    make_endpoint("paid", price_output=Decimal(10))
    asked = ASKED | {"endpoints": ["paid"], "steps": ["label"], "budget": "0.01"}
    assert "The budget may not suffice" in written(alice.get(ESTIMATE, asked))
    assert "The budget may not suffice" not in written(alice.get(ESTIMATE, asked | {"budget": "10"}))


@pytest.mark.once
def test_what_it_can_show_takes_the_spread_of_earlier_runs(alice, cast, gold, models):
    settle(cast.project.stories.get(number=1), context="Deceptive")  # else every story would give the same difference
    gold, _ = publish_version(by=cast.alice, project=cast.project)
    chosen = [models["majority"], models["random"]]
    asked = ASKED | {"dataset": "2", "endpoints": ["majority", "random"], "steps": ["label"]}
    plan = plan_for(gold, *chosen, steps=["label"])
    stories = [copy(one) for one in list(gold.samples.all()) * 3]
    for at, one in enumerate(stories):
        one.cluster = f"story {at}"
    categories = len({one.category for one in stories})
    (before,) = can_show(plan, stories)
    tests = 1 + categories if categories > 1 else 1
    assert (before.sd_is_default, before.tests, before.stories) == (True, tests, 12)
    assert "so few stories can show no difference" in written(alice.get(ESTIMATE, asked))  # there are four
    work_off(started(cast, gold, chosen))
    (after,) = can_show(plan, stories)
    assert not after.sd_is_default and after.difference < before.difference
    found = estimates.estimate(plan)
    page = render_to_string(
        "benchmark/launch/_estimate.html", {"can_show": [before, after], "estimate": found, "total": found.total}
    )
    page = " ".join(page.split())
    assert "spread assumed at its most cautious" in page and "spread as in earlier runs" in page
    assert f"differences from <strong>{100 * after.difference:.1f} points</strong>" in page


def test_twenty_models_on_many_stories_are_estimated_quickly(cast, gold, models):
    """895 stories of the size of those here; measured are the questions of all three steps for twenty models."""
    one = gold.samples.first()
    many = Dataset.objects.create(
        project=cast.project, version=9, digest="9" * 64, schema_version="1", rule_version="1", stories_count=895,
        propositions_count=1790,
    )  # fmt: skip
    for number in range(895):
        one.pk, one.dataset, one.number, one.position = None, many, 1000 + number, number
        one.key = one.cluster = str(one.number)
        one.save(force_insert=True)
    chosen = [make_endpoint(f"m{at}", price_input=1, price_output=4) for at in range(20)]
    plan = plan_for(many, *chosen, judge=models["lexical-judge"])
    estimates.estimate(plan)
    found = estimates.estimate(plan)
    assert found.total.calls == 20 * 3 * 895


@pytest.mark.once
@pytest.mark.parametrize(
    ("step", "words"), [("extract", "Story 1."), ("label", "The key is in the bag"), ("judge", "Gold stands in")]
)
def test_the_prompt_is_shown_before_anything_is_asked(alice, gold, models, step, words):
    make_endpoint("reader")
    asked = ASKED | {"endpoints": ["majority"], "shown": step, "judge": "reader"}
    told = written(alice.get("/p/minds/runs/new/preview/", asked))
    assert words in told and "tokens." in told and "<h3>System</h3>" in told
    assert "Tick at least one model" in written(alice.get("/p/minds/runs/new/preview/", ASKED))


@pytest.mark.once
def test_no_prompt_is_shown_for_a_judge_that_reads_none(alice, gold, models):
    asked = ASKED | {"endpoints": ["omniscient"], "shown": "judge"}
    told = written(alice.get("/p/minds/runs/new/preview/", asked))
    assert "lexical-judge reads no prompt" in told and "<h3>" not in told


# --- more of a run that is there
# ---------------------------------------------------------------------------------------------------
@pytest.fixture
def extracted(cast, gold, models):
    chosen = [models["omniscient"], models["majority"]]
    return work_off(started(cast, gold, chosen, ["extract", "judge", "label"], judge=models["lexical-judge"], limit=2))


def test_another_judge_reads_the_same_extractions(alice, extracted):
    judge = make_endpoint("strict", provider="baseline", model="lexical-judge", options={"threshold": 0.9})
    address = f"/p/minds/runs/{extracted.uid}/judge/"
    assert "Judge anew" in written(alice.get(address))
    asked = {"judge": "strict", "judge_level": "4", "shots": "0", "once": "j1"} | JUDGED
    new = alice.post(address, asked)["Location"]
    assert alice.post(address, asked)["Location"] == new, "sent twice"
    made = Run.objects.get(source=extracted)
    assert (made.steps, made.judge, made.params["with_story"], made.params["shots"]) == (["judge"], judge, False, 0)
    assert [one.name for one in made.entrants.all()] == ["omniscient"], "majority has no extraction"
    work_off(made)
    assert made.job.items.count() == 2 and RunItem.objects.filter(entrant__run=made, step="judge").count() == 2


def test_nothing_to_judge_is_said_and_refused(alice, cast, gold, models):
    run = started(cast, gold, [models["majority"]])
    page = written(alice.get(f"/p/minds/runs/{run.uid}/judge/"))
    assert "There is nothing to judge" in page and "The run has no extractions yet." in page
    waiting = started(cast, gold, [models["omniscient"]], ["extract"])
    with pytest.raises(RunRefused):
        [plan] = judging_plans(waiting, judges=[models["lexical-judge"]], options={"shots": 0})
        start_run(by=None, plan=plan, now=timezone.now())
    assert Job.objects.count() == 2, "no job without items is left behind"


def test_a_run_is_extended_by_models_and_stories(alice, cast, extracted):
    address = f"/p/minds/runs/{extracted.uid}/extend/"
    told = written(alice.get(address))
    assert "2 stories of the dataset are not in it yet" in told
    assert 'value="random"' in told and 'value="majority"' not in told
    assert "Tick a model, or more stories." in written(alice.post(address, {}))
    response = alice.post(address, {"endpoints": ["random"], "more": "on"}, follow=True)
    # random labels 4 stories; majority labels and omniscient extracts 2 more each
    assert "8 questions were added." in written(response)
    assert "are all in the run already" in written(alice.post(address, {"more": "on"}))


def test_again_makes_the_same_without_a_call(alice, cast, extracted):
    address = f"/p/minds/runs/{extracted.uid}/again/"
    addresses = {alice.post(address, {"once": "a1"})["Location"] for _ in range(2)}
    assert len(addresses) == 1
    made = Run.objects.exclude(pk=extracted.pk).get()
    assert made.params == extracted.params
    work_off(made)
    assert made.job.items.filter(made=True).count() == 0
    assert run_again(by=cast.alice, run=made, now=timezone.now()).pk not in (made.pk, extracted.pk), (
        "another is another"
    )


def test_a_refusal_to_run_again_is_a_message(alice, cast, extracted, models):
    models["majority"].active = False
    models["majority"].save()
    told = written(alice.post(f"/p/minds/runs/{extracted.uid}/again/", follow=True))
    assert "The endpoint majority is switched off." in told


# --- the estimate of more
# ------------------------------------------------------------------------------------------------------------
def estimated(client, run, what: str, **asked) -> tuple[dict, str]:
    """(calls to make and in all, what the fragment says) when the ledger was looked into."""
    response = client.get(f"/p/minds/runs/{run.uid}/{what}/estimate/", asked | {"ledger": "1"})
    if response.context["problems"]:
        return {}, written(response)
    total = response.context["total"]
    return {"make": total.to_make, "of": total.calls}, written(response)


def test_the_estimate_of_an_extension_counts_what_is_new(alice, cast, gold, models, extracted):
    # Two of four stories are new: omniscient extracts them, the judge judges them, majority labels them. Their gold is
    # that of the first two, and majority reads no story: its two answers are known.
    told, _ = estimated(alice, extracted, "extend", more="on")
    assert told == {"make": 4, "of": 6}
    # and random labels all four
    told, page = estimated(alice, extracted, "extend", more="on", endpoints=["random"])
    assert told == {"make": 8, "of": 10} and "<bdi>random</bdi>" in page
    assert estimated(alice, extracted, "extend", more="on", limit="2")[0] == {"make": 0, "of": 0}, "they are there"
    work_off(started(cast, gold, [models["random"]], limit=3))
    told, page = estimated(alice, extracted, "extend", endpoints=["random"])
    assert told == {"make": 0, "of": 2} and "2 of 2 answers are there already" in page
    assert "Tick a model, or more stories." in estimated(alice, extracted, "extend")[1]
    before = extracted.job.items.filter(made=True).count()
    alice.post(f"/p/minds/runs/{extracted.uid}/extend/", {"more": "on"})
    work_off(extracted)
    assert extracted.job.items.filter(made=True).count() - before == 4, "what the estimate says is what happens"


def test_an_extension_costs_what_is_new_at_most(alice, cast, gold):
    paid = make_endpoint("paid", price_output=Decimal(10))
    run = work_off(started(cast, gold, [paid], limit=1, max_tokens=1000))
    _, page = estimated(alice, run, "extend", more="on")
    # three stories are new, each with an answer of at most 1,000 tokens at 10 dollars a million
    assert "$0.03" in page and "<strong>3 calls</strong>" in page


def test_the_estimate_of_another_judge_counts_the_extractions(alice, extracted):
    make_endpoint("strict", provider="baseline", model="lexical-judge", options={"threshold": 0.9})
    asked = {"judge_level": "4", "shots": "0", "once": "t"} | JUDGED
    assert estimated(alice, extracted, "judge", judge="strict", **asked)[0] == {"make": 2, "of": 2}
    told, page = estimated(alice, extracted, "judge", judge="lexical-judge", **asked)
    assert told == {"make": 0, "of": 2} and "2 of 2 answers are there already" in page, "this judge has answered"
    paid = make_endpoint("paid", price_output=Decimal(10))
    _, page = estimated(alice, extracted, "judge", judge=paid.name, **asked)
    # two answers of at most 6,000 tokens at 10 dollars a million
    assert "$0.12" in page and "omniscient" in page and "<strong>2 calls</strong>" in page


def test_the_estimate_of_the_same_once_more(alice, cast, extracted, models):
    told, page = estimated(alice, extracted, "again")
    # two extractions, two judgements, two labellings
    assert told == {"make": 0, "of": 6} and "6 of 6 answers are there already" in page
    waiting = started(cast, extracted.dataset, [models["random"]], limit=2)
    assert estimated(alice, waiting, "again")[0] == {"make": 2, "of": 2}
    page = written(alice.get(f"/p/minds/runs/{extracted.uid}/again/"))
    assert (
        f"/p/minds/runs/{extracted.uid}/again/estimate/" in page and "What the ledger holds is not asked again" in page
    )
    models["majority"].options = {"threshold": 2}  # it can no longer be asked
    models["majority"].save()
    assert estimated(alice, extracted, "again")[0]["of"] == 6


def test_what_makes_more_of_a_run_looks_before_it_asks(alice, extracted):
    for what in ("extend", "judge"):
        page = written(alice.get(f"/p/minds/runs/{extracted.uid}/{what}/"))
        assert f'hx-get="/p/minds/runs/{extracted.uid}/{what}/estimate/"' in page
    quick = written(alice.get(f"/p/minds/runs/{extracted.uid}/again/estimate/"))
    assert (
        f'hx-get="/p/minds/runs/{extracted.uid}/again/estimate/?ledger=1"' in quick
        and "looking into the ledger" in quick
    )


# --- reading again
# ------------------------------------------------------------------------------------------------------------------
def test_answers_are_read_again_from_the_page(alice, extracted, monkeypatch):
    calls = Call.objects.count()
    address = f"/p/minds/runs/{extracted.uid}/read/"
    assert address in written(alice.get(f"/p/minds/runs/{extracted.uid}/"))
    assert "every answer reads as it did." in written(alice.post(address, follow=True))
    read = steps.parse_stage2
    monkeypatch.setattr(steps, "parse_stage2", lambda record, answer, **how: read(record, "", **how))
    assert "2 parses changed." in written(alice.post(address, follow=True))
    assert Call.objects.count() == calls
    monkeypatch.setattr(launch, "MOST_READ_AT_ONCE", 5)
    told = written(alice.post(address, follow=True))
    assert f"manage.py runs reread {extracted.uid}" in told


def test_an_extension_and_a_reading_are_stated_with_their_versions(alice, cast, extracted, models, settings):
    settings.CREDENCE_VERSION = "9.9"
    models["omniscient"].options = {"seed": 3}
    models["omniscient"].save()
    alice.post(f"/p/minds/runs/{extracted.uid}/extend/", {"endpoints": ["random"], "more": "on"})
    alice.post(f"/p/minds/runs/{extracted.uid}/read/")
    extracted.refresh_from_db()
    first, second = extracted.spec["later"]
    assert (first["did"], first["models"], first["stories"], first["code"]) == ("extended", ["random"], 2, "9.9")
    assert first["changed"] == ["omniscient"] and first["packages"]["django"] and first["python"]
    assert (second["did"], second["changed"]) == ("read again", 0)
    facts = dict(document_of(extracted).facts)
    (said,) = [text for name, text in facts.items() if name.startswith("Extended ")]
    assert said.startswith(
        "models random; 2 stories; with settings changed since the launch: omniscient; Credence 9.9, Python 3."
    )
    assert any(name.startswith("Read again ") for name in facts)
    assert "Credence 9.9" in written(alice.get(f"/p/minds/runs/{extracted.uid}/made/"))


def test_a_report_states_what_was_sent(cast, gold):
    run = work_off(started(cast, gold, [make_endpoint("reader")], max_tokens=700, seed=7))
    sent = dict(document_of(run).facts)["Sent to reader, labelling"]
    assert "max_tokens: 700" in sent and "seed: 7" in sent and "messages" not in sent
