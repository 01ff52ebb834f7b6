"""Two models of runs, as the commands that compare them name them."""

from collections.abc import Mapping
from typing import Any

from benchmark.management.commands._plans import flag
from benchmark.models import AnswerFormat, Run
from benchmark.services.comparisons import Comparison, compare, pair_of
from benchmark.services.leaderboards import selection_named

OF_COMPARING = ("model", "other_model", "group", "parse", "split")


def compared(run: Run, other: Run, options: Mapping[str, Any]) -> tuple[list[Run], list[str], Comparison]:
    """Return (the runs, the keys of the two models, their comparison). Raises ValueError."""
    if run.project_id != other.project_id:
        raise ValueError("The two runs are of different projects.")
    keys = [_key(run, options["model"], "model"), _key(other, options["other_model"], "other_model")]
    runs, entrants = pair_of(run.project, *keys)
    group = options["group"] or next(iter(entrants))
    if group not in entrants:
        raise ValueError(f"The two have no scores of {options['group']} in common.")
    parse = options["parse"] or "repaired"
    if parse == "official" and runs[0].answer_format == AnswerFormat.STRUCTURED:
        raise ValueError("Structured output has no official parse.")
    selection = selection_named(run.dataset, options["split"] or "", run.suite)
    if options["split"] and selection is None:
        raise ValueError(f"Version {run.dataset.version} of the gold has no split {options['split']!r}.")
    return runs, keys, compare(entrants[group], group, parse, selection)


def _key(run: Run, name: str | None, option: str) -> str:
    """Return the key by which comparisons know a model of a run."""
    entrants = {entrant.name: entrant for entrant in run.entrants.all()}
    if name is None and len(entrants) == 1:
        name = next(iter(entrants))
    if name not in entrants:
        raise ValueError(f"Name a model of {run.uid} with {flag(option)}, one of: {', '.join(entrants)}.")
    return f"{run.uid}.{entrants[name].pk}"
