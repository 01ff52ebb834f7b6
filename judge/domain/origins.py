"""Origins of the tables of a study, as whoever draws them says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.plain import read_filled


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOrigin:
    """The origin of a study's tables: answers of the runs with these uids, to a suite by its name, on a version of a
    dataset and a `split` of it, empty for all; `noun` is what one table is of. A study can be of no run."""

    suite: str = ""
    dataset: int | None = None
    runs: Sequence[str] = ()
    split: str = ""
    noun: str = "story"

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> StudyOrigin:
        return read_filled(cls, kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOrigin:
    """The origin of one table: the answer of an entrant of a run, in the answer format `answer_format`, to a sample by
    its key."""

    suite: str
    run: str
    dataset: int
    item: int
    entrant: int
    sample: str
    answer_format: str
