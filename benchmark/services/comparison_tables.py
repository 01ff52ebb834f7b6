"""Tables of differences between models: two compared, and all pairs of a ranking; and of scores corrected for the
judge's error."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmark.domain.asked_again import Difference
from benchmark.domain.inference import PairedDifference, significance_text
from benchmark.domain.matched_rows import F1
from benchmark.domain.tables import OF, Cell, Cells, Column, Source, Table
from benchmark.services.calibration import calibration
from benchmark.services.comparisons import Comparison
from benchmark.services.leaderboard_scope import Leaderboard
from benchmark.services.leaderboards import differences
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named, units_of_group
from benchmark.suites.showing.corrected import (
    BESIDE,
    corrected_by,
    corrected_leads,
    has_corrected,
    heads_of_counts,
    notes_of_counts,
)
from benchmark.suites.showing.entrants import ranked_by, ranked_within
from benchmark.suites.showing.missing import unlike_missing
from core.messages import Sentence, as_sentence, clauses, gettext_noop, labelled, word
from judge.domain.corrections import CorrectedComparison, CorrectedDifference, CorrectedRow, Corrections, differing_text

TEST_COLUMNS = (
    Column(key="p", header="p", kind="number", digits=4),
    Column(key="p_adjusted", header=gettext_noop("p, Holm"), kind="number", digits=4),
    Column(key="shown", header=gettext_noop("Shown to differ")),
)
"""Columns of the test of a difference."""
PAIR = (Column(key="first", header=gettext_noop("First")), Column(key="second", header=gettext_noop("Second")))
NOTES = (
    gettext_noop(
        "First minus second over the same {samples}, missing answers at their worst as in the ranking. Brackets: "
        "95 % intervals over {units}."
    ),
    gettext_noop(
        "Shown to differ: Holm-adjusted p of at most 0.05, and the {samples} that both answered do not point the "
        "other way."
    ),
    gettext_noop("Holm's correction runs over all rows of this metric group and parse, shown or not."),
)
CORRECTED_FAMILY = gettext_noop(
    "Over the stories that were judged of all of these models; Holm's correction runs over all rows, shown or not."
)
CORRECTED = "corrected"
"""Name of the table of corrected scores."""
_CORRECTED_GROUPS = {
    "official": gettext_noop("Official"),
    "lenient": gettext_noop("Lenient"),
    "corrected": gettext_noop("Corrected"),
}


def count_column(group: str) -> Column:
    """Return the column of how many samples a difference is over."""
    return Column(key="n", header=nouns_of_group(group)[1].capitalize(), kind="count")


# --- one model asked in two ways


def difference_cells(row: Difference) -> Cells:
    """Return the cells of an interpreted difference."""
    shares, (lowest, highest) = row.shares, row.open_bounds or (None, None)
    return {
        "value": Cell(row.value, row.interval, reason=row.reason), "n": row.n, "asked": row.asked,
        "lowest": lowest, "highest": highest, "p": row.p, "p_adjusted": row.p_adjusted, "shown": row.verdict,
        "first_missing": shares and shares.first, "second_missing": shares and shares.second,
        "alike": None if shares is None else gettext_noop("yes") if shares.alike else gettext_noop("no"),
    }  # fmt: skip


# --- two models
def _tested(
    group: str, names: Sequence[Column], rows: Sequence[Cells], counts: Mapping[str, str], **table: Any
) -> Table:
    """Return a table of differences with their tests: the columns that name a row, the difference, and the `counts`
    that it rests on, headings by key."""
    points = partial(Column, header=gettext_noop("Difference"), unit="points", kind="share")
    counted = [Column(key=key, header=header, kind="count") for key, header in counts.items()]
    columns = [*names, points(key="value"), *TEST_COLUMNS, *counted]
    if any("answered_n" in row for row in rows):
        both = gettext_noop("Answered by both")
        columns.append(points(key="answered_value", group=both))
        columns.append(replace(count_column(group), key="answered_n", group=both))
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


def _corrected_note(group: str) -> str:
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


def _all(group: str) -> str:
    return Sentence("All {group}", group=nouns_of_group(group)[1])


def difference_table(comparison: Comparison) -> Table:
    """Return the measures over all stories, of labelling each dimension among them, and the score by category."""
    group, first, second = comparison.group, comparison.first, comparison.second
    facts = {"Stories": comparison.selection, "Settings that differ": comparison.differ}
    notes = [Sentence("{name}: {text}.", name=name, text=text) for name, text in facts.items() if text]
    share = partial(Column, unit="%", kind="share")
    return _tested(
        group,
        [
            Column(key="part", header=gettext_noop("Over")),
            Column(key="what", header=gettext_noop("Figure")),
            share(key="first", header=first),
            share(key="second", header=second),
        ],
        [
            {"part": "Category" if row.category else _all(group), "what": row.what, "key": row.key}
            | {"first": row.first, "second": row.second, **_test_cells(row)}
            for row in comparison.rows
        ],
        {"n": nouns_of_group(group)[1].capitalize()},
        title=Sentence(
            "{score_title}: {first} minus {second}, {parse} parse",
            score_title=group_named(group).score_title,
            first=first,
            second=second,
            parse=word(comparison.parse),
        ),
        lead=comparison.lead,
        notes=[*notes, *comparison.judge_tests, as_sentence(comparison.method)],
    )


def corrected_difference_table(comparison: Comparison, corrected: CorrectedComparison) -> Table:
    """Return the differences of the scores without the judge's error."""
    heads, (first, second) = heads_of_counts(comparison.group), (comparison.first, comparison.second)
    warnings = [side.differing for side in corrected.sides if side.warns and side.differing is not None]
    sources = [labelled(name, corrected_by(side)) for name, side in zip((first, second), corrected.sides, strict=True)]
    share = partial(Column, unit="%", kind="share")
    return _tested(
        comparison.group,
        [
            Column(key="what", header=gettext_noop("Figure")),
            share(key="corrected_first", header=first),
            share(key="corrected_second", header=second),
        ],
        [
            {"what": row.what, "corrected_first": row.first, "corrected_second": row.second, **_test_cells(row)}
            for row in corrected.rows
        ],
        {"n": heads["judged"], "aligned": heads["aligned"]},
        title=Sentence("Corrected for the judge's error: {first} minus {second}", first=first, second=second),
        lead=list(dict.fromkeys(map(differing_text, warnings))),
        notes=[
            Sentence("By study and judge: {sources}.", sources=clauses(*sources)),
            _corrected_note(comparison.group),
            Sentence("Holm's correction over the {tests} tests of this table alone.", tests=corrected.tests),
        ],
    )


