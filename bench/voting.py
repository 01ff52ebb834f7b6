"""Measure latency and throughput of saved votes, beside potato: `python bench/voting.py [--database-url postgres://…]
[--propositions 250] [--seconds 20] [--rounds 5] [--server product gunicorn granian] [--potato FOLDER |
--without-potato]`.

Starts the product's own server (`python -m config.web`) on loopback with a database of its own, assigns stories to
twenty annotators, and measures over HTTP, at the address that the grid uses: *paced*, everybody votes twice a second
for so many seconds; *unpaced*, everybody saves as fast as answers come, one request a proposition of seven labels, so
many of them. It does so on SQLite, and with `--database-url` (any database of a PostgreSQL server) on PostgreSQL, too,
in a database that is dropped at the end. potato is installed into FOLDER from the registry and asked to save the same
labels of as many propositions at the address that its page uses. It writes all labels of a person at each save, so it
grows slower with them, and only equal work can be compared.

All servers run from the beginning, and take turns: a round asks one after the other, so that what else the machine does
meets them alike. Afterwards databases are compared with what was acknowledged: no vote lost, none doubled. Prints a
Markdown table, the ratio of each server's requests a second to potato's, and one JSON object a server. *processor* is
what the server, and PostgreSQL for it, took of processors a request. The load generator shares the machine's cores.

gunicorn and granian are there to compare with. The product does not need them: install them by hand beside it
(`.venv/bin/uv pip install gunicorn granian`).
"""

import argparse
import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from annotators import ANNOTATORS
from potato import Unavailable, install
from server import ROOT, SERVERS, add_sizes

sys.path.insert(0, str(ROOT))
from tests.chaos.database import own_database

COLUMNS = ("server", "database", "load", "requests a second", "p50 ms", "p95 ms", "p99 ms", "max ms", "processor ms")


class Contestant:
    """A server with its annotators, in a process of its own, and what it did so far, by load."""

    def __init__(self, server: str, database_url: str, options: argparse.Namespace) -> None:
        self.server = server
        self.database = "files" if server == "potato" else "PostgreSQL" if database_url else "SQLite"
        self.loads = ("unpaced",) if server == "potato" else ("paced", "unpaced")
        command = [sys.executable, str(Path(__file__).with_name("contestant.py")), server]
        command += [f"--workers={options.workers}", f"--threads={options.threads}"]
        command += [f"--database-url={database_url}", f"--potato={options.potato}"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, **pipes)
        self.phases: dict[str, list[dict]] = {load: [] for load in self.loads}
        self._hear()

    def ask(self, load: str, amount: float) -> None:
        self.process.stdin.write(f"{load} {amount}\n")
        self.process.stdin.flush()
        self.phases[load].append(self._hear())

    def end(self) -> dict:
        """End it and return what was measured."""
        self.process.stdin.close()
        told = self._hear()
        self.process.wait(60)
        figures = {load: _figures(phases) for load, phases in self.phases.items()}
        return {"server": self.server, "database": self.database, **figures, **told}

    def _hear(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.server} on {self.database} was not measured.")
        return json.loads(line)


def main() -> None:
    options = _options()
    versions = _with_potato(options)
    with ExitStack() as stack:
        databases = [""]
        if options.database_url:
            databases += [stack.enter_context(own_database(options.database_url))]
        contestants = [Contestant(server, url, options) for server in options.server for url in databases]
        contestants += [Contestant("potato", "", options)] if options.potato else []
        amounts = {"paced": options.seconds, "unpaced": options.propositions * ANNOTATORS}
        for _ in range(options.rounds):
            for contestant in contestants:
                for load in contestant.loads:
                    contestant.ask(load, amounts[load] / options.rounds)
        results = [contestant.end() for contestant in contestants]
    _print(results, versions)
    if any(_failed(result) for result in results):
        sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database-url", default="", help="any database of a PostgreSQL server")
    parser.add_argument("--propositions", type=int, default=250, help="of each annotator, all rounds together")
    parser.add_argument("--seconds", type=float, default=20, help="of the paced load, all rounds together")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--server", nargs="+", choices=sorted(SERVERS), default=["product"])
    parser.add_argument("--potato", type=Path, default=ROOT / "var" / "potato", help="where it is or will be installed")
    parser.add_argument("--without-potato", action="store_true")
    add_sizes(parser)
    return parser.parse_args()


def _with_potato(options: argparse.Namespace) -> str:
    """Return which potato takes part, or why none does; `options.potato` is then None."""
    if options.without_potato:
        options.potato = None
        return "potato was left out, as asked."
    try:
        return f"potato {install(options.potato)}"
    except Unavailable as error:
        options.potato = None
        return f"potato is skipped: {error}"


def _figures(phases: list[dict]) -> dict:
    waits = sorted(wait for phase in phases for wait in phase["waits"])
    requests = len(waits)
    rates = [phase["requests"] / phase["seconds"] for phase in phases]
    at = {"p50 ms": 0.5, "p95 ms": 0.95, "p99 ms": 0.99}
    return {
        "requests": requests,
        "errors": sum(phase["errors"] for phase in phases),
        "requests a second": round(requests / sum(phase["seconds"] for phase in phases), 1),
        "of rounds": [round(rate, 1) for rate in rates],
        **{name: round(1000 * waits[int(requests * share)], 1) for name, share in at.items()},
        "max ms": round(1000 * waits[-1], 1),
        "processor ms": round(1000 * sum(phase["processor"] for phase in phases) / requests, 2),
    }


def _print(results: list[dict], potato: str) -> None:
    print("|", " | ".join(COLUMNS), "|")
    print("|" + "---|" * len(COLUMNS))
    for result in results:
        for load in ("paced", "unpaced"):
            if load in result:
                shown = result | {"load": load} | result[load]
                print("|", " | ".join(str(shown[column]) for column in COLUMNS), "|")
    print()
    print(potato)
    rates = {(result["server"], result["database"]): result["unpaced"]["requests a second"] for result in results}
    beside = rates.pop(("potato", "files"), None)
    for (server, database), rate in rates.items() if beside else ():
        print(f"{server} on {database}: {rate / beside:.2f} times potato's requests a second, unpaced")
    for result in results:
        print(json.dumps(result))


def _failed(result: dict) -> bool:
    loads = [result[load] for load in ("paced", "unpaced") if load in result]
    return bool(result["lost"] or result["doubled"] or any(load["errors"] for load in loads))


if __name__ == "__main__":
    main()
