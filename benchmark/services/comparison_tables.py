"""Tables of a comparison of two entrants: differences with their tests, and scores story by story."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from benchmark.domain.inference import Pair, PairedDifference, significance_text
from benchmark.domain.inference.answered_pairs import Difference
from benchmark.domain.matched_rows import F1
from benchmark.domain.tables import Cell, Cells, Column, Table, in_order
from benchmark.services.comparisons import ComparedStory, Comparison
from benchmark.services.leaderboards import differences
from benchmark.services.selections import Selection
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named, units_of_group
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.corrected import corrected_by, corrected_leads, heads_of_counts
from benchmark.suites.showing.entrants import ranked_by, ranked_within, short_names_of
from benchmark.suites.showing.missing import unlike_missing
from core.messages import Sentence, as_sentence, clauses, gettext_noop, labelled, word
from judge.domain.corrections import CorrectedComparison, CorrectedDifference, CorrectedPair, differing_text

TEST_COLUMNS = (
    Column(key="p", header="p", kind="number", digits=4),
    Column(key="p_adjusted", header=gettext_noop("p, Holm"), kind="number", digits=4),
    Column(key="shown", header=gettext_noop("Shown to differ")),
)
"""Columns of the test of a difference."""


def corrected_note(group: str) -> str:
    """Return what differences of corrected scores of a metric group are."""
    cluster, clusters = suite_named(group_suite(group)).cluster
    return Sentence(
        "Corrected: prediction-powered (PPI++) from the judge's scores and what people said of "
        "aligned {clusters}; t test of what each {cluster} moves the difference, paired by "
        "{cluster_2}. Aligned {clusters_2}: of the model that has fewer.",
        clusters=word(clusters),
        cluster=word(cluster),
        cluster_2=cluster,
        clusters_2=clusters,
    )


def count_column(group: str) -> Column:
    """Return the column of how many samples a difference is over."""
    return Column(key="n", header=nouns_of_group(group)[1].capitalize(), kind="count")


def _tested(
    group: str, names: Sequence[Column], rows: Sequence[Cells], counts: Mapping[str, str], **table: Any
) -> Table:
    """Return a table of differences with their tests: the columns that name a row, the difference, and the `counts`
    that it rests on, headings by key."""
    answered = any("answered_n" in row for row in rows)
    beside = gettext_noop("Answered by both")
    columns = [
        *names,
        Column(key="value", header=gettext_noop("Difference"), unit="points", kind="share"),
        *TEST_COLUMNS,
        *(Column(key=key, header=header, kind="count") for key, header in counts.items()),
    ]
    if answered:
        columns.append(
            Column(key="answered_value", header=gettext_noop("Difference"), unit="points", kind="share", group=beside)
        )
        columns.append(replace(count_column(group), key="answered_n", group=beside))
    return Table(columns=columns, rows=rows, **table)


def _test_cells(row: PairedDifference | CorrectedDifference) -> Cells:
    """Return the cells of a difference. `answered_…` are over what both answered, next to the worst case of missing
    answers."""
    cells: Cells = {"value": Cell(row.value, row.interval, reason=row.reason), "p": row.p, "p_adjusted": row.p_adjusted}
    cells |= {"n": row.n, "category": row.category}
    if isinstance(row, CorrectedDifference):
        return cells | {"aligned": row.aligned, "shown": significance_text(row.value, row.p_adjusted)}
    answered = {"answered_value": row.answered.value, "answered_n": row.answered.n} if row.answered else {}
    return cells | {"shown": row.verdict} | answered


def side_columns(group: str, first: str, second: str) -> tuple[Column, ...]:
    """Return the columns of what an interpreted difference rests on: what is missing on either side, the `first` and
    the `second`, where the difference can be whatever that is, and the samples answered and asked both ways."""
    missing = partial(Column, kind="share", unit="%", group=gettext_noop("Without a score"), digits=1)
    bound = partial(Column, kind="share", unit="points", group=gettext_noop("Bounds"), digits=1)
    counted = partial(Column, kind="count", group=nouns_of_group(group)[1].capitalize())
    return (
        missing(key="first_missing", header=first),
        missing(key="second_missing", header=second),
        Column(key="alike", header=gettext_noop("Alike"), group=gettext_noop("Without a score")),
        bound(key="lowest", header=gettext_noop("Lowest")),
        bound(key="highest", header=gettext_noop("Highest")),
        counted(key="n", header=gettext_noop("Answered both ways")),
        counted(key="asked", header=gettext_noop("Asked both ways")),
    )


def difference_cells(row: Difference) -> Cells:
    """Return the cells of an interpreted difference, those of `side_columns` among them."""
    shares, (lowest, highest) = row.shares, row.open_bounds or (None, None)
    return {
        "value": Cell(row.value, row.interval, reason=row.reason), "n": row.n, "asked": row.asked,
        "lowest": lowest, "highest": highest, "p": row.p, "p_adjusted": row.p_adjusted, "shown": row.verdict,
        "first_missing": shares and shares.first, "second_missing": shares and shares.second,
        "alike": None if shares is None else gettext_noop("yes") if shares.alike else gettext_noop("no"),
    }  # fmt: skip


def difference_table(comparison: Comparison) -> Table:
    """Return the measures over all stories, of labelling each dimension among them, and the score by category."""
    first, second, noun = comparison.first, comparison.second, nouns_of_group(comparison.group)[1]
    everything = Sentence("All {group}", group=noun)
    sides = {"first": first, "second": second}
    facts = {"Stories": comparison.selection, "Settings that differ": comparison.differ}
    notes = [Sentence("{name}: {text}.", name=name, text=text) for name, text in facts.items() if text]
    return _tested(
        comparison.group,
        [
            Column(key="part", header=gettext_noop("Over")),
            Column(key="what", header=gettext_noop("Figure")),
            *(Column(key=key, header=name, unit="%", kind="share") for key, name in sides.items()),
        ],
        [
            {"part": "Category" if row.category else everything, "what": row.what, "key": row.key}
            | {"first": row.first, "second": row.second, **_test_cells(row)}
            for row in comparison.rows
        ],
        {"n": noun.capitalize()},
        title=Sentence(
            "{score_title}: {first} minus {second}, {parse} parse",
            score_title=group_named(comparison.group).score_title,
            first=first,
            second=second,
            parse=word(comparison.parse),
        ),
        lead=comparison.lead,
        notes=[*notes, *comparison.judge_tests, as_sentence(comparison.method)],
    )


def corrected_difference_table(comparison: Comparison, corrected: CorrectedComparison) -> Table:
    """Return the differences of the scores without the judge's error."""
    heads, names = heads_of_counts(comparison.group), (comparison.first, comparison.second)
    sides = dict(zip(("corrected_first", "corrected_second"), names, strict=True))
    warnings = [side.differing for side in corrected.sides if side.warns and side.differing is not None]
    sources = [labelled(name, corrected_by(side)) for name, side in zip(names, corrected.sides, strict=True)]
    return _tested(
        comparison.group,
        [
            Column(key="what", header=gettext_noop("Figure")),
            *(Column(key=key, header=name, unit="%", kind="share") for key, name in sides.items()),
        ],
        [
            {"what": row.what, "corrected_first": row.first, "corrected_second": row.second, **_test_cells(row)}
            for row in corrected.rows
        ],
        {"n": heads["judged"], "aligned": heads["aligned"]},
        title=Sentence("Corrected for the judge's error: {first} minus {second}", first=names[0], second=names[1]),
        lead=list(dict.fromkeys(map(differing_text, warnings))),
        notes=[
            Sentence("By study and judge: {sources}.", sources=clauses(*sources)),
            corrected_note(comparison.group),
            Sentence("Holm's correction over the {tests} tests of this table alone.", tests=corrected.tests),
        ],
    )


