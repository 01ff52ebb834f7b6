"""The judge of beliefs in free words: how it is asked, what its answers come to, and what makes it what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmark.methods.program import method_named
from benchmark.suites.fantom.answering import ANSWER, METHODS
from benchmark.suites.fantom.judge_wording import SCHEMA, messages_of
from benchmark.suites.fantom.verdicts import (
    CANNOT_TELL,
    FREE,
    NEITHER,
    RIGHT,
    A,
    B,
    Options,
    is_free,
    options_of,
    verdict_in,
)
from benchmark.suites.fantom_questions.asking import answer_in
from benchmark.suites.fantom_questions.official import after_marker
from benchmark.suites.fantom_questions.parses import says_nothing
from benchmark.suites.judges import Grouping, Judge, JudgeTest, Pairs, RowGroups, Tables, self_test_setting
from benchmark.suites.questions import Parsed, Question, Sample, Step
from benchmark.suites.settings import PARAMETER, Setting, Settings
from core.messages import gettext_noop
from core.plain import Json
from judge.domain.contrast import Row
from judge.domain.judgements import PassVerdict, RowJudgement, row_judgement
from judge.domain.lexical import align
from judge.domain.lexical_judge import lexical_judge
from workers.providers.contract import Body, Request

JUDGE, SECOND = "judge", "judge2"
"""The steps at which the judge is asked: the second time, where it is, with both texts swapped."""
JUDGED_AT = (JUDGE, SECOND)
COMPARE = "compare beliefs"
"""The kind of task: {"character", "said", "options" (both texts as they are shown), "structured"}."""
STEP = Step(
    JUDGE,
    gettext_noop("Judging"),
    judged=True,
    needs=(ANSWER,),
    task=COMPARE,
    answers=(gettext_noop("judgement"), gettext_noop("judgements")),
    score=gettext_noop("right, by the judge"),
    categories=(FREE,),
)
SWAPPED = replace(
    STEP, key=SECOND, label=gettext_noop("Judging, texts swapped"), chosen=False, completes=JUDGE, score=""
)
ANSWER_FORMAT, TEXT, STRUCTURED = "judge_answer_format", "text", "structured"
SETTINGS = (
    Setting(
        ANSWER_FORMAT,
        gettext_noop("Judge’s answer format"),
        TEXT,
        choices=((TEXT, gettext_noop("Free text")), (STRUCTURED, gettext_noop("Structured output"))),
        help=gettext_noop("The judge says of each belief in free words which of the two published texts it states."),
        stored=PARAMETER,
        steps=(JUDGE,),
    ),
    Setting(
        "passes",
        gettext_noop("Judge’s passes"),
        1,
        least=1,
        most=len(JUDGED_AT),
        help=gettext_noop(
            "In the second both texts are swapped. An answer of which the two say something else flips, and is missing."
        ),
        stored=PARAMETER,
        steps=(JUDGE,),
        unread=gettext_noop("is a baseline that answers alike in every pass"),
    ),
    self_test_setting(JUDGE),
)
NO_VERDICT = gettext_noop("judgement: it gives no verdict")
UNCLEAR = gettext_noop("judgement: it cannot tell")
FLIPPED = gettext_noop("judgement: it says something else where the texts are swapped")
EMPTY = gettext_noop("is empty")
SAYS_NOTHING = gettext_noop("says nothing that could be judged: the model refuses, or does not know")
_NOBODY = "–"
"""Stands for the character of a question that names nobody who is in the conversation."""
_ORDERS = {"first": "1", "second": "2"}


def judge_request(question: Question) -> Request | str:
    """Return what the judge is asked about the model's answer. Its answer is known where that says nothing."""
    if not is_free(question.sample):
        return gettext_noop("Only beliefs in free words are judged.")
    if ANSWER not in question.answers:
        return gettext_noop("There is no answer to be judged.")
    answer = answer_of(question)
    request = _request(question, answer)
    if not says_nothing(answer):
        return request
    return replace(request, preset_answer=_written(CANNOT_TELL, _is_structured(question)))


def judge_parse(question: Question, answer: str) -> Parsed:
    """Return the verdict of a judge's answer, of the first one that of both passes, where there are two. There is no
    released code that has one, and so no official parse."""
    options = _options_of_pass(question)
    passes = [_verdict(question, answer, options)]
    if question.step == JUDGE and SECOND in passes_of(question.settings):
        passes.append(_verdict(question, question.answers.get(SECOND, ""), options.swapped))
    verdict, count = decided(passes)
    unreadable = "" if count is not None else _why(question, passes)
    kept: Json = {"verdict": verdict, "right_is": A if options.right_is_a else B, "pred": [count], "gold": [count]}
    kept |= {"passes": passes} if len(passes) > 1 else {}
    return Parsed(None, kept, None, None if count is None else float(count), unreadable)


def _verdict(question: Question, answer: str, options: Options) -> str | None:
    letter = verdict_in(answer, structured=_is_structured(question))
    return None if letter is None else options.verdict(letter)


Verdicts = Sequence[str | None]


def decided(passes: Verdicts) -> tuple[str | None, int | None]:
    """Return what the passes come to: the verdict, and 1 where the answer is right, 0 where it is not, None where that
    is not decided. Passes that differ on it decide nothing."""
    count = _judged(passes).count
    if count is None:
        return (CANNOT_TELL if any(passes) else None), None
    return next(verdict for verdict in passes if _count(verdict) == count), count


def _judged(passes: Verdicts) -> RowJudgement:
    """The judgement of the only row: the answer, or the right text."""
    return row_judgement(None, tuple(None if verdict is None else _pass_verdict(verdict) for verdict in passes))


