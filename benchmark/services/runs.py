"""Runs: actions on them and on their launch, rows of lists, and runs that ask the same by another method or, in one
launch, at several levels of a setting (a sweep).

What pauses, resumes or cancels a run does so to the runs under its controls, which were launched for it alone. A
control takes actions by itself, and runs by other methods are independent.
"""

from collections.abc import Sequence, Set
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count

from benchmark.models import Run, RunItem
from benchmark.services.archiving import ARCHIVED, DELETED
from benchmark.services.asking import chosen_of, reads_prompts
from benchmark.services.conditions import IMPORTED, asking_in_words
from benchmark.services.items import STATES
from benchmark.services.judges import judge_name, judged_at
from benchmark.services.launches import ANSWERS_IMPORTED, LAUNCH
from benchmark.services.plans import methods_of, swept_settings
from benchmark.services.preparing import prepared_of
from benchmark.services.watching import step_progress, to_come_of
from benchmark.suites.registry import suite_named
from core.messages import Sentence, gettext_noop, sentences, word
from core.plain import Json, plain
from workers.domain.pricing import Money
from workers.models import JobState
from workers.services.jobs import JobRefused, apply_action, fits, require_action
from workers.services.progress import Progress, Shortfall, progress_of_all, shortfalls_of

Done = tuple[int, list[str], str]
"""(number of runs to which an action was done, a sentence for each that stays as it is, all of it in words)."""
DONE = {"pause": gettext_noop("paused"), "resume": gettext_noop("resumed"), "cancel": gettext_noop("cancelled")}
"""The actions that the controls of a run follow, as what was done to them."""


def refused_action(run: Run, action: str = "") -> str:
    """Return the reason why an action, or any action, cannot be done to a run in whatever state, or ""."""
    if run.deleted_at:
        return DELETED
    if (run.original or run).archived_at:
        return ARCHIVED
    if not run.imported or (action in ("", "cancel") and run.job.state == JobState.PREPARING):
        return ""
    return ANSWERS_IMPORTED


def following(run: Run, action: str) -> list[Run]:
    """Return the runs under a run's controls that follow it in an action: those in a state that fits."""
    if action not in DONE or run.control:
        return []
    controls = Run.objects.filter(original=run).select_related("job").order_by("pk")
    return [control for control in controls if fits(control.job, action)]


def launched_with(run: Run) -> list[Run]:
    """Return the runs of the launch of a run, in their order; none if it was launched alone."""
    launch = run.provenance.launch
    runs = Run.objects.listed().filter(project=run.project_id, original=None, **{f"spec__{LAUNCH}": launch})
    together = list(runs.select_related("job").order_by("pk")) if launch else []
    return together if together[1:] else []


def offered_to_launch(runs: Sequence[Run]) -> list[str]:
    """Return the actions that would change any of the runs of a launch, or of their controls."""
    return [action for action in DONE if any(fits(run.job, action) or following(run, action) for run in runs)]


@transaction.atomic
def act_on_launch(run: Run, action: str) -> Done:
    """Pause, resume or cancel the runs of a launch whose states fit, with their controls. Raises JobRefused."""
    runs = launched_with(run)
    if action not in DONE:
        raise JobRefused(
            "All runs of a launch are paused, resumed or cancelled together; {action} one of them.", action=action
        )
    if not runs:
        raise JobRefused("The run was launched alone.")
    if action not in offered_to_launch(runs):
        raise JobRefused("Nothing of this launch can be changed so by now.")
    count, left = 0, []
    for other in runs:
        if not fits(other.job, action) and not following(other, action):
            continue
        try:
            left += act_on(other, action, pressed=True)[1]
            count += 1
        except JobRefused as refusal:
            left.append(_stays(other, refusal))
    some = (
        gettext_noop("1 run of this launch was")
        if count == 1
        else Sentence("{runs} runs of this launch were", runs=f"{count:,}")
    )
    all_done = Sentence("{some} {done}, with what is under controls.", some=some, done=word(DONE[action]))
    return count, left, sentences(all_done, *left)


