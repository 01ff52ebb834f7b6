"""The effect of proposals on people's links: alignments with them beside those that were drawn to have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.messages import gettext_noop
from core.statistics import (
    DIFFERENCE,
    SHARE,
    Estimate,
    Floats,
    Scale,
    by_cluster,
    estimate_of,
    first_by_second,
    numbered,
    ratios,
)
from core.statistics import Measure as Ratio
from judge.domain.cluster_names import STORIES, ClusterName

ONE_ARM = gettext_noop("nobody has handed in tables of both kinds")
NOBODY = gettext_noop("nobody has handed in such a table")


@dataclass(frozen=True, slots=True)
class Linked:
    """One alignment: what its table is resampled with, whether its person saw no proposals (`blind`), how many
    `proposals` there were to see, and how many of these are among the person's links."""

    cluster: str
    blind: bool
    proposals: int
    linked: int


@dataclass(frozen=True, slots=True)
class Lacking:
    """Alignments that are in no figure, as they are not handed in, of how many of their kind."""

    shown: int
    of_shown: int
    blind: int
    of_blind: int


@dataclass(frozen=True, slots=True)
class ProposalEffect:
    """The share of proposals that people linked, where these were `shown` and where they were not (`blind`), and the
    first less the second, each over proposals with its interval over clusters; `lacking` counts the alignments of
    either kind that are not handed in, of so many."""

    shown: Estimate
    blind: Estimate
    difference: Estimate
    lacking: Lacking


def effect_of(
    alignments: Sequence[Linked], *, seed: int, lacking: Lacking, over: ClusterName = STORIES
) -> ProposalEffect:
    """Return how much likelier people link what is proposed to them. Who sees proposals is drawn for each alignment,
    so that the two kinds have the same tables but for chance."""
    rows = [
        [alignment.linked * kind, alignment.proposals * kind]
        for alignment in alignments
        for kind in (not alignment.blind, alignment.blind)
    ]
    columns = np.array(rows, dtype=float).reshape(-1, 4)
    sums = by_cluster(columns, numbered([alignment.cluster for alignment in alignments])) if len(columns) else columns
    there = columns[:, 1].sum(), columns[:, 3].sum()

    def estimate(measure: Ratio, n: float, scale: Scale, empty: str) -> Estimate:
        return estimate_of(sums, measure, n=int(n), scale=scale, unit=over.plural, empty=empty, seed=seed)

    return ProposalEffect(
        estimate(first_by_second, there[0], SHARE, NOBODY),
        estimate(_blind, there[1], SHARE, NOBODY),
        estimate(lambda sums: first_by_second(sums) - _blind(sums), min(there), DIFFERENCE, ONE_ARM),
        lacking,
    )


def _blind(sums: Floats) -> Floats:
    return ratios(sums[:, 2], sums[:, 3])
