"""The settled alignments of a study as what a judge is measured against."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from judge.domain.alignment import match_counts
from judge.domain.sampling import Drawn, Stratum, Unit, finished
from judge.models import AlignmentStudy, SettledAlignment


@dataclass(frozen=True, slots=True)
class SettledTable:
    """A model's table as people aligned it. `predictions` and `gold` are the MatchCounts of the rows in their order,
    None where people could not tell or an expert still has to decide; `whole` where no row waits for one.

    `probability` is its inclusion probability in the sample of the tables that are settled (`sampling.finished`), None
    where it is settled before an earlier table of its stratum.
    """

    uid: str
    key: str
    source: str
    category: str
    cluster: str
    number: int
    rows: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]
    """Both tables as (actor, belief)."""
    predictions: tuple[int | None, ...]
    gold: tuple[int | None, ...]
    links: tuple[tuple[int, int], ...]
    """(prediction, gold) by place from 0 on."""
    methods: tuple[str, ...]
    """The way in which each row was settled, predictions first."""
    whole: bool
    probability: float | None

    @property
    def stratum(self) -> Stratum:
        return self.source, self.category


def settled_tables(study: AlignmentStudy) -> list[SettledTable]:
    """Return the settled tables of a study in the order in which they were drawn. Two statements."""
    settled = list(
        SettledAlignment.objects.filter(task__study=study)
        .select_related("task")
        .defer("task__text")
        .order_by("task__place", "task__number", "task__key")
    )
    sampled = _sampled(study, {table.task.key for table in settled if not table.open_rows})
    return [_table(table, study, sampled.get(table.task.key)) for table in settled]


def settled_probabilities(study: AlignmentStudy) -> dict[str, float]:
    """Return the inclusion probability in the sample of the tables that are settled, which calibration weights by, by
    the key of each table that is in it. Two statements."""
    whole = SettledAlignment.objects.whole().filter(task__study=study)
    return _sampled(study, set(whole.values_list("task__key", flat=True)))


def _sampled(study: AlignmentStudy, done: Collection[str]) -> dict[str, float]:
    drawn = [
        Drawn(Unit(key, cluster, (source, category)), probability, place)
        for key, cluster, source, category, probability, place in study.tasks.order_by("id").values_list(
            "key", "cluster", "source", "category", "probability", "place"
        )
    ]
    return {
        drawn_unit.unit.key: drawn_unit.probability
        for drawn_unit in finished(study.units, drawn, done, seed=study.seed)
    }


def _table(settled: SettledAlignment, study: AlignmentStudy, probability: float | None) -> SettledTable:
    task, rows = settled.task, settled.answers
    task.study = study
    answers = {row: settled_row.answer for row, settled_row in rows.items()}
    names = task.rows
    return SettledTable(
        uid=task.uid,
        key=task.key,
        source=task.source,
        category=task.category,
        cluster=task.cluster,
        number=task.number,
        rows=(tuple((a, b) for a, b in task.predictions), tuple((a, b) for a, b in task.gold)),
        predictions=tuple(match_counts(answers, names.predicted)),
        gold=tuple(match_counts(answers, names.golden)),
        links=tuple((int(row[1:]) - 1, int(other[1:]) - 1) for row in names.predicted for other in answers[row].links),
        methods=tuple(rows[name].method for name in names.names),
        whole=not settled.open_rows,
        probability=probability,
    )
