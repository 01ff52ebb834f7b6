"""The share of sentences or utterances of which a model gave the right perceivers, and how the perceivers that it wrote
are read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from benchmark.suites.items import ReadLine
from benchmark.suites.questions import ItemView, Sample

ACCURACY, RECALL, WHOLE = "perception_accuracy", "perception_recall", "perception_whole"
SHARES = (ACCURACY, RECALL, WHOLE)
"""The share with the right perceivers of what a model wrote, that of what the story has, and whether all that it wrote
is right (official) or all of the story (repaired)."""

Shares = dict[str, float | None]


def makes_a_set(names: object) -> bool:
    """Return whether Python makes a set of it: a text becomes one of its letters."""
    return isinstance(names, str) or (isinstance(names, list) and all(isinstance(name, str) for name in names))


def names_in(names: object) -> list[str] | None:
    """Return the names without empty ones, those of a text between its commas; None of what holds no names."""
    listed = names.split(",") if isinstance(names, str) else names
    if not isinstance(listed, (list, tuple)) or not all(isinstance(name, str) for name in listed):
        return None
    return [name.strip() for name in listed if name.strip()]


def same_names(names: Sequence[str], gold: Sequence[str]) -> bool:
    """Return whether both name the same people; an empty name is nobody."""
    return {name.casefold() for name in names} == {name.casefold() for name in gold if name}


Names = Sequence[str]


PerceivedLine = tuple[str, Names, str | None, bool]
"""A line with its perceivers, what was read of it in words, None where nothing was, and whether that is right."""


def read_lines(
    texts: Iterable[str],
    perceivers: Iterable[Names],
    scenes: Iterable[tuple[int | None, Names | None]],
    right: Callable[[Names, str, Names], bool],
) -> Iterator[PerceivedLine]:
    """Yield each line with its perceivers and what was read of it.

    `scenes` are the numbers of lines and the names that were read; `right` takes those names, the line and its
    perceivers.
    """
    read = {at: names for at, names in scenes if at is not None}
    for at, (text, gold) in enumerate(zip(texts, perceivers, strict=True)):
        names = read.get(at)
        words = None if names is None else ", ".join(names) or "nobody"
        yield text, gold, words, names is not None and right(names, text, gold)


def perceiver_lines(
    lines: Iterable[PerceivedLine], view: ItemView, counts: Callable[[str], bool] = bool
) -> list[ReadLine]:
    """Return what `read_lines` yields as lines to be held against another model's, those alone that `counts` says are
    scored; only the repaired parse is kept line by line."""
    read = bool(view.answer) and not view.unreadable
    return [
        ReadLine(
            about=text,
            gold=", ".join(filter(None, perceivers)) or "nobody",
            repaired=words or ("left out" if read else None),
            right=right if read else None,
        )
        for text, perceivers, words, right in lines
        if counts(text)
    ]


def relined(sample: Sample, origins: Sequence[int | None], **content: Any) -> Sample:
    """Return the sample told in other lines, of which new ones, those without an origin, have no perceivers."""
    perceivers = sample.gold["perceivers"]
    names = [[] if origin is None else perceivers[origin] for origin in origins]
    return replace(sample, content={**sample.content, **content}, gold={**sample.gold, "perceivers": names})


def rounded(value: float | None) -> float | None:
    """Round to three decimals as numpy does, and with it the released code; Python's differs at halves."""
    return None if value is None else float(np.round(value, 3))


def mean_shares(shares: Mapping[str, Shares | None], keys: Sequence[str]) -> dict[str, float | None]:
    """Return the mean of each share over the answers of these keys that were read, with how many there are, `n`, and
    how many of them are `unreadable`."""
    read = [share for key in keys if (share := shares[key])]
    means: dict[str, float | None] = {}
    for name in SHARES:
        values = [value for share in read if (value := share[name]) is not None]
        means[name] = fmean(values) if values else None
    return {**means, "n": len(keys), "unreadable": len(keys) - len(read)}
