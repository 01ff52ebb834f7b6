"""The tables of the paper: the three tasks in both scenarios, and how they go together over models; and what the sets
consist of."""

from collections.abc import Callable
from functools import partial

from benchmark.domain.tables import Table
from benchmark.suites.fantom_questions.data import ACCESSIBLE, ANSWERABILITY, CHOICE, INACCESSIBLE, ORDERS, TOPICS
from benchmark.suites.fantom_questions.pages import incomplete_in, orders_in, reasons_table, topic_figures
from benchmark.suites.perceiving import tables as of_three
from benchmark.suites.perceiving.asking import ANSWER
from benchmark.suites.percept_fantom.data import SCENARIO_NAMES
from benchmark.suites.percept_fantom.metrics import ALL, FALSE_BELIEF, NOUNS, QUESTIONS, TASKS, TRUE_BELIEF, Analyses
from benchmark.suites.results import ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.tables import Analysed, analysed_of, at, figure, table_of, tables_of
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


def tables(results: ParseResults) -> dict[str, ShownTable]:
    """Return the tables of a parse, none without figures."""
    all_analysed = analysed_of(results, QUESTIONS.key, Analyses)
    entrants = [(entrant, analyses.tasks) for entrant, analyses in all_analysed]
    lead = [
        of_three.without_metric(entrant.model, title, reason)
        for entrant, analyses in all_analysed
        for task, title in NOUNS.items()
        if (reason := analyses.withheld.get(task))
    ]
    makers: dict[str, Callable[[Analysed, str], Table]] = {
        "scenarios": lambda analysed, parse: of_three.scenarios_table(
            entrants, TASKS, QUESTIONS.key, parse, _PERCEPTION[parse], _SCENARIOS, lead=lead
        ),
        INACCESSIBLE: partial(_scenario, INACCESSIBLE),
        ACCESSIBLE: partial(_scenario, ACCESSIBLE),
        "orders": _orders,
        "reasons": lambda analysed, parse: reasons_table(analysed, QUESTIONS.key, SCENARIO_NAMES, parse),
    }
    if len(of_three.complete(entrants, TASKS)) > 1:
        makers["correlations"] = lambda analysed, parse: of_three.correlations_table(entrants, TASKS, parse)
    return tables_of(results, QUESTIONS.key, Analyses, makers)


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    """Return the picture of the three tasks by scenario."""
    analysed = analysed_of(results, QUESTIONS.key, Analyses)
    entrants = [(entrant, analyses.tasks) for entrant, analyses in analysed]
    return of_three.pictures(entrants, TASKS, results.parse, "conversations", QUESTIONS.key)


def _scenario(scenario: str, analysed: Analysed, parse: str) -> Table:
    topics = {
        topic: "Answerability" if topic == ANSWERABILITY else gettext_noop("Information access") for topic in TOPICS
    }
    figures = [
        figure("all", "ALL", at("scenarios", scenario, "all"), group="Sets"),
        figure("choice", "Choice", at("scenarios", scenario, "choice"), group="Belief"),
        *topic_figures(scenario, topics),
        *(
            figure(name, header, at("scenarios", scenario, name), group="Characters")
            for name, header in (("characters", gettext_noop("Of a character")), ("consistency", "Consistent"))
        ),
    ]
    title = Sentence(
        "Sets of {scenario_names} and their questions, {parse} parse (%)",
        scenario_names=SCENARIO_NAMES[scenario],
        parse=word(parse),
    )
    counted = (_WHOLE[parse],) if scenario == ACCESSIBLE else ()
    lead = incomplete_in(analysed, scenario, _OF_SETS)
    return table_of(analysed, QUESTIONS.key, title, figures, *counted, _ALL, _CHARACTERS, lead=lead)


def _orders(analysed: Analysed, parse: str) -> Table:
    figures = [
        figure(
            f"{scenario} {order}",
            ORDERS[order],
            at("orders", scenario, order, CHOICE),
            group=SCENARIO_NAMES[scenario].capitalize(),
        )
        for scenario, order in orders_in(analysed, SCENARIO_NAMES)
    ]
    title = Sentence("Beliefs by order, {parse} parse (%)", parse=word(parse))
    return table_of(analysed, QUESTIONS.key, title, figures, _ORDERS)
