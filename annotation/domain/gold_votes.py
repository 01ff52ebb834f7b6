"""The votes that a gold label rests on: as the code passes them about, and as JSON beside the label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from core.plain import Json


class GoldVote(NamedTuple):
    """A standing vote of a cell: `annotator` is the id of who cast it, `key` the idempotency key of the change."""

    annotator: int
    label: str
    key: str


def as_json(votes: Iterable[GoldVote]) -> list[Json]:
    """Return votes as a column keeps them."""
    return [{"annotator": annotator, "label": label, "key": key} for annotator, label, key in votes]


def from_json(rows: Iterable[Json]) -> list[GoldVote]:
    """Return the votes that a column keeps."""
    return [GoldVote(row["annotator"], row["label"], row["key"]) for row in rows]
