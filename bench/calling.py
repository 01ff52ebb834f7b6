"""Measure the throughput, overhead and memory of model calls: `python bench/calling.py
[--only latency|cold|compare|memory|limit] [--database-url postgres://…]`.

A local server that speaks OpenAI's protocol (tests/servers) answers after a set latency; the product makes the calls
exactly as in production: planned, reserved and sent in the ledger, answered, parsed by a job handler, every row
durable. Prints one JSON object a measurement:

- latency: 895 calls at 64 in flight and 1 s latency, against the physical limit of ⌈895/64⌉ seconds
- cold: the same, the endpoint's first calls in a process that has called no model yet
- compare: the same calls at 200 ms, against inspect_ai in the same run (`--inspect PYTHON`: a Python that has
  inspect_ai and openai), each answer read by a scorer there and by a job handler here
- memory: 20,000 calls, resident memory at the start, in the middle and at the end
- limit: four worker processes against a server with a hidden limit: share of it that is used, share of refusals

The server shares the machine's cores with what is measured. CPU is that of the process that makes the calls.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
CALLS, IN_FLIGHT, WARM_UP = 895, 64, 640
STORY = "Ines puts the key in the bag. Tomas moves it to the drawer while she is away. " * 12
INSPECT = """
import sys, time
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
url, calls, in_flight, log = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
task = Task(dataset=[Sample(input=f"{sys.argv[5]} Story {at}.", target="x") for at in range(calls)], solver=generate(), scorer=includes())
began, cpu = time.time(), time.process_time()
eval(task, model="openai/tiny", model_base_url=url + "/v1", model_args={"api_key": "none", "responses_api": False}, max_connections=in_flight,
     max_samples=in_flight, log_dir=log, display="none", max_tokens=50)
print(time.time() - began, time.process_time() - cpu)
"""  # noqa: E501


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(MEASUREMENTS))
    parser.add_argument("--database-url", default="")
    parser.add_argument("--inspect", default="", metavar="PYTHON")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return _work()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault("CREDENCE_VAR", scratch)
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        if options.database_url:
            os.environ["DATABASE_URL"] = options.database_url
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        for name in [options.only] if options.only else MEASUREMENTS:
            result = {"measured": name, "database": "postgresql" if options.database_url else "sqlite"}
            print(json.dumps(result | MEASUREMENTS[name](options)), flush=True)


def _endpoint(server, name: str, **fields):
    from workers.services.endpoints import save_endpoint

    values = {"name": f"{name}-{time.time_ns()}", "provider": "openai", "model": "tiny", "base_url": f"{server.url}/v1"}
    return save_endpoint(by="", values=values | {"max_concurrency": IN_FLIGHT, **fields})


class _Asking:
    """The bench's job handler: one question an item; the answer is split into words."""

    def ask(self, items):
        from workers.providers.contract import Message, Request

        return {item.pk: Request((Message("user", f"{STORY} {item.key}."),), max_tokens=50) for item in items}

    def receive(self, answered):
        from workers.services.handlers import Received

        for _, call in answered:
            assert call.answer.split()
        return {item.pk: Received() for item, _ in answered}

    def failed_before(self, job):
        return 0

    def finished(self, job):
        pass


def _job(endpoint, calls: int, name: str = "Story"):
    from django.utils import timezone

    from workers.services.handlers import register
    from workers.services.jobs import start_job

    register("bench", _Asking())
    keys = [(endpoint, "", f"{name} {at}") for at in range(calls)]
    return start_job(by="", handler="bench", title="Bench", items=keys, now=timezone.now())


def _timed_run(job) -> tuple[float, float]:
    """Return (seconds, CPU seconds) to work `job` off in this process; every call must be in the ledger afterwards."""
    from workers.models import Call
    from workers.services.runner import Runner

    began, cpu = time.perf_counter(), time.process_time()
    Runner().run()
    took, used = time.perf_counter() - began, time.process_time() - cpu
    job.refresh_from_db()
    answered = Call.objects.filter(items__job=job, state="answered").count()
    assert (job.state, answered) == ("finished", job.items.count()), (job.state, answered)
    return took, used


def _warm(server):
    """A job of an endpoint that has answered before, as every endpoint of a worker that runs has: the package is
    loaded."""
    endpoint = _endpoint(server, "tiny")
    _timed_run(_job(endpoint, WARM_UP, "Warm-up"))
    return _job(endpoint, CALLS)