def story_table(comparison: Comparison) -> Table:
    group, noun = group_named(comparison.group), nouns_of_group(comparison.group)[0]
    share = partial(Column, kind="share")
    category = [Column(key="category", header=gettext_noop("Category"))]
    columns = [
        Column(key="number", header=f"{noun.capitalize()}{', by its first question' * bool(group.unit)}"),
        *(category if any(story["category"] for story in comparison.stories) else ()),
        share(key="first", header=comparison.first, unit="%"),
        share(key="second", header=comparison.second, unit="%"),
        share(key="difference", header=gettext_noop("Difference"), unit="points"),
    ]
    about = {"score_title": group.score_title, "noun": word(noun), "parse": word(comparison.parse)}
    title = Sentence("{score_title} by {noun}, {parse} parse", **about)
    return Table(title=title, columns=columns, rows=comparison.stories, lead=comparison.lead)


def tables_of(comparison: Comparison) -> dict[str, Callable[[], Table]]:
    """Return the tables by name, made when they are asked for."""
    tables: dict[str, Callable[[], Table]] = {"differences": partial(difference_table, comparison)}
    if (corrected := comparison.corrected) and corrected.rows:
        tables["corrected"] = partial(corrected_difference_table, comparison, corrected)
    return tables | {"stories": partial(story_table, comparison)}


