"""Figures of a model's answers: sets that are right as a whole, questions, facts, and the metrics of the
benchmark's own tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

from benchmark.domain.estimating import StoryScore
from benchmark.suites.fantom.analyses import Analyses, analyses_of
from benchmark.suites.fantom.answering import ANSWER, ANSWERING
from benchmark.suites.fantom.embedding import EMBEDDERS
from benchmark.suites.fantom.free_beliefs import FREE_BELIEFS, measure_free_beliefs
from benchmark.suites.fantom.judging import JUDGE
from benchmark.suites.fantom.steps import EMBEDDER
from benchmark.suites.fantom_questions.baselines import by_majority
from benchmark.suites.fantom_questions.by_chance import by_chance
from benchmark.suites.fantom_questions.item_page import says
from benchmark.suites.fantom_questions.question_types import FACET_VALUES, SHORT_IN_PANELS, TYPES
from benchmark.suites.fantom_questions.rows import ACCESSIBLE, DISTANCE, FACT, INACCESSIBLE
from benchmark.suites.fantom_questions.units import WHOLES, reads_of, wholes_of
from benchmark.suites.groups import CATEGORY, MetricGroup, Parts
from benchmark.suites.measuring import (
    ACCURACY,
    SampleResult,
    accuracy_group,
    is_read_right,
    measured_samples,
    measured_sets,
    scored_by,
    sets_group,
    undefined,
    with_findings,
)
from benchmark.suites.questions import Entered, Measured, Outcome, Parse, Sample
from benchmark.suites.reasons import questions_unanswered
from core.messages import Sentence, gettext_noop, sentences

ALL, F1 = "all", "f1"
_RESTS_ON = tuple(step.key for step in ANSWERING)
_RESAMPLED = gettext_noop("A conversation’s questions are resampled together.")
_SET = gettext_noop(
    "Figures are of sets, counted under their first question: a set is right where all its answers are."
)


def in_all(sample: Sample) -> bool:
    """Return whether a question counts for ALL."""
    return sample.content["kind"] not in (FACT, DISTANCE) and sample.content["scenario"] == INACCESSIBLE


def in_all_star(sample: Sample) -> bool:
    """Return whether a question counts for ALL*."""
    return not _is_fact(sample) and sample.content["scenario"] == INACCESSIBLE


def in_control(sample: Sample) -> bool:
    """Return whether a question counts for ALL of the control."""
    return sample.content["kind"] not in (FACT, DISTANCE) and sample.content["scenario"] == ACCESSIBLE


def _is_fact(sample: Sample) -> bool:
    return bool(sample.content["kind"] == FACT)


def _sets_group(key: str, title: str, score: str, note: str, counts: Callable[[Sample], bool]) -> MetricGroup:
    notes = (sentences(_SET, note), _RESAMPLED)
    return sets_group(
        key,
        title,
        score,
        share=ALL,
        header=score,
        step=ANSWER,
        rests_on=_RESTS_ON,
        notes=notes,
        counts=counts,
        chance=by_chance,
        majority=by_majority,
        says=says,
    )


FALSE_BELIEF = _sets_group(
    "fantom",
    gettext_noop("Sets, false belief"),
    "ALL",
    gettext_noop("The set’s questions on what a character missed, without the beliefs in free words."),
    in_all,
)


def _with_free_answers(embedder: str) -> MetricGroup:
    """Return the group of ALL* by an embedder, whose name the score has: figures by two of them do not compare."""
    return _sets_group(
        f"fantom-star-{re.sub('[^a-z0-9]+', '-', embedder.lower())}",
        Sentence("Sets, false belief, with free answers ({embedder})", embedder=embedder),
        f"ALL* ({embedder})",
        Sentence("As ALL, with the beliefs in free words, which the embedder {embedder} judges.", embedder=embedder),
        in_all_star,
    )


FREE = {name: _with_free_answers(name) for name in EMBEDDERS}
"""ALL* by embedder: a run is in the one of its own."""
CONTROL = _sets_group(
    "fantom-control",
    "Sets, control",
    "ALL, control",
    gettext_noop(
        "The set’s questions on what everybody heard: in the repaired parse of sets without any other question, in the "
        "official one of whatever is accessible in any set, as the released code has it."
    ),
    in_control,
)
QUESTIONS = accuracy_group(
    "fantom-questions",
    gettext_noop("Single questions"),
    step=ANSWER,
    rests_on=_RESTS_ON,
    facets={"scenario": gettext_noop("Scenario"), "order": gettext_noop("Order of belief")},
    facet_values=FACET_VALUES,
    chance=by_chance,
    majority=by_majority,
    says=says,
    notes=(gettext_noop("By chance 50 % of choices and of yes or no questions are right."), _RESAMPLED),
    parts=Parts(
        gettext_noop("Type of question"),
        facet=CATEGORY,
        values=tuple(name for (kind, _), name in TYPES.items() if kind != FACT),  # facts have no score here
        short=SHORT_IN_PANELS,
    ),
)
FACTS = MetricGroup(
    key="fantom-facts",
    title=gettext_noop("Facts"),
    noun=gettext_noop("answering"),
    shares=(F1,),
    headers={F1: gettext_noop("Token F1")},
    score=F1,
    score_title=gettext_noop("Token F1"),
    prompt=ANSWER,
    rests_on=_RESTS_ON,
    scored=ANSWER,
    notes=(
        (
            gettext_noop(
                "Whether a model follows the conversation at all. The repaired parse leaves out punctuation and "
                "articles, as SQuAD does."
            )
        ),
        _RESAMPLED,
    ),
    by_category=False,
    says=says,
)
GROUPS = (FALSE_BELIEF, *FREE.values(), CONTROL, QUESTIONS, FACTS, FREE_BELIEFS)


def measure(entered: Entered) -> dict[str, Measured | None]:
    """Return the figures of each group: of the answers that a run asked for, of the verdicts of its judge."""
    of_answers = _measure_answers(entered) if ANSWER in entered.steps else {}
    return of_answers | ({FREE_BELIEFS.key: measure_free_beliefs(entered)} if JUDGE in entered.steps else {})


def _measure_answers(entered: Entered) -> dict[str, Measured | None]:
    """Return the figures of answers; the metrics of the paper's tables are found in the answers to single questions."""
    return {
        FALSE_BELIEF.key: measured_sets(entered, FALSE_BELIEF, _rights),
        **{
            group.key: measured_sets(entered, group, _rights) if name == entered.settings.options[EMBEDDER] else None
            for name, group in FREE.items()
        },
        CONTROL.key: measured_sets(entered, CONTROL, _control),
        QUESTIONS.key: with_findings(
            measured_samples(entered, QUESTIONS, _question), lambda parse: _analyses(entered, parse)
        ),
        FACTS.key: measured_samples(entered, FACTS, _fact),
    }


