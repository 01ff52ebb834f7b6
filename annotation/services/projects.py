"""Projects, their settings and guidelines."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy

from annotation.domain.resolution import Outcome, resolve
from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA, schema_details
from annotation.models import GoldLabel, Guideline, Membership, Method, Project, Proposition, Role, User, Vote
from annotation.services import audit
from annotation.services.gold import resolve_cells

RULES = ("overlap", "unanimity_dimensions")
_BATCH = 500


SLUG_TAKEN = gettext_lazy("A project of this short name already exists; another short name is expected.")


class SlugTaken(ValueError):
    """The short name is in use; the message is one sentence for the person who chose it."""


@transaction.atomic
def create_project(*, by: User, slug: str, name: str, description: str = "", schema: Schema | None = None) -> Project:
    """Make a project with `by` as its admin, which labels by `schema`, else by the default one. Raises SlugTaken."""
    schema = schema or DEFAULT_SCHEMA
    chosen = {"schema_name": schema.name, "schema_version": schema.version}
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name, description=description, **chosen)
    except IntegrityError as error:  # someone else took it after it was checked
        raise SlugTaken(SLUG_TAKEN) from error
    Membership.objects.create(project=project, user=by, role=Role.ADMIN)
    audit.record(by=by, project=project, action="project.created", target=slug, **schema_details(schema))
    return project


@transaction.atomic
def change_settings(*, by: User | None, project: Project, changes: dict[str, Any], now: datetime) -> list[str]:
    """Write the fields that differ, with one audit row, and settle every cell anew where a rule changed.

    Returns the names of the fields that changed.
    """
    project.refresh_from_db(from_queryset=Project.objects.select_for_update(no_key=True))
    before = {name: getattr(project, name) for name, value in changes.items() if getattr(project, name) != value}
    if not before:
        return []
    for name in before:
        setattr(project, name, changes[name])
    project.save(update_fields=list(before))
    after = {name: changes[name] for name in before}
    audit.record(by=by, project=project, action="project.changed", target=project.slug, before=before, after=after)
    if set(before) & set(RULES):
        resolve_again(project=project, now=now, by=by)
    return list(before)


def resolve_again(*, project: Project, now: datetime, by: User | None = None) -> None:
    """Apply the project's rule to all cells that have votes; adjudicated labels stand."""
    for batch in _batches(project):
        # Locked in the order in which savers lock, as everybody does who writes gold.
        list(Proposition.objects.filter(pk__in=batch).order_by("id").select_for_update().values_list("pk"))
        cells = Vote.objects.filter(proposition_id__in=batch).values_list("proposition_id", "dimension").distinct()
        resolve_cells(project=project, cells=cells, now=now, by=by)


def _batches(project: Project) -> Iterator[list[int]]:
    """Yield the ids of all propositions in the gold tables, some hundreds at a time."""
    rows = Proposition.objects.live_gold().filter(table__story__project=project).order_by("id")
    ids = list(rows.values_list("id", flat=True))
    return (ids[at : at + _BATCH] for at in range(0, len(ids), _BATCH))


def foresee(*, project: Project, changes: dict[str, Any]) -> dict[str, int]:
    """Return how many `cells` `change_settings` would change, of which it would have so many `settled`, `opened` for an
    expert, and `waiting` for votes. Writes nothing; asks the database nothing where no rule changes."""
    changed: Counter[Outcome] = Counter()
    overlap, demanding = (changes.get(name, getattr(project, name)) for name in RULES)
    if (overlap, set(demanding)) == (project.overlap, set(project.unanimity_dimensions)):
        return {"cells": 0, "settled": 0, "opened": 0, "waiting": 0}
    for batch in _batches(project):
        gold = GoldLabel.objects.filter(proposition__in=batch)
        methods = {(pk, key): method for pk, key, method in gold.values_list("proposition_id", "dimension", "method")}
        votes: dict[tuple[int, str], list[str]] = defaultdict(list)
        cast = Vote.objects.cast().filter(proposition__in=batch)
        for pk, key, label in cast.values_list("proposition_id", "dimension", "label"):
            votes[pk, key].append(label)
        for cell, labels in votes.items():
            unanimity = cell[1] in demanding
            after = resolve(labels, rule=project.rule_version, overlap=overlap, demand_unanimity=unanimity).outcome
            before = methods.get(cell, Outcome.PENDING)
            if before not in (Method.ADJUDICATED, after):
                changed[after] += 1
    settled = changed[Outcome.UNANIMOUS] + changed[Outcome.MAJORITY]
    numbers = {"settled": settled, "opened": changed[Outcome.OPEN], "waiting": changed[Outcome.PENDING]}
    return {"cells": sum(numbers.values())} | numbers


@transaction.atomic
def write_guideline(
    *, by: User | None, project: Project, dimension: str, text: str | None = None, text_zh: str | None = None
) -> None:
    """Set what the project adds to a dimension, in English and in Chinese; a text that is not given stays."""
    guideline, _ = Guideline.objects.select_for_update().get_or_create(project=project, dimension=dimension)
    for name, after in (("text", text), ("text_zh", text_zh)):
        before = getattr(guideline, name)
        if after is not None and before != after:
            audit.record(
                by=by, project=project, action="guideline.changed", target=dimension, before=before, after=after
            )
            setattr(guideline, name, after)
    guideline.save()
