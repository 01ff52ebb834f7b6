"""Annotators and experts as rows beside models: what each labelled, and the gold that holds without this person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotation.domain.leave_one_out import Cell, Rule, gold_without
from annotation.models import Method
from benchmark.models import Dataset, DatasetSample, Run, RunItem
from benchmark.services.asking import DatasetResources, settings_of
from benchmark.services.gold_samples import IMPORTED
from benchmark.suites.people import Labelled, Labels, Person, Settled
from benchmark.suites.questions import Sample
from benchmark.suites.registry import group_named, suite_named
from core.messages import Sentence


def people_in(run: Run, samples: Mapping[int, Sample]) -> Iterator[Person]:
    """Yield everybody who voted in a story of the dataset, then everybody who adjudicated one, with what they labelled
    of `samples`, those of the run by id, as far as models were asked for the same."""
    step = group_named(suite_named(run.suite).gold.people).scored
    asked_samples = RunItem.objects.filter(entrant__run=run, step=step).values("sample")
    asked_ids = set(DatasetSample.objects.filter(pk__in=asked_samples).values_list("pk", flat=True))
    asked_about = {pk: sample for pk, sample in samples.items() if pk in asked_ids}
    stories = list(DatasetSample.objects.filter(dataset=run.dataset).defer("content").order_by("position"))
    settings, resources = settings_of(run), DatasetResources(run.dataset)
    for role in ("annotator", "expert"):
        names = sorted({name for story in stories for name in labels_by(story, role)})
        for number, name in enumerate(names, 1):
            display_name = name if role == "annotator" else Sentence("{name} (expert)", name=name)
            labelled = list(_labelled(run.dataset, name, role, stories, asked_about))
            yield Person(display_name, role, number, labelled, list(asked_about.values()), settings, resources)


def _labelled(
    dataset: Dataset, name: str, role: str, stories: Sequence[DatasetSample], samples: Mapping[int, Sample]
) -> Iterator[Labelled]:
    for story in stories:
        labels = labels_by(story, role).get(name, [])
        if story.pk in samples and any(map(any, labels)):
            yield Labelled(samples[story.pk], labels, gold_without_person(story, name, dataset))


def labels_by(story: DatasetSample, role: str) -> Mapping[str, Labels]:
    return story.adjudications if role == "expert" else story.votes


def gold_without_person(story: DatasetSample, name: str, dataset: Dataset) -> Settled:
    """Return (gold label, by what it is settled) without the person of each dimension of each proposition."""
    keys = dataset.schema.keys
    rules = [Rule(dataset.rule_version, dataset.overlap, key in dataset.unanimity_dimensions) for key in keys]
    return [
        [
            gold_without(name, _cell(story, row, at, belief["labels"][key]), rule)
            for at, (key, rule) in enumerate(zip(keys, rules, strict=True))
        ]
        for row, belief in enumerate(story.beliefs)
    ]


def _cell(story: DatasetSample, row: int, at: int, gold: str) -> Cell:
    def labels_at(labels_by_person: Mapping[str, Labels]) -> dict[str, str]:
        return {name: labels[row][at] for name, labels in labels_by_person.items() if labels[row][at]}

    method = story.methods[row][at]
    return Cell(
        gold, labels_at(story.votes), labels_at(story.adjudications), method == IMPORTED, method == Method.ADJUDICATED
    )
