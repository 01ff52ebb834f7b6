"""One server of bench/voting.py with its annotators, in a process of its own: `python bench/contestant.py SERVER`.

Reads `paced SECONDS` and `unpaced REQUESTS` line by line from its input and answers each with a line of JSON; at the
end of the input it answers with what was lost and what was doubled, and ends its server.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from annotators import ANNOTATORS, Annotator, Client, seed
from potato import PotatoAnnotator, served
from server import ROOT, add_sizes, free_port, processor_seconds, serve

PAUSE_SECONDS = 0.5
"""From one request of an annotator to the next, where they are paced."""
CELLS = {"paced": 1, "unpaced": 7}
"""The cells that a request saves, of annotators who pause and of those who do not."""

Verify = Callable[[], tuple[int, int]]
Used = Callable[[], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("server")
    parser.add_argument("--database-url", default="")
    parser.add_argument("--potato", type=Path, help="its environment")
    add_sizes(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"CREDENCE_VAR": scratch, "DJANGO_SETTINGS_MODULE": "config.settings"}
        if options.database_url:
            os.environ["DATABASE_URL"] = options.database_url
        sys.path.insert(0, str(ROOT))
        contest = _potato if options.server == "potato" else _product
        with contest(options, Path(scratch)) as (annotators, used, verify):
            asyncio.run(_answer(annotators, used, verify))


@contextmanager
def _product(options: argparse.Namespace, scratch: Path) -> Iterator[tuple[Sequence[Client], Used, Verify]]:
    people = seed()
    port = free_port()
    process = serve(options.server, port, workers=options.workers, threads=options.threads)
    annotators = [Annotator(port, person) for person in people]
    database = options.database_url.rpartition("/")[2]
    try:
        yield annotators, lambda: processor_seconds(process, database), lambda: _verify(annotators)
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def _potato(options: argparse.Namespace, scratch: Path) -> Iterator[tuple[Sequence[Client], Used, Verify]]:
    with served(options.potato, scratch) as (process, port):
        annotators = [PotatoAnnotator(port, number) for number in range(ANNOTATORS)]
        yield annotators, lambda: processor_seconds(process), lambda: (sum(one.lost() for one in annotators), 0)


async def _answer(annotators: Sequence[Client], used: Used, verify: Verify) -> None:
    for annotator in annotators:
        await annotator.connect()
        await annotator.save(CELLS["paced"])  # warms the connection
    _tell({"ready": True})
    while line := await asyncio.to_thread(sys.stdin.readline):
        load, amount = line.split()
        _tell(await _phase(annotators, load, float(amount), used))
    lost, doubled = await asyncio.to_thread(verify)
    _tell({"lost": lost, "doubled": doubled})


def _tell(content: dict) -> None:
    print(json.dumps(content), flush=True)


async def _phase(annotators: Sequence[Client], load: str, amount: float, used: Used) -> dict:
    """Have everybody save for so many seconds, or until so many requests are answered; return how it went."""
    before = _sums(annotators)
    for annotator in annotators:
        annotator.waits.clear()
    worked, began = used(), time.perf_counter()
    if load == "paced":
        works = [_save_paced(annotator, began + amount) for annotator in annotators]
    else:
        left = iter(range(int(amount)))
        works = [_save_unpaced(annotator, left) for annotator in annotators]
    await asyncio.gather(*works)
    took = time.perf_counter() - began
    requests, errors = (now - then for now, then in zip(_sums(annotators), before, strict=True))
    waits = [wait for annotator in annotators for wait in annotator.waits]
    return {"seconds": took, "requests": requests, "errors": errors, "processor": used() - worked, "waits": waits}


async def _save_paced(annotator: Client, deadline: float) -> None:
    await asyncio.sleep(annotator.random.random() * PAUSE_SECONDS)
    due = time.perf_counter()
    while due < deadline:
        await annotator.save(CELLS["paced"])
        due += PAUSE_SECONDS
        await asyncio.sleep(max(0, due - time.perf_counter()))


async def _save_unpaced(annotator: Client, left: Iterator[int]) -> None:
    """Save as long as there is one `left`: whoever is answered sooner takes more of them."""
    for _ in left:
        await annotator.save(CELLS["unpaced"])


def _sums(annotators: Sequence[Client]) -> tuple[int, int]:
    return sum(annotator.requests for annotator in annotators), sum(annotator.errors for annotator in annotators)


def _verify(annotators: Sequence[Annotator]) -> tuple[int, int]:
    """Count acknowledged votes that the database does not have as they were acknowledged, and idempotency keys with
    more than one event."""
    from django.db.models import Count

    from annotation.models import Vote, VoteEvent

    lost = 0
    for annotator in annotators:
        rows = Vote.objects.filter(annotator_id=annotator.person["user_id"])
        stored = {
            (uid, dimension): (label, key)
            for uid, dimension, label, key in rows.values_list(
                "proposition__uid", "dimension", "label", "idempotency_key"
            )
        }
        lost += sum(stored.get(cell) != vote for cell, vote in annotator.acknowledged.items())
    ids = [annotator.person["user_id"] for annotator in annotators]
    events = VoteEvent.objects.filter(annotator__in=ids).values("annotator", "idempotency_key").annotate(n=Count("id"))
    return lost, events.filter(n__gt=1).count()


if __name__ == "__main__":
    main()
