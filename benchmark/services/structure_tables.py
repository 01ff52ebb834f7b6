"""Structure against answers as tables and as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmark.domain.association import RIGHT, Crossing, Observation, is_right
from benchmark.domain.drawn import AnswersRow, Plot
from benchmark.domain.plots import structure_and_answers
from benchmark.domain.tables import Cells, Column, Table
from benchmark.services.plot_data import Picture
from benchmark.services.structure import ALL, QUESTIONS, Association, Related
from core.messages import Sentence, as_sentence, clauses, gettext_noop, listed, sentences, uncapitalised
from core.statistics import Estimate

PICTURE = "right-answers"
TABLES = ("two-by-two", "association", "categories", "measures", "observations")
WITHIN = gettext_noop("Difference of all models: within models, as one that is better at both makes no association.")


def cut_text(association: Association) -> str:
    """Return from which score on a structure is right, in words."""
    whence = "" if association.choice.cut is not None else gettext_noop(", the median")
    measure = association.choice.measure
    if measure.beside:
        return Sentence(
            "{measure}, each of at least {cut} %{whence}",
            measure=measure.label,
            cut=f"{100 * association.cut:g}",
            whence=whence,
        )
    return Sentence(
        "{measure} of at least {cut} %{whence}", measure=measure.label, cut=f"{100 * association.cut:g}", whence=whence
    )


def counted_sentence(association: Association) -> str:
    """Return what is counted, in words."""
    if association.choice.counted == QUESTIONS:
        return gettext_noop("Each question counts; stories are resampled whole.")
    return gettext_noop("Each story counts once: its answer is right where all of its questions are answered right.")


def tables_of(association: Association) -> dict[str, Callable[[], Table]]:
    """Return the tables by name, made when they are asked for; none without figures."""
    makers = (crossing_table, association_table, category_table, measure_table, observation_table)
    if association.metrics is None:
        return {}
    return {name: _making(make, association) for name, make in zip(TABLES, makers, strict=True)}


def _making(make: Callable[[Association], Table], association: Association) -> Callable[[], Table]:
    return lambda: make(association)


def _rows(association: Association) -> Iterator[tuple[str, Crossing]]:
    if association.metrics:
        yield from association.metrics.tables.items()


def crossing_table(association: Association) -> Table:
    """Return the two-by-two table of each model, with what is missing."""
    cells = ("both", "structure", "answer", "neither")
    heads = (
        (gettext_noop("Right"), gettext_noop("Structure right")),
        (gettext_noop("Wrong"), gettext_noop("Structure right")),
        (gettext_noop("Right"), gettext_noop("Structure wrong")),
        (gettext_noop("Wrong"), gettext_noop("Structure wrong")),
    )
    missing = (
        ("no_answer", gettext_noop("Answer")),
        ("no_structure", gettext_noop("Structure")),
        ("no_score", gettext_noop("Both")),
    )
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *(
            Column(key=key, header=Sentence("{head} answers", head=head), group=group, kind="count")
            for key, (head, group) in zip(cells, heads, strict=True)
        ),
        *(Column(key=key, header=head, group="Missing", kind="count") for key, head in missing),
        Column(key="stories", header=gettext_noop("Stories"), kind="count"),
    ]
    rows = [
        {"model": model, "stories": table.stories}
        | dict(zip(cells, table.cells, strict=True))
        | {key: getattr(table, key) for key, _ in missing}
        for model, table in _rows(association)
    ]
    return Table(
        title=gettext_noop("Structure right or wrong, answer right or wrong"),
        columns=columns,
        rows=rows,
        absent=association.absent,
        notes=[
            Sentence("Right structure: {association}.", association=cut_text(association)),
            counted_sentence(association),
            *_unlinked(association),
        ],
    )


def _unlinked(association: Association) -> list[str]:
    """Say what of the runs has no part in it; nothing where all has."""
    links = [joined.links for joined in association.joined]
    notes = []
    if most := max((model_links.without_story for model_links in links), default=0):
        notes.append(
            Sentence(
                "Up to {most} questions of a model are about stories without a structure; they are left out.",
                most=f"{most:,}",
            )
        )
    if most := max((model_links.without_question for model_links in links), default=0):
        notes.append(Sentence("Up to {most} stories of a model have no question; they are left out.", most=f"{most:,}"))
    if most := max((joined.undefined for joined in association.joined), default=0):
        notes.append(
            Sentence(
                "Up to {most} questions of a model have no figure by definition; they are left out.", most=f"{most:,}"
            )
        )
    return notes


def association_table(association: Association) -> Table:
    """Return the shares of right answers given right and wrong structure, their difference, odds ratio and phi of each
    model."""
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        _column("given_right", "Right", unit="%", kind="share", group=gettext_noop("Right answers given structure")),
        _column("given_wrong", "Wrong", unit="%", kind="share", group=gettext_noop("Right answers given structure")),
        _column("difference", "Difference", unit="points", kind="share", bounds="bounds"),
        Column(key="bounds_text", header=gettext_noop("Bounds (points)")),
        _column("within", gettext_noop("Within categories"), unit="points", kind="share"),
        _column("odds", gettext_noop("Odds ratio"), kind="number"),
        _column("phi", "Phi", kind="number", digits=3),
    ]
    names = ("given_right", "given_wrong", "difference", "within", "odds", "phi")
    rows = [
        {"model": model, "bounds": table.bounds, "bounds_text": _bounds_text(model, table)}
        | {key: value for name in names for key, value in _cell(name, getattr(table, name)).items()}
        for model, table in _rows(association)
    ]
    reasons = {
        estimate.reason
        for _, table in _rows(association)
        for estimate in (table.difference, table.given_wrong, table.odds, table.phi)
        if estimate.value is None and estimate.reason
    }
    notes = [
        Sentence("Right structure: {association}.", association=cut_text(association)),
        gettext_noop("Bounds: where the difference can be, whatever the missing answers and structures are."),
        *all_sentences(association),
        *(Sentence("No figure: {why}.", why=why) for why in sorted(reasons)),
        _method(association),
    ]
    return Table(
        title=gettext_noop("Right answers given right and wrong structure"),
        columns=columns,
        rows=rows,
        absent=association.absent,
        notes=notes,
    )


def _bounds_text(model: str, table: Crossing) -> str | None:
    if table.bounds is None:
        return None
    if not table.no_answer + table.no_structure + table.no_score:
        return gettext_noop("nothing is missing")
    low, high = (_signed(100 * end, "") for end in table.bounds)
    return Sentence("{low} to {high}", low=low, high=high)


def _signed(value: float, sign: str = "+") -> str:
    """A number to one decimal with a real minus; what rounds to nought has none."""
    return f"{round(value, 1) + 0.0:{sign}.1f}".replace("-", "−")


def _column(key: str, header: str, **more: Any) -> Column:
    return Column(key=key, header=header, interval=f"{key}_interval", **more)


def _cell(key: str, estimate: Estimate) -> Cells:
    return {
        key: estimate.value,
        f"{key}_interval": estimate.interval,
        f"{key}_interval_reason": estimate.reason,
    }


def _method(association: Association) -> str:
    return as_sentence(association.method)


def category_table(association: Association) -> Table:
    """Return the correlation of structure and answers in each category."""
    related = association.metrics.categories if association.metrics else ()
    return _related_table(
        gettext_noop("Correlation of structure and answers by category"), "Category", related, association
    )


def measure_table(association: Association) -> Table:
    """Return the correlation of answers with each figure of structures: by dimension, where structures are labelled."""
    related = association.metrics.measures if association.metrics else ()
    return _related_table(
        gettext_noop("Correlation of answers with each figure of structures"), "Figure", related, association
    )


def _related_table(title: str, part: str, related: Sequence[Related], association: Association) -> Table:
    columns = [
        Column(key="part", header=part),
        Column(key="model", header=gettext_noop("Model")),
        _column("r", "r", kind="number", digits=3),
        Column(key="n", header=_counted(association), kind="count"),
        Column(key="stories", header=gettext_noop("Stories"), kind="count"),
    ]
    rows = [
        {
            "part": relation.part,
            "model": relation.model,
            "n": relation.estimate.n,
            "stories": relation.estimate.clusters,
        }
        | _cell("r", relation.estimate)
        for relation in related
    ]
    reasons = {
        relation.estimate.reason for relation in related if relation.estimate.value is None and relation.estimate.reason
    }
    notes = [
        gettext_noop("Pearson’s r of the structure’s score and right answers."),
        *(
            [gettext_noop("All models: around the mean of each model.")]
            if any(relation.model == ALL for relation in related)
            else []
        ),
        *(Sentence("No figure: {why}.", why=why) for why in sorted(reasons)),
        _method(association),
    ]
    return Table(title=title, columns=columns, rows=rows, absent=association.absent, notes=notes)


def _counted(association: Association) -> str:
    return association.choice.counted.capitalize()


def observation_table(association: Association) -> Table:
    """Return every question to every model in a row of its own: the long form of all that is counted."""
    shares = (("structure", gettext_noop("Structure")), ("answer", gettext_noop("Answer")))
    columns = [
        Column(key="model", header="model"),
        Column(key="story", header="story"),
        Column(key="category", header="category"),
        Column(key="question", header="question"),
        *(
            Column(key=f"{key}{end}", header=f"{head.lower()}{end}", kind="number", digits=6)
            for key, head in shares
            for end in ("", " worst", " best")
        ),
        Column(key="structure_right", header=gettext_noop("structure right")),
        Column(key="answer_right", header=gettext_noop("answer right")),
    ]
    rows = [
        {"model": seen.model, "story": place.story, "category": seen.category, "question": place.question}
        | _case("structure", seen)
        | _case("answer", seen)
        | {
            "structure_right": _yes(is_right(seen.structure, association.cut)),
            "answer_right": _yes(is_right(seen.answer, RIGHT)),
        }
        for joined in association.joined
        for seen, place in zip(joined.observations, joined.places, strict=True)
    ]
    return Table(
        title=Sentence(
            "Structure and answers, question by question; right: {association}", association=cut_text(association)
        ),
        columns=columns,
        rows=rows,
    )


def _case(side: str, seen: Observation) -> dict[str, float | None]:
    case = getattr(seen, side)
    return {side: case.answered, f"{side} worst": case.worst, f"{side} best": case.best}


def _yes(right: bool | None) -> str:
    return "missing" if right is None else "yes" if right else "no"


def picture_of(association: Association) -> Picture:
    """Return the picture of right answers given right and wrong structure."""
    title = gettext_noop("Right answers given right and wrong structure")
    return Picture(title, partial(_plot, association), tuple(association.absent))


def _plot(association: Association) -> Plot:
    note = clauses(*(sentence.rstrip(".") for sentence in all_sentences(association)))
    return structure_and_answers(answer_rows(association), cut=cut_text(association)).about(note=note)


def all_sentences(association: Association) -> list[str]:
    """Say what the difference of all models is, where there are several, and which of them are baselines."""
    if not association.metrics or ALL not in association.metrics.tables:
        return []
    baselines = [joined.pair.model for joined in association.joined if joined.pair.answers.kind == "baseline"]
    among = Sentence(
        "Among all models are baselines, which the choice above can leave out: {baselines}.",
        baselines=listed(baselines),
    )
    return [WITHIN, among] if baselines else [WITHIN]


def answer_rows(association: Association) -> list[AnswersRow]:
    """Return what pictures show of each model."""
    return [
        AnswersRow(
            model=model,
            right=table.given_right,
            wrong=table.given_wrong,
            difference=_points(table.difference.value),
        )
        for model, table in _rows(association)
    ]


def _points(value: float | None) -> str:
    return "–" if value is None else _signed(100 * value)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The `finding` of the mixed model in a sentence, and on what it rests; both empty where there are no figures."""

    finding: str = ""
    how: str = ""


