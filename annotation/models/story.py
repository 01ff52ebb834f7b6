from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.domain.stories import MAX_CATEGORY_LENGTH, MAX_SPLIT_LENGTH
from annotation.models.project import Project
from annotation.models.user import User
from core.ids import OpaqueModel


class Category(models.Model):
    """A story's task family, verbatim as its source spells it."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="categories")
    name = models.CharField(max_length=MAX_CATEGORY_LENGTH)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "categories"
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_category_a_name")]

    def __str__(self) -> str:
        return self.name


class Split(models.Model):
    """A named part of the corpus. `seed` is the one that drew it, null where people chose."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="splits")
    name = models.SlugField(max_length=MAX_SPLIT_LENGTH)
    seed = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_split_a_name")]

    def __str__(self) -> str:
        return self.name


class StoryQuerySet(models.QuerySet["Story"]):
    def in_use(self) -> StoryQuerySet:
        """Leave out the stories that are withdrawn: no queue, split, published version, export or count has them."""
        return self.filter(withdrawn_at__isnull=True)

    def in_split(self, name: str | None) -> StoryQuerySet:
        return self.filter(split__name=name) if name else self

    def in_category(self, name: str | None) -> StoryQuerySet:
        return self.filter(category__name=name) if name else self


class Story(OpaqueModel):
    """A short narrative. `number` is the record format's `story_id`; `text` is never changed after import.

    `translations` maps a language code to the same story in that language; `source` and `digest` (SHA-256 of the
    text) are its identity for an importer; `extra` keeps the imported record's fingerprint and layout (domain.records).
    One with `withdrawn_at` keeps all that it has and takes part in nothing until it is taken back.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="stories")
    number = models.BigIntegerField()
    category = models.ForeignKey(Category, models.PROTECT, related_name="stories")
    split = models.ForeignKey(Split, models.SET_NULL, null=True, blank=True, related_name="stories")
    text = models.TextField()
    language = models.CharField(max_length=8, default="en")
    translations = models.JSONField(default=dict, blank=True)
    source = models.CharField(max_length=255, blank=True)
    digest = models.CharField(max_length=64)
    extra = models.JSONField(default=dict, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = StoryQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        verbose_name_plural = "stories"
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="one_story_a_number")]
        indexes = [
            models.Index(fields=["project", "source", "digest"], name="story_identity"),
            models.Index(fields=["project"], condition=models.Q(withdrawn_at__isnull=False), name="story_withdrawn"),
        ]

    def __str__(self) -> str:
        return f"Story {self.number}"


class ClaimQuerySet(models.QuerySet["Claim"]):
    def in_force(self, now: datetime) -> ClaimQuerySet:
        return self.filter(until__gt=now)

    def of_others(self, expert: User, project: Project, now: datetime) -> ClaimQuerySet:
        """Return the claims in force that other experts have on stories of the project, with the experts' names."""
        return self.in_force(now).filter(story__project=project).exclude(expert=expert).select_related("expert")

    def take(self, expert: User, until: datetime, now: datetime) -> int:
        """Give the expert those claims that are the expert's own or have run out; return how many that were."""
        return self.filter(Q(expert=expert) | Q(until__lte=now)).update(expert=expert, until=until)


class Claim(models.Model):
    """An expert's claim on the cells of a story: until `until` no other expert decides there."""

    story = models.OneToOneField(Story, models.CASCADE, related_name="claim")
    expert = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    until = models.DateTimeField()

    objects = ClaimQuerySet.as_manager()


class StoryCounts(models.Model):
    """Counts over the live propositions of a story's gold table, which pages read instead of its cells. Without a row
    all counts are zero. `annotation/services/counts.py` writes these and those of annotators, in the transaction of
    each change of votes, gold or propositions."""

    story = models.OneToOneField(Story, models.CASCADE, primary_key=True, related_name="counts")
    propositions = models.PositiveIntegerField(default=0)
    unanimous = models.PositiveIntegerField(default=0)
    majority = models.PositiveIntegerField(default=0)
    adjudicated = models.PositiveIntegerField(default=0)
    open = models.PositiveIntegerField(default=0)
    disturbed = models.PositiveIntegerField(default=0)  # adjudicated cells whose votes changed since
    imported = models.PositiveIntegerField(default=0)  # cells without gold that have an imported label
    unvoted = models.PositiveIntegerField(default=0)  # those of them without a vote
    version = models.PositiveBigIntegerField(default=0)  # grows with each change of votes, gold or propositions


class AnnotatorCounts(models.Model):
    """One annotator's standing votes on the live propositions of a story, with the times of the first and the last."""

    story = models.ForeignKey(Story, models.CASCADE, related_name="annotator_counts")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="vote_counts")
    cells = models.PositiveIntegerField()
    first = models.DateTimeField()
    last = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["story", "annotator"], name="one_count_an_annotator")]
