"""Votes by the hundred thousand: what they are written with, and that it is the same however they are divided."""

from __future__ import annotations

import io
import random
from datetime import UTC, datetime

import pytest
from django.db import connection

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import (
    AnnotatorCounts,
    Category,
    ChangedProposition,
    GoldEvent,
    GoldLabel,
    Proposition,
    StoryCounts,
    Vote,
    VoteEvent,
)
from annotation.services import short_writes, vote_import
from core import bulk

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
            for name, value in row.items() if name not in ("id", "revision")
        )  # fmt: skip

    kept = (*WRITTEN, StoryCounts, AnnotatorCounts)
    return {model.__name__: sorted(map(plain, model.objects.values())) for model in kept}


def test_the_rows_of_an_import_do_not_depend_on_how_many_go_into_a_statement_or_a_transaction(
    cast, make_story, monkeypatch
):
    for number in range(1, 5):
        make_story(number, rows=[("Ines", "The key is in the bag"), ("Ines", "It rains")])
    found = []
    for values, most in ((1, 7), (400, 2_000), (37, 11)):
        monkeypatch.setattr(bulk, "_VALUES", values)
        for name in ("MOST_ROWS", "_FIRST_ROWS", "_LEAST_ROWS"):
            monkeypatch.setattr(short_writes, name, most)
        result = vote_import.import_votes(by=None, project=cast.project, handle=_file(4), file="votes.csv", now=NOW)
        assert (result.problems.total, result.votes) == (0, result.created + result.unchanged)
        assert not ChangedProposition.objects.exists()
        found.append((result.as_dict(), _rows(cast.project)))
        _forget_votes()
    assert found[0] == found[1] == found[2]
    assert min(map(len, found[0][1].values())) >= 4


def _forget_votes() -> None:
    with connection.cursor() as cursor:
        for model in WRITTEN:
            cursor.execute(f"DELETE FROM {model._meta.db_table}")


@pytest.mark.parametrize("rows", [0, 1, 199, 200, 201, 400, 601])
def test_every_row_is_written_whatever_their_number(cast, rows):
    # 400 values a statement and 2 a row: 200 rows
    names = [f"C{at}" for at in range(rows)]
    before = Category.objects.count()
    bulk.insert_rows(Category, ("project_id", "name"), ([cast.project.pk, name] for name in names))
    assert list(Category.objects.order_by("id").values_list("name", flat=True))[before:] == names


def test_no_index_of_votes_and_gold_begins_another_one():
    """Each is written with every vote; SQLite and PostgreSQL look for the first columns of an index as well."""
    for model in WRITTEN:
        table = model._meta.db_table
        with connection.cursor() as cursor:
            found = connection.introspection.get_constraints(cursor, table)
        whole = {
            name: tuple(about["columns"])
            for name, about in found.items()
            if (about["index"] or about["unique"]) and len(about["columns"]) and name not in _partial(table)
        }
        begun = {
            (name, other)
            for name, columns in whole.items()
            for other, longer in whole.items()
            if name != other and longer[: len(columns)] == columns
        }
        assert not begun
        for field in model._meta.concrete_fields:
            if field.is_relation:
                assert any(columns[0] == field.column for columns in whole.values()), (table, field.column)


def _partial(table: str) -> set[str]:
    """Return the indexes of only some rows, which find nothing among all."""
    question = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s"
    if connection.vendor != "postgresql":
        question = "SELECT name, coalesce(sql, '') FROM sqlite_master WHERE type = 'index' AND tbl_name = %s"
    with connection.cursor() as cursor:
        cursor.execute(question, [table])
        return {name for name, sql in cursor.fetchall() if " WHERE " in sql}
