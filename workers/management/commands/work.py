import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandParser

from core.management.json_command import JsonCommand
from core.plain import Json, plain
from workers.management.console import JobBar, failure_of, note_end, printed_of
from workers.models import Job, JobState
from workers.services import processes
from workers.services.jobs import read_budget, resume_with
from workers.services.progress import progress_of, shortfall_of
from workers.services.run_to_end import prepare_all, run_to_end
from workers.services.runner import Runner


@contextmanager
def interruptible(tell: Callable[[str], None]) -> Iterator[threading.Event]:
    """Yield an event that the first SIGTERM or SIGINT sets; the second has its usual effect."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    usual = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def restore() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)

    def end(*_: object) -> None:
        stop.set()
        restore()
        tell("Ending: waiting for the answers that are on their way.")

    for number in usual:
        signal.signal(number, end)
    try:
        yield stop
    finally:
        restore()


class Command(JsonCommand):
    help = (
        "Works off what waits, in this process, without a broker; with --job runs one job to its end and shows a "
        "bar. Asked to end (Ctrl-C, SIGTERM), it claims nothing more and waits for the answers that are on their "
        "way; asked again, it ends at once."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--job", metavar="ID")
        parser.add_argument("--budget", metavar="USD", help="with --job: a new budget, with which a paused job goes on")

    def work(self, **options: Any) -> Json:
        with interruptible(self.note) as stop:
            if options["budget"] and not options["job"]:
                raise ValueError("A budget belongs to one job: name it with --job.")
            if not options["job"]:
                try:
                    prepare_all(stop)
                    Runner(stop=stop).run()
                finally:
                    processes.leave()
                return {"open jobs": Job.objects.filter(state=JobState.RUNNING).count()}
            job = Job.objects.filter(uid=options["job"]).first()
            if job is None:
                raise ValueError(f"There is no job {options['job']!r}.")
            if options["budget"]:
                if job.state != JobState.PAUSED:
                    raise ValueError(f"The job is {job.standing}; only a paused one goes on with a new budget.")
                resume_with(job, read_budget(options["budget"]))
            bar = JobBar(job, time.monotonic)
            try:
                run_to_end(job=job, on_progress=bar.refresh, stop=stop)
            finally:
                bar.close()
            progress = progress_of(job)
            shortfall = shortfall_of(job, total=progress.total)
            note_end(job, shortfall, "job", self.note)
            self.failed = failure_of(job.standing, shortfall, "job")
            lacks = {"failures": plain(shortfall.failures), "unreadable_answers": plain(shortfall.unreadable)}
            return {"job": job.uid, "state": job.standing, **lacks, **progress.ended_items, **progress.money.as_json}

    failed = ""

    def say(self, result: Json) -> None:
        super().say(printed_of(result))

    def failure(self, result: Json) -> str:
        return self.failed
