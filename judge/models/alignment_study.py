from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from annotation.models import Project, Role, Story
from core.ids import OpaqueModel
from judge.domain.alignment import MOST_LINKS, Rows, StudyOrigin
from judge.domain.sampling import Unit

MOST_PEOPLE = 9
CHOICE = ("judge_version", "judge_name", "judge_reason", "judge_chosen_by", "judge_chosen_at")
"""The fields that hold which judge a study chose."""


class AlignmentStudyQuerySet(models.QuerySet["AlignmentStudy"]):
    def open(self) -> AlignmentStudyQuerySet:
        return self.filter(closed_at=None)

    def without_frame(self) -> AlignmentStudyQuerySet:
        """Leave the frame unread: it names every table that could be drawn."""
        return self.defer("frame")


class AlignmentStudy(OpaqueModel):
    """A random sample of models' tables that people align with gold, each table by `overlap` of them.

    `frame` is what the sample is drawn from, [key, story, model, category] of each table
    (`judge.domain.sampling.Unit`); it never changes, so that the sample can grow and every inclusion probability stays
    known. `origin` says what the tables were taken from: {"suite", "dataset", "runs", "noun", …}. `audience` is the
    least role that sees agreement and decides rows without a majority; whose tables they are only admins see, and only
    in the download. `judge_version` is the version of the judge that was chosen by it, empty until one is, with the
    reason. `blind_share` is the per cent of alignments whose people see no proposals; it never changes, as who sees
    them is drawn from it anew each time.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="alignment_studies")
    name = models.CharField(max_length=120)
    seed = models.PositiveIntegerField(default=1)
    overlap = models.PositiveSmallIntegerField(
        default=2, validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)]
    )
    most_links = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(MOST_LINKS)]
    )
    blind_share = models.PositiveSmallIntegerField(default=0, db_default=0, validators=[MaxValueValidator(100)])
    audience = models.CharField(
        max_length=12, choices=[(role.value, role.label) for role in (Role.EXPERT, Role.ADMIN)], default=Role.EXPERT
    )
    frame = models.JSONField(default=list)
    origin = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    judge_version = models.CharField(max_length=64, blank=True)
    judge_name = models.CharField(max_length=200, blank=True)
    judge_reason = models.TextField(blank=True)
    judge_chosen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    judge_chosen_at = models.DateTimeField(null=True, blank=True)

    objects = AlignmentStudyQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_alignment_study_a_name"),
            models.CheckConstraint(condition=Q(overlap__gte=1, overlap__lte=MOST_PEOPLE), name="study_overlap_1_to_9"),
            models.CheckConstraint(
                condition=Q(most_links__gte=1, most_links__lte=MOST_LINKS), name="study_links_1_to_3"
            ),
            models.CheckConstraint(condition=Q(blind_share__lte=100), name="study_blind_share_at_most_100"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def units(self) -> list[Unit]:
        """The tables that could be drawn."""
        return [Unit(key, story, (model, category)) for key, story, model, category in self.frame]

    @property
    def came_of(self) -> StudyOrigin:
        """Return where its tables come from."""
        return StudyOrigin.from_json(self.origin)

    @property
    def noun(self) -> str:
        """Return what the number of a table is one of."""
        return self.came_of.noun

    @property
    def choice(self) -> str:
        """Return what tells one choice of a judge from another; empty where none is made."""
        return self.judge_chosen_at.isoformat() if self.judge_chosen_at else ""

    def close(self, at: datetime | None) -> None:
        """Close the study at that time, so that nobody aligns in it any more; None opens it again."""
        self.closed_at = at
        self.save(update_fields=["closed_at"])

    def choose_judge(self, version: str, *, name: str, reason: str, by: Any, at: datetime) -> None:
        """Keep that this version of a judge was chosen, by whom, when and why; an earlier choice is replaced."""
        self.judge_version, self.judge_name, self.judge_reason = version, name, reason
        self.judge_chosen_by, self.judge_chosen_at = by, at
        self.save(update_fields=CHOICE)


class AlignmentTaskQuerySet(models.QuerySet["AlignmentTask"]):
    def hidden(self) -> AlignmentTaskQuerySet:
        """Leave unread what tells whose table it is."""
        return self.defer("key", "source", "origin")

    def in_order(self) -> AlignmentTaskQuerySet:
        """Order the tables as they are drawn from all strata: any beginning of that order is a sample of each
        stratum."""
        return self.order_by("place", "number", "uid")


class AlignmentTask(OpaqueModel):
    """A model's table of one story beside the gold table, both kept as [actor, belief] rows, to be aligned by people.

    `key` and `source` say whose table it is, which nobody who aligns may know. It was drawn as the `place`-th of its
    stratum (`source` × `category`) and is in the sample with `probability`. `story` is the project's story of the very
    text, None where there is none; `number` names the sample within its dataset and `cluster` is what figures are
    resampled over.
    """

    study = models.ForeignKey(AlignmentStudy, models.CASCADE, related_name="tasks")
    story = models.ForeignKey(Story, models.SET_NULL, null=True, blank=True, related_name="+")
    key = models.CharField(max_length=200)
    source = models.CharField(max_length=200)
    origin = models.JSONField(default=dict)
    cluster = models.CharField(max_length=200)
    number = models.BigIntegerField()
    text = models.TextField()
    language = models.CharField(max_length=8, default="en")
    category = models.CharField(max_length=120, blank=True)
    place = models.PositiveIntegerField()
    probability = models.FloatField()
    predictions = models.JSONField()
    gold = models.JSONField()
    added_at = models.DateTimeField(auto_now_add=True)

    objects = AlignmentTaskQuerySet.as_manager()

    class Meta:
        ordering = ["place", "number", "uid"]
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="one_alignment_task_a_table"),
            models.CheckConstraint(condition=Q(probability__gt=0, probability__lte=1), name="task_probability_0_to_1"),
        ]

    @property
    def rows(self) -> Rows:
        return Rows(len(self.predictions), len(self.gold), self.study.most_links)

    @property
    def size(self) -> int:
        """Return how many rows both tables have."""
        return len(self.predictions) + len(self.gold)

    def words_of(self, row: str) -> tuple[str, str]:
        """Return the actor and belief of a row by its name."""
        actor, belief, *_ = (self.predictions if row[0] == "p" else self.gold)[int(row[1:]) - 1]
        return actor, belief
