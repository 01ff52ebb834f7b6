from __future__ import annotations

from django.db import models


class IdempotencyRecord(models.Model):
    """One press of a button that makes something, and what came of it. Kept for a day, so that the press repeated makes
    nothing.

    `key` is a digest of who pressed, where, and the one-time key of the page or the request; `content` of what was
    sent, where a different content under the same key is refused. `outcome` finds what was made; no secret is in it.
    """

    key = models.CharField(max_length=64, unique=True)
    content = models.CharField(max_length=64, blank=True)
    outcome = models.CharField(max_length=500, blank=True)
    made_at = models.DateTimeField(db_index=True)

    class Meta:
        abstract = True
