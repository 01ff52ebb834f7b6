"""Runs that ask the same of the same models by other methods, found by what they ask: those of one launch, and whatever
was launched before or after."""

from __future__ import annotations

from typing import Any

from benchmark.models import Run
from benchmark.services.asking import chosen_of
from benchmark.services.conditions import IMPORTED, asking_in_words
from benchmark.services.method_plans import methods_of
from benchmark.suites.registry import suite_named


def method_of_run(run: Run) -> str:
    """Return the name of the method that a run asks by; empty where its suite asks in one way, and of answers that were
    made elsewhere."""
    setting = suite_named(run.suite).method
    return str(chosen_of(run)[setting.name]) if setting and not run.imported else ""


def asks_plainly(run: Run) -> bool:
    """Return whether a run asks by the method that others are held against, as one does whose suite asks in one way."""
    setting = suite_named(run.suite).method
    return not run.imported and (setting is None or method_of_run(run) == setting.default)


def asked_by(run: Run) -> str:
    """Return how the models of a run were asked, in words: the title of its method, or that the answers were made
    elsewhere; empty where its suite asks in one way."""
    methods = methods_of(suite_named(run.suite))
    return IMPORTED if methods and run.imported else methods.get(method_of_run(run), "")


def method_text(run: Run) -> str:
    """Return the title of the method that a run asks by, as a list of runs needs it: empty where the run's own title
    ends in it."""
    title = methods_of(suite_named(run.suite)).get(method_of_run(run), "")
    return "" if run.title.lower().endswith(title.lower()) else title


def answering_step(run: Run) -> str:
    """Return the step to which the methods of a suite lead, the last one of its runs."""
    return run.steps[-1]


def family_of(run: Run) -> list[Run]:
    """Return the run and those that ask at least one of its models by any method, of the same dataset and with the same
    other settings; itself first, then the newest. Archived ones are left out, and a run under a control, or without a
    method, is alone."""
    if run.control or not method_of_run(run):
        return [run]
    listed = Run.objects.listed().filter(
        dataset=run.dataset_id, suite=run.suite, answer_format=run.answer_format, judge=run.judge_id
    )
    endpoints = run.entrants.values("endpoint")
    others = listed.filter(entrants__endpoint__in=endpoints, source=None).exclude(pk=run.pk).distinct().order_by("-pk")
    same = _asked_alike(run)
    return [run, *(other for other in others.select_related("job", "dataset") if _asked_alike(other) == same)]


def _asked_alike(run: Run) -> Any:
    """Return what runs have in common that differ in their method alone; how long an answer may be, the seed and the
    samples are not part of it."""
    setting = suite_named(run.suite).method
    if setting is None or run.imported:
        return run.pk
    options = {name: value for name, value in chosen_of(run).items() if name != setting.name}
    return options, asking_in_words(run), run.provenance.prompts.get(answering_step(run))


def beside_by_method(run: Run) -> list[tuple[str, str, Run]]:
    """Return (name, title, run) of the newest run by each method, in the suite's order, the run itself by its own;
    empty where there is no other method."""
    newest: dict[str, Run] = {}
    for other in family_of(run):
        newest.setdefault(method_of_run(other), other)
    runs = [(name, title, newest[name]) for name, title in methods_of(suite_named(run.suite)).items() if name in newest]
    return runs if runs[1:] else []
