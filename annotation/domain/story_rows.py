"""One story as a file of any format holds it."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.digests import text_digest

MAX_STORY_LENGTH = 200_000
MAX_CATEGORY_LENGTH = 120
MAX_SPLIT_LENGTH = 40
MAX_NUMBER = 2**63 - 1


@dataclass(slots=True)
class PropositionRow:
    """`layout` is described in `records`; `labels` is None where the record has none."""

    actor: str
    belief: str
    labels: dict[str, str] | None = None
    layout: str = ""


@dataclass(slots=True)
class StoryRow:
    """`number` is None where the file has none. `line` is where it was first seen.

    `fingerprint` and `layout` are those of its record (see `records`).
    """

    file: str
    line: int
    category: str
    text: str
    number: int | None = None
    language: str = "en"
    translations: dict[str, str] = field(default_factory=dict)
    propositions: list[PropositionRow] | None = None
    fingerprint: str = ""
    layout: str = ""

    @property
    def digest(self) -> str:
        return text_digest(self.text)
