"""Votes by the hundred thousand: what they are written with, and that it is the same however they are divided."""

from __future__ import annotations

import io
import random
from datetime import UTC, datetime

import pytest
from django.db import connection

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import AnnotatorCounts, GoldEvent, GoldLabel, Proposition, StoryCounts, Vote, VoteEvent
from annotation.services import short_writes, vote_import

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 10, 20, 12, 0, tzinfo=UTC)
HEAD = "story_id,actor,belief,dimension,annotator,label,created_at"
WRITTEN = (Vote, VoteEvent, GoldLabel, GoldEvent)


def _file(stories: int) -> io.BytesIO:
    """Votes of three annotators on two rows of each story, in no order."""
    drawn = random.Random(2)

    def moment() -> str:
        return f"2026-10-0{drawn.randint(1, 9)}T09:00:00Z"

    lines = [
        f"{number},Ines,{belief},{dimension.key},{name},{drawn.choice(dimension.values[:2])},{moment()}"
        for number in range(1, stories + 1)
        for belief in ("The key is in the bag", "It rains")
        for dimension in DEFAULT_SCHEMA.dimensions
        for name in ("ada", "bruno", "chidi")
    ]
    drawn.shuffle(lines)
    return io.BytesIO("\n".join([HEAD, *lines, ""]).encode())


def _rows(project) -> dict[str, list]:
    """Return what the votes of a project left in the database, without what differs from project to project."""
    place = {pk: at for at, pk in enumerate(Proposition.objects.order_by("id").values_list("id", flat=True))}
    story = dict(project.stories.values_list("id", "number"))

    def plain(row: dict) -> tuple:
        return tuple(
            place[value] if name == "proposition_id" else story[value] if name == "story_id" else str(value)
            for name, value in row.items() if name not in ("id", "version")
        )  # fmt: skip

    kept = (*WRITTEN, StoryCounts, AnnotatorCounts)
    return {model.__name__: sorted(map(plain, model.objects.values())) for model in kept}


def test_the_rows_of_an_import_do_not_depend_on_the_size_of_its_transactions(cast, make_story, monkeypatch):
    for number in range(1, 5):
        make_story(number, rows=[("Ines", "The key is in the bag"), ("Ines", "It rains")])
    found = []
    for most in (7, 2_000, 11):
        for name in ("MOST_ROWS", "_FIRST_ROWS", "_LEAST_ROWS"):
            monkeypatch.setattr(short_writes, name, most)
        result = vote_import.import_votes(by=None, project=cast.project, handle=_file(4), file="votes.csv", now=NOW)
        assert (result.problems.total, result.votes) == (0, result.created + result.unchanged)
        found.append((result.as_dict(), _rows(cast.project)))
        _forget_votes()
    assert found[0] == found[1] == found[2]
    assert min(map(len, found[0][1].values())) >= 4


def _forget_votes() -> None:
    with connection.cursor() as cursor:
        for model in WRITTEN:
            cursor.execute(f"DELETE FROM {model._meta.db_table}")
