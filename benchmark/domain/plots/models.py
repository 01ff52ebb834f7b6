"""Dot plots of models: their ranking, and their scores by part, suite, control, method and structure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmark.domain.asked_again import AskedAgain
from benchmark.domain.drawn import Metric, ModelRow, RankedRow
from benchmark.domain.plots.dots import METRIC, NARROWEST, Aside, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.text import printable, text_width
from benchmark.domain.plots.values import Percent, bounds_of, percent, percents, value_line, worst_to_best
from core.messages import Sentence, clauses, gettext_noop, labelled, listed, noted, word, worded
from core.statistics import Estimate

NO_MODEL = "No model has a score."
MAIN_FIGURE = "Main figure of each suite (%), repaired parse"
LEVEL = "dashed: chance level"
PARSES = (
    Series(key="repaired", label="Repaired parse"),
    Series.hollow("official", "Official parse"),
    Series(key="corrected", label="Corrected", marker="s", colour="ink"),
)
_HEAD = 20
"""Characters that the head of a panel has room for where several stand in a column of a paper."""
WIDEST = 110.0
"""The most points of a panel that is as wide as its title; a longer title is shortened."""
Bounds = tuple[float, float] | None


# --- ranking


@plot
def leaderboard(look: Look, rows: Sequence[RankedRow], *, score: str, key: str = "") -> Drawing:
    """Draw both parses of `score` with intervals, in the order of the ranking, and what is missing.

    References that have a figure `key` stand below with a mark of their own and their source: they have no rank.
    """
    references = [row for row in look.frame.references if key in row.values]
    title = f"{score}: official and repaired parse"
    if not rows:
        return Drawing(title, NO_MODEL)
    series = PARSES if any(row.corrected for row in rows) else PARSES[:2]
    scores = [{mark.key: percent(getattr(row, mark.key)) for mark in series} for row in rows]
    bounds = [percents(row.bounds) for row in rows]
    canvas = dot_plot(
        [row.model for row in rows],
        [Panel("", scores, bounds, entered=key)],
        series,
        unit=noted(score, "%"),
        references=references,
        look=look,
        asides=_ranking_asides(rows, scores, narrow=look.narrow),
    )
    lines: list[str] = []
    for row, of_row, ends in zip(rows, scores, bounds, strict=True):
        parts: list[str] = [
            worded(name, metric.text()) if metric else Sentence("{name} without a score", name=name)
            for name, metric in of_row.items()
        ]
        parts += [Sentence("left out {share} %", share=f"{100 * row.left_out:.1f}")] if row.left_out else []
        parts += [worst_to_best(ends)] if ends else []
        parts += [Sentence("rank {ranks}", ranks="–".join(map(str, row.ranks)))] if row.ranks else []
        parts += [Sentence("group {group}", group=row.group)] if row.group else []
        lines.append(labelled(row.model, listed(parts)))
    lines += [f"{row.model}, entered from {row.source}: {100 * row.values[key]:.1f}" for row in references]
    return Drawing(title, canvas, lines)


def _ranking_asides(
    rows: Sequence[RankedRow], scores: Sequence[Mapping[str, Percent | None]], *, narrow: bool
) -> list[Aside]:
    heads = {"Rep.": "repaired", "Off.": "official", "Corr.": "corrected"}
    asides = [Aside.of(head, [row[name] for row in scores]) for head, name in heads.items() if name in scores[0]]
    shares = [row.left_out for row in rows]
    asides.append(Aside("Out", ["–" if share is None else f"{100 * share:.0f} %" for share in shares]))
    if narrow:
        del asides[1]
    elif any(row.ranks for row in rows):
        asides.append(Aside("Rank", ["–".join(map(str, row.ranks or ())) or "–" for row in rows]))
    return [*asides, Aside("Group", [row.group or "–" for row in rows], "left")]


# --- a panel per part, suite, control or method


@plot
def scores_by_part(
    look: Look, rows: Sequence[ModelRow], *, parse: str, score: str, part: str, short: Mapping[str, str] | None = None
) -> Drawing:
    """Draw `score` in one panel per `part`, both in words.

    Parts are in the order of the first row that has them; `short` are names for narrow panels. Bounds of a figure are
    drawn as a band if they differ. References have figures by the same names, and stand below with a mark of their own
    and their source.
    """
    title = Sentence("{score} by {part}, {parse} parse", score=word(score), part=part, parse=word(parse))
    parts = list(dict.fromkeys(name for row in rows for name in row.values))
    if not parts:
        return Drawing(title, NO_MODEL)
    models = [row.model for row in rows]
    references = [row for row in look.frame.references if row.values.keys() & set(parts)]
    panels = {}
    for name in parts:
        metrics = [row.values.get(name) for row in rows]
        head, bounds = printable((short or {}).get(name, name)), [bounds_of(metric) for metric in metrics]
        panels[name] = Panel.of(head, [percent(metric) for metric in metrics], bounds, entered=name)
    series, unit = [Series(key=METRIC, label=score)], f"{score} (%), {parse} parse"
    canvas = dot_plot(models, list(panels.values()), series, unit=unit, references=references, look=look)
    return Drawing(title, canvas, [panel.describe(name, models, references) for name, panel in panels.items()])


@plot
def models_across(look: Look, models: Sequence[str], suites: Sequence[tuple[str, Sequence[Metric], Metric]]) -> Drawing:
    """Draw each model's main figure in one panel per suite, with a line at chance; `suites` are (title, figures of the
    models, figure at chance)."""
    title = gettext_noop("Models across suites")
    if not models or not suites:
        return Drawing(title, NO_MODEL)
    panels, lines = [], []
    for name, figures, level in suites:
        chance = percent(level)
        metrics, bounds = [percent(metric) for metric in figures], [bounds_of(metric) for metric in figures]
        panels.append(Panel.of(printable(name), metrics, bounds, chance.value if chance else None))
        at_chance = f"chance level {chance.value:.1f}" if chance else "no chance level"
        lines.append(f"{panels[-1].describe(name, models)}, {at_chance}")
    # titles that heads of panels have no room for, so that none hides a part, as its method
    long = [printable(name) for name, _, _ in suites if len(name) > _HEAD]
    dashed = LEVEL if any(panel.level is not None for panel in panels) else ""
    note = clauses(dashed, f"in full: {listed(long)}" if long else "")
    canvas = dot_plot(models, panels, [Series(key=METRIC, label="Figure")], unit=MAIN_FIGURE, note=note, look=look)
    return Drawing(title, canvas, lines)


@plot
def control_differences(look: Look, rows: Sequence[AskedAgain], *, score: str, parse: str) -> Drawing:
    """Draw the score as published less that under each control, with its interval, in a panel per control."""
    title = f"{score}: published less controlled, {parse} parse"
    unit = f"{score}, {parse} parse: points by which it is higher as published"
    return _differences(look, rows, title, unit=unit)


@plot
def method_differences(look: Look, rows: Sequence[AskedAgain], *, score: str, parse: str, plain: str) -> Drawing:
    """Draw the score by each method less that by the `plain` one."""
    title = f"{score}: methods less {plain}, {parse} parse"
    unit = f"{score}, {parse} parse: points by which it is higher than {plain}"
    return _differences(look, rows, title, unit=unit, least=_least(rows))


@plot
def method_scores(look: Look, rows: Sequence[AskedAgain], *, score: str, parse: str) -> Drawing:
    """Draw each model's score by each method, with its interval, in a panel per method."""
    unit = f"{score}, {parse} parse (%), missing answers at their worst"
    return _panels(
        look, rows, lambda row: (percent(row.score), None), f"{score} by method, {parse} parse", label="Score",
        unit=unit, least=_least(rows),
    )  # fmt: skip


