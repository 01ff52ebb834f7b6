"""Kills every process of a site at random, and checks that nothing was lost and nothing counted twice.

    python bench/chaos.py                                    SQLite, broker of files
    python bench/chaos.py --database-url postgres://… --redis     PostgreSQL, Redis

Two workers, the broker and the web server are real processes; one at a time is ended with `kill -9` at a random moment
(`--kills` of them, two in five during batches) and started again within half a second, while a local model server
writes down each call that it is paid for. Then workers are stopped for longer than their lease and wake up again
(`--hangs`), and the broker stays away while every worker is killed. PostgreSQL: in a database of its own on that
server, which is dropped at the end; redis-server: on a port of its own. `--seed` draws the moments; how far each
process has come by then differs from run to run.

Prints one JSON object:

    kills          by kind of process; hangs: workers stopped beyond their lease; workers_lost: declared lost
    calls          questions asked, all different; batches: batches handed over for them
    paid           calls that the model server was paid for = answered + unknown_paid
    answered       distinct calls with an answer in the ledger
    unknown attempts that the ledger lists as unknown; unknown_paid: those that were paid, unknown_unpaid: those that
    were not receipts answers that were taken in; items_with_receipt: items that got one faults promises that were
    broken, as sentences; none: exit status 0
"""

import argparse
import dataclasses
import json
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="python bench/chaos.py"
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--hangs", type=int, default=4)
    parser.add_argument("--calls", type=int, default=1000, help="in each job; a next one starts when one has ended")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database-url", default="", help="any database of a PostgreSQL server; else SQLite")
    parser.add_argument("--redis", action="store_true", help="redis-server as the broker; else files")
    parser.add_argument("--keep", type=Path, help="an empty folder for databases and logs, kept")
    return parser.parse_args()


def measure(given: argparse.Namespace, folder: Path) -> dict:
    from tests.chaos.database import own_database
    from tests.chaos.site import Site
    from tests.chaos.torment import Torment, account, faults
    from tests.servers import ModelServer

    began, batched = time.monotonic(), given.kills * 2 // 5
    with (
        own_database(given.database_url) as url,
        ModelServer(latency=0.5, jitter=0.3, batch_delay=3.0) as server,
        Site(folder, database_url=url, redis=given.redis) as site,
    ):
        torment = Torment(site, server.url, random.Random(given.seed), given.calls)
        for batch, kills in ((False, given.kills - batched), (True, batched)):
            torment.kill(kills, batch=batch)
            site.finishes(seconds=120)
            torment.hang(given.hangs // 2, batch=batch)
            site.finishes(seconds=120)
        torment.without_broker()
        site.finishes(seconds=120)
        if given.redis:
            site.start("redis")
        totals, kills = account(site.ask("report"), server.paid()), dict(site.kills)
        broken = faults(totals, torment.asked)
        broken += [f"{name} ended by itself." for name in site.fallen()]
        broken += [] if site.web_answers() else ["The web server does not answer."]
    measured = dataclasses.asdict(totals) | {"unknown_unpaid": totals.unknown - totals.unknown_paid}
    return {
        "database": "PostgreSQL" if url else "SQLite", "broker": "Redis" if given.redis else "files", "kills": kills,
        "hangs": given.hangs // 2 * 2, "calls": torment.asked, **measured, "seconds": round(time.monotonic() - began),
        "faults": broken,
    }  # fmt: skip


def main() -> None:
    given = options()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        result = measure(given, given.keep)
    else:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(given, Path(folder))
    print(json.dumps(result, indent=2))
    sys.exit(bool(result["faults"]))


if __name__ == "__main__":
    main()
