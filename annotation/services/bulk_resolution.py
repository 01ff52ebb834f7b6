"""Gold for very many cells at once: what `resolve_cells` does, for cells that have no gold row, without asking the
database about each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from annotation.domain.resolution import RULE_VERSION, Outcome, Resolution, resolve
from annotation.models import GoldEvent, GoldLabel, Project, User
from annotation.services.resolution import Cell
from core.bulk import ReadyRows

_GOLD = (
    "proposition", "dimension", "label", "method", "agreement", "votes", "rule_version", "schema_version", "decided_at",
    "reason", "error_tag", "guideline_flag", "disturbed", "revision",
)  # fmt: skip
_EVENT = (
    "proposition", "dimension", "before", "before_method", "after", "after_method", "by", "at", "reason",
    "rule_version", "votes", "revision",
)  # fmt: skip


def fresh_gold(
    *, project: Project, votes: Mapping[Cell, list[dict]], now: datetime, by: User | None
) -> tuple[ReadyRows, ReadyRows]:
    """Return the gold labels, and their events, of cells without a gold row. `votes` holds *all* standing votes of each cell,
    as {"annotator", "label", "key"} in order of annotator."""
    settled = [(*cell, outcome, cast) for cell, outcome, cast in _settled(project, votes)]
    labels = ReadyRows(
        GoldLabel,
        _GOLD,
        (
            (
                proposition, dimension, one.label, one.outcome.value, one.agreement, cast, RULE_VERSION,
                project.schema_version, now, "", "", False, False, 1,
            )
            for proposition, dimension, one, cast in settled
        ),
    )  # fmt: skip
    actor = by.pk if by else None
    events = ReadyRows(
        GoldEvent,
        _EVENT,
        (
            (
                proposition, dimension, "", "", one.label, one.outcome.value, actor, now, "",
                project.rule_version, cast, 1,
            )
            for proposition, dimension, one, cast in settled
        ),
    )  # fmt: skip
    return labels, events


def _settled(project: Project, votes: Mapping[Cell, list[dict]]) -> Iterable[tuple[Cell, Resolution, list[dict]]]:
    for cell in sorted(votes):
        outcome = resolve(
            [vote["label"] for vote in votes[cell]],
            overlap=project.overlap,
            demand_unanimity=cell[1] in project.unanimity_dimensions,
        )
        if outcome.outcome is not Outcome.PENDING:
            yield cell, outcome, votes[cell]
