"""Experts' claims on stories: whoever decides the cells of a story has it alone, for as long as they work."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from annotation.models import Claim, Project, Story, User

LEASE = timedelta(minutes=5)
"""Time that a claim holds after the expert last did something there."""


@transaction.atomic
def claim(*, by: User, stories: Iterable[int], now: datetime, gives_back: Project | None = None) -> dict[int, Claim]:
    """Claim those of the stories that are free, and give back the expert's other claims in the project `gives_back`.

    Returns, by the id of the story, the claims that other experts have on them.
    """
    story_ids, until = sorted(stories), now + LEASE
    if gives_back is not None:
        Claim.objects.filter(expert=by, story__project=gives_back).exclude(story__in=story_ids).delete()
    if not story_ids:
        return {}
    rows = Claim.objects.filter(story__in=story_ids)
    claimed = set(rows.order_by("story_id").select_for_update().values_list("story_id", flat=True))
    missing = [Claim(story_id=story, expert=by, until=until) for story in story_ids if story not in claimed]
    Claim.objects.bulk_create(missing, ignore_conflicts=True)
    rows.take(by, until, now)
    return {row.story_id: row for row in rows.exclude(expert=by).select_related("expert")}


def keep_up(*, by: User, story: Story, now: datetime) -> None:
    """Renew the expert's claim on a story where half of its time is over, or make one; another's stays as it is."""
    if not Claim.objects.filter(story=story, expert=by, until__gt=now + LEASE / 2).exists():
        claim(by=by, stories=[story.pk], now=now)


def holder(*, story: Story, by: User, now: datetime) -> Claim | None:
    """Return the claim that another expert has on the story."""
    return Claim.objects.in_force(now).filter(story=story).exclude(expert=by).select_related("expert").first()
