"""Labels as official scoring canonicalises them (specification "OmniToM scoring", section 3)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import OMNITOM
from benchmark.suites.registry import named_by
from judge.domain.text import normalise_space

SCHEMA = OMNITOM
"""OmniToM's own schema, the only one that the released code and the published figures know."""

Labels = tuple[str, ...]
"""A label of each dimension, in the order of the schema that they are of."""

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
ORDER = "order"
"""The dimension that extractions have a column for, where a schema has it."""

_NAMES = ("Order", "Truth-Status", "Knowledge-Access", "Representation", "Content Type", "Mental-Source", "Context")


@dataclass(frozen=True, eq=False)
class Scheme:
    """A label schema as questions ask by it, and answers are read and counted by it.

    `keys` are its dimensions. Of each, `names` has what tables of text head its column with, `shorts` what figures are
    headed with, on pages and in files, `shares` the name of its accuracy, after that of all together, and `legal` its
    closed label set.
    """

    schema: Schema
    names: Mapping[str, str]
    shares: tuple[str, ...]
    legal: Mapping[str, frozenset[str]]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.names)

    @cached_property
    def official(self) -> bool:
        """True where it is OmniToM's own: no other has official parses or figures."""
        return self.schema is SCHEMA

    @cached_property
    def nothing(self) -> Labels:
        """The labels of a row that has none."""
        return ("",) * len(self.names)

    @property
    def shorts(self) -> dict[str, str]:
        """The headings of the columns of dimensions."""
        return {key: self.schema[key].short for key in self.names}

    @property
    def titles(self) -> dict[str, str]:
        return {key: self.schema[key].name for key in self.names}

    @cached_property
    def ordered(self) -> bool:
        """True where propositions have an order."""
        return ORDER in self.names

    def order_of(self, labels: Labels) -> str:
        """Return the order among the labels of a row, empty where the schema has none."""
        return labels[self.keys.index(ORDER)] if self.ordered else ""

    def group(self, key: str) -> str:
        """Return the key of the metric group that OmniToM's own has under this one."""
        return key if self.official else named_by(key, self.schema)

    def share_of(self, key: str) -> str:
        return self.shares[1 + self.keys.index(key)]


def scheme_of(schema: Schema) -> Scheme:
    """Return the scheme of a schema, the same object for equal ones."""
    return OMNITOM_SCHEME if schema is SCHEMA else _scheme(schema)


@lru_cache(64)
def _scheme(schema: Schema) -> Scheme:
    if schema == SCHEMA:
        return OMNITOM_SCHEME
    keys, names = schema.keys, {}
    letters = {key: bare(schema[key].name) for key in keys}
    for key in keys:  # a name that, read back without its case and marks, is that of no other column, else the key
        rest = [other for other in keys if other != key]
        others = {"actor", "belief", *map(bare, rest), *(letters[other] for other in rest)}
        is_telling = letters[key] and letters[key] not in others and "|" not in schema[key].name
        names[key] = schema[key].name if is_telling else key
    shares = (ALL_DIMENSIONS, *(f"acc_{key}" for key in keys))
    return Scheme(schema, names, shares, _legal(schema))


def bare(name: object) -> str:
    """Return the small letters of a name, which is all that an answer must get right of it."""
    return _NOT_A_LETTER.sub("", str(name).lower())


def _legal(schema: Schema) -> dict[str, frozenset[str]]:
    return {key: frozenset(schema[key].values) for key in schema.keys}


ALL_DIMENSIONS = "overall_accuracy"
_NOT_A_LETTER = re.compile(r"[^a-z]")
OMNITOM_SCHEME = Scheme(
    SCHEMA,
    dict(zip(DIMENSIONS, _NAMES, strict=True)),
    (ALL_DIMENSIONS, *(f"acc_{column}" for column in COLUMNS.values())),
    _legal(SCHEMA),
)

_DIGITS = re.compile(r"\d+")
_FOREIGN = re.compile(r"[^a-z0-9/ ]")


def _plain(*values: str) -> dict[str, str]:
    return {value.lower(): value for value in values}


def _spellings(value: str, *keys: str) -> dict[str, str]:
    return dict.fromkeys(keys, value)


_ACCEPTED: Mapping[str, Mapping[str, str]] = {
    "truth_status": _plain("True", "False", "Unknown"),
    "knowledge_access": _plain("Private", "Shared", "Public", "Unknown"),  # Unknown is not legal, yet accepted
    "representation": _plain("Explicit", "Implicit"),
    "content_type": {
        **_plain("Location", "Epistemic", "Emotion"),
        **_spellings(
            "Contents/Physical State",
            "contents/physicalstate",
            "contentsphysicalstate",
            "contents / physical state",
            "physicalstatecontents",
            "physical state",
        ),
        **_spellings("Identity/Relation", "identity/relation", "identityrelation", "identity", "relation"),
        **_spellings("Desire/Intention", "desire/intention", "desireintention"),
        **_spellings("Trait/Value", "trait/value", "traitvalue"),
        **_spellings("Action/Event", "action/event", "actionevent", "action", "event"),
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
