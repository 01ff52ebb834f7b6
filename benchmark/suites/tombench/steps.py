"""The calls of ToMBench: which option is right, asked anew in another order in every repetition, after the steps of the
method that was chosen."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from benchmark.controls.contract import CHINESE, ENGLISH
from benchmark.controls.people import people_in
from benchmark.methods.answering import COT, PLAIN, S2A, SELF_ASK, SIMTOM
from benchmark.methods.contract import PEOPLE, Put
from benchmark.methods.program import digest_of, method_named, program_of, request_by, steps_with, wording_digest
from benchmark.suites.questions import Parsed, Question, Sample, Step
from benchmark.suites.tombench.data import LANGUAGES, LETTERS, OfferedOptions, shown_in
from benchmark.suites.tombench.parsing import choice_in, parse_official
from core.messages import gettext_noop
from core.plain import Json
from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body, Request

PROMPT_SET = "tombench-1"
"""The name of the texts; a changed wording is a new set."""
DIRECT, BY_STEPS = "direct", "cot"
WORDINGS = (DIRECT, BY_STEPS)
"""Only the letter; or reasoning step by step, then the letter."""
_FOLDER = Path(__file__).parent / "prompts" / PROMPT_SET
HOW_AFTER = {
    "en": "There, write the letter of your option between double square brackets, in the form [[letter]].",
    "zh": "在这一行把所选选项的字母写在双层方括号里，形式为 [[字母]]。",
}
"""What follows the instruction to write a last line."""
_CHOICE = {"en": (", ", " or "), "zh": ("、", " 或 ")}


def render_prompt(sample: Sample, displayed: OfferedOptions, *, method: str = DIRECT) -> tuple[str, str]:
    """Return the system and the user prompt of a question with its options as they are shown, in its language.

    The system prompt names the letters that the question has, two or four. Raises ValueError for a method that is not
    one of WORDINGS.
    """
    language, (comma, last) = sample.split, _CHOICE[sample.split]
    letters = comma.join(displayed.letters[:-1]) + last + displayed.letters[-1]
    lines = [f"{letter}. {text}" for letter, text in zip(LETTERS, displayed.texts, strict=False)]
    texts = {name: sample.content[name].strip() for name in ("story", "question")} | {"options": "\n".join(lines)}
    system = _fill(_template(_system_file(method, language)), {"letters": letters})
    return system, _fill(_template(f"user-{language}.txt"), texts)


def put_of(sample: Sample, displayed: OfferedOptions, person: str = "") -> Put:
    """Return the question with its options as they are shown, as methods put it; `person` is through whose eyes it
    looks, empty where nobody's."""
    (alone, user), (reasoning, _) = (render_prompt(sample, displayed, method=method) for method in WORDINGS)
    language, story = sample.split, sample.content["story"].strip()
    start = _template(f"user-{language}.txt").index("{story}")
    return Put(
        story=story,
        question=sample.content["question"],
        how="",
        how_after=HOW_AFTER[language],
        people=(person,) if person else (),
        language=language,
        frame=(user[:start], user[start + len(story) :]),
        alone=alone,
        reasoning=reasoning,
    )


def prompt_digest(method: str, language: str) -> str:
    """Return the SHA-256, in hexadecimal digits, of all wording that enters a prompt of a method and a language.

    Raises ValueError for a method that is not one of WORDINGS.
    """
    return digest_of(_template(_system_file(method, language)), _template(f"user-{language}.txt"))


def _system_file(method: str, language: str) -> str:
    if method not in WORDINGS:
        raise ValueError(f"There is no method {method!r}; expected one of {', '.join(WORDINGS)}.")
    return f"{method}-{language}.txt"


