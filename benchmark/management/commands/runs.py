from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotation.management.commands._output import file_output
from annotation.management.json_command import JsonCommand, dollars
from benchmark.management.commands._files import add_width, content_of
from benchmark.management.commands._plans import (
    add_flags,
    check_judge,
    check_only,
    chosen_by_flag,
    flag,
    given,
    name_of,
    settings_with_flags,
)
from benchmark.management.commands._runs import before_asking, finish_runs, run_of, run_summary, say_before, say_run
from benchmark.models import Entrant, Run
from benchmark.services.archiving import archive_run, delete_run, deletion_of, rename_run, restore_run
from benchmark.services.documents import document_of, tables_of
from benchmark.services.downloads import no_official_output, output_files, score_lines, zipped
from benchmark.services.estimates import askings_of, askings_of_extension, askings_of_plans, estimate_of_test
from benchmark.services.evaluating import read_again
from benchmark.services.extending import extend_run, extension_of
from benchmark.services.follow_ups import ask_missing, estimate_of_follow_ups
from benchmark.services.judges import start_test
from benchmark.services.launches import again_of, judging_plans, run_again, start_runs
from benchmark.services.plans import plans_of_sweep
from benchmark.services.plot_data import plots_of
from benchmark.services.runs import act_on, act_on_launch, launched_with, run_rows
from benchmark.suites.registry import suite_named
from core.plain import Json
from workers.domain.pricing import about
from workers.management.console import endpoint_named

SCORES, OFFICIAL, TABLE, PLOT = "scores", "official", "table", "figure"
LIST = "list"
ACTIONS: dict[str, tuple[str, ...]] = {
    LIST: ("project", "archived"),
    "pause": ("launch",),
    "resume": ("budget", "launch", "wait"),
    "retry": ("wait",),
    "cancel": ("launch",),
    "extend": ("endpoint", "stories", "split", "category", "limit", "wait"),
    "again": ("wait",),
    "judge": (
        "judge",
        "judge_levels",
        *(name_of(setting) for setting in settings_with_flags(judging=True)),
        "budget",
        "batch",
        "title",
        "wait",
    ),
    "test-judge": ("wait",),
    "follow-up": ("wait",),
    "reread": (),
    "rename": ("title",),
    "archive": (),
    "restore": (),
    "delete": ("yes",),
    "download": ("output", "what", "name", "model", "width"),
}
"""The actions, and the options that each takes: all but the list are on one run."""
_OPTIONS = sorted({name for names in ACTIONS.values() for name in names})


Options = Mapping[str, Any]
"""The values of the command's options by name."""


