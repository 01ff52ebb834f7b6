from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.db import models

from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Project, Story, schema_of
from benchmark.suites.contract import Suite
from core.ids import OpaqueModel
from core.messages import Sentence, gettext_noop
from core.stored_json import LongJSONField

IN_FULL_AT_ONCE = 500


class DatasetQuerySet(models.QuerySet["Dataset"]):
    def counting_runs(self) -> DatasetQuerySet:
        """Annotate `runs_count`: the runs on each version with archived ones, without deleted ones and controls."""
        return self.annotate(runs_count=models.Count("runs", filter=models.Q(runs__deleted_at=None, runs__control="")))

    def asked_about_by(self, suite: Suite) -> DatasetQuerySet:
        """The versions that a suite can ask about: its copies, or published gold that is labelled as it measures it."""
        if suite.copied.load:
            return self.filter(suite=suite.name)
        schema = suite.gold.schema
        labelled = {"schema_name": schema.name, "schema_version": schema.version} if schema else {}
        return self.filter(suite="", **labelled)


class Dataset(OpaqueModel):
    """Samples that can no longer change: a version of a project's gold, or the samples of a user's copy of a benchmark.

    `suite` names the suite that an imported copy is of, empty where the version is the project's own gold; `origin`
    then says where it came from: {"title", "licence", "files": {name: digest}, "options", "unchecked": what could not
    be held against the release, in a sentence, "problems": what is odd in it, [{"file", "line", "message"}]}.

    `digest` is the SHA-256 of everything that its stories hold, with the versions of schema and rules: equal gold that
    was made in the same way is one version. `methods` counts cells by how they were settled ("imported" where the
    record brought the label). `overlap` and `unanimity_dimensions` are the project's when it was first published so,
    None of an imported copy.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="datasets")
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    suite = models.CharField(max_length=40, blank=True)
    origin = LongJSONField(default=dict)
    schema_name = models.CharField(max_length=40, default=DEFAULT_SCHEMA.name)
    schema_version = models.CharField(max_length=20)
    rule_version = models.CharField(max_length=20)
    overlap = models.PositiveSmallIntegerField(null=True)
    unanimity_dimensions = models.JSONField(null=True)
    stories_count = models.PositiveIntegerField()
    propositions_count = models.PositiveIntegerField()
    left_out = models.PositiveIntegerField(
        default=0, help_text=gettext_noop("Stories with a table whose cells were not all settled.")
    )
    methods = models.JSONField(default=dict)
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["project", "version"], name="one_dataset_a_version"),
            models.UniqueConstraint(fields=["project", "digest"], name="one_dataset_a_content"),
        ]

    def __str__(self) -> str:
        return Sentence("{project}, version {version}", project=self.project.name, version=self.version)

    @property
    def title(self) -> str:
        """The title of what an imported copy is of, empty where the version is the project's own gold."""
        return self.origin.get("title", "")

    @property
    def schema(self) -> Schema:
        return schema_of(self.schema_name, self.schema_version)


class DatasetSampleQuerySet(models.QuerySet["DatasetSample"]):
    def selected(self, *, split: str = "", category: str = "", limit: int = 0) -> DatasetSampleQuerySet:
        """Return the samples of a split and category in the order of the corpus; `limit` 0 takes all."""
        chosen = self.filter(**({"split": split} if split else {}), **({"category": category} if category else {}))
        return chosen.order_by("position")[:limit] if limit else chosen.order_by("position")

    def lean(self) -> DatasetSampleQuerySet:
        """Defer the contents of samples, which are most of the data; `in_full` reads them."""
        return self.defer("content", "gold", "methods", "votes", "adjudications")


class DatasetSample(models.Model):
    """One sample of a version: what one prompt is about (`benchmark.suites.contract.Sample`).

    `number` names it within its version in addresses and commands: a story's own, else its place in the imported files.
    `content` and `gold` are as its suite reads them; samples of one `cluster` are resampled together, those of one
    `group` count together. What follows is kept of published gold alone: `methods` the way each label of each
    proposition was settled, `votes` {annotator's user name: [[label of each dimension] of each proposition]} with ""
    where there is no vote, and `adjudications` what each expert last decided, in the same form: gold itself, but for
    decisions that another overruled. Published gold that people voted on has under `provenance` what they saw:
    {"suggested": [[label that a model suggested of each dimension] of each proposition], empty without any, "blind":
    votes that no suggestion can have touched, in the form of `votes`, "unknown": imported ones, of which nobody knows}.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="samples")
    story = models.ForeignKey(Story, models.SET_NULL, null=True, related_name="+")
    position = models.PositiveIntegerField()
    number = models.BigIntegerField()
    key = models.CharField(max_length=200)
    cluster = models.CharField(max_length=200)
    group = models.CharField(max_length=200, blank=True)
    category = models.CharField(max_length=120)
    split = models.CharField(max_length=40, blank=True)
    content = LongJSONField()
    gold = LongJSONField()
    methods = models.JSONField(default=list)
    votes = LongJSONField(default=dict)
    adjudications = LongJSONField(default=dict)
    digest = models.CharField(max_length=64)

    objects = DatasetSampleQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="one_dataset_sample_a_number"),
            models.UniqueConstraint(fields=["dataset", "key"], name="one_dataset_sample_a_key"),
        ]

    def __str__(self) -> str:
        return Sentence("Sample {number}", number=self.number)

    @classmethod
    def in_full(cls, samples: Iterable[DatasetSample]) -> Iterator[DatasetSample]:
        """Yield the samples with their contents, in their order; `lean` ones are read again in chunks."""
        samples = list(samples)
        for at in range(0, len(samples), IN_FULL_AT_ONCE):
            chunk = samples[at : at + IN_FULL_AT_ONCE]
            lean = [sample.pk for sample in chunk if sample.get_deferred_fields()]
            read = cls.objects.defer("methods", "votes", "adjudications").in_bulk(lean) if lean else {}
            yield from (read.get(sample.pk, sample) for sample in chunk)

    @property
    def text(self) -> str:
        """The story of a sample of published gold."""
        return self.content["story"]

    @property
    def beliefs(self) -> list[dict[str, Any]]:
        """The gold propositions of a sample of published gold, in the record format."""
        return self.gold["beliefs"]

    @property
    def record(self) -> dict[str, Any]:
        """A sample of published gold in the record format."""
        return {"story_id": self.number, "story_category": self.category, "story": self.text, "beliefs": self.beliefs}


class StoredPromptSet(OpaqueModel):
    """A team's own prompts: `files` by name, as loaded. A set that a run used is never changed; another wording is
    another set."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="prompt_sets")
    name = models.SlugField(max_length=60)
    files = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_prompt_set_a_name")]

    def __str__(self) -> str:
        return self.name
