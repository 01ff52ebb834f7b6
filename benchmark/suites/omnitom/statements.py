"""Statements of the tables that a model made of a story, whatever names and places a control gave it: two are the same
where this is."""

from __future__ import annotations

from collections.abc import Callable

from benchmark.suites.measuring import statement_digest
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL, STAGE1
from benchmark.suites.questions import UNREADABLE_ANSWER, Entered, Outcome, Sample, SuiteData


def matches_stated(sample: Sample, repaired: SuiteData) -> str:
    """Return which gold rows an extraction has, as judged, and how many of its own rows are none of them: its words are
    others each time."""
    gold, predicted = ([bool(count) for count in repaired[side]] for side in ("gold", "pred"))
    return statement_digest([gold, predicted.count(False)])


def labels_stated(sample: Sample, repaired: SuiteData) -> str:
    """Return the labels of all gold rows as normalised, None of a row that the table lacks."""
    return statement_digest(repaired["predicted"])


def statement_of(entered: Entered, group: str, sample: Sample, turn: int) -> str | None:
    """Return what the table of one repetition says in a metric group, that it cannot be read, or None where there is
    none, or where its judge did not say what it has."""
    outcomes = {outcome.step: outcome for outcome in entered.outcomes.get(sample.key, ()) if outcome.repetition == turn}
    if group == STAGE1:
        extraction, judgement = outcomes.get(EXTRACT), outcomes.get(JUDGE)
        if extraction and extraction.unreadable:
            return UNREADABLE_ANSWER
        return _statement(judgement, matches_stated, sample) if judgement and not judgement.unreadable else None
    labelling = outcomes.get(LABEL)
    if labelling and labelling.unreadable:
        return UNREADABLE_ANSWER
    return _statement(labelling, labels_stated, sample) if labelling else None


def _statement(outcome: Outcome, says: Callable[[Sample, SuiteData], str], sample: Sample) -> str | None:
    if outcome.without or outcome.repaired is None:
        return None
    return says(sample, outcome.repaired)