def _pass_verdict(verdict: str) -> PassVerdict:
    count = _count(verdict)
    return PassVerdict(count, None if count is None else (0,) * count)


def passes_of(settings: Settings) -> tuple[str, ...]:
    """Return the steps beside the first at which the judge is asked; one that reads no prompt answers alike."""
    return JUDGED_AT[1 : settings.options["passes"]] if settings.judge_reads_prompts else ()


def expected_verdict(question: Question) -> str:
    """Return what a perfect judge says of a right answer."""
    return _written(A if options_of(question).right_is_a else B, _is_structured(question))


def answer_of(question: Question) -> str:
    """Return what a model said at the answering step, without what its method has before it."""
    method = method_named(METHODS, question.settings)
    return after_marker(answer_in(method, question.answers[ANSWER])).strip()


def _request(question: Question, answer: str) -> Request:
    content, options, structured = question.sample.content, _options_of_pass(question), _is_structured(question)
    character = content["character"]
    return Request(
        messages=messages_of(content["question"], character, answer, options, structured=structured),
        max_tokens=question.settings.max_tokens,
        temperature=0.0,
        seed=question.settings.seed,
        schema=SCHEMA if structured else None,
        task={
            "kind": COMPARE, "character": character, "said": answer, "options": [options.a, options.b],
            "structured": structured,
        },
    )  # fmt: skip


def _options_of_pass(question: Question) -> Options:
    """Both texts in the order of this pass."""
    options = options_of(question)
    return options.swapped if question.step == SECOND else options


def _is_structured(question: Question) -> bool:
    return bool(question.settings.options[ANSWER_FORMAT] == STRUCTURED)


def _written(letter: str, structured: bool) -> str:
    return json.dumps({"verdict": letter}) if structured else f"Verdict: {letter}"


def _count(verdict: str | None) -> int | None:
    return None if verdict in (None, CANNOT_TELL) else int(verdict == RIGHT)


def _why(question: Question, passes: Verdicts) -> str:
    if ANSWER in question.answers and says_nothing(answer := answer_of(question)):
        return SAYS_NOTHING if answer else EMPTY
    if not any(passes):
        return NO_VERDICT
    return FLIPPED if _judged(passes).flipped else UNCLEAR


def _rows(sample: Sample) -> list[Row]:
    return [(sample.content["character"] or _NOBODY, sample.gold["right"][0])] if is_free(sample) else []


def _unlike(sample: Sample) -> list[tuple[Row, Row]]:
    return [((gold[0], sample.gold["wrong"][0]), gold) for gold in _rows(sample)]


def tables(question: Question) -> Tables:
    """Return the answer as the only predicted row, and the right text as the only gold row."""
    [(character, right)] = _rows(question.sample)
    return [(character, answer_of(question))], [(character, right)]


def text_of(question: Question) -> str:
    """Return the question with its conversation."""
    content = question.sample.content
    return f"{content['question']}\n\n{content['conversation']}"


def orders(question: Question) -> RowGroups:
    """Return the order of the belief that is asked for, on both sides."""
    order = _ORDERS.get(question.sample.content["order"].partition("-")[0], "")
    return [order], [order]


def kept(repaired: Mapping[str, Any]) -> tuple[list[RowJudgement], list[RowJudgement]]:
    """Return the judgement of the answer and of the right text: the two match, or they do not."""
    judgement = _judged(repaired.get("passes", [repaired["verdict"]]))
    return [judgement], [judgement]


def instrument(settings: Settings) -> Json:
    """Return the answer format of a judge that reads prompts, and its passes where there are two; another order of the
    texts is a repetition."""
    if not settings.judge_reads_prompts:
        return {}
    return {"answers": settings.options[ANSWER_FORMAT]} | ({"passes": len(JUDGED_AT)} if passes_of(settings) else {})


def sees(settings: Settings) -> tuple[str, str]:
    """Return what the judge is given, in brief and in full."""
    brief = "structured" if settings.options[ANSWER_FORMAT] == STRUCTURED else ""
    swapped = ", and once more with both texts swapped" if passes_of(settings) else ""
    return brief, (
        "the question, the character, the model’s answer, and the right and the wrong text as A and B, each as often "
        f"the one as the other{swapped}; not the conversation"
    )


def _about(question: Question, pairs: Pairs) -> Request:
    (pair,) = pairs
    return _request(question, pair.belief)


def _counts(question: Question, pairs: Pairs, answer: str) -> list[int | None]:
    letter = verdict_in(answer, structured=_is_structured(question))
    return [None if letter is None else _count(options_of(question).verdict(letter))]


JUDGED = Judge(
    instrument=instrument,
    sees=sees,
    passes=passes_of,
    held_to_schema=lambda settings: bool(settings.options[ANSWER_FORMAT] == STRUCTURED),
    kept=kept,
    tables=tables,
    groupings=(Grouping("order", gettext_noop("Order"), gettext_noop("Agreement by order"), of_question=orders),),
    text=text_of,
    test=JudgeTest(
        rows=_rows,
        unlike=_unlike,
        request=_about,
        counts=_counts,
        least_pairs=1,
        settings=("max_tokens", "seed", "options", ANSWER_FORMAT),
    ),
)


def _lexical(body: Body) -> str:
    """Return the text whose words are nearer to the answer's, as long as they are near enough and none denies it."""
    task = body["task"]
    texts: Sequence[str] = task["options"]
    pairs = align([("", task["said"])], [("", text) for text in texts], threshold=body["threshold"])
    return _written((A, B)[pairs[0][1]] if pairs else NEITHER, task["structured"])


LEXICAL = lexical_judge(
    task=COMPARE, answer=_lexical, sample={"said": "three", "options": ["three", "four"], "structured": False}
)
"""The lexical judge of these beliefs."""
