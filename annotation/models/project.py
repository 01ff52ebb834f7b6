from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy

from annotation.domain.arms import DrawUnit
from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models.append_only import AppendOnlyModel
from annotation.models.label_schema import schema_of
from annotation.models.user import User
from core.stored_json import LongJSONField


class ArmsUnit(models.TextChoices):
    """The unit that the arm of a suggestion is drawn for, separately for each annotator."""

    CELL = DrawUnit.CELL.value, gettext_lazy("each cell")
    PROPOSITION = DrawUnit.PROPOSITION.value, gettext_lazy("each proposition: all its cells alike")
    STORY = DrawUnit.STORY.value, gettext_lazy("each story: all its cells alike")


class Role(models.TextChoices):
    ANNOTATOR = "annotator", gettext_lazy("Annotator")
    EXPERT = "expert", gettext_lazy("Expert")
    ADMIN = "admin", gettext_lazy("Admin")

    @property
    def rank(self) -> int:
        return list(Role).index(self)


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User) -> ProjectQuerySet:
        return self if user.is_superuser else self.filter(memberships__user=user)


class Project(models.Model):
    """One team's corpus with its rules: overlap, which dimensions need unanimity, label schema and rule version.

    `table_experts` is how many experts write each belief table apart; `tables_agreed`: both must agree to what comes of
    two. `table_blind_share`: per cent of tables that experts write without seeing a model's draft.
    `decides_and_goes_on`: the key that decides a cell opens the next one.
    """

    slug = models.SlugField(max_length=60, unique=True, validators=[RegexValidator(r"^[a-z0-9][a-z0-9-]*$")])
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    overlap = models.PositiveSmallIntegerField(default=3, validators=[MinValueValidator(2), MaxValueValidator(9)])
    unanimity_dimensions = models.JSONField(default=list, blank=True)
    table_experts = models.PositiveSmallIntegerField(
        default=2, db_default=2, validators=[MinValueValidator(1), MaxValueValidator(2)]
    )
    tables_agreed = models.BooleanField(default=False, db_default=False)
    decides_and_goes_on = models.BooleanField(default=False, db_default=False)
    schema_name = models.CharField(max_length=40, default=DEFAULT_SCHEMA.name)
    schema_version = models.CharField(max_length=20, default=DEFAULT_SCHEMA.version)
    rule_version = models.CharField(max_length=20, default="1")
    blind_share = models.PositiveSmallIntegerField(default=20, validators=[MaxValueValidator(100)])
    reveal_share = models.PositiveSmallIntegerField(default=0, validators=[MaxValueValidator(100)])
    table_blind_share = models.PositiveSmallIntegerField(default=50, db_default=50, validators=[MaxValueValidator(100)])
    arms_seed = models.PositiveIntegerField(default=1)
    arms_unit = models.CharField(
        max_length=12, choices=ArmsUnit.choices, default=ArmsUnit.CELL, db_default=ArmsUnit.CELL
    )
    speed_floor_ms = models.PositiveIntegerField(default=700)
    language = models.CharField(max_length=8, default="en")
    dataset_card = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(table_experts__in=(1, 2)), name="project_table_experts_1_or_2"),
            models.CheckConstraint(condition=Q(overlap__gte=2, overlap__lte=9), name="project_overlap_2_to_9"),
            models.CheckConstraint(
                condition=Q(blind_share__lte=100 - F("reveal_share")), name="project_arm_shares_at_most_100"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def schema(self) -> Schema:
        return schema_of(self.schema_name, self.schema_version)


class Membership(models.Model):
    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["role", "user__username"]
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_membership_a_project")]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self, now: datetime) -> InvitationQuerySet:
        """Return those that can still be used, as far as admins are told."""
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gte=now)

    def waiting_for(self, user: User, now: datetime) -> InvitationQuerySet:
        """Return those of the account that it has not answered, to projects that it is no member of, newest first."""
        unanswered = self.open(now).filter(invited=user, declined_at=None).exclude(project__memberships__user=user)
        return unanswered.select_related("project", "created_by")

    # --- transitions ---

    def accept(self, invitation: Invitation, user: User, now: datetime) -> int:
        """Claim an invitation for who joins; 0 where somebody did before, or it was withdrawn."""
        return self.filter(pk=invitation.pk, accepted_at=None, revoked_at=None).update(
            accepted_at=now, accepted_by=user
        )

    def decline(self, user: User, pk: int, now: datetime) -> int:
        """Decline an invitation of the account; 0 where it has none of that number that waits."""
        return self.waiting_for(user, now).filter(pk=pk).update(declined_at=now)

    def revoke(self, invitation: Invitation, now: datetime) -> int:
        return self.filter(pk=invitation.pk, accepted_at=None, revoked_at=None).update(revoked_at=now)


class Invitation(models.Model):
    """An offer to join a project: a link that makes whoever opens it a member, of which only the hash is kept; or, with
    a `username`, a question that the account of that name answers after it has logged in.

    `invited` is the account that had the name when it was invited, None where there was none: admins are told the same
    of both, so that no invitation says which accounts exist. For the same reason one that was declined counts as open.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=12, choices=Role.choices)
    email = models.EmailField(blank=True)
    username = models.CharField(max_length=150, blank=True)
    invited = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="invitations"
    )
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    accepted_at = models.DateTimeField(null=True, blank=True)
    declined_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def state(self, now: datetime) -> str:
        """Return what has become of the invitation, as admins are told: accepted, withdrawn, expired, or open."""
        if self.accepted_at:
            return "accepted"
        if self.revoked_at:
            return "withdrawn"
        return "expired" if self.expires_at < now else "open"


class Guideline(models.Model):
    """A project's own additions to the definition of one dimension, in Markdown (raw HTML is not rendered), in each
    language of the pages; what is written in one alone is shown to readers of the other, too."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="guidelines")
    dimension = models.CharField(max_length=20)
    text = models.TextField(blank=True)  # English
    text_zh = models.TextField(blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "dimension"], name="one_guideline_a_dimension")]


class AuditEvent(AppendOnlyModel):
    """A record of who did what to which object, when; written in the same transaction as the change itself."""

    append_only = "The audit log is append-only."

    project = models.ForeignKey(Project, models.PROTECT, null=True, blank=True, related_name="audit_events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200, blank=True)
    details = LongJSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["project", "action"], name="audit_by_action")]
