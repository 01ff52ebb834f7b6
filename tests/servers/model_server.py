"""A local model server that speaks both providers' protocols, costs little, and goes wrong on demand.

    python -m tests.servers.model_server --port 0 --log paid.jsonl --latency 0.2

The first line of standard output is the port. Every call that the server decides to answer is written to the log before
anything else happens to it: also when the answer is then cut, delayed, garbled or never sent. POST /control takes any
of the settings as JSON, GET /stats counts. Files and batches live in a folder beside the log and survive a killed
process.
"""

import argparse
import asyncio
import dataclasses
import json
import signal
import sys
from asyncio import StreamReader, StreamWriter
from pathlib import Path
from urllib.parse import parse_qsl

from tests.servers.batches import Batches, NotThere
from tests.servers.completions import Ask, Completions, Ledger, Reply
from tests.servers.dialects import ANTHROPIC, OPENAI
from tests.servers.settings import Settings


class Application:
    def __init__(self, settings: Settings, log: Path) -> None:
        self.settings = settings
        self.completions = Completions(settings, Ledger(log))
        self.batches = Batches(log.with_suffix(".batches"), settings, self.completions)

    def answer(self, ask: Ask) -> Reply:
        try:
            match ask.method, ask.path:
                case "POST", "/v1/chat/completions":
                    return self.completions.answer(OPENAI, ask)
                case "POST", "/v1/messages":
                    return self.completions.answer(ANTHROPIC, ask)
                case "POST", "/control":
                    self.settings.change(json.loads(ask.body))
                    self.completions.rebuild()
                    return Reply.of(dataclasses.asdict(self.settings))
                case "GET", "/stats":
                    return Reply.of({"asked": self.completions.asked, "429": self.completions.throttled})
            return self.batches.answer(ask)
        except NotThere as error:
            return Reply.of({"error": {"message": str(error), "type": "not_found_error"}}, 404)
        except (ValueError, KeyError, TypeError) as error:
            return Reply.of({"error": {"message": str(error), "type": "invalid_request_error"}}, 400)

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """HTTP/1.1 with keep-alive, as little as costs little: the server shares its cores with what it measures."""
        try:
            while True:
                reply = self.answer(await read(reader))
                if reply.delay is None:
                    await reader.read()  # until the client hangs up
                    return
                if reply.delay:
                    await asyncio.sleep(reply.delay)
                if reply.silent:
                    return
                lines = [f"HTTP/1.1 {reply.status} Answer", "content-type: application/json"]
                lines += [f"{name}: {value}" for name, value in reply.headers.items()]
                head = "\r\n".join([*lines, f"content-length: {len(reply.body)}"]) + "\r\n\r\n"
                writer.write(head.encode() + reply.body[: reply.sent])
                await writer.drain()
                if reply.sent is not None:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def read(reader: StreamReader) -> Ask:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    method, target, _ = first.split(" ", 2)
    path, _, query = target.partition("?")
    ask = Ask(method, path, dict(parse_qsl(query)), headers)
    if "chunked" in headers.get("transfer-encoding", ""):
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            ask.body += await reader.readexactly(size)
            await reader.readuntil(b"\r\n")
        await reader.readuntil(b"\r\n")
    else:
        ask.body = await reader.readexactly(int(headers.get("content-length", 0)))
    return ask


async def serve(application: Application, port: int) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    server = await asyncio.start_server(application.serve, "127.0.0.1", port, backlog=1024, limit=2**20)
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    loop.add_reader(sys.stdin.fileno(), ended.set)  # it does not outlive a test run that is killed
    print(server.sockets[0].getsockname()[1], flush=True)
    await ended.wait()
    server.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.servers.model_server", description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--log", type=Path, required=True, help="file that paid calls are appended to")
    for one in dataclasses.fields(Settings):  # texts as they are, everything else as JSON
        parse = str if isinstance(one.default, str) else json.loads
        parser.add_argument(f"--{one.name.replace('_', '-')}", type=parse, default=argparse.SUPPRESS)
    given = vars(parser.parse_args())
    port, log, settings = given.pop("port"), given.pop("log"), Settings()
    settings.change(given)
    asyncio.run(serve(Application(settings, log), port))
