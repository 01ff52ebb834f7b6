"""A server that answers whatever a test says, byte for byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.servers.threads import serving


@dataclass
class Odd:
    """What it answers: a status, a body, and headers besides."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


class OddServer:
    """`with OddServer(lambda path, headers, body: Odd(…)) as server:`; `asked` counts requests. Change `reply` while it
    runs."""

    def __init__(self, reply: Callable[[str, dict[str, str], bytes], Odd]) -> None:
        self.reply, self.asked, self.url = reply, 0, ""

    def __enter__(self) -> OddServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                server.asked += 1
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                odd = server.reply(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                self.send_response(odd.status)
                for name, value in {"content-type": "application/json", **odd.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(odd.body)))
                self.end_headers()
                self.wfile.write(odd.body)

            do_GET = do_POST = answer

        self._serving = serving(Handler)
        self.url = self._serving.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._serving.__exit__(*raised)
