"""Labelling requests of pre-filling: the propositions of a story, a worked example and the label counts of the sample
corpus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache

from annotation.domain.labelling import Example, labelling_request
from annotation.domain.sample_corpus import SCHEMA, sample_records
from annotation.domain.schema import Schema
from annotation.domain.tasks import Row
from annotation.models import Proposition, Story
from workers.providers.contract import Request

EXAMPLE_ROWS = 5


def rows_by_story(stories: Collection[Story]) -> dict[int, list[Proposition]]:
    """Return by story id the live propositions of the gold table, in table order."""
    rows: dict[int, list[Proposition]] = defaultdict(list)
    live = Proposition.objects.live_gold().filter(table__story__in=[story.pk for story in stories])
    for row in live.select_related("table").order_by("position"):
        rows[row.table.story_id].append(row)
    return rows


def numbered(rows: Sequence[Proposition]) -> list[Row]:
    """Return the propositions as rows numbered from 1."""
    return [Row(at, row.actor, row.belief) for at, row in enumerate(rows, 1)]


def story_request(story: Story, rows: Sequence[Proposition], schema: Schema, level: int, counts, room: int) -> Request:
    """Return the request for the labels of one story; `room` is the number of tokens for reasoning."""
    category = story.category.name
    example = example_of(category, schema, story.text) if level == 4 else None
    return labelling_request(
        story=story.text,
        category=category,
        rows=numbered(rows),
        schema=schema,
        level=level,
        example=example,
        counts=counts,
        reasoning_tokens=room,
    )


@lru_cache(64)
def example_of(category: str, schema: Schema, not_this: str) -> Example | None:
    """Return a worked example from the sample corpus, of the same category and never the story that is asked about.
    None for a schema that the sample is not labelled by."""
    if schema != SCHEMA:
        return None
    for record in sample_records():
        if record.story_category == category and record.story != not_this:
            chosen = enumerate(record.beliefs[:EXAMPLE_ROWS], 1)
            return Example(
                record.story, tuple((Row(at, belief.actor, belief.belief), belief.labels) for at, belief in chosen)
            )
    return None


@lru_cache(8)
def sample_counts(schema: Schema) -> dict[str, dict[str, int]]:
    """Return how often each label occurs in the sample corpus, for the majority baseline. Empty for a schema that the
    sample is not labelled by."""
    if schema != SCHEMA:
        return {}
    counts: dict[str, dict[str, int]] = {key: defaultdict(int) for key in schema.keys}
    for record in sample_records():
        for belief in record.beliefs:
            for key, label in belief.labels.items():
                counts[key][label] += 1
    return {key: dict(by_label) for key, by_label in counts.items()}
