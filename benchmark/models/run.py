from __future__ import annotations

from collections.abc import Set
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models import Project
from benchmark.domain.parameters import Parameters
from benchmark.domain.provenance import EndpointSpec, Making, Provenance
from benchmark.models.dataset import Dataset, DatasetSample
from core.ids import OpaqueModel
from core.messages import Sentence, gettext_noop
from core.plain import read_as
from core.stored_json import LongJSONField, SentenceField
from workers.models import Call, Endpoint, Item, Job, JobState

AnyItem = TypeVar("AnyItem", bound="ParsedAnswer")


class AnswerFormat(models.TextChoices):
    """Answer format: the published protocol's tables in free text, or rows held to a JSON schema. The two are never
    mixed in a table."""

    TEXT = "text", gettext_noop("Free text")
    STRUCTURED = "structured", gettext_noop("Structured output")


class RunQuerySet(models.QuerySet["Run"]):
    def listed(self) -> RunQuerySet:
        """Leave out archived runs, those under a control, and repeats of a watch, as all lists and comparisons do."""
        return self.originals().filter(archived_at=None, anchor_repeat=None)

    def extended_with(self, run: Run) -> RunQuerySet:
        """The runs under the controls of a run that are extended with it: neither cancelled nor preparing."""
        return self.filter(original=run, preparation=None).exclude(job__state=JobState.CANCELLED)

    def archived(self) -> RunQuerySet:
        return self.originals().filter(archived_at__isnull=False)

    def in_list(self) -> RunQuerySet:
        """The newest first, with what a row of a list is made of."""
        related = self.select_related("dataset", "job", "judge", "source", "created_by")
        return related.prefetch_related("entrants").order_by("-id")

    def made_here(self) -> RunQuerySet:
        """Leave out runs of imported answers, and runs that judge such answers."""
        of_source = Q(source=None) | Q(source__spec__imported__isnull=True)
        return self.filter(of_source, spec__imported__isnull=True)

    def originals(self) -> RunQuerySet:
        """Leave out runs under a control, as everything does that counts runs nobody named."""
        return self.filter(control="")


class RunManager(models.Manager.from_queryset(RunQuerySet)):  # type: ignore[misc]
    """The runs that are there. What is left of a deleted one is reached from snapshots alone, through their
    entrants."""

    def get_queryset(self) -> RunQuerySet:
        return super().get_queryset().filter(deleted_at=None)


class Run(OpaqueModel):
    """Models × steps × samples of one dataset version, with everything that is needed to run it again.

    `source` is the run whose answers are judged anew, null where the run makes its own. `spec` states versions and
    settings at the launch (see services/runs.py); `params` what was chosen. Under a `control` the samples are changed
    (see benchmark/controls), and those of `original` are what they were changed from. Of a deleted run the row and its
    entrants stay, since snapshots name them; its items and figures are gone (services/archiving.py).
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="runs")
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="runs")
    suite = models.CharField(max_length=100)
    title = models.CharField(max_length=200)
    steps = models.JSONField()
    answer_format = models.CharField(max_length=12, choices=AnswerFormat.choices, default=AnswerFormat.TEXT)
    level = models.PositiveSmallIntegerField()
    prompt_set = models.CharField(max_length=60)
    control = models.CharField(max_length=20, blank=True, db_default="")
    original = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="controls")
    judge = models.ForeignKey(Endpoint, models.PROTECT, null=True, blank=True, related_name="+")
    source = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="judged_anew")
    params = LongJSONField(default=dict)
    spec = LongJSONField(default=dict)
    job = models.OneToOneField(Job, models.PROTECT, related_name="run")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = RunManager()
    with_deleted = models.Manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(answer_format__in=AnswerFormat.values), name="run_answer_format_known"),
            models.CheckConstraint(
                condition=Q(control="", original=None) | (~Q(control="") & Q(original__isnull=False)),
                name="run_control_of_a_run",
            ),
            models.UniqueConstraint(
                fields=["original", "control"], condition=Q(deleted_at=None), name="one_run_a_control"
            ),
            models.CheckConstraint(condition=Q(level__gte=1, level__lte=4), name="run_level_1_to_4"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def parameters(self) -> Parameters:
        """Return what `params` keeps."""
        return Parameters.from_json(self.params)

    @property
    def provenance(self) -> Provenance:
        """Return what `spec` keeps."""
        return read_as(Provenance, self.spec)

    @property
    def imported(self) -> Making | None:
        """Return the making of answers that came from elsewhere; None where the run asked its questions itself."""
        making = self.spec.get("imported")
        return read_as(Making, making) if making else None

    @property
    def made_elsewhere(self) -> bool:
        """True where its answers, or those that it judges, came from elsewhere."""
        return bool((self.source or self).spec.get("imported"))


class Entrant(models.Model):
    """A model as asked in a run. `name` and `spec` are what the endpoint was at the launch."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="entrants")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    spec = LongJSONField(default=dict)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["run", "endpoint"], name="one_entrant_an_endpoint")]

    def __str__(self) -> str:
        return self.name

    @property
    def asked_as(self) -> EndpointSpec:
        """Return what `spec` keeps."""
        return read_as(EndpointSpec, self.spec)


