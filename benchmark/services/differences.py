"""Every two models of a leaderboard against each other, over all stories and in each category: what its letters rest
on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from benchmark.domain.inference import Pair, significance_text
from benchmark.domain.matched_rows import F1
from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.categories import in_order
from benchmark.services.comparison_tables import (
    TEST_COLUMNS,
    answered_by_both,
    answered_columns,
    corrected_note,
    count_column,
)
from benchmark.services.leaderboards import differences
from benchmark.services.selections import Selection
from benchmark.suites.registry import group_named, nouns_of_group, units_of_group
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.corrected import corrected_by, corrected_leads, heads_of_counts
from benchmark.suites.showing.entrants import short_names_of
from benchmark.suites.showing.missing import unlike_missing
from benchmark.suites.showing.ranking import ranked_by, ranked_within
from core.messages import Sentence, as_sentence, clauses, gettext_noop, word
from core.plain import plain
from judge.domain.corrections import CorrectedPair

NOTES = (
    (
        gettext_noop(
            "First minus second over the same {samples}, missing answers at their worst as in the ranking. Brackets: "
            "95 % intervals over {units}."
        )
    ),
    (
        gettext_noop(
            "Shown to differ: Holm-adjusted p of at most 0.05, and the {samples} that both answered do not point the "
            "other way."
        )
    ),
    gettext_noop("Holm's correction runs over all rows of this metric group and parse, shown or not."),
)
CORRECTED_FAMILY = gettext_noop(
    "Over the stories that were judged of all of these models; Holm's correction runs over all rows, shown or not."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPair(Pair):
    """Two models by their unique labels, with the keys of their entrants."""

    first_key: str
    second_key: str

    @classmethod
    def of(cls, pair: Pair, names: Mapping[str, str]) -> NamedPair:
        """Return a pair that is named by keys under the names that these keys have."""
        own = {field.name: getattr(pair, field.name) for field in fields(pair)}
        named = {"first": names[pair.first], "second": names[pair.second]}
        return cls(**own | named, first_key=pair.first, second_key=pair.second)


def pairs_of(
    entrants: Sequence[EntrantResults], group: str, selection: Selection | None, parse: str
) -> tuple[list[NamedPair], str]:
    """Return (rows, method): the biggest difference first and those without one last."""
    tested = differences(entrants, group, selection)[parse]
    names = {entrant.key: entrant.model for entrant in entrants}
    rows = [NamedPair.of(pair, names) for pair in tested.pairs]
    rows.sort(key=lambda row: (row.value is None, -abs(row.value or 0), row.first, row.second, row.category))
    return rows, tested.method


def categories_among(rows: Sequence[Pair], group: str) -> list[str]:
    return in_order((row.category for row in rows if row.category), short_names_of(group))


def corrected_pair_table(rows: Sequence[CorrectedPair], group: str, entrants: Sequence[EntrantResults]) -> Table:
    """Tabulate the rows of `corrected_pairs` of these entrants."""
    described, heads = group_named(group), heads_of_counts(group)
    columns = [
        Column(key="first", header=gettext_noop("First")),
        Column(key="second", header=gettext_noop("Second")),
        Column(key="value", header=gettext_noop("Difference"), unit="points", kind="share", interval="interval"),
        *TEST_COLUMNS,
        Column(key="n", header=heads["judged"], kind="count"),
        Column(key="aligned", header=heads["aligned"], kind="count"),
    ]
    shown_rows = [
        plain(difference)
        | {name: getattr(pair, name) for name in ("first", "second", "first_key", "second_key")}
        | {"shown": significance_text(difference.value, difference.p_adjusted), "interval_reason": difference.reason}
        for pair, difference in ((pair, pair.difference) for pair in rows)
    ]
    score = described.headers[described.corrected[F1]]
    sources = dict.fromkeys(
        corrected_by(entrant.corrected) for entrant in entrants if entrant.corrected and entrant.corrected.scores
    )
    return Table(
        title=Sentence("{score} corrected for the judge's error: differences between models", score=word(score)),
        columns=columns,
        rows=shown_rows,
        lead=corrected_leads(entrants),
        notes=[
            Sentence("By study and judge: {sources}.", sources=clauses(*sources)),
            corrected_note(group),
            CORRECTED_FAMILY,
            *ranked_within(entrants),
        ],
    )


def pair_table(
    rows: Sequence[NamedPair], group: str, parse: str, method: str, entrants: Sequence[EntrantResults] = ()
) -> Table:
    """Tabulate the rows of `pairs_of`; `entrants` are those that they are of, to say which judges they had."""
    columns = [
        Column(key="first", header=gettext_noop("First")),
        Column(key="second", header=gettext_noop("Second")),
        Column(key="over", header=gettext_noop("Over")),
        Column(key="value", header=gettext_noop("Difference"), unit="points", kind="share", interval="interval"),
        *TEST_COLUMNS,
        count_column(group),
        *answered_columns(group),
    ]
    everything = Sentence("All {group}", group=nouns_of_group(group)[1])
    shown_rows = [
        plain(row)
        | {"over": row.category or everything, "shown": row.verdict, "interval_reason": row.reason}
        | answered_by_both(row)
        for row in rows
    ]
    title = Sentence(
        "{score_title}: differences between models, {parse} parse",
        score_title=group_named(group).score_title,
        parse=word(parse),
    )
    names = {"samples": nouns_of_group(group)[1], "units": units_of_group(group)}
    notes = [*(note.format(**names) for note in NOTES), as_sentence(method), *ranked_within(entrants)]
    lead = unlike_missing({group: entrants}) if entrants else []
    return Table(title=title, columns=columns, rows=shown_rows, lead=lead, notes=notes, ranking=ranked_by(entrants))
