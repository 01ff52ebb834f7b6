from __future__ import annotations

from collections import defaultdict

from django.db import transaction

from annotation.domain.splits import draw_split
from annotation.models import Project, Split, Story, User
from annotation.services import audit


@transaction.atomic
def make_split(
    *, by: User | None, project: Project, name: str, per_category: int, seed: int, rest: str, categories=()
) -> dict[str, int]:
    """Sets `per_category` stories a category apart as `name`, the others of those categories as `rest`.

    Returns how many stories each holds. Raises ValueError, with a sentence, where a category is too small or unknown.
    """
    rows = project.stories.select_related("category")
    if categories:
        known = set(project.categories.values_list("name", flat=True))
        if unknown := sorted(set(categories) - known):
            raise ValueError(f"{', '.join(unknown)}: the project has no such category.")
        rows = rows.filter(category__name__in=categories)
    numbers: dict[str, list[int]] = defaultdict(list)
    for category, number in rows.values_list("category__name", "number"):
        numbers[category].append(number)
    drawn = draw_split(numbers, per_category=per_category, seed=seed)
    first, _ = Split.objects.update_or_create(project=project, name=name, defaults={"seed": seed})
    second, _ = Split.objects.update_or_create(project=project, name=rest, defaults={"seed": seed})
    Story.objects.filter(pk__in=rows.values("pk")).update(split=second)
    Story.objects.filter(project=project, number__in=drawn).update(split=first)
    counts = {name: len(drawn), rest: sum(map(len, numbers.values())) - len(drawn)}
    audit.record(by=by, project=project, action="split.made", target=name, seed=seed, **counts)
    return counts
