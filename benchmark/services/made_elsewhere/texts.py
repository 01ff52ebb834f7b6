"""Samples by the texts that tell them, wherever these stand in a record of another tool. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

FEWEST_CHARACTERS = 8
"""A shorter text names no sample."""
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_BLANK_IN_CJK = re.compile(rf"(?<=[{_CJK}]) | (?=[{_CJK}])")
_IN_WORD = re.compile(r"[a-z0-9]{2}")
_WORD_STARTS = re.compile(rf"(?<![^\s{_CJK}])\S|[{_CJK}]")
_ANCHOR = 16
"""Characters by which a text is looked up."""


def folded(text: str) -> str:
    """Return a text without what tools change: case, punctuation, quotes, blanks, and compatible characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _BLANK_IN_CJK.sub("", " ".join(re.sub(r"[\W_]+", " ", plain).split()))


@dataclass(frozen=True, slots=True)
class SampleTexts:
    """The texts of a sample: all of `parts` tell it, and lists of `apart` tell it from others with the same parts."""

    parts: Sequence[str]
    apart: Sequence[Sequence[str]] = ()


class Texts:
    """Samples by their texts."""

    def __init__(self, samples: Mapping[int, SampleTexts]) -> None:
        self._parts: dict[int, tuple[str, ...]] = {}
        self._apart = {pk: sample.apart for pk, sample in samples.items()}
        self._anchored: dict[str, list[int]] = defaultdict(list)
        fold = cache(folded)  # many questions share a story
        for pk, sample in samples.items():
            parts = tuple(filter(None, map(fold, sample.parts)))
            anchor = max(parts, key=len, default="")
            if len(parts) == len(sample.parts) and len(anchor) >= FEWEST_CHARACTERS:
                self._parts[pk] = parts
                self._anchored[anchor[:_ANCHOR]].append(pk)
        self._lengths = sorted({len(anchor) for anchor in self._anchored})

    def __bool__(self) -> bool:
        return bool(self._parts)

    def fitting(self, prompt: str, others: Sequence[str]) -> set[int]:
        """Return the samples that a record has the texts of: in its `prompt`, in its `others`, or in all of these
        together. Several are those that nothing in the record tells apart."""
        joined = "\n".join(others)
        whole = f"{prompt}\n{joined}"
        texts = dict.fromkeys(filter(None, (prompt, joined, *others)))
        views = [pks for text in texts if (pks := self._in(folded(text)))]
        if not views and prompt and others:
            views = [pks] if (pks := self._in(folded(whole))) else []
        if not views:
            return set()
        common = set.intersection(*views)
        if not common:  # they contradict each other
            return set.union(*views)
        return self._told_apart(common, folded(prompt), folded(whole)) if len(common) > 1 else common

    def _told_apart(self, pks: set[int], prompt: str, whole: str) -> set[int]:
        """Return those of several samples whose further texts the record has, else those without any where it has a
        prompt, and of these those of which the prompt has a part."""
        for at in range(len(self._apart[next(iter(pks))])):
            further = {pk: self._apart[pk][at] for pk in pks}
            there = {pk for pk, texts in further.items() if texts and _has_all(whole, texts)}
            pks = there or {pk for pk, texts in further.items() if prompt and not texts} or pks
        pks = {pk for pk in pks if not any(self._holds(other, pk, whole) for other in pks if other != pk)} or pks
        return {pk for pk in pks if any(_has(prompt, part) for part in self._parts[pk])} or pks

    def _holds(self, sample: int, other: int, whole: str) -> bool:
        """Return whether a sample has all parts of another one among its own and its further texts in the record, and
        the other one lacks some of its parts."""
        own, others = (
            [*self._parts[pk], *(text for texts in self._apart[pk] for text in map(folded, texts) if _has(whole, text))]
            for pk in (sample, other)
        )
        return _all_in(own, self._parts[other]) and not _all_in(others, self._parts[sample])

    def _in(self, text: str) -> set[int]:
        """Return the samples all of whose parts a folded text has, without those whose parts are only parts of another
        one's."""
        places = cache(partial(_spans, text))  # many questions share a story
        spans = {pk: spans for pk in self._candidates(text) if all(spans := [places(part) for part in self._parts[pk]])}
        return {
            pk
            for pk, own in spans.items()
            if not any(_within(own, others) for other, others in spans.items() if other != pk)
        }

    def _candidates(self, text: str) -> Iterator[int]:
        starts = [match.start() for match in _WORD_STARTS.finditer(text)]
        anchors = {text[at : at + length] for length in self._lengths for at in starts}
        for anchor in anchors:
            yield from self._anchored.get(anchor, ())


def _spans(text: str, part: str) -> list[tuple[int, int]]:
    """Return where a folded text has a part, as whole words."""
    spans, at = [], text.find(part)
    while at >= 0:
        end = at + len(part)
        if not (at and _IN_WORD.match(text, at - 1)) and not _IN_WORD.match(text, end - 1):
            spans.append((at, end))
        at = text.find(part, at + 1)
    return spans


def _all_in(texts: Sequence[str], parts: Sequence[str]) -> bool:
    return all(any(_has(text, part) for text in texts) for part in parts)


def _has(text: str, part: str) -> bool:
    return bool(_spans(text, part))


def _has_all(text: str, parts: Iterable[str]) -> bool:
    return all(_has(text, folded(part)) for part in parts)


def _within(spans: Sequence[Sequence[tuple[int, int]]], others: Sequence[Sequence[tuple[int, int]]]) -> bool:
    """Return whether all places of the parts of one sample lie in those of another one, some of them in longer ones."""
    pairs = [
        [(start <= begin and end <= stop, (start, stop) == (begin, end)) for start, stop in other]
        for part, other in zip(spans, others, strict=False)
        for begin, end in part
    ]
    inside = all(any(within for within, _ in places) for places in pairs)
    return inside and not all(any(same for _, same in places) for places in pairs)
