from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db import transaction

from annotation.domain.splits import draw_split
from annotation.models import Project, Split, Story, User
from annotation.services import audit
from annotation.services.corpus_import import SLUG

SEEDS = range(2**31)
NO_SEED = f"The seed must be a whole number from 0 to {SEEDS[-1]}."


@transaction.atomic
def make_split(
    *, by: User | None, project: Project, name: str, per_category: int, seed: int, rest: str, categories=()
) -> dict[str, int]:
    """Set `per_category` stories a category apart as `name`, the others of those categories as `rest`.

    Returns how many stories each holds. Raises ValueError, with a sentence, where a category is too small or unknown,
    or the names or the seed will not do.
    """
    if name == rest or not (SLUG.fullmatch(name) and SLUG.fullmatch(rest)) or max(len(name), len(rest)) > 40:
        raise ValueError("The names of the two parts must differ, and consist of letters, digits and hyphens.")
    if seed not in SEEDS:
        raise ValueError(NO_SEED)
    if per_category < 1:
        raise ValueError(f"{per_category} stories a category; expected at least 1.")
    rows = project.stories.select_related("category")
    if categories:
        category_names = set(project.categories.values_list("name", flat=True))
        if unknown := sorted(set(categories) - category_names):
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


@transaction.atomic
def put_in_split(*, by: User, project: Project, stories: Sequence[int], name: str) -> int:
    """Put the chosen stories (ids) into the split `name`, made where missing; an empty name takes them out of theirs.

    Returns how many. Raises ValueError where the name will not do.
    """
    if name and (not SLUG.fullmatch(name) or len(name) > 40):
        raise ValueError("The name of a split consists of letters, digits and hyphens.")
    split = Split.objects.get_or_create(project=project, name=name)[0] if name else None
    count = project.stories.filter(pk__in=stories).update(split=split)
    audit.record(by=by, project=project, action="split.changed", target=name, stories=count)
    return count
