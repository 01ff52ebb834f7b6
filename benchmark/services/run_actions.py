"""Pausing, resuming, retrying and cancelling runs, for pages, commands and the API alike.

What pauses, resumes or cancels a run does so to the runs under its controls, which were launched for it alone. A
control takes actions by itself, and runs by other methods are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from benchmark.models import Run
from benchmark.services.archiving import ARCHIVED, DELETED
from benchmark.services.runs import IMPORTED, LAUNCH
from core.messages import Sentence, gettext_noop, sentences, word
from workers.models import JobState
from workers.services.jobs import JobRefused, apply_action, fits, require_action

NOTHING_LEFT = gettext_noop("Nothing of this launch can be changed so by now.")
ALONE = gettext_noop("The run was launched alone.")
DONE = {"pause": gettext_noop("paused"), "resume": gettext_noop("resumed"), "cancel": gettext_noop("cancelled")}
"""The actions that the controls of a run follow, as what was done to them."""


@dataclass(frozen=True, slots=True)
class TakenAlong:
    """The number of controls that followed their run in an `action`, and a sentence for each that could not."""

    action: str
    controls: int
    left: Sequence[str]

    @property
    def message(self) -> str:
        """Say what became of the controls; empty where nothing did."""
        some = (
            gettext_noop("The run under its control was")
            if self.controls == 1
            else Sentence("{controls} runs under its controls were", controls=f"{self.controls:,}")
        )
        followed = [Sentence("{some} {done}, too.", some=some, done=word(DONE[self.action]))] if self.controls else []
        return sentences(*followed, *self.left)


@dataclass(frozen=True, slots=True)
class DoneToLaunch:
    """The number of runs of a launch to which an `action` was done, and a sentence for each that stays as it is."""

    action: str
    runs: int
    left: Sequence[str]

    @property
    def message(self) -> str:
        """Say what became of the runs."""
        some = (
            gettext_noop("1 run of this launch was")
            if self.runs == 1
            else Sentence("{runs} runs of this launch were", runs=f"{self.runs:,}")
        )
        return sentences(
            Sentence("{some} {done}, with what is under controls.", some=some, done=word(DONE[self.action])), *self.left
        )


def refused_action(run: Run, action: str = "") -> str:
    """Return why an action cannot be done to a run, or without one none of them, whatever its state; empty where it
    can. Of imported answers a worker’s taking in can be cancelled, and nothing else."""
    if run.deleted_at:
        return DELETED
    if (run.original or run).archived_at:
        return ARCHIVED
    if not run.imported or (action in ("", "cancel") and run.job.state == JobState.PREPARING):
        return ""
    return IMPORTED


def following(run: Run, action: str) -> list[Run]:
    """Return the runs under a run's controls that follow it in an action: those in a state that fits."""
    if action not in DONE or run.control:
        return []
    controls = Run.objects.filter(original=run).select_related("job").order_by("pk")
    return [control for control in controls if fits(control.job, action)]


def launched_with(run: Run) -> list[Run]:
    """Return the runs that were launched together with a run, by one method each, itself among them in the order of the
    launch; none where it was launched alone."""
    launch = run.provenance.launch
    runs = Run.objects.listed().filter(project=run.project_id, original=None, **{f"spec__{LAUNCH}": launch})
    together = list(runs.select_related("job").order_by("pk")) if launch else []
    return together if together[1:] else []


def offered_to_launch(runs: Sequence[Run]) -> list[str]:
    """Return the actions that would change any of the runs of a launch, or of their controls."""
    return [action for action in DONE if any(fits(run.job, action) or following(run, action) for run in runs)]


@transaction.atomic
def act_on_launch(run: Run, action: str) -> DoneToLaunch:
    """Pause, resume or cancel all runs of a launch whose states fit, each with its controls. Raises JobRefused where
    nothing would change."""
    runs = launched_with(run)
    if action not in DONE:
        raise JobRefused(
            Sentence(
                "All runs of a launch are paused, resumed or cancelled together; {action} one of them.", action=action
            )
        )
    if not runs:
        raise JobRefused(ALONE)
    if action not in offered_to_launch(runs):
        raise JobRefused(NOTHING_LEFT)
    done, left = 0, []
    for other in runs:
        if not fits(other.job, action) and not following(other, action):
            continue
        try:
            left += act_on(other, action, pressed=True).left
            done += 1
        except JobRefused as refusal:
            left.append(Sentence("“{other}” stays as it is: {refusal}", other=other.title, refusal=refusal))
    return DoneToLaunch(action, done, left)


def goes_along(run: Run, action: str) -> str:
    """Say how many runs under its controls would follow a run in an action; empty where none would."""
    count = len(following(run, action))
    some = (
        gettext_noop("The run under its control is")
        if count == 1
        else Sentence("{count} runs under its controls are", count=f"{count:,}")
    )
    return Sentence("{some} {done}, too.", some=some, done=word(DONE[action])) if count else ""


@transaction.atomic
def act_on(run: Run, action: str, *, budget: str = "", pressed: bool = False) -> TakenAlong:
    """Pause, resume, retry or cancel a run, with its controls but for a retry; a `budget` is its own. Of a run that
    ended its controls alone.

    Raises JobRefused, also where nothing would change, unless a button was `pressed` for it: that may have come too
    late.
    """
    if refusal := refused_action(run, action):
        raise JobRefused(refusal)
    controls = following(run, action)
    if pressed and (refusal := apply_action(run.job, action, budget=budget)):
        raise JobRefused(refusal)
    if not pressed and (budget or not controls or fits(run.job, action)):
        require_action(run.job, action, budget=budget, what="run")
    refusals = {control: apply_action(control.job, action) for control in controls}
    left = [
        Sentence("“{control}” stays as it is: {why}", control=control.title, why=why)
        for control, why in refusals.items()
        if why
    ]
    return TakenAlong(action, len(controls) - len(left), left)
