"""Splits of stories, and withdrawn stories, which count nowhere and lose nothing."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext, gettext_lazy

from annotation.domain.assignment import draw_split, too_small
from annotation.models import Project, Split, User
from annotation.services import audit
from annotation.services.corpus_import import SLUG
from core.joints import listed, sentences


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


Numbers = Mapping[str, int] | None
LEFT_ALONE = gettext_lazy("Too small, and left as it was:")
SEEDS = range(2**31)
NO_SEED = gettext_lazy("The seed must be a whole number from 0 to 2147483647.")


@transaction.atomic
def make_split(
    *,
    by: User | None,
    project: Project,
    name: str,
    seed: int,
    rest: str,
    per_category: int = 0,
    numbers: Numbers = None,
) -> tuple[dict[str, int], list[str]]:
    """Set so many stories of each category apart as `name`, the others of those categories as `rest`.

    `numbers` has the categories that take part and how many stories of each; without it, `per_category` of every
    category. Returns how many stories each part got, and a sentence for each category that was left as it was, because
    it has fewer stories than were to be drawn. Raises ValueError, with a sentence, where every category is too small or
    one is unknown, or the names or the seed will not do.
    """
    if name == rest or not (SLUG.fullmatch(name) and SLUG.fullmatch(rest)) or max(len(name), len(rest)) > 40:
        raise ValueError(gettext("The names of the two parts must differ, and consist of letters, digits and hyphens."))
    if seed not in SEEDS:
        raise ValueError(NO_SEED)
    numbers_by_category = _numbers_by_category(project, per_category, numbers)
    stories: dict[str, list[int]] = defaultdict(list)
    rows = project.stories.in_use().filter(category__name__in=numbers_by_category).order_by()
    for category, number in rows.values_list("category__name", "number"):
        stories[category].append(number)
    small = too_small(stories, numbers_by_category)
    large = {name: stories[name] for name, number in numbers_by_category.items() if len(stories[name]) >= number}
    if not large:
        raise ValueError(sentences(*small) or gettext("{slug} has no stories to draw from.").format(slug=project.slug))
    drawn = draw_split(large, per_category=numbers_by_category, seed=seed)
    first, _ = Split.objects.update_or_create(project=project, name=name, defaults={"seed": seed})
    second, _ = Split.objects.update_or_create(project=project, name=rest, defaults={"seed": seed})
    rows.filter(category__name__in=large).update(split=second)
    project.stories.filter(number__in=drawn).update(split=first)
    counts = {name: len(drawn), rest: sum(map(len, large.values())) - len(drawn)}
    numbers_drawn = {category: numbers_by_category[category] for category in sorted(large)}
    audit.record(
        by=by, project=project, action="split.made", target=name, seed=seed, categories=numbers_drawn, **counts
    )
    return counts, small


def _numbers_by_category(project: Project, per_category: int, numbers: Numbers) -> dict[str, int]:
    """Return category → how many stories to draw. Raises ValueError for unknown categories and numbers below 1."""
    names = set(project.categories.values_list("name", flat=True))
    numbers_by_category = dict(numbers) if numbers is not None else dict.fromkeys(names, per_category)
    if unknown := sorted(set(numbers_by_category) - names):
        raise ValueError(gettext("{unknown}: the project has no such category.").format(unknown=listed(unknown)))
    if numbers is not None and not numbers_by_category:
        raise ValueError(gettext("Choose at least one category."))
    if (fewest := min(numbers_by_category.values(), default=1)) < 1:
        raise ValueError(gettext("{fewest} stories a category; expected at least 1.").format(fewest=fewest))
    return numbers_by_category


@transaction.atomic
def put_in_split(*, by: User | None, project: Project, stories: Sequence[int], name: str) -> int:
    """Put the chosen stories (ids) into the split `name`, made where missing; an empty name takes them out of theirs.

    Stories that are withdrawn are left. Returns how many were put. Raises ValueError where the name will not do.
    """
    if name and (not SLUG.fullmatch(name) or len(name) > 40):
        raise ValueError(gettext("The name of a split consists of letters, digits and hyphens."))
    split = Split.objects.get_or_create(project=project, name=name)[0] if name else None
    count = project.stories.in_use().filter(pk__in=stories).update(split=split)
    audit.record(by=by, project=project, action="split.changed", target=name, stories=count)
    return count
