"""The benchmark's own tables and picture, filled from the run."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.plots import scores_by_part
from benchmark.domain.tables import Table
from benchmark.suites.fantom.judge import CANNOT_TELL, NEITHER, RIGHT, WRONG
from benchmark.suites.fantom.metrics import (
    ALL,
    CONTROL,
    F1,
    FACTS,
    FALSE_BELIEF,
    FREE_BELIEFS,
    QUESTIONS,
    UNREADABLE,
    Analyses,
    FreeBeliefs,
)
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    INACCESSIBLE,
    ORDERS,
    SCENARIOS,
    TOPICS,
)
from benchmark.suites.fantom_questions.pages import incomplete_in, orders_in, reasons_table, topic_figures
from benchmark.suites.reports import Published
from benchmark.suites.results import ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.tables import Analysed, Figure, analysed_of, at, count, figure, table_of, tables_of
from core.messages import Sentence, gettext_noop, labelled, noted, word

_HEADERS: Mapping[str, str] = {
    RIGHT: gettext_noop("Right belief"),
    WRONG: gettext_noop("Wrong belief"),
    NEITHER: gettext_noop("Neither"),
    CANNOT_TELL: gettext_noop("Cannot tell"),
    UNREADABLE: gettext_noop("No verdict"),
}
_NOTE = gettext_noop(
    "Answers by what the judge says that they state. Of a false belief the wrong text is the view of one who heard "
    "everything. Embedder: of the answers that both call right or wrong, the share that it calls right, and the share "
    "of which it says what the judge says. Cannot tell: also where two passes of the judge say something else."
)


def _stated(analysed: Analysed, parse: str) -> Table:
    def share_of(scenario: str, name: str, beliefs: FreeBeliefs) -> float | None:
        counts = beliefs.by_scenario[scenario]
        return counts[name] / counts["both"] if counts["both"] else None

    shares = {"near": gettext_noop("Right, by the embedder"), "alike": gettext_noop("Embedder agrees")}
    figures: list[Figure] = []
    for scenario, name in SCENARIOS.items():
        group = name.capitalize()
        figures += [
            count(f"{scenario} {key}", header, at("by_scenario", scenario, "verdicts", key), group)
            for key, header in _HEADERS.items()
        ]
        figures += [
            figure(
                f"{scenario} {key}", header, partial(share_of, scenario, key), unit="%", best="", digits=2, group=group
            )
            for key, header in shares.items()
        ]
    title = gettext_noop("What answers in free words state, by the judge")
    return table_of(analysed, FREE_BELIEFS.key, title, figures, _NOTE)


SECTIONS = (
    Section(gettext_noop("False belief and control"), ("scenarios",), (INACCESSIBLE, ACCESSIBLE), paper=True),
    Section(gettext_noop("Order of belief"), (), ("orders",), paper=True),
    Section(gettext_noop("Characters, consistency and kinds of errors"), (), ("characters", "reasons"), paper=True),
    Section(gettext_noop("Beliefs in free words, by a judge"), (), ("told",)),
)
_ALL = gettext_noop(
    "ALL: share of sets whose questions are all right; ALL* with the beliefs in free words. Brackets: 95 % intervals "
    "over conversations. By chance 50 % of choices and of yes or no questions are right."
)
_DISTANCE = gettext_noop(
    "Beliefs in free words are right where their embedding is nearer to the right text than to the wrong one; the "
    "embedder stands in the heading, and figures of another one, the published ones too, are not comparable. "
    "Off-topic answers can be right: read them beside token F1 of the answers judged right."
)
_WHOLE = gettext_noop("Only sets all of whose questions are accessible count, as in PercepToM.")
_FRAGMENTS = gettext_noop(
    "As the released code counts: of a set with inaccessible questions, its accessible ones alone, which makes "
    "ALL higher."
)
_ORDERS = gettext_noop(
    "Cyclic: the belief leads back to the one who believes; acyclic: to a third person. An order of which "
    "nothing is right stands as 0, which the released code leaves out."
)
_CHARACTERS = gettext_noop(
    "Share of characters of a set about whom everything is right (single answers, their place in both lists, beliefs "
    "charged to the one who believes), and of those of whom single answers and lists say the same."
)


def _of_scenario(scenario: str) -> list[Published]:
    """Return the figures of the paper's tables 9, 4 and 3; by order it has the accuracy of beliefs in free words."""
    name = SCENARIOS[scenario].capitalize()
    table_3, table_4, table_9 = (Sentence("{scenarios} (table {at})", scenarios=name, at=at) for at in (3, 4, 9))
    all_of = FALSE_BELIEF if scenario == INACCESSIBLE else CONTROL
    figures = [Published(f"{scenario}.all", "ALL", table_9, {scenario: "all", all_of.key: ALL})]
    for key, title, group in _FREE:
        column: str = Sentence("{title} (as published)", title=title)
        figures.append(Published(f"{scenario}.{key}", title, table_9, {scenario: key}, column, group))
    plain = {"choice": gettext_noop("Belief: choice")}
    for topic, title in _TOPICS.items():
        for key, header in (("all", "ALL"), ("list", "list"), ("f1", gettext_noop("yes or no, F1"))):
            plain[f"{topic} {key}"] = labelled(title, header)
    figures += [Published(f"{scenario}.{key}", title, table_9, {scenario: key}) for key, title in plain.items()]
    for order, title in ORDERS.items():
        column, group = gettext_noop("Distance (as published)"), labelled(name, title.lower())
        places = {"orders": f"{scenario} {order}"}
        figures.append(Published(f"{scenario}.{order}", title, table_4, places, column, group))
    for key, title in (("characters", gettext_noop("ALL of a character")), ("consistency", gettext_noop("Consistent"))):
        figures.append(Published(f"{scenario}.{key}", title, table_3, {"characters": f"{scenario} {key}"}))
    return figures


