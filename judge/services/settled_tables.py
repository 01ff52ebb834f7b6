"""The settled alignments of a study as what a judge is measured against."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from judge.domain.alignment import Method, match_counts, place_of
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


RowGroups = tuple[Sequence[str], Sequence[str]]
"""The group of every row of both tables, empty where it has none."""
GroupsByKey = Mapping[str, RowGroups]
"""The groups of the rows of a table by the key of what they are grouped by."""
NO_GROUPS: GroupsByKey = MappingProxyType({})
UNGROUPED: Mapping[str, GroupsByKey] = MappingProxyType({})


@dataclass(slots=True)
class Joined:
    """The tables that people and a judge both have: `tables` for agreement, `models` with every judged table by model,
    aligned or not. `waiting` are settled out of turn or not settled, `unjudged` have no judgement, and `unfit` have
    another number of rows than the judge was given. `left_out` tables of the frame, aligned or not, have no judgement:
    scores are of the others alone. `empty` have no row on one side: nobody was asked, so they show no agreement."""

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
    groups: Mapping[str, GroupsByKey] = UNGROUPED,
) -> Joined:
    """Join what people settled with what one judge said, and the groups of rows, all by the key of their unit."""
    out = Joined()
    aligned: dict[str, SettledTable] = {}
    for table in settled:
        judgement = judged.get(table.key)
        if table.probability is None:
            out.waiting += 1
        elif judgement is None:
            out.unjudged += 1
        elif (len(table.predictions), len(table.gold)) != (len(judgement.predicted), len(judgement.gold)):
            out.unfit += 1
        else:
            aligned[table.key] = table
            if not (table.predictions and table.gold):
                out.empty += 1
                continue
            out.tables.append(_joined_table(table, judgement, groups.get(table.key, NO_GROUPS)))
    for unit in units:
        if (judgement := judged.get(unit.key)) is None:
            out.left_out += 1
        else:
            out.models.setdefault(unit.stratum[0], []).append(_joined_story(unit, judgement, aligned.get(unit.key)))
    return out


def _joined_table(settled: SettledTable, judgement: StoryJudgement, groups: GroupsByKey) -> Table:
    rows = []
    sides = ((Side.PREDICTION, "p", judgement.predicted), (Side.GOLD, "g", judgement.gold))
    people = people_counts(settled)
    for at, (side, letter, judged_rows) in enumerate(sides):
        for place, row in enumerate(judged_rows):
            rows.append(
                Row(
                    f"{letter}{place + 1}",
                    side,
                    settled.rows[at][place][0],
                    people[at][place],
                    count_of(row),
                    tuple(map(count_read, row.passes)) if len(row.passes) > 1 else (),
                    {key: of_rows[at][place] for key, of_rows in groups.items()},
                )
            )
    return Table(
        settled.key,
        settled.cluster,
        settled.source,
        settled.category,
        settled.probability or 1.0,
        tuple(rows),
        stratum=settled.category,
    )


def people_counts(settled: SettledTable) -> tuple[list[MatchCount], list[MatchCount]]:
    """Return the MatchCount of each row of both tables, or why people gave none."""
    counts: list[MatchCount] = [
        count if count is not None else Unknown.MISSING if method == Method.OPEN else Unknown.UNCLEAR
        for count, method in zip((*settled.predictions, *settled.gold), settled.methods, strict=True)
    ]
    return counts[: len(settled.predictions)], counts[len(settled.predictions) :]


def _joined_story(unit: Unit, judgement: StoryJudgement, settled: SettledTable | None) -> JudgedStory:
    """What the judge gave no count of, and what people could not tell, is open."""
    judged = _matches([count_of(row) for row in judgement.predicted], [count_of(row) for row in judgement.gold])
    human = _matches(*people_counts(settled)) if settled else None
    probability, category = settled.probability if settled else None, unit.stratum[1]
    return JudgedStory(unit.story, category, judged, human, probability, stratum=category)


def judged_twice(
    units: Sequence[Unit], old: Mapping[str, StoryJudgement], new: Mapping[str, StoryJudgement]
) -> dict[str, list[JudgedTwice]]:
    """Return by model each table as the old and the new version of a judge judged it; both have all the units. Tables
    whose rows differ are left out."""
    by_model: dict[str, list[JudgedTwice]] = {}
    for unit in units:
        before, after = old[unit.key], new[unit.key]
        by_model.setdefault(unit.stratum[0], [])
        if [len(before.predicted), len(before.gold)] == [len(after.predicted), len(after.gold)]:
            sides = [_pairs(before.predicted, after.predicted), _pairs(before.gold, after.gold)]
            by_model[unit.stratum[0]].append(JudgedTwice(unit.story, unit.stratum[1], *sides))
    return by_model


def _pairs(old: Sequence[RowJudgement], new: Sequence[RowJudgement]) -> tuple[Pair, ...]:
    return tuple((count_of(before), count_of(after)) for before, after in zip(old, new, strict=True))


def _matches(predicted: Sequence[MatchCount], gold: Sequence[MatchCount]) -> Matches:
    sides = [[matched(count) for count in counts] for counts in (predicted, gold)]
    (matched_predicted, open_), (matched_gold, open_gold) = ((side.count(True), side.count(None)) for side in sides)
    return Matches(len(predicted), matched_predicted, len(gold), matched_gold, open_, open_gold)


@dataclass(frozen=True, slots=True)
class DisputedRow:
    """A row on which people and the judge differ, or one of them has no verdict, with the `partners` that people
    linked it with."""

    table: str
    row: str
    model: str
    number: int
    category: str
    actor: str
    belief: str
    human: MatchCount
    judge: MatchCount
    partners: tuple[str, ...]
    flipped: bool


def rows_of(
    tables: Sequence[Table], settled: Sequence[SettledTable], keep: Callable[[Table, Row], bool]
) -> list[DisputedRow]:
    """Return the rows to `keep`, with their words, in the order of the tables."""
    by_key = {table.key: table for table in settled}
    return [_disputed(by_key[table.key], table, row) for table in tables for row in table.rows if keep(table, row)]


def _disputed(settled: SettledTable, table: Table, row: Row) -> DisputedRow:
    side, place = int(row.side == Side.GOLD), place_of(row.name)
    actor, belief = settled.rows[side][place]
    return DisputedRow(
        table=settled.uid,
        row=row.name,
        model=table.model,
        number=settled.number,
        category=table.category,
        actor=actor,
        belief=belief,
        human=row.human,
        judge=row.judge,
        partners=_partners(settled, side, place),
        flipped=len({matched(count) for count in row.passes} - {None}) > 1,
    )


def _partners(settled: SettledTable, side: int, place: int) -> tuple[str, ...]:
    return tuple(settled.rows[1 - side][pair[1 - side]][1] for pair in settled.links if pair[side] == place)
