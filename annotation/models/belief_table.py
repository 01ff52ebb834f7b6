from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from annotation.models.story import Story
from core.ids import OpaqueModel


class TableKind(models.TextChoices):
    GOLD = "gold", gettext_lazy("Gold")
    DRAFT = "draft", gettext_lazy("Expert's draft")


class BeliefTableQuerySet(models.QuerySet["BeliefTable"]):
    def drafts(self) -> BeliefTableQuerySet:
        """Drafts of experts who hold a slot of their story."""
        return self.filter(kind=TableKind.DRAFT, slot__isnull=False)


class BeliefTable(OpaqueModel):
    """The propositions of one story: the gold table (one a story) or one expert's draft for reconciliation.

    An expert who drafts a story holds one of its slots, from 1 to the project's number of experts; the database lets no
    two hold the same. A draft whose expert was released keeps its rows and holds none. `opened_at`: somebody else has
    seen the draft, which from then on stays as it was handed in. `agreed_at`: its expert agreed to what came of both.

    Whether the expert begins with a model's draft of the table is drawn once (`arm_drawn_at`), by the project's seed
    and share of that moment: `is_blind` is null where nothing was drawn.
    """

    story = models.ForeignKey(Story, models.CASCADE, related_name="tables")
    kind = models.CharField(max_length=8, choices=TableKind.choices, default=TableKind.GOLD)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    given_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    submitted_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    agreed_at = models.DateTimeField(null=True, blank=True)
    arm_drawn_at = models.DateTimeField(null=True, blank=True)
    is_blind = models.BooleanField(null=True, blank=True)
    arm_seed = models.PositiveIntegerField(null=True, blank=True)
    blind_share = models.PositiveSmallIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BeliefTableQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["story"], condition=Q(kind="gold"), name="one_gold_table_a_story"),
            models.UniqueConstraint(
                fields=["story", "author"], condition=Q(kind="draft"), name="one_draft_table_an_author"
            ),
            models.UniqueConstraint(fields=["story", "slot"], condition=Q(kind="draft"), name="one_draft_table_a_slot"),
        ]


class Remark(models.TextChoices):
    """The change that reconciliation made to a row of the consensus; its overlap counts rows with none."""

    NONE = "", gettext_lazy("Unchanged")
    ADDED = "added", gettext_lazy("Added")
    REMOVED = "removed", gettext_lazy("Removed")
    REVISED = "revised", gettext_lazy("Revised")


class PropositionQuerySet(models.QuerySet["Proposition"]):
    def gold_of(self, story: Story) -> PropositionQuerySet:
        return self.filter(table__story=story, table__kind=TableKind.GOLD, removed_at__isnull=True).order_by("position")

    def live_gold(self) -> PropositionQuerySet:
        return self.filter(table__kind=TableKind.GOLD, removed_at__isnull=True)


class Proposition(OpaqueModel):
    """One minimal statement held by one actor, in table order. Actor and belief are kept verbatim.

    A removed proposition keeps its votes and is left out of pages and exports. `imported_labels` holds the labels that
    came with an imported record, verbatim, until people vote: gold starts from them. `remarked` is true once the
    row has been through reconciliation.
    """

    table = models.ForeignKey(BeliefTable, models.CASCADE, related_name="propositions")
    position = models.PositiveIntegerField()
    actor = models.TextField()
    belief = models.TextField()
    order_text = models.CharField(max_length=40, blank=True)
    imported_labels = models.JSONField(null=True, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    remark = models.CharField(max_length=8, choices=Remark.choices, blank=True, default="")
    remark_text = models.TextField(blank=True)
    reviewed = models.BooleanField(default=False)
    removed_at = models.DateTimeField(null=True, blank=True)

    objects = PropositionQuerySet.as_manager()

    class Meta:
        ordering = ["table", "position"]
        constraints = [models.UniqueConstraint(fields=["table", "position"], name="one_proposition_a_position")]
        indexes = [models.Index(fields=["table", "remark"], condition=Q(reviewed=True), name="proposition_reviewed")]

    def __str__(self) -> str:
        return f"{self.actor}: {self.belief}"


class FlagKind(models.TextChoices):
    SPLIT = "split", gettext_lazy("Split it")
    MERGE = "merge", gettext_lazy("Merge it with another")
    REMOVE = "remove", gettext_lazy("Remove it")
    REWORD = "reword", gettext_lazy("Reword it")


class PropositionFlag(OpaqueModel):
    """An annotator's report that the proposition itself is wrong. `outcome` is empty until an expert or admin
    decides."""

    proposition = models.ForeignKey(Proposition, models.CASCADE, related_name="flags")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=FlagKind.choices)
    remark = models.TextField(max_length=2000)
    created_at = models.DateTimeField(auto_now_add=True)
    outcome = models.CharField(
        max_length=10,
        blank=True,
        choices=[("accepted", gettext_lazy("Accepted")), ("declined", gettext_lazy("Declined"))],
    )
    outcome_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    outcome_at = models.DateTimeField(null=True, blank=True)
    outcome_text = models.TextField(blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["proposition", "author", "kind"], condition=Q(outcome=""), name="one_open_flag_a_kind"
            )
        ]


class CellComment(OpaqueModel):
    """One message of the thread between an annotator (`thread_of`) and the experts about one cell.

    Threads are per annotator so that nobody reads another annotator's reasoning before voting.
    """

    proposition = models.ForeignKey(Proposition, models.CASCADE, related_name="comments")
    dimension = models.CharField(max_length=20)
    thread_of = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    text = models.TextField(max_length=4000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        indexes = [models.Index(fields=["proposition", "dimension", "thread_of"], name="comment_thread")]
