"""Matching of answers to samples: by id, by the texts that tell a sample, or by exactly what was asked."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import MappingProxyType

from benchmark.domain.provenance import Statements
from benchmark.models import DatasetSample
from benchmark.services.asking import prompts_of, request_of, sample_of
from benchmark.services.made_elsewhere.files import BadFile, Made, Record, texts_in
from benchmark.services.plans import Plan, RunRefused, draft_of
from benchmark.suites.answers import Answered, BadAnswers
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.lettered import Order, order_in, order_of, order_of_appearance
from benchmark.suites.questions import BadQuestion, Sample
from benchmark.suites.settings import Setting
from core.messages import Sentence, gettext_noop, listed

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
class FileSample:
    """A sample as files may know it: by its `key`, by each of `texts`, which is all that is asked about it, or by
    `parts`, texts that tell it together. Lists of texts `apart` tell it from others with the same parts."""

    pk: int
    key: str
    texts: Sequence[str] = ()
    parts: Sequence[str] = ()
    apart: Sequence[Sequence[str]] = ()


class Texts:
    """Samples by their texts."""

    def __init__(self, samples: Iterable[FileSample]) -> None:
        self._parts: dict[int, tuple[str, ...]] = {}
        self._apart = {sample.pk: sample.apart for sample in samples}
        self._anchored: dict[str, list[int]] = defaultdict(list)
        fold = cache(folded)  # many questions share a story
        for sample in samples:
            parts = tuple(filter(None, map(fold, sample.parts)))
            anchor = max(parts, key=len, default="")
            if len(parts) == len(sample.parts) and len(anchor) >= FEWEST_CHARACTERS:
                self._parts[sample.pk] = parts
                self._anchored[anchor[:_ANCHOR]].append(sample.pk)
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
        if len(common) == 1:
            return common
        # those whose further texts the record has, else those without any, preferring parts in the prompt
        pks, prompt, whole = common, folded(prompt), folded(whole)
        for at in range(len(self._apart[next(iter(pks))])):
            further = {pk: self._apart[pk][at] for pk in pks}
            there = {pk for pk, texts in further.items() if texts and all(_has(whole, folded(part)) for part in texts)}
            pks = there or {pk for pk, texts in further.items() if prompt and not texts} or pks
        pks = {pk for pk in pks if not any(self._holds(other, pk, whole) for other in pks if other != pk)} or pks
        return {pk for pk in pks if any(_has(prompt, part) for part in self._parts[pk])} or pks

    def _holds(self, sample: int, other: int, whole: str) -> bool:
        """Return whether the texts of a sample include all parts of another one, and not the other way round."""
        own, others = (
            [*self._parts[pk], *(text for texts in self._apart[pk] for text in map(folded, texts) if _has(whole, text))]
            for pk in (sample, other)
        )
        return _all_in(own, self._parts[other]) and not _all_in(others, self._parts[sample])

    def _in(self, text: str) -> set[int]:
        """Return the samples all of whose parts a folded text has, without samples that lie within another one."""
        places = cache(partial(_spans, text))  # many questions share a story
        starts = [match.start() for match in _WORD_STARTS.finditer(text)]
        anchors = {text[at : at + length] for length in self._lengths for at in starts}
        candidates = [pk for anchor in anchors for pk in self._anchored.get(anchor, ())]
        spans = {pk: spans for pk in candidates if all(spans := [places(part) for part in self._parts[pk]])}
        return {
            pk
            for pk, own in spans.items()
            if not any(_within(own, others) for other, others in spans.items() if other != pk)
        }


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


def _within(spans: Sequence[Sequence[tuple[int, int]]], others: Sequence[Sequence[tuple[int, int]]]) -> bool:
    """Return whether all places of the parts of one sample lie in those of another one, some of them in longer ones."""
    pairs = [
        [(start <= begin and end <= stop, (start, stop) == (begin, end)) for start, stop in other]
        for part, other in zip(spans, others, strict=False)
        for begin, end in part
    ]
    inside = all(any(within for within, _ in places) for places in pairs)
    return inside and not all(any(same for _, same in places) for places in pairs)


_TRY = re.compile(r"(.+)/(\d{1,2})")
ItemKey = tuple[int, str, int]
"""(sample id, step, repetition from 0)."""
Match = tuple[tuple[int, ...], str, int, bool]
"""(ids of the samples that an answer is to, step or "", repetition, whether their name told it and not their text)."""


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
    """Match each answer to a sample, or to all samples that share its call, each of which has `turns` repetitions.

    The step of an answer is that of its file, else `step`, else that of its id, else the last of `steps`. Of two equal
    answers to one item the first counts; of two that differ none does.
    """
    matched, apart = Matched(), set[ItemKey]()
    for record in records:
        found = index.match(record)
        if isinstance(found, str):
            matched.unmatched.append((record.where, found))
            continue
        pks, named_step, turn, by_id = found
        answered = record.step or step or named_step or steps[-1]
        if answered not in steps:
            why = Sentence(
                "is an answer at {item_key}; expected {steps}", item_key=repr(answered), steps=" or ".join(steps)
            )
            matched.unmatched.append((record.where, why))
        elif turn >= turns:
            why = Sentence("is repetition {item_key}; the run has {turns}", item_key=turn + 1, turns=turns)
            matched.unmatched.append((record.where, why))
        else:
            matched.by_id += by_id
            matched.by_text += not by_id
            whys = dict.fromkeys(_take(matched, apart, index.keys[pk], (pk, answered, turn), record) for pk in pks)
            matched.double += [(record.where, why) for why in whys if why]
    return matched


def _take(matched: Matched, apart: set[ItemKey], name: str, item_key: ItemKey, record: Record) -> str:
    """Take an answer for its item; returns the reason why it is double, or ""."""
    first = matched.answers.get(item_key)
    if first is None and item_key not in apart:
        matched.answers[item_key] = record
        return ""
    if first and first.text == record.text:
        return Sentence("answers {key} again, as {where} does; it counts once", key=name, where=first.where)
    matched.answers.pop(item_key, None)
    apart.add(item_key)
    other = Sentence(" than {where}", where=first.where) if first else ""
    return Sentence("answers {key} otherwise{other}; neither counts", key=name, other=other)


def plain(text: str) -> str:
    """Return a text with runs of blanks as one: line ends differ between tools."""
    return " ".join(text.split())


class Index:
    """Samples by what files may call them: their keys, `ids` of other names, and their texts. `prompts` makes further
    texts of samples, which takes long: it is called if nothing else tells a sample."""

    def __init__(
        self,
        samples: Sequence[FileSample],
        ids: Mapping[str, Answered] = MappingProxyType({}),
        prompts: Callable[[], Iterable[tuple[int, Sequence[str]]]] = tuple,
    ) -> None:
        self.keys = {sample.pk: sample.key for sample in samples}
        self.texts: dict[str, set[int]] = defaultdict(set)
        self.by_text = Texts([sample for sample in samples if sample.parts])
        self._pks = {sample.key: sample.pk for sample in samples}
        self._ids = ids
        self._prompts = prompts
        self._add((sample.pk, sample.texts) for sample in samples)

    def _add(self, texts: Iterable[tuple[int, Sequence[str]]]) -> None:
        for pk, each in texts:
            for text in map(plain, each):
                if len(text) >= FEWEST_CHARACTERS:
                    self.texts[text].add(pk)

    def _named(self, record: Record) -> Match | None:
        """Return the samples of an answer whose id names them, also as `<id>/<repetition from 0>`."""
        for name in record.ids:
            tried = _TRY.fullmatch(name)
            for called, turn in ((name, record.turn), *([(tried[1], int(tried[2]))] if tried else [])):
                answered = self._ids.get(called, Answered((called,)))
                if pks := tuple(self._pks[key] for key in answered.keys if key in self._pks):
                    return pks, answered.step, answered.repetition or turn, True
        return None

    def match(self, record: Record) -> Match | str:
        """Return the samples of an answer, or the reason why there is none."""
        named, fitting = self._named(record), self.by_text.fitting(record.prompt, record.texts)
        if named and fitting and fitting.isdisjoint(named[0]):
            called, others = self.keys[named[0][0]], self._called_together(fitting)
            return Sentence("is called {called} and has the texts of {others}", called=called, others=others)
        if named:
            return named
        if not fitting:  # a run would ask exactly this about it
            if record.texts or record.messages:
                self._add(self._prompts())
                self._prompts = tuple
            sent = [message["content"] for message in record.messages if message["role"] == "user"]
            texts = set(map(plain, [*record.texts, record.prompt, *sent[-1:]]))
            fitting = {pk for text in texts if len(pks := self.texts.get(text, ())) == 1 for pk in pks}
        if len(fitting) == 1:
            return tuple(fitting), "", record.turn, False
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
        exactly = gettext_noop("and no sample has exactly this text")
        or_all = gettext_noop("and no sample has exactly this text or all of its own texts in it")
        return listed([why, or_all if self.by_text else exactly])

    def _called_together(self, pks: Iterable[int]) -> str:
        keys = sorted(self.keys[pk] for pk in pks)
        return ", ".join(keys[:3]) + (" …" if keys[3:] else "")


def read_by_ids(
    plan: Plan, stories: Sequence[DatasetSample], made: Made, declared: Statements
) -> tuple[Plan, Mapping[str, Answered]]:
    """Return (the plan with the settings that the suite's own ids name, what these ids are of)."""
    own = plan.definition.released.answer_ids
    if own is None:
        return plan, {}
    answers = {name: record.text for record in made.records for name in record.ids}
    options = {option.name: declared.ids.get(option.name, option.default) for option in own.options}
    every = stories if len(stories) == plan.dataset.stories_count else plan.dataset.samples.all()
    try:
        ids = own.named([sample_of(story) for story in every], answers, **options)
    except BadAnswers as error:
        raise BadFile(f"{made.name}: {error}") from error
    except SuiteFailed as error:
        raise RunRefused(str(error)) from error
    if ids.keys().isdisjoint(answers):
        return plan, ids
    defaults = {setting.name: setting.for_imports.default for setting in plan.definition.settings}
    unsaid = {name: value for name, value in own.settings.items() if plan.options[name] == defaults[name]}
    return replace(plan, options={**plan.options, **unsaid}), ids


def index_of(
    plan: Plan, stories: Sequence[DatasetSample], records: Sequence[Record], step: str, ids: Mapping[str, Answered]
) -> Index:
    """Return the samples by their ids and, if ids are not enough, by their texts and by what a run would ask."""
    if not any(record.texts or record.messages for record in records):
        return Index([FileSample(story.pk, story.key) for story in stories], ids)

    def asked() -> Iterator[tuple[int, Sequence[str]]]:
        """Yield the prompt that a run would send, whole and without the system's part, if it can be made."""
        draft = draft_of(plan, stories)
        prompts = prompts_of(draft)
        for story in stories:
            try:
                request = request_of(story, step, draft, prompts)
            except (BadQuestion, SuiteFailed, KeyError):
                continue
            if not isinstance(request, str):
                own = [message.content for message in request.messages if message.role == "user"]
                yield story.pk, ["\n\n".join(message.content for message in request.messages), *own[-1:]]

    suite = plan.definition
    candidates = [
        FileSample(
            story.pk,
            story.key,
            parts=[" ".join(texts_in(story.content.get(name))) for name in suite.texts.told_by],
            apart=[list(texts_in(story.content.get(name))) for name in suite.texts.told_apart_by],
        )
        for story in stories
    ]
    return Index(candidates, ids, asked)


UNTOLD = gettext_noop("the file does not show them")
UNLETTERED = gettext_noop("the prompt does not show each of them behind its letter, in one order")
OTHERS = gettext_noop("shows other options than the question has here")


def order_shown(record: Record, options: Sequence[str]) -> Order | str:
    """Return the order in which a record shows options, in its prompt or as its choices, or why it is not known."""
    if order := order_in(record.prompt, options):
        return order
    appearing = order_of_appearance(record.prompt, options)
    if not record.choices:
        return UNLETTERED if appearing else UNTOLD
    order = order_of(record.choices, options)
    if order is None:
        return OTHERS
    return order if appearing in (None, order) else UNLETTERED


def read_orders(
    plan: Plan, stories: Sequence[DatasetSample], matched: Matched, ids: Collection[str], name: str
) -> dict[ItemKey, Order]:
    """Return the order of the options of each answer by letter whose record tells it. The answers to other options
    become unmatched. The others have the order of the suite's setting, which the plan states, or which goes with these
    `ids`. Raises BadFile, which calls the file by `name`, for an answer without any."""
    lettered, orders = plan.definition.texts.lettered, dict[ItemKey, Order]()
    if lettered is None:
        return orders
    setting = next((each for each in plan.definition.settings if each.name == lettered.setting), None)
    stated = setting is not None and plan.options[setting.name] != setting.for_imports.default
    samples = {story.pk: sample_of(story) for story in stories}
    others: list[ItemKey] = []
    for item_key, record in matched.answers.items():
        sample = samples[item_key[0]]
        options = sample.content.get(lettered.options)
        if item_key[1] != lettered.step or record.text is None or not options:
            continue
        order = order_shown(record, options)
        if not isinstance(order, str):
            orders[item_key] = order
        elif order == OTHERS:
            others.append(item_key)
        elif not (stated or not set(record.ids).isdisjoint(ids) or (order == UNTOLD and not setting)):
            raise BadFile(_refusal(setting, record, sample, order, name))
    for item_key in others:
        matched.unmatched.append((matched.answers.pop(item_key).where, OTHERS))
    return orders


def _refusal(setting: Setting | None, record: Record, sample: Sample, why: str, name: str) -> str:
    where = f"{name}, {record.where}" if name else record.where
    values = [f"{setting.name}={value}" for value, _ in setting.for_imports.choices[1:]] if setting else []
    stated = Sentence(", or that you state it ({values})", values=" or ".join(values)) if values else ""
    return Sentence(
        "{where}: the order in which the options of {sample} were shown is not known: {why}. "
        "Expected are options behind their letters in the prompt, or a list of choices{stated}.",
        where=where,
        sample=sample.key,
        why=why,
        stated=stated,
    )
