from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotation.management.json_command import JsonCommand, dollars
from benchmark.management.commands._runs import percent, run_of
from core.plain import Json
from core.wording import counted
from judge.models import AnchorWatch
from judge.services.watch_reports import (
    DRIFT,
    IDENTITY,
    MISSED,
    NOT_BEGUN,
    OTHERWISE,
    UNANSWERED,
    UNREADABLE,
    document_of_watch,
    line_of_watch,
    read_ended,
    read_watch,
)
from judge.services.watches import (
    CHANGES,
    WatchPlan,
    ask_again,
    ask_due,
    change_watch,
    estimate_of_repeat,
    start_watch,
    watchable_of,
)
from workers.domain.pricing import about


class Command(JsonCommand):
    help = (
        "Asks anchor stories again on a schedule, and says whether a judge or a model still answers as it did. `list` "
        "names the watches of a project, `new` starts one on a run, `show` prints what one found, `ask`, `stop`, "
        "`resume` and `note` are the buttons of its page, `due` begins what is due, as every worker does."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["list", "new", "show", "ask", *CHANGES, "due"])
        parser.add_argument("uid", nargs="?", default="", help="of the watch; of the run with new")
        parser.add_argument("--project", default="", metavar="SLUG", help="with list")
        parser.add_argument("--what", default="", metavar="KEY", help="with new: judge, judge:MODEL or STEP:MODEL")
        parser.add_argument("--stories", type=int, default=20, metavar="N", help="anchors, drawn at random")
        parser.add_argument("--every", type=int, default=7, metavar="DAYS")
        parser.add_argument("--drop", type=float, default=10, metavar="POINTS", help="of agreement, to be noticed")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--budget", metavar="DOLLARS", help="of each repeat")
        parser.add_argument("--preview", action="store_true", help="with new: say what it asks and costs")

    def work(self, **options: Any) -> Json:
        match options["action"]:
            case "list":
                project = self.project(options["project"])
                rows = AnchorWatch.objects.filter(project=project).select_related("run", "asked")
                return {"project": project.slug, "watches": [line_of_watch(anchor_watch) for anchor_watch in rows]}
            case "new":
                return _new(options)
            case "due":
                begun = ask_due(now=timezone.now())
                return {"begun": len(begun), "read": read_ended(now=timezone.now())}
            case "show":
                return document_of_watch(read_watch(_watch(options["uid"]), now=timezone.now()))
        watch = _watch(options["uid"])
        if options["action"] == "ask":
            ask_again(by=None, watch=watch, now=timezone.now())
        else:
            change_watch(by=None, watch=watch, action=options["action"], now=timezone.now())
        watch.refresh_from_db()
        return line_of_watch(watch)

    def say(self, result: Json) -> None:
        if "repeats" in result:
            lines = _lines(result)
        elif "watches" in result or "watch" in result:
            lines = map(_listed, result.get("watches", [result]))
        else:
            return super().say(result)
        for line in lines:
            self.stdout.write(line)


def _listed(line: Json) -> str:
    due = f"next {line['due_at'][:16]}" if line["due_at"] else "stopped"
    look = counted(len(line["concerns"]), "thing") + " to look at" if line["concerns"] else "nothing to look at"
    return (
        f"{line['watch']}  {line['asked']}, {line['step']}: {counted(line['stories'], *line['cluster'])} every "
        f"{counted(line['every'], 'day')}, {due}, {look} (run {line['run']})"
    )


def _lines(document: Json) -> Iterator[str]:
    """Yield the lines on the findings of a watch: its chart, a line per repeat, and everything that was noticed."""
    yield _listed(document)
    if chart := document["chart"]:
        half, most = (_anchors(chart[name], chart) for name in ("noticed_half", "noticed_most"))
        yield (
            f"Usual agreement {percent(chart['mean'])}; a drop of {100 * document['drop']:g} points is noticed within "
            f"{half} in half of all cases, {most} in nine of ten; false alarms in {chart['horizon']} anchors: "
            f"{percent(chart['false_alarms'])}."
        )
    else:
        yield f"No chart: {document['no_chart']}."
    if document["without_level"]:
        yield f"Not in the chart, as they have no answer at the start: {counted(document['without_level'], 'anchor')}."
    heads = (
        "repeat", "due", "state", "anchors", "agreement", "limits", "sum", "unanswered", "unreadable", "answered by",
    )  # fmt: skip
    rows = [heads, *(_cells(repeat) for repeat in document["repeats"])]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield from ("  ".join(map(str.ljust, cells, wide)).rstrip() for cells in rows)
    for concern in document["noticed"]:
        yield f"Repeat {concern['number']}: {_noticed(**concern)}"
    if document["overdue"]:
        yield "A repeat should have begun, and no worker has begun it."


def _cells(repeat: Json) -> tuple[str, ...]:
    limits = "–" if repeat["low"] is None else f"{percent(repeat['low'])} to {percent(repeat['high'])}"
    number = f"{repeat['number']} (start)" if repeat["baseline"] or repeat["number"] == 0 else str(repeat["number"])
    total = "–" if repeat["sum"] is None else f"{repeat['sum']:.2f}{' alarm' if repeat['alarm'] else ''}"
    counts = (str(repeat["stories"]), percent(repeat["agreement"]), limits, total, str(repeat["unanswered"]))
    answered = ", ".join(repeat["answered_by"]) or "–"
    return number, repeat["due_at"][:10], repeat["state"], *counts, str(repeat["unreadable"]), answered


def _noticed(kind: str, count: int, before: str, after: str, **_at: Any) -> str:
    return {
        DRIFT: "agreement with the first answers has fallen; the chart alarms.",
        IDENTITY: f"{after} answers, before it was {before}.",
        OTHERWISE: "the endpoint's settings are not those of the start, so it is not in the chart.",
        UNANSWERED: f"{counted(count, 'question')} without an answer.",
        UNREADABLE: f"{counted(count, 'answer')} that cannot be used.",
        NOT_BEGUN: f"it could not begin. {after}",
        MISSED: f"{counted(count, 'repeat')} before it missed: no worker was there.",
    }[kind]


def _anchors(count: int | None, chart: Json) -> str:
    return f"more than {chart['horizon']} anchors" if count is None else counted(count, "anchor")


def _watch(uid: str) -> AnchorWatch:
    rows = AnchorWatch.objects.select_related("run__dataset", "run__judge", "asked", "project")
    if watch := rows.filter(uid=uid).first():
        return watch
    raise CommandError(f"There is no watch {uid!r}.")


def _new(options: Mapping[str, Any]) -> Json:
    run = run_of(options["uid"])
    watchable = {candidate.key: candidate for candidate in watchable_of(run)}
    if options["what"] not in watchable:
        there = ", ".join(watchable) or "nothing"
        raise CommandError(f"--what is {options['what']!r}; of this run can be watched: {there}.")
    budget: Decimal | None = dollars(options["budget"])
    plan = WatchPlan(
        run, watchable[options["what"]], options["stories"], options["every"], options["drop"] / 100,
        options["seed"], budget,
    )  # fmt: skip
    if options["preview"]:
        total = estimate_of_repeat(plan).total
        return {"calls": total.calls, "cost": about(total.cost, total.most), "at_the_start": 1 + plan.rounds}
    return line_of_watch(start_watch(by=None, plan=plan, now=timezone.now()))
