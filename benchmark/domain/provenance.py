"""Provenance of a run besides its parameters, as its row keeps it: versions, digests, its judge, what was done
later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from benchmark.domain.parameters import Options
from core.plain import WHERE_THERE_IS_ONE, Json, plain
from workers.domain.families import family_named


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The code and the packages that worked."""

    code: str = ""
    python: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """The settings of an endpoint at a launch, without its prices and limits. `rules` is the version of a fixed model's
    rules. What does not apply is None."""

    name: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    provider: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    model: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    revision: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    base_url: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    family: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    options: Mapping[str, Any] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    sets_temperature: bool | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    json_schema: bool | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    no_system_role: bool | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    rules: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)

    @property
    def kin(self) -> str:
        """Return the family of its model; that is the model itself if nothing names a family."""
        return family_named(self.model or "", self.family or "") or self.model or self.name or ""

    @property
    def identity(self) -> EndpointSpec:
        """What, beside its name, makes it another model; its address does not."""
        return EndpointSpec(provider=self.provider, model=self.model, revision=self.revision, options=self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplesUsed:
    """The examples that the prompts of a step about samples of a category showed, from `least` to `most`; `source` is a
    key of the suite's sources, empty where none has any that can serve."""

    step: str
    category: str
    source: str
    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """The making of answers that came from elsewhere: by what they were made, as far as their files say it, with facts
    in words by name; how many there are, how many of them are to no sample, and double; who imported them, and when;
    the files, their digest, and the model as it is written there. The run has `taken` samples, of the `samples` that
    were chosen of its dataset; None of one whose files are still to be read."""

    format: str = ""
    tool: str = ""
    version: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    records: int = 0
    unmatched: int = 0
    double: int = 0
    by: str = ""
    at: str = ""
    file: str = ""
    digest: str = ""
    model: str = ""
    samples: int | None = None
    taken: int | None = None

    @property
    def made_with(self) -> str:
        """The tool and its version, empty where the files do not say it."""
        return " ".join(filter(None, [self.tool, self.version]))


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements of an importer that files do not make themselves: the model that answered, the `format`, the step
    that is answered, and the choices of `AnswerIds.options` by name; what is empty is told by the files. The
    run is about the samples that the files answer, or the `whole` of those that were chosen: the others are missing."""

    model: str = ""
    format: str = ""
    step: str = ""
    ids: Options = field(default_factory=dict)
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadFiles:
    """The way in which files are to be read that lie beside their run as they came: what is `declared` of them, the
    `title` that was given, empty for none, and `repetitions`, 0 where the files tell it."""

    declared: Statements
    repetitions: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterChange:
    """One thing that was done to a run after its launch, `at` a time, and the code that did it.

    It was extended by these `models` and so many `stories`, where the `settings` of the named endpoints were others by
    then; read again, so that so many `parses` changed; or followed up by so many `judgements`, asked with the `prompt`
    of that digest.
    """

    did: str
    at: str
    models: Sequence[str] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    stories: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    settings: Sequence[str] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    parses: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    judgements: int | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    prompt: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    by: Versions


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetVersion:
    """The version of a dataset, and the digest of what it holds."""

    version: int
    digest: str


_ALWAYS = {"dataset", "prompts", "examples", "judge", "made_by"}
"""Parts of a run's provenance that are kept if there is nothing in them, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Everything that made a run besides what its rows say.

    `prompts` are digests of wordings by step, `judge` is its judge as it was at the launch, None without one. `unread`
    says how files of its answers are to be read, until they are. Runs of one `launch` have that in common; it is empty
    for one that was launched alone.
    """

    dataset: DatasetVersion | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    examples: Sequence[ExamplesUsed] = ()
    judge: EndpointSpec | None = None
    imported: Making | None = None
    made_by: Versions = field(default_factory=Versions)
    unread: UnreadFiles | None = None
    launch: str = ""
    later: Sequence[LaterChange] = ()

    def as_json(self) -> Json:
        """Return the fields that have a value; queries look for them."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: plain(value) for name, value in values.items() if value or name in _ALWAYS}

    def with_examples(self, examples: Sequence[ExamplesUsed]) -> Provenance:
        """Return it with what the prompts show by now."""
        return replace(self, examples=examples)

    def with_later(self, change: LaterChange) -> Provenance:
        """Return it with one thing more that was done later."""
        return replace(self, later=[*self.later, change])

    def examples_at(self, step: str) -> Sequence[ExamplesUsed]:
        """The examples that the prompts of a step showed."""
        return [row for row in self.examples if row.step == step]