def verdict_of(association: Association) -> Verdict:
    """Return what the mixed model comes to."""
    if association.metrics is None:
        return Verdict()
    beyond = association.metrics.beyond
    slope = beyond.slope
    label = _within_a_sentence(association.choice.measure.label)
    if slope.value is None:
        finding = Sentence(
            "Beyond category, it cannot be told whether structure predicts answers: {reason}.", reason=slope.reason
        )
    else:
        ends = slope.interval
        interval = (
            Sentence("95 % interval {low} to {high}", low=_tenth(ends[0]), high=_tenth(ends[1]))
            if ends
            else Sentence("no interval: {reason}", reason=slope.reason)
        )
        verdict = gettext_noop("is not shown to predict") if not ends or ends[0] <= 0 <= ends[1] else "predicts"
        finding = Sentence(
            "Beyond category, structure {verdict} answers: 10 points more of {label} come with {value} "
            "points of right answers ({interval}).",
            verdict=verdict,
            label=label,
            value=_tenth(slope.value),
            interval=interval,
        )
    return Verdict(finding, _fit_text(association))


def _within_a_sentence(label: str) -> str:
    """The label without its capital, unless that is one of an abbreviation."""
    return uncapitalised(label) if label[1:2].islower() else label


def _tenth(value: float) -> str:
    """A slope as points for ten points."""
    return _signed(10 * value)


def _fit_text(association: Association) -> str:
    beyond = association.metrics.beyond if association.metrics else None
    if beyond is None:
        return ""
    models = (
        sentences(
            Sentence("{models} models as random effect", models=beyond.models),
            Sentence("with a standard deviation of {spread} points", spread=f"{100 * beyond.spread:.1f}")
            if beyond.spread is not None
            else "",
        )
        if beyond.models > 1
        else gettext_noop("one model, so without a random effect")
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
