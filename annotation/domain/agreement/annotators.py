"""Annotator by annotator: confusion between two, each against the resolved label, second opinions by models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotation.domain.agreement.aggregation import dawid_skene, mace
from annotation.domain.agreement.coefficients import cohens_kappa
from annotation.domain.agreement.votes import Votes
from annotation.domain.resolution import By, Cell, Rule, gold_without
from core.messages import gettext_noop
from core.plain import Json, plain


def label_confusion(votes: Votes) -> NDArray[np.int64]:
    """Return how many cells hold both labels i and j among their votes (i≠j), and on the diagonal how many are all i.

    Symmetric, shape (K, K): a disagreement has no direction.
    """
    present = (votes.counts > 0).astype(np.int64)
    together = present.T @ present
    alone = present[present.sum(axis=1) == 1].sum(axis=0)
    np.fill_diagonal(together, alone)
    return together


def pair_confusion(votes: Votes, first: int, second: int) -> NDArray[np.int64]:
    """Cells that both annotators voted on: rows the first's label, columns the second's, shape (K, K)."""
    a, b = votes.by_annotator[:, first], votes.by_annotator[:, second]
    both = (a >= 0) & (b >= 0)
    k = len(votes.labels)
    return np.bincount(a[both] * k + b[both], minlength=k * k).reshape(k, k)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """An annotator against settled labels: the number of settled `cells`, and on how many the annotator's label is the
    settled one."""

    annotator: str
    cells: int
    agree: int

    @property
    def share(self) -> float | None:
        """The share of the cells that match; None where none is settled."""
        return self.agree / self.cells if self.cells else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchesWithout(Matches):
    """Cells that are settled without the annotator, by the others' `votes` or by an `expert`; `open` are those that are
    not."""

    votes: int
    expert: int
    open: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorReport:
    """Pairs of annotators (`pairs`), `confusions` by dimension (`label_confusion`), and by annotator and dimension how
    many cells of theirs match the label that is settled without them, and the settled label that contains their own
    votes."""

    pairs: Sequence[Json]
    confusions: Mapping[str, Sequence[Sequence[int]]]
    against_others: Mapping[str, Mapping[str, MatchesWithout]]
    against_resolved: Mapping[str, Mapping[str, Matches]]

    def as_json(self) -> Json:
        """{pairs, against_others, against_resolved}; the confusions are for the page alone."""
        return {
            "pairs": plain(self.pairs),
            "against_others": plain(self.against_others),
            "against_resolved": plain(self.against_resolved),
        }


@dataclass(frozen=True, slots=True)
class Skill:
    """How reliable an annotator is by two models."""

    dawid_skene: float
    mace: float


def pairs(dimensions: list[Votes]) -> list[Json]:
    """Return for each pair of annotators with cells in common {annotators, cells, agree (how many), cohens_kappa,
    reason}: the mean Cohen's kappa over dimensions, or None with a reason."""
    rows: list[Json] = []
    names = sorted({name for votes in dimensions for name in votes.annotators})
    for first, second in combinations(names, 2):
        tables = [
            pair_confusion(votes, votes.annotators.index(first), votes.annotators.index(second))
            for votes in dimensions
            if first in votes.annotators and second in votes.annotators
        ]
        cells = int(sum(table.sum() for table in tables))
        if not cells:
            continue
        kappas = [kappa for table in tables if (kappa := cohens_kappa(table)) is not None]
        rows.append({
            "annotators": (first, second),
            "cells": cells,
            "agree": int(sum(np.trace(table) for table in tables)),
            "cohens_kappa": float(np.mean(kappas)) if kappas else None,
            "reason": None if kappas else gettext_noop("both used one label only"),
        })  # fmt: skip
    return rows


@dataclass(frozen=True)
class Settled:
    """The gold labels of the cells of one dimension: `label`, shape (C,), -1 where open; `decided`, shape (C,), whether
    an expert settled it; and of the cells that anybody decided, who said what."""

    label: NDArray[np.int64]
    decided: NDArray[np.bool_]
    decisions: Mapping[int, Mapping[str, str]]


