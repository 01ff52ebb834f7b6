"""Parameters chosen for a run, as its row keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

from core.plain import Json

Options = Mapping[str, Any]
"""The values of settings that a suite declares itself, by name: of what type each is its `Setting` says, and what it
means only the suite knows."""

SEED = 1
"""The seed of what is drawn and resampled, where nobody chose another."""
LONGEST_ANSWER = 6000
"""The tokens of an answer, where nobody chose another number."""

SHARED = (
    "split", "category", "limit", "max_tokens", "seed", "budget", "batch", "repetitions", "temperature", "anew",
)  # fmt: skip
"""Parameters that a plan has under the same names."""
_OF_SOME = ("example_stories", "control_lists", "anew")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a run. `limit` 0 takes all samples, `max_tokens` 0 is unknown, `budget` is in US dollars."""

    own: Options = field(default_factory=dict)
    """Values of settings of the suite that are kept under their own names."""
    split: str = ""
    category: str = ""
    limit: int = 0
    max_tokens: int = 0
    seed: int = SEED
    batch: bool = False
    repetitions: int = 1
    temperature: float | None = None
    options: Options = field(default_factory=dict)
    """Values of the other settings of the suite, without those that have a column."""
    example_stories: tuple[int, ...] | None = None
    """Numbers of the samples that may serve as examples in prompts; None for a suite without prompt sets."""
    control_lists: int | None = None
    """Version of the lists that its control draws from."""
    anew: int = 0
    """Number of a draw of the ledger."""
    stories: int = 0
    """The number of samples that the run asks about."""
    budget: Decimal | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Parameters:
        """Return the parameters that `as_json` made."""
        names = {each.name for each in fields(cls)} - {"own"}
        values = {name: value for name, value in kept.items() if name in names}
        if (examples := kept.get("example_stories")) is not None:
            values["example_stories"] = tuple(examples)
        if budget := kept.get("budget"):
            values["budget"] = Decimal(budget)
        return cls(own={name: value for name, value in kept.items() if name not in names}, **values)

    def as_json(self) -> Json:
        """Return the suite's own values, then the others by name; some are left out if the run has none."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "own"}
        values |= {"options": dict(self.options), "budget": None if self.budget is None else str(self.budget)}
        if self.example_stories is not None:
            values["example_stories"] = list(self.example_stories)
        return {
            **self.own,
            **{name: value for name, value in values.items() if name not in _OF_SOME or value not in (None, 0)},
        }

    def about(self, stories: int, example_stories: Sequence[int] | None) -> Parameters:
        """Return the parameters for another number of samples, and other examples if given."""
        examples = self.example_stories if example_stories is None else tuple(example_stories)
        return replace(self, stories=stories, example_stories=examples)
