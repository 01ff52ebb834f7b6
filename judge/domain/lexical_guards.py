"""Guards against similar sentences that say different things, as far as single words tell.

Four guards: one denies more often than the other, or has the antonym of a word of the other (both together cancel: "not
full" may be "empty"); each has a number that the other lacks; or they are the same but for words in the same places
("box" for "basket"). English, and Chinese as far as it goes without dividing words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from judge.domain.lexical_words import (
    COUNTING,
    DIGITS,
    FUNCTION,
    HAN_COUNTED,
    HAN_DIGITS,
    HAN_NEGATING,
    HAN_NOT_NEGATING,
    HAN_OPPOSED,
    NEGATING,
    NOT_COUNTING,
    OPPOSED,
    SAME_AS,
    TENS,
)

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
    opposed = _opposed(first, second)
    counted = bool(first.numbers - second.numbers and second.numbers - first.numbers)
    return (first.denials != second.denials) != opposed or counted or (not opposed and _swapped(first, second))


@lru_cache(8192)
def _read(text: str) -> _Sentence:
    words = [word.replace("’", "'") for word in _WORD.findall(text) if not _HAN.search(word)]
    numbers = {*_numbers(words), *_han_numbers(text)}
    content = tuple(_stem(word) for word in words if word not in FUNCTION and not _denies(word))
    signs = "".join(_HAN.findall(_HAN_PARTICLES.sub("", text)))
    denials = sum(map(_denies, words)) + len(HAN_NEGATING.findall(HAN_NOT_NEGATING.sub("", text)))
    return _Sentence(denials, frozenset(numbers), frozenset(words), content, signs, text)


def _denies(word: str) -> bool:
    return word in NEGATING or word.endswith("n't")


def _numbers(words: Sequence[str]) -> Iterator[float]:
    """The numbers of a sentence, "forty five" as one and "one" only where it counts."""
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        value = _number(word)
        if value is None or (word == "one" and before in NOT_COUNTING) or (word in TENS and after in DIGITS):
            continue
        yield value + (TENS[before] if before in TENS and word in DIGITS else 0)


def _number(word: str) -> float | None:
    if word[0].isdigit():
        return float(word.replace(",", ""))
    return COUNTING.get(word)


def _han_numbers(text: str) -> Iterator[float]:
    for digits in HAN_COUNTED.findall(text):
        left, ten, right = digits.partition("十")
        units = HAN_DIGITS[right[-1]] if right else 0
        yield (10 * (HAN_DIGITS[left[-1]] if left else 1) + units) if ten else HAN_DIGITS[left[-1]]


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


def _opposed(first: _Sentence, second: _Sentence) -> bool:
    return any(
        _faces(first.words, second.words, *sides) or _faces(second.words, first.words, *sides) for sides in OPPOSED
    ) or any(
        _faces_in(first.text, second.text, *sides) or _faces_in(second.text, first.text, *sides)
        for sides in HAN_OPPOSED
    )


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
    half, or the only one."""
    if first.signs or second.signs:
        return _swapped_signs(first.signs, second.signs)
    left, other = first.content, second.content
    if len(left) != len(other) or Counter(left) == Counter(other):
        return False
    return sum(word != with_it for word, with_it in zip(left, other, strict=True)) <= max(1, len(left) // 2)


def _swapped_signs(first: str, other: str) -> bool:
    """Return whether two Chinese texts differ only in characters replaced by as many others, at most half of them."""
    if len(first) != len(other) or Counter(first) == Counter(other):
        return False
    return sum(sign != with_it for sign, with_it in zip(first, other, strict=True)) * 2 <= len(first)
