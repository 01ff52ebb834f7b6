"""The tables of the paper: the three tasks in both scenarios, and how they go together over models; and what the sets
consist of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from benchmark.domain.tables import Table
from benchmark.domain.tables.estimates import estimate, estimated
from benchmark.suites.fantom_questions.analyses import TOPICS
from benchmark.suites.fantom_questions.data import ACCESSIBLE, ANSWERABILITY, CHOICE, INACCESSIBLE, ORDERS
from benchmark.suites.fantom_questions.pages import incomplete_sentences, reasons_table, table_of
from benchmark.suites.perceiving import tables as of_three
from benchmark.suites.perceiving.asking import ANSWER
from benchmark.suites.percept_fantom.data import SCENARIO_NAMES
from benchmark.suites.percept_fantom.metrics import ALL, FALSE_BELIEF, NOUNS, QUESTIONS, TASKS, TRUE_BELIEF, Analyses
from benchmark.suites.results import EntrantResults, ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.showing.entrants import findings_of
from core.messages import Sentence, gettext_noop, word

SECTIONS = (
    of_three.SCENARIOS_SECTION,
    of_three.CORRELATIONS_SECTION,
    Section(gettext_noop("What the sets consist of"), (), (INACCESSIBLE, ACCESSIBLE)),
    Section(gettext_noop("Order of belief and kinds of errors"), (), ("orders", "reasons")),
)
PUBLISHED = of_three.published(
    TASKS,
    {
        (ANSWER, gettext_noop("false belief")): (FALSE_BELIEF.key, ALL),
        (ANSWER, gettext_noop("true belief")): (TRUE_BELIEF.key, ALL),
    },
)
_PERCEPTION = {
    "official": gettext_noop(
        "Perception accuracy, as the paper has it: of the utterances that a model wrote, the share with the right "
        "perceivers, over sets."
    ),
    "repaired": gettext_noop(
        "Perception recall: of the utterances of a conversation, the share with the right perceivers, over sets. The "
        "paper has the accuracy, in which leaving an utterance out costs nothing: it stands in the official table."
    ),
}
_SCENARIOS = gettext_noop(
    "Perception to belief: set:ALL of the questions asked with the true perceivers; questions: set:ALL as the method "
    "puts them. A set is right where all its choices, lists and yes or no questions are; of true belief count sets all "
    "of whose questions are. Brackets: 95 % intervals over conversations."
)
_ALL = gettext_noop(
    "ALL: share of sets whose questions are all right. Brackets: 95 % intervals over conversations. By chance 50 % "
    "of choices and of yes or no questions are right."
)
_CHARACTERS = gettext_noop(
    "Of a character: everything is right about one (single answers, the place in both lists, beliefs charged to the "
    "one who believes). Consistent: single answers and lists say the same of one. The released code leaves single "
    "answers out of both."
)
_WHOLE = {
    "official": (
        gettext_noop(
            "ALL is of sets all of whose questions are of the scenario, as in the released code; the other figures "
            "take what is accessible of any set."
        )
    ),
    "repaired": gettext_noop("Only sets all of whose questions are of the scenario count."),
}
_ORDERS = gettext_noop(
    "Choices alone. Cyclic: the belief leads back to the one who believes; acyclic: to a third person."
)
_OF_SETS = {
    "all": "ALL",
    **{
        f"{topic} all": Sentence(
            "ALL of {topic}", topic=word("answerability" if topic == ANSWERABILITY else "information access")
        )
        for topic in TOPICS
    },
    "characters": gettext_noop("of a character"),
    "consistency": "consistent",
}
"""The figures that are of whole sets."""
Analysed = Sequence[tuple[EntrantResults, Analyses]]


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    analysed, parse = _analysed(results), results.parse
    if not analysed:
        return {}
    entrants, groups = _three(analysed), (QUESTIONS.key,)
    shown_tables = {
        "scenarios": partial(
            of_three.scenarios_table,
            entrants,
            TASKS,
            QUESTIONS.key,
            parse,
            _PERCEPTION[parse],
            _SCENARIOS,
            lead=[*_without_metrics(analysed)],
        ),
        INACCESSIBLE: partial(_scenario, INACCESSIBLE, analysed, parse),
        ACCESSIBLE: partial(_scenario, ACCESSIBLE, analysed, parse),
        "orders": partial(_orders, analysed, parse),
        "reasons": partial(_reasons, analysed, parse),
    }
    models = of_three.complete(entrants, TASKS)
    if len(models) > 1:
        kin = of_three.families(entrants, TASKS)
        shown_tables["correlations"] = partial(of_three.correlations_table, models, TASKS, parse, families=kin)
    return {name: ShownTable(make, groups) for name, make in shown_tables.items()}


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of the three tasks by scenario."""
    analysed = _analysed(results)
    if not analysed:
        return {}
    plot = partial(of_three.plot, _three(analysed), TASKS, results.parse, "conversations")
    parts = of_three.parts_of(TASKS, results.parse)
    return {"scenarios": ShownPicture(gettext_noop("Three tasks by scenario"), plot, (QUESTIONS.key,), parts=parts)}


