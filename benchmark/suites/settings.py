"""The settings of suites, declared once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from benchmark.domain.parameters import LONGEST_ANSWER, SEED, Options
from core.texts import storable

MOST_CHARACTERS = 200
"""Limit of a setting that is a text."""

OF_EVERY_RUN = frozenset(
    (
        "anew", "batch", "budget", "category", "control", "control_lists", "example_stories", "judge_reads_prompts",
        "limit", "max_tokens", "once", "options", "repetitions", "seed", "split", "stories", "temperature",
    )
)  # fmt: skip
"""Names that every run has among its parameters or settings; no setting of a suite can have one of them."""
OF_THE_LAUNCH = frozenset(
    ("controls", "csrfmiddlewaretoken", "dataset", "endpoints", "judge", "ledger", "shown", "steps", "suite", "title")
)
"""Names of the launch form beside them, which are taken too."""

OPTION, PARAMETER, COLUMN = "option", "parameter", "column"
"""Where a run keeps a setting: among its options, as a parameter under its own name, or in a column of its own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that a run was launched with, for its suite; answers that were made elsewhere have what nobody chose
    otherwise.

    `options` are the values of all settings of the suite, wherever the run keeps them. `example_stories` are the
    numbers of samples that may serve prompts as examples; `judge_reads_prompts` says whether the judge is asked in
    words. `control` is empty for samples as they are; `control_lists` is the version of the lists that it draws from,
    None for the one of now.
    """

    options: Options = field(default_factory=dict)
    seed: int = SEED
    max_tokens: int = LONGEST_ANSWER
    repetitions: int = 1
    temperature: float | None = None
    example_stories: tuple[int, ...] = ()
    judge_reads_prompts: bool = False
    control: str = ""
    control_lists: int | None = None

    @property
    def answer_format(self) -> str:
        """The value of the setting `answer_format`; free text of a suite without one."""
        return str(self.options.get("answer_format", "text"))


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option of `score_outputs`; `default` also says its type, False that it is a flag."""

    name: str
    default: str | int | bool
    help: str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Only:
    """A setting's dependence: it is of use only where another one, `name`, has a `value`; `message` says so of its
    flag, with {value} for what the other has."""

    name: str
    value: str | int | bool
    message: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A choice at the launch of a run, declared once: the launch form, the flag of `run_benchmark` and the
    stored parameter come from it.

    The type of `default` is that of the value; a choice is (value, label), numbers lie between `least` and `most`;
    `refusal` is what is said of a value that cannot be, with {value}, a sentence made from the label without it. With
    `prompt_set` the choices are the names of the suite's prompt sets and of the project's own.

    `steps` are those that have a use for it, all of them where it names none; `unread` says why a judge that reads no
    prompt has none, empty where it has one. `stored` is where runs keep it. It is given as `--option NAME=VALUE`, or by
    a `flag` of its own with `flag_help`; the flag of a truth says the opposite of its default. Of a `method` setting a
    launch may take several choices, a run each, whose figures are held against those of the default; `helps` say what
    each of its choices is. Of one that may be `swept`, a launch takes several choices in a field of that name, a
    run each, which one table holds against each other. `of_imports` are choices that only answers made elsewhere have,
    in place of the default. The first is that of answers of which nobody stated it.
    """

    name: str
    label: str
    default: str | int | bool
    help: str = ""
    choices: tuple[tuple[str | int, str], ...] = ()
    least: int = 0
    most: int = 2**31 - 1
    refusal: str = ""
    prompt_set: bool = False
    steps: tuple[str, ...] = ()
    unread: str = ""
    only: Only | None = None
    stored: str = OPTION
    flag: str = ""
    flag_help: str = ""
    method: bool = False
    helps: tuple[str, ...] = ()
    swept: str = ""
    of_imports: tuple[tuple[str | int, str], ...] = ()

    @property
    def for_imports(self) -> Setting:
        """The setting as an import of answers has it: what a run here takes by default is not known of them."""
        if not self.of_imports:
            return self
        choices = (*self.of_imports, *(choice for choice in self.choices if choice[0] != self.default))
        return replace(self, default=self.of_imports[0][0], choices=choices, of_imports=())

    def checked(self, value: Any) -> Any:
        """The value, of the type of the default. Raises ValueError with one sentence."""
        allowed = [choice for choice, _ in self.choices]
        if self.choices:
            fits, expected = value in allowed, " or ".join(map(str, allowed))
        elif isinstance(self.default, bool):
            return bool(value)
        elif isinstance(self.default, int):
            is_integer = isinstance(value, int) and not isinstance(value, bool)
            fits = is_integer and self.least <= value <= self.most
            expected = f"a whole number from {self.least} to {self.most}"
        else:
            is_text = isinstance(value, str)
            fits = is_text and len(value) <= MOST_CHARACTERS and storable(value) == value
            expected = f"a text of up to {MOST_CHARACTERS} characters, without NUL" if is_text else "a text"
        if not fits:
            shown = value[:40] if isinstance(value, str) else value
            raise ValueError(self.refusal.format(value=value) or f"{self.label} is {shown!r}; expected {expected}.")
        return bool(value) if isinstance(self.default, bool) else value

    def in_words(self, value: Any) -> str:
        """The label of a choice, yes or no, else the value as text."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(dict((*self.choices, *self.of_imports)).get(value, value))
