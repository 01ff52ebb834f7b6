"""Agreement of people on alignments: the same MatchCount of a row, and the same links."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annotation.domain.agreement.report import Agreement, measure
from annotation.domain.agreement.votes import Tally
from core.messages import gettext_noop
from core.plain import Json, plain
from core.statistics import (
    DIFFERENCE,
    SHARE,
    Estimate,
    Floats,
    Measure,
    Scale,
    by_cluster,
    estimate_of,
    first_by_second,
    mean_estimates,
    numbered,
    ratios,
)
from judge.domain.alignment import MOST_LINKS, STORIES, Answers, ClusterName, Rows, both_sides, links_by_row

LABELS = tuple(str(count) for count in range(MOST_LINKS + 1))
"""The MatchCounts that a row can have."""
_NONE = "no table was aligned by two people"
Cells = Sequence[tuple[str, Sequence[int]]]
"""The story of each row of both tables, and the MatchCounts that people gave it."""


@dataclass(frozen=True, slots=True)
class AlignedTable:
    """A table with the answers of the people who have handed it in, by name; `story` is what is resampled."""

    story: str
    rows: Rows
    people: dict[str, Answers]

    def counts(self) -> list[list[int | None]]:
        """Return of each row the MatchCount of each person."""
        sides = [both_sides(answers, self.rows) for answers in self.people.values()]
        return [[side[name].count for side in sides] for name in self.rows.names]


@dataclass(frozen=True, slots=True)
class AlignmentAgreement:
    """Agreement over rows of both tables that at least two people gave a MatchCount.

    `counts` has strict and pairwise agreement and the chance-corrected coefficients (`annotation.domain.agreement`);
    `by_story` is pairwise agreement averaged over stories, as it is published of judges; `links` the F1 between the
    links of two people. `unclear` counts rows that somebody could not tell, `tables` those with two people.
    """

    counts: Agreement
    by_story: Estimate
    links: Estimate
    unclear: int
    tables: int

    def as_json(self) -> Json:
        return {
            "tables": self.tables,
            "unclear_rows": self.unclear,
            "match_counts": plain(self.counts),
            "by_story": plain(self.by_story),
            "link_f1": plain(self.links),
        }


def agreement_of(tables: Sequence[AlignedTable], *, seed: int = 1, over: ClusterName = STORIES) -> AlignmentAgreement:
    """Return the agreement of people with its intervals over clusters."""
    paired = [table for table in tables if len(table.people) >= 2]
    rows = [(table.story, counts) for table in paired for counts in table.counts()]
    cells = [(story, [count for count in counts if count is not None]) for story, counts in rows]
    stories = {story: at for at, story in enumerate(sorted({story for story, _ in cells}))}
    votes = [(stories[story], tuple(counts.count(at) for at in range(len(LABELS)))) for story, counts in cells]
    patterns = {pattern: at for at, pattern in enumerate(sorted({pattern for _, pattern in votes}))}
    table = np.zeros((len(stories), len(patterns)), dtype=np.int64)
    for (number, pattern), count in Counter(votes).items():
        table[number, patterns[pattern]] = count
    shaped = np.array(list(patterns), dtype=np.int64).reshape(-1, len(LABELS))
    tally = Tally("MatchCount", LABELS, shaped, table, np.arange(len(stories), dtype=np.int64))
    [_], agreement = measure([tally], overlap=2, seed=seed, over=(over.singular, over.plural))
    return AlignmentAgreement(
        counts=agreement,
        by_story=_by_story(cells, seed, over),
        links=_link_f1(paired, seed, over),
        unclear=sum(None in counts for _, counts in rows),
        tables=len(paired),
    )


def _by_story(cells: Cells, seed: int, over: ClusterName) -> Estimate:
    shares: dict[str, list[float]] = {}
    for story, counts in cells:
        pairs = [first == other for first, other in combinations(counts, 2)]
        if pairs:
            shares.setdefault(story, []).append(sum(pairs) / len(pairs))
    means = np.array([[float(np.mean(shares[story])) for story in sorted(shares)]], dtype=float).reshape(1, -1)
    [estimate] = mean_estimates(means, scale=SHARE, seed=seed, unit=over.plural, empty=_NONE)
    return estimate


def _link_f1(tables: Sequence[AlignedTable], seed: int, over: ClusterName) -> Estimate:
    """Return twice the common links over the links of both, summed over pairs of people."""
    sums: dict[str, list[int]] = {}
    for table in tables:
        links = [
            {(row, other) for row, others in links_by_row(answers).items() if row[0] == "p" for other in others}
            for answers in table.people.values()
        ]
        for first, second in combinations(links, 2):
            story = sums.setdefault(table.story, [0, 0])
            story[0] += 2 * len(first & second)
            story[1] += len(first) + len(second)
    columns = np.array([sums[story] for story in sorted(sums)], dtype=float).reshape(-1, 2)
    n = int(columns[:, 1].sum())
    return estimate_of(columns, first_by_second, n=n, scale=SHARE, unit=over.plural, empty=_NONE, seed=seed)


def pairs_of_people(tables: Sequence[AlignedTable]) -> list[tuple[str, str, int, int]]:
    """Return for each two people (first, other, rows that both gave a MatchCount, rows with the same one), by name."""
    totals: dict[tuple[str, str], list[int]] = {}
    for table in tables:
        pairs = list(combinations(sorted(table.people), 2))
        for counts in table.counts():
            by_person = dict(zip(table.people, counts, strict=True))
            for pair in pairs:
                total, given = totals.setdefault(pair, [0, 0]), [by_person[name] for name in pair]
                if None not in given:
                    total[0] += 1
                    total[1] += given[0] == given[1]
    return [(first, other, rows, same) for (first, other), (rows, same) in sorted(totals.items())]


ONE_ARM = gettext_noop("nobody has handed in tables of both kinds")
NOBODY = gettext_noop("nobody has handed in such a table")
Linked = tuple[str, bool, int, int]
"""One alignment: its cluster, whether its person saw no proposals, the number of proposals, and how many of these are
among the person's links."""


def effect_of(alignments: Sequence[Linked], *, seed: int, over: ClusterName = STORIES) -> Json:
    """Return the share of proposals that people linked if these were `shown` and if they were not (`blind`), and the
    first less the second as `difference`, each over proposals with its interval over clusters. Who sees proposals is
    drawn for each alignment, so that the two kinds have the same tables but for chance."""
    rows = [
        [linked * kind, proposals * kind] for _, blind, proposals, linked in alignments for kind in (not blind, blind)
    ]
    columns = np.array(rows, dtype=float).reshape(-1, 4)
    sums = by_cluster(columns, numbered([cluster for cluster, *_ in alignments])) if len(columns) else columns
    shown, blind = columns[:, 1].sum(), columns[:, 3].sum()

    def estimate(measure: Measure, n: float, scale: Scale, empty: str) -> Estimate:
        return estimate_of(sums, measure, n=int(n), scale=scale, unit=over.plural, empty=empty, seed=seed)

    less = estimate(lambda sums: first_by_second(sums) - _blind(sums), min(shown, blind), DIFFERENCE, ONE_ARM)
    return {
        "shown": estimate(first_by_second, shown, SHARE, NOBODY),
        "blind": estimate(_blind, blind, SHARE, NOBODY),
        "difference": less,
    }


def _blind(sums: Floats) -> Floats:
    return ratios(sums[:, 2], sums[:, 3])
