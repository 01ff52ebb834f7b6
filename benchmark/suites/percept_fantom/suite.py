"""The suite Percept-FANToM."""

from collections.abc import Iterator
from dataclasses import replace

from benchmark.methods.contract import Put, Scene
from benchmark.methods.perceptom import NOTHING_PERCEIVED, PERCEIVE
from benchmark.methods.program import method_setting, wording_digest
from benchmark.suites.answers import AnswerIds
from benchmark.suites.contract import Asking, Copied, ItemPages, Released, Results, Suite, Texts
from benchmark.suites.fantom_questions import asking as fantom_questions
from benchmark.suites.fantom_questions import asking as telling
from benchmark.suites.fantom_questions.data import DISTANCE, FACT, SHORT_TYPES, TYPES
from benchmark.suites.fantom_questions.pages import answer_lines, item_of
from benchmark.suites.items import ReadLine
from benchmark.suites.lettered import Lettered
from benchmark.suites.perceiving import asking as perceiving
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
from benchmark.suites.perceiving.perceptions import PerceivedLine, perceiver_lines, read_lines, relined
from benchmark.suites.percept_fantom.data import SCENARIO_NAMES, SOURCE, load, utterances_of
from benchmark.suites.percept_fantom.metrics import GROUPS, measure
from benchmark.suites.percept_fantom.parsing import is_right
from benchmark.suites.percept_fantom.scoring import ids_of, score_answers
from benchmark.suites.percept_fantom.steps import FOR_LISTS, STEPS, expected, parse, request
from benchmark.suites.percept_fantom.tables import PUBLISHED, SECTIONS, pictures, tables
from benchmark.suites.questions import ItemContext, ItemView
from benchmark.suites.reasons import note_of
from benchmark.suites.reports import Reported, Sections, asked_by
from benchmark.suites.settings import Option
from core.messages import gettext_noop

PROMPT_SET = "percept-fantom-1"
METHOD = method_setting(METHODS)
_NOT_ASKED = {name for (kind, _), name in TYPES.items() if kind in (FACT, DISTANCE)}


def _item(view: ItemView) -> ItemContext:
    """The question with its set, and the utterances with the true perceivers and, of perception inference, those that
    were read."""
    step = view.question.step
    lines = []
    for text, perceivers, read, right in _read_lines(view):
        speaker, _, words = text.partition(": ")
        lines.append({"speaker": speaker, "said": words, "gold": ", ".join(perceivers), "read": read, "right": right})
    return item_of(view, ANSWER, BELIEF, scenarios=SCENARIO_NAMES) | {
        "perceiving": step in (PERCEPTIONS, PERCEIVE),
        "scored": step == PERCEPTIONS and bool(view.answer),
        "unreadable": note_of(view.unreadable),
        "lines": lines,
    }


def _read_lines(view: ItemView) -> Iterator[PerceivedLine]:
    """The utterances with the true perceivers and what was read of each."""
    sample = view.question.sample
    scenes = (view.repaired or {}).get("scenes") or () if view.question.step == PERCEPTIONS else ()
    return read_lines(utterances_of(sample), sample.gold["perceivers"], scenes, is_right)


def _lines(view: ItemView) -> list[ReadLine]:
    """The answer to the question, or the perceivers of each utterance."""
    if view.question.step == PERCEPTIONS:
        return perceiver_lines(_read_lines(view), view)
    return answer_lines(view, ANSWER, BELIEF)


def _methods(reported: Reported) -> Sections:
    return [
        asked_by(METHOD.in_words(reported.settings.options["method"]), PROMPT_SET),
        (
            "Scoring",
            "A set, all choices, lists and yes or no questions on one piece of information, is right where all its "
            "answers are (set:ALL); of true belief count sets all of whose questions are on what everybody heard. "
            "The official parse takes answers as the benchmark’s released code does, which looks for names and "
            "words inside others, takes one right option beside another, and of a list what stands between brackets. "
            "The repaired parse takes whole words, one option and an unambiguous yes or no alone; what it cannot "
            "read is missing, with bounds. Perceivers of an utterance are right where they are exactly the annotated "
            "ones, the speaker aside. Official perception accuracy is over the utterances that a model wrote; models "
            "are ranked by the recall, which is over those of the conversation. Intervals resample conversations "
            "with all their questions.",
        ),
    ]


CONTROLS = replace(
    fantom_questions.CONTROLS,
    texts=(*fantom_questions.CONTROLS.texts, "gold.perceivers"),
    relined=lambda sample, utterances, origins: relined(sample, origins, conversation="\n".join(utterances)),
    senseless={
        "storyless": dict.fromkeys(
            (PERCEPTIONS, BELIEF), gettext_noop("Without the conversation there is nothing to be heard.")
        )
    },
    refused={"storyless": dict.fromkeys(BY_PERCEPTION, NOTHING_PERCEIVED)},
)

_PUT = Put("A: {story}", "{question}", "{how}", scenes=(Scene("A: {story}", ("A",)),), joined="\n", kind="utterance")
_EARLIER = {PERCEIVE: '[{"A: {story}": ["A"]}]'}
_LISTS = [method.answer(_PUT, _EARLIER)[0].content for method in FOR_LISTS.values()]
SUITE = Suite(
    name="percept-fantom",
    title=gettext_noop("Percept-FANToM"),
    steps=STEPS,
    asking=Asking(
        program=program,
        max_tokens=2048,
        prompts=prompt_digests(STEPS, _PUT, (wording_digest(METHODS), *_LISTS), story="conversation"),
        prompts_version=PROMPT_SET,
        baselines=(*telling.BASELINES, *perceiving.BASELINES),
    ),
    groups=GROUPS,
    request=request,
    parse=parse,
    measure=measure,
    expected=expected,
    released=Released(
        score=score_answers,
        options=(Option("perceivers", "", "the folder with Percept-FANToM.csv, where that is not beside the data"),),
        answer_ids=AnswerIds(ids_of),
    ),
    texts=Texts(
        told_by=("conversation", "question"),
        told_apart_by=("options", "fact_question", "fact_answer"),
        lettered=Lettered(ANSWER, "options"),
    ),
    copied=Copied(load=load, source=SOURCE),
    noun=(gettext_noop("question"), gettext_noop("questions")),
    cluster=(gettext_noop("conversation"), gettext_noop("conversations")),
    settings=(METHOD, PRECURSORS),
    controls=CONTROLS,
    items=ItemPages(item=_item, template="percept_fantom/item.html", lines=_lines),
    results=Results(
        methods=_methods,
        tables=tables,
        pictures=pictures,
        published=PUBLISHED,
        sections=SECTIONS,
        categories={name: short for name, short in SHORT_TYPES.items() if name not in _NOT_ASKED},
        category_noun=gettext_noop("type"),
        dependent="questions of a conversation",
    ),
)