def story_table(comparison: Comparison) -> Table:
    noun = nouns_of_group(comparison.group)[0]
    columns = [
        Column(
            key="number",
            header=f"{noun.capitalize()}{', by its first question' * bool(group_named(comparison.group).unit)}",
        ),
        *(
            [Column(key="category", header=gettext_noop("Category"))]
            if any(story.category for story in comparison.stories)
            else ()
        ),
        Column(key="first", header=comparison.first, unit="%", kind="share"),
        Column(key="second", header=comparison.second, unit="%", kind="share"),
        Column(key="difference", header=gettext_noop("Difference"), unit="points", kind="share"),
    ]
    title = Sentence(
        "{score_title} by {noun}, {parse} parse",
        score_title=group_named(comparison.group).score_title,
        noun=word(noun),
        parse=word(comparison.parse),
    )
    names = [field.name for field in fields(ComparedStory)]
    rows = [{name: getattr(story, name) for name in names} for story in comparison.stories]
    return Table(title=title, columns=columns, rows=rows, lead=comparison.lead)


def tables_of(comparison: Comparison) -> dict[str, Callable[[], Table]]:
    """Return the tables by name, made when they are asked for."""
    tables: dict[str, Callable[[], Table]] = {"differences": lambda: difference_table(comparison)}
    if (corrected := comparison.corrected) and corrected.rows:
        tables["corrected"] = lambda: corrected_difference_table(comparison, corrected)
    return tables | {"stories": lambda: story_table(comparison)}


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


PAIR = (Column(key="first", header=gettext_noop("First")), Column(key="second", header=gettext_noop("Second")))


def corrected_pair_table(rows: Sequence[CorrectedPair], group: str, entrants: Sequence[EntrantResults]) -> Table:
    """Return the table of `corrected_pairs` of these entrants."""
    described, heads = group_named(group), heads_of_counts(group)
    sources = dict.fromkeys(
        corrected_by(entrant.corrected) for entrant in entrants if entrant.corrected and entrant.corrected.scores
    )
    return _tested(
        group,
        PAIR,
        [
            {name: getattr(pair, name) for name in ("first", "second", "first_key", "second_key")}
            | _test_cells(pair.difference)
            for pair in rows
        ],
        {"n": heads["judged"], "aligned": heads["aligned"]},
        title=Sentence(
            "{score} corrected for the judge's error: differences between models",
            score=word(described.headers[described.corrected[F1]]),
        ),
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
    """Return the table of `pairs_of`. The entrants say which judges they had."""
    many = nouns_of_group(group)[1]
    everything = Sentence("All {group}", group=many)
    names = {"samples": many, "units": units_of_group(group)}
    return _tested(
        group,
        [*PAIR, Column(key="over", header=gettext_noop("Over"))],
        [
            {name: getattr(row, name) for name in ("first", "second", "first_key", "second_key")}
            | {"over": row.category or everything, **_test_cells(row)}
            for row in rows
        ],
        {"n": many.capitalize()},
        title=Sentence(
            "{score_title}: differences between models, {parse} parse",
            score_title=group_named(group).score_title,
            parse=word(parse),
        ),
        lead=unlike_missing({group: entrants}) if entrants else [],
        notes=[*(note.format(**names) for note in NOTES), as_sentence(method), *ranked_within(entrants)],
        ranking=ranked_by(entrants),
    )