class Command(JsonCommand):
    help = (
        "Lists the runs of a project, or does to a run what its page does: pause, resume and cancel it, ask its failed "
        "items again (retry), extend it by models or stories, run it again, have its answers judged anew, have its "
        "judge tested, ask the judge for the rows that it left out (follow-up), read its answers again without a call, "
        "rename, archive, restore or delete it, or write its results to a file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=list(ACTIONS))
        parser.add_argument(
            "run", metavar="RUN", nargs="?", help="its id, as in the address of its page; for all but list"
        )
        parser.add_argument("--project", metavar="SLUG", help="list: whose runs, the newest first")
        parser.add_argument("--archived", action="store_true", help="list: those in the archive")
        parser.add_argument("--budget", metavar="USD", help="resume, judge: a hard cap")
        parser.add_argument(
            "--launch", action="store_true", help="pause, resume, cancel: all runs that were launched with it, too"
        )
        parser.add_argument("--endpoint", action="append", metavar="NAME", help="extend: a model more; several times")
        parser.add_argument("--stories", action="store_true", help="extend: more stories of the run's dataset")
        parser.add_argument("--split", metavar="NAME", help="extend: only stories of this split")
        parser.add_argument("--category", metavar="NAME", help="extend: only stories of this category")
        parser.add_argument("--limit", type=int, metavar="N", help="extend: only the first N of them")
        parser.add_argument(
            "--judge", action="append", metavar="NAME",
            help="judge: the endpoint that judges; several times: each judges the same answers in a run of its own",
        )  # fmt: skip
        parser.add_argument(
            "--judge-levels", nargs="+", type=int, metavar="N", help="judge: sweep: at each of these levels, a run each"
        )
        add_flags(parser, settings_with_flags(judging=True), "judge: ")
        parser.add_argument("--batch", action="store_true", help="judge: as a batch")
        parser.add_argument("--title", metavar="TEXT", help="judge: the name of the new run; rename: the new name")
        parser.add_argument(
            "--yes", action="store_true", help="delete: do it; without it the command says what would go"
        )
        parser.add_argument("--what", choices=[SCORES, OFFICIAL, TABLE, PLOT], help="download: scores if not given")
        parser.add_argument("--name", metavar="NAME", help="download: which table or plot")
        parser.add_argument("--model", metavar="NAME", help="download: whose official output, where there are several")
        parser.add_argument("--output", metavar="PATH", help="download: the file; its ending says the format")
        add_width(parser)
        parser.add_argument("--wait", action="store_true", help="run it to its end and print the scores")

    def work(self, **options: Any) -> Json:
        action = options["action"]
        idle = [name for name in given(options, _OPTIONS) if name not in ACTIONS[action]]
        if idle:
            fit = ", ".join(map(flag, ACTIONS[action])) or "no option"
            raise ValueError(f"{flag(idle[0])} is not for {action}, which takes {fit}.")
        if action == LIST:
            if options["run"] or not options["project"]:
                raise ValueError("A list is of the runs of one project: runs list --project SLUG.")
            listed = Run.objects.filter(project=self.project(options["project"]))
            listed = listed.archived() if options["archived"] else listed.listed()
            rows = run_rows(list(listed.in_list()))
            for row in rows:
                row["created_at"] = row["created_at"].isoformat()
                row["budget"] = None if row["budget"] is None else str(row["budget"])
            return {"project": options["project"], "runs": rows}
        if not options["run"]:
            raise ValueError(f"Name the run to {action}: runs {action} RUN; runs list --project SLUG names them.")
        run = run_of(options["run"])
        if action in _KEEPING:
            return {"run": run.uid} | _KEEPING[action](run, options)
        left, more = _done(run, action, options, self.note)
        if options["wait"]:
            for each in ((options["launch"] or "beside" in more) and launched_with(left)) or [left]:
                finish_runs(each, self.note)
        summary, self.failed = run_summary(left, scores=options["wait"])
        return summary | more

    failed = ""

    def say(self, result: Json) -> None:
        if "runs" not in result:
            return say_run(self, result)
        for row in result["runs"]:
            ended = sum(row["items"].values())
            items = f"{ended:,} of {ended + row['open'] + row['to_come']:,} items"
            asked = f"{row['suite']}, version {row['dataset']}; {', '.join(row['models'])}"
            self.stdout.write(f"{row['run']}  {row['state']:<10}  {items}  {row['title']} ({asked})")

    def failure(self, result: Json) -> str:
        return self.failed


def _renamed(run: Run, options: Options) -> Json:
    if options["title"] is None:
        raise ValueError("Say the new name: --title TEXT.")
    return {"changed": rename_run(by=None, run=run, title=options["title"]), "title": run.title}


def _deleted(run: Run, options: Options) -> Json:
    """Delete the run if `--yes` says so. Raises ValueError without it, which says what would go."""
    if not options["yes"]:
        deletion = deletion_of(run)
        raise ValueError(
            deletion.refused
            or f"This takes away “{run.title}” with {deletion.items:,} items and its scores; "
            f"{deletion.answered:,} answers stay in the ledger, "
            f"and {len(deletion.reports):,} snapshots as they are. Say so with --yes."
        )
    deletion = delete_run(by=None, run=run, now=timezone.now())
    return {"deleted": True, "items": deletion.items, "answers_kept": deletion.answered}


def _done(run: Run, action: str, options: Options, tell: Callable[[str], None]) -> tuple[Run, Json]:
    """Do what the action says, and `tell` its cost. Returns (the run or the new one, what else is printed)."""
    now = timezone.now()
    if action == "again":
        say_before(askings_of(*again_of(run)), tell)
        return run_again(by=None, run=run, now=now), {"of": run.uid}
    if action == "judge":
        first, *others = _judged(run, options, tell)
        return first, {"of": run.uid} | ({"beside": [other.uid for other in others]} if others else {})
    if action == "test-judge":
        line = estimate_of_test(run) if run.judge else None
        test = start_test(by=None, run=run, now=now)
        assert run.judge and line, "a run without a judge is refused"
        tell(f"{line.calls:,} calls of {run.judge.name}, {about(line.cost, line.most)}.")
        return run, {"test": test.uid, "calls_of_test": line.calls}
    if action == "extend":
        return run, {"added": _extended(run, options, tell)}
    if action == "follow-up":
        tell(before_asking(estimate_of_follow_ups(run).total))
        return run, {"asked": ask_missing(by=None, run=run, now=now)}
    dollars(options["budget"])
    if not options["launch"]:
        controls, _, message = act_on(run, action, budget=options["budget"] or "")
        if message:
            tell(message)
        return run, {"controls_taken_along": controls}
    if options["budget"]:
        raise ValueError("A budget is of one run: leave --budget or --launch out.")
    count, _, message = act_on_launch(run, action)
    tell(message)
    return run, {"runs_of_launch": count}


def _extended(run: Run, options: Options, tell: Callable[[str], None]) -> int:
    where, (singular, many) = given(options, ("split", "category", "limit")), suite_named(run.suite).noun
    if not options["endpoint"] and not options["stories"] and not where:
        raise ValueError("Name what is to be added: --endpoint, --stories, or both.")
    stories = []
    if options["stories"] or where:
        if (options["limit"] or 0) < 0:
            raise ValueError(f"--limit is {options['limit']}; expected 0 or more {many}.")
        samples = run.dataset.samples.selected(
            split=options["split"] or "", category=options["category"] or "", limit=options["limit"] or 0
        )
        stories = list(samples)
        if not stories:
            raise ValueError(f"The choice of split and category leaves no {singular} of the run's dataset.")
    endpoints = [endpoint_named(name) for name in dict.fromkeys(options["endpoint"] or ())]
    more = extension_of(run, endpoints, stories)
    say_before(askings_of_extension(run, more), tell)
    return extend_run(by=None, run=run, endpoints=endpoints, stories=stories, now=timezone.now())


def _judged(run: Run, options: Options, tell: Callable[[str], None]) -> list[Run]:
    """Have each judge that is named judge the run's answers; returns a run for each."""
    if not options["judge"]:
        raise ValueError("Name the judge: --judge NAME.")
    judges = [endpoint_named(name) for name in options["judge"]]
    settings = suite_named(run.suite).judging_settings
    chosen = chosen_by_flag(settings, options)
    for judge in judges:
        check_judge([setting for setting in settings if setting.name in chosen], judge)
    options_by_name = {setting.name: setting.default for setting in settings} | dict(chosen)
    check_only(settings, chosen, options_by_name)
    plans = judging_plans(
        run,
        judges=judges,
        options=options_by_name,
        budget=dollars(options["budget"]),
        batch=options["batch"],
        title=options["title"] or "",
    )
    plans = plans_of_sweep(plans, {"judge_levels": options["judge_levels"] or ()})
    say_before(askings_of_plans(plans), tell)
    return start_runs(by=None, plans=plans, now=timezone.now())


def _downloaded(run: Run, options: Options) -> Json:
    if not options["output"]:
        raise ValueError("Say where to write it: --output PATH.")
    what = options["what"] or SCORES
    for name, whose in (("name", (TABLE, PLOT)), ("model", (OFFICIAL,)), ("width", (PLOT,))):
        if options[name] and what not in whose:
            raise ValueError(f"{flag(name)} is for {' and '.join(whose)}, not for {what}.")
    suffix = {SCORES: ".csv", OFFICIAL: ".zip"}.get(what, "")
    if not options["output"].endswith(suffix):
        raise ValueError(f"--output is {options['output']!r}; {what} is written as a {suffix} file.")
    parts: Iterable[bytes]
    if what == SCORES:
        parts = (line.encode() for line in score_lines(run))
    elif what == OFFICIAL:
        if reason := no_official_output(run):
            raise ValueError(reason)
        parts = zipped(output_files(_entrant(run, options["model"])))
    else:
        document = document_of(run)
        tables, plots = (tables_of(document), {}) if what == TABLE else ({}, plots_of(document))
        parts = [content_of(options["output"], options["name"], tables, plots, width=options["width"])]
    with file_output(options["output"], mode="wb") as handle:
        written = sum(handle.write(part) for part in parts)
    return {"path": options["output"], "bytes": written}


def _entrant(run: Run, name: str | None) -> Entrant:
    entrants = {
        entrant.name: entrant for entrant in run.entrants.select_related("run__dataset", "run__project", "run__judge")
    }
    if name is None and len(entrants) == 1:
        return next(iter(entrants.values()))
    if name not in entrants:
        raise ValueError(f"Name the model with --model, one of: {', '.join(entrants)}.")
    return entrants[name]


_KEEPING: Mapping[str, Callable[[Run, Options], Json]] = {
    "rename": _renamed,
    "archive": lambda run, _: {"changed": archive_run(by=None, run=run, now=timezone.now()), "archived": True},
    "restore": lambda run, _: {"changed": restore_run(by=None, run=run), "archived": False},
    "delete": _deleted,
    "reread": lambda run, _: {"changed": read_again(by=None, run=run, now=timezone.now())},
    "download": _downloaded,
}
"""Actions after which nothing of the run's progress is printed."""
