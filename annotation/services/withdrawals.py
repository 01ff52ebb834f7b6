"""Stories that take part in nothing, without losing what they have."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from annotation.models import Project, User
from annotation.services import audit


@transaction.atomic
def withdraw(
    *, by: User | None, project: Project, now: datetime, stories: Collection[int] = (), category: str = ""
) -> int:
    """Withdraw these stories (ids), or a whole category; returns how many were in use. Their tables, votes, gold and
    assignments stay as they are."""
    return _change(by, project, stories, category, now)


@transaction.atomic
def take_back(*, by: User | None, project: Project, stories: Collection[int] = (), category: str = "") -> int:
    """Take these stories (ids), or a whole category, into use again; returns how many were withdrawn."""
    return _change(by, project, stories, category, None)


def _change(by: User | None, project: Project, stories: Collection[int], category: str, set_at: datetime | None) -> int:
    rows = project.stories.in_category(category) if category else project.stories.filter(pk__in=list(stories))
    numbers = list(
        rows.filter(withdrawn_at__isnull=set_at is not None).order_by("number").values_list("number", flat=True)
    )
    project.stories.filter(number__in=numbers).update(withdrawn_at=set_at)
    if numbers:
        action = "stories.withdrawn" if set_at else "stories.taken_back"
        target = category or ", ".join(map(str, numbers))
        audit.record(by=by, project=project, action=action, target=target, stories=len(numbers), numbers=numbers)
    return len(numbers)
