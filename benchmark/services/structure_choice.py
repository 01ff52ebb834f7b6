"""What an address or a command asks to be held against what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchmark.services.structure import QUESTIONS, STORIES, Choice
from benchmark.services.structure_sides import Sides
from benchmark.suites.contract import ANSWERS, STRUCTURE

NAMES = ("measure", "answers", "cut", "counted", "reading", "structure", "run")
"""Names of choices: `structure` and `run` are the runs of structures and of answers."""


def lacking(sides: Sides) -> str:
    """Say what a project still needs; empty where some model has both."""
    structures, answers = sides.groups(STRUCTURE), sides.groups(ANSWERS)
    if any(sides.models(one.key, other.key) for one in structures for other in answers):
        return ""
    if structures and answers:
        return (
            "No model has both: start the run that it lacks, of belief tables or of questions about the same stories."
        )
    if structures:
        return "There is a run of belief tables. Now import a benchmark with questions about the same stories, such as ToMBench, and run the same models on it."
    if answers:
        return "There is a run of questions. Now freeze gold belief tables of the same stories, and run the same models on them."
    return "It needs two finished runs of the same models: one on gold belief tables, one on questions about the same stories, such as those of ToMBench."


def choice_of(sides: Sides, params: Mapping[str, str], models: Collection[str]) -> tuple[Choice, list[str]]:
    """Return what `params` and the names of `models` ask for, and what of the cut cannot be, a sentence each; what they leave open or name wrongly is the
    first that there is. The names of `params` are those of an address, in `NAMES`."""
    answers = _named(sides.groups(ANSWERS), params.get("answers", ""))
    fitting = [of for of in sides.measures if sides.models(of.group.key, answers.key)] or sides.measures
    measure = _named(fitting, params.get("measure", ""))
    both = sides.models(measure.group.key, answers.key)
    chosen = tuple(model for model in both if model in models) or tuple(both)
    cut, problem = _cut(params.get("cut", ""))
    run, structure_run = params.get("run", ""), params.get("structure", "")
    return Choice(
        measure=measure,
        answers=answers,
        models=chosen,
        reading="official" if params.get("reading") == "official" else "repaired",
        cut=cut,
        counted=STORIES if params.get("counted") == STORIES else QUESTIONS,
        structure_run=structure_run if structure_run in sides.runs(measure.group.key) else "",
        answers_run=run if run in sides.runs(answers.key) else "",
    ), [problem] if problem else []


def _named(among: Sequence[Any], key: str) -> Any:
    return next((of for of in among if of.key == key), among[0])


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
    return None, f"Right from: {text[:40]!r} is not a number from 0 to 100; the median is taken."