_TOPICS = {
    topic: gettext_noop("Answerability") if topic == ANSWERABILITY else gettext_noop("Information access")
    for topic in TOPICS
}
_FREE = (
    ("all_star", "ALL*", gettext_noop("Sets")),
    ("distance", gettext_noop("Belief, distance"), gettext_noop("Belief")),
    ("distance_f1", gettext_noop("Token F1 of right ones"), gettext_noop("Belief")),
)
"""Figures that rest on an embedder: key, title and heading of their columns."""


_OF_SETS = {
    "all_star": "ALL*",
    "all": "ALL",
    **{f"{topic} all": Sentence("ALL of {title}", title=title.lower()) for topic, title in _TOPICS.items()},
}
"""The figures that are of whole sets."""


PUBLISHED = (
    *(figure for scenario in SCENARIOS for figure in _of_scenario(scenario)),
    Published("fact", gettext_noop("Token F1"), "Facts", {FACTS.key: F1, INACCESSIBLE: "fact", ACCESSIBLE: "fact"}),
)


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    makers: dict[str, Callable[[Analysed, str], Table]] = {
        INACCESSIBLE: partial(_scenario, INACCESSIBLE), ACCESSIBLE: partial(_scenario, ACCESSIBLE),
        "orders": _orders, "characters": _characters,
        "reasons": lambda analysed, parse: reasons_table(analysed, QUESTIONS.key, SCENARIOS, parse),
    }  # fmt: skip
    of_answers = tables_of(results, QUESTIONS.key, Analyses, makers)
    return of_answers | tables_of(results, FREE_BELIEFS.key, FreeBeliefs, {"told": _stated})


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of ALL by scenario."""
    analysed = analysed_of(results, QUESTIONS.key, Analyses)
    if not analysed:
        return {}

    def plot() -> Plot:
        rows = [
            ModelRow(entrant.model, {title: analyses.scenarios[name]["all"] for name, title in SCENARIOS.items()})
            for entrant, analyses in analysed
        ]
        short = {title: title for title in SCENARIOS.values()}
        drawn = scores_by_part(rows, parse=results.parse, score="ALL", part="scenario", short=short)
        return drawn.about(over="conversations")

    parts = {(scenario, "all"): title for scenario, title in SCENARIOS.items()}
    return {"scenarios": ShownPicture(gettext_noop("ALL by scenario"), plot, (QUESTIONS.key,), parts=parts)}


def _embedders(analysed: Analysed) -> list[str]:
    return sorted({analyses.embedder for _, analyses in analysed})


def _free(
    analysed: Analysed, key: str, header: str, value: Callable[[Any], Any], group: str, best: str = "high"
) -> list[Figure]:
    """Return a column for each embedder, which it names."""

    def of_embedder(name: str, analyses: Analyses) -> BoundedEstimate | None:
        return value(analyses) if analyses.embedder == name else None

    return [
        figure(f"{key} {name}", noted(header, name), partial(of_embedder, name), group=group, best=best)
        for name in _embedders(analysed)
    ]


def _scenario(scenario: str, analysed: Analysed, parse: str) -> Table:
    free = {
        key: _free(
            analysed, key, title, at("scenarios", scenario, key), group, best="" if key == "distance_f1" else "high"
        )
        for key, title, group in _FREE
    }  # of fewer right ones the F1 may be higher
    figures = [
        *free["all_star"],
        figure("all", "ALL", at("scenarios", scenario, "all"), group="Sets"),
        figure("choice", "Choice", at("scenarios", scenario, "choice"), group="Belief"),
        *free["distance"],
        *free["distance_f1"],
        *topic_figures(scenario, _TOPICS),
        figure("fact", gettext_noop("Token F1"), at("fact"), group="Fact"),
    ]
    title = Sentence("{scenarios}, {parse} parse (%)", scenarios=SCENARIOS[scenario].capitalize(), parse=word(parse))
    counted = () if scenario == INACCESSIBLE else (_WHOLE if parse == "repaired" else _FRAGMENTS,)
    lead = incomplete_in(analysed, scenario, _OF_SETS)
    return table_of(analysed, QUESTIONS.key, title, figures, *counted, _ALL, _DISTANCE, lead=lead)


def _orders(analysed: Analysed, parse: str) -> Table:
    figures: list[Figure] = []
    for scenario, order in orders_in(analysed, SCENARIOS):
        key, group = f"{scenario} {order}", labelled(SCENARIOS[scenario].capitalize(), ORDERS[order].lower())
        distance, choice = (at("orders", scenario, order, kind) for kind in (DISTANCE, CHOICE))
        figures += _free(analysed, f"{key} {DISTANCE}", "Distance", distance, group)
        figures.append(figure(f"{key} {CHOICE}", "Choice", choice, group=group))
    title = Sentence("Beliefs by order, {parse} parse (%)", parse=word(parse))
    return table_of(analysed, QUESTIONS.key, title, figures, _ORDERS, _DISTANCE)


def _characters(analysed: Analysed, parse: str) -> Table:
    named = {"characters": gettext_noop("ALL of a character"), "consistency": gettext_noop("Consistent")}
    figures = [
        figure(f"{scenario} {name}", header, at("scenarios", scenario, name), group=title.capitalize())
        for scenario, title in SCENARIOS.items()
        for name, header in named.items()
    ]
    note = Sentence(
        "{characters} Beliefs in free words are judged by the run’s embedder ({embedders}).",
        characters=_CHARACTERS,
        embedders=", ".join(_embedders(analysed)),
    )
    lead = [
        labelled(heading.capitalize(), sentence)
        for scenario, heading in SCENARIOS.items()
        for sentence in incomplete_in(analysed, scenario, named)
    ]
    title = Sentence("Characters and consistency, {parse} parse (%)", parse=word(parse))
    return table_of(analysed, QUESTIONS.key, title, figures, note, lead=lead)
