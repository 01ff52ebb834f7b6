"""What the scripts of the editor of a draft and of the lanes both need."""

from __future__ import annotations

from django.urls import reverse
from django.utils import timezone

from annotation.access import ProjectAccess
from annotation.domain.drafts import LONGEST
from annotation.domain.schema import orders_text
from annotation.domain.tables import likely_actors
from annotation.models import Story
from core.plain import Json


def script_settings(access: ProjectAccess, story: Story) -> Json:
    """Return whose rows they are, of which story, the clock, names to complete, and what a row may hold."""
    orders = access.project.schema.orders
    return {
        "annotator": access.user.pk,
        "story": story.uid,
        "now": timezone.now().isoformat(),
        "names": likely_actors(story.text),
        "orders": orders,
        "orders_told": orders_text(orders),
        "longest": LONGEST,
    }


def next_address(access: ProjectAccess, story: Story) -> str:
    """Return the address of the table that comes after this story's."""
    return f"{reverse('annotation:next_table', args=[access.project.slug])}?after={story.uid}"
