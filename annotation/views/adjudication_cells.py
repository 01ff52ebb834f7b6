"""The cells of the adjudication pages: who sees which votes, in which order, with or without names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.http import Http404
from django.utils.translation import gettext

from annotation.access import ProjectAccess, proposition_of
from annotation.domain.ordering import shuffled
from annotation.domain.schema import Dimension
from annotation.models import GoldLabel, Method, Proposition, TableKind, User, Vote, adjudication_queue

Key = tuple[int, str]
"""(proposition id, dimension key)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A label that can be chosen in a cell: how many cast it, and its digit on the keyboard, empty for one that the
    schema does not have."""

    label: str
    count: int
    digit: str
    meaning: str
    chosen: bool


@dataclass(slots=True)
class Cell:
    """One cell as an expert sees it. `votes` are (label, name) pairs, names empty until the cell is decided; of a cell
    on which the expert voted they are left out. `cast` are their labels in the order that is drawn for the cell."""

    proposition: Proposition
    dimension: Dimension
    gold: GoldLabel | None
    voted: bool
    votes: list[tuple[str, str]]
    cast: list[str]
    expert: User
    imported: str = ""
    waiting: bool = False
    comments: int = 0
    requested: bool = False

    @property
    def id(self) -> str:
        return f"{self.proposition.uid}-{self.dimension.key}"

    @property
    def state(self) -> str:
        if self.gold is not None:
            return "disturbed" if self.gold.disturbed else self.gold.method
        return "waiting" if self.waiting else "imported" if self.imported else "unlabelled"

    @property
    def decided(self) -> bool:
        return self.gold is not None and self.gold.method == Method.ADJUDICATED

    @property
    def todo(self) -> bool:
        return self.state in {"open", "disturbed"}

    @property
    def for_me(self) -> bool:
        return self.todo and not self.voted

    @property
    def in_full(self) -> bool:
        """True where the cell stands in full; others are shown in one line as context."""
        return self.todo or self.decided or self.requested

    @property
    def decided_by_user(self) -> bool:
        return self.decided and self.gold.decided_by_id == self.expert.pk

    @property
    def label(self) -> str:
        return self.gold.label if self.gold else self.imported

    @property
    def needs_reason(self) -> bool:
        return not self.todo and not self.decided_by_user

    @property
    def chips(self) -> list[Chip]:
        counts = Counter(self.cast)
        return [self._chip(label, count) for label, count in counts.items()]

    @property
    def others(self) -> list[Chip]:
        return [self._chip(label, 0) for label in self.dimension.values if label not in self.cast]

    def _chip(self, label: str, count: int) -> Chip:
        legal = label in self.dimension.values
        meaning = next((definition.meaning for definition in self.dimension.labels if definition.value == label), "")
        return Chip(
            label=label,
            count=count,
            digit=self.dimension.digit(label) if legal else "",
            meaning=meaning,
            chosen=self.decided and label == self.gold.label,
        )


@dataclass(slots=True)
class CellReader:
    """Make the cells of some propositions in five statements, whatever their number."""

    access: ProjectAccess
    propositions: Sequence[Proposition]
    gold: dict[Key, GoldLabel] = field(init=False)
    voted: set[Key] = field(init=False)
    votes: dict[Key, list[tuple[int, str]]] = field(init=False)
    names: dict[int, str] = field(init=False)
    comments: dict[Key, int] = field(init=False)

    def __post_init__(self) -> None:
        rows = GoldLabel.objects.filter(proposition__in=self.propositions).select_related("decided_by")
        self.gold = {(gold.proposition_id, gold.dimension): gold for gold in rows}
        self.voted = adjudication_queue.voted_on(self.access.user, self.propositions)
        self.votes = defaultdict(list)
        cast = Vote.objects.cast().filter(proposition__in=self.propositions).order_by("annotator_id")
        for proposition, dimension, annotator, label in cast.values_list(
            "proposition_id", "dimension", "annotator_id", "label"
        ):
            self.votes[proposition, dimension].append((annotator, label))
        self.names = names_of(annotator for votes in self.votes.values() for annotator, _ in votes)
        self.comments = adjudication_queue.comment_counts(self.propositions)

    def cell(self, proposition: Proposition, dimension: Dimension, *, requested: str = "") -> Cell:
        key = proposition.pk, dimension.key
        gold, voted = self.gold.get(key), key in self.voted
        cast = (
            []
            if voted or gold is None
            else shuffled([label for _, label in self.votes.get(key, [])], f"{proposition.uid}:{key[1]}")
        )
        cell = Cell(
            proposition=proposition,
            dimension=dimension,
            gold=gold,
            voted=voted,
            votes=[] if voted or gold is None else self._labels_with_names(key, gold, cast),
            cast=cast,
            expert=self.access.user,
            imported=(proposition.imported_labels or {}).get(dimension.key) or "",
            waiting=gold is None and key in self.votes,
            comments=self.comments.get(key, 0),
        )
        cell.requested = requested == cell.id and cell.state in {"unanimous", "majority", "imported"}
        return cell

    def _labels_with_names(self, key: Key, gold: GoldLabel, cast: list[str]) -> list[tuple[str, str]]:
        if gold.method == Method.OPEN:
            return [(label, "") for label in cast]
        return sorted((label, self.names.get(annotator, "")) for annotator, label in self.votes.get(key, []))


def proposition_in_gold(access: ProjectAccess, uid: str, dimension: str) -> Proposition:
    """A proposition of a gold table. Raises Http404 for removed ones, experts' drafts and unknown dimensions."""
    row = proposition_of(access, uid)
    live = row.table.kind == TableKind.GOLD and row.removed_at is None
    if not live or dimension not in access.project.schema:
        raise Http404(gettext("There is no such cell."))
    return row


def names_of(users: Iterable[int]) -> dict[int, str]:
    return {user.pk: user.shown_name for user in User.objects.filter(pk__in=set(users))}