_rights = scored_by(is_read_right, ALL)
_accuracy = scored_by(is_read_right)


def _control(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    """Return the shares of right answers, without a repaired figure in a set of which only a part is accessible."""
    result = _rights(sample, outcomes)
    if sample.content["wholly_accessible"]:
        return result
    return replace(result, repaired=undefined(sample, (ALL,)).repaired)


def _question(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    return undefined(sample, (ACCURACY,)) if _is_fact(sample) else _accuracy(sample, outcomes)


def _fact(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    """The mean F1 of the repetitions; bounds take as 0 and as 1 what is missing or empty."""
    if not _is_fact(sample):
        return undefined(sample, (F1,))
    answered = [outcome for outcome in outcomes if not outcome.without]
    missing = len(outcomes) - len(answered)
    official = {F1: fmean([(outcome.official or {}).get(F1, 0.0) for outcome in answered])} if not missing else None
    read = [float((outcome.repaired or {})[F1]) for outcome in answered if not outcome.unreadable]
    unknown = (len(outcomes) - len(read)) / len(outcomes)
    worst = {F1: sum(read) / len(outcomes)}
    best = {F1: worst[F1] + unknown}
    if not read:
        why = next(outcome.without or outcome.unreadable for outcome in outcomes)
        score = StoryScore(sample.category, worst, best, None, why)
    else:
        score = StoryScore(sample.category, worst, best, {F1: fmean(read)})
    return SampleResult(official, score, questions_unanswered(missing, len(outcomes)))


def _analyses(entered: Entered, parse: Parse) -> Analyses:
    reads, seed = reads_of(entered, QUESTIONS, parse), entered.settings.seed
    wholes = entered.resources.derived(WHOLES, wholes_of)
    return analyses_of(reads, wholes, parse, str(entered.settings.options[EMBEDDER]), seed)
