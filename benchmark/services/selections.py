"""Stories of a dataset version that models are compared on, under the name that addresses and commands have for
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.models import Dataset, Run
from benchmark.services.reports import RunMetrics, report_of
from benchmark.suites.reasons import lost_outside
from benchmark.suites.registry import nouns_of_samples, suite_named
from benchmark.suites.reports import GroupMetrics
from core.messages import Sentence, word

OF_RUN = "run:"


@dataclass(frozen=True, slots=True)
class Selection:
    """`key` is empty for all stories, the name of a split, or `run:` and the id of a run; `stories` are numbers."""

    key: str
    label: str
    stories: frozenset[int]


def selections_of(dataset: Dataset, reports: Mapping[int, RunMetrics], runs: Sequence[Run]) -> list[Selection]:
    """Return the selections that some run covers: all stories, splits, and the stories of runs.

    Those that a run of this site covers come first, and of these the one in which a run has most answers, the largest
    where several have as many. What a run was to ask says nothing: it may have few answers.
    """
    rows = list(dataset.samples.values_list("number", "split"))
    selections = [
        Selection(
            "",
            Sentence("All {rows} {suite}", rows=f"{len(rows):,}", suite=nouns_of_samples(dataset.suite)[1]),
            frozenset(number for number, _ in rows),
        )
    ]
    for split in sorted({split for _, split in rows if split}):
        selections.append(_split(dataset, split, (number for number, own_split in rows if own_split == split)))
    for run in reversed(runs):
        own_selection = _of_run(run, reports[run.pk].numbers)
        if own_selection.stories and own_selection.stories not in {selection.stories for selection in selections}:
            selections.append(own_selection)
    covered = [_Covered.of(run, reports[run.pk]) for run in runs]
    kept = [selection for selection in selections if any(selection.stories <= run.stories for run in covered)]
    return sorted(kept, key=lambda selection: _preference(selection, covered), reverse=True)


@dataclass(frozen=True, slots=True)
class _Covered:
    """The stories of a run with the number of its answers, and whether they were made here."""

    stories: frozenset[int]
    answers: int
    here: bool

    @classmethod
    def of(cls, run: Run, report: RunMetrics) -> _Covered:
        groups = [group.key for group in suite_named(run.suite).main_groups]
        answers = [sum(_answers(row.groups.get(group)) for group in groups) for row in report.entrants if row.id]
        return cls(frozenset(report.numbers), max(answers, default=0), not run.made_elsewhere)


def _answers(metrics: GroupMetrics | None) -> int:
    """Return the number of samples of a metric group that have an answer, readable or not."""
    if metrics is None:
        return 0
    row = metrics.parses.overall("repaired")
    return row.asked - sum(count for reason, count in row.unreadable_reasons.items() if lost_outside(reason))


def _preference(selection: Selection, covered: Sequence[_Covered]) -> tuple[bool, int, int]:
    runs = [run for run in covered if selection.stories <= run.stories]
    here = any(run.here for run in runs)
    return here, max(run.answers for run in runs if run.here or not here), len(selection.stories)


def selection_named(dataset: Dataset, key: str, suite: str) -> Selection | None:
    """Return the selection of that key; None for all stories and for a key that names none, as a run of another suite
    than `suite`."""
    if key.startswith(OF_RUN):
        run = Run.objects.filter(dataset=dataset, suite=suite, uid=key.removeprefix(OF_RUN)).first()
        selection = run and _of_run(run, report_of(run).numbers)
    else:
        selection = key and _split(dataset, key, dataset.samples.filter(split=key).values_list("number", flat=True))
    return selection if selection and selection.stories else None


def _split(dataset: Dataset, split: str, numbers: Iterable[int]) -> Selection:
    stories = frozenset(numbers)
    nouns = nouns_of_samples(dataset.suite)[1]
    return Selection(
        split,
        Sentence("Split {split}: {stories} {nouns}", split=split, stories=f"{len(stories):,}", nouns=word(nouns)),
        stories,
    )


def _of_run(run: Run, numbers: Iterable[int]) -> Selection:
    stories = frozenset(numbers)
    return Selection(
        f"{OF_RUN}{run.uid}",
        Sentence(
            "{stories} {noun} of “{run}”",
            stories=f"{len(stories):,}",
            noun=word(suite_named(run.suite).noun[1]),
            run=run.title,
        ),
        stories,
    )
