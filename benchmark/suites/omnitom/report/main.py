"""The paper's table 3: extraction and labelling of a model in one row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmark.domain.tables import Items, Table
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, Scheme
from benchmark.suites.omnitom.step_keys import JUDGE, LABEL, STAGE1, STAGE2
from benchmark.suites.omnitom.tables import MainResult, main_results
from benchmark.suites.reports import Published
from benchmark.suites.results import EntrantResults, EntrantsByGroup
from benchmark.suites.showing.entrants import measured, row_of
from benchmark.suites.showing.judges import notes_of
from benchmark.suites.showing.missing import unlike_missing
from benchmark.suites.showing.names import labels_of
from benchmark.suites.showing.ranking import ranked_by, ranked_within, with_settings
from benchmark.suites.tombench_tasks import TASKS
from core.messages import Sentence, gettext_noop, listed, noted


def _published() -> tuple[Published, ...]:
    """Return the figures of the paper's table 3."""
    first, second = gettext_noop("Extraction, F1 (table 3)"), gettext_noop("Labelling, accuracy (table 3)")
    categories = {f"f1 {name}": (name, {"categories-stage1": name}) for name in TASKS}
    overall = {
        "f1_category_mean": (gettext_noop("Overall, the mean of categories"), {STAGE1: "f1_category_mean"}),
        "f1": ("By story", {STAGE1: "f1"}),
    }
    labels = zip(OMNITOM_SCHEME.shares, ("Overall", *OMNITOM_SCHEME.shorts.values()), strict=True)
    return (
        *(
            Published(f"{STAGE1}.{key}", title, first, {"main": key} | more)
            for key, (title, more) in (categories | overall).items()
        ),
        *(Published(f"{STAGE2}.{share}", title, second, {"main": share, STAGE2: share}) for share, title in labels),
    )


PUBLISHED = _published()


def main_table(groups: EntrantsByGroup, parse: str, scheme: Scheme = OMNITOM_SCHEME) -> Table:
    """The paper's table 3: a row for each model under its settings, with what it came to in either metric group."""
    rows = [_Joined(*pair) for pair in _joined(groups)]
    heads = [row.head for row in rows]
    labels = labels_of(heads)
    heads = [
        replace(head, model=model, own=own) for head, model, own in zip(heads, labels.models, labels.own, strict=True)
    ]
    runs = [
        MainResult(
            model=head.model,
            rows={group: entrant.parses.of(parse) if entrant else None for group, entrant in row.by_group.items()},
        )
        for head, row in zip(heads, rows, strict=True)
    ]
    table = main_results(runs, parse=parse, scheme=scheme)
    cells = [
        row_of(head, STAGE1, row, {key: main_row.where(key, parse, scheme) for key in row})
        for row, head, main_row in zip(table.rows, heads, rows, strict=True)
    ]
    notes = [*table.notes, *_stories(runs), *_of_judges([row.first for row in rows if row.first])]
    ranking = ranked_by([entrant for entrants in groups.values() for entrant in entrants])
    return with_settings(replace(table, rows=cells, lead=unlike_missing(groups), notes=notes, ranking=ranking))


def _of_judges(entrants: Sequence[EntrantResults]) -> list[str]:
    return [*ranked_within(entrants), *notes_of(entrants)]


def _stories(runs: Sequence[MainResult]) -> Iterator[str]:
    """Say on how many stories each model's figures rest."""
    for group, name in ((STAGE1, gettext_noop("Extraction")), (STAGE2, gettext_noop("Labelling"))):
        counts: dict[int, list[str]] = {}
        for run in runs:
            if of_group := run.rows[group]:
                counts.setdefault(of_group.overall.stories or 0, []).append(run.model)
        notes = [
            noted(f"{count:,}", listed(models)) if len(counts) > 1 else f"{count:,}"
            for count, models in sorted(counts.items(), reverse=True)
        ]
        if notes:
            yield Sentence("{name}: stories, n = {notes}.", name=name, notes=listed(notes))


@dataclass(frozen=True, slots=True)
class _Joined:
    """One model's entrants in the two metric groups; either may be lacking."""

    first: EntrantResults | None
    second: EntrantResults | None

    @property
    def by_group(self) -> dict[str, EntrantResults | None]:
        return {STAGE1: self.first, STAGE2: self.second}

    @property
    def head(self) -> EntrantResults:
        """A copy of the entrant that names the row, with the settings of both."""
        present = [entrant for entrant in (self.first, self.second) if entrant]
        return replace(present[0], settings={**present[-1].settings, **present[0].settings})

    def where(self, key: str, parse: str, scheme: Scheme) -> Items:
        """The items behind a column, which may be another run's than the row's."""
        filters = _main_where(key, parse, scheme)
        entrant = self.first if filters["step"] == JUDGE else self.second
        return Items(filters, entrant.run, entrant.entrant) if entrant else Items(filters)


def _joined(groups: EntrantsByGroup) -> Iterator[tuple[EntrantResults | None, EntrantResults | None]]:
    """Pair the entrants of one run, then those that were asked alike in two runs."""
    rest = list(groups[STAGE2])
    for entrant in groups[STAGE1]:
        alike = [other for other in rest if other.key == entrant.key] or [
            other for other in rest if _asked_alike(entrant, other) and not _in(groups[STAGE1], other)
        ]
        if alike:
            rest.remove(alike[0])
        yield entrant, alike[0] if alike else None
    yield from ((None, other) for other in rest)


def _in(entrants: Sequence[EntrantResults], entrant: EntrantResults) -> bool:
    return any(other.key == entrant.key for other in entrants)


SHARED_SETTINGS = ("prompts", "level", "seed", "longest answer")
"""The notes on both metric groups."""


def _asked_alike(first: EntrantResults, other: EntrantResults) -> bool:
    if (first.name, first.kind, first.spec) != (other.name, other.kind, other.spec):
        return False
    return all(first.settings.get(name) == other.settings.get(name) for name in SHARED_SETTINGS)


def _main_where(key: str, parse: str, scheme: Scheme) -> dict[str, str]:
    if key.startswith("f1"):
        category = {"category": key.removeprefix("f1 ")} if key.startswith("f1 ") else {}
        return {"step": JUDGE} | category | measured(STAGE1, "f1", parse)
    dimension = next((name for name in scheme.keys if scheme.share_of(name) == key), "")
    if dimension:
        return {"step": LABEL, "dimension": dimension, "parse": parse}
    return {"step": LABEL} | measured(STAGE2, key, parse)
