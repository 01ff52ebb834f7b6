"""The record format field for field: what is needed to write an imported record again exactly as it was.

Format: OmniToM, appendix B.5. `story_id`, `story_category`, `story`, `beliefs`; a belief is `actor`, `belief`,
`labels`. A *layout* is the JSON text of a record or belief with null in the place of these fields. It keeps foreign
fields, the order of keys and absent labels; as text, because PostgreSQL's jsonb forgets the order of keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

RECORD_FIELDS = ("story_id", "story_category", "story", "beliefs")
BELIEF_FIELDS = ("actor", "belief", "labels")


def record_layout(record: Mapping[str, Any]) -> str:
    """Return the layout of a record, empty where the record has RECORD_FIELDS alone, in order."""
    return "" if tuple(record) == RECORD_FIELDS else _hollow(record, RECORD_FIELDS)


def belief_layout(belief: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the layout of a belief, empty where it has its three fields and the labels `keys` in order."""
    labels: Mapping[str, str] | None = belief.get("labels")
    if tuple(belief) == BELIEF_FIELDS and labels is not None and tuple(labels) == tuple(keys):
        return ""
    hollow = dict(belief)
    if labels is not None:
        hollow["labels"] = dict.fromkeys(labels)
    return _hollow(hollow, ("actor", "belief"))


def _hollow(values: Mapping[str, Any], fields: Sequence[str]) -> str:
    return json.dumps({name: None if name in fields else value for name, value in values.items()}, ensure_ascii=False)


def record_of(layout: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record made of the values of RECORD_FIELDS and the layout that it came with."""
    if not layout:
        return {name: values[name] for name in RECORD_FIELDS}
    return {name: values.get(name, foreign) for name, foreign in json.loads(layout).items()}


def belief_of(
    layout: str, *, actor: str, belief: str, labels: Mapping[str, str], keys: Sequence[str]
) -> dict[str, Any]:
    """Return a belief with `labels`: those that the layout names in its order, then those that it lacked and that have
    one."""
    if not layout:
        return {"actor": actor, "belief": belief, "labels": {key: labels.get(key, "") for key in keys}}
    hollow: dict[str, Any] = json.loads(layout)
    named = hollow.get("labels") or {}
    filled = {key: labels.get(key, "") for key in named}
    filled |= {key: labels[key] for key in keys if key not in named and labels.get(key)}
    document = hollow | {"actor": actor, "belief": belief}
    return document | {"labels": filled} if filled or "labels" in hollow else document


def fingerprint(record: Mapping[str, Any]) -> str:
    """SHA-256 of the record's content; the order of keys does not count."""
    text = json.dumps(record, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
