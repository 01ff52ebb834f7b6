"""Matching of answers to samples: by id, by the texts that tell a sample, or by exactly what was asked. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchmark.services.made_elsewhere.records import Record
from benchmark.services.made_elsewhere.texts import FEWEST_CHARACTERS, SampleTexts, Texts
from benchmark.suites.answers import Answered
from core.messages import Sentence, gettext_noop, listed

_TRY = re.compile(r"(.+)/(\d{1,2})")


@dataclass(frozen=True, slots=True)
class FileSample:
    """A sample as files may know it: by its `key`, by each of `texts`, which is all that is asked about it, or by
    `parts`, texts that tell it together. Lists of texts `apart` tell it from others with the same parts."""

    pk: int
    key: str
    texts: Sequence[str] = ()
    parts: Sequence[str] = ()
    apart: Sequence[Sequence[str]] = ()


ItemKey = tuple[int, str, int]
"""(sample id, step, repetition from 0)."""


@dataclass(slots=True)
class Matched:
    """`answers` by item key; `unmatched` and `double` are (where, why) in the order of the file; `by_id` and `by_text`
    count the answers whose sample was found so."""

    answers: dict[ItemKey, Record] = field(default_factory=dict)
    unmatched: list[tuple[str, str]] = field(default_factory=list)
    double: list[tuple[str, str]] = field(default_factory=list)
    by_id: int = 0
    by_text: int = 0


def match(records: Iterable[Record], index: Index, *, step: str = "", steps: Sequence[str], turns: int) -> Matched:
    """Match each answer to a sample, or to all samples that share its call. `step` is that of answers whose file names
    none, where it is empty the one that their id is of, else the last of `steps`, those that can be answered; `turns`
    says how often a sample may be answered.

    Of two answers to one item that are the same the first counts, of two that differ none does; both are told.
    """
    matched, apart = Matched(), set[ItemKey]()
    for record in records:
        matches = index.match(record)
        if isinstance(matches, str):
            matched.unmatched.append((record.where, matches))
            continue
        item_keys = [(pk, record.step or step or matches.step or steps[-1], matches.turn) for pk in matches.pks]
        if why := _misplaced(item_keys[0], steps, turns):
            matched.unmatched.append((record.where, why))
            continue
        matched.by_id += matches.by_id
        matched.by_text += not matches.by_id
        whys = {why: None for item_key in item_keys if (why := _taken(matched, apart, index, item_key, record))}
        matched.double += [(record.where, why) for why in whys]
    return matched


def _taken(matched: Matched, apart: set[ItemKey], index: Index, item_key: ItemKey, record: Record) -> str:
    """Take an answer for its item; return why it is double, empty where it is not."""
    if item_key not in apart and item_key not in matched.answers:
        matched.answers[item_key] = record
        return ""
    first = matched.answers.get(item_key)
    same = first is not None and first.text == record.text
    if not same:
        matched.answers.pop(item_key, None)
        apart.add(item_key)
    return _double(index.keys[item_key[0]], first, same)


def _double(key: str, first: Record | None, same: bool) -> str:
    if same and first:
        return Sentence("answers {key} again, as {where} does; it counts once", key=key, where=first.where)
    other = Sentence(" than {where}", where=first.where) if first else ""
    return Sentence("answers {key} otherwise{other}; neither counts", key=key, other=other)


def _misplaced(item_key: ItemKey, steps: Sequence[str], turns: int) -> str:
    if item_key[1] not in steps:
        return Sentence(
            "is an answer at {item_key}; expected {steps}", item_key=repr(item_key[1]), steps=" or ".join(steps)
        )
    return (
        Sentence("is repetition {item_key}; the run has {turns}", item_key=item_key[2] + 1, turns=turns)
        if item_key[2] >= turns
        else ""
    )


def plain(text: str) -> str:
    """Return a text with runs of blanks as one: line ends differ between tools."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class MatchedSamples:
    """The samples that an answer is to, at a step, empty where that is not said, in a repetition; `by_id` says that
    their name told it, else their text did."""

    pks: tuple[int, ...]
    step: str
    turn: int
    by_id: bool


