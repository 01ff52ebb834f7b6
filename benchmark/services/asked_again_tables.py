"""Tables and plots of models that were asked again, under controls or by other methods."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from benchmark.controls.chosen import CONTROLS, STORYLESS
from benchmark.domain import plots
from benchmark.domain.asked_again import AskedAgain, AskedAgainResults
from benchmark.domain.drawn import Plot
from benchmark.domain.tables import OF, Cell, Cells, Column, Items, Source, Table, bounds_text, with_items
from benchmark.services.comparison_tables import TEST_COLUMNS, difference_cells
from benchmark.services.leaderboards import SEED
from benchmark.services.repetition_tables import COMPARED, SAME_SCORE, flip_columns
from benchmark.suites.groups import Parts
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import (
    group_named,
    group_suite,
    nouns_of_group,
    ordered_keys,
    suite_named,
    units_of_group,
)
from benchmark.suites.results import ShownPicture, ShownTable
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, uncapitalised, word
from core.plain import Json
from core.statistics import MISSING_RULE, method

MOST_STORIES = 100
"""Most stories of a table of flips; the page of flips has all."""
SAME_ANSWER = gettext_noop(
    "Same answer: the share of what a model answered both ways to which it gave the same answer; an answer that cannot "
    "be read is another than any that can."
)
NO_BASELINE = gettext_noop(
    "No baseline was asked: with “random” among the models, the table has what guessing gives beside what cues give."
)
OF_SETS = gettext_noop(
    "A set of which a control changes some questions counts under it with its other answers as published: they "
    "are to the same questions."
)
AT_CHANCE = gettext_noop(
    "The score without the story is what cues in question and options give by themselves, or memory; rows of "
    "baselines say what guessing gives."
)
UNCHANGED = gettext_noop(
    "What stays as it is was not asked again, and is in no difference but those of sets of which something changes."
)
SCORED = gettext_noop("Without a score")


def control_tables(controls: AskedAgainResults, parse: str) -> Iterator[tuple[str, ShownTable]]:
    """Yield the tables of one parse by name, without the parse."""
    for group in ordered_keys(controls.rows):
        if rows := controls.rows[group][parse]:
            yield f"controls-{group}", ShownTable(partial(control_table, rows, controls, group, parse))
            if any(row.stories for row in rows):
                yield f"flips-{group}", ShownTable(partial(flip_table, rows, group, parse))
    yield "controls-left", ShownTable(partial(left_table, controls.left))


def method_tables(methods: AskedAgainResults, parse: str) -> Iterator[tuple[str, ShownTable]]:
    """Yield the tables of one parse by name, without the parse."""
    for group in ordered_keys(methods.rows):
        if why := methods.without_parts.get(group):
            yield f"method-parts-{group}", ShownTable(partial(_failed, why))
        if (rows := methods.parts.get(group, {}).get(parse)) and (parts := group_named(group).parts):
            yield f"method-parts-{group}", ShownTable(partial(part_table, rows, parts, methods, group, parse))
        if rows := methods.rows[group].get(parse):
            yield f"method-scores-{group}", ShownTable(partial(score_table, rows, methods, group, parse))
            yield f"methods-{group}", ShownTable(partial(method_table, rows, methods, group, parse))


def _failed(why: str) -> Table:
    raise SuiteFailed(why)


# --- what all tables share


def _title(text: str, group: str, parse: str, **names: str) -> str:
    return Sentence(text, score_title=group_named(group).score_title, parse=word(parse), **names)


def _capitalized(title: str) -> str:
    """Return a title at the beginning of a cell. Titles with capital letters are names."""
    return title.capitalize() if title.islower() else title


def _columns(
    group: str, name: Column, sides: Mapping[str, str], ends: tuple[str, str], more: Sequence[Column] = ()
) -> list[Column]:
    """Return the columns of tested differences: the name of a row, the score on both sides, the difference, and what it
    rests on: what is missing at the two `ends`, its bounds, and the samples answered and asked both ways."""
    missing = partial(Column, kind="share", unit="%", group=gettext_noop("Without a score"), digits=1)
    bound = partial(Column, kind="share", unit="points", group=gettext_noop("Bounds"), digits=1)
    counted = partial(Column, kind="count", group=nouns_of_group(group)[1].capitalize())
    return [
        name,
        *(Column(key=key, header=header, kind="share", unit="%") for key, header in sides.items()),
        Column(key="value", header=gettext_noop("Difference"), unit="points", kind="share"),
        *TEST_COLUMNS,
        missing(key="first_missing", header=ends[0]),
        missing(key="second_missing", header=ends[1]),
        Column(key="alike", header=gettext_noop("Alike"), group=gettext_noop("Without a score")),
        bound(key="lowest", header=gettext_noop("Lowest")),
        bound(key="highest", header=gettext_noop("Highest")),
        counted(key="n", header=gettext_noop("Answered both ways")),
        counted(key="asked", header=gettext_noop("Asked both ways")),
        *more,
    ]


def _row(cells: Cells, row: AskedAgain, group: str, behind: Mapping[str, AskedAgain], unranked: bool = True) -> Cells:
    """Return the row of a table. `behind` has the row whose answers are behind a cell, by column."""
    items = {key: Items(run=each.beside, entrant=each.beside_entrant) for key, each in behind.items() if each.beside}
    source = Source(key=row.key, kind=row.kind, run=row.run, entrant=row.entrant, group=group, unranked=unranked)
    return {**with_items(cells, items), OF: source}


def _tested(first: str, second: str, rows: Sequence[AskedAgain], group: str) -> str:
    """Return how the differences of a table are computed and tested."""
    unit = units_of_group(group)
    return Sentence(
        "Difference: {first} less {second}, over what was answered both ways; {method}; two-sided sign-flip test over "
        "{unit}; Holm's correction over the {tests} tests of this table.",
        first=word(first), second=word(second), method=method(seed=SEED, unit=unit), unit=word(unit),
        tests=sum(row.p is not None for row in rows),
    )  # fmt: skip


def _unfinished(results: AskedAgainResults) -> list[str]:
    text = gettext_noop("Not finished: {unfinished}. What has no answer yet counts as missing.")
    return [Sentence(text, unfinished=listed(results.unfinished))] if results.unfinished else []


# --- controls


def control_table(rows: Sequence[AskedAgain], controls: AskedAgainResults, group: str, parse: str) -> Table:
    """Tabulate each model under each control, next to its score as published."""
    published, controlled = gettext_noop("As published"), gettext_noop("Under the control")
    by_score = _by_score(rows)
    both = partial(Column, group=gettext_noop("Both ways"))
    more = [
        both(key="same_answer", header=gettext_noop("Same answer"), kind="share", unit="%"),
        both(key="same_score", header=gettext_noop("Same score"), kind="share", unit="%"),
        both(
            key="flipped",
            header=gettext_noop("Another score") if by_score else gettext_noop("Another answer"),
            kind="count",
        ),
    ]
    names = dict.fromkeys(row.way for row in rows)
    lead = [
        Sentence("{name}: {text}.", name=CONTROLS[name].title.capitalize(), text=CONTROLS[name].interpretation)
        for name in names
    ]
    notes = [_tested(gettext_noop("as published"), gettext_noop("under the control"), rows, group), MISSING_RULE]
    notes += [SAME_SCORE] if by_score else [SAME_ANSWER, COMPARED, SAME_SCORE]
    if group_named(group).counts and any(row["same"] for row in controls.left):
        notes.append(OF_SETS)
    if STORYLESS.name in names:
        notes.append(AT_CHANCE if any(row.kind == "baseline" for row in rows) else NO_BASELINE)
    return Table(
        title=_title(gettext_noop("{score_title} under controls, {parse} parse"), group, parse),
        columns=_columns(
            group, Column(key="model", header=gettext_noop("Model")),
            {"published": published, "controlled": controlled}, (published, controlled), more,
        ),
        rows=[_control_row(row, group) for row in rows],
        section="control",
        lead=[*lead, *_unfinished(controls)],
        notes=notes,
    )  # fmt: skip


def _control_row(row: AskedAgain, group: str) -> Cells:
    cells = {
        "model": row.model, "control": row.title.capitalize(), "published": row.means[0], "controlled": row.means[1],
        **difference_cells(row), "same_answer": row.same_answer, "same_score": row.same_score,
        "flipped": len(row.flips),
    }  # fmt: skip
    return _row(cells, row, group, {"controlled": row, "second_missing": row})


def _by_score(rows: Sequence[AskedAgain]) -> bool:
    """Return whether flips are of scores, because answers are not compared."""
    return all(row.same_answer is None for row in rows)


def left_table(left: Sequence[Json]) -> Table:
    """Tabulate the samples that each control leaves unchanged, and the reasons."""
    many = left[0]["noun"][1] if left else "samples"
    columns = [
        Column(key="title", header=gettext_noop("Control")),
        Column(key="samples", header=many.capitalize(), kind="count"),
        Column(key="same", header=gettext_noop("Left as they are"), kind="count"),
        Column(key="why", header=gettext_noop("Why")),
        Column(key="numbers", header=gettext_noop("Their numbers")),
        Column(key="steps", header=gettext_noop("Steps left out")),
    ]
    rows = [
        row | {"title": row["title"].capitalize()} | {name: row[name] or None for name in ("why", "numbers", "steps")}
        for row in left
    ]
    notes: list[str] = [UNCHANGED]
    for row in left:
        title = row["title"].capitalize()
        if row["still"]:
            text = gettext_noop("{row}: changes nothing that counts for {groups}, so no difference is shown.")
            notes.append(Sentence(text, row=title, groups=listed(row["still"])))
        if row["unread"]:
            notes.append(Sentence("{row}: no figures. {unread}", row=title, unread=row["unread"]))
    return Table(title=gettext_noop("What controls leave as it is"), columns=columns, rows=rows, notes=notes)


def flip_table(rows: Sequence[AskedAgain], group: str, parse: str) -> Table:
    """Tabulate the stories in which answers flip, those with the most first."""
    singular, many = suite_named(group_suite(group)).cluster
    totals: dict[str, list[int]] = {}
    for row in rows:
        for cluster, compared, flipped in row.stories:
            total = totals.setdefault(cluster, [0, 0, 0])
            totals[cluster] = [total[0] + compared, total[1] + flipped, total[2] + 1]
    listed_rows = [
        {"story": cluster, "compared": compared, "flipped": flipped, "same": 1 - flipped / compared, "whose": whose}
        for cluster, (compared, flipped, whose) in sorted(
            totals.items(), key=lambda item: (-item[1][1] / item[1][0], -item[1][1], item[0])
        )
    ]
    by_score = _by_score(rows)
    other = gettext_noop("Another score") if by_score else gettext_noop("Another answer")
    same = gettext_noop("Same score") if by_score else gettext_noop("Same answer")
    notes = [
        Sentence(
            "Compared: {group} answered as published and under a control, of the models and controls "
            "(counted in the last column) under which one of the {singular} flips.",
            group=nouns_of_group(group)[1],
            singular=word(singular),
        )
    ]
    if len(listed_rows) > MOST_STORIES:
        text = gettext_noop("The first {most_stories} of {flips} {many}.")
        notes.append(Sentence(text, most_stories=MOST_STORIES, flips=f"{len(listed_rows):,}", many=word(many)))
    return Table(
        title=_title(
            gettext_noop("{many} whose answers flip: {score_title}, {parse} parse"),
            group,
            parse,
            many=many.capitalize(),
        ),
        columns=[
            Column(key="story", header=singular.capitalize()),
            *flip_columns(other, same),
            Column(key="whose", header=gettext_noop("Models and controls"), kind="count"),
        ],
        rows=listed_rows[:MOST_STORIES],
        notes=notes,
    )


# --- methods


def method_table(rows: Sequence[AskedAgain], methods: AskedAgainResults, group: str, parse: str) -> Table:
    """Tabulate each model by each method, and its difference to plain."""
    name, plain = next(iter(methods.ways.items()))
    by_model = {row.key: row for row in rows if row.way == name}
    compared = [row for row in rows if row.way != name]
    notes = [
        _tested(gettext_noop("by the method"), plain, rows, group),
        MISSING_RULE,
        Sentence("Score and {plain} are over the samples of the difference: those answered both ways.", plain=plain),
        *_lacking(gettext_noop("Without a difference"), [row for row in compared if row.value is None]),
    ]
    cells = []
    for row in compared:
        beside = by_model[row.key]
        score = row.means[0] if row.value is not None else row.score and row.score.value
        own = {"model": row.model, "method": _capitalized(row.title), "score": score, "plain": row.means[1]}
        behind = {"score": row, "first_missing": row, "plain": beside, "second_missing": beside}
        cells.append(_row(own | difference_cells(row), row, group, behind))
    return Table(
        title=_title(gettext_noop("{score_title}: methods less {plain}, {parse} parse"), group, parse, plain=plain),
        columns=_columns(
            group, Column(key="method", header=gettext_noop("Method")),
            {"score": gettext_noop("Score"), "plain": plain.capitalize()},
            (gettext_noop("By the method"), plain.capitalize()),
        ),
        rows=cells,
        section="model",
        lead=_lead(rows, methods, group),
        notes=notes,
    )  # fmt: skip


def score_table(rows: Sequence[AskedAgain], methods: AskedAgainResults, group: str, parse: str) -> Table:
    """Tabulate the score of each model by each method, in a column per method."""
    columns = [
        Column(key=name, header=_capitalized(title), kind="share", unit="%", best="high")
        for name, title in methods.ways.items()
    ]
    by_model: dict[str, list[AskedAgain]] = {}
    for row in rows:
        by_model.setdefault(row.key, []).append(row)
    text = gettext_noop("Missing answers at their worst. Brackets: 95 % intervals over {group}.")
    return Table(
        title=_title(gettext_noop("{score_title} by method, {parse} parse"), group, parse),
        columns=[Column(key="model", header=gettext_noop("Model")), *columns],
        rows=[
            _row(
                {"model": own[0].model} | {row.way: _score(row) for row in own}, own[0], group,
                {row.way: row for row in own}, unranked=False,
            )
            for own in by_model.values()
        ],
        lead=_lead(rows, methods, group),
        notes=[
            Sentence(text, group=units_of_group(group)), *_lacking(SCORED, [row for row in rows if row.score is None])
        ],
    )  # fmt: skip


def _score(row: AskedAgain, *, counted: bool = False) -> Cell:
    score = row.score
    if score is None:
        return Cell()
    return Cell(score.value, score.interval, score.n if counted else None, score.reason)


def part_table(rows: Sequence[AskedAgain], parts: Parts, methods: AskedAgainResults, group: str, parse: str) -> Table:
    """Tabulate each model by each method, with its score in each part of the samples and the difference to plain."""
    by_method: dict[tuple[str, str], list[AskedAgain]] = {}
    order = {key: at for at, key in enumerate(dict.fromkeys(row.key for row in rows))}
    for row in sorted(rows, key=lambda row: (order[row.key], [*methods.ways].index(row.way))):
        by_method.setdefault((row.key, row.way), []).append(row)
    columns = [Column(key="method", header=gettext_noop("Method"))]
    for part in dict.fromkeys(row.part for row in rows):
        columns += _part_columns(part, any(row.open_bounds for row in rows if row.part == part), bool(parts.metric))
    title, plain = (
        parts.metric.title if parts.metric else group_named(group).score_title,
        next(iter(methods.ways.values())),
    )
    if parts.metric:
        notes = [parts.metric.note, _tested_metric(plain, group), _SHARES]
    else:
        worst = gettext_noop("Score: missing answers at their worst.")
        notes = [_tested(gettext_noop("by the method"), plain, rows, group), worst, _SHARES, MISSING_RULE]
    return Table(
        title=Sentence(
            "{title} by method and {heading}, {parse} parse",
            title=title,
            heading=parts.heading.lower(),
            parse=word(parse),
        ),
        columns=columns,
        rows=[_part_row(own, group) for own in by_method.values()],
        section="model",
        lead=_not_ready(rows, methods),
        notes=[*notes, *_lacking(SCORED, [own[0] for own in by_method.values() if not any(row.score for row in own)])],
    )


_SHARES = gettext_noop("Without a score: the shares by the method and by the plain one.")


def _tested_metric(plain: str, group: str) -> str:
    unit = units_of_group(group)
    return Sentence(
        "Difference: by the method less {plain}, over what was answered both ways, on the same resamples of {unit}; "
        "{method}.",
        plain=plain,
        unit=word(unit),
        method=method(seed=SEED, unit=unit),
    )


def _part_columns(part: str, missing: bool, untested: bool) -> list[Column]:
    """Return the columns of a part. A metric that is no mean has no test."""
    share = partial(Column, kind="share", group=part, digits=1)
    columns = [
        share(key=f"{part} score", header=gettext_noop("Score"), unit="%"),
        share(key=f"{part} value", header=gettext_noop("Difference"), unit="points"),
    ]
    if missing:
        columns.append(Column(key=f"{part} missing", header=gettext_noop("Without a score (%)"), group=part))
        columns.append(Column(key=f"{part} within", header=gettext_noop("Bounds (points)"), group=part))
    test = Column(key=f"{part} p_adjusted", header=gettext_noop("p, Holm"), kind="number", digits=4, group=part)
    return columns if untested else [*columns, test]


def _part_row(rows: Sequence[AskedAgain], group: str) -> Cells:
    cells: Cells = {"model": rows[0].model, "method": _capitalized(rows[0].title)}
    for row in rows:
        n = row.n if row.value is not None else None
        cells |= {
            f"{row.part} score": _score(row, counted=True),
            f"{row.part} value": Cell(row.value, row.interval, n, row.reason, row.open_bounds),
            f"{row.part} within": bounds_text(row.open_bounds),
            f"{row.part} missing": row.shares and f"{100 * row.shares.first:.1f} / {100 * row.shares.second:.1f}",
            f"{row.part} p_adjusted": row.p_adjusted,
        }
    return _row(cells, rows[0], group, {f"{row.part} score": row for row in rows})


def _lacking(name: str, rows: Sequence[AskedAgain]) -> list[str]:
    """Return a note on the rows that lack something, by method and reason."""
    models: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        models.setdefault((row.title, row.why.rstrip(".")), []).append(row.model)
    reasons = [labelled(listed([title, uncapitalised(why)]), listed(names)) for (title, why), names in models.items()]
    return [Sentence("{name}: {text}.", name=name, text=clauses(*reasons))] if reasons else []


def _not_ready(rows: Sequence[AskedAgain], methods: AskedAgainResults) -> list[str]:
    """Return what is not finished, or lacks a plain method to compare with."""
    lead, (plain, title) = _unfinished(methods), next(iter(methods.ways.items()))
    if all(row.score is None for row in rows if row.way == plain):
        text = gettext_noop("Nobody was asked {methods} with these settings: launch that, and differences stand here.")
        lead.append(Sentence(text, methods=title))
    return lead


def _lead(rows: Sequence[AskedAgain], methods: AskedAgainResults, group: str) -> list[str]:
    lead = _not_ready(rows, methods)
    counts = sorted({row.score.n for row in rows if row.score})
    if counts[1:]:
        lead.append(
            Sentence(
                "Not all were asked about the same {group} ({least} to {most}): differences are over "
                "what both have, scores are not.",
                group=nouns_of_group(group)[1],
                least=f"{counts[0]:,}",
                most=f"{counts[-1]:,}",
            )
        )
    return lead


# --- plots


def control_pictures(controls: AskedAgainResults, parse: str) -> Iterator[tuple[str, ShownPicture]]:
    """Yield the plots of one parse by name, without the parse."""
    for group in ordered_keys(controls.rows):
        rows, score = controls.rows[group][parse], group_named(group).score_title
        if models := [row for row in rows if row.kind == "model"]:
            title = Sentence("{score}: published less controlled", score=word(score))
            drawn = partial(plots.control_differences, models, score=score, parse=parse)
            yield f"controls-{group}", _picture(title, drawn, group)
        if cues := [row for row in rows if row.way == STORYLESS.name]:
            title = Sentence("{score} without the story", score=word(score))
            yield f"cues-{group}", ShownPicture(title, partial(plots.without_story, cues, score=score, parse=parse))


def method_pictures(methods: AskedAgainResults, parse: str) -> Iterator[tuple[str, ShownPicture]]:
    """Yield the plots of one parse by name, without the parse."""
    for group in ordered_keys(methods.rows):
        score, (plain, plain_title) = group_named(group).score_title, next(iter(methods.ways.items()))
        if (parted := methods.parts.get(group, {}).get(parse)) and (parts := group_named(group).parts):
            # baselines, which answer alike by every method, are in the table only
            models, part = [row for row in parted if row.kind == "model"], parts.heading.lower()
            name = parts.metric.title if parts.metric else score
            drawn = partial(plots.method_parts, models, score=name, parse=parse, part=part, short=dict(parts.short))
            note = "of the answers that could be read" if parts.metric else "missing answers at their worst"
            title = Sentence("{score} by method and {part}", score=word(name), part=part)
            yield f"method-parts-{group}", _picture(title, drawn, group, note)
        if not (rows := methods.rows[group].get(parse)):
            continue
        title = Sentence("{score} by method", score=word(score))
        drawn = partial(plots.method_scores, rows, score=score, parse=parse)
        yield f"method-scores-{group}", _picture(title, drawn, group)
        compared = [row for row in rows if row.kind == "model" and row.way != plain]
        if any(row.value is not None for row in compared):
            title = Sentence("{score}: methods less {methods}", score=word(score), methods=plain_title)
            drawn = partial(plots.method_differences, compared, score=score, parse=parse, plain=plain_title)
            yield f"methods-{group}", _picture(title, drawn, group)


def _picture(title: str, draw: Callable[[], Plot], group: str, note: str = "") -> ShownPicture:
    about = {"note": note} if note else {}
    return ShownPicture(title, lambda: draw().about(over=units_of_group(group), **about))
