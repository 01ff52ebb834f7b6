"""The effect of models' drafts on a project's belief tables: loads the tables that were handed in and compares those
written with the draft in sight with those written blind."""

from collections import Counter, defaultdict

import numpy as np

from annotation.domain.anchoring.tables import Tables, left_out_by, likeness, tables_report
from annotation.domain.drafts import Mark
from annotation.domain.effort import Act, Activity, TimeSheet
from annotation.domain.reconciliation import Status
from annotation.domain.tables import TableRow
from annotation.models import BeliefTable, DraftEvent, DraftRow, Pair, Project, SuggestedRow, TableKind
from annotation.services.drafts import BY_MODEL, mark_of_row
from core.plain import Json

SEED = 1


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
        self._load_rows(project)
        self._load_pairs()
        self._load_times()

    def _load_rows(self, project: Project) -> None:
        self.suggested: defaultdict[int, list[SuggestedRow]] = defaultdict(list)
        for row in SuggestedRow.objects.filter(story__in=project.stories.in_use()).order_by("story", "number"):
            self.suggested[row.story_id].append(row)
        self.rows: defaultdict[int, list[DraftRow]] = defaultdict(list)
        live = DraftRow.objects.filter(table__in=[table.pk for table in self.handed_in], removed=False)
        for written in live.select_related("suggested").order_by("place"):
            if written.belief.strip():
                self.rows[written.table_id].append(written)

    def _load_pairs(self) -> None:
        """Load the consensus rows of each story: their words, the tables whose experts wrote them, and whether one
        began with a model's row."""
        self.consensus: defaultdict[int, list[tuple[TableRow, set[int], bool]]] = defaultdict(list)
        pairs = Pair.objects.standing().filter(
            story__in={table.story_id for table in self.handed_in}, status=Status.KEPT.value,
            proposition__isnull=False, proposition__removed_at__isnull=True,
        )  # fmt: skip
        for pair in pairs.select_related("a", "b"):
            own = [row for row in (pair.a, pair.b) if row is not None]
            by_model = any(row.suggested_id is not None for row in own)
            self.consensus[pair.story_id].append((pair.words, {row.table_id for row in own}, by_model))

    def _load_times(self) -> None:
        """Load the time on task of each table, from when it was first opened until it was handed in."""
        ends = [(table.pk, at) for table in self.handed_in for at in (table.arm_drawn_at, table.submitted_at)]
        acts = [(table, at.timestamp()) for table, at in ends if at is not None]
        events = DraftEvent.objects.filter(table__in=[table.pk for table in self.handed_in]).exclude(kind=BY_MODEL)
        acts += [(table, at.timestamp()) for table, at in events.values_list("table_id", "changed_at")]
        self.sheet = TimeSheet()
        for table, at in sorted(acts, key=lambda act: act[1]):
            self.sheet.add(Act(table, Activity.TABLES, 0, at))

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
        rows = [self._written(table) for table in self.handed_in]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _written(self, table: BeliefTable) -> Json:
        suggested = [row.words for row in self.suggested.get(table.story_id, [])]
        pairs = self.consensus.get(table.story_id, [])
        wrote = [table.pk in tables for _, tables, _ in pairs]
        missed = left_out_by(suggested, [words for words, *_ in pairs])
        rows = self.rows[table.pk]
        return dict(
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
            minutes=self.sheet.spent[table.pk, Activity.TABLES, 0].hours() * 60,
        )
