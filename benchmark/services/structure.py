"""Structure against answers: the models that built structures of stories and answered questions about them, the choice
of both, and its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from django.db.models.fields.json import KeyTransform

from annotation.models import Project
from benchmark.domain.association import (
    COLUMNS,
    RIGHT,
    Beyond,
    Crossing,
    Frame,
    beyond_category,
    correlation,
    crossed,
    median_structure,
    of_whole_stories,
    scored,
)
from benchmark.domain.inference.cases import Case
from benchmark.domain.tables import Absent, in_order
from benchmark.models import DatasetSample, Run, StoryScores
from benchmark.services.absences import is_absent
from benchmark.services.leaderboards import SEED, entrants_of
from benchmark.services.reports import reports_of
from benchmark.suites.figures import cases_by_story, categories_of
from benchmark.suites.groups import ANSWERS, STRUCTURE, MetricGroup
from benchmark.suites.questions import Columns, Parse
from benchmark.suites.registry import group_named, group_suite, ordered_suites, suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import short_names_of
from core.kept import kept_as
from core.messages import Sentence, gettext_noop, labelled, listed, noted, word
from core.plain import read_as
from core.statistics import Estimate, method
from workers.models import JobState

QUESTIONS, STORIES = "questions", "stories"
"""Units: each question, or each story, whose answer is right if all of its questions are answered right."""
NAMES = ("measure", "answers", "cut", "counted", "parse", "structure", "run")
"""Names of choices in addresses: `structure` and `run` are the runs of structures and of answers."""
ALL = gettext_noop("All models")
Related = tuple[str, str, Estimate]
"""A category or measure, a model or `ALL`, and the correlation of structure and answers."""


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


@dataclass(frozen=True, slots=True)
class Association:
    """The results of a choice."""

    choice: Choice
    cut: float
    frame: Frame
    """A row per model and question about a story (`benchmark.domain.association`)."""
    absent: Sequence[Absent]
    """Models without rows, with the reason."""
    tables: Mapping[str, Crossing]
    """The table of all models and of each. Empty without rows."""
    beyond: Beyond
    categories: Sequence[Related]
    measures: Sequence[Related]
    entrants: Mapping[str, Sequence[EntrantResults]]
    """By model the entrant of each part of the measure, and last that of the answers."""
    datasets: Sequence[int]
    left_out: Sequence[int]
    """The most questions of a model about stories without a structure, stories without a question, and questions
    without a score by definition."""

    @property
    def stories(self) -> frozenset[int]:
        """The numbers of the stories behind the results."""
        return frozenset(self.frame["story"].tolist())

    @property
    def method(self) -> str:
        return method(seed=SEED, unit="stories")


def association_of(sides: Sides, choice: Choice) -> Association:
    """Return the results of a choice. Tables are empty if no model has structures and answers of a common story."""
    pairs, absent = _pairs(sides, choice, choice.measure)
    by_measure = [(measure, _pairs(sides, choice, measure)[0]) for measure in sides.measures]
    used = [pairs, *(other for _, other in by_measure)]
    joining = Joining([side for each in used for entrants in each.values() for side in entrants], choice.parse)
    frames, left_out = [np.empty(0, COLUMNS)], [(0, 0, 0)]
    for model, entrants in pairs.items():
        rows, why, counts = joining.rows(model, entrants, choice.measure, choice.answers)
        if len(rows):
            frames.append(rows)
            left_out.append(counts)
        else:
            absent.append(Absent(model, why or gettext_noop("no story in common")))
    frame = np.concatenate(frames)
    cut = choice.cut if choice.cut is not None else median_structure(frame)
    cut = 0.5 if cut is None else cut
    counted = of_whole_stories(frame) if choice.counted == STORIES else frame
    scores = sorted({(model, *(side.scores for side in each[model])) for each in used for model in each})
    versions = [scores, choice.measure.key, choice.answers.key, choice.parse, choice.counted, choice.models]
    tables = kept_as(
        "structure-cut",
        [versions, choice.cut],  # which is moved often
        lambda: {model: crossed(rows, cut, seed=SEED) for model, rows in _by_model(counted, choice).items()},
    )
    beyond, categories, measures = kept_as(
        "structure",
        versions,
        lambda: (
            beyond_category(counted, seed=SEED),
            _by_category(counted, choice),
            [row for measure, other in by_measure for row in _by_measure(joining, other, measure, choice)],
        ),
    )
    there = {str(model): pairs[model] for model in dict.fromkeys(frame["model"])}
    most = [max(counts) for counts in zip(*left_out, strict=True)]
    return Association(
        choice, cut, frame, absent, tables, beyond, categories, measures, there, joining.datasets, most
    )  # fmt: skip


def _pairs(sides: Sides, choice: Choice, measure: Measure) -> tuple[dict[str, list[EntrantResults]], list[Absent]]:
    """Return the entrants of each chosen model that has all of a measure and answers, and the models that lack one."""
    pairs, absent = {}, []
    chosen = {group.key for group, _ in choice.measure.parts}
    groups = [(group, choice.structure_run if group.key in chosen else "") for group, _ in measure.parts]
    groups.append((choice.answers, choice.answers_run))
    for model in choice.models:
        entrants = [(group, sides.entrant(group.key, model, run)) for group, run in groups]
        lacks = next((group.noun for group, entrant in entrants if entrant is None), None)
        if lacks is None:
            pairs[model] = [entrant for _, entrant in entrants if entrant]
        else:
            absent.append(Absent(model, Sentence("no {lacks} in the chosen run", lacks=lacks)))
    return pairs, absent


def _by_model(frame: Frame, choice: Choice) -> dict[str, Frame]:
    """Return the rows of all models together if there are several, then of each."""
    by_model = {model: frame[frame["model"] == model] for model in choice.models}
    by_model = {model: rows for model, rows in by_model.items() if len(rows)}
    return {ALL: frame, **by_model} if len(by_model) > 1 else by_model


def _by_category(frame: Frame, choice: Choice) -> list[Related]:
    return [
        (name, model, correlation(rows, seed=SEED))
        for name in in_order(set(frame["category"]), short_names_of(choice.measure.group.key))
        for model, rows in _by_model(frame[frame["category"] == name], choice).items()
    ]


def _by_measure(
    joining: Joining, pairs: Mapping[str, Sequence[EntrantResults]], measure: Measure, choice: Choice
) -> list[Related]:
    frames = [joining.rows(model, entrants, measure, choice.answers)[0] for model, entrants in pairs.items()]
    frame = np.concatenate([np.empty(0, COLUMNS), *frames])
    frame = of_whole_stories(frame) if choice.counted == STORIES else frame
    return [
        (measure.label, model, correlation(rows, seed=SEED)) for model, rows in _by_model(frame, choice).items()
    ]  # fmt: skip


class Joining:
    """Joins structures and answers of the same text. Texts, and the scores of each group, are read once."""

    def __init__(self, entrants: Iterable[EntrantResults], parse: Parse) -> None:
        runs = Run.objects.filter(uid__in={entrant.run for entrant in entrants})
        self.runs = {uid: (dataset, suite) for uid, dataset, suite in runs.values_list("uid", "dataset_id", "suite")}
        self.texts: dict[tuple[int, str], dict[int, str]] = {}  # of the story of each sample, by number
        for dataset, suite in set(self.runs.values()):
            samples = DatasetSample.objects.filter(dataset=dataset)
            texts = samples.values_list("number", f"content__{suite_named(suite).texts.story}")
            self.texts[dataset, suite] = {number: text for number, text in texts if isinstance(text, str)}
        self.parse = parse
        self._scores = StoryScores.objects.filter(pk__in={entrant.scores for entrant in entrants})
        self._columns: dict[str, dict[int, Columns | None]] = {}  # of a metric group, by the id of the scores
        self._links: dict[tuple[Any, ...], tuple[list[tuple[int, int]], int, int]] = {}

    @property
    def datasets(self) -> list[int]:
        return sorted({dataset for dataset, _ in self.runs.values()})

    def rows(
        self, model: str, entrants: Sequence[EntrantResults], measure: Measure, answers: MetricGroup
    ) -> tuple[Frame, str, tuple[int, int, int]]:
        """Return the rows of a model in one measure, the reason if there are none for want of scores, and the counts of
        questions without a story, stories without a question, and questions without a score by definition."""
        nothing = np.empty(0, COLUMNS)
        columns = []
        for entrant, group in zip(entrants, (*(group for group, _ in measure.parts), answers), strict=True):
            if group.key not in self._columns:
                of_parse = KeyTransform(self.parse, KeyTransform(group.key, "metrics"))
                kept = self._scores.annotate(kept=of_parse).values_list("pk", "kept")
                self._columns[group.key] = {pk: read_as(Columns, own) if own else None for pk, own in kept}
            if not (scores := self._columns[group.key][entrant.scores]):
                no_scores = Sentence(
                    "no {parse} figures of {noun}", parse=word(self.parse), noun=word(group.noun)
                )  # fmt: skip
                return nothing, no_scores, (0, 0, 0)
            columns.append(scores)
        if len({self.runs[side.run] for side in entrants[:-1]}) > 1:
            return nothing, gettext_noop("its structures are of different versions of the gold"), (0, 0, 0)
        links, without_story, without_question = self._linked(entrants, columns)
        built = [cases_by_story(own, share) for own, (_, share) in zip(columns, measure.parts, strict=False)]
        answered, categories = cases_by_story(columns[-1], answers.score), categories_of(columns[0])
        joined = []
        for story, question in links:
            structure, answer = lowest([cases.get(story) for cases in built]), lowest([answered[question]])
            if structure and answer:
                joined.append((model, story, question, categories[story], *structure, *answer))
        undefined = len(links) - len(joined)
        return np.array(joined, COLUMNS), "", (without_story, without_question, undefined)

    def _linked(
        self, entrants: Sequence[EntrantResults], columns: Sequence[Columns]
    ) -> tuple[list[tuple[int, int]], int, int]:
        """Return (story, question) of each question about a story of the very same text, and how many questions and
        stories have none. Of several stories with one text that of the question's category counts, else the first."""
        asked, stories, questions = self.runs[entrants[0].run], columns[0], columns[-1]
        answered = self.runs[entrants[-1].run]
        # alike for all models of the same runs
        key = asked, answered, *(tuple(each) for own in (stories, questions) for each in (own.stories, own.categories))
        if key not in self._links:
            texts, category_by_story = self.texts[asked], categories_of(stories)
            by_text: dict[str, list[int]] = {}
            for number in category_by_story:
                if text := texts.get(number):
                    by_text.setdefault(text, []).append(number)
            links, without_story = [], 0
            for question, category in categories_of(questions).items():
                if numbers := by_text.get(self.texts[answered].get(question, "")):
                    same = (number for number in numbers if category_by_story[number] == category)
                    links.append((next(same, numbers[0]), question))
                else:
                    without_story += 1
            without_question = len(category_by_story.keys() - {story for story, _ in links})
            self._links[key] = links, without_story, without_question
        return self._links[key]


def lowest(cases: Sequence[Case | None]) -> tuple[float | None, float, float] | None:
    """Return (score, worst, best) of the lowest of several cases, which reaches a cut if all do. The score is None if
    one is missing. Returns None if one is not defined."""
    defined = [case for case in cases if case is not None]
    if len(defined) < len(cases):
        return None
    answered = [case.answered for case in defined if case.answered is not None]
    return (
        min(answered) if len(answered) == len(cases) else None,
        min(case.worst for case in defined),
        min(case.best for case in defined),
    )


def apart_of(association: Association, right: str) -> list[Any]:
    """Return the rows of which only the answer, or only the structure, is `right`, the farthest from the cut first."""
    rows = scored(association.frame)
    structure, answer = rows["structure"] >= association.cut, rows["answer"] >= RIGHT
    rows = rows[answer & ~structure if right == "answer" else structure & ~answer]
    return sorted(
        rows, key=lambda row: (-abs(row["structure"] - association.cut), row["story"], row["question"], row["model"])
    )