def _differences(look: Look, rows: Sequence[AskedAgain], title: str, **more: Any) -> Drawing:
    return _panels(
        look, rows, lambda row: (percent(row), percents(row.bounds)), title, label="Difference", rule=0.0, **more
    )


def _panels(
    look: Look,
    rows: Sequence[AskedAgain],
    figure: Callable[[AskedAgain], tuple[Percent | None, Bounds]],
    title: str,
    *,
    label: str,
    **more: Any,
) -> Drawing:
    """Draw the `figure` and its bounds in a panel for each `title` of the rows, models below each other."""
    if not rows:
        return Drawing(title, NO_MODEL)
    models = list(dict.fromkeys(row.model for row in rows))
    panels = []
    for name in dict.fromkeys(row.title for row in rows):
        figures = {row.model: figure(row) for row in rows if row.title == name}
        metrics, bounds = zip(*(figures.get(model, (None, None)) for model in models), strict=True)
        panels.append(Panel.of(name, metrics, bounds))
    canvas = dot_plot(models, panels, [Series(key=METRIC, label=label)], look=look, **{"least": NARROWEST, **more})
    return Drawing(title, canvas, [panel.describe(panel.title, models) for panel in panels])


def _least(rows: Sequence[AskedAgain]) -> float:
    """Return the width of a panel in which the names of methods can be read, in points."""
    return min(WIDEST, text_width([row.title for row in rows], weight="bold") + 2)


