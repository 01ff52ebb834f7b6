"""Questions of imported benchmarks about the story of a text that their reader has open work on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from annotation.models import Story
from benchmark.models import Dataset, DatasetSample
from benchmark.suites.contract import Suite
from benchmark.suites.registry import suite_named
from core.kept import kept_as


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
