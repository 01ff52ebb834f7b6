"""Tables of figures that are analyses of single questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.table import Cells
from benchmark.suites.fantom_questions.analyses import BOTH, EXCLUDED, INCLUDED, REASONS, Reasons
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import row_of
from benchmark.suites.showing.missing import missing_sentences
from core.messages import Sentence, clauses, gettext_noop, listed, word

_REASONS = {
    "official": gettext_noop(
        "Wrong answers by reason; lists are those on answerability alone, as in the released code."
    ),
    "repaired": gettext_noop(
        "Wrong answers by reason, of both kinds of lists. What could not be read is not among them."
    ),
}
_REASON_NAMES: Mapping[str, str] = {
    EXCLUDED: gettext_noop("One who knows lacking"),
    INCLUDED: gettext_noop("One who does not know named"),
    BOTH: gettext_noop("Both"),
    "false_no": gettext_noop("False no"),
    "false_yes": gettext_noop("False yes"),
    "neither": gettext_noop("Neither"),
}


def table_of(
    entrants: Sequence[EntrantResults],
    group: str,
    title: str,
    columns: Sequence[Column],
    cells: Sequence[Cells],
    *notes: str,
    lead: Sequence[str] = (),
) -> Table:
    """Return a table with a row of `cells` for each entrant, which has its place in the metric group `group`."""
    rows = [row_of(entrant, group, values) for entrant, values in zip(entrants, cells, strict=True)]
    lead = [*missing_sentences(columns, entrants, group), *lead]
    return Table(
        title=title,
        columns=[Column(key="model", header=gettext_noop("Model")), *columns],
        rows=rows,
        lead=lead,
        notes=[*notes],
    )


def incomplete_sentences(
    entrants: Sequence[EntrantResults], metrics: Sequence[Mapping[str, BoundedEstimate]], headers: Mapping[str, str]
) -> list[str]:
    """Say of how many sets each figure of an entrant has nothing because not all their questions were asked; `headers`
    names the figures that are of sets. Entrants with the same counts share a sentence."""
    models: dict[str, list[str]] = {}
    for entrant, estimates in zip(entrants, metrics, strict=True):
        counts: dict[int, list[str]] = {}
        for name, header in headers.items():
            if name in estimates and (lacking := estimates[name].incomplete):
                counts.setdefault(lacking, []).append(header)
        numbers = clauses(*(f"{listed(named)}: {count:,}" for count, named in counts.items()))
        models.setdefault(numbers, []).append(entrant.model)
    return [
        Sentence(
            "Sets of which not all questions were asked are in no figure of sets ({numbers}), of {names}.",
            numbers=numbers,
            names=listed(names),
        )
        for numbers, names in models.items()
        if numbers
    ]


def reasons_table(
    entrants: Sequence[EntrantResults],
    wrong_answers: Sequence[Mapping[str, Reasons]],
    group: str,
    scenarios: Mapping[str, str],
    parse: str,
) -> Table:
    """Return the table of wrong answers by reason; `wrong_answers` are the counts of each entrant by scenario,
    `scenarios` what these are called."""
    names = {"lists": (EXCLUDED, INCLUDED, BOTH), "single": tuple(REASONS.values())}
    columns = [
        Column(
            key=f"{scenario} {kind} {name}",
            header=_REASON_NAMES[name],
            group=f"{title.capitalize()}, {'lists' if kind == 'lists' else 'yes or no'}",
            kind="count",
        )
        for scenario, title in scenarios.items()
        for kind, reasons in names.items()
        for name in reasons
    ]
    cells = [
        {
            f"{scenario} {kind} {name}": counts.get(name, 0)
            for scenario in scenarios
            for kind, counts in (("lists", reasons[scenario].lists), ("single", reasons[scenario].single))
            for name in names[kind]
        }
        for reasons in wrong_answers
    ]
    return table_of(
        entrants,
        group,
        Sentence("Wrong answers by reason, {parse} parse", parse=word(parse)),
        columns,
        cells,
        _REASONS[parse],
    )
