"""Models of a project that built structures of stories and answered questions about stories, and the choice of both."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from annotation.models import Project
from benchmark.models import Run
from benchmark.services.absences import is_absent
from benchmark.services.leaderboards import entrants_of
from benchmark.services.reports import reports_of
from benchmark.suites.groups import ANSWERS, STRUCTURE, MetricGroup
from benchmark.suites.questions import Parse
from benchmark.suites.registry import group_named, group_suite, ordered_suites, suite_named
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, gettext_noop, labelled, listed, noted
from workers.models import JobState

QUESTIONS, STORIES = "questions", "stories"
"""Units: each question, or each story, whose answer is right if all of its questions are answered right."""
NAMES = ("measure", "answers", "cut", "counted", "parse", "structure", "run")
"""Names of choices in addresses: `structure` and `run` are the runs of structures and of answers."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of a structure, or two metrics of which the lower one counts, so that both are right if it is."""

    parts: tuple[tuple[MetricGroup, str], ...]
    """The metric group of each and one of its shares."""

    @property
    def group(self) -> MetricGroup:
        return self.parts[0][0]

    @property
    def key(self) -> str:
        return ",".join(f"{group.key}.{share}" for group, share in self.parts)

    @property
    def title(self) -> str:
        """The heading of its list."""
        return gettext_noop("Both together") if self.parts[1:] else self.group.title

    @property
    def label(self) -> str:
        labels = [
            group.score_title
            if share == group.score
            else labelled(group.noun.capitalize(), group.headers.get(share, share))
            for group, share in self.parts
        ]
        return Sentence("{parts} and {beside}", parts=labels[0], beside=labels[1]) if labels[1:] else labels[0]


@dataclass(frozen=True)
class Sides:
    """The entrants of finished runs by metric group and by model, newest first."""

    entrants: Mapping[str, Mapping[str, Sequence[EntrantResults]]]

    def groups(self, side: str) -> list[MetricGroup]:
        """The metric groups of structures, or of answers, that have entrants."""
        named = (group_named(key) for key, by_model in self.entrants.items() if by_model)
        return [group for group in named if group.tells == side]

    @cached_property
    def measures(self) -> list[Measure]:
        """All metrics of structures, the score of each group first, then the scores of every two groups of a suite."""
        groups = self.groups(STRUCTURE)
        single = [
            Measure(((group, share),)) for group in groups for share in sorted(group.shares, key=group.score.__ne__)
        ]
        return single + [
            Measure(((first, first.score), (second, second.score)))
            for first, second in combinations(groups, 2)
            if group_suite(first.key) == group_suite(second.key)
        ]

    def models(self, measure: Measure, answers: str) -> list[str]:
        """The models that have scores of all groups of a measure and of the answers, in alphabetical order."""
        groups = [*(group.key for group, _ in measure.parts), answers]
        return sorted(set.intersection(*({*self.entrants.get(key, {})} for key in groups)))

    def structure_runs(self, measure: Measure) -> dict[str, str]:
        """Titles of the runs that have all metrics of a measure, by id, newest first."""
        first, *others = (self.runs(group.key) for group, _ in measure.parts)
        return {uid: title for uid, title in first.items() if all(uid in other for other in others)}

    def runs(self, group: str) -> dict[str, str]:
        """Titles of the runs with entrants of the group, by id, newest first."""
        entrants = [entrant for listed in self.entrants.get(group, {}).values() for entrant in listed]
        entrants.sort(key=lambda entrant: entrant.at, reverse=True)
        return {entrant.run: entrant.run_title for entrant in entrants}

    def entrant(self, group: str, model: str, run: str = "") -> EntrantResults | None:
        """Return the newest entrant of a model, or the one of that run."""
        listed = self.entrants.get(group, {}).get(model, ())
        return next((entrant for entrant in listed if not run or entrant.run == run), None)


