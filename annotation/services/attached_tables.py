"""Tables of files for stories that are in a project without one, found by their text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Exists, Max, OuterRef
from django.utils.translation import gettext

from annotation.domain.story_rows import StoryRow
from annotation.models import BeliefTable, Project, Proposition, Story, TableKind
from annotation.services.new_stories import insert_propositions
from core.joints import listed

_MARK = "table_fingerprint"
"""Part of its record that the story of a table which came later keeps, in `extra`: the same record again
changes nothing."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A story of the project with the text of a record."""

    pk: int
    number: int
    category: str
    is_bare: bool
    is_written: bool
    fingerprints: tuple[str, str]


def candidates_for(project: Project, rows: Sequence[StoryRow]) -> dict[str, list[Candidate]]:
    """Return the digest of each record that brings a table → the project's stories with that text, locked where this
    is a transaction."""
    digests = {row.digest for row in rows if row.propositions}
    if not digests:
        return {}
    stories = Story.objects.filter(project=project, digest__in=digests).select_related("category").order_by("number")
    if connection.in_atomic_block:
        stories = stories.select_for_update(of=("self",))
    stories = stories.defer("text", "translations").annotate(
        settled=Exists(Proposition.objects.live_gold().filter(table__story=OuterRef("pk"))),
        written=Exists(BeliefTable.objects.drafts().filter(story=OuterRef("pk"))),
    )
    candidates: dict[str, list[Candidate]] = {}
    for story in stories:
        fingerprints = story.extra.get("fingerprint", ""), story.extra.get(_MARK, "")
        fields = (story.pk, story.number, story.category.name, not story.settled, story.written, fingerprints)
        candidates.setdefault(story.digest, []).append(Candidate(*fields))
    return candidates


class Ambiguous(ValueError):
    """A table that goes to no story; the message is one sentence."""


def story_for(row: StoryRow, candidates: Collection[Candidate]) -> Candidate | None:
    """Return the story that takes the record's table: the bare one with its text, of several the one with its number or
    its category. None where no bare story has this text, or the record is here already. Raises Ambiguous."""
    if any(row.fingerprint in candidate.fingerprints for candidate in candidates):
        return None
    bare = [candidate for candidate in candidates if candidate.is_bare]
    same = [candidate for candidate in bare if candidate.number == row.number] or [
        candidate for candidate in bare if candidate.category == row.category
    ]
    chosen = same if len(same) == 1 else bare
    if len(chosen) > 1:
        numbers = listed(candidate.number for candidate in chosen)
        raise Ambiguous(
            gettext("Stories {numbers} have this text and no table; the table of story {number} fits each.").format(
                numbers=numbers, number=row.number
            )
        )
    if chosen and chosen[0].is_written:
        raise Ambiguous(
            gettext("Experts are writing the table of story {number}; release them first.").format(
                number=chosen[0].number
            )
        )
    return chosen[0] if chosen else None


def attach(tables: Sequence[tuple[int, StoryRow]]) -> None:
    """Write each record's rows as the gold table of the story with that id, within a transaction of the caller's."""
    stories = Story.objects.in_bulk([pk for pk, _ in tables])
    for pk, row in tables:
        table, _ = BeliefTable.objects.get_or_create(story_id=pk, kind=TableKind.GOLD)
        last = table.propositions.aggregate(Max("position"))["position__max"] or 0
        insert_propositions((table, last + at, proposition) for at, proposition in enumerate(row.propositions or (), 1))
        stories[pk].extra = {**stories[pk].extra, _MARK: row.fingerprint}
    Story.objects.bulk_update(stories.values(), ["extra"], batch_size=200)
