"""Structure against answers as tables, as a plot, and as the items behind a row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmark.domain.association import COLUMNS, RIGHT
from benchmark.domain.drawn import Plot
from benchmark.domain.plots import structure_and_answers
from benchmark.domain.tables import Cell, Cells, Column, Table
from benchmark.models import DatasetSample, RunItem
from benchmark.services.item_detail import parses_on_page
from benchmark.services.plot_data import Picture
from benchmark.services.structure import ALL, QUESTIONS, Association, Related
from benchmark.suites.groups import MetricGroup
from benchmark.suites.registry import suite_named
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, as_sentence, clauses, gettext_noop, listed, sentences, uncapitalised
from core.plain import Json
from core.statistics import Estimate

PICTURE = "right-answers"
CELLS = ("both", "structure", "answer", "neither")
RIGHT_GIVEN = gettext_noop("Right answers given right and wrong structure")
WITHIN = gettext_noop("Difference of all models: within models, as one that is better at both makes no association.")


def cut_text(association: Association) -> str:
    """Return the measure and the score from which a structure is right, in words."""
    choice = association.choice
    whence = "" if choice.cut is not None else gettext_noop(", the median")
    values = {"measure": choice.measure.label, "cut": f"{100 * association.cut:g}", "whence": whence}
    if choice.measure.parts[1:]:
        return Sentence("{measure}, each of at least {cut} %{whence}", **values)
    return Sentence("{measure} of at least {cut} %{whence}", **values)


def tables_of(association: Association) -> dict[str, Callable[[], Table]]:
    """Return functions that make the tables, by name. Returns none without results."""
    by_category = gettext_noop("Correlation of structure and answers by category")
    by_measure = gettext_noop("Correlation of answers with each figure of structures")
    makers: dict[str, Callable[[], Table]] = {
        "two-by-two": partial(crossing_table, association),
        "association": partial(association_table, association),
        "categories": partial(_related_table, by_category, "Category", association.categories, association),
        "measures": partial(_related_table, by_measure, "Figure", association.measures, association),
        "observations": partial(observation_table, association),
    }
    return makers if association.tables else {}


def crossing_table(association: Association) -> Table:
    """Return the two-by-two table of each model, with what is missing."""
    right, wrong = Sentence("{head} answers", head="Right"), Sentence("{head} answers", head="Wrong")
    groups = gettext_noop("Structure right"), gettext_noop("Structure wrong")
    heads = [(header, group) for group in groups for header in (right, wrong)]
    missing = {"no_answer": "Answer", "no_structure": gettext_noop("Structure"), "no_score": gettext_noop("Both")}
    counted = (
        gettext_noop("Each question counts; stories are resampled whole.")
        if association.choice.counted == QUESTIONS
        else gettext_noop("Each story counts once: its answer is right where all of its questions are answered right.")
    )
    left_out = (
        gettext_noop("Up to {most} questions of a model are about stories without a structure; they are left out."),
        gettext_noop("Up to {most} stories of a model have no question; they are left out."),
        gettext_noop("Up to {most} questions of a model have no figure by definition; they are left out."),
    )
    return Table(
        title=gettext_noop("Structure right or wrong, answer right or wrong"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            *(
                Column(key=key, header=header, group=group, kind="count")
                for key, (header, group) in zip(CELLS, heads, strict=True)
            ),
            *(Column(key=key, header=header, group="Missing", kind="count") for key, header in missing.items()),
            Column(key="stories", header=gettext_noop("Stories"), kind="count"),
        ],
        rows=[
            {"model": model, "stories": table.stories}
            | dict(zip(CELLS, table.cells, strict=True))
            | {key: getattr(table, key) for key in missing}
            for model, table in association.tables.items()
        ],
        absent=association.absent,
        notes=[
            Sentence("Right structure: {association}.", association=cut_text(association)),
            counted,
            *(
                Sentence(note, most=f"{most:,}")
                for note, most in zip(left_out, association.left_out, strict=True)
                if most
            ),
        ],
    )


def association_table(association: Association) -> Table:
    """Return the shares of right answers given right and wrong structure, their difference, odds ratio and phi."""
    share, given = partial(Column, kind="share"), gettext_noop("Right answers given structure")
    names = ("given_right", "given_wrong", "difference", "within", "odds", "phi")
    tables = association.tables.values()
    undefined = [(table.difference, table.given_wrong, table.odds, table.phi) for table in tables]
    return Table(
        title=RIGHT_GIVEN,
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            share(key="given_right", header=gettext_noop("Right"), unit="%", group=given),
            share(key="given_wrong", header=gettext_noop("Wrong"), unit="%", group=given),
            share(key="difference", header=gettext_noop("Difference"), unit="points"),
            Column(key="bounds_text", header=gettext_noop("Bounds (points)")),
            share(key="within", header=gettext_noop("Within categories"), unit="points"),
            Column(key="odds", header=gettext_noop("Odds ratio"), kind="number"),
            Column(key="phi", header="Phi", kind="number", digits=3),
        ],
        rows=[
            {"model": model, "bounds_text": _bounds_text(table.bounds, table.missing)}
            | {name: Cell.uncounted(getattr(table, name)) for name in names}
            | {"difference": replace(Cell.uncounted(table.difference), bounds=table.bounds)}
            for model, table in association.tables.items()
        ],
        absent=association.absent,
        notes=[
            Sentence("Right structure: {association}.", association=cut_text(association)),
            gettext_noop("Bounds: where the difference can be, whatever the missing answers and structures are."),
            *all_sentences(association),
            *_reasons(estimate for of_table in undefined for estimate in of_table),
            as_sentence(association.method),
        ],
    )


def _bounds_text(bounds: tuple[float, float] | None, missing: int) -> str | None:
    if bounds is None:
        return None
    if not missing:
        return gettext_noop("nothing is missing")
    low, high = (signed(100 * end, "") for end in bounds)
    return Sentence("{low} to {high}", low=low, high=high)


def signed(value: float, sign: str = "+") -> str:
    """Return a number to one decimal with a real minus. Zero has no minus."""
    return f"{round(value, 1) + 0.0:{sign}.1f}".replace("-", "−")


def _reasons(estimates: Iterable[Estimate]) -> list[str]:
    """Return a note for each reason for which an estimate has no value."""
    reasons = {estimate.reason for estimate in estimates if estimate.value is None and estimate.reason}
    return [Sentence("No figure: {why}.", why=why) for why in sorted(reasons)]


def _related_table(title: str, part: str, related: Sequence[Related], association: Association) -> Table:
    """Return the correlation of structure and answers in each part."""
    around = gettext_noop("All models: around the mean of each model.")
    return Table(
        title=title,
        columns=[
            Column(key="part", header=part),
            Column(key="model", header=gettext_noop("Model")),
            Column(key="r", header="r", kind="number", digits=3),
            Column(key="n", header=association.choice.counted.capitalize(), kind="count"),
            Column(key="stories", header=gettext_noop("Stories"), kind="count"),
        ],
        rows=[
            {"part": name, "model": model, "n": estimate.n, "stories": estimate.clusters, "r": Cell.uncounted(estimate)}
            for name, model, estimate in related
        ],
        absent=association.absent,
        notes=[
            gettext_noop("Pearson’s r of the structure’s score and right answers."),
            *([around] if any(model == ALL for _, model, _ in related) else []),
            *_reasons(estimate for *_, estimate in related),
            as_sentence(association.method),
        ],
    )


def observation_table(association: Association) -> Table:
    """Return every question to every model in a row of its own."""
    names = ("model", "story", "category", "question")
    scores = [f"{side}{end}" for side in ("structure", "answer") for end in ("", "_worst", "_best")]

    def cells(row: Any) -> Cells:
        values = dict(zip(COLUMNS.names or (), row.tolist(), strict=True))
        for name in scores:
            values[name] = None if np.isnan(values[name]) else values[name]
        for side, cut in (("structure", association.cut), ("answer", RIGHT)):
            score = values[side]
            values[f"{side}_right"] = "missing" if score is None else "yes" if score >= cut else "no"
        return {name if name.endswith("right") else name.replace("_", " "): value for name, value in values.items()}

    words = [score.replace("_", " ") for score in scores]
    return Table(
        title=Sentence(
            "Structure and answers, question by question; right: {association}", association=cut_text(association)
        ),
        columns=[
            *(Column(key=name, header=name) for name in names),
            *(Column(key=name, header=name, kind="number", digits=6) for name in words),
            Column(key="structure_right", header=gettext_noop("structure right")),
            Column(key="answer_right", header=gettext_noop("answer right")),
        ],
        rows=[cells(row) for row in association.frame],
    )


def picture_of(association: Association) -> Picture:
    """Return the plot of right answers given right and wrong structure."""

    def plot() -> Plot:
        note = clauses(*(sentence.rstrip(".") for sentence in all_sentences(association)))
        return structure_and_answers(answer_rows(association), cut=cut_text(association)).about(note=note)

    return Picture(RIGHT_GIVEN, plot, tuple(association.absent))


def all_sentences(association: Association) -> list[str]:
    """Return what the difference of all models means if there are several, and which of them are baselines."""
    if ALL not in association.tables:
        return []
    baselines = [model for model, entrants in association.entrants.items() if entrants[-1].kind == "baseline"]
    among = Sentence(
        "Among all models are baselines, which the choice above can leave out: {baselines}.",
        baselines=listed(baselines),
    )
    return [WITHIN, among] if baselines else [WITHIN]


def answer_rows(association: Association) -> list[tuple[str, Estimate, Estimate, str]]:
    """Return (model, right answers given right structure, those given wrong structure, difference in words)."""
    return [
        (model, table.given_right, table.given_wrong, "–" if value is None else signed(100 * value))
        for model, table in association.tables.items()
        for value in [table.difference.value]
    ]


def verdict_of(association: Association) -> tuple[str, str]:
    """Return the finding of the mixed model in a sentence, and a description of the fit. Both are empty without
    results."""
    if not association.tables:
        return "", ""
    slope, label = association.beyond.slope, association.choice.measure.label
    if slope.value is None:
        text = gettext_noop("Beyond category, it cannot be told whether structure predicts answers: {reason}.")
        return Sentence(text, reason=slope.reason), _fit_text(association)
    ends = slope.interval
    interval = Sentence("no interval: {reason}", reason=slope.reason)
    if ends:
        interval = Sentence("95 % interval {low} to {high}", low=signed(10 * ends[0]), high=signed(10 * ends[1]))
    finding = Sentence(
        "Beyond category, structure {verdict} answers: 10 points more of {label} come with {value} "
        "points of right answers ({interval}).",
        verdict=gettext_noop("is not shown to predict") if not ends or ends[0] <= 0 <= ends[1] else "predicts",
        label=uncapitalised(label) if label[1:2].islower() else label,  # abbreviations keep their capitals
        value=signed(10 * slope.value),
        interval=interval,
    )
    return finding, _fit_text(association)


def _fit_text(association: Association) -> str:
    beyond = association.beyond
    models = gettext_noop("one model, so without a random effect")
    if beyond.models > 1:
        spread = "" if beyond.spread is None else f"{100 * beyond.spread:.1f}"
        models = sentences(
            Sentence("{models} models as random effect", models=beyond.models),
            Sentence("with a standard deviation of {spread} points", spread=spread) if spread else "",
        )
    return Sentence(
        "Linear mixed model of {observations} {counted} about {stories} stories with both scores; "
        "category fixed ({categories}), {models}. The structure’s score counts as it lies around the "
        "mean of its model; stories are resampled.",
        observations=f"{beyond.observations:,}",
        counted=association.choice.counted,
        stories=f"{beyond.stories:,}",
        categories=beyond.categories,
        models=models,
    )


# --- the items behind a row


def question_texts(association: Association, numbers: Sequence[int]) -> dict[int, str]:
    """Return the question of each sample whose content has one."""
    rows = DatasetSample.objects.filter(dataset__in=association.datasets, number__in=numbers)
    return {number: text for number, text in rows.values_list("number", "content__question") if isinstance(text, str)}


def sides_on_page(association: Association, row: Any) -> list[Json]:
    """Return the items behind a row as their suites show them: the answer, then the structure in all of its parts. The
    item (`place`) is None if the model was not asked."""
    measure, entrants = association.choice.measure, association.entrants[row["model"]]
    structures = [
        _side(group.title if measure.parts[1:] else "Structure", entrant, group, int(row["story"]))
        for entrant, (group, _) in zip(entrants, measure.parts, strict=False)
    ]
    answer = _side("Answer", entrants[-1], association.choice.answers, int(row["question"]))
    return [answer, *reversed(structures)]


def _side(title: str, entrant: EntrantResults, group: MetricGroup, number: int) -> Json:
    items = RunItem.objects.filter(
        entrant=entrant.entrant, sample__number=number, step__in=[group.scored, group.prompt]
    )
    items = items.select_related("sample", "entrant__endpoint", "entrant__run__dataset", "call", "item")
    ordered = sorted(items, key=lambda item: (not item.call_id, item.step != group.scored, item.repetition))
    if not ordered:
        return {"title": title, "run": entrant.run, "place": None}
    item, suite = ordered[0], suite_named(ordered[0].entrant.run.suite)
    return {
        "title": title,
        "run": entrant.run,
        "place": item,
        "parses": parses_on_page(item),
        "step": suite.step(item.step),
        "suite": suite,
    }
