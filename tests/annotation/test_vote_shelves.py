"""Rows of a file come back story by story, however many they are and however they were mixed."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from annotation.domain.votes_csv import VoteRow
from annotation.services import vote_shelves
from annotation.services.vote_shelves import Shelves

pytestmark = pytest.mark.once


def _row(line: int, story: int) -> VoteRow:
    moment = datetime(2026, 3, 2, 9, 0, line % 60, tzinfo=UTC)
    return VoteRow(line, story, "Ines", "It rains", "order", "bob", "1", 1, moment if line % 2 else None)


def test_rows_come_back_by_stories_each_in_the_order_of_the_file(monkeypatch):
    monkeypatch.setattr(vote_shelves, "_LEAST_STORIES", 3)
    monkeypatch.setattr(vote_shelves, "_BUFFERED", 4)
    monkeypatch.setattr(vote_shelves, "_IN_MEMORY", 500)  # some go to the disk
    numbers = [5, 2, 9, 1, 7]
    rows = [_row(line, random.Random(line).choice(numbers)) for line in range(200)]
    with Shelves(numbers) as shelves:
        for row in rows:
            shelves.put(row)
        parts = [(list(stories), part) for stories, part in shelves.each()]
    assert [stories for stories, _ in parts] == [[5, 2, 9], [1, 7]]
    assert [part for _, part in parts] == [[row for row in rows if row.story in stories] for stories, _ in parts]


def test_rows_of_a_story_that_is_not_there_come_with_the_first():
    with Shelves([]) as shelves:
        shelves.put(_row(2, 8))
        assert [(list(stories), [row.line for row in rows]) for stories, rows in shelves.each()] == [([], [2])]


def test_a_shelf_holds_more_stories_where_there_are_very_many():
    with Shelves(range(100_000)) as shelves:
        assert len(shelves._files) == 256