def _stays(run: Run, why: object) -> str:
    return Sentence("“{control}” stays as it is: {why}", control=run.title, why=why)


def goes_along(run: Run, action: str) -> str:
    """Return how many runs under its controls would follow a run in an action, or "" if none would."""
    count = len(following(run, action))
    some = (
        gettext_noop("The run under its control is")
        if count == 1
        else Sentence("{count} runs under its controls are", count=f"{count:,}")
    )
    return Sentence("{some} {done}, too.", some=some, done=word(DONE[action])) if count else ""


@transaction.atomic
def act_on(run: Run, action: str, *, budget: str = "", pressed: bool = False) -> Done:
    """Pause, resume, retry or cancel a run, with its controls but for a retry; a `budget` is its own. Of a run that
    ended only the controls change.

    Raises JobRefused, also if nothing would change, unless a button was `pressed`, which may have come too late.
    """
    if refusal := refused_action(run, action):
        raise JobRefused(refusal)
    controls = following(run, action)
    if pressed and (refusal := apply_action(run.job, action, budget=budget)):
        raise JobRefused(refusal)
    if not pressed and (budget or not controls or fits(run.job, action)):
        require_action(run.job, action, budget=budget, what="run")
    left = [_stays(control, why) for control in controls if (why := apply_action(control.job, action))]
    count = len(controls) - len(left)
    some = (
        gettext_noop("The run under its control was")
        if count == 1
        else Sentence("{controls} runs under its controls were", controls=f"{count:,}")
    )
    along = [Sentence("{some} {done}, too.", some=some, done=word(DONE[action]))] if count else []
    return count, left, sentences(*along, *left)


def run_rows(runs: Sequence[Run]) -> list[Json]:
    """Return runs as lists have them, each as `RunOut` describes it, by a constant number of queries."""
    jobs = [run.job for run in runs]
    progress, coming, prepared = progress_of_all(jobs), to_come_of(runs), prepared_of(runs)
    lacks = shortfalls_of({job: progress[job.pk].total for job in jobs})
    return [
        _row(run, progress[run.job_id], lacks[run.job_id])
        | {"to_come": coming.get(run.pk, 0), "preparing": prepared.get(run.pk)}
        for run in runs
    ]


def _row(run: Run, counts: Progress, lack: Shortfall) -> Json:
    return {
        "run": run.uid,
        "title": run.title,
        "suite": run.suite,
        "dataset": run.dataset.version,
        "answer_format": run.answer_format,
        "steps": [step.key for step in suite_named(run.suite).steps if step.key in run.steps],
        "models": [entrant.name for entrant in run.entrants.all()],
        "judge": run.judge and run.judge.name,
        "source": run.source and run.source.uid,
        "imported": plain(run.imported),
        "created_at": run.created_at,
        "created_by": run.created_by and run.created_by.username,
        "state": run.job.standing,
        "failures": plain(lack.failures),
        "unreadable_answers": plain(lack.unreadable),
        "note": run.job.note,
        "budget": run.job.budget,
        "held_back": counts.held_back,
        "items": plain(counts.ended_items),
        "open": counts.waiting + counts.in_flight,
        "calls": plain(counts.calls),
        "tokens": plain(counts.tokens),
        **_money(run, counts.money, counts.done + counts.unreadable),
    }


def _money(run: Run, money: Money, answers: int) -> Json:
    """Return the cost of the answers, which is unknown for imported ones."""
    return (Money(unpriced=answers) if run.imported else money).as_json


def progress_rows(run: Run, *, now: datetime) -> list[Json]:
    """Return the progress of each model at each step, models in the order of the run."""
    counts = ("step", "total", "done", "unreadable", "failed", "cancelled", "in_flight", "waiting", "reused")
    return [
        {
            "model": row.name,
            **{name: getattr(row, name) for name in counts},
            "held": row.held_back,
            "answers_a_minute": row.rate,
            "seconds_left": row.seconds_left,
            "tokens": {"input": row.input_tokens, "output": row.output_tokens},
            **_money(run, row.money, row.done + row.unreadable),
        }
        for row in step_progress(run, now=now)
    ]


