"""Choice of a ranking's judge where several judged its models and none is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from benchmark.models import Dataset
from benchmark.services.calibration import calibration
from benchmark.suites.registry import group_named
from benchmark.suites.results import EntrantResults


def judges_in_order(dataset: Dataset, group: str, entrants: Sequence[EntrantResults]) -> list[str]:
    """Return the names of the judges of these named entrants: those that studies chose first, of the very dataset
    before others and the latest choice before earlier ones, then those with verdicts, by their number of models; those
    without a verdict on any of them last. One statement, none where there is one judge."""
    names = {name: (entrant.conditions["judge"] or ["", ""])[1] for entrant in entrants if (name := _judge(entrant))}
    if len(names) < 2:
        return list(names)
    chosen = calibration.chosen_versions(dataset)
    models = Counter(_judge(entrant) for entrant in entrants if entrant.kind == "model")
    heard = {_judge(entrant) for entrant in entrants if _is_heard(entrant, group)}

    def place(name: str) -> tuple[int, bool, int]:
        at = next((at for at, version in enumerate(chosen) if version.startswith(names[name])), len(chosen))
        return at, name not in heard, -models[name]

    return sorted(names, key=place)


def _judge(entrant: EntrantResults) -> str:
    return entrant.within["judge"] or ""


def _is_heard(entrant: EntrantResults, group: str) -> bool:
    """Return whether the judge has verdicts, so that the entrant has a score by the careful parse: one that is not
    nought whatever a judge says."""
    overall, score = entrant.metrics.parses.overall("repaired"), group_named(group).score
    has_score = entrant.kind != "person" and overall.value_of(score) is not None
    return has_score and (overall.bounds_of(score) or (0, 1))[1] > 0
