"""The parts of results that wait for those who still label or decide some of the stories behind it.

Gold is told cell by cell on items, in downloads and in what is given story by story: none of that is shown of a story
that somebody has open work on. Figures over whole selections are, from `workload.FEWEST` stories on; what counts gold
labels or parts the stories is not, as the finished stories could be taken away from it. Nor are figures of those whose
answers can be known: people, who may be the reader, and baselines, whose share of right answers counts the gold labels
of the stories that are left.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from annotation.models.workload import FEWEST, too_few
from benchmark.services.absences import Absence, rows_withheld
from benchmark.services.across import SuiteRanking
from benchmark.services.comparisons import Comparison
from benchmark.services.documents import Document
from benchmark.suites.registry import group_suite, suite_named
from benchmark.suites.results import EntrantResults, EntrantsByGroup
from core.messages import Sentence, gettext_noop, quantity, word

Numbers = Set[int]

TELLING = {"person": gettext_noop("People"), "baseline": gettext_noop("Baselines")}
"""Kinds of entrants whose answers can be known, with what their rows are called."""


def few(samples: Numbers, closed: Numbers, suite: str) -> bool:
    """Return whether figures over these samples of a suite tell too much to a reader to whom some are `closed`. Of
    questions about stories all closed ones count as those of one story."""
    if not (suite and suite_named(suite).copied.load):
        return too_few(samples, closed)
    return bool(samples & closed) and len(samples - closed) + 1 < FEWEST


def sentence(open_stories: int, stories: int, suite: str = "") -> str:
    """Say why figures over `stories`, or over questions of a `suite` about some, are not shown to a reader with open
    work on some of them."""
    singular, many = suite_named(suite).noun if suite else ("story", "stories")
    some = "it" if stories == 1 else Sentence("{open_stories} of them", open_stories=f"{open_stories:,}")
    work = (
        some
        if singular == "story"
        else gettext_noop("its story")
        if stories == 1
        else Sentence("the stories of {some}", some=some)
    )
    counted = Sentence("one {singular}", singular=word(singular)) if stories == 1 else quantity(stories, singular, many)
    return Sentence(
        "These figures rest on {counted}, and you still have work to do on {work}. Finish that first.",
        counted=counted,
        work=work,
    )


def stories_of(document: Document) -> Numbers | None:
    """The numbers of the stories that a document is about; None of one across suites."""
    if document.comparison:
        return {story.number for story in document.comparison.stories}
    return None if document.numbers is None else set(document.numbers)


def whole_document(document: Document, closed: Numbers) -> Document:
    """The document with the number of stories that it is `withheld` for, and without what tells of them: `TELLING` rows
    and every table and figure but those over all stories (`documents`)."""
    stories = stories_of(document)
    count = len(closed if stories is None else closed & stories)
    if not count:
        return document
    if document.comparison:
        return replace(document, comparison=whole_comparison(document.comparison, closed), withheld=count)
    absent = dict(document.absent or {})
    for row in rows_of(document.groups, count):
        absent[row.group] = [*absent.get(row.group, ()), row.absent_model]
    return replace(document, groups=whole_groups(document.groups), absent=absent, withheld=count)


def whole_ranking(ranking: SuiteRanking, closed: Numbers) -> SuiteRanking:
    """Return the ranking without its chance level, which is a baseline's figure, for who has open work on its stories,
    and with nobody in it where these are too few."""
    count = len(closed & ranking.numbers)
    if not count:
        return ranking
    suite = group_suite(ranking.group)
    if few(ranking.numbers, closed, suite):
        why = sentence(count, len(ranking.numbers), suite)
        return replace(ranking, places={}, ranked=0, chance=None, absent=(), withheld=why)
    return replace(ranking, chance=None, no_chance=rows_withheld(ranking.group, TELLING["baseline"], count).why)


def rows_of(groups: EntrantsByGroup, stories: int) -> list[Absence]:
    """Return an absence for each kind of `TELLING` rows that is left out; `stories` is how many wait."""
    present = {(group, entrant.kind) for group, entrants in groups.items() for entrant in entrants}
    return [
        rows_withheld(group, rows, stories)
        for group in groups
        for kind, rows in TELLING.items()
        if (group, kind) in present
    ]


def whole_groups(groups: EntrantsByGroup) -> dict[str, list[EntrantResults]]:
    """Return the rows that tell of no story: without `TELLING` ones and the levels that follow from gold, and without
    corrected scores, which rest on few stories."""
    return {
        group: [_telling_of_none(entrant) for entrant in entrants if entrant.kind not in TELLING]
        for group, entrants in groups.items()
    }


def _telling_of_none(entrant: EntrantResults) -> EntrantResults:
    return replace(entrant, corrected=None, metrics=replace(entrant.metrics, levels=None, tells_levels=False))


def whole_comparison(comparison: Comparison, closed: Numbers) -> Comparison:
    """Return the comparison without rows by category, without corrected scores, which rest on few stories, and without
    the stories in `closed`."""
    if not any(story.number in closed for story in comparison.stories):
        return comparison
    rows = [row for row in comparison.rows if not row.category]
    stories = [story for story in comparison.stories if story.number not in closed]
    withheld = len(comparison.stories) - len(stories)
    return replace(comparison, rows=rows, stories=stories, corrected=None, withheld=withheld)