@cache
def _template(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8").strip()


def _fill(template: str, texts: Mapping[str, str]) -> str:
    """The template with its placeholders filled in one pass, so that braces in a story stay what they are."""
    return re.sub(r"\{(\w+)\}", lambda match: texts[match[1]], template)


_WHEN = {
    ENGLISH: re.compile(
        r"\A(?:after|before|when|while|since|if)\b[^,]*,|\s(?:after|before|when|while|because|since|if)\s.*",
        re.IGNORECASE,
    ),
    CHINESE: re.compile(r"\A[^,，]*?(?:后|前|时|时候)\s*[,，]\s*"),
}
"""Clauses that say when, whose people are not asked about."""
_MIND = {
    ENGLISH: re.compile(
        r"\b[Dd](?:oes|o|id) ((?:the [a-z]+|(?:[A-Z][a-z.]+ ?){1,3}?)) ?"
        r"(?:\b(?:possibly|really|most likely) )?"
        r"\b(?:know|think|believe|expect|look|remember|realize|understand|feel|want)"
    ),
    CHINESE: re.compile(r"\A([一-鿿]{2,3}?)(?:还|也|是否|可能)?(?:认为|以为|觉得|知道|期望|记得|会在哪里)"),
}
"""Person whose mind is asked about, in front of what says so."""


def viewer_of(sample: Sample) -> str:
    """Return the person whose mind a question is about, as in “After Ines returns, where does Bo look?”; else the first
    one whom it names, beside what says when before others; empty where it names nobody."""
    language, question = sample.split, sample.content["question"]
    rest = _WHEN[language].sub(" " if language == ENGLISH else "", question)
    if match := _MIND[language].search(rest):
        return match[1].strip()
    people = people_in([sample.content["story"], question], language)
    names = [spelling for person in people for spelling in person]
    return _first(names, rest, language) or _first(names, question, language)


def _first(names: Sequence[str], text: str, language: str) -> str:
    """Return the name that comes first in a text, in full where a family name and a given one are found apart."""
    if not names:
        return ""
    any_name = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = any_name if language == CHINESE else rf"\b(?:{any_name})(?: (?:{any_name}))*\b"
    match = re.search(pattern, text)
    return match[0] if match else ""


ANSWER = "answer"
CHOOSE = "choose"
"""The kind of task: {"key", "letters" (those shown), "originals" (the letter of each in the data), "counts" {letter:
how often it is right}}."""
COUNTED = "letters"
"""The name under which `count_letters` is derived."""
METHODS = (replace(PLAIN, name=DIRECT), COT, SELF_ASK, S2A, SIMTOM)
"""PercepToM is not among them: most stories here are of what people say and feel, not of scenes that they see."""
STEPS = steps_with(METHODS, Step(ANSWER, gettext_noop("Answering"), task=CHOOSE))
PROGRAM = program_of(METHODS, ANSWER)


def wording() -> dict[str, str]:
    """Return the digest of the wording of each step."""
    own = [prompt_digest(method, language) for method in WORDINGS for language in LANGUAGES]
    after = [HOW_AFTER[language] for language in LANGUAGES]
    by_methods = [wording_digest(METHODS, language) for language in LANGUAGES]
    return dict.fromkeys((step.key for step in STEPS), digest_of(*own, *after, *by_methods))


def request(question: Question) -> Request:
    """Return the request of one step of the method, with the options in the order of this repetition."""
    sample, displayed = question.sample, shown_in(question)
    method = method_named(METHODS, question.settings)
    put = put_of(sample, displayed, viewer_of(sample) if PEOPLE in method.needs else "")
    task: Json = {"kind": question.step}
    if question.step == ANSWER:
        task = {"kind": CHOOSE, "key": sample.key, "letters": list(displayed.letters)}
        task |= {"originals": list(displayed.originals)}
        task |= {"counts": question.resources.derived(COUNTED, count_letters)}
    return request_by(method, question, put, task)


def count_letters(samples: Sequence[Sample]) -> dict[str, int]:
    """Return how often each letter is right in all items: what the majority letter goes by."""
    return dict(sorted(Counter(sample.gold["answer"] for sample in samples).items()))


def commonest(letters: Sequence[str], counts: Mapping[str, int]) -> str:
    """Return the one of these original letters that is right most often; of equally frequent ones the first in the
    alphabet."""
    return min(letters, key=lambda letter: (-counts.get(letter, 0), letter))


def parse(question: Question, answer: str) -> Parsed:
    """Return the original letter that an answer chooses, as the released code takes it and as a person reads it, both
    from all of the answer; of an earlier step of a method the text as it is."""
    if question.step != ANSWER:
        return Parsed(None, {"text": answer}, None, None)
    gold, displayed = question.sample.gold, shown_in(question)
    official, (repaired, why) = parse_official(answer, displayed), choice_in(answer, displayed)
    return Parsed(
        official={"choice": official},
        repaired={"choice": repaired},
        score=float(official == gold["cell"]),
        repaired_score=None if repaired is None else float(repaired == gold["answer"]),
        unreadable=why,
        stray=repaired is not None and repaired not in displayed.originals,
    )


def expected(question: Question) -> str:
    """Return what a perfect model would answer."""
    if question.step != ANSWER:
        return str(question.sample.content["story"])
    return f"[[{letter_of(shown_in(question), question.sample.gold['answer'])}]]"


def letter_of(displayed: OfferedOptions, original: str) -> str:
    """The letter under which an original option is shown."""
    return displayed.letters[displayed.originals.index(original)]


_TASK = {"key": "x", "letters": ["A", "B"], "originals": ["B", "A"], "counts": {"A": 2, "B": 1}}


def first_option(body: Body) -> str:
    """Answer with the option that is shown first."""
    return f"[[{body['task']['letters'][0]}]]"


def random_option(body: Body) -> str:
    """Answer with one of the options shown, each as likely; the draw depends on seed, question and try alone."""
    task = body["task"]
    return f"[[{generator(body, task['key']).choice(task['letters'])}]]"


def majority_letter(body: Body) -> str:
    """Answer with the shown option whose original letter is right most often; of equally frequent ones the first in the
    alphabet."""
    task = body["task"]
    best = commonest(task["originals"], task["counts"])
    return f"[[{task['letters'][task['originals'].index(best)]}]]"


BASELINES = (
    Baseline(name="random", task=CHOOSE, answer=random_option, sample=_TASK, settings=seeded),
    Baseline(name="first-option", task=CHOOSE, answer=first_option, sample=_TASK),
    Baseline(name="majority", task=CHOOSE, answer=majority_letter, sample=_TASK),
)
