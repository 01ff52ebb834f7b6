"""The page of an item: the conversation, the question, what is right and what was read."""

from collections.abc import Iterable, Mapping
from functools import partial

from benchmark.domain.tables import Table
from benchmark.suites.fantom_questions.data import (
    ANSWERABILITY,
    CHOICE,
    DISTANCE,
    FACT,
    INFORMATION,
    LIST,
    ORDERS,
    SCENARIOS,
    YES,
)
from benchmark.suites.fantom_questions.metrics import BOTH, EXCLUDED, INCLUDED, REASONS, Questions
from benchmark.suites.items import ReadLine
from benchmark.suites.questions import ItemContext, ItemView, Sample, SuiteData
from benchmark.suites.reasons import note_of
from benchmark.suites.tables import Analysed, Figure, at, count, figure, incomplete_sentences, table_of
from core.messages import Sentence, gettext_noop, word

_ANSWERS = {1: "yes", 0: "no", -1: "neither yes nor no"}
_LONGEST_IN_A_SET, _LONGEST_ANSWER = 80, 300
"""Characters of a right text and of an answer in the table of a set."""


def item_of(view: ItemView, *steps: str, scenarios: Mapping[str, str] = SCENARIOS) -> ItemContext:
    """Return what the page of an item shows; at `steps` questions are answered, and the others of the set stand in a
    table. `scenarios` is what scenarios are called."""
    sample = view.question.sample
    content = sample.content
    answered = view.answer is not None and view.question.step in steps
    repaired = (None if view.unreadable else view.repaired) or {}
    parses = {"Official": view.official, "Repaired": repaired}
    names = content["names"]
    outside = repaired.get("outside") or ", ".join(name for name in repaired.get("named", ()) if name not in names)
    return {
        "conversation": content["conversation"],
        "question": content["question"],
        "about": {
            ANSWERABILITY: content["fact_question"],
            INFORMATION: f"{content['fact_question']} {content['fact_answer']}",
        }.get(content["topic"], ""),
        "options": _worded_options(sample),
        "type": sample.category,
        "scenario": scenarios.get(content["scenario"], ""),
        "order": ORDERS.get(content["order"], ""),
        "right": right_of(sample),
        "wrong": ", ".join(sample.gold["wrong"]) if content["kind"] in (LIST, DISTANCE) else "",
        "parses": [_parse(name, sample, parse) for name, parse in parses.items()] if answered else [],
        "unreadable": note_of(view.unreadable) if answered else "",
        "outside": outside if answered else "",
        "fact": f"{content['fact_question']} {content['fact_answer']}",
        "questions": _questions(view, scenarios) if view.question.step in steps and len(view.beside) > 1 else [],
    }


def _questions(view: ItemView, scenarios: Mapping[str, str]) -> list[ItemContext]:
    """Return the questions of the set with their answers, that of the page among them."""
    rows = []
    for beside in view.beside:
        sample, answer = beside.sample, beside.answer
        row: ItemContext = {
            "item": beside.item,
            "here": sample.key == view.question.sample.key,
            "type": sample.category,
            "question": sample.content["question"],
            "scenario": scenarios.get(sample.content["scenario"], ""),
            "right": _shortened(right_of(sample), _LONGEST_IN_A_SET),
            "answer": None,
            "official": None,
            "repaired": None,
        }
        if answer is not None:
            repaired = _parse("repaired", sample, None if beside.unreadable else beside.repaired)
            row |= {
                "answer": _shortened(answer, _LONGEST_ANSWER),
                "official": _parse("official", sample, beside.official),
                "repaired": repaired | ({"verdict": "unreadable"} if beside.unreadable else {}),
            }
        rows.append(row)
    return rows


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()} …"


def right_of(sample: Sample) -> str:
    """Return the right answer to a question, in words."""
    kind, right = sample.content["kind"], sample.gold["right"]
    if kind == CHOICE:
        return f"({'ab'[sample.gold['key']]}) {right[0]}"
    if kind in (LIST, FACT, DISTANCE):
        return ", ".join(right) or "nobody"
    return "yes" if right[0] == YES else "no"


def _parse(name: str, sample: Sample, parse: SuiteData | None) -> ItemContext:
    """Return what the parse `name` read in an answer, and its verdict, both in words."""
    if not parse:
        return {"name": name, "read": "nothing", "verdict": "–", "wrong": False}
    if "right" not in parse:
        return {"name": name, "read": "the answer", "verdict": f"token F1 {parse['f1']:.2f}", "wrong": False}
    read, wrong = parse_text(sample.content["kind"], parse), not parse["right"]
    return {"name": name, "read": read, "verdict": "wrong" if wrong else "right", "wrong": wrong}


def says(sample: Sample, parse: SuiteData) -> str:
    """Return what an answer says, alike under controls: names by their place among those of the set, of two options or
    texts which."""
    kind = sample.content["kind"]
    if kind == LIST:
        names = list(sample.content["names"])
        return (
            ",".join(sorted(str(names.index(name)) if name in names else name for name in parse["named"])) or "nobody"
        )
    if parse.get("outside"):
        return str(parse["outside"]).casefold()
    if kind in (CHOICE, DISTANCE):
        return "right" if parse["right"] else "wrong"
    return f"{parse['f1']:.6g}" if "f1" in parse else parse_text(kind, parse)


