"""The benchmark's own tables and picture, filled from the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.drawn import ModelRow, Plot
from benchmark.domain.plots import scores_by_part
from benchmark.domain.tables import Column, Table
from benchmark.domain.tables.estimates import estimate, estimated
from benchmark.domain.tables.table import Cells
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
from benchmark.suites.fantom_questions.analyses import TOPICS
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    INACCESSIBLE,
    ORDERS,
    SCENARIOS,
)
from benchmark.suites.fantom_questions.pages import incomplete_sentences, reasons_table, table_of
from benchmark.suites.reports import Published
from benchmark.suites.results import EntrantResults, ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.showing.entrants import findings_of
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


def free_belief_tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the table of a parse, none without verdicts."""
    analysed = findings_of(results.analysed.get(FREE_BELIEFS.key, ()), results.parse, FreeBeliefs)
    return {"told": ShownTable(partial(_table, analysed), (FREE_BELIEFS.key,))} if analysed else {}


def _table(analysed: Sequence[tuple[EntrantResults, FreeBeliefs]]) -> Table:
    columns = [column for scenario, title in SCENARIOS.items() for column in _columns(scenario, title.capitalize())]
    entrants, cells = [entrant for entrant, _ in analysed], [_cells(beliefs) for _, beliefs in analysed]
    title = gettext_noop("What answers in free words state, by the judge")
    return table_of(entrants, FREE_BELIEFS.key, title, columns, cells, _NOTE)


def _columns(scenario: str, group: str) -> list[Column]:
    counts = [Column(key=f"{scenario} {key}", header=name, kind="count", group=group) for key, name in _HEADERS.items()]
    shares = {"near": gettext_noop("Right, by the embedder"), "alike": gettext_noop("Embedder agrees")}
    return [
        *counts,
        *(
            Column(key=f"{scenario} {key}", header=name, kind="share", unit="%", group=group)
            for key, name in shares.items()
        ),
    ]


def _cells(beliefs: FreeBeliefs) -> Cells:
    cells: Cells = {}
    for scenario, counts in beliefs.by_scenario.items():
        cells |= {f"{scenario} {verdict}": count for verdict, count in counts.verdicts.items()}
        for name, count in (("near", counts.near), ("alike", counts.alike)):
            cells[f"{scenario} {name}"] = count / counts.both if counts.both else None
    return cells


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


def _published() -> tuple[Published, ...]:
    """Return the figures of the paper's tables 3, 4 and 9."""
    fact = {FACTS.key: F1, INACCESSIBLE: "fact", ACCESSIBLE: "fact"}
    metrics = [metric for scenario in SCENARIOS for metric in _of_scenario(scenario)]
    return (*metrics, Published("fact", gettext_noop("Token F1"), "Facts", fact))


def _of_scenario(scenario: str) -> list[Published]:
    heading = Sentence("{scenarios} (table 9)", scenarios=SCENARIOS[scenario].capitalize())
    all_of = FALSE_BELIEF if scenario == INACCESSIBLE else CONTROL
    topics = [
        (f"{topic} {name}", labelled(title, header))
        for topic, title in ((topic, _TOPICS[topic]) for topic in TOPICS)
        for name, header in (("all", "ALL"), ("list", "list"), ("f1", gettext_noop("yes or no, F1")))
    ]
    plain = [("choice", gettext_noop("Belief: choice")), *topics]
    return [
        Published(f"{scenario}.all", "ALL", heading, {scenario: "all", all_of.key: ALL}),
        *(_by_other_embedder(scenario, name, title, group, heading) for name, title, group in _FREE),
        *(Published(f"{scenario}.{key}", title, heading, {scenario: key}) for key, title in plain),
        *(_in_orders(scenario, order) for order in ORDERS),
        *(
            Published(f"{scenario}.{name}", title, heading.replace("9", "3"), {"characters": f"{scenario} {name}"})
            for name, title in (
                ("characters", gettext_noop("ALL of a character")),
                ("consistency", gettext_noop("Consistent")),
            )
        ),
    ]


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


