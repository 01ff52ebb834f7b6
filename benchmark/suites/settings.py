"""What a suite lets choose, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.texts import storable

MOST_CHARACTERS = 200
"""Of a setting that is a text."""

OF_EVERY_RUN = frozenset(
    (
        "batch", "budget", "category", "example_stories", "examples", "examples_from", "form", "judge_level", "judge_reads_prompts", "level", "limit",
        "max_tokens", "once", "options", "prompt_set", "repetitions", "seed", "self_test", "shots", "split", "stories", "temperature", "with_story",
    )
)  # fmt: skip
"""Names that `Question.settings` has of every run; no setting of a suite can have one of them."""


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option of `score_outputs`; `default` also says its type."""

    name: str
    default: str | int
    help: str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What may be chosen at the launch of a run, declared once: the launch form, the flag of `run_benchmark`, the stored parameter, and
    `told`, what the methods text says of it with {value}, come from it. The type of `default` is that of the value; a choice is (value, label),
    numbers lie between `least` and `most`."""

    name: str
    label: str
    default: str | int | bool
    help: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    least: int = 0
    most: int = 2**31 - 1
    told: str = ""

    def checked(self, value: Any) -> Any:
        """The value, of the type of the default. Raises ValueError with one sentence."""
        if self.choices:
            if value not in dict(self.choices):
                raise ValueError(f"{self.label} is {value!r}; expected {' or '.join(dict(self.choices))}.")
            return value
        if isinstance(self.default, bool):
            return bool(value)
        if isinstance(self.default, int):
            if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
                raise ValueError(
                    f"{self.label} is {value!r}; expected a whole number from {self.least} to {self.most}."
                )
            return value
        if not isinstance(value, str):
            raise ValueError(f"{self.label} is {value!r}; expected a text.")
        if len(value) > MOST_CHARACTERS or storable(value) != value:
            raise ValueError(
                f"{self.label} is {value[:40]!r}; expected a text of up to {MOST_CHARACTERS} characters, without NUL."
            )
        return value

    def in_words(self, value: Any) -> str:
        """The label of a choice, yes or no, else the value as text."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(dict(self.choices).get(value, value))