def parse_text(kind: str, parse: SuiteData) -> str:
    """Return what a parse with a verdict takes an answer for, in words."""
    if kind == DISTANCE:
        right, wrong = parse["near"]
        return f"cosine with the right text {right:.3f}, with the wrong one {wrong:.3f}"
    if kind == LIST:
        return ", ".join(parse["named"]) or "nobody"
    if parse.get("outside"):
        return f"“{parse['outside']}”"
    if kind == CHOICE:
        return "whether it names the right option" if parse["said"] is None else f"({'ab'[parse['said']]})"
    return _ANSWERS[parse["said"]]


def answer_lines(view: ItemView, *steps: str) -> list[ReadLine]:
    """Return the one line of an answer given at one of `steps`; none of what is written at another. The official parse
    of a choice says no more than whether it is the right one, so that one with the same verdict is the same; of a
    fact no parse has a verdict, as its words count one by one."""
    if view.question.step not in steps:
        return []
    sample, repaired = view.question.sample, None if view.unreadable else view.repaired
    right, officially_right = (None if not parse else parse.get("right") for parse in (repaired, view.official))
    answer, officially = _parse_text(sample, repaired), _parse_text(sample, view.official)
    near = (repaired or {}).get("near")
    if sample.content["kind"] == CHOICE and view.official:
        officially = (answer if right == officially_right else None) or (
            "the right option" if officially_right else "not the right option"
        )
    note = "cosine {:.3f} with the right text, {:.3f} with the wrong one".format(*near) if near else ""
    return [
        ReadLine(
            about=sample.content["question"],
            part=sample.category,
            gold=_worded_options(sample)[sample.gold["key"]] if sample.content["kind"] == CHOICE else right_of(sample),
            official=officially,
            repaired=answer,
            right=right,
            officially_right=officially_right,
            note=note_of(view.unreadable) if view.unreadable and view.answer is not None else note,
        )
    ]


def _worded_options(sample: Sample) -> list[str]:
    return [f"({letter}) {text}" for letter, text in zip("ab", sample.content["options"], strict=False)]


def _parse_text(sample: Sample, parse: SuiteData | None) -> str | None:
    """Return what a parse takes an answer for, in words."""
    if not parse:
        return None
    kind = sample.content["kind"]
    if kind == FACT:
        return f"token F1 {parse['f1']:.2f}"
    if kind == DISTANCE:
        return f"nearer to the {'right' if parse['right'] else 'wrong'} text"
    if kind == CHOICE and parse["said"] is not None:
        return _worded_options(sample)[parse["said"]]
    return parse_text(kind, parse)


_REASONS = {
    "official": gettext_noop(
        "Wrong answers by reason; lists are those on answerability alone, as in the released code."
    ),
    "repaired": gettext_noop(
        "Wrong answers by reason, of both kinds of lists. What could not be read is not among them."
    ),
}
_REASON_NAMES: Mapping[str, str] = {
    EXCLUDED: gettext_noop("One who knows lacking"),
    INCLUDED: gettext_noop("One who does not know named"),
    BOTH: gettext_noop("Both"),
    "false_no": gettext_noop("False no"),
    "false_yes": gettext_noop("False yes"),
    "neither": gettext_noop("Neither"),
}


def reasons_table(analysed: Analysed, group: str, scenarios: Mapping[str, str], parse: str) -> Table:
    """Return the table of wrong answers by reason; `scenarios` is what scenarios are called."""

    def of_reason(scenario: str, kind: str, reason: str, analyses: Questions) -> int:
        return analyses.reasons[scenario][kind].get(reason, 0)

    names = {"lists": (EXCLUDED, INCLUDED, BOTH), "single": tuple(REASONS.values())}
    figures = [
        count(
            f"{scenario} {kind} {name}",
            _REASON_NAMES[name],
            partial(of_reason, scenario, kind, name),
            f"{title.capitalize()}, {'lists' if kind == 'lists' else 'yes or no'}",
        )
        for scenario, title in scenarios.items()
        for kind, reasons in names.items()
        for name in reasons
    ]
    title = Sentence("Wrong answers by reason, {parse} parse", parse=word(parse))
    return table_of(analysed, group, title, figures, _REASONS[parse])


def topic_figures(scenario: str, topics: Mapping[str, str]) -> list[Figure]:
    """Return the columns of each topic in a scenario: ALL, the list, and F1 of yes and no."""
    return [
        figure(f"{topic} {name}", header, at("scenarios", scenario, f"{topic} {name}"), group=group)
        for topic, group in topics.items()
        for name, header in (("all", "ALL"), ("list", gettext_noop("List")), ("f1", gettext_noop("Yes or no, F1")))
    ]


def orders_in(analysed: Analysed, scenarios: Iterable[str]) -> list[tuple[str, str]]:
    """Return the scenarios and orders of belief of which some model has figures."""
    return [
        (scenario, order)
        for scenario in scenarios
        for order in ORDERS
        if any(order in analyses.orders[scenario] for _, analyses in analysed)
    ]


def incomplete_in(analysed: Analysed, scenario: str, headers: Mapping[str, str]) -> list[str]:
    """Return how many sets the figures of a scenario leave out."""
    metrics = [analyses.scenarios[scenario] for _, analyses in analysed]
    return incomplete_sentences([entrant for entrant, _ in analysed], metrics, headers)
