"""The parts of results that wait for those who still label or decide some of the stories behind it.

Gold is told cell by cell on items, in downloads and in what is given story by story: none of that is shown of a story
that somebody has open work on. Figures over whole selections are, from `workload.FEWEST` stories on; what counts gold
labels or parts the stories is not, as the finished stories could be taken away from it. Nor are figures of those whose
answers can be known: people, who may be the reader, and baselines, whose share of right answers counts the gold labels
of the stories that are left.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from annotation.models import Story
from annotation.models.workload import FEWEST, too_few
from benchmark.models import Dataset, DatasetSample
from benchmark.services.absences import Absence, rows_withheld
from benchmark.services.across import SuiteRanking
from benchmark.services.comparisons import Comparison
from benchmark.services.documents import Document
from benchmark.suites.contract import Suite
from benchmark.suites.registry import group_suite, suite_named
from benchmark.suites.results import EntrantResults, EntrantsByGroup
from core.kept import kept_as
from core.messages import Sentence, gettext_noop, quantity

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
    return Sentence(
        "These figures rest on {counted}, and you still have work to do on {open_stories} of them. Finish that first.",
        counted=quantity(stories, *(suite_named(suite).noun if suite else ("story", "stories"))),
        open_stories=f"{open_stories:,}",
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


# --- questions of imported benchmarks about the story of a text that their reader has open work on
def texts_of_stories(stories: Iterable[int]) -> frozenset[str]:
    """Return the texts of these stories, by id: as they are, in translation, and as versions of gold keep them."""
    texts: set[str] = set()
    for text, translations in Story.objects.filter(pk__in=stories).values_list("text", "translations"):
        texts |= {text, *(translations or {}).values()}
    texts.update(DatasetSample.objects.filter(story__in=stories).values_list("content__story", flat=True))
    return frozenset(text for text in texts if isinstance(text, str) and text)


def questions_about(texts: Set[str], suite: Suite, datasets: Iterable[Dataset]) -> frozenset[int]:
    """Return the numbers of the samples of these datasets of a suite whose story has one of these very texts, and of
    all others of their clusters: the same story in another language. None of a suite that does not say what its story
    is."""
    if not (texts and suite.texts.story):
        return frozenset()
    return frozenset().union(*(_kept(texts, dataset) for dataset in datasets))


def of_the_same_stories(numbers: Mapping[int | None, Set[int]], datasets: Iterable[Dataset]) -> frozenset[int]:
    """Return the numbers of the samples of these datasets that are of the clusters of some of their own, which are
    given by version."""
    chosen = [(dataset, numbers[dataset.version]) for dataset in datasets if numbers.get(dataset.version)]
    clusters = [
        dataset.samples.filter(cluster__in=dataset.samples.filter(number__in=own).order_by().values("cluster"))
        for dataset, own in chosen
    ]
    return frozenset(number for rows in clusters for number in rows.order_by().values_list("number", flat=True))


def _kept(texts: Set[str], dataset: Dataset) -> frozenset[int]:
    """Return these numbers of one dataset, whose samples never change: a walk through its items asks each time."""

    def numbers() -> frozenset[int]:
        field = f"content__{suite_named(dataset.suite).texts.story}"
        rows = list(dataset.samples.order_by().values_list("number", "cluster", field))
        clusters = {cluster for _, cluster, text in rows if text in texts}
        return frozenset(number for number, cluster, _ in rows if cluster in clusters)

    return kept_as("questions-about", [dataset.pk, dataset.digest, sorted(texts)], numbers)
