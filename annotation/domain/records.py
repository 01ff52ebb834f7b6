"""The record format field for field: what is needed to write an imported record again exactly as it was.

Format: OmniToM, appendix B.5. `story_id`, `story_category`, `story`, `beliefs`; a belief is `actor`, `belief`,
`labels`. A *layout* is the JSON text of a record or belief with null in the place of these fields. It keeps foreign
fields, the order of keys and absent labels; as text, because PostgreSQL's jsonb forgets the order of keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.digests import json_digest
from core.plain import Json

RECORD_FIELDS = ("story_id", "story_category", "story", "beliefs")
BELIEF_FIELDS = ("actor", "belief", "labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """A proposition with its labels by dimension; `keys` are the dimensions of its project, `layout` that with which it
    was imported."""

    actor: str
    belief: str
    labels: Mapping[str, str]
    keys: Sequence[str]
    layout: str = ""

    @property
    def is_labelled(self) -> bool:
        """True where it has a label of each dimension."""
        return all(self.labels.get(key) for key in self.keys)

    def as_json(self) -> Json:
        """Return it with the labels that its layout names, in its order, then those that it lacked and that have
        one."""
        if not self.layout:
            return {"actor": self.actor, "belief": self.belief, "labels": self._filled(self.keys)}
        hollow: Json = json.loads(self.layout)
        named = hollow.get("labels") or {}
        added = {key: self.labels[key] for key in self.keys if key not in named and self.labels.get(key)}
        labels = self._filled(named) | added
        document = hollow | {"actor": self.actor, "belief": self.belief}
        return document | {"labels": labels} if labels or "labels" in hollow else document

    def _filled(self, keys: Iterable[str]) -> dict[str, str]:
        return {key: self.labels.get(key, "") for key in keys}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A story with its gold; `layout` is that with which it was imported."""

    story_id: int
    story_category: str
    story: str
    beliefs: Sequence[Belief] = ()
    layout: str = ""

    @classmethod
    def from_json(cls, kept: Json) -> Record:
        """Return a record that has RECORD_FIELDS alone, or these without `beliefs`."""
        beliefs = (
            Belief(actor=row["actor"], belief=row["belief"], labels=row["labels"], keys=tuple(row["labels"]))
            for row in kept.get("beliefs", ())
        )
        return cls(
            story_id=kept["story_id"],
            story_category=kept["story_category"],
            story=kept["story"],
            beliefs=tuple(beliefs),
        )

    def as_json(self) -> Json:
        """Return it with what else it was imported with, each field in its place."""
        values = {
            "story_id": self.story_id,
            "story_category": self.story_category,
            "story": self.story,
            "beliefs": [belief.as_json() for belief in self.beliefs],
        }
        if not self.layout:
            return values
        return {name: values.get(name, foreign) for name, foreign in json.loads(self.layout).items()}


def record_layout(record: Mapping[str, object]) -> str:
    """Return the layout of a record, empty where the record has RECORD_FIELDS alone, in order."""
    return "" if tuple(record) == RECORD_FIELDS else _hollow(record, RECORD_FIELDS)


def belief_layout(belief: Mapping[str, object], labels: Mapping[str, str] | None, keys: Sequence[str]) -> str:
    """Return the layout of a belief with these `labels`, empty where it has its three fields and the labels `keys` in
    order."""
    if labels is None:
        return _hollow(belief, ("actor", "belief"))
    if tuple(belief) == BELIEF_FIELDS and tuple(labels) == tuple(keys):
        return ""
    return _hollow({**belief, "labels": dict.fromkeys(labels)}, ("actor", "belief"))


def _hollow(values: Mapping[str, object], fields: Sequence[str]) -> str:
    return json.dumps({name: None if name in fields else value for name, value in values.items()}, ensure_ascii=False)


def fingerprint(record: Mapping[str, object]) -> str:
    """SHA-256 of the record's content; the order of keys does not count."""
    return json_digest(record, sort_keys=True, ensure_ascii=False)
