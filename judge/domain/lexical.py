"""The lexical judge: which propositions of two tables say the same, by their wording alone.

It pairs propositions of one actor one to one by text similarity, and never two of which one denies, counts, opposes or
names something else than the other (see `lexical_guards`). What it cannot see, it says in BLIND.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Body
from workers.providers.errors import Rejected

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_HAN = re.compile(r"[\u3400-\u9fff]")
_HAN_PARTICLES = re.compile("[的地得了着吗呢吧]")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """`content` are the words that carry meaning, in order, by stem; of Chinese `signs` are the characters instead."""

    denials: int
    numbers: frozenset[float]
    words: frozenset[str]
    content: tuple[str, ...]
    signs: str
    text: str


def contradict(text: str, other: str) -> bool:
    """Return whether two sentences, in lower case, cannot say the same. In doubt they can."""
    if text == other:
        return False
    first, second = _read(text), _read(other)
    opposed = any(
        _faces(first.words, second.words, *sides) or _faces(second.words, first.words, *sides) for sides in OPPOSED
    ) or any(
        _faces_in(first.text, second.text, *sides) or _faces_in(second.text, first.text, *sides)
        for sides in HAN_OPPOSED
    )
    counted = bool(first.numbers - second.numbers and second.numbers - first.numbers)
    return (first.denials != second.denials) != opposed or counted or (not opposed and _swapped(first, second))


@lru_cache(8192)
def _read(text: str) -> _Sentence:
    words = [word.replace("’", "'") for word in _WORD.findall(text) if not _HAN.search(word)]
    numbers = set()  # "forty five" is one number, and "one" is only where it counts
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        value = _number(word)
        if (
            value is not None
            and (word != "one" or before not in NOT_COUNTING)
            and (word not in TENS or after not in DIGITS)
        ):
            numbers.add(value + (TENS[before] if before in TENS and word in DIGITS else 0))
    for digits in HAN_COUNTED.findall(text):
        left, ten, right = digits.partition("十")
        units = HAN_DIGITS[right[-1]] if right else 0
        numbers.add((10 * (HAN_DIGITS[left[-1]] if left else 1) + units) if ten else HAN_DIGITS[left[-1]])
    content = tuple(_stem(word) for word in words if word not in FUNCTION and not _denies(word))
    signs = "".join(_HAN.findall(_HAN_PARTICLES.sub("", text)))
    denials = sum(map(_denies, words)) + len(HAN_NEGATING.findall(HAN_NOT_NEGATING.sub("", text)))
    return _Sentence(denials, frozenset(numbers), frozenset(words), content, signs, text)


def _denies(word: str) -> bool:
    return word in NEGATING or word.endswith("n't")


def _number(word: str) -> float | None:
    if word[0].isdigit():
        return float(word.replace(",", ""))
    return COUNTING.get(word)


def _stem(word: str) -> str:
    """Return what the forms of a word have in common, roughly, whether spelt as in Britain or in America."""
    bare = word.removesuffix("'s")
    if bare in SAME_AS:
        return SAME_AS[bare]
    if (value := _number(bare)) is not None:
        return str(float(value))
    stem = re.sub(r"(?<=[a-z]{2})(?:ies|ied)$", "y", bare)
    stem = re.sub(r"(?<=[a-z]{3})(?:ed|ing|es|s)$|(?<=[a-z]{3})e$", "", stem)
    stem = re.sub(r"([bdgmnprt])\1$", r"\1", stem)
    return re.sub(r"our$", "or", re.sub(r"is$", "iz", stem))


def _faces(words: frozenset[str], others: frozenset[str], left: frozenset[str], right: frozenset[str]) -> bool:
    """Return whether one sentence has a word of `left` and the other one of `right`, and neither has both."""
    return bool(words & left and others & right and not words & right and not others & left)


def _faces_in(text: str, other: str, left: frozenset[str], right: frozenset[str]) -> bool:
    return (
        any(word in text for word in left)
        and any(word in other for word in right)
        and not any(word in text for word in right)
        and not any(word in other for word in left)
    )


def _swapped(first: _Sentence, second: _Sentence) -> bool:
    """Return whether both have the same words in the same order but for a few that stand in the same places: at most
    half, or the only one; of Chinese the same characters, but for at most half."""
    in_han = first.signs or second.signs
    left, other = (first.signs, second.signs) if in_han else (first.content, second.content)
    if len(left) != len(other) or Counter(left) == Counter(other):
        return False
    most = len(left) // 2 if in_han else max(1, len(left) // 2)
    return sum(word != with_it for word, with_it in zip(left, other, strict=True)) <= most


_LEXICON = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
NEGATING, FUNCTION, NOT_COUNTING = (
    frozenset(_LEXICON[name].split()) for name in ("negating", "function", "not_counting")
)
HAN_NOT_NEGATING = re.compile(
    "不但|不仅|不只|不过|不管|不论|不断|不久|差不多|无论|无数|非常|除非|未来|别人|别的|特别|分别|没关系"
)
HAN_NEGATING = re.compile("没有|不|没|未|无|非|别|勿|莫")
UNITS = {name: value for value, name in enumerate(_LEXICON["units"].split())}
TENS = {name: 10 * value for value, name in enumerate(_LEXICON["tens"].split(), 2)}
COUNTING = (
    UNITS | TENS | {"dozen": 12, "once": 1, "twice": 2, "thrice": 3, "single": 1, "hundred": 100, "thousand": 1000}
)
DIGITS = frozenset(name for name, value in UNITS.items() if 0 < value < 10)
HAN_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九十")} | {"两": 2}
HAN_COUNTED = re.compile(r"([零一二三四五六七八九十两]+)(?=[个只本张件条位岁次天年月点块把支封杯辆家人名])")


def _sides(groups: Sequence[str]) -> list[tuple[frozenset[str], frozenset[str]]]:
    sides = (group.split("|") for group in groups)
    return [(frozenset(left.split()), frozenset(other.split())) for left, other in sides]


OPPOSED, HAN_OPPOSED = _sides(_LEXICON["antonyms"]), _sides(_LEXICON["han_antonyms"])
SAME_AS: dict[str, str] = {word: group.split()[0] for group in _LEXICON["alike"] for word in group.split()}
NAME = "lexical-judge"
THRESHOLD = 0.55
RULES = 3
"""The version of this judge. Raise it with every change of what it matches: its calls and its rows are told apart by
it."""
BLIND = (
    "It compares words, not meanings. It cannot see what a negation is about, who does what to whom, what only "
    "context tells, nor a synonym, an antonym or a swapped word where more of the sentence changed."
)


def align(
    predictions: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], *, threshold: float = THRESHOLD
) -> list[tuple[int, int]]:
    """Return (prediction, gold) indices of the assignment with the greatest total similarity within each actor
    (Hungarian method), of pairs at or above `threshold` that do not contradict each other.

    Similarity is the mean of token-set and plain ratio, 0 to 1, case-insensitive.
    """
    groups: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((predictions, gold)):
        for at, row in enumerate(rows):
            groups[row[0].strip().lower()][side].append(at)
    from rapidfuzz import fuzz, process  # where they are used: SciPy takes most of a second
    from scipy.optimize import linear_sum_assignment

    pairs = []
    for left, right in groups.values():
        if not left or not right:
            continue
        texts = [predictions[at][1].lower() for at in left], [gold[at][1].lower() for at in right]
        by_words, plain = (process.cdist(*texts, scorer=scorer) for scorer in (fuzz.token_set_ratio, fuzz.ratio))
        close = (by_words + plain) / 200
        close[close < threshold] = 0  # else two weak pairs could outweigh a good one, and none would count
        for first, other in zip(*close.nonzero(), strict=True):
            if contradict(texts[0][first], texts[1][other]):
                close[first, other] = 0
        for first, other in zip(*linear_sum_assignment(close, maximize=True), strict=True):
            if close[first, other] >= max(threshold, 1e-9):
                pairs.append((left[first], right[other]))
    return sorted(pairs)


def lexical_judge(*, task: str, answer: Callable[[Body], str], sample: Mapping[str, Any]) -> Baseline:
    """Return the lexical judge of tasks of a kind. Its `answer` finds the `threshold` in the body, and compares by
    `judge.domain.lexical.align`."""
    return Baseline(
        name=NAME,
        task=task,
        answer=answer,
        sample=sample,
        settings=_settings,
        options={"threshold": (float, int)},
        options_note="threshold for the lexical judge",
        rules=RULES,
    )


def _settings(options: Mapping[str, Any], seed: int | None) -> dict[str, float]:
    """Return the settings in options. Raises Rejected. The version is among them: of another one no answer is taken."""
    threshold = options.get("threshold", THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise Rejected(f"The option threshold is {threshold!r}; a number from 0 to 1 is expected.")
    return {"threshold": float(threshold), "rules": RULES}
