"""Models that a ranking does not have: they are named beside it with the reason, on pages, in tables, files, pictures
and snapshots.

A model without a single answer has no figures; one that was asked or judged otherwise has a ranking of its own; one
that was asked about a part of the stories has no figure of all; rows of people wait for who still labels. Silence would
read as if there were no such model.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import product

from django.db.models import Count

from benchmark.domain.tables import Absent
from benchmark.models import Run, RunItem
from benchmark.services.conditions import Ranking
from benchmark.services.judges import version_failure
from benchmark.services.leaderboards import people_of
from benchmark.services.reports import WITHOUT_CALL, RunMetrics
from benchmark.suites.registry import group_named, group_suite, keys_of, nouns_of_group, suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import WITHIN
from core.messages import Sentence, gettext_noop, labelled, listed, word, worded
from core.plain import Json
from workers.domain.outcomes import commonest
from workers.models import ItemState

_FAILED = WITHOUT_CALL[ItemState.FAILED]
NO_ANSWER = {_FAILED, f"judgement: {_FAILED}"}
"""Reasons of stories without an estimate that are failures of calls, and say nothing of the model."""


@dataclass(frozen=True, slots=True)
class Absence:
    """The absence of a model from the ranking of a metric group."""

    group: str
    model: str
    run: str = ""
    run_title: str = ""
    failed: int = 0
    """The number of its calls if all failed."""
    problem: str = ""
    """The commonest reason of these."""
    why: str = ""
    covered: int | None = None
    """The number of the stories that its run has if it has a part of them."""
    unscored: bool = False
    """True if the suite could not score its answers."""

    def as_json(self) -> Json:
        row: Json = {"group": self.group, "model": self.model, "run": self.run, "why": self.why}
        row |= {"failed": self.failed, "problem": self.problem} if self.failed else {}
        return row | ({"covered": self.covered} if self.covered is not None else {})

    @property
    def absent_model(self) -> Absent:
        return Absent(self.model, self.why)

    def __str__(self) -> str:
        if not self.failed:
            return Sentence(
                "{model} is not in the ranking of {noun}: {why}.",
                model=self.model,
                noun=word(group_named(self.group).noun),
                why=self.why,
            )
        why = Sentence(" The commonest reason: {problem}", problem=self.problem) if self.problem else ""
        return Sentence(
            "{model} has no figures ({run_title}): all {failed} calls failed.{why}",
            model=self.model,
            run_title=self.run_title,
            failed=f"{self.failed:,}",
            why=why,
        )


_LONGEST = 160
"""Characters of a problem in a sentence; it is whole beside it."""


def apart(group: str, ranking: Ranking) -> list[Absence]:
    """Return the models that were asked or judged under other conditions than the ranking's."""
    absent = []
    for other in ranking.others:
        unlike = {field: name for field, name in other.within.items() if name != ranking.chosen[field]}
        how = [f"{label} {unlike[field]}" for field, label in WITHIN.items() if field in unlike]
        why = Sentence("ranked apart: {how}", how=listed(how)) if how else gettext_noop("ranked apart")
        absent += [Absence(group, name, why=why) for name in other.models]
    return absent


def uncovered(group: str, entrants: Sequence[EntrantResults], present: Set[str], stories: Set[int]) -> list[Absence]:
    """Return the absences of `entrants` whose names are not `present` in a ranking over the stories: no run has all of
    them. Each once, with the run that has most, the newest of several."""
    widest: dict[str, tuple[int, EntrantResults]] = {}
    for entrant in entrants:
        covered = len(stories & set(entrant.numbers))
        if entrant.kind != "person" and entrant.name not in present and covered > widest.get(entrant.name, (-1,))[0]:
            widest[entrant.name] = covered, entrant
    text = gettext_noop("its run has {covered} of these {stories} {group}")
    samples = suite_named(group_suite(group)).noun[1]
    absent = []
    for name, (covered, entrant) in widest.items():
        why = Sentence(text, covered=f"{covered:,}", stories=f"{len(stories):,}", group=samples)
        absent.append(Absence(group, name, entrant.run, entrant.run_title, why=why, covered=covered))
    return absent


def unscored(suite: str, runs: Sequence[Run], reports: Mapping[int, RunMetrics]) -> list[Absence]:
    """Return the models whose answers the suite could not score, in each of its rankings, and in judged ones those of a
    judge that it cannot describe."""
    groups, unjudged, failed = keys_of(suite), [], []
    for run in runs:
        entrants, failure = reports[run.pk].entrants, version_failure(run)
        names = people_of(entrants)
        of_run = partial(Absence, run=run.uid, run_title=run.title, unscored=True)
        for group, row in product(groups, entrants):
            if failure and group_named(group).judged and row.groups.get(group) is not None:
                unjudged.append(of_run(group, row.name, why=_sentence(failure)))
            if row.failed:
                failed.append(of_run(group, names.get(row.name, row.name), why=_sentence(row.failed)))
    return unjudged + sorted(failed, key=lambda absence: groups.index(absence.group))


def rows_withheld(group: str, rows: str, stories: int) -> Absence:
    """Return the absence of `rows` such as "People" for a reader with open work on so many of the stories."""
    nouns = word(suite_named(group_suite(group)).noun[1])
    text = gettext_noop("withheld: you still have work to do on {stories} of these {nouns}")
    return Absence(group, rows, why=Sentence(text, stories=f"{stories:,}", nouns=nouns))


def without_metrics(entrants: Sequence[EntrantResults], group: str, parse: str) -> list[Absent]:
    """Return the models of a metric group without figures of a parse, and of the repaired one those without a usable
    sample or set."""
    none_usable = Sentence("no usable {noun}", noun=word(nouns_of_group(group)[0]))
    models = []
    for entrant in entrants:
        overall = entrant.parses.overall(parse)
        if not entrant.parses.of(parse):
            why = entrant.metrics.reason or gettext_noop("no figures")
            models.append(Absent(entrant.model, _sentence(why)))
        elif not overall.stories:
            counted = listed(worded(why, f"{count:,}") for why, count in overall.unreadable_reasons.items())
            models.append(Absent(entrant.model, labelled(none_usable, counted) if counted else none_usable))
    return models


def _sentence(text: str) -> str:
    return text.strip().removesuffix(".")


def is_absent(entrant: EntrantResults) -> bool:
    """Return whether every story of the entrant lacks its figure because a call failed. A refusal is an answer, and
    keeps its row."""
    overall = entrant.metrics.parses.overall("repaired")
    reasons = set(overall.unreadable_reasons)
    return entrant.kind != "person" and overall.stories == 0 and bool(reasons) and reasons <= NO_ANSWER


def absences(group: str, entrants: Sequence[EntrantResults]) -> list[Absence]:
    """Return the absences of these entrants, in their order. One query."""
    failed = RunItem.objects.filter(
        entrant__in=[entrant.entrant for entrant in entrants if entrant.entrant],
        step__in=group_named(group).rests_on,
        item__state=ItemState.FAILED,
    )
    problems: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for pk, problem, count in failed.order_by().values_list("entrant", "item__problem").annotate(Count("pk")):
        problems[pk].append((problem, count))
    absent = []
    for entrant in entrants:
        own = problems.get(entrant.entrant or 0, [])
        calls, problem = sum(count for _, count in own), commonest(own)[0]
        often = Sentence("most often: {problem}", problem=_sentence(problem[:_LONGEST])) if problem else ""
        why = listed([Sentence("all {failed} calls failed", failed=f"{calls:,}"), often])
        absent.append(Absence(group, entrant.name, entrant.run, entrant.run_title, calls, problem, why))
    return absent
