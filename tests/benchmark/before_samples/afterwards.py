"""Going on with the runs of before: worked off, extended, read again, run again. The ledger has every answer that there
was."""

from __future__ import annotations

from typing import Any

from benchmark.models import Run
from tests.benchmark.before_samples.figures import as_json, printed
from tests.benchmark.before_samples.world import FOLLOWED, PART, WAITING
from workers.models import Call


def afterwards() -> dict[str, Any]:
    """By what is done: what the command prints of it; and how many calls there were before and after."""
    runs, calls = list(Run.objects.order_by("id")), Call.objects.count()
    part, waiting = (next(run for run in runs if run.title == title) for title in (PART, WAITING))
    told = {
        "worked off": printed("work", "--job", waiting.job.uid),
        "extended": printed("runs", "extend", part.uid, "--stories", "--endpoint", "random", "--wait"),
        "read again": {run.title: printed("runs", "reread", run.uid) for run in runs},
        "again": {run.title: _of_new("again", run.uid, "--wait") for run in runs},
        "judged anew": _of_new("judge", runs[0].uid, "--judge", "lexical-judge", "--wait"),
    }
    followed = Run.objects.filter(title=FOLLOWED).order_by("-id").first()
    told["followed up again"] = _of_new("follow-up", followed.uid, "--wait")
    return as_json(told | {"calls": [calls, Call.objects.count()]})


def _of_new(*asked: str) -> dict[str, Any]:
    """Without the id of the new run, which is drawn."""
    told = printed("runs", *asked)
    assert told.pop("run")
    return told
