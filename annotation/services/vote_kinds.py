"""Kinds of cells by story (`domain/agreement/cell_kinds.py`), from which figures about annotators are made.

They are kept in the database, where a change of votes, gold or propositions costs its story anew, and in the process as
numbers, so that they are added up in milliseconds. What the process holds is told apart by the states of the stories,
so that nothing of it can be stale.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from annotation.domain.agreement.cell_kinds import CellKind, lines, packed, unpacked
from annotation.models import GoldEvent, GoldLabel, Method, Project, Proposition, StoryCounts, User, Vote
from annotation.services.counts import refresh
from annotation.services.decisions import decisions_in
from annotation.services.kept import Kept, Progress

_MOST = 6
"""Projects that a process holds."""
Cell = tuple[int, str]


def _computed(project: Project, stories: Sequence[int]) -> dict[int, str]:
    """Return the packed kinds of each story, from its votes, gold and decisions; five statements."""
    live = Proposition.objects.live_gold().filter(table__story__in=stories).order_by()
    story_of = dict(live.values_list("id", "table__story_id"))
    here = {"proposition__table__story__in": stories}
    votes: dict[Cell, list[tuple[int, str]]] = defaultdict(list)
    cast = Vote.objects.cast().filter(**here).order_by()
    for pk, key, person, label in cast.values_list("proposition_id", "dimension", "annotator_id", "label"):
        votes[pk, key].append((person, label))
    settled = GoldLabel.objects.settled().filter(**here).order_by()
    gold = {
        (pk, key): (label, method == Method.ADJUDICATED)
        for pk, key, label, method in settled.values_list("proposition_id", "dimension", "label", "method")
    }
    decisions = _decisions(stories)
    kinds: dict[int, Counter[CellKind]] = {story: Counter() for story in stories}
    for cell, cast_here in votes.items():
        if story := story_of.get(cell[0]):
            kind = CellKind(cell[1], tuple(sorted(cast_here)), *gold.get(cell, ("", False)), decisions.get(cell, ()))
            kinds[story][kind] += 1
    return {story: packed(of_story) for story, of_story in kinds.items()}


def _decisions(stories: Sequence[int]) -> dict[Cell, tuple[tuple[int, str], ...]]:
    """Return by cell who decided what, by the experts' ids."""
    by_name = decisions_in(GoldEvent.objects.filter(proposition__table__story__in=stories))
    names = {name for experts in by_name.values() for name in experts}
    ids = dict(User.objects.filter(username__in=names).values_list("username", "id")) if names else {}
    cells: dict[Cell, list[tuple[int, str]]] = defaultdict(list)
    for pk, experts in by_name.items():
        for name, labels in experts.items():
            for key, label in labels.items():
                cells[pk, key].append((ids[name], label))
    return {cell: tuple(sorted(decided)) for cell, decided in cells.items()}


_KEPT = Kept("votes", _computed)


def renew(project: Project, most: int | None = None) -> Progress:
    """Bring the kinds of stories with votes up to date, of at most so many stories; return how far that is."""
    refresh(project)
    return _KEPT.renew(project, _states(project), most)


def _states(project: Project) -> dict[int, str]:
    """Return the state of each story with votes."""
    counts = StoryCounts.objects.filter(story__project=project).exclude(patterns=b"").order_by("story")
    return {story: str(revision) for story, revision in counts.values_list("story_id", "revision")}


@dataclass(slots=True)
class _Sums:
    """The kinds of the stories of a project as numbers: `numbers` is the number of each kind's text, `rows` holds of
    each story numbers and cells, shape (2, kinds), and `states` the states that these are of."""

    numbers: dict[str, int] = field(default_factory=dict)
    rows: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)

    def follow(self, states: Mapping[int, str]) -> None:
        """Read the kinds of those stories anew that are in another state than these."""
        changed = [story for story, state in states.items() if self.states.get(story) != state]
        for story, text in _KEPT.values_of(changed).items():
            pairs = [(self.numbers.setdefault(kind, len(self.numbers)), cells) for kind, cells in lines(text)]
            self.rows[story] = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.states = dict(states)

    def total(self, stories: Sequence[int]) -> list[tuple[CellKind, int]]:
        """Return the kinds of these stories with their number of cells."""
        rows = [self.rows[story] for story in stories if story in self.rows]
        numbers, cells = np.concatenate([np.empty((2, 0), dtype=np.int64), *rows], axis=1)
        sums = np.bincount(numbers, cells, len(self.numbers)).astype(np.int64).tolist()
        return [(unpacked(text), sums[at]) for text, at in self.numbers.items() if sums[at]]


_last: OrderedDict[int, _Sums] = OrderedDict()
_lock = Lock()


def cell_kinds(project: Project, stories: Sequence[int]) -> list[tuple[CellKind, int]]:
    """Return the kinds of the cells with votes of these stories, with how many cells are of each. Every story that
    changed is read first."""
    renew(project)
    with _lock:
        sums = _last.setdefault(project.pk, _Sums())
        _last.move_to_end(project.pk)
        while len(_last) > _MOST:
            _last.popitem(last=False)
        sums.follow(_states(project))
        return sums.total(stories)