def against_others(votes: Votes, settled: Settled, rule: Rule) -> list[MatchesWithout]:
    """Return for each annotator, over the settled cells with a vote of theirs, how many match the label that is settled
    without them."""
    judged = settled.label[votes.cell] >= 0
    cells, people, codes = votes.cell[judged], votes.annotator[judged], votes.code[judged]
    has_decisions = np.array([bool(settled.decisions.get(int(cell))) for cell in cells], dtype=bool)
    patterns = np.column_stack(
        [np.where(has_decisions, cells + 1, 0), np.where(has_decisions, people, 0), codes, settled.label[cells]]
    )
    patterns = np.column_stack([patterns, settled.decided[cells], votes.counts[cells]])
    kinds, which = np.unique(patterns, axis=0, return_inverse=True)  # few, however many votes there are
    settled_without = [_without(votes, settled.decisions, kind, rule) for kind in kinds.tolist()]
    labels = np.array([votes.labels.index(label) if label else -1 for label, _ in settled_without], dtype=np.int64)[
        which.ravel()
    ]
    settlers = np.array([by.value for _, by in settled_without], dtype="U8")[which.ravel()]

    def count(rows: NDArray[np.bool_]) -> list[int]:
        counts: list[int] = np.bincount(people[rows], minlength=len(votes.annotators)).tolist()
        return counts

    judged_cells, agree = count(labels >= 0), count(labels == codes)
    by_votes, by_expert, unsettled = count(settlers == By.VOTES), count(settlers == By.EXPERT), count(labels < 0)
    rows = zip(votes.annotators, judged_cells, agree, by_votes, by_expert, unsettled, strict=True)
    return [
        MatchesWithout(annotator=name, cells=n, agree=right, votes=voted, expert=expert, open=left)
        for name, n, right, voted, expert, left in rows
    ]


def _without(
    votes: Votes, decisions: Mapping[int, Mapping[str, str]], kind: Sequence[int], rule: Rule
) -> tuple[str, By]:
    """Return gold without the annotator of the votes of one kind; a kind is (a cell with decisions + 1 or 0, its
    annotator, the vote, gold, whether it was decided, how often each label was voted)."""
    at, person, own_code, gold, decided, *counts = kind
    name = votes.annotators[person] if at else ""
    others = [label for label, count in zip(votes.labels, counts, strict=True) for _ in range(count)]
    others.remove(votes.labels[own_code])
    votes_by_name = {f"\0{number}": label for number, label in enumerate(others)} | {name: votes.labels[own_code]}
    return gold_without(
        name,
        Cell(votes.labels[gold], votes_by_name, decisions.get(at - 1, {}) if at else {}, decided=bool(decided)),
        rule,
    )


def against_resolved(votes: Votes, resolved: NDArray[np.int64]) -> list[Matches]:
    """Return, for each annotator: cells with a settled label (`resolved`, shape (C,), -1 where open) and how many
    match. A label that the annotator's own vote helped to settle flatters: see `against_others`."""
    settled = resolved[votes.cell]
    judged = settled >= 0
    people = len(votes.annotators)
    n = np.bincount(votes.annotator[judged], minlength=people)
    right = np.bincount(votes.annotator[judged & (settled == votes.code)], minlength=people)
    return [Matches(annotator=name, cells=int(n[at]), agree=int(right[at])) for at, name in enumerate(votes.annotators)]


def second_opinions(votes: Votes) -> dict[str, Skill]:
    """Return the skill of each annotator by Dawid–Skene (mean diagonal of the confusion matrix, each label by its share
    of the votes) and MACE (the chance of answering in earnest).

    A second opinion on annotators, never a gold label. Empty if fewer than two voted.
    """
    voters = np.unique(votes.annotator)
    if len(voters) < 2:
        return {}
    # Cells with the same votes are fitted as one that is as heavy: a large project has few kinds of cells.
    kinds, weight = np.unique(votes.by_annotator[:, voters], axis=0, return_counts=True)
    cell, annotator = np.nonzero(kinds >= 0)
    used, code = np.unique(kinds[cell, annotator], return_inverse=True)
    rows = cell, annotator, code.ravel(), len(used), weight
    _, confusion = dawid_skene(*rows)
    shares = np.bincount(code.ravel(), weight[cell]) / weight[cell].sum()
    skills = np.diagonal(confusion, axis1=1, axis2=2) @ shares
    both = zip(voters.tolist(), skills.tolist(), mace(*rows).tolist(), strict=True)
    return {votes.annotators[voter]: Skill(skill, earnest) for voter, skill, earnest in both}
