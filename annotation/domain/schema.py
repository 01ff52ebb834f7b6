"""A label schema: dimensions with closed label sets, and cross-checks, under a name and a version.

A project names the schema that it labels by, and a dataset version keeps that name. A schema of this name and version
never changes: other definitions or labels are another version. `schema_files` reads one from JSON, `shipped_schemas`
has those that come with the program.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from core.language import gettext

WORLD = "world"
"""The reserved actor that holds what the narrator states as fact."""


def is_world(actor: str) -> bool:
    """Return whether this is the name of the reserved actor, however it is written."""
    return actor.strip().casefold() == WORLD


ORDER = "order"
"""The key of the dimension that counts minds."""
ORDERS = ("0", "1", "2", "3")
"""The orders of rows where the schema has none of its own."""


@dataclass(frozen=True, slots=True)
class Label:
    """One label of a dimension. `digit`, from 0 to 9, is the key that chooses it."""

    value: str
    digit: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Dimension:
    """One column of the grid. `key` is the record format's name; `labels` is in display order."""

    key: str
    name: str
    short: str
    question: str
    labels: tuple[Label, ...]
    values: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(label.value for label in self.labels))

    def digit(self, value: str) -> int:
        return self.labels[self.values.index(value)].digit

    @property
    def counts(self) -> bool:
        """True where all labels are whole numbers, and can be written as such."""
        return all(value.isascii() and value.isdecimal() for value in self.values)


@dataclass(frozen=True, slots=True)
class Check:
    """One cross-check: `kind` is a key of CHECKS; `{actor}` in `message` is put in the actor's place.

    `beside` is the other dimension with its labels, where the kind looks at two.
    """

    kind: str
    dimension: str
    labels: tuple[str, ...]
    message: str
    beside: tuple[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    name: str
    version: str
    title: str
    dimensions: tuple[Dimension, ...]
    checks: tuple[Check, ...] = ()
    _by_key: dict[str, Dimension] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {dimension.key: dimension for dimension in self.dimensions})

    @property
    def reference(self) -> str:
        """The schema's name and version as commands and forms take them, such as omnitom:1."""
        return f"{self.name}:{self.version}"

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self._by_key)

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of each dimension by its key."""
        return {dimension.key: dimension.values for dimension in self.dimensions}

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders that a row of a belief table can have: the labels of the dimension `order`, where there is one and
        all of them are numbers. An order counts minds, in any schema."""
        own = self._by_key.get(ORDER)
        return tuple(sorted(own.values, key=int)) if own and own.counts else ORDERS

    @property
    def own_orders(self) -> tuple[Label, ...]:
        """The labels that are its orders, where these are others than those of every schema."""
        if self.orders == ORDERS:
            return ()
        return tuple(sorted(self[ORDER].labels, key=lambda label: int(label.value)))

    def __getitem__(self, key: str) -> Dimension:
        return self._by_key[key]

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def is_legal(self, key: str, value: str) -> bool:
        return key in self._by_key and value in self._by_key[key].values


def orders_text(orders: Sequence[str]) -> str:
    """Return orders in words, in the language of the reader: "0 to 3"."""
    first, last = orders[0], orders[-1]
    if len(orders) > 2 and list(orders) == [str(number) for number in range(int(first), int(last) + 1)]:
        return gettext("{first} to {last}").format(first=first, last=last)
    return ", ".join(orders)


@dataclass(frozen=True, slots=True)
class SchemaWarning:
    """A label that sits oddly with another one: shown beside the row, never a reason to refuse a vote."""

    dimension: str
    message: str


def cross_check(schema: Schema, actor: str, labels: Mapping[str, str]) -> list[SchemaWarning]:
    """Return what looks inconsistent between an actor and the labels given so far, in the order of the schema's checks
    and the language of the reader.

    Missing and empty labels are not judged.
    """
    return [
        SchemaWarning(check.dimension, gettext(check.message).replace("{actor}", actor))
        for check in schema.checks
        if labels.get(check.dimension) and CHECKS[check.kind](check, is_world(actor), labels)
    ]


CHECKS: Mapping[str, Callable[[Check, bool, Mapping[str, str]], bool]] = {
    "only_for_world": lambda check, is_world, labels: not is_world and labels[check.dimension] in check.labels,
    "required_for_world": lambda check, is_world, labels: is_world and labels[check.dimension] not in check.labels,
    "not_together": lambda check, is_world, labels: (
        check.beside is not None
        and labels[check.dimension] in check.labels
        and labels.get(check.beside[0], "") in check.beside[1]
    ),
}
"""The function of each check, by name: it tells whether to warn, from the check, whether the actor is the world, and
the labels.

`only_for_world`: the labels are for world facts. `required_for_world`: world facts have one of the labels.
`not_together`: the labels are unusual beside those of another dimension."""
