"""Tables of a comparison of two entrants: differences with their tests, and scores story by story."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial

from benchmark.domain.inference import PairedDifference, significance_text
from benchmark.domain.inference.answered_pairs import Difference
from benchmark.domain.tables import Cells, Column, Table
from benchmark.services.comparisons import ComparedStory, Comparison
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named
from benchmark.suites.showing.corrected import corrected_by, heads_of_counts
from core.messages import Sentence, as_sentence, clauses, gettext_noop, labelled, word
from core.plain import plain
from judge.domain.corrections import CorrectedComparison, differing_text

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


def answered_columns(group: str) -> tuple[Column, ...]:
    """Return the columns of the difference over what both answered, beside the one with missing answers at their
    worst."""
    counted = replace(count_column(group), key="answered_n", group=gettext_noop("Answered by both"))
    difference = Column(
        key="answered_value", header=gettext_noop("Difference"), unit="points", kind="share", group=counted.group
    )
    return difference, counted


def answered_by_both(row: PairedDifference) -> Cells:
    """Return the values of a row for `answered_columns`."""
    return {f"answered_{name}": value for name, value in (plain(row.answered) or {}).items()}


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
        "value": row.value, "interval": row.interval, "interval_reason": row.reason, "n": row.n, "asked": row.asked,
        "lowest": lowest, "highest": highest, "p": row.p, "p_adjusted": row.p_adjusted, "shown": row.verdict,
        "first_missing": shares and shares.first, "second_missing": shares and shares.second,
        "alike": None if shares is None else gettext_noop("yes") if shares.alike else gettext_noop("no"),
    }  # fmt: skip


def difference_table(comparison: Comparison) -> Table:
    """Return the measures over all stories, of labelling each dimension among them, and the score by category."""
    first, second = comparison.first, comparison.second
    columns = [
        Column(key="part", header=gettext_noop("Over")),
        Column(key="what", header=gettext_noop("Figure")),
        Column(key="first", header=first, unit="%", kind="share"),
        Column(key="second", header=second, unit="%", kind="share"),
        Column(key="value", header=gettext_noop("Difference"), unit="points", kind="share", interval="interval"),
        *TEST_COLUMNS,
        count_column(comparison.group),
        *(answered_columns(comparison.group) if any(row.answered for row in comparison.rows) else ()),
    ]
    everything = Sentence("All {group}", group=nouns_of_group(comparison.group)[1])
    rows = [
        plain(row)
        | {"part": "Category" if row.category else everything, "shown": row.verdict, "interval_reason": row.reason}
        | answered_by_both(row)
        for row in comparison.rows
    ]
    title = Sentence(
        "{score_title}: {first} minus {second}, {parse} parse",
        score_title=group_named(comparison.group).score_title,
        first=first,
        second=second,
        parse=word(comparison.parse),
    )
    facts = {"Stories": comparison.selection, "Settings that differ": comparison.differ}
    notes: list[str] = [Sentence("{name}: {text}.", name=name, text=text) for name, text in facts.items() if text]
    notes += comparison.judge_tests
    how = comparison.method
    notes.append(as_sentence(how))
    return Table(title=title, columns=columns, rows=rows, lead=comparison.lead, notes=notes)


def corrected_difference_table(comparison: Comparison, corrected: CorrectedComparison) -> Table:
    """Return the differences of the scores without the judge's error."""
    heads = heads_of_counts(comparison.group)
    columns = [
        Column(key="what", header=gettext_noop("Figure")),
        *(
            Column(key=f"corrected_{side}", header=name, unit="%", kind="share")
            for side, name in (("first", comparison.first), ("second", comparison.second))
        ),
        Column(key="value", header=gettext_noop("Difference"), unit="points", kind="share", interval="interval"),
        *TEST_COLUMNS,
        Column(key="n", header=heads["judged"], kind="count"),
        Column(key="aligned", header=heads["aligned"], kind="count"),
    ]
    rows = [
        plain(row)
        | {"corrected_first": row.first, "corrected_second": row.second, "interval_reason": row.reason}
        | {"shown": significance_text(row.value, row.p_adjusted)}
        for row in corrected.rows
    ]
    warnings = [side.differing for side in corrected.sides if side.warns and side.differing is not None]
    return Table(
        title=Sentence(
            "Corrected for the judge's error: {first} minus {second}", first=comparison.first, second=comparison.second
        ),
        columns=columns,
        rows=rows,
        lead=list(dict.fromkeys(map(differing_text, warnings))),
        notes=[*_corrected_by(comparison, corrected), corrected_note(comparison.group), _family(corrected)],
    )


def _corrected_by(comparison: Comparison, corrected: CorrectedComparison) -> list[str]:
    sources = [
        labelled(name, corrected_by(side))
        for name, side in zip((comparison.first, comparison.second), corrected.sides, strict=True)
    ]
    return [Sentence("By study and judge: {sources}.", sources=clauses(*sources))]


def _family(corrected: CorrectedComparison) -> str:
    return Sentence("Holm's correction over the {tests} tests of this table alone.", tests=corrected.tests)


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
