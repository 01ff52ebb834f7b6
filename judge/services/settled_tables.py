"""The settled alignments of a study as what a judge is measured against."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from core.plain import Json
from judge.domain.alignment import Method, SettledRow, place_of
from judge.domain.calibration.panels import JudgedTwice, Pair
from judge.domain.calibration.tables import (
    JudgedStory,
    MatchCount,
    Matches,
    Row,
    Side,
    Table,
    Unknown,
    count_of,
    count_read,
    matched,
)
from judge.domain.judgements import RowJudgement, StoryJudgement
from judge.domain.sampling import Drawn, Unit, finished
from judge.models import AlignmentStudy, SettledAlignment


@dataclass(frozen=True, slots=True)
class SettledTable:
    """A model's table as people aligned it: of both sides, predictions first, its `rows` as (actor, belief) and their
    MatchCounts. `links` are (prediction, gold) by place from 0 on.

    `probability` is its inclusion probability in the sample of the tables that are settled (`sampling.finished`), None
    if it was settled before an earlier table of its stratum.
    """

    uid: str
    key: str
    source: str
    category: str
    cluster: str
    number: int
    rows: tuple[list[tuple[str, str]], list[tuple[str, str]]]
    counts: tuple[list[MatchCount], list[MatchCount]]
    links: list[tuple[int, int]]
    probability: float | None

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.rows[0]), len(self.rows[1])


def settled_tables(study: AlignmentStudy) -> list[SettledTable]:
    """Return the settled tables of a study in the order in which they were drawn. Two statements."""
    rows = SettledAlignment.objects.filter(task__study=study).select_related("task").defer("task__text")
    settled = list(rows.order_by("task__place", "task__number", "task__key"))
    sampled = _sampled(study, {table.task.key for table in settled if not table.open_rows})
    tables = []
    for table in settled:
        task, answers = table.task, table.answers
        task.study = study
        names = task.rows
        rows_of_both = (
            [(actor, belief) for actor, belief in task.predictions],
            [(actor, belief) for actor, belief in task.gold],
        )
        counts = _counts(answers, names.predicted), _counts(answers, names.golden)
        links = [(place_of(row), place_of(other)) for row in names.predicted for other in answers[row].answer.links]
        tables.append(
            SettledTable(
                task.uid, task.key, task.source, task.category, task.cluster, task.number, rows_of_both, counts, links,
                sampled.get(task.key),
            )
        )  # fmt: skip
    return tables


def settled_probabilities(study: AlignmentStudy) -> dict[str, float]:
    """Return by key the inclusion probability of each table in the sample of the tables that are settled, by which
    calibration weights it. Two statements."""
    whole = SettledAlignment.objects.whole().filter(task__study=study)
    return _sampled(study, set(whole.values_list("task__key", flat=True)))


def _sampled(study: AlignmentStudy, done: Collection[str]) -> dict[str, float]:
    tasks = study.tasks.order_by("id").values_list("key", "cluster", "source", "category", "probability", "place")
    drawn = [
        Drawn(Unit(key, cluster, (source, category)), probability, place)
        for key, cluster, source, category, probability, place in tasks
    ]
    return {part.unit.key: part.probability for part in finished(study.units, drawn, done, seed=study.seed)}


def _counts(settled: Mapping[str, SettledRow], names: Iterable[str]) -> list[MatchCount]:
    """Return the MatchCount of each row by people: missing while an expert has still to decide it."""
    rows = [settled[name] for name in names]
    return [
        Unknown.MISSING
        if row.method == Method.OPEN
        else Unknown.UNCLEAR
        if row.answer.count is None
        else row.answer.count
        for row in rows
    ]


RowGroups = tuple[Sequence[str], Sequence[str]]
"""The group of every row of both tables, empty for none."""
GroupsByKey = Mapping[str, RowGroups]
"""The groups of the rows of a table by the key of their grouping."""
ASIDE = ("waiting", "unjudged", "unfit", "left_out", "empty")
"""The reasons why a table is in no agreement (`Joined`)."""


@dataclass(slots=True)
class Joined:
    """The tables that people and a judge both have: `tables` for agreement, `models` with every judged table by model,
    aligned or not. `waiting` are settled out of turn or not settled, `unjudged` have no judgement, and `unfit` have
    another number of rows than the judge was given. `left_out` tables of the frame, aligned or not, have no judgement:
    scores are of the others only. `empty` have no row on one side: nobody was asked, so they show no agreement."""

    tables: list[Table] = field(default_factory=list)
    models: dict[str, list[JudgedStory]] = field(default_factory=dict)
    waiting: int = 0
    unjudged: int = 0
    unfit: int = 0
    left_out: int = 0
    empty: int = 0


def joined(
    units: Sequence[Unit],
    settled: Sequence[SettledTable],
    judged: Mapping[str, StoryJudgement],
    groups: Mapping[str, GroupsByKey] = MappingProxyType({}),
) -> Joined:
    """Join what people settled with what one judge said, and the groups of rows, all by the key of their unit."""
    out, aligned = Joined(), dict[str, SettledTable]()
    for table in settled:
        judgement = judged.get(table.key)
        if table.probability is None:
            out.waiting += 1
        elif judgement is None:
            out.unjudged += 1
        elif table.sizes != (len(judgement.predicted), len(judgement.gold)):
            out.unfit += 1
        else:
            aligned[table.key] = table
            if all(table.sizes):
                out.tables.append(_joined_table(table, judgement, groups.get(table.key, {})))
            else:
                out.empty += 1
    for unit in units:
        if (judgement := judged.get(unit.key)) is None:
            out.left_out += 1
            continue
        model, category = unit.stratum
        people = aligned.get(unit.key)
        # rows without a count of the judge, or that people could not tell, are open
        by_judge = Matches.of(
            *([matched(count_of(row)) for row in side] for side in (judgement.predicted, judgement.gold))
        )
        by_people = Matches.of(*([matched(count) for count in side] for side in people.counts)) if people else None
        probability = people.probability if people else None
        story = JudgedStory(unit.story, category, by_judge, by_people, probability, stratum=category)
        out.models.setdefault(model, []).append(story)
    return out


def _joined_table(settled: SettledTable, judgement: StoryJudgement, groups: GroupsByKey) -> Table:
    sides = ((Side.PREDICTION, "p", judgement.predicted), (Side.GOLD, "g", judgement.gold))
    rows = tuple(
        Row(
            f"{letter}{place + 1}",
            side,
            settled.rows[at][place][0],
            settled.counts[at][place],
            count_of(row),
            tuple(map(count_read, row.passes)) if len(row.passes) > 1 else (),
            {key: of_rows[at][place] for key, of_rows in groups.items()},
        )
        for at, (side, letter, judged_rows) in enumerate(sides)
        for place, row in enumerate(judged_rows)
    )
    return Table(
        settled.key,
        settled.cluster,
        settled.source,
        settled.category,
        settled.probability or 1.0,
        rows,
        stratum=settled.category,
    )


def judged_twice(
    units: Sequence[Unit], old: Mapping[str, StoryJudgement], new: Mapping[str, StoryJudgement]
) -> dict[str, list[JudgedTwice]]:
    """Return by model each table as the old and the new version of a judge judged it; both have all the units. Tables
    whose rows differ are skipped."""
    by_model: dict[str, list[JudgedTwice]] = {}
    for unit in units:
        before, after = old[unit.key], new[unit.key]
        of_model = by_model.setdefault(unit.stratum[0], [])
        if [len(before.predicted), len(before.gold)] == [len(after.predicted), len(after.gold)]:
            sides = _pairs(before.predicted, after.predicted), _pairs(before.gold, after.gold)
            of_model.append(JudgedTwice(unit.story, unit.stratum[1], *sides))
    return by_model


def _pairs(old: Sequence[RowJudgement], new: Sequence[RowJudgement]) -> tuple[Pair, ...]:
    return tuple((count_of(before), count_of(after)) for before, after in zip(old, new, strict=True))


def rows_of(tables: Sequence[Table], settled: Sequence[SettledTable], keep: Callable[[Table, Row], bool]) -> list[Json]:
    """Return the rows to `keep` with their words and the `partners` that people linked them with, in the order of the
    tables."""
    by_key = {table.key: table for table in settled}
    kept = []
    for table in tables:
        people = by_key[table.key]
        for row in (row for row in table.rows if keep(table, row)):
            side, place = int(row.side == Side.GOLD), place_of(row.name)
            actor, belief = people.rows[side][place]
            partners = [people.rows[1 - side][pair[1 - side]][1] for pair in people.links if pair[side] == place]
            kept.append(
                {
                    "row": row.name,
                    "model": table.model,
                    "number": people.number,
                    "actor": actor,
                    "belief": belief,
                    "human": row.human,
                    "judge": row.judge,
                    "partners": partners,
                    "flipped": len({matched(count) for count in row.passes} - {None}) > 1,
                }
            )
    return kept