def _by_other_embedder(scenario: str, name: str, title: str, group: str, heading: str) -> Published:
    return Published(
        f"{scenario}.{name}", title, heading, {scenario: name}, Sentence("{title} (as published)", title=title), group
    )


def _in_orders(scenario: str, order: str) -> Published:
    """Return the accuracy of an order, which the paper has of beliefs in free words."""
    group = labelled(SCENARIOS[scenario].capitalize(), ORDERS[order].lower())
    heading = Sentence("{scenarios} (table 4)", scenarios=SCENARIOS[scenario].capitalize())
    return Published(
        f"{scenario}.{order}",
        ORDERS[order],
        heading,
        {"orders": f"{scenario} {order}"},
        gettext_noop("Distance (as published)"),
        group,
    )


PUBLISHED = _published()


Analysed = Sequence[tuple[EntrantResults, Analyses]]


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    analysed = _analysed(results)
    return (_of_answers(analysed, results.parse) if analysed else {}) | free_belief_tables(results)


def _of_answers(analysed: Analysed, parse: str) -> dict[str, ShownTable]:
    makers: dict[str, Callable[[Analysed, str], Table]] = {
        INACCESSIBLE: partial(_scenario, INACCESSIBLE), ACCESSIBLE: partial(_scenario, ACCESSIBLE),
        "orders": _orders, "characters": _characters, "reasons": _reasons,
    }  # fmt: skip
    return {name: ShownTable(partial(make, analysed, parse), (QUESTIONS.key,)) for name, make in makers.items()}


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of ALL by scenario."""
    analysed = _analysed(results)
    if not analysed:
        return {}
    plot = partial(_plot, analysed, results.parse)
    parts = {(scenario, "all"): title for scenario, title in SCENARIOS.items()}
    return {"scenarios": ShownPicture(gettext_noop("ALL by scenario"), plot, (QUESTIONS.key,), parts=parts)}


def _analysed(results: ParseResults) -> Analysed:
    return findings_of(results.analysed.get(QUESTIONS.key, ()), results.parse, Analyses)


def _entrants(analysed: Analysed) -> list[EntrantResults]:
    return [entrant for entrant, _ in analysed]


def _plot(analysed: Analysed, parse: str) -> Plot:
    rows = [
        ModelRow(
            entrant.model,
            {title: analyses.scenarios[scenario]["all"] for scenario, title in SCENARIOS.items()},
        )
        for entrant, analyses in analysed
    ]
    short = {title: title for title in SCENARIOS.values()}
    return scores_by_part(rows, parse=parse, score="ALL", part="scenario", short=short).about(over="conversations")


def _embedders(analysed: Analysed) -> list[str]:
    return sorted({analyses.embedder for _, analyses in analysed})


def _by_embedder(key: str, analyses: Analyses, metric: BoundedEstimate | None) -> Cells:
    return estimate(f"{key} {analyses.embedder}", metric)


def _free(key: str, header: str, embedders: Sequence[str], group: str, best: str = "high") -> list[Column]:
    """A column for each embedder, which it names."""
    return [estimated(f"{key} {name}", noted(header, name), group=group, digits=1, best=best) for name in embedders]


def _scenario(scenario: str, analysed: Analysed, parse: str) -> Table:
    embedders, entrants = _embedders(analysed), _entrants(analysed)
    columns = [
        *_free("all_star", "ALL*", embedders, "Sets"),
        estimated("all", "ALL", group="Sets", digits=1),
        estimated("choice", "Choice", group="Belief", digits=1),
        *_free("distance", gettext_noop("Belief, distance"), embedders, "Belief"),
        *_free(
            "distance_f1", gettext_noop("Token F1 of right ones"), embedders, "Belief", best=""
        ),  # of fewer right ones it may be higher
    ]
    for topic in TOPICS:
        group = _TOPICS[topic]
        columns += [
            estimated(f"{topic} {name}", header, group=group, digits=1)
            for name, header in (("all", "ALL"), ("list", gettext_noop("List")), ("f1", gettext_noop("Yes or no, F1")))
        ]
    columns.append(estimated("fact", gettext_noop("Token F1"), group="Fact", digits=1))
    cells = [_scenario_cells(analyses, scenario) for _, analyses in analysed]
    title = Sentence("{scenarios}, {parse} parse (%)", scenarios=SCENARIOS[scenario].capitalize(), parse=word(parse))
    counted = () if scenario == INACCESSIBLE else (_WHOLE if parse == "repaired" else _FRAGMENTS,)
    lead = incomplete_sentences(entrants, [analyses.scenarios[scenario] for _, analyses in analysed], _OF_SETS)
    return table_of(entrants, QUESTIONS.key, title, columns, cells, *counted, _ALL, _DISTANCE, lead=lead)


def _scenario_cells(analyses: Analyses, scenario: str) -> Cells:
    cells = estimate("fact", analyses.fact)
    for name, metric in analyses.scenarios[scenario].items():
        free = name in ("all_star", "distance", "distance_f1")
        cells |= _by_embedder(name, analyses, metric) if free else estimate(name, metric)
    return cells


def _orders(analysed: Analysed, parse: str) -> Table:
    there = [
        (scenario, order)
        for scenario in SCENARIOS
        for order in ORDERS
        if any(order in analyses.orders[scenario] for _, analyses in analysed)
    ]
    embedders = _embedders(analysed)
    columns: list[Column] = []
    for scenario, order in there:
        key, group = f"{scenario} {order}", labelled(SCENARIOS[scenario].capitalize(), ORDERS[order].lower())
        columns += [
            *_free(f"{key} {DISTANCE}", "Distance", embedders, group),
            estimated(f"{key} {CHOICE}", "Choice", group=group, digits=1),
        ]
    cells = []
    for _, analyses in analysed:
        values: Cells = {}
        for scenario, order in there:
            metrics = analyses.orders[scenario].get(order, {})
            values |= _by_embedder(f"{scenario} {order} {DISTANCE}", analyses, metrics.get(DISTANCE))
            values |= estimate(f"{scenario} {order} {CHOICE}", metrics.get(CHOICE))
        cells.append(values)
    return table_of(
        _entrants(analysed),
        QUESTIONS.key,
        Sentence("Beliefs by order, {parse} parse (%)", parse=word(parse)),
        columns,
        cells,
        _ORDERS,
        _DISTANCE,
    )


def _characters(analysed: Analysed, parse: str) -> Table:
    columns = []
    for scenario, title in SCENARIOS.items():
        columns += [
            estimated(f"{scenario} characters", gettext_noop("ALL of a character"), group=title.capitalize(), digits=1),
            estimated(f"{scenario} consistency", "Consistent", group=title.capitalize(), digits=1),
        ]
    cells = [
        {
            key: value
            for scenario in SCENARIOS
            for name in ("characters", "consistency")
            for key, value in estimate(f"{scenario} {name}", analyses.scenarios[scenario][name]).items()
        }
        for _, analyses in analysed
    ]
    entrants, embedders = _entrants(analysed), ", ".join(_embedders(analysed))
    note = Sentence(
        "{characters} Beliefs in free words are judged by the run’s embedder ({embedders}).",
        characters=_CHARACTERS,
        embedders=embedders,
    )
    title = Sentence("Characters and consistency, {parse} parse (%)", parse=word(parse))
    named = {"characters": gettext_noop("ALL of a character"), "consistency": gettext_noop("Consistent")}
    lead = [
        labelled(heading.capitalize(), sentence)
        for scenario, heading in SCENARIOS.items()
        for sentence in incomplete_sentences(
            entrants, [analyses.scenarios[scenario] for _, analyses in analysed], named
        )
    ]
    return table_of(entrants, QUESTIONS.key, title, columns, cells, note, lead=lead)


def _reasons(analysed: Analysed, parse: str) -> Table:
    reasons = [analyses.reasons for _, analyses in analysed]
    return reasons_table(_entrants(analysed), reasons, QUESTIONS.key, SCENARIOS, parse)
