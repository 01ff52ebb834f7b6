"""Shared by the commands about runs: naming their endpoints, running one to its end, and what is printed of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchmark.management.commands._plans import flag
from benchmark.models import AnswerFormat, Run
from benchmark.services.asking import reads_prompts
from benchmark.services.comparisons import Comparison, compare, pair_of
from benchmark.services.estimates import Asking, Sums, estimate_all
from benchmark.services.judges import SELF_TEST, current_test, summaries_of
from benchmark.services.leaderboards import selection_named
from benchmark.services.reports import scores_of
from benchmark.services.warm import warm
from benchmark.services.watching import shortfall_of_run
from benchmark.suites.registry import group_named, nouns_of_group
from core.management.json_command import JsonCommand
from core.plain import Json, plain
from workers.domain.pricing import Money, about
from workers.management.commands.work import interruptible
from workers.management.console import JobBar, failure_of, note_end, printed_of
from workers.services.progress import progress_of
from workers.services.run_to_end import run_to_end

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


def say_run(command: JsonCommand, summary: Mapping[str, Any]) -> None:
    for name, value in printed_of(summary).items():
        if name == "scores":
            say_scores(command, value)
        elif name == "judge_test":
            command.stdout.write(f"self-test of the judge: {value['told']}")
        else:
            command.say_of(name, value)


def say_scores(command: JsonCommand, scores: Mapping[str, Any], model: str = "") -> None:
    """One line a measure. `scores`: {official, repaired}, or those by model."""
    if "official" not in scores:
        for name, scores_of_model in scores.items():
            say_scores(command, scores_of_model, name)
        return
    if model:
        command.stdout.write(f"\n{model}")
    for parse, of_parse in scores.items():
        for group, why in (of_parse.get("reason") or {}).items():
            if scores["repaired"][group]:  # else nobody asked for what it is about
                command.note(f"{model}{', ' if model else ''}{parse}, {group_named(group).title}: {why}")
        groups = {name: metrics for name, metrics in of_parse.items() if name != "reason" and metrics}
        wide = max((len(group_named(group).title) for group in groups), default=0)
        for group, metrics in groups.items():
            for name, value in metrics["overall"].items():
                if isinstance(value, str | int | float):
                    line = f"{group_named(group).title:<{wide}}  {_called(group, name):24}"
                    command.stdout.write(f"{parse:10}{line}{_short(value):>12}")


def _called(group: str, name: str) -> str:
    """The name of a number of a metric group: its samples by the suite's noun, a metric by its heading."""
    counts = {
        "stories": nouns_of_group(group)[1],
        "n": "n",
        "unreadable": "unreadable",
        "undefined": "without a figure",
    }
    return counts.get(name) or group_named(group).headers.get(name, name)


def say_metrics(command: JsonCommand, scores: Mapping[str, Any]) -> None:
    """One line a metric of {parse: {"answers", "metrics"}}, whose metrics may be nested."""
    for parse, scored in scores.items():
        for name, value in _flat(scored["metrics"]):
            command.stdout.write(f"{parse:10}{name:<60}{_short(value):>12}")


def _flat(metrics: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str | int | float]]:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}, ")
        elif isinstance(value, str | int | float):
            yield f"{path}{name}", value


def _short(value: str | int | float) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def percent(share: float | None) -> str:
    """Return a share as per cent, a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f} %"


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
    """Run a run and its controls to their end, one after another, with a progress bar, then compute their reports; an
    interrupt waits for calls in flight."""
    for each in (run, *run.controls.select_related("job", "project", "dataset", "judge").order_by("pk")):
        bar = JobBar(each.job, time.monotonic)
        try:
            with interruptible(tell) as stop:
                run_to_end(job=each.job, on_progress=bar.refresh, stop=stop)
                if each.job.has_ended and (test := current_test(each)):
                    run_to_end(job=test.job, stop=stop)
        finally:
            bar.close()
        if each.job.goes_on:
            tell(f"The run is not done. A worker goes on with it, or: manage.py work --job {each.job.uid}")
        else:
            note_end(each.job, shortfall_of_run(each), "run", tell)
            warm(each)


def run_summary(run: Run, *, scores: bool = False) -> tuple[Json, str]:
    """Return (what commands print of a run, the sentence with which a command exits with 1 or "")."""
    run.job.refresh_from_db()
    done, shortfall = progress_of(run.job), shortfall_of_run(run)
    money = Money(unpriced=done.done + done.unreadable) if run.imported else done.money
    controls = {
        control.control: run_summary(control)[0] for control in run.controls.select_related("job").order_by("pk")
    }
    test = summaries_of([run]).get(run.pk)
    summary = {
        "run": run.uid,
        "state": run.job.standing,
        "failures": plain(shortfall.failures),
        "unreadable_answers": plain(shortfall.unreadable),
        "items": plain(done.ended_items),
        "calls": plain(done.calls),
        "tokens": plain(done.tokens),
        **money.as_json,
        **({"controls": controls} if controls else {}),
        **({"judge_test": plain(test)} if test else {}),
        **({"scores": scores_of(run)} if scores else {}),
    }
    return summary, failure_of(run.job.standing, shortfall, "run")
