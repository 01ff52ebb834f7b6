"""Story sums of the projects whose agreement was last asked for, so that a vote costs the sums of one story.

They stay in the process, beside what they were made of: whatever differs from that is summed anew, so that nothing that
is kept can be stale. Another process sums all stories up once for itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from annotation.domain.agreement.story_sums import Resamples, StorySums
from annotation.domain.agreement.tallies import Tallies
from annotation.domain.agreement.votes import Ints
from annotation.domain.schema import Schema

_MOST = 6
"""Projects, and parts of them, at a time: some 20 MB each for 4,475 stories."""
_FEW = 20
"""Rows are replaced where at most one of so many stories changed."""


@dataclass(frozen=True, slots=True)
class ProjectSums:
    """The sums of each dimension, the propositions of each story that wait for votes, and what these were made of."""

    schema: Schema
    overlap: int
    stories: Sequence[int]
    patterns: Sequence[bytes]
    sums: Sequence[StorySums]
    waiting: Ints
    resamples: Resamples = field(default_factory=Resamples)

    @classmethod
    def of(cls, schema: Schema, overlap: int, stories: Sequence[int], patterns: Sequence[bytes]) -> ProjectSums:
        sums, waiting = _sums(schema, overlap, stories, patterns)
        return cls(schema, overlap, stories, patterns, sums, waiting)

    def moved(self, patterns: Sequence[bytes]) -> ProjectSums:
        """Return the sums of the same stories with other patterns, at the cost of those that are others."""
        changed = [at for at, (old, new) in enumerate(zip(self.patterns, patterns, strict=True)) if old != new]
        if len(changed) * _FEW > len(patterns):
            return ProjectSums.of(self.schema, self.overlap, self.stories, patterns)
        rows = np.array(changed, dtype=np.int64)
        of_changed = [self.stories[at] for at in changed], [patterns[at] for at in changed]
        sums, of_waiting = _sums(self.schema, self.overlap, *of_changed)
        replaced = [old.replaced(rows, new) for old, new in zip(self.sums, sums, strict=True)]
        waiting = self.waiting.copy()
        waiting[rows] = of_waiting
        return ProjectSums(self.schema, self.overlap, self.stories, patterns, replaced, waiting, self.resamples)


def _sums(
    schema: Schema, overlap: int, stories: Sequence[int], patterns: Sequence[bytes]
) -> tuple[list[StorySums], Ints]:
    tallies = Tallies(schema, stories, patterns)
    return [StorySums.of(tally, overlap=overlap) for tally in tallies.dimensions()], tallies.waiting(overlap)


_last: OrderedDict[Hashable, ProjectSums] = OrderedDict()
_lock = Lock()


def project_sums(
    key: Hashable, schema: Schema, overlap: int, stories: Sequence[int], patterns: Sequence[bytes]
) -> ProjectSums:
    """Return the sums over `stories`, of which `patterns` are kept; `key` says of which project and part of it."""
    with _lock:
        last = _last.get(key)
    if last is not None and (last.schema, last.overlap, last.stories) == (schema, overlap, stories):
        sums = last.moved(patterns)
    else:
        sums = ProjectSums.of(schema, overlap, stories, patterns)
    with _lock:
        _last[key] = sums
        _last.move_to_end(key)
        while len(_last) > _MOST:
            _last.popitem(last=False)
    return sums