def sides_of(project: Project) -> Sides:
    """Return the entrants of the finished runs of a project, models and baselines, without those that gave no answer
    at all. Two models of one name have their endpoint in the name."""
    entrants: dict[str, dict[tuple[str, ...], list[EntrantResults]]] = {}
    finished = Run.objects.listed().filter(project=project, job__state=JobState.FINISHED)
    for name in ordered_suites(finished.order_by().values_list("suite", flat=True).distinct()):
        suite = suite_named(name)
        groups = [group for group in suite.groups if group.tells] if suite.texts.story else []
        if not groups:
            continue
        runs = finished.filter(suite=name).select_related("judge", "project", "dataset", "source", "job")
        runs = list(runs.prefetch_related("entrants"))
        reports = reports_of(runs)
        for group in groups:
            by_model = entrants.setdefault(group.key, {})
            for entrant in entrants_of(runs, reports, group.key):
                if entrant.kind != "person" and not is_absent(entrant):
                    spec = entrant.spec
                    identity = entrant.name, spec.provider or "", spec.model or "", spec.revision or ""
                    by_model.setdefault(identity, []).append(entrant)
    names = Counter(name for name, *_ in {identity for by_model in entrants.values() for identity in by_model})
    return Sides(
        {
            group: {
                name if names[name] == 1 else noted(name, listed(endpoint)): own
                for (name, *endpoint), own in by_model.items()
            }
            for group, by_model in entrants.items()
        }
    )


def lacking(sides: Sides) -> str:
    """Return what the page needs. Returns "" if some model has both structures and answers."""
    if any(sides.models(measure, other.key) for measure in sides.measures for other in sides.groups(ANSWERS)):
        return ""
    return gettext_noop(
        "No model has both: it needs two finished runs of the same models, one on gold belief tables, one on questions "
        "about the same stories."
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """The two sides of a comparison. `cut` is the score from which a structure is right, None for the median; `models`
    those that are compared; `structure_run` and `answers_run` are ids of runs, empty for the newest of each model."""

    measure: Measure
    answers: MetricGroup
    models: tuple[str, ...]
    parse: Parse = "repaired"
    cut: float | None = None
    counted: str = QUESTIONS
    structure_run: str = ""
    answers_run: str = ""


def choice_of(sides: Sides, params: Mapping[str, str], models: Collection[str]) -> tuple[Choice, str]:
    """Return the choice of `params`, whose names are in `NAMES`, and a sentence about a cut that cannot be. An unknown
    or missing choice is replaced by the first one."""
    answers = _named(sides.groups(ANSWERS), params.get("answers", ""))
    fitting = [measure for measure in sides.measures if sides.models(measure, answers.key)] or sides.measures
    measure = _named(fitting, params.get("measure", ""))
    both = sides.models(measure, answers.key)
    cut, problem = _cut(params.get("cut", ""))
    run, structure_run = params.get("run", ""), params.get("structure", "")
    return Choice(
        measure=measure,
        answers=answers,
        models=tuple(model for model in both if model in models) or tuple(both),
        parse="official" if params.get("parse") == "official" else "repaired",
        cut=cut,
        counted=STORIES if params.get("counted") == STORIES else QUESTIONS,
        structure_run=structure_run if structure_run in sides.structure_runs(measure) else "",
        answers_run=run if run in sides.runs(answers.key) else "",
    ), problem


def _named(among: Sequence[Any], key: str) -> Any:
    return next((item for item in among if item.key == key), among[0])


def _cut(text: str) -> tuple[float | None, str]:
    """Return the cut as a fraction, None for an empty text, and a sentence about a text that is no percentage."""
    if not (written := text.strip()):
        return None, ""
    with suppress(ValueError):
        if 0 <= (value := float(written)) <= 100:
            return value / 100, ""
    return None, Sentence(
        "Right from: {text} is not a number from 0 to 100; the median is taken.", text=repr(text[:40])
    )
