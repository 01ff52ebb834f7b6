from __future__ import annotations

from collections.abc import Sequence

from django.db import models
from django.db.models import F, Q

from benchmark.models.run import Run
from core.messages import Sentence


class RunPreparation(models.Model):
    """A run whose items are still being made: about the first `done` of its `of` samples they are there.

    Of an imported run they are answers, and there are no `samples` (benchmark/services/made_elsewhere/taking.py). Else
    `samples` are the positions of its samples in the dataset as [first, last] of each stretch. Where it `looks`, the
    run is under a control that asks only about those samples that it changes, `kept` of them so far; where it
    `extends`, the run had items before, and those that it lacks are made. The row goes when
    all items are there; of a run that was cancelled before, it stays (benchmark/services/preparing.py).
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

    @property
    def positions(self) -> list[int]:
        """The positions of all samples, in the order of the dataset."""
        return [position for first, last in self.samples for position in range(first, last + 1)]


def stretches_of(positions: Sequence[int]) -> list[list[int]]:
    """Return sorted positions as [first, last] of each stretch without a gap."""
    stretches: list[list[int]] = []
    for position in positions:
        if stretches and stretches[-1][1] + 1 == position:
            stretches[-1][1] = position
        else:
            stretches.append([position, position])
    return stretches
