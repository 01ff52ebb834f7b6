"""The one process of a chaos site that nobody kills: makes the tables, starts jobs and reads the ledger.

Reads one JSON object a line, {"do": "prepare"}, {"do": "start", …}, {"do": "running"} or {"do": "report"}, and answers
with one.
"""

import json
import sys
import time
from pathlib import Path

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import InterfaceError, OperationalError, connections  # noqa: E402
from django.db.models import Count, Q  # noqa: E402
from django.utils import timezone  # noqa: E402

from tests.chaos.models import Receipt  # noqa: E402
from tests.patience import PATIENCE  # noqa: E402
from workers.models import COMPLETED, IN_FLIGHT, Attempt, Batch, BatchEntry, Call, Endpoint, Item, Job, JobState, Worker  # noqa: E402
from workers.services.endpoints import save_endpoint  # noqa: E402
from workers.services.jobs import start_job  # noqa: E402


def prepare() -> None:
    call_command("migrate", run_syncdb=True, verbosity=0)
    if not Path(settings.STATIC_ROOT).is_dir():  # collected for other tests already
        call_command("collectstatic", interactive=False, verbosity=0)


def start(*, url: str, calls: int, batch: bool) -> str:
    """A job of `calls` questions that nobody asked before; its id. The model at `url` is registered by the first."""
    endpoint = Endpoint.objects.filter(name="tiny").first() or save_endpoint(by="", values=_tiny(url))
    number = Job.objects.count()
    items = [(endpoint, "", f"{number}-{at}") for at in range(calls)]
    return start_job(by="", handler="chaos", title=f"Chaos {number}", items=items, now=timezone.now(), batch=batch).uid


def _tiny(url: str) -> dict:
    """However often the answer to a call is lost, it is asked again: no item may end because of a kill."""
    return {
        "name": "tiny", "provider": "openai", "model": "tiny", "base_url": f"{url}/v1", "max_concurrency": 32,
        "batches": True,
        "repeat_unknown": 100, "max_attempts": 100, "timeout_seconds": 20, "options": {"batch_poll_seconds": 0.3},
    }  # fmt: skip


def running() -> int:
    return Job.objects.filter(state=JobState.RUNNING).count()


def report() -> dict:
    """Everything that must agree with the provider's own count; `calls` are [answered, attempts with an unknown
    outcome] by id."""
    unknown = Count("attempts", filter=Q(attempts__outcome="unknown"))
    calls = Call.objects.annotate(unknown=unknown).values_list("uid", "state", "unknown")
    return {
        "jobs": dict(Job.objects.order_by().values_list("state").annotate(Count("id"))),
        "items": dict(Item.objects.order_by().values_list("state").annotate(Count("id"))),
        "receipts": Receipt.objects.count(),
        "items_with_receipt": Receipt.objects.values("item").distinct().count(),
        "calls": {uid: [state in COMPLETED, count] for uid, state, count in calls},
        "custom_ids": dict(BatchEntry.objects.values_list("custom_id", "call__uid")),
        "batches": Batch.objects.count(),
        "left_in_flight": Call.objects.filter(state__in=IN_FLIGHT).count() + Attempt.objects.filter(outcome="").count(),
        "workers_lost": Worker.objects.filter(state="lost").count(),
    }


def answer(asked: dict) -> object:
    """Wait a while for a database that is away."""
    do = {"prepare": prepare, "start": start, "running": running, "report": report}[asked.pop("do")]
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return do(**asked)
        except (OperationalError, InterfaceError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        finally:
            connections.close_all()


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