def latency(options) -> dict:
    return _of_a_second(_warm, before=WARM_UP)


def cold(options) -> dict:
    return _of_a_second(lambda server: _job(_endpoint(server, "tiny"), CALLS), before=0)


def _of_a_second(made, before: int) -> dict:
    """Time the job that `made` makes for a server, which had `before` calls by then."""
    from tests.servers.process import ModelServer

    with ModelServer(latency=1.0) as server:
        took, cpu = _timed_run(made(server))
        paid = len(server.paid()) - before
    limit = math.ceil(CALLS / IN_FLIGHT)
    return {
        "calls": CALLS,
        "paid": paid,
        "seconds": round(took, 2),
        "limit": limit,
        "ratio": round(took / limit, 3),
        "cpu_ms_a_call": round(1000 * cpu / CALLS, 2),
    }


def compare(options) -> dict:
    from tests.servers.process import ModelServer

    with ModelServer(latency=0.2) as server:
        took, cpu = _timed_run(_warm(server))
        result = {"calls": CALLS, "seconds": round(took, 2), "cpu_ms_a_call": round(1000 * cpu / CALLS, 2)}
        if not options.inspect:
            return result | {"inspect_ai": "not measured: name a Python that has it with --inspect"}
        with tempfile.TemporaryDirectory() as log:
            command = [options.inspect, "-c", INSPECT, server.url, str(CALLS), str(IN_FLIGHT), log, STORY]
            done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if done.returncode:
            return result | {"inspect_ai": done.stderr.strip()[-300:]}
        seconds, used = map(float, done.stdout.split()[-2:])
    theirs = {"inspect_seconds": round(seconds, 2), "inspect_cpu_ms_a_call": round(1000 * used / CALLS, 2)}
    return result | theirs | {"times_as_fast": round(seconds / took, 1)}


def memory(options, calls: int = 20_000) -> dict:
    import threading

    from tests.servers.process import ModelServer

    def resident() -> float:
        """Return the memory without the pages of files that are mapped: those are the operating system's to drop."""
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024

    with ModelServer(latency=0.05) as server:
        job = _job(_endpoint(server, "many"), calls)
        seen: list[float] = []
        ended = threading.Event()

        def look() -> None:
            while not ended.wait(1):
                seen.append(resident())

        thread = threading.Thread(target=look)
        thread.start()
        took, cpu = _timed_run(job)
        ended.set()
        thread.join()
    tenth = max(1, len(seen) // 10)
    at = {"after_a_tenth": seen[tenth], "half_way": seen[len(seen) // 2], "at_the_end": seen[-1]}
    return {
        "calls": calls,
        "seconds": round(took, 1),
        "per_second": round(calls / took),
        "cpu_ms_a_call": round(1000 * cpu / calls, 2),
    } | {f"mb_{name}": round(value, 1) for name, value in at.items()}


def limit(options, rate: float = 40.0, calls: int = 2400) -> dict:
    """Four processes, none of which knows the limit."""
    from tests.servers.process import ModelServer

    with ModelServer(latency=0.2, jitter=0.05, rate=rate, burst=rate / 2) as server:
        job = _job(_endpoint(server, "limited"), calls)
        began = time.perf_counter()
        workers = [subprocess.Popen([sys.executable, __file__, "--worker"], cwd=ROOT) for _ in range(4)]
        for worker in workers:
            worker.wait()
        took = time.perf_counter() - began
        stats = server.stats()
        paid = sorted(row["at"] for row in server.paid())
    job.refresh_from_db()
    span = paid[-1] - paid[0]
    used = (len(paid) - rate / 2) / span / rate
    return {
        "calls": calls,
        "state": job.state,
        "limit_per_second": rate,
        "seconds": round(took, 1),
        "share_of_limit": round(used, 3),
        "share_refused": round(stats["429"] / stats["asked"], 4),
    }


def _work() -> None:
    import django

    django.setup()
    from workers.services.handlers import register
    from workers.services.runner import Runner

    register("bench", _Asking())
    Runner().run()


MEASUREMENTS = {"latency": latency, "cold": cold, "compare": compare, "memory": memory, "limit": limit}

if __name__ == "__main__":
    main()
