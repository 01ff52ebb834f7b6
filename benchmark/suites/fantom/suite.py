"""The suite FANToM."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from benchmark.methods.perceptom import PERCEIVE, all_perceived
from benchmark.methods.program import method_named, method_setting, parsed_by, request_by, wording_digest
from benchmark.suites.contract import Asking, Copied, ItemPages, Released, Results, Suite, Texts
from benchmark.suites.fantom.embedding import EMBEDDER, EMBEDDERS, MINILM, TOY, embedder_named
from benchmark.suites.fantom.judge import (
    ANSWER,
    ANSWERING,
    CANNOT_TELL,
    DIGEST,
    EMPTY,
    JUDGE,
    JUDGED,
    JUDGED_AT,
    LEXICAL,
    METHODS,
    NEITHER,
    PROGRAM,
    RIGHT,
    SAYS_NOTHING,
    STEP,
    SWAPPED,
    WRONG,
    answer_of,
    expected_verdict,
    judge_parse,
    judge_request,
    passes_of,
)
from benchmark.suites.fantom.judge import SETTINGS as JUDGING
from benchmark.suites.fantom.metrics import GROUPS, measure
from benchmark.suites.fantom.parsing import FULL, SHORT, load, parses_of
from benchmark.suites.fantom.scoring import score_answers
from benchmark.suites.fantom.tables import PUBLISHED, SECTIONS, pictures, tables
from benchmark.suites.fantom_questions.asking import (
    BASELINES,
    CONTROLS,
    answer_in,
    named_in,
    put_of,
    right_answer,
    task_of,
)
from benchmark.suites.fantom_questions.data import ARCHIVE, SHORT_TYPES, SOURCE
from benchmark.suites.fantom_questions.pages import answer_lines, item_of, right_of
from benchmark.suites.fantom_questions.parsing import after_marker, parsed_answer
from benchmark.suites.items import ReadLine
from benchmark.suites.lettered import Lettered
from benchmark.suites.questions import BadQuestion, ItemContext, ItemView, Parsed, Question
from benchmark.suites.reasons import note_of
from benchmark.suites.reports import Reported, Sections, asked_by
from benchmark.suites.settings import Option, Setting
from core.messages import Sentence, gettext_noop
from workers.providers.contract import Request

STEPS = (*ANSWERING, STEP, SWAPPED)


def request(question: Question) -> Request | str:
    """Return the request of one step of the method, or of the judge. Raises BadQuestion where answers could not be read
    with the run's embedder."""
    if question.step in JUDGED_AT:
        return judge_request(question)
    try:
        embedder_named(question.settings.options[EMBEDDER])
    except ValueError as error:
        raise BadQuestion(str(error)) from error
    method = method_named(METHODS, question.settings)
    task = task_of(question) if question.step == ANSWER else {"kind": question.step}
    return request_by(method, question, put_of(question.sample), task)


def parse(question: Question, answer: str) -> Parsed:
    """Return what an answer says, as the released code and as a person reads it; of an earlier step the text as it is,
    of a judge's answer the verdict."""
    if question.step in JUDGED_AT:
        return judge_parse(question, answer)
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    method = method_named(METHODS, question.settings)
    text = after_marker(answer_in(method, answer))
    parses = parses_of(question.sample, text, embedder_named(question.settings.options[EMBEDDER]))
    parsed = parsed_answer(question.sample, text, *parses)
    return parsed_by(method, partial(put_of, question.sample), question.answers, parsed)


def expected(question: Question) -> str:
    """Return what a perfect model, or judge, would answer."""
    if question.step in JUDGED_AT:
        return expected_verdict(question)
    sample = question.sample
    if question.step == PERCEIVE:
        return all_perceived(put_of(sample), named_in(sample))
    if question.step != ANSWER:
        return str(sample.content["conversation"])
    return right_answer(sample)


PROMPT_SET = "fantom-1"
CONVERSATION = Setting(
    "conversation",
    gettext_noop("Conversations"),
    SHORT,
    help=gettext_noop(
        "The full ones have characters who do not take part in the short ones; more questions are then about "
        "what somebody missed."
    ),
    choices=((SHORT, gettext_noop("short, the part that matters")), (FULL, "full")),
)
METHOD = method_setting(METHODS)


class EmbedderSetting(Setting):
    """A setting whose value is an embedder that is installed."""

    def checked(self, value: Any) -> Any:
        """The name of the embedder. Raises ValueError with one sentence."""
        name = super().checked(value)
        embedder_named(name)
        return name


_CALLED = {TOY: gettext_noop("toy: counts of words"), MINILM: "all-MiniLM-L6-v2"}
EMBEDDING = EmbedderSetting(
    EMBEDDER,
    "Embedder",
    TOY,
    help=gettext_noop(
        "Judges beliefs in free words. The toy one counts words and needs nothing; minilm, a sentence model, "
        "needs the packages of requirements-embedder.txt; another one is a folder that the server names."
    ),
    choices=tuple((name, _CALLED.get(name, name)) for name in EMBEDDERS),
)


