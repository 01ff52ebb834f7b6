"""The one kind of call of ToMBench: which option is right, asked anew in another order in every repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from benchmark.suites.contract import Parsed, Question, Sample, Step
from benchmark.suites.tombench.parsing import parse_official, parse_repaired
from benchmark.suites.tombench.prompting import render_prompt
from benchmark.suites.tombench.samples import item_of, shown_in
from benchmark.suites.tombench.shuffling import Shown
from workers.providers.contract import Message, Request

ANSWER = "answer"
CHOOSE = "choose"
"""The kind of task: {"key", "letters" (those shown), "originals" (the letter of each in the data), "counts" {letter:
how often it is right}}."""
NO_OPTION = "names no option"
LETTERS = "letters"
"""The name under which `count_letters` is derived."""
STEPS = (Step(ANSWER, "Answering", task=CHOOSE),)


def request(question: Question) -> Request:
    """The question with its options in the order of this repetition."""
    item, displayed = item_of(question.sample), shown_in(question)
    prompt = render_prompt(item, displayed, method=question.settings["method"])
    return Request(
        messages=(Message("system", prompt.system), Message("user", prompt.user)),
        max_tokens=question.settings["max_tokens"],
        temperature=0.0,
        seed=question.settings["seed"],
        task={
            "kind": CHOOSE,
            "key": item.key,
            "letters": list(displayed.letters),
            "originals": list(displayed.originals),
            "counts": question.resources.derived(LETTERS, count_letters),
        },
    )


def count_letters(samples: Sequence[Sample]) -> dict[str, int]:
    """Return how often each letter is right in all items: what the majority letter goes by."""
    return dict(sorted(Counter(item_of(sample).gold for sample in samples).items()))


def commonest(letters: Sequence[str], counts: Mapping[str, int]) -> str:
    """Return the one of these original letters that is right most often; of equally frequent ones the first in the
    alphabet."""
    return min(letters, key=lambda letter: (-counts.get(letter, 0), letter))


def parse(question: Question, answer: str) -> Parsed:
    """The original letter that an answer chooses, as the released code takes it and as a person reads it."""
    item, displayed = item_of(question.sample), shown_in(question)
    official, repaired = parse_official(answer, displayed), parse_repaired(answer, displayed)
    return Parsed(
        official={"choice": official},
        repaired={"choice": repaired},
        score=float(official == item.answer),
        repaired_score=None if repaired is None else float(repaired == item.gold),
        unusable="" if repaired is not None else NO_OPTION,
    )


def expected(question: Question) -> str:
    """Return what a perfect model would answer."""
    return f"[[{letter_of(shown_in(question), item_of(question.sample).gold)}]]"


def letter_of(displayed: Shown, original: str) -> str:
    """The letter under which an original option is shown."""
    return displayed.letters[displayed.originals.index(original)]
