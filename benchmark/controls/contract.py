"""The contract of controls: the parts of a suite's samples that they can change, and the description of a control."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from benchmark.suites.questions import Sample

Spellings = tuple[str, ...]
"""The name of one person, in all spellings that texts have of it."""
PEOPLE, OBJECTS, PLACES = "people", "objects", "places"
"""The kinds of names that may be replaced."""
ENGLISH, CHINESE = "en", "zh"


@dataclass(frozen=True, slots=True)
class Controllable:
    """The parts of a suite's samples that controls may change.

    `story` is the text of `Sample.content` that a question is about. `texts` are the places in content and gold, such
    as `content.question` or `gold.beliefs.*.actor`, of texts or lists of texts in which names are replaced, that of the
    story first; `*` stands for every entry of a list. `language` is that of a sample, `en` or `zh`; `kinds` are the
    kinds of names on which none of its answers depends. `named` are the people of the data, each in all spellings that
    the texts have: nobody else is renamed. Without it people are found in the texts; `actors` are then phrases of the
    data that say who acts. `reordered(sample, order)` shows the options under `content.options` in another order, of
    places from 0, with gold to match; None where a suite has none. Where the story is a list of sentences,
    `relined(sample, sentences, origins)` tells it in others, of which each has the place that it had before, None of a
    new one. `senseless` says by control at which steps of the suite it makes no sense, and why, as a whole sentence;
    under an empty step for all of them. `refused` says by control by which methods of the suite nothing is asked under
    it, and why, as a whole sentence.
    """

    story: str
    texts: tuple[str, ...]
    language: Callable[[Sample], str] = lambda sample: ENGLISH
    kinds: Callable[[Sample], Collection[str]] = lambda sample: (PEOPLE, OBJECTS, PLACES)
    named: Callable[[Sample], Sequence[Spellings]] | None = None
    actors: Callable[[Sample], Sequence[str]] | None = None
    reordered: Callable[[Sample, Sequence[int]], Sample] | None = None
    relined: Callable[[Sample, Sequence[str], Sequence[int | None]], Sample] | None = None
    senseless: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    refused: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Control:
    """A way to change samples.

    `apply(sample, controllable, seed)` returns the changed sample, an equal one where there is nothing to change; key,
    cluster, group, category, split and number stay. The same sample and seed give the same result, and so do names of
    one cluster, in one language. `interpretation` says what a lower score under it tells, as the end of a
    sentence; `same` why a sample can stay as it is, `without` why a whole suite cannot have it, each as a sentence.
    `since` is the version of lists and rules that last changed what it gives.
    """

    name: str
    title: str
    help: str
    interpretation: str
    same: str
    without: str
    apply: Callable[[Sample, Controllable, int], Sample]
    applies: Callable[[Controllable], bool]
    since: int = 1


def drawn_order(items: Iterable[str], *named: object) -> list[str]:
    """Return the items in an order that depends on the names alone, whatever else is drawn before."""
    return [*_order(tuple(items), "\n".join(map(str, named)))]


@lru_cache(4096)
def _order(items: tuple[str, ...], named: str) -> tuple[str, ...]:
    """All samples of a cluster draw the same."""
    return tuple(sorted(items, key=lambda item: (_digest(named, item), item)))


def drawn_number(below: int, *named: object) -> int:
    """Return a whole number from 0 to `below` - 1."""
    return int.from_bytes(_digest(*named)[:8]) % below


def _digest(*named: object) -> bytes:
    return hashlib.sha256("\n".join(map(str, named)).encode()).digest()
