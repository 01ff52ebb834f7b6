"""Labels as official scoring canonicalises them (specification "OmniToM scoring", section 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from annotation.domain.shipped_schemas import OMNITOM
from judge.domain.text import normalise_space

SCHEMA = OMNITOM
"""What gold is labelled by that a run can be measured against."""

Labels = tuple[str, ...]
"""Seven labels, in the order of `DIMENSIONS`."""

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "order": "order",
        "truth_status": "truth-status",
        "knowledge_access": "knowledge-access",
        "representation": "representation",
        "content_type": "content_type",
        "mental_source": "mental-source",
        "context": "context",
    }
)
"""The record format's key of each dimension and its name in official output."""

DIMENSIONS = tuple(COLUMNS)

_DIGITS = re.compile(r"\d+")
_FOREIGN = re.compile(r"[^a-z0-9/ ]")


def _plain(*values: str) -> dict[str, str]:
    return {value.lower(): value for value in values}


def _said(value: str, *keys: str) -> dict[str, str]:
    return dict.fromkeys(keys, value)


_ACCEPTED: Mapping[str, Mapping[str, str]] = {
    "truth_status": _plain("True", "False", "Unknown"),
    "knowledge_access": _plain("Private", "Shared", "Public", "Unknown"),  # Unknown is not legal, yet accepted
    "representation": _plain("Explicit", "Implicit"),
    "content_type": {
        **_plain("Location", "Epistemic", "Emotion"),
        **_said(
            "Contents/Physical State",
            "contents/physicalstate",
            "contentsphysicalstate",
            "contents / physical state",
            "physicalstatecontents",
            "physical state",
        ),
        **_said("Identity/Relation", "identity/relation", "identityrelation", "identity", "relation"),
        **_said("Desire/Intention", "desire/intention", "desireintention"),
        **_said("Trait/Value", "trait/value", "traitvalue"),
        **_said("Action/Event", "action/event", "actionevent", "action", "event"),
    },
    "mental_source": _plain("Narration", "Perception", "Memory", "Testimony", "Inference", "Imagination", "Unknown"),
    "context": _plain("Deceptive", "Temporal", "Counterfactual", "Neutral"),
}


def canonical(dimension: str, value: object) -> str:
    """The stored value of a label; what is not recognised stays as it is, with its white space normalised.

    `dimension` is a key of the record format. An order is the first run of digits in the text.
    """
    return _canonical(dimension, normalise_space(value))


@lru_cache(maxsize=8192)
def _canonical(dimension: str, text: str) -> str:
    if dimension == "order":
        match = _DIGITS.search(text)
        return match.group() if match else text
    sought = " ".join(_FOREIGN.sub("", text.lower()).split())
    accepted = _ACCEPTED.get(dimension, {})
    return accepted.get(sought) or accepted.get(sought.replace(" ", "")) or text


def canonical_labels(values: Mapping[str, object]) -> Labels:
    """The labels of one record, missing ones empty."""
    return tuple(canonical(dimension, values.get(dimension)) for dimension in DIMENSIONS)