class RunItemQuerySet(models.QuerySet[AnyItem]):
    def without(self, closed: Set[int]) -> Self:
        """Leave out the items of these stories, which the reader has open work on (`benchmark.access.closed_to`)."""
        return self.exclude(sample__number__in=closed) if closed else self


class ParsedAnswer(models.Model):
    """The parsed answer of an item. `official` and `repaired` are the two parses as domain results (counts, labels),
    null before there is one; `score` and `repaired_score` the metric that tables sort by: F1 of judging, mean accuracy
    of labelling, 0 to 1. `unreadable` says why the repaired parse has no estimate; `unjudged` how many rows of either
    table a judgement leaves without a count.
    """

    sample = models.ForeignKey(DatasetSample, models.PROTECT, related_name="+")
    step = models.CharField(max_length=20)
    repetition = models.PositiveSmallIntegerField(default=0, db_default=0)
    call = models.ForeignKey(Call, models.PROTECT, null=True, blank=True, related_name="+")
    official = LongJSONField(null=True, blank=True)
    repaired = LongJSONField(null=True, blank=True)
    score = models.FloatField(null=True, blank=True)
    repaired_score = models.FloatField(null=True, blank=True)
    unreadable = SentenceField(blank=True)
    unjudged = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        abstract = True


class RunItem(ParsedAnswer):
    """One sample at one step for one model, asked once or as one of several repetitions. `item` does the work, null
    where an earlier run's answer is taken over."""

    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="items")
    item = models.OneToOneField(Item, models.SET_NULL, null=True, blank=True, related_name="run_item")

    objects = RunItemQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["entrant", "step", "sample", "repetition"], name="one_run_item_a_place")
        ]

    def among(self) -> RunItemQuerySet[Any]:
        """Return the items that this one belongs with: those of all runs, as they are now."""
        return RunItem.objects.all()


class RunReport(models.Model):
    """The figures of a run, computed once its items are in. They are out of date where their `places` (how many items
    there are, and how many have an answer) or their `version` are not those of now. `scored` is the number of items
    with an answer, for people who read rows."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="report")
    scored = models.PositiveIntegerField()
    metrics = LongJSONField()
    computed_at = models.DateTimeField()


class RunPreparation(models.Model):
    """A run whose items are still being made: about the first `done` of its `of` samples they are there.

    Of an imported run they are answers, and there are no `samples`. Else `samples` are the positions of its samples in
    the dataset. If it `looks`, the run is under a control that asks only about samples
    that it changes, `kept` of them so far; if it `extends`, the run had items before. The row goes when all items are
    there; of a run that was cancelled before, it stays.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="preparation")
    samples = models.JSONField()
    looks = models.BooleanField(default=False)
    extends = models.BooleanField(default=False)
    of = models.PositiveIntegerField()
    done = models.PositiveIntegerField(default=0)
    kept = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(done__lte=F("of")), name="preparation_within_its_samples")]

    def __str__(self) -> str:
        return Sentence("{done} of {of}", done=self.done, of=self.of)


class UnmatchedReport(models.Model):
    """Answers in files that did not become part of a run, as its import found them: `unmatched` and `double` answers as
    [{"where", "why"}], the keys of samples that are `missing` answers, and the records that are `unanswered`, as
    [{"where", "why"}]."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="unmatched_report")
    unmatched = LongJSONField(default=list)
    double = LongJSONField(default=list)
    missing = LongJSONField(default=list)
    unanswered = LongJSONField(default=list)

    def __str__(self) -> str:
        return f"{len(self.unmatched)} unmatched, {len(self.double)} double, {len(self.missing)} missing"


class RunParcel(models.Model):
    """A parcel of the answers of an imported run that a worker has yet to take in, as `AnswerRow` has each; it goes
    with the transaction that takes it in (benchmark/services/made_elsewhere/importing.py)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="answers_to_take")
    rows = LongJSONField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{len(self.rows)} answers"


class UnreadParcel(models.Model):
    """A stretch of a file of answers that a worker has yet to read, the first of its run's files at `position` 0; the
    stretches of a file stand in the order of their ids. They go with the transaction that keeps what was read of them
    (benchmark/services/made_elsewhere/importing.py)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="files_to_read")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=255)
    content = models.BinaryField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name