_JUDGED = (
    "Beliefs in free words were also read by the judge {judge}: shown the question, the character, the answer and both "
    "published texts, the right one as A and as B by turns, it said whether the answer states the belief of A, that of "
    "B or neither, or that it cannot tell. An answer is right where it states the right one; one without a verdict is "
    "missing, with bounds."
)
_SWAPPED = (
    " It was asked twice, the second time with both texts swapped; an answer of which it then says something else is "
    "missing, too."
)


def _methods(reported: Reported) -> Sections:
    embedder = EMBEDDING.in_words(reported.settings.options[EMBEDDER])
    judged = _JUDGED.format(judge=reported.judge) + (_SWAPPED if passes_of(reported.settings) else "")
    return [
        asked_by(METHOD.in_words(reported.settings.options["method"]), PROMPT_SET),
        (
            "Scoring",
            "A set, all questions on one piece of information, is right where all its answers are (ALL); ALL* also "
            "takes the beliefs in free words, which are right where their embedding is nearer to the right text than "
            f"to the wrong one (embedder: {embedder}). The official parse takes answers as the benchmark’s released "
            "code does, which looks for names and words inside others and takes one right option beside another; the "
            "control then has what is accessible of any set. The repaired parse takes whole words, one option and "
            "an unambiguous yes or no alone; what it cannot read is missing, with bounds; the control then has the "
            "sets that are wholly accessible. Intervals resample conversations with all their questions.",
        ),
        *([("Judging", judged)] if reported.judge else []),
    ]


STATES: Mapping[str, str] = {
    RIGHT: gettext_noop("the right belief"),
    WRONG: gettext_noop("the wrong belief"),
    NEITHER: gettext_noop("neither belief"),
    CANNOT_TELL: gettext_noop("it cannot tell"),
}


def _item(view: ItemView) -> ItemContext:
    """Return what the page of an item shows; of a judgement the answer that was judged, and the verdict."""
    context = item_of(view, ANSWER)
    if view.question.step not in JUDGED_AT:
        return context
    repaired = view.repaired or {}
    return context | {
        "judged": {
            "said": answer_of(view.question) if ANSWER in view.question.answers else "",
            "states": _states(repaired),
            "unreadable": view.unreadable,
            "right_is": repaired.get("right_is", ""),
            "passes": [STATES.get(verdict or "", "") for verdict in repaired.get("passes", ())],
        }
    }


def _states(parse: Mapping[str, Any] | None) -> str:
    return STATES.get((parse or {}).get("verdict") or "", "")


def _lines(view: ItemView) -> list[ReadLine]:
    """Return the one line of an answer, or of what a judge says of one."""
    if view.question.step not in JUDGED_AT:
        return answer_lines(view, ANSWER)
    sample, verdict = view.question.sample, (view.repaired or {}).get("verdict")
    return [
        ReadLine(
            about=sample.content["question"],
            part=sample.category,
            gold=right_of(sample),
            official=None,
            repaired=_states(view.repaired) or None,
            right=None if view.unreadable or verdict is None else verdict == RIGHT,
            officially_right=None,
            note=note_of(view.unreadable) if view.unreadable in (EMPTY, SAYS_NOTHING) else "",
        )
    ]


SUITE = Suite(
    name="fantom",
    title=gettext_noop("FANToM"),
    steps=STEPS,
    asking=Asking(
        program=PROGRAM,
        max_tokens=1024,
        prompts={step.key: wording_digest(METHODS) for step in ANSWERING} | {JUDGE: DIGEST},
        prompts_version=PROMPT_SET,
        baselines=(*BASELINES, LEXICAL),
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
                EMBEDDER,
                TOY,
                Sentence("what judges beliefs in free words: {embedders}", embedders=" or ".join(EMBEDDERS)),
                tuple(EMBEDDERS),
            ),
        ),
    ),
    texts=Texts(
        told_by=("conversation", "question"),
        told_apart_by=("options", "fact_question", "fact_answer"),
        lettered=Lettered(ANSWER, "options"),
    ),
    copied=Copied(load=load, source=SOURCE, archive=ARCHIVE, options=(CONVERSATION,)),
    noun=(gettext_noop("question"), gettext_noop("questions")),
    cluster=(gettext_noop("conversation"), gettext_noop("conversations")),
    settings=(METHOD, EMBEDDING, *JUDGING),
    judge=JUDGED,
    controls=CONTROLS,
    items=ItemPages(item=_item, template="fantom/item.html", lines=_lines),
    results=Results(
        methods=_methods,
        tables=tables,
        pictures=pictures,
        published=PUBLISHED,
        sections=SECTIONS,
        categories=SHORT_TYPES,
        category_noun=gettext_noop("type"),
        dependent="questions of a conversation",
    ),
)