class Index:
    """Samples by what files may call them: by their keys, by `ids` of other names, and by their texts. `prompts` makes
    further texts of samples, which takes long: it is called where nothing else tells a sample."""

    def __init__(
        self,
        samples: Sequence[FileSample],
        ids: Mapping[str, Answered] = MappingProxyType({}),
        prompts: Callable[[], Iterable[tuple[int, Sequence[str]]]] = tuple,
    ) -> None:
        self.keys = {sample.pk: sample.key for sample in samples}
        self.texts: dict[str, set[int]] = defaultdict(set)
        self.by_text = Texts({sample.pk: SampleTexts(sample.parts, sample.apart) for sample in samples if sample.parts})
        self._pks = {sample.key: sample.pk for sample in samples}
        self._ids = ids
        self._prompts = prompts
        self._add((sample.pk, sample.texts) for sample in samples)

    def _add(self, texts: Iterable[tuple[int, Sequence[str]]]) -> None:
        for pk, each in texts:
            for text in map(plain, each):
                if len(text) >= FEWEST_CHARACTERS:
                    self.texts[text].add(pk)

    def named(self, record: Record) -> MatchedSamples | None:
        """Return what an answer is to whose id says it, also as `<id>/<repetition from 0>`."""
        for name in record.ids:
            if match := self._called(name, record.turn):
                return match
            tried = _TRY.fullmatch(name)
            if tried and (match := self._called(tried[1], int(tried[2]))):
                return match
        return None

    def _called(self, name: str, turn: int) -> MatchedSamples | None:
        answered = self._ids.get(name, Answered((name,)))
        pks = tuple(self._pks[key] for key in answered.keys if key in self._pks)
        return MatchedSamples(pks, answered.step, answered.repetition or turn, by_id=True) if pks else None

    def match(self, record: Record) -> MatchedSamples | str:
        """Return what an answer is to, or why that is nothing."""
        named, fitting = self.named(record), self.by_text.fitting(record.prompt, record.texts)
        if named and fitting.isdisjoint(named.pks) and fitting:
            called, others = self.keys[named.pks[0]], self._called_together(fitting)
            return Sentence("is called {called} and has the texts of {others}", called=called, others=others)
        if named:
            return named
        fitting = fitting or self._asked_exactly(record)
        if len(fitting) == 1:
            return MatchedSamples((fitting.pop(),), "", record.turn, by_id=False)
        if fitting:
            return Sentence(
                "has the texts of {fitting} samples: {called_together}",
                fitting=len(fitting),
                called_together=self._called_together(fitting),
            )
        why = (
            Sentence("no sample is called {ids}", ids=f"{record.ids[0]!r:.80}")
            if record.ids
            else gettext_noop("it has no id")
        )
        if not (record.texts or record.messages):
            return why
        return listed(
            [
                why,
                gettext_noop("and no sample has exactly this text or all of its own texts in it")
                if self.by_text
                else gettext_noop("and no sample has exactly this text"),
            ]
        )

    def _asked_exactly(self, record: Record) -> set[int]:
        """Return the samples about which a run would ask exactly this."""
        if record.texts or record.messages:
            self._add(self._prompts())
            self._prompts = tuple
        sent = [message["content"] for message in record.messages if message["role"] == "user"]
        texts = set(map(plain, [*record.texts, record.prompt, *sent[-1:]]))
        return {pk for text in texts if len(pks := self.texts.get(text, ())) == 1 for pk in pks}

    def _called_together(self, pks: Iterable[int]) -> str:
        keys = sorted(self.keys[pk] for pk in pks)
        return ", ".join(keys[:3]) + (" …" if keys[3:] else "")
