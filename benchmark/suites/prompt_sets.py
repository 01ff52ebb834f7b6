"""Prompt sets: wordings in levels that the runs of a suite choose among, built in or of a team's own."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from benchmark.suites.questions import BadQuestion, Question
from benchmark.suites.settings import Settings
from workers.providers.contract import Request


class BadPromptSet(BadQuestion):
    """The fault in a prompt set, or in what is asked of it, as one sentence that names the file."""


class Wording(Protocol):
    """The two messages of a prompt, with placeholders; an empty one is not sent."""

    @property
    def system(self) -> str: ...

    @property
    def user(self) -> str: ...


class PromptSet(Protocol):
    """A loaded set; `files` are the texts that it was made from, by name."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def files(self) -> Mapping[str, str]: ...

    def levels(self, step: str, /) -> tuple[int, ...]:
        """The levels that it has a prompt of a step for."""

    def template(self, step: str, level: int, answer_format: str = ..., /) -> Wording:
        """Return the prompt of a step and level. Raises BadPromptSet where the set has none."""

    def content_hash(self, step: str, level: int, /) -> str:
        """SHA-256 of all wording that can enter a prompt of a step and level, in hexadecimal digits."""


S = TypeVar("S", bound=PromptSet)


@dataclass(frozen=True, slots=True)
class PromptSets(Generic[S]):
    """The making of a suite's prompt sets, which it alone makes and reads, and what their prompts show.

    `names` are the sets that come with the suite, `built_in(name)` one of them; `load(files, name)` makes a set of a
    team's files, and raises BadPromptSet. `hashes(prompts, settings, steps)` is the digest of the wording by step, for
    those at which somebody reads a prompt; it raises BadPromptSet where a request could not be made. `filled(prompts,
    step, level, answer_format)` is a prompt with a sample of the shipped corpus in it.

    Prompts may show solved samples: `example_count(settings, step)` is how many, `example_source(question, count)`
    where those of a question come from, a key of `sources` (with its name in words) or empty where none can serve, and
    how many there are. Samples of the dataset's split `split` may serve, for the categories `serving(settings, steps,
    categories)`; none of them is asked.

    `condition(settings, step, digest, asking)` is what rows are ranked by: in words, and as plain data of which a
    digest is kept; `asking` is how often and how freely everything was asked, by name.

    For the team that makes a set of its own, `example_file` is the name of one of its files and `guide` a template that
    lists them all.
    """

    names: tuple[str, ...]
    built_in: Callable[[str], S]
    load: Callable[[Mapping[str, str], str], S]
    hashes: Callable[[S, Settings, Sequence[str]], dict[str, str]]
    filled: Callable[[S, str, int, str], Request]
    example_count: Callable[[Settings, str], int]
    example_source: Callable[[Question, int], tuple[str, int]]
    sources: Mapping[str, str]
    split: str
    serving: Callable[[Settings, Sequence[str], Collection[str]], frozenset[str]]
    condition: Callable[[Settings, str, str | None, Mapping[str, str]], tuple[str, list[Any]]]
    example_file: str
    guide: str
