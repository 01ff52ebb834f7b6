"""The lines of a story or conversation, each with its perceivers and those that a model named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from benchmark.suites.contract import Sample

Names = Sequence[str]


def read_lines(
    texts: Iterable[str],
    perceivers: Iterable[Names],
    scenes: Iterable[tuple[int | None, Names | None]],
    right: Callable[[Names, str, Names], bool],
) -> Iterator[tuple[str, Names, dict[str, Any]]]:
    """Yield each line with its perceivers and what was read of it, {"read": None where nothing was, "right"}.

    `scenes` are the numbers of lines and the names that were read; `right` takes those names, the line and its perceivers.
    """
    read = {at: names for at, names in scenes if at is not None}
    for at, (text, gold) in enumerate(zip(texts, perceivers, strict=True)):
        names = read.get(at)
        told = None if names is None else ", ".join(names) or "nobody"
        yield text, gold, {"read": told, "right": names is not None and right(names, text, gold)}


def relined(sample: Sample, origins: Sequence[int | None], **content: Any) -> Sample:
    """Return the sample told in other lines, of which new ones, those without an origin, have no perceivers."""
    perceivers = sample.gold["perceivers"]
    told = [[] if origin is None else perceivers[origin] for origin in origins]
    return replace(sample, content={**sample.content, **content}, gold={**sample.gold, "perceivers": told})
