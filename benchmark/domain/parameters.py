"""Parameters chosen for a run, as its row keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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

_OF_EVERY_RUN = (
    "split", "category", "limit", "max_tokens", "seed", "batch", "repetitions", "temperature", "options", "stories",
    "budget",
)  # fmt: skip
_OF_SOME = ("example_stories", "control_lists", "anew")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of a run.

    `own` are values of settings of its suite that are kept under their own names, `options` those of the others, but
    for what has a column of its own. `limit` 0 is every sample, `max_tokens` 0 where the run does not say it.
    `example_stories` are the numbers of samples that may serve its prompts as examples, None for a suite without prompt
    sets; `control_lists` is the version of the lists that its control draws from, None without a control. `anew`
    numbers a draw of the ledger, where it asks again what was answered before. It asks about `stories` samples;
    `budget` is in US dollars, None for no cap.
    """

    own: Options = field(default_factory=dict)
    split: str = ""
    category: str = ""
    limit: int = 0
    max_tokens: int = 0
    seed: int = SEED
    batch: bool = False
    repetitions: int = 1
    temperature: float | None = None
    options: Options = field(default_factory=dict)
    example_stories: tuple[int, ...] | None = None
    control_lists: int | None = None
    anew: int = 0
    stories: int = 0
    budget: Decimal | None = None

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Parameters:
        """Return the parameters that `as_json` made."""
        values = {name: kept[name] for name in (*_OF_EVERY_RUN, *_OF_SOME) if name in kept}
        if (examples := kept.get("example_stories")) is not None:
            values["example_stories"] = tuple(examples)
        if budget := kept.get("budget"):
            values["budget"] = Decimal(budget)
        return cls(own={name: value for name, value in kept.items() if name not in values}, **values)

    def as_json(self) -> Json:
        """The suite's own, then the others by name, and of `example_stories`, `control_lists` and `anew` those that it
        has."""
        return {
            **self.own,
            "split": self.split,
            "category": self.category,
            "limit": self.limit,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "batch": self.batch,
            "repetitions": self.repetitions,
            "temperature": self.temperature,
            "options": dict(self.options),
            **({} if self.example_stories is None else {"example_stories": list(self.example_stories)}),
            **({} if self.control_lists is None else {"control_lists": self.control_lists}),
            **({"anew": self.anew} if self.anew else {}),
            "stories": self.stories,
            "budget": None if self.budget is None else str(self.budget),
        }

    def about(self, stories: int, example_stories: Sequence[int] | None) -> Parameters:
        """Return them for a run that asks about so many samples, of which examples are chosen among these."""
        examples = self.example_stories if example_stories is None else tuple(example_stories)
        return replace(self, stories=stories, example_stories=examples)
