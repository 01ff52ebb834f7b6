"""The comparison that an address or a command asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from annotation.models import Project
from benchmark.models import Dataset, Run
from benchmark.services.structure import QUESTIONS, STORIES, Choice
from benchmark.services.structure_sides import Sides
from benchmark.suites.contract import Suite
from benchmark.suites.groups import ANSWERS, STRUCTURE
from benchmark.suites.registry import suites
from core.messages import Sentence, gettext_noop, sentences
from workers.models import UNENDED

NAMES = ("measure", "answers", "cut", "counted", "parse", "structure", "run")
"""Names of choices: `structure` and `run` are the runs of structures and of answers."""


Step = Literal["import", "publish", "launch", "run"]


@dataclass(frozen=True, slots=True)
class Lacking:
    """Need of a project, in words as `message`, and the `step` that comes next: importing the copy of a suite,
    publishing gold, launching models on a version of a dataset, or waiting for a run. `subject` is the suite's name,
    the version or the run's id; empty for gold, and for a launch on any."""

    message: str
    step: Step
    subject: str = ""


def lacking(sides: Sides, project: Project) -> Lacking | None:
    """Return what a project still needs; None where some model has both."""
    structures, answers = sides.groups(STRUCTURE), sides.groups(ANSWERS)
    if any(sides.models(measure, other.key) for measure in sides.measures for other in answers):
        return None
    if structures and answers:
        lacks = gettext_noop(
            "No model has both: start the run that it lacks, of belief tables or of questions about the same stories."
        )
        return _going(project, STRUCTURE, ANSWERS) or Lacking(lacks, "launch")
    if structures:
        return _after(gettext_noop("There is a run of belief tables."), project, ANSWERS)
    if answers:
        return _after(gettext_noop("There is a run of questions."), project, STRUCTURE)
    asking = _example(ANSWERS).title
    needs = Sentence(
        "It needs two finished runs of the same models: one on gold belief tables, one on questions "
        "about the same stories, such as those of {asking}.",
        asking=asking,
    )
    return _after(needs, project, ANSWERS, STRUCTURE)


def _after(there: str, project: Project, *sides: str) -> Lacking:
    """Return what comes next for runs of structures or of answers: one that is under way, else the first step that
    nobody took, of one of them or of both."""
    going = _going(project, *sides)
    steps = [_next(project, side) for side in sides]
    coming = going or next((step for step in steps if step.step != "launch"), steps[0])
    return replace(coming, message=sentences(there, coming.message))


def _going(project: Project, *sides: str) -> Lacking | None:
    """Return the run that tells of structure, or of answers, and has not ended yet; None where none is under way."""
    names = [suite.name for side in sides for suite in _suites_telling(side)]
    under_way = Run.objects.listed().filter(project=project, suite__in=names, job__state__in=UNENDED)
    run = under_way.select_related("job").order_by("-pk").first()
    if run is None:
        return None
    what = (
        gettext_noop("belief tables")
        if run.suite in {suite.name for suite in _suites_telling(STRUCTURE)}
        else gettext_noop("questions")
    )
    going = Sentence(
        "The run “{run}”, of {what}, is {standing}: its figures count here once it has ended.",
        run=run.title,
        what=what,
        standing=run.job.standing,
    )
    return Lacking(going, "run", run.uid)


def _next(project: Project, side: str) -> Lacking:
    """Return the first step towards a run of structures, or of answers, that was not taken."""
    loaded = [suite for suite in _suites_telling(side) if suite.load]
    if side == STRUCTURE:
        published = Dataset.objects.filter(project=project, suite="").order_by("-version").first()
        if published:
            run_on = Sentence(
                "Gold is published as version {published}: now run the same models on its belief tables.",
                published=published.version,
            )
            return Lacking(run_on, "launch", str(published.version))
        publish = gettext_noop("Now publish gold belief tables of the same stories, and run the same models on them.")
        return Lacking(publish, "publish")
    imported = (
        Dataset.objects.filter(project=project, suite__in=[suite.name for suite in loaded]).order_by("-version").first()
    )
    if imported:
        run_on = Sentence(
            "{title} is imported as version {version}: now run the same models on it, to its end.",
            title=imported.title,
            version=imported.version,
        )
        return Lacking(run_on, "launch", str(imported.version))
    example = _example(side)
    bring = Sentence(
        "Now import a benchmark with questions about the same stories, such as {example}, and run "
        "the same models on it.",
        example=example.title,
    )
    return Lacking(bring, "import", example.name)


def _suites_telling(side: str) -> list[Suite]:
    """The suites whose figures tell of structure, or of answers, of stories that others can have too."""
    return [suite for suite in suites().values() if suite.story and any(group.tells == side for group in suite.groups)]


def choice_of(sides: Sides, params: Mapping[str, str], models: Collection[str]) -> tuple[Choice, list[str]]:
    """Return what `params` and the names of `models` ask for, and what of the cut cannot be, a sentence each; what they
    leave open or name wrongly is the first that there is. The names of `params` are those of an address, in `NAMES`."""
    answers = _named(sides.groups(ANSWERS), params.get("answers", ""))
    fitting = [measure for measure in sides.measures if sides.models(measure, answers.key)] or sides.measures
    measure = _named(fitting, params.get("measure", ""))
    both = sides.models(measure, answers.key)
    chosen = tuple(model for model in both if model in models) or tuple(both)
    cut, problem = _cut(params.get("cut", ""))
    run, structure_run = params.get("run", ""), params.get("structure", "")
    return Choice(
        measure=measure,
        answers=answers,
        models=chosen,
        parse="official" if params.get("parse") == "official" else "repaired",
        cut=cut,
        counted=STORIES if params.get("counted") == STORIES else QUESTIONS,
        structure_run=structure_run if structure_run in sides.structure_runs(measure) else "",
        answers_run=run if run in sides.runs(answers.key) else "",
    ), [problem] if problem else []


def _named(among: Sequence[Any], key: str) -> Any:
    return next((item for item in among if item.key == key), among[0])


def _cut(text: str) -> tuple[float | None, str]:
    """Return the cut that was written, in per cent, and what is wrong with it; None for none."""
    written = text.strip().removesuffix("%").strip().replace(",", ".")
    if not written:
        return None, ""
    try:
        value = float(written)
    except ValueError:
        value = -1.0
    if 0 <= value <= 100:
        return value / 100, ""
    return None, Sentence(
        "Right from: {text} is not a number from 0 to 100; the median is taken.", text=repr(text[:40])
    )


def _example(side: str) -> Suite:
    """Return the suite that texts name as an example of one side: the first that can be imported."""
    return next(suite for suite in _suites_telling(side) if suite.load)
