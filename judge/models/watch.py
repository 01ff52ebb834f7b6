from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models import Project
from benchmark.models.run import Run
from core.ids import OpaqueModel
from core.plain import Json
from core.stored_json import LongJSONField, SentenceField
from workers.models import Endpoint

LATE = timedelta(hours=1)
"""How long after its time a repeat may begin before a page says that nobody has begun it."""
MOST_DAYS, MOST_ANCHORS, FEWEST_ANCHORS = 365, 200, 5


class AnchorWatchQuerySet(models.QuerySet["AnchorWatch"]):
    def due(self, now: datetime) -> AnchorWatchQuerySet:
        """Return those of which a repeat is to begin, the longest waiting first."""
        return self.filter(due_at__lte=now).order_by("due_at", "pk")

    def overdue(self, now: datetime) -> AnchorWatchQuerySet:
        """Return those whose next repeat should have begun, and that no worker has begun."""
        return self.filter(due_at__lt=now - LATE)

    # --- transitions ---

    def claim(self, due: datetime, following: datetime) -> int:
        """Take the repeat that is due at that time, for one worker alone; 0 where another one has."""
        return self.filter(due_at=due).update(due_at=following)


class AnchorWatch(OpaqueModel):
    """A judge or a model that is asked the same again on a schedule.

    `run` is where the questions were put first; `asked` answers them, where it judges about the answers of those of
    `about` (ids of endpoints), and `step` is the one whose answers are compared. `anchors` are the numbers of the
    samples, drawn with `seed`. At the start every question is asked 1 + `rounds` times: the first answers, and what an
    unchanged one says when it is asked again. Then it is asked every `every` days, next at `due_at`, null while nobody
    asks. The chart is for a drop of agreement of `drop` (a share); `budget` caps each repeat, in US dollars. `concerns`
    are what was noticed and nobody has noted yet ({"kind", "number", "at", …}); at `noted_at` somebody last did.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="anchor_watches")
    run = models.ForeignKey(Run, models.PROTECT, related_name="anchor_watches")
    asked = models.ForeignKey(Endpoint, models.PROTECT, related_name="+")
    step = models.CharField(max_length=40)
    about = LongJSONField(default=list)
    anchors = LongJSONField(default=list)
    seed = models.PositiveIntegerField(default=1)
    rounds = models.PositiveSmallIntegerField()
    every = models.PositiveSmallIntegerField()
    drop = models.FloatField()
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    due_at = models.DateTimeField(null=True, blank=True)
    concerns = LongJSONField(default=list)
    noted_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AnchorWatchQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(every__gte=1, every__lte=MOST_DAYS), name="watch_every_1_to_365_days"),
            models.CheckConstraint(condition=Q(drop__gt=0, drop__lt=1), name="watch_drop_is_a_share"),
        ]
        indexes = [models.Index(fields=["due_at"], name="watch_by_due")]

    def __str__(self) -> str:
        return self.asked.name

    def go_on(self, due: datetime | None) -> None:
        """Have the next repeat begin at that time; None stops the watch."""
        self.due_at = due
        self.save(update_fields=["due_at"])

    def keep_concerns(self, concerns: list[Json]) -> None:
        """Keep what was noticed, unless somebody has taken note since this was read."""
        if AnchorWatch.objects.filter(pk=self.pk, noted_at=self.noted_at).update(concerns=concerns):
            self.concerns = concerns

    def note(self, at: datetime) -> None:
        """Keep that somebody has taken note of everything so far."""
        self.noted_at, self.concerns = at, []
        self.save(update_fields=["noted_at", "concerns"])

    def following(self, due: datetime, now: datetime) -> tuple[datetime, int]:
        """Return when the repeat after that of `due` is to begin, and how many between them have passed already."""
        passed = max(0, (now - due) // timedelta(days=self.every))
        return due + (passed + 1) * timedelta(days=self.every), passed


class AnchorRepeatQuerySet(models.QuerySet["AnchorRepeat"]):
    def unread(self) -> AnchorRepeatQuerySet:
        """Return those whose run has ended, or could not begin, since somebody last looked for concerns."""
        ended = Q(run__job__finished_at__isnull=False) & (Q(read_at=None) | Q(read_at__lt=F("run__job__finished_at")))
        return self.filter(ended | Q(run=None, read_at=None))


class AnchorRepeat(models.Model):
    """One asking of all anchors of a watch: a run like any other, null where it could not begin, as `why_not` says.

    `number` counts from 0, the first verdicts; the `rounds` of the watch that follow are what it is compared with.
    `missed` are the times before `due_at` at which nobody asked.
    """

    watch = models.ForeignKey(AnchorWatch, models.CASCADE, related_name="repeats")
    number = models.PositiveIntegerField()
    due_at = models.DateTimeField()
    missed = models.PositiveIntegerField(default=0)
    run = models.OneToOneField(Run, models.PROTECT, null=True, blank=True, related_name="anchor_repeat")
    why_not = SentenceField(blank=True)
    read_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AnchorRepeatQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["watch", "number"], name="one_repeat_a_number")]

    def __str__(self) -> str:
        return str(self.number)

    @property
    def is_first(self) -> bool:
        return self.number == 0

    def is_baseline(self, rounds: int) -> bool:
        return 0 < self.number <= rounds
