"""Shared by the commands about runs: naming their endpoints, running one to its end, and what is printed of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from benchmark.models import Run
from benchmark.services.asking import reads_prompts
from benchmark.services.estimates import Asking, Sums, estimate_all
from benchmark.services.judge_test_summaries import summaries_of
from benchmark.services.judge_tests import SELF_TEST, current_test
from benchmark.services.reports import scores_of
from benchmark.services.warm import warm
from benchmark.services.watching import shortfall_of_run
from core.plain import Json, plain
from workers.domain.pricing import Money, about
from workers.management.bar import JobBar
from workers.management.commands.work import interruptible
from workers.management.ending import note_end
from workers.services.progress import progress_of
from workers.services.run_to_end import run_to_end


def run_of(uid: str) -> Run:
    run = Run.objects.select_related("dataset", "judge", "job", "project", "source").filter(uid=uid).first()
    if run is None:
        raise ValueError(f"There is no run {uid!r}; its id is the last part of its page's address.")
    return run


def say_before(askings: Sequence[Asking], tell: Callable[[str], None]) -> None:
    """Say what may be asked and cost, before anything is asked, and what controls leave out."""
    for note in dict.fromkeys(note for asking in askings for note in asking.notes):  # methods share samples
        tell(note)
    parts = [part for asking in askings for part in asking.parts]
    if not any(reads_prompts(part.asked) for part in parts):
        return
    tell(before_asking(estimate_all(askings).total))
    if tests := sum(len(part.stories) for part in parts if part.step == SELF_TEST):
        tell(f"{tests:,} of the calls test the judge, once for this version of it.")


def before_asking(total: Sums) -> str:
    """Return what may be asked and cost, as a sentence."""
    return (
        f"Up to {total.calls:,} calls: about {total.input_tokens:,} tokens in and {total.output_tokens:,} "
        f"out, {about(total.cost, total.most)}. Answers that the ledger has already cost nothing."
    )


def finish_runs(run: Run, tell: Callable[[str], None]) -> None:
    """Run a run and its controls to their end, one after another, as `finish_run` does."""
    for each in (run, *run.controls.select_related("job", "project", "dataset", "judge").order_by("pk")):
        finish_run(each, tell)


def finish_run(run: Run, tell: Callable[[str], None]) -> None:
    """Run a run to its end, with a progress bar, then compute its report; interrupted, wait for the answers that are on
    their way."""
    bar = JobBar(run.job, time.monotonic)
    try:
        with interruptible(tell) as stop:
            run_to_end(job=run.job, on_progress=bar.refresh, stop=stop)
            if run.job.has_ended and (test := current_test(run)):
                run_to_end(job=test.job, stop=stop)
    finally:
        bar.close()
    if run.job.goes_on:
        tell(f"The run is not done. A worker goes on with it, or: manage.py work --job {run.job.uid}")
    else:
        note_end(run.job, shortfall_of_run(run), "run", tell)
        warm(run)


def run_summary(run: Run, *, scores: bool = False) -> Json:
    """Return what commands print of a run."""
    run.job.refresh_from_db()
    done, lack = progress_of(run.job), shortfall_of_run(run)
    summary = {
        "run": run.uid,
        "state": run.job.standing,
        "failures": plain(lack.failures),
        "unusable_answers": plain(lack.unusable),
        "items": {"done": done.done, "failed": done.failed, "unusable": done.unusable},
        "calls": {"made": done.made, "reused": done.reused},
        "tokens": {"input": done.input_tokens, "output": done.output_tokens},
        **(Money(unpriced=done.done + done.unusable) if run.imported else done.money).as_json,
    }
    if controls := list(run.controls.select_related("job").order_by("pk")):
        summary["controls"] = {control.control: run_summary(control) for control in controls}
    summary |= {"judge_test": test.as_json()} if (test := summaries_of([run]).get(run.pk)) else {}
    return summary | {"scores": scores_of(run)} if scores else summary
