"""The suite Percept-ToMi."""

from collections.abc import Iterator
from itertools import chain

from benchmark.controls.contract import Controllable
from benchmark.methods.contract import Put, Scene
from benchmark.methods.perceptom import NOTHING_PERCEIVED, ORACLE_PERCEPTION
from benchmark.methods.program import method_setting, wording_digest
from benchmark.suites.answers import AnswerIds
from benchmark.suites.contract import Asking, Copied, ItemPages, Released, Results, Suite, Texts
from benchmark.suites.items import ReadLine
from benchmark.suites.perceiving.asking import (
    ANSWER,
    BELIEF,
    BY_PERCEPTION,
    METHODS,
    PERCEPTIONS,
    PRECURSORS,
    program,
    prompt_digests,
)
from benchmark.suites.perceiving.perceptions import PerceivedLine, perceiver_lines, read_lines, relined, same_names
from benchmark.suites.percept_tomi.data import CATEGORIES, SOURCE, load
from benchmark.suites.percept_tomi.metrics import GROUPS, PUBLISHED, SECTIONS, measure, pictures, tables
from benchmark.suites.percept_tomi.parsing import is_scored
from benchmark.suites.percept_tomi.scoring import BY_SHAPE, TASKS, ids_of, score_answers
from benchmark.suites.percept_tomi.steps import BASELINES, HOW, STEPS, STORY, expected, parse, request
from benchmark.suites.questions import ItemContext, ItemView
from benchmark.suites.reasons import note_of
from benchmark.suites.reports import Reported, Sections, asked_by
from benchmark.suites.settings import Option
from core.messages import Sentence, gettext_noop

PROMPT_SET = "percept-tomi-1"
METHOD = method_setting(METHODS)


def _item(view: ItemView) -> ItemContext:
    """The story with the true perceivers of each sentence and, of perception inference, those that were read; the
    containers with the answer."""
    sample, official, repaired = view.question.sample, view.official or {}, view.repaired or {}
    step = view.question.step
    lines = [
        {
            "text": text,
            "gold": ", ".join(filter(None, perceivers)) or "nobody",
            "scored": is_scored(text),
            "read": read,
            "right": right,
        }
        for text, perceivers, read, right in _read_lines(view)
    ]
    taken = repaired.get("place")
    places = dict.fromkeys([*sample.content["containers"], *([taken] if taken else ())])
    return {
        "category": sample.category,
        "question": sample.content["question"],
        "lines": lines,
        "perceiving": step == PERCEPTIONS,
        "placing": step in (ANSWER, BELIEF),
        "places": [
            {"text": name, "right": name == sample.gold["answer"], "repaired": name == taken} for name in places
        ],
        "official": official.get("right"),
        "answered": bool(view.answer),
        "unreadable": note_of(view.unreadable) if view.answer else "",
        "outside": taken if taken and taken not in (*sample.content["containers"], *sample.gold["candidates"]) else "",
    }


def _read_lines(view: ItemView) -> Iterator[PerceivedLine]:
    """The sentences with the true perceivers and what was read of each."""
    sample, scenes = view.question.sample, (view.repaired or {}).get("scenes") or ()
    scenes_of_sample = (sample.content["sentences"], sample.gold["perceivers"], scenes)
    return read_lines(*scenes_of_sample, lambda read, _, gold: same_names(read, gold))


def _lines(view: ItemView) -> list[ReadLine]:
    """Return where the answer puts the thing, or the perceivers of each sentence that is scored."""
    sample, step = view.question.sample, view.question.step
    if step == PERCEPTIONS:
        return perceiver_lines(_read_lines(view), view, is_scored)
    if step not in (ANSWER, BELIEF):
        return []
    gold, place, official = sample.gold["answer"], (view.repaired or {}).get("place"), view.official or {}
    right, officially = None if place is None else place == gold, official.get("right")
    worded = (
        {True: gold, False: gettext_noop("not there"), None: gettext_noop("left out")}[officially]
        if view.official
        else None
    )
    return [
        ReadLine(
            about=sample.content["question"],
            gold=gold,
            official=place if right is not None and right == officially else worded,
            repaired=place,
            right=right,
            officially_right=officially,
            note=note_of(view.unreadable) if view.answer else "",
        )
    ]