def _analysed(results: ParseResults) -> Analysed:
    """Models with their analyses."""
    return findings_of(results.analysed.get(QUESTIONS.key, ()), results.parse, Analyses)


def _without_metrics(analysed: Analysed) -> Iterator[str]:
    """Models with a task that has no metric of this parse, and why."""
    for entrant, analyses in analysed:
        for task, title in NOUNS.items():
            if reason := analyses.withheld.get(task):
                yield of_three.without_metric(entrant.model, title, reason)


def _three(analysed: Analysed) -> list[tuple[EntrantResults, of_three.Metrics]]:
    return [(entrant, analyses.tasks) for entrant, analyses in analysed]


def _scenario(scenario: str, analysed: Analysed, parse: str) -> Table:
    columns = [estimated("all", "ALL", group="Sets", digits=1), estimated("choice", "Choice", group="Belief", digits=1)]
    for topic in TOPICS:
        group = "Answerability" if topic == ANSWERABILITY else gettext_noop("Information access")
        columns += [
            estimated(f"{topic} {name}", header, group=group, digits=1)
            for name, header in (("all", "ALL"), ("list", gettext_noop("List")), ("f1", gettext_noop("Yes or no, F1")))
        ]
    columns += [
        estimated("characters", gettext_noop("Of a character"), group="Characters", digits=1),
        estimated("consistency", "Consistent", group="Characters", digits=1),
    ]
    metrics = [analyses.scenarios[scenario] for _, analyses in analysed]
    cells = [
        {key: value for name in estimates for key, value in estimate(name, estimates[name]).items()}
        for estimates in metrics
    ]
    title = Sentence(
        "Sets of {scenario_names} and their questions, {parse} parse (%)",
        scenario_names=SCENARIO_NAMES[scenario],
        parse=word(parse),
    )
    counted = (_WHOLE[parse],) if scenario == ACCESSIBLE else ()
    entrants = [entrant for entrant, _ in analysed]
    lead = incomplete_sentences(entrants, metrics, _OF_SETS)
    return table_of(entrants, QUESTIONS.key, title, columns, cells, *counted, _ALL, _CHARACTERS, lead=lead)


def _orders(analysed: Analysed, parse: str) -> Table:
    there = [
        (scenario, order)
        for scenario in SCENARIO_NAMES
        for order in ORDERS
        if any(order in analyses.orders[scenario] for _, analyses in analysed)
    ]
    columns = [
        estimated(f"{scenario} {order}", ORDERS[order], group=SCENARIO_NAMES[scenario].capitalize(), digits=1)
        for scenario, order in there
    ]
    cells = [
        {
            key: value
            for scenario, order in there
            for key, value in estimate(
                f"{scenario} {order}", analyses.orders[scenario].get(order, {}).get(CHOICE)
            ).items()
        }
        for _, analyses in analysed
    ]
    entrants = [entrant for entrant, _ in analysed]
    return table_of(
        entrants,
        QUESTIONS.key,
        Sentence("Beliefs by order, {parse} parse (%)", parse=word(parse)),
        columns,
        cells,
        _ORDERS,
    )


def _reasons(analysed: Analysed, parse: str) -> Table:
    entrants, counts = [entrant for entrant, _ in analysed], [analyses.reasons for _, analyses in analysed]
    return reasons_table(entrants, counts, QUESTIONS.key, SCENARIO_NAMES, parse)
