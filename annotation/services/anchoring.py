"""The effect of pre-filled labels on a project's votes: loads the votes on cells with a suggestion and compares their
arms."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from django.db.models import F

from annotation.domain.anchoring.alternative_annotator import (
    alternative_annotator_over_stories,
    alternative_annotator_test,
)
from annotation.domain.anchoring.gold import accuracy_on, blind_evidence, gold_from_blind
from annotation.domain.anchoring.randomisation import Ints, Votes
from annotation.domain.anchoring.report import anchoring_report
from annotation.domain.anchoring.tables import Tables, left_out_by, likeness, tables_report
from annotation.domain.arms import Arm, DrawUnit, untouched
from annotation.domain.drafts import Mark
from annotation.domain.effort import Activity, TimeSheet
from annotation.domain.reconciliation import Status
from annotation.domain.tables import TableRow
from annotation.models import (
    Assignment,
    BeliefTable,
    DraftEvent,
    DraftRow,
    GoldLabel,
    Pair,
    Project,
    Proposition,
    SuggestedRow,
    Suggestion,
    TableKind,
    User,
    Vote,
    VoteEvent,
)
from annotation.models.belief_table import PropositionQuerySet
from annotation.services.arms import Cell, arm_of
from annotation.services.drafts import BY_MODEL, mark_of_row
from core.plain import Json

Codes = Mapping[tuple[str, str], int]
Suggested = Mapping[Cell, tuple[int, str]]
SEED = 1
_SIZE = 100
"""More than any dimension has labels: code = dimension × 100 + label."""
NO_VOTES = "Nobody has voted on a cell with a suggestion yet."
_UNKNOWN = None, np.nan


def report_of(project: Project, *, seed: int = SEED) -> Json:
    """Return what suggestions did to the votes of a project: {project, suggestions, unseen, votes_on_them, drawn_for,
    without_vote, votes, models}; without votes `votes` is None and `reason` takes the place of `models`.

    Votes keep the arm that was drawn for them, and `unseen` counts those of the arm `shown` that were cast without the
    suggestion before their eyes (over the API). `drawn_for` says for how many votes the arm was drawn by cell, by
    proposition and by story; `without_vote` counts by arm what was drawn and has no vote, and so is in no figure.
    """
    live = Proposition.objects.live_gold().filter(
        table__story__in=project.stories.in_use(), pk__in=Suggestion.objects.values("proposition")
    )
    codes = {
        (dimension.key, label): _SIZE * at + number
        for at, dimension in enumerate(project.schema.dimensions)
        for number, label in enumerate(dimension.values)
    }
    story_of = dict(live.values_list("pk", "table__story_id"))
    columns = ("proposition_id", "dimension", "label", "source")
    suggestions = list(Suggestion.objects.filter(proposition__in=live).values_list(*columns))
    suggested = {(at, key): (codes[key, label], source) for at, key, label, source in suggestions}
    draws = _draws(project)
    rows = _rows(live, codes, suggested, story_of, draws)
    units = Counter(row["draw"][0] for row in rows if row["arm"])
    report = {
        "project": project.slug,
        "suggestions": len(suggested),
        "unseen": sum(row["arm"] == Arm.SHOWN and not row["seen"] for row in rows),
        "votes_on_them": len(rows),
        "drawn_for": {unit: units[unit] for unit in DrawUnit if units[unit]},
        "without_vote": _without_vote(suggested, story_of, dict(live.values_list("pk", "uid")), rows),
    }
    if not rows:
        return report | {"votes": None, "reason": NO_VOTES}
    votes = _votes(project, rows, suggested)
    return report | {
        "votes": anchoring_report(votes, seed=seed),
        "models": _models(live, codes, suggested, story_of, votes, seed),
    }


def _draws(project: Project) -> dict[tuple[int, int], tuple[DrawUnit, float]]:
    """Return the unit that the arms of an assignment were drawn for, and the chance of blind given blind or shown, by
    story and annotator; of several assignments those of the one drawn last."""
    assignments = Assignment.objects.filter(story__project=project, arms_drawn_at__isnull=False)
    columns = ("story_id", "annotator_id", "arms_unit", "blind_share", "reveal_share")
    return {
        (story, annotator): (DrawUnit(unit), blind / (100 - reveal) if reveal < 100 else np.nan)
        for story, annotator, unit, blind, reveal in assignments.order_by("arms_drawn_at").values_list(*columns)
    }


def _rows(
    live: PropositionQuerySet, codes: Codes, suggested: Suggested, story_of: Mapping[int, int], draws: Mapping[Any, Any]
) -> list[Json]:
    """Return the votes on cells with a suggestion: their columns, `code` of the label, `story`, `draw`, and `first`,
    the code of the last label before the suggestion was revealed, -1 without one."""
    reveals = VoteEvent.objects.filter(proposition__in=live, arm=Arm.REVEAL, suggested="", applied=True)
    place = ("proposition_id", "dimension", "annotator_id")
    before = {
        tuple(cell): codes[cell[1], label]
        for *cell, label in reveals.exclude(label="").order_by("changed_at").values_list(*place, "label")
        if (cell[1], label) in codes
    }
    rows = []
    cast = Vote.objects.cast().filter(proposition__in=live)
    for row in cast.values(*place, "label", "arm", "duration_ms", seen=F("suggested")):
        pk, dimension, annotator = (row[name] for name in place)
        if (pk, dimension) in suggested:
            row["story"], row["code"] = story_of[pk], codes.get((dimension, row["label"]), -1)
            row["first"] = before.get((pk, dimension, annotator), -1) if row["arm"] == Arm.REVEAL else -1
            row["draw"] = draws.get((row["story"], annotator), _UNKNOWN)
            rows.append(row)
    return rows


def _without_vote(
    suggested: Suggested, story_of: Mapping[int, int], uids: Mapping[int, str], rows: Iterable[Json]
) -> dict[Arm, int]:
    """Count the cells with a suggestion that were drawn for an annotator who has not voted on them, by arm."""
    voted = {(row["proposition_id"], row["dimension"], row["annotator_id"]) for row in rows}
    cells: dict[int, list[Cell]] = defaultdict(list)
    for cell in suggested:
        cells[story_of[cell[0]]].append(cell)
    drawn = Assignment.objects.active().filter(story__in=cells, arms_drawn_at__isnull=False)
    arms = Counter(
        arm_of(assignment, uids[proposition], dimension)
        for assignment in drawn.select_related("story")
        for proposition, dimension in cells[assignment.story_id]
        if (proposition, dimension, assignment.annotator_id) not in voted
    )
    return {arm: arms[arm] for arm in Arm if arm}


def _votes(project: Project, rows: Sequence[Json], suggested: Suggested) -> Votes:
    keys = list(project.schema.keys)
    cells = {cell: at for at, cell in enumerate(suggested)}
    people = sorted({row["annotator_id"] for row in rows})
    names = dict(User.objects.filter(pk__in=people).values_list("pk", "username"))
    sources = sorted({source for _, source in suggested.values()})
    units: dict[tuple[Any, ...], int] = {}
    drawn: list[int] = []  # the unit that the arm of each vote was drawn for; an unknown draw is a unit of its own
    for row in rows:
        unit, place = row["draw"][0], [row["annotator_id"], row["story"]]
        if unit is not DrawUnit.STORY:
            place += [row["proposition_id"], "" if unit is DrawUnit.PROPOSITION else row["dimension"]]
        drawn.append(units.setdefault(tuple(place), len(units)))
    on = [(row["proposition_id"], row["dimension"]) for row in rows]
    return Votes(
        story=np.array([row["story"] for row in rows]),
        cell=np.array([cells[cell] for cell in on]),
        dimension=np.array([keys.index(key) for _, key in on]),
        annotator=np.array([people.index(row["annotator_id"]) for row in rows]),
        label=np.array([row["code"] for row in rows]),
        first_label=np.array([row["first"] for row in rows]),
        suggested=np.array([suggested[cell][0] for cell in on]),
        source=np.array([sources.index(suggested[cell][1]) for cell in on]),
        arm=np.array([row["arm"] for row in rows], dtype="U6"),
        duration_ms=np.array(
            [np.nan if row["duration_ms"] is None else row["duration_ms"] for row in rows], dtype=float
        ),
        seen=np.array([bool(row["seen"]) for row in rows]),
        unit=np.array(drawn),
        blind_chance=np.array([row["draw"][1] for row in rows], dtype=float),
        dimensions=tuple(project.schema[key].name for key in keys),
        annotators=tuple(names[pk] for pk in people),
        sources=tuple(sources),
    )


def _models(
    live: PropositionQuerySet, codes: Codes, suggested: Suggested, story_of: Mapping[int, int], votes: Votes, seed: int
) -> list[Json]:
    """Return the models that suggested: {source, suggestions, accuracy, blind_gold (the evidence for it),
    alternative_annotator, over_stories}: whether it may stand in for an annotator, by the published test, which takes
    cells as independent, and over stories, whose verdict counts. What is said of one model never rests on cells of
    another."""
    settled = GoldLabel.objects.filter(proposition__in=live).exclude(label="")
    gold = {
        (at, key): codes.get((key, label), -1)
        for at, key, label in settled.values_list("proposition_id", "dimension", "label")
    }
    story = np.array([story_of[at] for at, _ in suggested])
    labels = np.array([label for label, _ in suggested.values()])
    all_gold = np.array([gold.get(cell, -1) for cell in suggested])
    sources = np.array([source for _, source in suggested.values()])
    # Labels that no suggestion can have touched: blind votes, and first votes of a reveal.
    untouched_labels: Ints = np.full((len(suggested), len(votes.annotators)), -1)
    for cell, annotator, arm, label, first in zip(
        votes.cell, votes.annotator, votes.arm, votes.label, votes.first_label, strict=True
    ):
        untouched_labels[cell, annotator] = untouched(str(arm), label, first=first, nothing=-1)
    rows = []
    for name in votes.sources:
        own = sources == name
        blind, counts = gold_from_blind(untouched_labels[own])
        test = alternative_annotator_test(untouched_labels[own], labels[own], names=votes.annotators)
        _, stories = np.unique(story[own], return_inverse=True)
        rows.append({
            "source": name,
            "suggestions": int(own.sum()),
            "accuracy": accuracy_on(story[own], labels[own], all_gold[own], blind, seed=seed),
            "blind_gold": blind_evidence(blind, counts),
            "alternative_annotator": test,
            "over_stories": alternative_annotator_over_stories(
                test, untouched_labels[own], labels[own], stories, seed=seed
            ),
        })  # fmt: skip
    return rows


def effect_of(project: Project, *, seed: int = SEED) -> Json:
    """Return the effect of drafts on the tables of a project, over the stories in use: {project, drafted: number of
    stories with a model's draft, arms: {shown, blind}: {drawn, handed_in, reconciled}, rows: {kept, edited, deleted,
    added}, consensus: {from_model, by_people}, effect: as `tables_report` makes it, or None if no table with an arm is
    handed in}."""
    loaded = _Loaded(project)
    return {
        "project": project.slug,
        "drafted": len(loaded.suggested),
        "arms": {"shown": loaded.arm(is_blind=False), "blind": loaded.arm(is_blind=True)},
        "rows": loaded.fates(),
        "consensus": loaded.origins(),
        "effect": tables_report(loaded.tables(), seed=seed) if loaded.handed_in else None,
    }


class _Loaded:
    """All tables with an arm, in a constant number of statements."""

    def __init__(self, project: Project) -> None:
        kept = project.stories.in_use()
        drawn = BeliefTable.objects.filter(story__in=kept, kind=TableKind.DRAFT, arm_drawn_at__isnull=False)
        self.drawn = list(drawn.order_by("pk"))
        self.handed_in = [table for table in self.drawn if table.submitted_at and table.slot]
        self.suggested: defaultdict[int, list[SuggestedRow]] = defaultdict(list)
        for row in SuggestedRow.objects.filter(story__in=kept).order_by("story", "number"):
            self.suggested[row.story_id].append(row)
        self.rows: defaultdict[int, list[DraftRow]] = defaultdict(list)
        live = DraftRow.objects.filter(table__in=[table.pk for table in self.handed_in], removed=False)
        for written in live.select_related("suggested").order_by("place"):
            if written.belief.strip():
                self.rows[written.table_id].append(written)
        # Consensus rows of a story: words, the tables whose experts wrote them, whether one began with a model's row.
        self.consensus: defaultdict[int, list[tuple[TableRow, set[int], bool]]] = defaultdict(list)
        pairs = Pair.objects.standing().filter(
            story__in={table.story_id for table in self.handed_in}, status=Status.KEPT.value,
            proposition__isnull=False, proposition__removed_at__isnull=True,
        )  # fmt: skip
        for pair in pairs.select_related("a", "b"):
            own = [row for row in (pair.a, pair.b) if row is not None]
            by_model = any(row.suggested_id is not None for row in own)
            self.consensus[pair.story_id].append((pair.words, {row.table_id for row in own}, by_model))

    def times(self) -> TimeSheet:
        """Return the time on task of each table, from when it was first opened until it was handed in."""
        ends = [(table.pk, at) for table in self.handed_in for at in (table.arm_drawn_at, table.submitted_at)]
        acts = [(table, at.timestamp()) for table, at in ends if at is not None]
        events = DraftEvent.objects.filter(table__in=[table.pk for table in self.handed_in]).exclude(kind=BY_MODEL)
        acts += [(table, at.timestamp()) for table, at in events.values_list("table_id", "changed_at")]
        sheet = TimeSheet()
        for table, at in sorted(acts, key=lambda act: act[1]):
            sheet.add(table, Activity.TABLES, 0, at)
        return sheet

    def arm(self, *, is_blind: bool) -> dict[str, int]:
        """Count the tables of an arm that were drawn, handed in and reconciled."""
        handed_in = [table for table in self.handed_in if table.is_blind is is_blind]
        return {
            "drawn": sum(table.is_blind is is_blind for table in self.drawn),
            "handed_in": len(handed_in),
            "reconciled": sum(bool(self.consensus.get(table.story_id)) for table in handed_in),
        }

    def fates(self) -> dict[str, int]:
        """Count the rows that experts with the draft in sight kept, edited, deleted and added."""
        marks: Counter[Mark] = Counter()
        deleted = 0
        for table in (table for table in self.handed_in if not table.is_blind):
            marks.update(mark_of_row(row) for row in self.rows[table.pk])
            left = {row.suggested_id for row in self.rows[table.pk]}
            deleted += sum(row.pk not in left for row in self.suggested.get(table.story_id, []))
        kept, edited, added = (marks[mark] for mark in (Mark.KEPT, Mark.EDITED, Mark.ADDED))
        return {"kept": kept, "edited": edited, "deleted": deleted, "added": added}

    def origins(self) -> dict[str, int]:
        """Count the consensus rows that began with a model's row, and those that only people wrote."""
        rows = [by_model for pairs in self.consensus.values() for *_, by_model in pairs]
        return {"from_model": sum(rows), "by_people": len(rows) - sum(rows)}

    def tables(self) -> Tables:
        """Return a column of numbers for each measure, with one entry per table that was handed in."""
        columns: defaultdict[str, list[Any]] = defaultdict(list)
        sheet = self.times()
        for table in self.handed_in:
            suggested = [row.words for row in self.suggested.get(table.story_id, [])]
            pairs = self.consensus.get(table.story_id, [])
            wrote = [table.pk in tables for _, tables, _ in pairs]
            missed = left_out_by(suggested, [words for words, *_ in pairs])
            rows = self.rows[table.pk]
            measured = dict(
                story=table.story_id,
                expert=table.author_id or 0,
                blind=table.is_blind,
                blind_chance=(table.blind_share or 0) / 100,
                rows=len(rows),
                consensus=len(pairs),
                recalled=sum(wrote),
                missed=sum(missed),
                missed_recalled=int(np.sum(np.array(wrote) & np.array(missed))) if pairs else 0,
                likeness=sum(likeness(row.words, suggested) for row in rows),
                minutes=sheet.spent[table.pk, Activity.TABLES, 0].hours() * 60,
            )
            for name, value in measured.items():
                columns[name].append(value)
        return {name: np.array(values) for name, values in columns.items()}
