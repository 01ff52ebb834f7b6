"""Words of the calibration of a suite's judge: its score, what a table is of, and what intervals are over."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.domain.matched_rows import F1
from benchmark.services.alignment_tables import groupings_of
from benchmark.suites.groups import MetricGroup
from benchmark.suites.judges import Grouping
from benchmark.suites.registry import nouns_of_group, suite_named, units_of_group
from benchmark.suites.showing.corrected import heads_of_counts
from core.messages import Sentence, gettext_noop
from judge.domain.cluster_names import STORIES, ClusterName
from judge.models import AlignmentStudy
from judge.services.cluster_names import names_from


@dataclass(frozen=True, slots=True)
class CalibrationWords:
    """Words of a metric group: its `score` as a column has it and its `title`, what a `table` is of, what intervals
    are over (`units`), what counts what people `aligned` and what the judge `judged`. `sides` says whether it has
    precision and recall beside that score, `groupings` are what its suite groups rows by. Without a group they are
    those of tables of a story."""

    score: str = "F1"
    title: str = gettext_noop("F1 of tables")
    table: str = gettext_noop("story")
    units: str = gettext_noop("stories")
    aligned: str = gettext_noop("Aligned stories")
    judged: str = gettext_noop("Judged stories")
    sides: bool = True
    groupings: tuple[Grouping, ...] = ()

    @property
    def agreement(self) -> str:
        """Return what the mean of the agreement over tables is called."""
        return Sentence("Agreement by {table}", table=self.table)


OF_STORIES = CalibrationWords()


def cluster_named(suite: str) -> ClusterName:
    """Return what the suite of that name resamples whole; stories where there is no such suite any more."""
    try:
        return ClusterName(*suite_named(suite).cluster)
    except KeyError:
        return STORIES


def register_names() -> None:
    """Have the figures of alignment name what they are over as the suite does."""
    names_from(cluster_named)


def words_of(study: AlignmentStudy) -> CalibrationWords:
    """Return the words of the metric group whose figures rest on the study's judges; a study of tables that came of no
    run is of stories."""
    if not (name := study.came_of.suite):
        return OF_STORIES
    return _words(next(group for group in suite_named(name).groups if group.judged), groupings_of(name))


def _words(group: MetricGroup, groupings: tuple[Grouping, ...]) -> CalibrationWords:
    heads = heads_of_counts(group.key)
    return CalibrationWords(
        group.headers[group.corrected[F1]],
        group.score_title,
        nouns_of_group(group.key)[0],
        units_of_group(group.key),
        heads["aligned"],
        heads["judged"],
        len(group.corrected) > 1,
        groupings,
    )
