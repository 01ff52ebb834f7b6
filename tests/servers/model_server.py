"""A local model server that speaks both providers' protocols, costs little, and goes wrong on demand.

    python -m tests.servers.model_server --port 0 --log paid.jsonl --latency 0.2 --answer labels

The first line of standard output is the port. Every call that the server decides to answer is written to the log before
anything else happens to it: also when the answer is then cut, delayed, garbled or never sent. POST /control takes any
of the settings as JSON, GET /stats counts. Files and batches live in a folder beside the log and survive a killed
process.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import signal
import sys
import time
from pathlib import Path

from tests.servers.batch_routes import BatchRoutes, NotThere
from tests.servers.batch_store import BatchStore
from tests.servers.completions import Completions, Ledger
from tests.servers.connection import Ask, Connection, Reply
from tests.servers.dialects import ANTHROPIC, OPENAI
from tests.servers.settings import Settings


class Application:
    def __init__(self, settings: Settings, log: Path) -> None:
        self.settings = settings
        self.completions = Completions(settings, Ledger(log))
        self.batches = BatchRoutes(settings, BatchStore(log.with_suffix(".batches"), settings, self.completions))
        self.in_flight = self.most_in_flight = 0

    def answer(self, ask: Ask) -> Reply:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        if ask.method == "POST" and ask.path == "/v1/chat/completions":
            return self.completions.answer(OPENAI, ask)
        if ask.method == "POST" and ask.path == "/v1/messages":
            return self.completions.answer(ANTHROPIC, ask)
        try:
            return self._route(ask)
        except NotThere as error:
            return _json({"error": {"message": str(error), "type": "not_found_error"}}, 404)
        except (ValueError, KeyError, TypeError) as error:
            return _json({"error": {"message": str(error), "type": "invalid_request_error"}}, 400)

    def left(self) -> None:
        self.in_flight -= 1

    def _route(self, ask: Ask) -> Reply:
        match ask.method, ask.path:
            case "POST", "/control":
                self.settings.change(json.loads(ask.body))
                self.completions.rebuild()
                return _json(dataclasses.asdict(self.settings))
            case "GET", "/stats":
                return _json(self.stats())
            case "GET", "/v1/models":
                model = {"id": "local", "object": "model", "type": "model", "created": 1_700_000_000}
                model |= {"display_name": "local", "owned_by": "tests", "created_at": "2024-01-01T00:00:00Z"}
                return _json({"object": "list", "data": [model], "has_more": False})
        return self.batches.answer(ask)

    def stats(self) -> dict:
        return {
            "asked": self.completions.asked,
            "paid": self.completions.paid,
            "429": self.completions.throttled,
            "modes": dict(self.completions.modes),
            "in_flight": self.in_flight - 1,  # without the one that asks
            "most_in_flight": self.most_in_flight,
            "cpu": time.process_time(),
        }


def _json(payload: dict, status: int = 200) -> Reply:
    return Reply(json.dumps(payload).encode(), status)


async def serve(application: Application, port: int, until_stdin_closes: bool) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(application.answer, application.left), "127.0.0.1", port, backlog=1024
    )
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    if until_stdin_closes:
        loop.add_reader(sys.stdin.fileno(), ended.set)
    print(server.sockets[0].getsockname()[1], flush=True)
    await ended.wait()
    server.close()


def parser() -> argparse.ArgumentParser:
    """One option for every setting; texts as they are, everything else as JSON."""
    made = argparse.ArgumentParser(prog="python -m tests.servers.model_server", description=__doc__.split("\n")[0])
    made.add_argument("--port", type=int, default=0, help="0: any free one")
    made.add_argument("--log", type=Path, required=True, help="file that paid calls are appended to")
    made.add_argument("--until-stdin-closes", action="store_true")
    for one in dataclasses.fields(Settings):
        read = str if isinstance(one.default, str) else json.loads
        made.add_argument(f"--{one.name.replace('_', '-')}", type=read, default=argparse.SUPPRESS)
    return made


def main() -> None:
    given = vars(parser().parse_args())
    port, log, until_stdin_closes = given.pop("port"), given.pop("log"), given.pop("until_stdin_closes")
    settings = Settings()
    settings.change(given)
    asyncio.run(serve(Application(settings, log), port, until_stdin_closes))


if __name__ == "__main__":
    main()
