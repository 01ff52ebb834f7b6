"""In-context examples of runs: where they come from, what is never shown, and what a run says that it used."""

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
from benchmark.services.plans import RunRefused, draft_of
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
    calibration, main = (Split.objects.create(project=cast.project, name=name) for name in ("calibration", "main"))
    for number, text in TEXTS.items():
        story = make_story(number, category=SHIPPED if number == 1 else OWN)
        settle(story)
        Story.objects.filter(pk=story.pk).update(text=text, split=calibration if number > 2 else main)
    return publish_version(by=cast.alice, project=cast.project)[0]


@pytest.fixture
def reader(db):
    return make_endpoint("reader")


def prompts_of(gold, model, **fields) -> dict[int, str]:
    """What would be sent about each story, as one text."""
    plan = planned(gold, [model], ("label",), **{"level": 4, "split": "main", "examples": 2} | fields)
    stories = check(plan)
    draft = draft_of(plan, stories)
    asked = {story.number: step_request(story, "label", draft, built_in()) for story in stories}
    return {number: "\n".join(one.content for one in request.messages) for number, request in asked.items()}


def methods(document) -> dict[str, str]:
    return {one["heading"]: one["text"] for one in document.methods}


def test_examples_are_of_the_sample_or_calibration_stories_and_never_of_what_is_asked(gold, reader):
    shipped = [one.story.strip() for one in sample_records() if one.story_category == SHIPPED]
    told = prompts_of(gold, reader)  # a category that the sample lacks takes calibration stories
    assert TEXTS[3] in told[2] and TEXTS[4] in told[2]
    assert sum(text in told[1] for text in shipped) == 2 and TEXTS[3] not in told[1]
    told = prompts_of(gold, reader, examples_from="calibration")
    assert TEXTS[3] in told[2] and sum(text in told[1] for text in shipped) == 2, "none is of the known category"
    for number, prompt in prompts_of(gold, reader, split="").items():
        assert not any(text in prompt for one, text in TEXTS.items() if one != number), number


def test_a_run_states_what_it_showed(cast, gold, reader):
    run = work_off(started(cast, gold, [reader], level=4, split="main", examples=3))
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
    # where all of a category are asked none can serve
    run = started(cast, gold, [reader], level=4, category=OWN)
    assert run.spec["examples"] == [{"step": "label", "category": OWN, "source": "", "least": 0, "most": 0}]
    assert examples_text(run, "label") == "none, as no story can serve"
    # below level 4, and for a baseline, which reads no prompt, there is nothing to state
    for model, fields in ((reader, {"level": 3}), (reader, {"level": 4, "examples": 0}), (None, {"level": 4})):
        run = started(cast, gold, [model or baselines()["majority"]], split="main", **fields)
        assert run.spec["examples"] == [] and "examples" not in settings_of(run, "stage2", reads=True)


def test_a_story_that_is_shown_cannot_be_asked_later(cast, gold, reader):
    every = {"by": None, "stories": list(gold.samples.all()), "now": timezone.now()}
    run = work_off(started(cast, gold, [reader], level=4, split="main", examples=1))
    told = r"^Story 3 serves this run's prompts as an example, so that it cannot be asked too"
    with pytest.raises(RunRefused, match=told):
        extend_run(run=run, **every)
    below = work_off(started(cast, gold, [make_endpoint("other")], level=3, split="main"))
    assert below.params["example_stories"] == [], "no prompt below level 4 shows an example"
    assert extend_run(run=below, **every) == 2


# --- the judge


def judged(cast, gold, judge, **fields) -> Run:
    models = [make_endpoint(f"omni {Run.objects.count()}", provider="baseline", model="omniscient")]
    return work_off(started(cast, gold, models, ["extract", "judge"], judge=judge, split="main", **fields))


def test_a_judge_is_said_to_have_seen_what_it_was_sent(cast, gold, reader):
    run = judged(cast, gold, baselines()["lexical-judge"])
    assert (run.params["shots"], run.params["with_story"]) == (3, True), "as the form leaves them"
    assert settings_of(run, "stage1", reads=False) == {"seed": "1", "judge": f"lexical-judge, rules {RULES}"}
    assert "judge" not in run.spec["prompts"], "it was sent no wording"
    document = document_of(run)
    said = methods(document)["Judge"]
    assert "a baseline that reads no prompt and no story" in said and "in-context" not in said and "level" not in said
    assert methods(document)["Prompts"].startswith("No prompt was read")
    assert ["Judge sees", "both tables, no prompt and no story"] in document.facts
    shown = "with in-context examples: 1 from the sample corpus."
    for fields, tables, level, examples in (
        ({"judge_level": 2}, "the story and both tables", 2, "with no in-context example."),
        ({"shots": 0, "with_story": False}, "both tables but no story", 4, "with no in-context example."),
        ({"shots": 1, "category": SHIPPED}, "the story and both tables", 4, shown),
    ):
        run = judged(cast, gold, reader, **fields)
        saw = f"by the judge reader, which saw {tables} in a prompt of level {level}, {examples}"
        assert saw in methods(document_of(run))["Judge"]
        stated = {"judge": f"reader, level {level}, with{'' if fields.get('with_story', True) else 'out'} the story"}
        stated |= {"judge's examples": "1 from the sample corpus"} if examples == shown else {}
        held = settings_of(run, "stage1", reads=True).items()
        assert {name: value for name, value in held if name.startswith("judge")} == stated


# --- what could not be asked


def test_a_set_without_what_is_needed_or_an_answer_without_room_is_refused_before_anything_is_asked(cast, gold, reader):
    blind = "Compare.\n\n{predictions}\n\n{gold}\n\n{format}\n\n{examples}"
    extract = {"extract-level3.txt": "Extract.\n\n{story}\n\n{format}"}
    sets = {"ours": extract | {"judge-level4.txt": blind}, "bare": extract}
    for name, files in sets.items():
        StoredPromptSet.objects.create(project=cast.project, name=name, files=files)
    own = {"judge": reader, "prompt_set": "ours", "shots": 0}
    with pytest.raises(RunRefused) as caught:
        plan = planned(gold, [reader], ("extract", "judge"), level=3, split="main", **own)
        start_run(by=None, plan=plan, now=timezone.now())
    assert str(caught.value) == "ours has no place for the story in judge-level4; let the judge go without the story."
    assert caught.value.field == "prompt_set" and not Run.objects.exists()
    run = work_off(started(cast, gold, [reader], ["extract", "judge"], **own, with_story=False))
    assert not RunItem.objects.filter(entrant__run=run, item__state="failed").exists()
    # a baseline needs no prompt of the set
    own = {"judge": baselines()["lexical-judge"], "prompt_set": "bare"}
    run = work_off(started(cast, gold, [reader], ["extract", "judge"], **own))
    assert RunItem.objects.filter(entrant__run=run, step="judge", call__isnull=False).count() == 4
    assert not RunItem.objects.filter(entrant__run=run, item__state="failed").exists()
    small = make_endpoint("small", context_tokens=4096)
    with pytest.raises(RunRefused) as caught:
        prompts_of(gold, small, level=3)
    told = "Answers of up to 6,000 tokens leave no room for a question in the context of small, which holds 4,096."
    assert str(caught.value) == told
    assert prompts_of(gold, small, level=3, max_tokens=1000)