# --- all pairs of a ranking
def pair_table(leaderboard: Leaderboard, group: str, parse: str) -> Table:
    """Return all pairs of models of a ranking over all stories and, unless some are withheld, in each category: the
    biggest difference first, those without one last. A row has the keys of both entrants and its `category`."""
    entrants, many = leaderboard.entrants[group], nouns_of_group(group)[1]
    tested = differences(entrants, group, leaderboard.chosen)[parse]
    names = {entrant.key: entrant.model for entrant in entrants}
    pairs = [pair for pair in tested.pairs if not (leaderboard.withheld and pair.category)]
    pairs.sort(key=lambda pair: (names[pair.first], names[pair.second], pair.category))
    pairs.sort(key=lambda pair: (pair.value is None, -abs(pair.value or 0)))
    return _tested(
        group,
        [*PAIR, Column(key="over", header=gettext_noop("Over"))],
        [
            {"first": names[pair.first], "second": names[pair.second]}
            | {"first_key": pair.first, "second_key": pair.second, "over": pair.category or _all(group)}
            | _test_cells(pair)
            for pair in pairs
        ],
        {"n": many.capitalize()},
        title=Sentence(
            "{score_title}: differences between models, {parse} parse",
            score_title=group_named(group).score_title,
            parse=word(parse),
        ),
        lead=unlike_missing({group: entrants}),
        notes=[
            *(note.format(samples=many, units=units_of_group(group)) for note in NOTES),
            as_sentence(tested.method),
            *ranked_within(entrants),
        ],
        ranking=ranked_by(entrants),
        absent=[absence.absent_model for absence in leaderboard.absent if absence.group == group],
    )


def corrected_pair_table(leaderboard: Leaderboard, group: str) -> Table | None:
    """Return all pairs of models of a ranking by their corrected scores. Returns None if no two have one that the
    reader may know."""
    entrants = [entrant for entrant in leaderboard.entrants.get(group, ()) if has_corrected([entrant])]
    stories = leaderboard.chosen.stories if leaderboard.chosen else None
    pairs = calibration.differences(entrants, leaderboard.runs, group, stories) if entrants else []
    if not pairs:
        return None
    described, heads = group_named(group), heads_of_counts(group)
    sources = dict.fromkeys(corrected_by(entrant.corrected) for entrant in entrants if entrant.corrected)
    names = ("first", "second", "first_key", "second_key")
    return _tested(
        group,
        PAIR,
        [{name: getattr(pair, name) for name in names} | _test_cells(pair.difference) for pair in pairs],
        {"n": heads["judged"], "aligned": heads["aligned"]},
        title=Sentence(
            "{score} corrected for the judge's error: differences between models",
            score=word(described.headers[described.corrected[F1]]),
        ),
        lead=corrected_leads(entrants),
        notes=[
            Sentence("By study and judge: {sources}.", sources=clauses(*sources)),
            _corrected_note(group),
            CORRECTED_FAMILY,
            *ranked_within(entrants),
        ],
    )


# --- scores of one ranking without the judge's error
def correction_table(corrections: Corrections) -> Table:
    """Tabulate the official, lenient and corrected scores of each model."""
    group, described = corrections.group, group_named(corrections.group)
    heads = {metric: described.headers[share] for metric, share in described.corrected.items()}
    return Table(
        title=gettext_noop("Scores corrected for the judge's error"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            *(
                Column(key=f"{name}-{metric}", header=header, kind="share", unit="%", group=heading)
                for name, heading in _CORRECTED_GROUPS.items()
                for metric, header in heads.items()
            ),
            *(Column(key=key, header=header, kind="count") for key, header in heads_of_counts(group).items()),
            *BESIDE.values(),
            Column(key="effective", header=gettext_noop("Effective sample size"), kind="number", digits=1),
        ],
        rows=[_corrected_cells(row, corrections) for row in corrections.rows],
        lead=[differing_text(corrections.differing)] if corrections.warns and corrections.differing is not None else [],
        notes=[
            Sentence(
                "Corrected: prediction-powered (PPI++) from the judge's scores of all {judged} that could be "
                "drawn and what people said of the aligned ones, in the study {study}. Brackets: 95 % "
                "intervals over aligned {aligned}.",
                judged=nouns_of_group(group)[1],
                study=corrections.study,
                aligned=units_of_group(group),
            ),
            *notes_of_counts(group),
        ],
    )


def _corrected_cells(row: CorrectedRow, corrections: Corrections) -> Cells:
    cells: Cells = {
        name: getattr(row, name) for name in ("model", "aligned", "judged", "unjudged", "unseen", "effective")
    }
    for metric in group_named(corrections.group).corrected:
        cells[f"official-{metric}"] = row.official.get(metric)
        cells[f"lenient-{metric}"] = row.lenient.get(metric)
        if score := row.corrected.get(metric):
            cells[f"corrected-{metric}"] = Cell(score.value, score.interval, reason=score.reason)
    cells[OF] = Source(
        key=row.key, kind=row.kind, run=row.run, entrant=row.entrant, group=corrections.group,
        study=corrections.uid, version=corrections.version,
    )  # fmt: skip
    return cells