def missing_rows(run: Run, closed: Set[int] = frozenset()) -> list[Json]:
    """Return the reasons why items have no usable answer, without items of samples in `closed`."""
    items = RunItem.objects.filter(entrant__run=run).without(closed).order_by("entrant__position", "step")
    rows = []
    for state in ("unreadable", "failed", "cancelled"):
        reasons = items.filter(STATES[state]).values_list(
            "entrant__position", "entrant__name", "step", "unreadable", "item__problem"
        )
        for *_, name, step, unreadable, problem, count in reasons.annotate(Count("pk")):
            reason = unreadable or problem or ""
            rows.append({"model": name, "step": step, "state": state, "reason": reason, "items": count})
    places = {name: at for at, name in enumerate(run.entrants.values_list("name", flat=True))}
    order = [step.key for step in suite_named(run.suite).steps]
    return sorted(rows, key=lambda row: (places[row["model"]], order.index(row["step"]), -row["items"], row["reason"]))


def method_of_run(run: Run) -> str:
    """Return the name of a run's method, or "" if its suite has one way to ask or its answers were imported."""
    setting = suite_named(run.suite).method
    return str(chosen_of(run)[setting.name]) if setting and not run.imported else ""


def asked_by(run: Run) -> str:
    """Return the title of a run's method, the word for imported answers, or "" if its suite asks in one way."""
    methods = methods_of(suite_named(run.suite))
    return IMPORTED if methods and run.imported else methods.get(method_of_run(run), "")


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
    """Return the settings that runs share which differ in their method; seed, samples and length do not count."""
    setting = suite_named(run.suite).method
    if setting is None or run.imported:
        return run.pk
    options = {name: value for name, value in chosen_of(run).items() if name != setting.name}
    return options, asking_in_words(run), run.provenance.prompts.get(answering_step(run))


def beside_by_method(run: Run) -> list[tuple[str, str, Run]]:
    """Return (name, title, run) of the newest run by each method, in the suite's order; [] for one method."""
    newest: dict[str, Run] = {}
    for other in family_of(run):
        newest.setdefault(method_of_run(other), other)
    runs = [(name, title, newest[name]) for name, title in methods_of(suite_named(run.suite)).items() if name in newest]
    return runs if runs[1:] else []


def sweep_of(run: Run) -> list[Run]:
    """Return the runs of the launch of a run that make answers of their own at several choices of a swept setting, in
    the order of the launch, or the one whose answers several judges of the launch judge; none of other launches."""
    suite = suite_named(run.suite)
    own = [other for other in launched_with(run) if other.source_id is None and other.suite == run.suite]
    swept = [setting.name for setting in swept_settings(suite).values() if setting not in suite.judging_settings]
    first: dict[tuple[Any, ...], Run] = {}
    for other in own:
        first.setdefault(tuple(level_of(other, name) for name in swept), other)
    return list(first.values()) if swept and own[1:] else []


def level_of(run: Run, name: str) -> Any:
    """Return what a run has chosen of a setting."""
    return chosen_of(run).get(name)


NO_LEVEL = 0
"""The level of a judge that reads no prompt; those of prompts begin with 1."""


def level_name(level: int | str) -> str:
    """Return what a level is called in tables."""
    return f"L{level}" if level != NO_LEVEL else "–"


def judges_of_launch(run: Run) -> dict[str, list[int]]:
    """Return by name the levels of the prompts by which the judges of a run's launch were asked, `NO_LEVEL` of one that
    reads no prompt."""
    levels_by_judge: dict[str, set[int]] = {}
    for other in launched_with(run):
        if judged_at(other):
            levels_by_judge.setdefault(judge_name(other), set()).add(judging_level(other) or NO_LEVEL)
    return {name: sorted(levels) for name, levels in levels_by_judge.items()}


def judging_level(run: Run) -> int | None:
    """Return the level of the prompt by which a run's judge was asked, None for one that reads no prompt."""
    suite = suite_named(run.suite)
    swept = [setting.name for setting in swept_settings(suite).values() if setting in suite.judging_settings]
    return level_of(run, swept[0]) if swept and reads_prompts(run.judge) else None
