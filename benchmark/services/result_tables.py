"""The tables that every metric group has: its ranking with every figure, which pages and files also draw, and its score
by category."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from benchmark.domain.drawn import RankedRow
from benchmark.domain.tables import Cell, Cells, Column, Items, Table, in_order, share_column, short_name_texts
from benchmark.suites.groups import GUESSED, LEFT_OUT, WRONG, MetricGroup
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named, units_of_group
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
    score_of,
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


def _labelled_note(entrants: Sequence[EntrantResults]) -> list[str]:
    """Say how much of what models were asked each person labelled, and how much of that counts."""
    shares = []
    for entrant in entrants:
        if counts := entrant.metrics.labelled:
            settled = [
                Sentence("{cells} by {who}", cells=f"{cells:,}", who=SETTLERS[by])
                for by, cells in counts.settled.items()
                if cells
            ]
            total = Sentence(
                "{cells} of {of_cells} cells in {stories} of {of_stories} stories",
                cells=f"{counts.cells:,}",
                of_cells=f"{counts.of_cells:,}",
                stories=f"{counts.stories:,}",
                of_stories=f"{counts.of_stories:,}",
            )
            text = Sentence(
                "{total}, of which {cells} count ({settled}) and {open} stay open",
                total=total,
                cells=f"{counts.cells - counts.open:,}",
                settled=listed(settled) or word("none is settled"),
                open=f"{counts.open:,}",
            )
            shares.append(labelled(entrant.model, text))
    return [Sentence("Labelled by {shares}.", shares=clauses(*shares))] if shares else []


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
    rows, below = _ranked(entrants, group, _group_row)
    table = Table(
        title=group_named(group).title,
        columns=_group_columns(entrants, group_named(group)),
        rows=rows,
        totals=[*below, *level_rows(entrants, group)],
        lead=[*leads(entrants, group), *corrected_leads(entrants)],
        notes=_notes(entrants, group),
        ranking=ranked_by(entrants),
    )
    return with_settings(table)


def _group_columns(entrants: Sequence[EntrantResults], group: MetricGroup) -> list[Column]:
    score, noun = word(group.headers[group.score]), nouns_of_group(group.key)[1].capitalize()
    count, share = partial(Column, kind="count"), partial(Column, kind="share")

    def ranking(parse: str, heading: str) -> list[Column]:
        rank = count(key=f"{parse}_rank", header=gettext_noop("Rank"), group=heading)
        return [rank, Column(key=f"{parse}_group", header=gettext_noop("Group"), group=heading)]

    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *corrected_columns(entrants, group.key),  # in sight on a narrow screen, as what is to be read first
        *ranking("repaired", RANKING),
        share(key="unreadable", header=gettext_noop("Left out"), digits=1, group=MISSING),
        share(key="low", header=Sentence("{score}, worst case", score=score), best="high", group=MISSING),
        share(key="high", header=Sentence("{score}, best case", score=score), group=MISSING),
    ]
    if group.judged:
        columns.append(count(key="unjudged", header=gettext_noop("Rows not judged")))
    for parse in reversed(parses_in(entrants)):  # the repaired one, which the ranking goes by, first
        heading = GROUPS[parse]
        if parse == "official":
            columns += ranking(parse, heading)
            left_out = any(entrant.parses.overall(parse).unreadable for entrant in entrants)
            if left_out or group.unreadable_as == LEFT_OUT:
                columns.append(count(key="official_n", header="n", group=heading))
                columns.append(count(key="official_unreadable", header=gettext_noop("Unreadable"), group=heading))
        columns += [
            share_column(f"{parse}_{name}", header, unit="", group=heading) for name, header in group.headers.items()
        ]
    columns += basis_columns(entrants, group.key)
    own = [own for entrant in entrants if (own := entrant.metrics.own)]  # people against gold with their own votes
    columns += [
        share(key=f"own_{parse}", header=parse.capitalize(), group=OWN_GROUP)
        for parse in PARSES
        if any(both.of(parse) for both in own)
    ]
    return [*columns, count(key="stories", header=noun), *([COLUMN] if tests_of(entrants) else [])]


def _ranked(
    entrants: Sequence[EntrantResults], group: str, row_of_entrant: Callable[[EntrantResults, str], Cells]
) -> tuple[list[Cells], list[Cells]]:
    """Return the rows to sort and to mark the best of, and those below them: experts, whose decisions are gold."""
    ranked, below = (
        [row_of_entrant(entrant, group) for entrant in entrants if (entrant.role == "expert") is experts]
        for experts in (False, True)
    )
    return (ranked, below) if ranked else (below, [])


def _group_row(entrant: EntrantResults, group: str) -> Cells:
    described, missing, own = group_named(group), missing_of(entrant, group), entrant.metrics.own
    official, repaired = entrant.parses.overall("official"), entrant.ranking.get("repaired")
    low = Cell(missing.low, repaired.interval, reason=repaired.interval_reason) if repaired else missing.low
    cells: Cells = {
        **corrected_values(entrant),
        "unreadable": missing.left_out,
        "unjudged": unjudged(entrant),
        "low": low,
        "high": missing.high,
        "stories": missing.stories,
        "official_n": official.n,
        "official_unreadable": official.unreadable,
    }
    where = {key: Items({"problem": "missing"}) for key in ("unreadable", "low", "high")}
    where["unjudged"] = Items({"problem": "gaps"})
    for parse in PARSES:
        ranking, overall = entrant.ranking.get(parse), entrant.parses.overall(parse)
        # the released code may count other sets
        n = overall.samples if described.unit and entrant.parses.of(parse) else None
        for name in described.headers:
            cells[f"{parse}_{name}"] = replace(overall.cell(name), n=n)
            where[f"{parse}_{name}"] = Items(measured(group, name, parse))
        cells[f"{parse}_rank"] = Cell(ranking.rank, ranking.ranks, reason=ranking.ranks_reason) if ranking else None
        cells[f"{parse}_group"] = entrant.group[parse]
        if own:
            cells[f"own_{parse}"] = own.overall(parse).cell(described.score)
    return row_of(entrant, group, cells, where)


def _notes(entrants: Sequence[EntrantResults], group: str) -> list[str]:
    described = group_named(group)
    parse = PARSE_NOTE.format(officially=OFFICIALLY[described.unreadable_as], units=units_of_group(group))
    notes = [RANK_NOTE, GROUP_NOTE, parse, *described.notes, *level_notes(entrants)]
    if described.judged:
        notes += [UNJUDGED_NOTE] if any(unjudged(entrant) for entrant in entrants) else []
        notes += corrected_notes(entrants, group)
        notes += [NOTE, *notes_of(entrants)] if tests_of(entrants) else []
    notes += ranked_within(entrants)
    models: dict[str, list[str]] = {}
    for entrant in entrants:
        if not entrant.parses.official and entrant.metrics.reason:
            models.setdefault(entrant.metrics.reason, []).append(entrant.model)
    for why, names in models.items():
        text = Sentence("No official figure of {names}: {why}", names=listed(names), why=why)
        notes.append(why if len(names) == len(entrants) else text)
    people = any(entrant.kind == "person" for entrant in entrants)
    return notes + ([PEOPLE_NOTE, *_labelled_note(entrants)] if people else [])


HEADS = {"official": gettext_noop("Official"), "repaired": gettext_noop("Repaired")}


def category_table(entrants: Sequence[EntrantResults], group: str) -> Table:
    """The score of a metric group by category, official beside repaired."""
    described, short = group_named(group), short_names_of(group)
    categories = in_order(
        (name for entrant in entrants for parse in PARSES for name in entrant.parses.by_category(parse)), short
    )
    columns = [Column(key="model", header=gettext_noop("Model"))]
    columns += [
        share_column(f"{parse} {category}", HEADS[parse], unit="", group=short.get(category, category))
        for category in categories
        for parse in parses_in(entrants)
    ]
    rows, below = _ranked(entrants, group, _category_row)
    levels = category_level_rows(entrants)
    table = Table(
        title=Sentence(
            "{score_title} by {category_noun} (%)",
            score_title=described.score_title,
            category_noun=suite_named(group_suite(group)).results.category_noun,
        ),
        columns=columns,
        rows=rows,
        totals=[*below, *levels],
        lead=unlike_missing({group: entrants}),
        notes=[
            *short_name_texts(categories, short),
            Sentence("n: {samples}.", samples=word(nouns_of_group(group)[1])),
            *([LEVELS_NOTE] if levels else []),
            *ranked_within(entrants),
        ],
        ranking=ranked_by(entrants),
    )
    return with_settings(table)


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


def leaderboard_rows(entrants: Sequence[EntrantResults], group: str) -> list[RankedRow]:
    """Return the row of each entrant in the plot of a ranking."""
    rows = []
    for entrant in entrants:
        missing, ranking = missing_of(entrant, group), entrant.ranking.get("repaired")
        rows.append(
            RankedRow(
                model=entrant.model,
                group=entrant.group["repaired"],
                ranks=ranking.ranks if ranking else None,
                official=score_of(entrant, "official", group),
                repaired=score_of(entrant, "repaired", group),
                corrected=entrant.corrected.scores.get(group_named(group).score) if entrant.corrected else None,
                left_out=missing.left_out,
                bounds=missing.bounds,
            )
        )
    return rows
