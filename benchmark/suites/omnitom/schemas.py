"""Requirements on gold's labels, so that it can be asked about and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from annotation.domain.schema import Schema
from benchmark.suites.omnitom.analyses import ILLEGAL, MISSING
from benchmark.suites.omnitom.labels import bare
from benchmark.suites.people import Person, PersonMeasured
from benchmark.suites.questions import Entered, Measured, Resources
from benchmark.suites.reports import Reported, Sections
from benchmark.suites.results import Choice, EntrantsByGroup, ParseResults, ShownPicture, ShownTable
from core.plain import Json

TAKEN_KEYS = ("id", "count")
"""Names of other fields and columns of answers."""
TAKEN_LABELS = (MISSING, ILLEGAL, "gold", "model", "total")
"""Names of other columns and rows of tables beside labels."""


def unfit(schema: Schema, resources: Resources) -> str:
    """Return what is wrong with gold that a suite for this schema is to ask about, as the end of a sentence about it;
    empty where it can."""
    theirs = resources.schema
    if theirs != schema:
        return (
            f"is labelled by {theirs.reference}; expected gold labelled by {schema.reference}, whose dimensions "
            f"a run measures."
        )
    odd = next(_odd(schema), "")
    return odd and f"is labelled by {schema.reference}, {odd}"


def _odd(schema: Schema) -> Iterator[str]:
    names = [bare(key) for key in schema.keys]
    for key, name in zip(schema.keys, names, strict=True):
        if key in TAKEN_KEYS:
            yield f"whose dimension {key} has the name of another column of answers; expected another key."
        if names.count(name) > 1:
            yield (
                f"whose dimension {key} differs from another one in digits and low lines alone, which answers "
                f"leave out; expected keys of other letters."
            )
        for value in schema[key].values:
            if value in TAKEN_LABELS:
                yield (
                    f"whose dimension {key} has the label {value!r}, the name of another column of tables; "
                    f"expected another label."
                )
            if "|" in value:
                yield (
                    f"whose dimension {key} has the label {value!r}, which no cell of a table with pipes can "
                    f"hold; expected one without."
                )


V = TypeVar("V")
Result = TypeVar("Result", ShownTable, ShownPicture)


@dataclass(frozen=True, slots=True)
class Keys:
    """`renamed` has the key of each metric group by the one that OmniToM's own has; what takes or returns groups is
    wrapped so that each side has its own."""

    renamed: Mapping[str, str]

    def measured(
        self, measure: Callable[[Entered], Mapping[str, Measured | None]]
    ) -> Callable[[Entered], Mapping[str, Measured | None]]:
        return lambda entered: self._out(measure(entered))

    def summed(self, summary: Callable[[Entered], Json]) -> Callable[[Entered], Json]:
        def summed(entered: Entered) -> Json:
            parses = summary(entered)
            return {
                name: {key: self._out(value) if key == "reason" else value for key, value in self._out(parse).items()}
                for name, parse in parses.items()
            }

        return summed

    def of_person(
        self, measure: Callable[[Person], PersonMeasured | None]
    ) -> Callable[[Person], PersonMeasured | None]:
        def measured(person: Person) -> PersonMeasured | None:
            measured = measure(person)
            return measured and replace(measured, measured=self._out(measured.measured))

        return measured

    def of_methods(self, methods: Callable[[Reported], Sections]) -> Callable[[Reported], Sections]:
        own = {key: name for name, key in self.renamed.items()}
        return lambda reported: methods(
            replace(reported, groups=frozenset(own.get(key, key) for key in reported.groups))
        )

    def of_outputs(
        self, tables: Callable[[ParseResults], Mapping[str, Result]]
    ) -> Callable[[ParseResults], Mapping[str, Result]]:
        def renamed(results: ParseResults) -> Mapping[str, Result]:
            return {
                name: replace(table, groups=tuple(self.renamed[key] for key in table.groups))
                for name, table in tables(self._in(results)).items()
            }

        return renamed

    def chosen(self, choices: Callable[[ParseResults], Sequence[Choice]]) -> Callable[[ParseResults], Sequence[Choice]]:
        return lambda results: choices(self._in(results))

    def _out(self, by_group: Mapping[str, V]) -> dict[str, V]:
        return {self.renamed.get(key, key): value for key, value in by_group.items()}

    def _in(self, results: ParseResults) -> ParseResults:
        def own(entrants: EntrantsByGroup) -> EntrantsByGroup:
            return {name: entrants[key] for name, key in self.renamed.items()}

        return replace(results, entrants=own(results.entrants), read=own(results.read), analysed=own(results.analysed))
