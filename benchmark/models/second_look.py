from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models

from annotation.models import Proposition


class SecondLookQuerySet(models.QuerySet["SecondLook"]):
    def standing(self) -> SecondLookQuerySet:
        return self.filter(withdrawn_at=None)

    # --- transitions ---

    def withdraw(self, look: SecondLook, now: datetime) -> int:
        """Take a look back; 0 where it was taken back before."""
        return self.filter(pk=look.pk, withdrawn_at=None).update(withdrawn_at=now)

    def give_reason(self, look: SecondLook, reason: str) -> int:
        """Give a look that stands another reason."""
        return self.filter(pk=look.pk, withdrawn_at=None).update(reason=reason)


class SecondLook(models.Model):
    """Opinion of an expert on a doubtful gold cell, without having seen what models said of it.

    `gold` is the label that stood when the expert looked, and `label` the one that the expert gave: gold stands where
    they are the same, and else the expert's adjudication changed it. `proposed` is what models of the `families` said
    against gold: the evidence that the look answers. `withdrawn_at` is when the expert took it back, null while it
    stands.
    """

    proposition = models.ForeignKey(Proposition, models.CASCADE, related_name="+")
    dimension = models.CharField(max_length=20)
    gold = models.CharField(max_length=80)
    label = models.CharField(max_length=80)
    proposed = models.CharField(max_length=80)
    families = models.JSONField(default=list)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = SecondLookQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["proposition", "dimension"], name="second_look_of_cell")]

    def __str__(self) -> str:
        return f"{self.proposition_id} {self.dimension}: {self.label}"

    @property
    def stands(self) -> bool:
        """Return whether the expert gave the label that gold had."""
        return self.label == self.gold

    def answers(self, gold: str, proposed: str, families: tuple[str, ...]) -> bool:
        """Return whether the look answers this doubt: the same label of gold, against which no model says another
        label, and no further family says the same."""
        return (self.label, self.proposed) == (gold, proposed) and set(families) <= set(self.families)
