"""Stories of a dataset version that models are compared on, under the name that addresses and commands have for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.models import Dataset, Run
from benchmark.services.reports import report_of
from benchmark.suites.registry import nouns_of_samples, suite_named

OF_RUN = "run:"


@dataclass(frozen=True, slots=True)
class Selection:
    """`key` is empty for all stories, the name of a split, or `run:` and the id of a run; `stories` are numbers."""

    key: str
    label: str
    stories: frozenset[int]


def selections_of(dataset: Dataset, reports: Mapping[int, Any], runs: Sequence[Run]) -> list[Selection]:
    """Those that some run covers, the largest first: all stories, splits, and what else a run was made on."""
    rows = list(dataset.samples.values_list("number", "split"))
    found = [
        Selection(
            "", f"All {len(rows):,} {nouns_of_samples(dataset.suite)[1]}", frozenset(number for number, _ in rows)
        )
    ]
    for split in sorted({split for _, split in rows if split}):
        found.append(_split(dataset, split, (number for number, of in rows if of == split)))
    for run in reversed(runs):
        made = _of_run(run, reports[run.pk]["numbers"])
        if made.stories and made.stories not in {one.stories for one in found}:
            found.append(made)
    covered = [frozenset(report["numbers"]) for report in reports.values()]
    kept = [one for one in found if any(one.stories <= run for run in covered)]
    return sorted(kept, key=lambda one: -len(one.stories))


def selection_named(dataset: Dataset, key: str) -> Selection | None:
    """A part of the dataset's stories; None for all of them and for a key that names none."""
    if key.startswith(OF_RUN):
        run = Run.objects.filter(dataset=dataset, uid=key.removeprefix(OF_RUN)).first()
        found = run and _of_run(run, report_of(run)["numbers"])
    else:
        found = key and _split(dataset, key, dataset.samples.filter(split=key).values_list("number", flat=True))
    return found if found and found.stories else None


def _split(dataset: Dataset, name: str, numbers) -> Selection:
    stories = frozenset(numbers)
    return Selection(name, f"Split {name}: {len(stories):,} {nouns_of_samples(dataset.suite)[1]}", stories)


def _of_run(run: Run, numbers) -> Selection:
    stories = frozenset(numbers)
    return Selection(
        f"{OF_RUN}{run.uid}", f"{len(stories):,} {suite_named(run.suite).noun[1]} of “{run.title}”", stories
    )