@plot
def method_parts(
    look: Look, rows: Sequence[AskedAgain], *, score: str, parse: str, part: str, short: Mapping[str, str]
) -> Drawing:
    """Draw each model's score in a panel per `part`, its methods below each other; `short` are names for narrow
    panels."""
    title = f"{score} by method and {part}, {parse} parse"
    if not rows:
        return Drawing(title, NO_MODEL)
    models = {row.key: row.model for row in rows}
    methods = list(dict.fromkeys(row.title for row in rows))
    panels, lines = [], []
    for name in dict.fromkeys(row.part for row in rows):
        scores = {(row.key, row.title): percent(row.score) for row in rows if row.part == name}
        below = {key: [scores.get((key, method)) for method in methods] for key in models}
        cells = [row for by_method in below.values() for row in ({}, *({"score": each} for each in by_method))]
        panels.append(Panel(short.get(name, name), cells))
        lines += [value_line(f"{models[key]}, {name}", methods, by_method) for key, by_method in below.items()]
    canvas = dot_plot(
        list(models.values()), panels, [Series(key="score", label="Score")], unit=f"{score}, {parse} parse (%)",
        look=look, within=methods,
    )  # fmt: skip
    return Drawing(title, canvas, lines)


# --- two marks per row


@plot
def model_across(look: Look, title: str, suites: Sequence[tuple[str, Metric, Metric, str]]) -> Drawing:
    """Draw one model's main figure in each suite next to the figure at chance; `suites` are (title, figure, figure at
    chance, rank in words)."""
    if not suites:
        return Drawing(title, NO_MODEL)
    titles, figures, levels, ranks = zip(*suites, strict=True)
    rows = [{METRIC: percent(figure), "chance": percent(level)} for figure, level in zip(figures, levels, strict=True)]
    bounds = [bounds_of(figure) for figure in figures]
    asides = [
        Aside.of("Figure", [row[METRIC] for row in rows]),
        Aside.of("Chance", [row["chance"] for row in rows]),
        Aside("Rank", ranks),
    ]
    series = [Series(key=METRIC, label="Figure"), Series.hollow("chance", "Chance level")]
    canvas = dot_plot(
        titles,
        [Panel("", rows, bounds)],
        series,
        unit=MAIN_FIGURE,
        look=look,
        asides=asides[:1] if look.narrow else asides,
    )
    lines = [
        value_line(name, ["figure", "chance level"], row.values(), [ends, None]) + f", rank {rank}"
        for name, row, ends, rank in zip(titles, rows, bounds, ranks, strict=True)
    ]
    return Drawing(title, canvas, lines)


@plot
def without_story(look: Look, rows: Sequence[AskedAgain], *, score: str, parse: str) -> Drawing:
    """Draw each model's and baseline's score with its story and without."""
    unit = (
        f"{score}, {parse} parse (%), of what was answered both ways; what is left without the story is what cues "
        f"give, or memory"
    )
    marks = [(row.model, percent(row.means[0]), percent(row.means[1])) for row in rows]
    series = [Series.hollow("published", "As published"), Series(key="controlled", label="Without the story")]
    return _pairs(look, marks, series, title=f"{score} without the story, {parse} parse", unit=unit)


@plot
def structure_and_answers(look: Look, rows: Sequence[tuple[str, Estimate, Estimate, str]], *, cut: str) -> Drawing:
    """Draw (model, share of right answers given a right structure, that given a wrong one, difference in words) of each
    row with intervals; `cut` names the score from which on a structure is right."""
    return _pairs(
        look,
        [(model, percent(right), percent(wrong)) for model, right, wrong, _ in rows],
        [Series(key="right", label="Structure right"), Series.hollow("wrong", "Structure wrong")],
        title="Right answers given right and wrong structure",
        none="No model has structures and answers of the same stories.",
        unit="Right answers (%)",
        note=f"right: {cut}",
        asides=[Aside("Difference", [difference for *_, difference in rows])],
    )


def _pairs(
    look: Look,
    marks: Sequence[tuple[str, Percent | None, Percent | None]],
    series: Sequence[Series],
    *,
    title: str,
    none: str = NO_MODEL,
    **more: Any,
) -> Drawing:
    """Draw two marks for each model."""
    if not marks:
        return Drawing(title, none)
    keys, names = [entry.key for entry in series], [entry.label.lower() for entry in series]
    rows = [dict(zip(keys, pair, strict=True)) for _, *pair in marks]
    canvas = dot_plot([model for model, *_ in marks], [Panel("", rows)], series, look=look, **more)
    return Drawing(title, canvas, [value_line(model, names, pair) for model, *pair in marks])
