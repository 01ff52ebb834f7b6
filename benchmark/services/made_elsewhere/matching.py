"""Which sample an answer is to: by its id, or by exactly the text that was asked. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmark.services.made_elsewhere.records import Record

_TRY = re.compile(r"(.+)/(\d{1,2})")
FEWEST_CHARACTERS = 8
"""A shorter text names no sample."""


@dataclass(frozen=True, slots=True)
class Known:
    """A sample as files may know it: `names` are ids, each of `texts` is all that is asked about it, and `parts` are texts that say it together."""

    pk: int
    key: str
    names: Sequence[str]
    texts: Sequence[str] = ()
    parts: Sequence[str] = ()


Place = tuple[int, str, int]
"""(sample id, step, repetition from 0)."""


@dataclass(slots=True)
class Matched:
    """`answers` by place; `unmatched` and `double` are (where, why) in the order of the file."""

    answers: dict[Place, Record] = field(default_factory=dict)
    unmatched: list[tuple[str, str]] = field(default_factory=list)
    double: list[tuple[str, str]] = field(default_factory=list)


def match(
    records: Iterable[Record], samples: Sequence[Known], *, step: str, steps: Sequence[str], turns: int
) -> Matched:
    """Match each answer to a sample. `step` is that of answers whose file names none, `steps` are those that can be answered, `turns` how often a
    sample may be answered.

    Of two answers to one place that are the same the first counts, of two that differ none does; both are told.
    """
    index = Index(samples)
    keys = {sample.pk: sample.key for sample in samples}
    matched, apart = Matched(), set[Place]()
    for record in records:
        found = index.found(record)
        if isinstance(found, str):
            matched.unmatched.append((record.where, found))
            continue
        place = (found[0], record.step or step, found[1])
        if why := _misplaced(place, steps, turns):
            matched.unmatched.append((record.where, why))
        elif place in apart or place in matched.answers:
            first = matched.answers.get(place)
            same = first is not None and first.text == record.text
            matched.double.append((record.where, _double(keys[place[0]], first, same)))
            if not same:
                matched.answers.pop(place, None)
                apart.add(place)
        else:
            matched.answers[place] = record
    return matched


def _double(key: str, first: Record | None, same: bool) -> str:
    if same and first:
        return f"answers {key} again, as {first.where} does; it counts once"
    other = f" than {first.where}" if first else ""
    return f"answers {key} otherwise{other}; neither counts"


def _misplaced(place: Place, steps: Sequence[str], turns: int) -> str:
    if place[1] not in steps:
        return f"is an answer at {place[1]!r}; expected {' or '.join(steps)}"
    return f"is repetition {place[2] + 1}; the run has {turns}" if place[2] >= turns else ""


def plain(text: str) -> str:
    """Return a text with runs of blanks as one: line ends differ between tools."""
    return " ".join(text.split())


class Index:
    """Samples by what files may call them."""

    def __init__(self, samples: Sequence[Known]) -> None:
        self.names: dict[str, set[int]] = defaultdict(set)
        self.texts: dict[str, set[int]] = defaultdict(set)
        self.parts: dict[str, list[tuple[frozenset[str], int]]] = defaultdict(list)
        for sample in samples:
            for name in sample.names:
                self.names[name].add(sample.pk)
            for text in map(plain, sample.texts):
                if len(text) >= FEWEST_CHARACTERS:
                    self.texts[text].add(sample.pk)
            if parts := frozenset(map(plain, sample.parts)):
                self.parts[max(parts, key=len)].append((parts, sample.pk))

    def named(self, record: Record) -> tuple[int, int] | None:
        """Return (sample, repetition) of an answer whose id names one sample, also as `<id>/<repetition from 0>`."""
        for name in record.ids:
            if len(named := self.names.get(name, ())) == 1:
                return next(iter(named)), record.turn
            tried = _TRY.fullmatch(name)
            if tried and len(named := self.names.get(tried[1], ())) == 1:
                return next(iter(named)), int(tried[2])
        return None

    def found(self, record: Record) -> tuple[int, int] | str:
        """Return (sample, repetition), or why there is none."""
        if named := self.named(record):
            return named
        texts = set(map(plain, record.texts))
        fitting = {pk for text in texts if len(pks := self.texts.get(text, ())) == 1 for pk in pks}
        fitting |= {pk for text in texts for parts, pk in self.parts.get(text, ()) if parts <= texts}
        if len(fitting) == 1:
            return fitting.pop(), record.turn
        if fitting:
            return f"has the texts of {len(fitting)} samples"
        why = f"no sample is called {record.ids[0]!r:.80}" if record.ids else "it has no id"
        return why + (", and no sample has exactly this text" if record.texts else "")