def _methods(reported: Reported) -> Sections:
    settings = reported.settings
    story_form = Sentence("the story {in_words}", in_words=STORY.in_words(settings.options[STORY.name]))
    return [
        asked_by(METHOD.in_words(settings.options["method"]), PROMPT_SET, story_form),
        (
            "Scoring",
            "The official parse takes an answer for right that has the container’s name in it to the letter, also "
            "within a word or beside another container; the repaired one takes whole words, in capitals or not, and "
            "an answer that names both containers for none. Perceivers of a sentence are right where they are "
            "exactly the annotated ones. Official perception accuracy is over the sentences that a model wrote, "
            "without those on likes, entering and leaving; models are ranked by the recall, which is over the "
            "sentences of the story. The released script compares the annotation with itself; here it is the model’s "
            "answer that is compared.",
        ),
    ]


CONTROLS = Controllable(
    story="sentences",
    texts=(
        "content.sentences",
        "content.question",
        "content.thing",
        "content.people",
        "content.containers",
        "gold.answer",
        "gold.perceivers",
        "gold.candidates",
    ),
    named=lambda sample: [
        (name,) for name in dict.fromkeys(chain(*sample.gold["perceivers"], sample.content["people"])) if name
    ],
    relined=lambda sample, sentences, origins: relined(
        sample, origins, sentences=[sentence.removesuffix(".") for sentence in sentences]
    ),
    senseless={
        "storyless": dict.fromkeys(
            (PERCEPTIONS, BELIEF), gettext_noop("Without its sentences there is nothing to be perceived.")
        ),
        "distracted": {PERCEPTIONS: gettext_noop("Who perceives the sentence that is added is not annotated.")},
    },
    refused={
        "storyless": dict.fromkeys(BY_PERCEPTION, NOTHING_PERCEIVED),
        "distracted": {
            ORACLE_PERCEPTION.name: gettext_noop(
                "The data do not say who perceives the sentence that is added, so that nobody would be shown it."
            )
        },
    },
)

_PUT = Put("{story}", "{question}", HOW, people=("{first}",), scenes=(Scene("{scene}", ("{first}",)),))
SUITE = Suite(
    name="percept-tomi",
    title=gettext_noop("Percept-ToMi"),
    steps=STEPS,
    asking=Asking(
        program=program,
        max_tokens=1024,
        prompts=prompt_digests(STEPS, _PUT, (HOW, wording_digest(METHODS))),
        prompts_version=PROMPT_SET,
        baselines=BASELINES,
    ),
    groups=GROUPS,
    request=request,
    parse=parse,
    measure=measure,
    expected=expected,
    released=Released(
        score=score_answers,
        options=(
            Option(
                "task",
                BY_SHAPE,
                gettext_noop("what the answers say: where the thing is, or who perceives what; auto: by their shape"),
                TASKS,
            ),
        ),
        answer_ids=AnswerIds(ids_of),
    ),
    texts=Texts(told_by=("sentences", "question")),
    copied=Copied(load=load, source=SOURCE),
    noun=(gettext_noop("question"), gettext_noop("questions")),
    settings=(METHOD, STORY, PRECURSORS),
    controls=CONTROLS,
    items=ItemPages(item=_item, template="percept_tomi/item.html", lines=_lines),
    results=Results(
        methods=_methods,
        tables=tables,
        pictures=pictures,
        published=PUBLISHED,
        sections=SECTIONS,
        categories=CATEGORIES,
        category_noun=gettext_noop("question type"),
        dependent=gettext_noop("questions about a story"),
    ),
)
