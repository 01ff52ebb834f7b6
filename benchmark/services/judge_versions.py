"""What makes a run's judge the instrument that it is: one identity, for its self-test and for the rankings of what it judged."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from benchmark.models import Run, Stage
from benchmark.services.asking import reads_prompts
from benchmark.services.in_context import wanted_by

NO_PART_OF_IT = ("name", "family")
"""Of an endpoint's spec: what can be renamed without another answer."""


def version_of(run: Run) -> str:
    """The digest of what makes the run's judge what it is; runs with the same one are judged by one instrument.

    The longest answer and the seed are no part of it: a longer answer loses fewer rows, and another seed is a repetition.
    """
    spec = {name: value for name, value in (run.spec.get("judge") or {}).items() if name not in NO_PART_OF_IT}
    held: dict[str, Any] = {"judge": spec, "form": run.form}
    if reads_prompts(run.judge):
        held |= {name: run.params.get(name) for name in ("judge_level", "with_story")}
        held["prompt"] = run.spec.get("prompts", {}).get(Stage.JUDGE)
        if shots := wanted_by(run, Stage.JUDGE):
            held |= {"shots": shots, "examples_from": run.params.get("examples_from")}
    return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()
