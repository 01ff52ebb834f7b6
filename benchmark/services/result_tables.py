"""The tables that every metric group has: its ranking with every figure, and its score by category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.domain.report_rows import ReportRow
from benchmark.domain.tables import Cell, Cells, Column, Items, Table, in_order, share_column, short_name_texts
from benchmark.suites.groups import GUESSED, LEFT_OUT, WRONG, MetricGroup
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named, units_of_group
from benchmark.suites.reports import LabelledCounts
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.corrected import (
    basis_columns,
    corrected_columns,
    corrected_leads,
    corrected_notes,
    corrected_values,
)
from benchmark.suites.showing.entrants import (
    measured,
    parses_in,
    ranked_by,
    ranked_within,
    row_of,
    short_names_of,
    unjudged,
    with_settings,
)
from benchmark.suites.showing.judges import COLUMN, NOTE, notes_of, tests_of
from benchmark.suites.showing.levels import LEVELS_NOTE, category_level_rows, level_notes, level_rows
from benchmark.suites.showing.missing import leads, missing_of, unlike_missing
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, word

PEOPLE_NOTE = gettext_noop(
    "People are scored like models, on the cells that they labelled, against gold without their own vote or "
    "decision: as the record, another expert or the other votes settle the cell. A cell that these leave open does "
    "not count. The figure against gold that contains their own votes stands beside it and flatters them. People are "
    "not an upper bound and are never marked as best."
)
OWN_GROUP = gettext_noop("Own votes in gold (%)")
SETTLERS = {
    "votes": gettext_noop("the other votes"),
    "expert": gettext_noop("an expert"),
    "record": gettext_noop("the record"),
}


def own_columns(entrants: Sequence[EntrantResults]) -> list[Column]:
    """Overall accuracy of people against gold that contains their own votes, by parse; none without people."""
    own_parses = [own for entrant in entrants if (own := entrant.metrics.own)]
    return [
        Column(key=f"own_{name}", header=name.capitalize(), kind="share", group=OWN_GROUP)
        for name in PARSES
        if any(own.of(name) for own in own_parses)
    ]


def own_values(entrant: EntrantResults, group: str) -> Cells:
    own, score = entrant.metrics.own, group_named(group).score
    return {f"own_{name}": own.overall(name).cell(score) for name in PARSES} if own else {}


def labelled_notes(entrants: Sequence[EntrantResults]) -> list[str]:
    """Return a note on how much of what models were asked each person labelled, and how much of that counts."""
    counts_by_model = [(entrant.model, counts) for entrant in entrants if (counts := entrant.metrics.labelled)]
    shares = [labelled(name, _labelled(counts)) for name, counts in counts_by_model]
    return [Sentence("Labelled by {shares}.", shares=clauses(*shares))] if shares else []


def _labelled(counts: LabelledCounts) -> str:
    total = Sentence(
        "{cells} of {of_cells} cells in {stories} of {of_stories} stories",
        cells=f"{counts.cells:,}",
        of_cells=f"{counts.of_cells:,}",
        stories=f"{counts.stories:,}",
        of_stories=f"{counts.of_stories:,}",
    )
    cells = counts.settled
    settled = listed(
        (Sentence("{cells} by {who}", cells=f"{cells[by]:,}", who=who) for by, who in SETTLERS.items() if cells[by])
    )
    return Sentence(
        "{total}, of which {cells} count ({settled}) and {open} stay open",
        total=total,
        cells=f"{counts.cells - counts.open:,}",
        settled=settled or word("none is settled"),
        open=f"{counts.open:,}",
    )


GROUPS = {"official": gettext_noop("Official parse (%)"), "repaired": gettext_noop("Repaired parse (%)")}
RANKING, MISSING = gettext_noop("Ranking"), gettext_noop("Missing answers (%)")
RANK_NOTE = gettext_noop(
    "Rank: by the score with every missing answer at its worst, an order that refusing cannot improve. Its "
    "brackets, from eight models on: 95 % bootstrap intervals."
)
GROUP_NOTE = gettext_noop(
    "Group: models without a common letter are shown to differ. Paired sign-flip test on these scores, Holm's "
    "correction over all pairs and categories. People are neither ranked nor tested. The first of several models owes "
    "part of its score to luck: score and interval hold for a model that was named beforehand."
)
PARSE_NOTE = gettext_noop(
    "Repaired leaves out what cannot be read, failed calls and judgements that are lacking; {officially}. "
    "Brackets: 95 % intervals over {units}."
)
OFFICIALLY = {
    WRONG: gettext_noop("official takes what it cannot read for wrong"),
    LEFT_OUT: (
        gettext_noop(
            "official leaves out what it cannot read, and n says how many it is of; rank and marks take the others "
            "at their worst there too"
        )
    ),
    GUESSED: gettext_noop("official reads an answer in any text, so that one of its right answers can be luck"),
}
UNJUDGED_NOTE = gettext_noop(
    "Rows not judged: predicted and gold rows that the judge gave no count. They are in no estimate; bounds and "
    "interval take them as unmatched, and as matched."
)


def group_table(entrants: Sequence[EntrantResults], group: str) -> Table:
    """Every figure of a metric group: the ranking, what is missing, then both parses."""
    described = group_named(group)
    rows, below = _ranked([(entrant, _group_row(entrant, group)) for entrant in entrants])
    table = Table(
        title=described.title,
        columns=_group_columns(entrants, group),
        rows=rows,
        totals=[*below, *level_rows(entrants, group)],
        lead=[*leads(entrants, group), *corrected_leads(entrants)],
        notes=_notes(entrants, group),
        ranking=ranked_by(entrants),
    )
    return with_settings(table)


def _group_columns(entrants: Sequence[EntrantResults], group: str) -> list[Column]:
    described = group_named(group)
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *corrected_columns(entrants, group),  # in sight on a narrow screen, as what is to be read first
        *_ranking_columns("repaired", RANKING),
        *_missing_columns(described),
    ]
    for parse in reversed(parses_in(entrants)):  # the repaired one, which the ranking goes by, first
        if parse == "official":
            columns += [*_ranking_columns(parse, GROUPS[parse]), *_count_columns(entrants, described)]
        columns += [_metric_column(parse, name, described) for name in described.headers]
    columns += basis_columns(entrants, group)
    columns += own_columns(entrants)
    columns.append(Column(key="stories", header=nouns_of_group(group)[1].capitalize(), kind="count"))
    return columns + ([COLUMN] if tests_of(entrants) else [])


def _missing_columns(group: MetricGroup) -> list[Column]:
    score = group.headers[group.score]
    return [
        Column(key="unreadable", header=gettext_noop("Left out"), digits=1, kind="share", group=MISSING),
        Column(
            key="low",
            header=Sentence("{score}, worst case", score=word(score)),
            best="high",
            kind="share",
            group=MISSING,
        ),
        Column(key="high", header=Sentence("{score}, best case", score=word(score)), kind="share", group=MISSING),
        *([Column(key="unjudged", header=gettext_noop("Rows not judged"), kind="count")] if group.judged else []),
    ]


def _count_columns(entrants: Sequence[EntrantResults], group: MetricGroup) -> list[Column]:
    """The numbers of answers that the official figures are of and leave out, where they leave out any or their suite
    says that they do."""
    if group.unreadable_as != LEFT_OUT and not any(_official(entrant).unreadable for entrant in entrants):
        return []
    heads = {"n": "n", "unreadable": gettext_noop("Unreadable")}
    return [
        Column(key=f"official_{name}", header=head, kind="count", group=GROUPS["official"])
        for name, head in heads.items()
    ]


def _official(entrant: EntrantResults) -> ReportRow:
    return entrant.parses.overall("official")


def _metric_column(parse: str, name: str, group: MetricGroup) -> Column:
    return share_column(f"{parse}_{name}", group.headers[name], unit="", group=GROUPS[parse])


def _ranking_columns(parse: str, group: str) -> list[Column]:
    rank = Column(key=f"{parse}_rank", header=gettext_noop("Rank"), kind="count", group=group)
    return [rank, Column(key=f"{parse}_group", header=gettext_noop("Group"), group=group)]


def _ranked(rows: Sequence[tuple[EntrantResults, Cells]]) -> tuple[list[Cells], list[Cells]]:
    """Rows to sort and to mark the best of, and those that stand below: experts, whose decisions are gold."""
    below = [row for entrant, row in rows if entrant.role == "expert"]
    ranked = [row for entrant, row in rows if entrant.role != "expert"]
    return (ranked, below) if ranked else (below, [])


def _group_row(entrant: EntrantResults, group: str) -> Cells:
    missing, ranking = missing_of(entrant, group), entrant.ranking.get("repaired")
    by_parse = [_of_parse(entrant, group, parse) for parse in PARSES]
    cells: Cells = {
        **{key: cell for cells in by_parse for key, cell in cells.items()},
        **corrected_values(entrant),
        **own_values(entrant, group),
        "unreadable": missing.left_out,
        "unjudged": unjudged(entrant),
        "low": Cell(missing.low, ranking.interval, reason=ranking.interval_reason) if ranking else missing.low,
        "high": missing.high,
        "stories": missing.stories,
        "official_n": _official(entrant).n,
        "official_unreadable": _official(entrant).unreadable,
    }
    return row_of(entrant, group, cells, _where(group))


def _of_parse(entrant: EntrantResults, group: str, parse: str) -> Cells:
    ranking = entrant.ranking.get(parse)
    overall = entrant.parses.overall(parse)
    # the released code may count other sets
    n = overall.samples if group_named(group).unit and entrant.parses.of(parse) else None
    return {
        **{f"{parse}_{name}": replace(overall.cell(name), n=n) for name in group_named(group).headers},
        f"{parse}_rank": Cell(ranking.rank, ranking.ranks, reason=ranking.ranks_reason) if ranking else None,
        f"{parse}_group": entrant.group[parse],
    }


def _where(group: str) -> dict[str, Items]:
    """The items behind each figure."""
    names = group_named(group).headers
    where = {f"{parse}_{name}": Items(measured(group, name, parse)) for parse in PARSES for name in names}
    where |= {key: Items({"problem": "missing"}) for key in ("unreadable", "low", "high")}
    return where | {"unjudged": Items({"problem": "gaps"})}


def _notes(entrants: Sequence[EntrantResults], group: str) -> list[str]:
    described = group_named(group)
    parse = PARSE_NOTE.format(officially=OFFICIALLY[described.unreadable_as], units=units_of_group(group))
    notes = [RANK_NOTE, GROUP_NOTE, parse]
    notes += [*described.notes, *level_notes(entrants)]
    if described.judged:
        notes += [UNJUDGED_NOTE] if any(unjudged(entrant) for entrant in entrants) else []
        notes += corrected_notes(entrants, group)
        notes += [NOTE, *notes_of(entrants)] if tests_of(entrants) else []
    notes += ranked_within(entrants)
    notes += _unofficial(entrants)
    if any(entrant.kind == "person" for entrant in entrants):
        notes += [PEOPLE_NOTE, *labelled_notes(entrants)]
    return notes


def _unofficial(entrants: Sequence[EntrantResults]) -> list[str]:
    """Say why there is no official figure, a note for each reason."""
    models: dict[str, list[str]] = {}
    for entrant in entrants:
        if not entrant.parses.official:
            models.setdefault(entrant.metrics.reason, []).append(entrant.model)
    return [
        why
        if len(names) == len(entrants)
        else Sentence("No official figure of {names}: {why}", names=listed(names), why=why)
        for why, names in models.items()
        if why
    ]


def category_table(entrants: Sequence[EntrantResults], group: str) -> Table:
    """The score of a metric group by category, official beside repaired."""
    short = short_names_of(group)
    categories = in_order(
        (name for entrant in entrants for parse in PARSES for name in entrant.parses.by_category(parse)), short
    )
    columns = [Column(key="model", header=gettext_noop("Model"))]
    for category in categories:
        columns += [_category_column(parse, category, short.get(category, category)) for parse in parses_in(entrants)]
    ranked, below = _ranked([(entrant, _category_row(entrant, group)) for entrant in entrants])
    nouns, levels = Sentence("n: {samples}.", samples=word(nouns_of_group(group)[1])), category_level_rows(entrants)
    table = Table(
        title=Sentence(
            "{score_title} by {category_noun} (%)",
            score_title=group_named(group).score_title,
            category_noun=suite_named(group_suite(group)).results.category_noun,
        ),
        columns=columns,
        rows=ranked,
        totals=[*below, *levels],
        lead=unlike_missing({group: entrants}),
        notes=[
            *short_name_texts(categories, short),
            nouns,
            *([LEVELS_NOTE] if levels else []),
            *ranked_within(entrants),
        ],
        ranking=ranked_by(entrants),
    )
    return with_settings(table)


HEADS = {"official": gettext_noop("Official"), "repaired": gettext_noop("Repaired")}


def _category_column(parse: str, category: str, group: str) -> Column:
    return share_column(f"{parse} {category}", HEADS[parse], unit="", group=group)


def _category_row(entrant: EntrantResults, group: str) -> Cells:
    score = group_named(group).score
    row: Cells = {}
    where: dict[str, Items] = {}
    for parse in PARSES:
        for category, metrics in entrant.parses.by_category(parse).items():
            key = f"{parse} {category}"
            row[key] = replace(metrics.cell(score), n=metrics.samples)
            where[key] = Items({"category": category} | measured(group, score, parse))
    return row_of(entrant, group, row, where)
