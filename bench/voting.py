"""How fast votes are saved: `python bench/voting.py [--database-url postgres://…] [--seconds 60] [--server product
gunicorn granian]`.

Starts the product's own server (`python -m config.web`) on loopback with a database of its own, assigns stories to
twenty annotators, and measures over HTTP, at the address that the grid uses: (a) everybody votes twice a second; (b)
everybody saves as fast as answers come, one request a proposition of seven labels. Afterwards the database is compared
with what was acknowledged: no vote lost, none doubled. Prints a Markdown table, and one JSON object a server after it.
The load generator shares the machine's cores with the server.

gunicorn and granian are there to compare with. The product does not need them: install them by hand beside it
(`.venv/bin/uv pip install gunicorn granian`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from annotators import Annotator, seed
from server import ROOT, SERVERS, add_sizes, free_port, serve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database-url", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--server", nargs="+", choices=sorted(SERVERS), default=["product"], help="what serves the product"
    )
    add_sizes(parser)
    options = parser.parse_args()
    if len(options.server) == 1:
        results = [_measure_server(options.server[0], options)]
    else:
        results = [_measure_apart(name) for name in options.server]
    print("| server | database | load | requests a second | votes a second | p50 ms | p95 ms | p99 ms | max ms |")
    print("|---|---|---|---|---|---|---|---|---|")
    for result in results:
        for load in ("paced", "unpaced"):
            figures = (
                result[load][name]
                for name in ("per_second", "votes_per_second", "p50_ms", "p95_ms", "p99_ms", "max_ms")
            )
            print("|", " | ".join(map(str, (result["server"], result["database"], load, *figures))), "|")
    for result in results:
        print(json.dumps(result))
    if any(_failed(result) for result in results):
        sys.exit(1)


def _failed(result: dict) -> bool:
    return bool(result["lost"] or result["doubled"] or result["paced"]["errors"] or result["unpaced"]["errors"])


def _measure_apart(server: str) -> dict:
    """Measure one of several servers in a process and a database of its own."""
    arguments = sys.argv[1:]
    at = arguments.index("--server") + 1
    others = [argument for argument in arguments if argument not in SERVERS]
    command = [sys.executable, __file__, *others[:at], server, *others[at:]]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    if not lines:
        raise SystemExit(f"{server} was not measured.")
    return json.loads(lines[-1])


def _measure_server(server: str, options: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["CREDENCE_VAR"] = scratch
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        if options.database_url:
            os.environ["DATABASE_URL"] = options.database_url
        sys.path.insert(0, str(ROOT))
        people = seed()
        port = free_port()
        process = serve(server, port, workers=options.workers, threads=options.threads)
        try:
            result = asyncio.run(_measure(port, people, options.seconds))
        finally:
            process.terminate()
            process.wait(20)
    return {"server": server, "database": "PostgreSQL" if options.database_url else "SQLite", **result}


async def _measure(port: int, people: list[dict], seconds: float) -> dict:
    annotators = [Annotator(port, person) for person in people]
    for annotator in annotators:
        await annotator.connect()
        await annotator.save(1)  # warms the connection
        annotator.waits.clear()
    paced = await _phase(annotators, seconds, pause=0.5, cells=1)
    unpaced = await _phase(annotators, min(seconds, 20), pause=0, cells=7)
    lost, doubled = await asyncio.to_thread(_verify, annotators)
    return {"paced": paced, "unpaced": unpaced, "lost": lost, "doubled": doubled}


async def _phase(annotators: list[Annotator], seconds: float, *, pause: float, cells: int) -> dict:
    before = sum(annotator.requests for annotator in annotators), sum(annotator.errors for annotator in annotators)
    for annotator in annotators:
        annotator.waits.clear()
    began = time.perf_counter()
    deadline = began + seconds

    async def work(annotator: Annotator) -> None:
        await asyncio.sleep(annotator.random.random() * pause)
        due = time.perf_counter()
        while due < deadline and time.perf_counter() < deadline:
            await annotator.save(cells)
            due += pause
            await asyncio.sleep(max(0, due - time.perf_counter()) if pause else 0)

    await asyncio.gather(*(work(annotator) for annotator in annotators))
    took = time.perf_counter() - began
    waits = sorted(wait for annotator in annotators for wait in annotator.waits)
    requests = sum(annotator.requests for annotator in annotators) - before[0]
    return {
        "requests": requests,
        "errors": sum(annotator.errors for annotator in annotators) - before[1],
        "per_second": round(requests / took, 1),
        "votes_per_second": round(requests * cells / took, 1),
        "p50_ms": round(1000 * waits[len(waits) // 2], 1),
        "p95_ms": round(1000 * waits[int(len(waits) * 0.95)], 1),
        "p99_ms": round(1000 * waits[int(len(waits) * 0.99)], 1),
        "max_ms": round(1000 * waits[-1], 1),
    }


def _verify(annotators: list[Annotator]) -> tuple[int, int]:
    """Count acknowledged votes that the database does not have as they were acknowledged, and idempotency keys with
    more than one event."""
    from django.db.models import Count

    from annotation.models import Vote, VoteEvent

    lost = 0
    for annotator in annotators:
        rows = Vote.objects.filter(annotator_id=annotator.person["user_id"])
        stored = {
            (uid, dimension): (label, key)
            for uid, dimension, label, key in rows.values_list("proposition__uid", "dimension", "label", "client_key")
        }
        lost += sum(stored.get(cell) != vote for cell, vote in annotator.acknowledged.items())
    ids = [annotator.person["user_id"] for annotator in annotators]
    events = VoteEvent.objects.filter(annotator__in=ids).values("annotator", "client_key").annotate(n=Count("id"))
    return lost, events.filter(n__gt=1).count()


if __name__ == "__main__":
    main()
