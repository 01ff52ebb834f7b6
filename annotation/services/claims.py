"""Experts' claims on stories: whoever decides the cells of a story has it alone, for as long as they work."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from annotation.models import Claim, Project, Story, User

LEASE = timedelta(minutes=5)
"""Time that a claim holds after the expert last did something there."""


@transaction.atomic
def claim(*, by: User, project: Project, stories: Iterable[int], now: datetime) -> dict[int, Claim]:
    """Claim these stories, those of them that are free, and give back all other claims of the expert in the project.

    Returns, by the id of the story, the claims that other experts have on them.
    """
    story_ids = sorted(stories)
    Claim.objects.filter(expert=by, story__project=project).exclude(story__in=story_ids).delete()
    return _taken(by, story_ids, now)


@transaction.atomic
def renew(*, by: User, stories: Iterable[int], now: datetime) -> dict[int, Claim]:
    """Claim these stories for another while; other claims stay. Returns those of other experts, as `claim` does."""
    return _taken(by, sorted(stories), now)


def _taken(by: User, story_ids: list[int], now: datetime) -> dict[int, Claim]:
    if not story_ids:
        return {}
    until = now + LEASE
    rows = Claim.objects.filter(story__in=story_ids)
    expert_by_story = dict(rows.order_by("story_id").select_for_update().values_list("story_id", "expert"))
    missing = [Claim(story_id=story, expert=by, until=until) for story in story_ids if story not in expert_by_story]
    Claim.objects.bulk_create(missing, ignore_conflicts=True)
    rows.take(by, until, now)
    return {row.story_id: row for row in rows.exclude(expert=by).select_related("expert")}


def keep_up(*, by: User, story: Story, now: datetime) -> None:
    """Renew the expert's claim on a story where half of its time is over, or make one; another's stays as it is."""
    lasting = Claim.objects.filter(story=story, expert=by, until__gt=now + LEASE / 2)
    if not lasting.exists():
        renew(by=by, stories=[story.pk], now=now)


def holder(*, story: Story, by: User, now: datetime) -> Claim | None:
    """Return the claim that another expert has on the story."""
    return Claim.objects.in_force(now).filter(story=story).exclude(expert=by).select_related("expert").first()
