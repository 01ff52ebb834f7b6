"""Votes from a spreadsheet: members and seats are made where missing, gold follows, importing twice changes nothing."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TextIO

from django.db import transaction

from annotation.domain.corpus_files import Problem
from annotation.domain.resolution import RULE_VERSION, Outcome, resolve
from annotation.domain.schema import SCHEMAS
from annotation.domain.votes_csv import VoteRow, read_votes
from annotation.models import (
    Assignment,
    GoldEvent,
    GoldLabel,
    Membership,
    Project,
    Proposition,
    Role,
    User,
    Vote,
    VoteEvent,
)
from annotation.models.bulk import insert_rows
from annotation.services import audit
from annotation.services.resolution import resolve_cells

_VOTE = ("proposition", "annotator", "dimension", "label", "changed_at", "client_key", "duration_ms")
_EVENT = (*_VOTE, "previous", "undoes", "received_at", "applied", "origin")
_GOLD = (
    "proposition", "dimension", "label", "method", "agreement", "votes", "rule_version", "schema_version", "decided_at",
    "reason", "error_tag", "guideline_flag", "disturbed", "revision",
)  # fmt: skip
_GOLD_EVENT = (
    "proposition", "dimension", "before", "before_method", "after", "after_method", "at", "reason", "rule_version",
    "votes", "revision",
)  # fmt: skip
_RESOLVE_BATCH = 400


@dataclass(slots=True)
class ImportedVotes:
    votes: int = 0
    created: int = 0
    unchanged: int = 0
    problems: list[Problem] = field(default_factory=list)

    def as_dict(self) -> dict:
        return {
            "votes": self.votes,
            "created": self.created,
            "unchanged": self.unchanged,
            "problems": [problem.as_dict() for problem in self.problems],
        }


@transaction.atomic
def import_votes(
    *,
    by: User | None,
    project: Project,
    handle: TextIO,
    file: str,
    now: datetime,
    progress: Callable[[int], None] = lambda done: None,
) -> ImportedVotes:
    """Imports every row that can be used; `created` counts new and changed votes. Raises WrongColumns."""
    state = _State(project, file, now)
    result = ImportedVotes()
    for at, row in enumerate(read_votes(handle, file, SCHEMAS[project.schema_version])):
        if isinstance(row, Problem):
            result.problems.append(row)
            continue
        result.votes += 1
        state.take(row, result)
        if at % 20000 == 19999:
            progress(at + 1)
    state.write(by)
    if result.created:
        audit.record(by=by, project=project, action="votes.imported", target=file[-200:], votes=result.created)
    return result


class _State:
    """What the project holds, and what the file adds to it."""

    def __init__(self, project: Project, file: str, now: datetime) -> None:
        self.project, self.file, self.now = project, file, now
        live = Proposition.objects.live_gold().filter(table__story__project=project).order_by("table", "position")
        self.propositions: dict[tuple, list[tuple[int, int]]] = defaultdict(list)
        for pk, story, number, actor, belief in live.values_list(
            "id", "table__story_id", "table__story__number", "actor", "belief"
        ):
            self.propositions[number, actor.strip(), belief.strip()].append((pk, story))
        votes = Vote.objects.filter(proposition__table__story__project=project)
        self.held = {
            (proposition, dimension, annotator): (label, changed_at)
            for proposition, dimension, annotator, label, changed_at in votes.values_list(
                "proposition_id", "dimension", "annotator_id", "label", "changed_at"
            ).iterator(5000)
        }
        self.old_cells = {key[:2] for key in self.held}
        self.people: dict[str, int] = dict(User.objects.values_list("username", "id"))
        self.members = set(project.memberships.values_list("user_id", flat=True))
        self.seats: dict[int, dict[int, int]] = defaultdict(dict)
        active = Assignment.objects.active().filter(story__project=project)
        for story, annotator, slot in active.values_list("story_id", "annotator_id", "slot"):
            self.seats[story][annotator] = slot
        self.fresh: dict[tuple[int, str, int], tuple[str, datetime, str]] = {}
        self.replaced: dict[tuple[int, str, int], str] = {}

    def take(self, row: VoteRow, result: ImportedVotes) -> None:
        found = self.propositions.get((row.story, row.actor.strip(), row.belief.strip()), ())
        if len(found) < row.occurrence:
            message = f"Story {row.story} has no such proposition of {row.actor[:60]!r}: {row.belief[:80]!r}."
            result.problems.append(Problem(self.file, row.line, message))
            return
        proposition, story = found[row.occurrence - 1]
        annotator = self._person(row.annotator)
        if not self._seated(story, annotator):
            message = f"Story {row.story} has its {self.project.overlap} annotators already, without {row.annotator}."
            result.problems.append(Problem(self.file, row.line, message))
            return
        key = (proposition, row.dimension, annotator)
        label, changed_at = self.held.get(key, ("", None))
        moment = row.created_at or self.now
        if label == row.label or (changed_at is not None and row.created_at is not None and moment <= changed_at):
            result.unchanged += 1
            return
        result.created += 1
        if key in self.held and key not in self.fresh:
            self.replaced[key] = label
        self.held[key] = (row.label, moment)
        described = f"{self.project.pk}|{key}|{row.label}|{moment.isoformat()}"
        self.fresh[key] = (row.label, moment, "import-" + hashlib.sha1(described.encode()).hexdigest())

    def _person(self, name: str) -> int:
        if name not in self.people:
            user = User(username=name, display_name=name[:80])
            user.set_unusable_password()
            user.save()
            self.people[name] = user.pk
        pk = self.people[name]
        if pk not in self.members:
            Membership.objects.create(project=self.project, user_id=pk, role=Role.ANNOTATOR)
            self.members.add(pk)
        return pk

    def _seated(self, story: int, annotator: int) -> bool:
        seats = self.seats[story]
        if annotator in seats:
            return True
        slot = next((one for one in range(1, self.project.overlap + 1) if one not in seats.values()), None)
        if slot is None:
            return False
        Assignment.objects.create(story_id=story, annotator_id=annotator, slot=slot, overlap=self.project.overlap)
        seats[annotator] = slot
        return True

    def write(self, by: User | None) -> None:
        items = sorted(self.fresh.items())
        stale = [key for key, _ in items if key in self.replaced]
        for proposition, dimension, annotator in stale:
            Vote.objects.filter(proposition_id=proposition, dimension=dimension, annotator_id=annotator).delete()
        insert_rows(Vote, _VOTE, ((p, a, d, label, at, key, None) for (p, d, a), (label, at, key) in items))
        insert_rows(
            VoteEvent,
            _EVENT,
            (
                (p, a, d, label, at, key, None, self.replaced.get((p, d, a), ""), "", self.now, True, "import")
                for (p, d, a), (label, at, key) in items
            ),
        )
        touched: dict[tuple[int, str], list[dict]] = defaultdict(list)
        for (proposition, dimension, annotator), (label, _, key) in items:
            touched[proposition, dimension].append({"annotator": annotator, "label": label, "key": key})
        untouched_before = {cell: votes for cell, votes in touched.items() if cell not in self.old_cells}
        self._settle(untouched_before)
        mixed = sorted(set(touched) - set(untouched_before))
        for at in range(0, len(mixed), _RESOLVE_BATCH):
            resolve_cells(project=self.project, cells=mixed[at : at + _RESOLVE_BATCH], now=self.now, by=by)

    def _settle(self, cells: dict[tuple[int, str], list[dict]]) -> None:
        """The same as `resolve_cells` for cells that had no vote before, without asking the database about each."""
        settled = []
        for (proposition, dimension), votes in cells.items():
            outcome = resolve(
                [vote["label"] for vote in votes],
                overlap=self.project.overlap,
                demand_unanimity=dimension in self.project.unanimity_dimensions,
            )
            if outcome.outcome is not Outcome.PENDING:
                settled.append((proposition, dimension, outcome, votes))
        project, now = self.project, self.now
        insert_rows(
            GoldLabel,
            _GOLD,
            (
                (p, d, r.label, r.outcome.value, r.agreement, votes, RULE_VERSION, project.schema_version, now, "", "", False, False, 1)
                for p, d, r, votes in settled
            ),
        )  # fmt: skip
        insert_rows(
            GoldEvent,
            _GOLD_EVENT,
            ((p, d, "", "", r.label, r.outcome.value, now, "", project.rule_version, votes, 1) for p, d, r, votes in settled),
        )  # fmt: skip
