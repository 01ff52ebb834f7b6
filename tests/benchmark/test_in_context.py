"""In-context examples of runs: where they come from, what is never shown, and what a run says that it used."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotation.domain.sample_corpus import sample_records
from annotation.models import Split, Story
from benchmark.models import Run, RunItem, StoredPromptSet
from benchmark.services.asking import step_request
from benchmark.services.datasets import publish_version
from benchmark.services.documents import document_of
from benchmark.services.extending import extend_run
from benchmark.services.in_context import examples_text
from benchmark.services.item_detail import asked_of
from benchmark.services.launches import run_again, start_run
from benchmark.services.leaderboards import settings_of
from benchmark.services.plan_checks import check
from benchmark.services.plans import Plan, RunRefused, draft_of
from benchmark.suites.omnitom.prompting.sets import built_in
from judge.domain.lexical import RULES
from tests.benchmark.planning import planned
from tests.benchmark.settled import baselines, make_endpoint, settle, started, work_off

pytestmark = pytest.mark.django_db(transaction=True)
SHIPPED, OWN = "False Belief Task", "Riddle Task"
"""A category that the sample corpus has stories of, and one that it has none of."""
TEXTS = {
    1: "Ines hides the letter under the mat and goes out into the rain.",
    2: "Professor Kwame bets his hat that nobody will guess what is in the tin box.",
    3: "At the harbour three sailors argue about the name of the lost ship, one of them lying.",
    4: "Grandmother asks which of the twins ate the plums; both point at the dog asleep.",
}


@pytest.fixture
def gold(cast, make_story):
    """Stories 1 (a known category) and 2 to 4 (the team's own), of which 3 and 4 are for calibration, published."""
    calibration = Split.objects.create(project=cast.project, name="calibration")
    main = Split.objects.create(project=cast.project, name="main")
    for number, text in TEXTS.items():
        story = make_story(number, category=SHIPPED if number == 1 else OWN)
        settle(story)
        Story.objects.filter(pk=story.pk).update(text=text, split=calibration if number > 2 else main)
    return publish_version(by=cast.alice, project=cast.project)[0]


def plan_for(gold, *models, steps=("label",), **fields) -> Plan:
    chosen = {"level": 4, "split": "main", "examples": 2} | fields
    return planned(gold, models, steps, **chosen)


def prompts_of(plan: Plan, step: str = "label") -> dict[int, str]:
    """What would be sent about each story, as one text."""
    stories = check(plan)
    draft = draft_of(plan, stories)
    asked = {story.number: step_request(story, step, draft, built_in()) for story in stories}
    return {number: "\n".join(one.content for one in request.messages) for number, request in asked.items()}


def sample_texts(category: str) -> list[str]:
    return [one.story for one in sample_records() if one.story_category == category]


def test_a_category_that_the_sample_lacks_takes_calibration_stories(gold):
    told = prompts_of(plan_for(gold, make_endpoint("reader")))
    assert [text in told[2] for text in (TEXTS[3], TEXTS[4])] == [True, True]
    assert sum(text.strip() in told[1] for text in sample_texts(SHIPPED)) == 2
    assert TEXTS[3] not in told[1], "a known category has those of the sample"


def test_calibration_stories_first_and_the_sample_where_they_have_none(gold):
    told = prompts_of(plan_for(gold, make_endpoint("reader"), examples_from="calibration"))
    assert TEXTS[3] in told[2]
    # no calibration story is of the known category
    assert sum(text.strip() in told[1] for text in sample_texts(SHIPPED)) == 2


def test_a_story_that_is_asked_is_nobody_s_example(gold):
    told = prompts_of(plan_for(gold, make_endpoint("reader"), split=""))
    for number, prompt in told.items():
        others = [text for one, text in TEXTS.items() if one != number]
        assert not any(text in prompt for text in others), number


def test_a_run_states_what_it_showed(cast, gold):
    model = make_endpoint("reader")
    run = work_off(started(cast, gold, [model], level=4, split="main", examples=3))
    # of the sample 3 stories are of the known category, of the calibration split 2 of the team's own
    assert run.spec["examples"] == [
        {"step": "label", "category": SHIPPED, "source": "sample", "least": 3, "most": 3},
        {"step": "label", "category": OWN, "source": "calibration", "least": 2, "most": 2},
    ]
    assert run.params["example_stories"] == [3, 4]
    said = "3 from the sample corpus (False Belief Task); 2 from calibration stories (Riddle Task)"
    assert examples_text(run, "label") == settings_of(run, "stage2", reads=True)["examples"] == said
    document = document_of(run)
    assert ["Examples of labelling", said] in document.facts
    assert f"Examples of labelling: {said}." in methods(document)["Prompts"]
    place = RunItem.objects.select_related("call").get(entrant__run=run, sample__number=2)
    sent = "\n".join(one["text"] for one in asked_of(place.call))
    assert TEXTS[3] in sent and TEXTS[4] in sent
    again = run_again(by=None, run=run, now=timezone.now())
    assert again.spec["examples"] == run.spec["examples"] and again.params == run.params
    assert work_off(again).job.items.filter(made=True).count() == 0


def test_a_category_without_any_example_is_said_to_have_none(cast, gold):
    run = started(cast, gold, [make_endpoint("reader")], level=4, category=OWN)  # all of them are asked
    (row,) = run.spec["examples"]
    assert row == {"step": "label", "category": OWN, "source": "", "least": 0, "most": 0}
    assert examples_text(run, "label") == "none, as no story can serve"


def test_a_story_that_is_shown_cannot_be_asked_later(cast, gold):
    run = work_off(started(cast, gold, [make_endpoint("reader")], level=4, split="main", examples=1))
    with pytest.raises(
        RunRefused, match=r"^Story 3 serves this run's prompts as an example, so that it cannot be asked too"
    ):
        extend_run(by=None, run=run, stories=list(gold.samples.all()), now=timezone.now())
    below = work_off(started(cast, gold, [make_endpoint("other")], level=3, split="main"))
    assert below.params["example_stories"] == [], "no prompt below level 4 shows an example"
    assert extend_run(by=None, run=below, stories=list(gold.samples.all()), now=timezone.now()) == 2


def test_below_level_4_and_for_baselines_there_is_nothing_to_state(cast, gold):
    models = baselines()
    for fields in ({"level": 3}, {"level": 4, "examples": 0}):
        run = started(cast, gold, [make_endpoint(f"m{len(Run.objects.all())}")], split="main", **fields)
        assert run.spec["examples"] == [] and "examples" not in settings_of(run, "stage2", reads=True)
    run = started(cast, gold, [models["majority"]], level=4, split="main")
    assert run.spec["examples"] == [], "a baseline reads no prompt"


# --- the judge
# -----------------------------------------------------------------------------------------------------------------
def methods(document) -> dict[str, str]:
    return {one["heading"]: one["text"] for one in document.methods}


def judged(cast, gold, judge, **fields) -> Run:
    models = [make_endpoint("omni", provider="baseline", model="omniscient")]
    return work_off(started(cast, gold, models, ["extract", "judge"], judge=judge, split="main", **fields))


def test_the_lexical_judge_is_not_said_to_have_seen_anything_but_tables(cast, gold):
    lexical = baselines()["lexical-judge"]
    run = judged(cast, gold, lexical)
    assert (run.params["shots"], run.params["with_story"]) == (3, True), "as the form leaves them"
    assert settings_of(run, "stage1", reads=False) == {"seed": "1", "judge": f"lexical-judge, rules {RULES}"}
    assert "judge" not in run.spec["prompts"], "it was sent no wording"
    document = document_of(run)
    said = methods(document)["Judge"]
    assert "a baseline that reads no prompt and no story" in said and "in-context" not in said and "level" not in said
    assert methods(document)["Prompts"].startswith("No prompt was read")
    assert ["Judge sees", "both tables, no prompt and no story"] in document.facts


@pytest.mark.parametrize(
    ("fields", "saw", "stated"),
    [
        ({"judge_level": 2}, "the story and both tables in a prompt of level 2, with no in-context example.", {"judge": "reader, level 2, with the story"}),  # noqa: E501
        ({"shots": 0, "with_story": False}, ("both tables but no story in a prompt of level 4, with no in-context " "example."), {"judge": "reader, level 4, without the story"}),  # noqa: E501
        (
            {"shots": 1, "category": SHIPPED}, ("the story and both tables in a prompt of level 4, with in-context " "examples: 1 from the sample " "corpus."),  # noqa: E501
            {"judge": "reader, level 4, with the story", "judge's examples": "1 from the sample corpus"},
        ),
    ],
)  # fmt: skip
def test_a_judge_is_said_to_have_seen_what_it_was_sent(cast, gold, fields, saw, stated):
    run = judged(cast, gold, make_endpoint("reader"), **fields)
    assert f"by the judge reader, which saw {saw}" in methods(document_of(run))["Judge"]
    assert {
        name: value for name, value in settings_of(run, "stage1", reads=True).items() if name.startswith("judge")
    } == stated


# --- what could not be asked
# ----------------------------------------------------------------------------------------------------
def own_set(cast, **files) -> str:
    StoredPromptSet.objects.create(
        project=cast.project, name="ours", files={f"{name.replace('_', '-')}.txt": text for name, text in files.items()}
    )
    return "ours"


BLIND = "Compare.\n\n{predictions}\n\n{gold}\n\n{format}\n\n{examples}"
EXTRACT = "Extract.\n\n{story}\n\n{format}"


def test_a_judge_s_prompt_without_a_place_for_the_story_is_refused_before_anything_is_asked(cast, gold):
    name, reader = own_set(cast, extract_level3=EXTRACT, judge_level4=BLIND), make_endpoint("reader")
    plan = plan_for(gold, reader, steps=("extract", "judge"), level=3, judge=reader, prompt_set=name, shots=0)
    with pytest.raises(RunRefused) as caught:
        start_run(by=None, plan=plan, now=timezone.now())
    assert str(caught.value) == "ours has no place for the story in judge-level4; let the judge go without the story."
    assert caught.value.field == "prompt_set" and not Run.objects.exists()
    run = work_off(
        started(cast, gold, [reader], ["extract", "judge"], judge=reader, prompt_set=name, shots=0, with_story=False)
    )
    assert not RunItem.objects.filter(entrant__run=run, item__state="failed").exists()


def test_a_baseline_needs_no_prompt_of_the_set(cast, gold):
    lexical, name = baselines()["lexical-judge"], own_set(cast, extract_level3=EXTRACT)
    run = work_off(started(cast, gold, [make_endpoint("reader")], ["extract", "judge"], judge=lexical, prompt_set=name))
    assert RunItem.objects.filter(entrant__run=run, step="judge", call__isnull=False).count() == 4
    assert not RunItem.objects.filter(entrant__run=run, item__state="failed").exists()


def test_an_answer_that_fills_the_context_is_refused(gold):
    small = make_endpoint("small", context_tokens=4096)
    with pytest.raises(RunRefused) as caught:
        check(plan_for(gold, small, level=3))
    assert str(caught.value) == (
        "Answers of up to 6,000 tokens leave no room for a question in the context of small, which holds 4,096."
    )
    assert check(plan_for(gold, small, level=3, max_tokens=1000))
