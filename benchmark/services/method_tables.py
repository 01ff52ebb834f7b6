"""Tables and pictures of what models come to by each method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from benchmark.domain.beside import MethodResults, MethodRow
from benchmark.domain.drawn import Plot
from benchmark.domain.plots import method_differences, method_parts, method_scores
from benchmark.domain.tables import OF, Cells, Column, Items, Source, Table, bounds_text, with_items
from benchmark.services.comparison_tables import TEST_COLUMNS, difference_cells, side_columns
from benchmark.services.leaderboards import SEED
from benchmark.suites.groups import Parts
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import group_named, nouns_of_group, ordered_keys, units_of_group
from benchmark.suites.results import Section, ShownPicture, ShownTable
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, uncapitalised, word
from core.statistics import MISSING_RULE, method


def method_sections(keys: Sequence[str]) -> list[Section]:
    """Return the part of a page that methods have."""
    names = ("method-parts", "method-scores", "methods")
    pictures = tuple(f"{name}-{key}" for name in names for key in keys)
    tables = tuple(name for key in keys for name in (f"method-parts-{key}", f"method-scores-{key}", f"methods-{key}"))
    return [Section(gettext_noop("By method"), pictures, tables)]


def method_tables(by_method: MethodResults, parse: str) -> Iterator[tuple[str, ShownTable]]:
    """Yield the tables of one parse by name, without the parse."""
    for group in ordered_keys(by_method.rows):
        if why := by_method.without_parts.get(group):
            yield f"method-parts-{group}", ShownTable(partial(_failed, why))
        if (rows := by_method.parts.get(group, {}).get(parse)) and (parts := group_named(group).parts):
            yield f"method-parts-{group}", ShownTable(partial(part_table, rows, parts, by_method, group, parse))
        if rows := by_method.rows[group].get(parse):
            yield f"method-scores-{group}", ShownTable(partial(score_table, rows, by_method, group, parse))
            yield f"methods-{group}", ShownTable(partial(difference_table, rows, by_method, group, parse))


def _failed(why: str) -> Table:
    raise SuiteFailed(why)


def part_table(rows: Sequence[MethodRow], parts: Parts, by_method: MethodResults, group: str, parse: str) -> Table:
    """Tabulate each model by each method, with the score of each part of the samples and what it is better by than
    asked plainly."""
    names = list(dict.fromkeys(row.part for row in rows))
    columns = [Column(key="method", header=gettext_noop("Method"))]
    columns += [column for part in names for column in _part_columns(part, parts, rows)]
    title = parts.metric.title if parts.metric else group_named(group).score_title
    return Table(
        title=Sentence(
            "{title} by method and {heading}, {parse} parse",
            title=title,
            heading=parts.heading.lower(),
            parse=word(parse),
        ),
        columns=columns,
        rows=[_parted(method_rows, group) for method_rows in _by_model_and_method(rows)],
        section="model",
        lead=_not_ready(rows, by_method),
        notes=_part_notes(rows, parts, by_method, group),
    )


def _part_columns(part: str, parts: Parts, rows: Sequence[MethodRow]) -> list[Column]:
    """Return the columns of a part, with what is missing where anything is. A metric that is no mean has no
    test."""
    share = partial(Column, kind="share", group=part, digits=1)
    columns = [
        share(
            key=f"{part} score", header=gettext_noop("Score"), unit="%", interval=f"{part} score interval",
            n=f"{part} score n",
        ),
        share(
            key=f"{part} value", header=gettext_noop("Difference"), unit="points", interval=f"{part} interval",
            n=f"{part} n", bounds=f"{part} bounds",
        ),
    ]  # fmt: skip
    if any(row.open_bounds for row in rows if row.part == part):
        columns.append(Column(key=f"{part} missing", header=gettext_noop("Without a score (%)"), group=part))
        columns.append(Column(key=f"{part} within", header=gettext_noop("Bounds (points)"), group=part))
    test = Column(key=f"{part} p_adjusted", header=gettext_noop("p, Holm"), kind="number", digits=4, group=part)
    return columns if parts.metric else [*columns, test]


def _part_notes(rows: Sequence[MethodRow], parts: Parts, by_method: MethodResults, group: str) -> list[str]:
    plain, unit = by_method.methods[by_method.plain], units_of_group(group)
    nowhere = [
        method_rows[0] for method_rows in _by_model_and_method(rows) if not any(row.score for row in method_rows)
    ]
    lacking = _lacking(gettext_noop("Without a score"), nowhere)
    if parts.metric:
        how = Sentence(
            "Difference: by the method less {plain}, over what was answered both ways, on the same "
            "resamples of {unit}; {method}. Without a score: the shares by the method and by the plain "
            "one.",
            plain=plain,
            unit=word(unit),
            method=method(seed=SEED, unit=unit),
        )
        return [parts.metric.note, how, *lacking]
    tests = sum(row.p is not None for row in rows)
    return [
        Sentence(
            "Difference: by the method less {plain}, over what was answered both ways; {method}; "
            "two-sided sign-flip test over {unit}; Holm's correction over the {tests} tests of this "
            "table, every model by every method in every part.",
            plain=plain,
            method=method(seed=SEED, unit=unit),
            unit=word(unit),
            tests=tests,
        ),
        gettext_noop(
            "Score: missing answers at their worst. Without a score: the shares by the method and by the plain one."
        ),
        MISSING_RULE,
        *lacking,
    ]


def _by_model_and_method(rows: Sequence[MethodRow]) -> list[list[MethodRow]]:
    """Return the rows of each model by each method, one a part; models in their order, methods in theirs."""
    models, methods = (
        list(dict.fromkeys(names)) for names in ([row.key for row in rows], [row.method for row in rows])
    )
    return [[row for row in rows if (row.key, row.method) == (model, name)] for model in models for name in methods]


def _parted(rows: Sequence[MethodRow], group: str) -> Cells:
    first = rows[0]
    cells: Cells = {"model": first.model, "method": first.title.capitalize() if first.title.islower() else first.title}
    for row in rows:
        score = row.score
        cells |= {
            f"{row.part} score": score and score.value,
            f"{row.part} score interval": score and score.interval,
            f"{row.part} score interval_reason": score and score.reason,
            f"{row.part} score n": score and score.n,
            f"{row.part} value": row.value,
            f"{row.part} interval": row.interval,
            f"{row.part} interval_reason": row.reason,
            f"{row.part} n": row.n if row.value is not None else None,
            f"{row.part} bounds": row.open_bounds,
            f"{row.part} within": bounds_text(row.open_bounds),
            f"{row.part} missing": row.shares and f"{100 * row.shares.first:.1f} / {100 * row.shares.second:.1f}",
            f"{row.part} p_adjusted": row.p_adjusted,
        }
    behind = {f"{row.part} score": row for row in rows}
    return _sourced(cells, first, group, behind, unranked=True)


def score_table(rows: Sequence[MethodRow], by_method: MethodResults, group: str, parse: str) -> Table:
    """Tabulate the score of each model by each method, a column a method."""
    columns = [
        Column(
            key=name,
            header=title.capitalize() if title.islower() else title,
            kind="share",
            unit="%",
            interval=f"{name} interval",
            best="high",
        )
        for name, title in by_method.methods.items()
    ]
    notes: list[str] = [
        Sentence("Missing answers at their worst. Brackets: 95 % intervals over {group}.", group=units_of_group(group))
    ]
    notes += _lacking(gettext_noop("Without a score"), [row for row in rows if row.score is None])
    return Table(
        title=Sentence(
            "{score_title} by method, {parse} parse", score_title=group_named(group).score_title, parse=word(parse)
        ),
        columns=[Column(key="model", header=gettext_noop("Model")), *columns],
        rows=[_scores(model_rows, group) for model_rows in _by_model(rows)],
        lead=_lead(rows, by_method, group),
        notes=notes,
    )


def _lacking(what: str, rows: Sequence[MethodRow]) -> list[str]:
    """Return a note on the rows that lack something, by method and reason; none where no row does."""
    models: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        models.setdefault((row.title, row.why.rstrip(".")), []).append(row.model)
    reasons = [labelled(listed([title, uncapitalised(why)]), listed(names)) for (title, why), names in models.items()]
    return [Sentence("{name}: {text}.", name=what, text=clauses(*reasons))] if reasons else []


def _by_model(rows: Sequence[MethodRow]) -> list[list[MethodRow]]:
    """Return the rows of each model."""
    return [[row for row in rows if row.key == key] for key in dict.fromkeys(row.key for row in rows)]


def _not_ready(rows: Sequence[MethodRow], by_method: MethodResults) -> list[str]:
    """Return what is not finished, or not there to compare with."""
    lead: list[str] = []
    if by_method.unfinished:
        lead.append(
            Sentence(
                "Not finished: {unfinished}. What has no answer yet counts as missing.",
                unfinished=listed(by_method.unfinished),
            )
        )
    plain = by_method.plain
    if all(row.score is None for row in rows if row.method == plain):
        lead.append(
            Sentence(
                "Nobody was asked {methods} with these settings: launch that, and differences stand here.",
                methods=by_method.methods[plain],
            )
        )
    return lead


def _lead(rows: Sequence[MethodRow], by_method: MethodResults, group: str) -> list[str]:
    """Return what is to be read first: what is not finished, not comparable, or not there to compare with."""
    lead = _not_ready(rows, by_method)
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


def _scores(rows: Sequence[MethodRow], group: str) -> Cells:
    cells: Cells = {"model": rows[0].model}
    for row in rows:
        score = row.score
        cells[row.method] = score and score.value
        cells[f"{row.method} interval"] = score and score.interval
        cells[f"{row.method} interval_reason"] = score and score.reason
    return _sourced(cells, rows[0], group, {row.method: row for row in rows})


def _sourced(
    cells: Cells, row: MethodRow, group: str, behind: Mapping[str, MethodRow], *, unranked: bool = False
) -> Cells:
    """Return the row of a table. `behind` has by column the row whose answers a cell holds."""
    items = {
        column: Items(run=answers.beside, entrant=answers.beside_entrant)
        for column, answers in behind.items()
        if answers.beside
    }
    source = Source(key=row.key, kind=row.kind, run=row.run, entrant=row.entrant, group=group, unranked=unranked)
    return {**with_items(cells, items), OF: source}


def difference_table(rows: Sequence[MethodRow], by_method: MethodResults, group: str, parse: str) -> Table:
    """Tabulate each model by each method, and what it is better by than asked plainly."""
    plain = by_method.methods[by_method.plain]
    share = partial(Column, kind="share", unit="%")
    columns = [
        Column(key="method", header=gettext_noop("Method")),
        share(key="score", header=gettext_noop("Score")),
        share(key="plain", header=plain.capitalize()),
        Column(
            key="value",
            header=gettext_noop("Difference"),
            unit="points",
            kind="share",
        ),
        *TEST_COLUMNS,
        *side_columns(group, gettext_noop("By the method"), plain.capitalize()),
    ]
    compared = [row for row in rows if row.method != by_method.plain]
    notes = [
        by_method.how[group][parse],
        MISSING_RULE,
        Sentence("Score and {plain} are over the samples of the difference: those answered both ways.", plain=plain),
        *_lacking(gettext_noop("Without a difference"), [row for row in compared if row.value is None]),
    ]
    return Table(
        title=Sentence(
            "{score_title}: methods less {plain}, {parse} parse",
            score_title=group_named(group).score_title,
            plain=plain,
            parse=word(parse),
        ),
        columns=columns,
        rows=[_difference(row, rows, by_method.plain, group) for row in compared],
        section="model",
        lead=_lead(rows, by_method, group),
        notes=notes,
    )


def _difference(row: MethodRow, rows: Sequence[MethodRow], plain: str, group: str) -> Cells:
    beside = next(other for other in rows if other.key == row.key and other.method == plain)
    both = row.value is not None
    cells = {
        "model": row.model, "method": row.title.capitalize() if row.title.islower() else row.title,
        "score": row.own if both else row.score and row.score.value, "plain": row.plain, **difference_cells(row),
    }  # fmt: skip
    behind = {"score": row, "first_missing": row, "plain": beside, "second_missing": beside}
    return _sourced(cells, row, group, behind, unranked=True)


def method_pictures(by_method: MethodResults, parse: str) -> Iterator[tuple[str, ShownPicture]]:
    """Yield the pictures of one parse by name, without the parse."""
    for group in ordered_keys(by_method.rows):
        if (parted := by_method.parts.get(group, {}).get(parse)) and (parts := group_named(group).parts):
            yield f"method-parts-{group}", _part_picture(parted, parts, group, parse)
        rows, score = by_method.rows[group].get(parse), group_named(group).score_title
        if not rows:
            continue
        title = Sentence("{score} by method", score=word(score))
        yield f"method-scores-{group}", ShownPicture(title, partial(_plot_scores, rows, group, parse))
        plain = by_method.plain
        compared = [row for row in rows if row.kind == "model" and row.method != plain]
        if any(row.value is not None for row in compared):
            title = Sentence("{score}: methods less {methods}", score=word(score), methods=by_method.methods[plain])
            differences = partial(_plot_differences, compared, by_method.methods[plain], group, parse)
            yield f"methods-{group}", ShownPicture(title, differences)


def _part_picture(rows: Sequence[MethodRow], parts: Parts, group: str, parse: str) -> ShownPicture:
    """Models alone: baselines, which answer alike by every method, stand in the table."""
    score = parts.metric.title if parts.metric else group_named(group).score_title
    part = parts.heading.lower()
    models = [row for row in rows if row.kind == "model"]
    return ShownPicture(
        Sentence("{score} by method and {part}", score=word(score), part=part),
        partial(_plot_parts, models, parts, score, group, parse),
    )


def _plot_parts(rows: Sequence[MethodRow], parts: Parts, score: str, group: str, parse: str) -> Plot:
    drawn = method_parts(rows, score=score, parse=parse, part=parts.heading.lower(), short=dict(parts.short))
    note = "of the answers that could be read" if parts.metric else "missing answers at their worst"
    return drawn.about(over=units_of_group(group), note=note)


def _plot_scores(rows: Sequence[MethodRow], group: str, parse: str) -> Plot:
    drawn = method_scores(rows, score=group_named(group).score_title, parse=parse)
    return drawn.about(over=units_of_group(group))


def _plot_differences(rows: Sequence[MethodRow], plain: str, group: str, parse: str) -> Plot:
    drawn = method_differences(rows, score=group_named(group).score_title, parse=parse, plain=plain)
    return drawn.about(over=units_of_group(group))
