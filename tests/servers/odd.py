"""A server that answers whatever a test says, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.servers.threads import serving

GOOD = {
    "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
    "content": [{"type": "text", "text": "yes"}],
    "stop_reason": "end_turn",
    "model": "tiny",
    "usage": {},
}
"""An answer in the protocols of all providers."""


@dataclass
class Odd:
    """What it answers: a status, a body (what is no bytes is sent as JSON), and headers besides."""

    status: int = 200
    body: Any = b"{}"
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.body, bytes):
            self.body = json.dumps(self.body).encode()


class OddServer:
    """`with OddServer(lambda path, headers, body: Odd(…)) as server:`, or always the same `Odd`; `asked` counts
    requests. Change `reply` while it runs."""

    def __init__(self, reply: Odd | Callable[[str, dict[str, str], bytes], Odd]) -> None:
        self.reply, self.asked, self.url = reply, 0, ""

    def url_for(self, provider: str) -> str:
        """The address of an endpoint of this provider."""
        return self.url + ("" if provider == "anthropic" else "/v1")

    def __enter__(self) -> OddServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                server.asked += 1
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                odd = server.reply if isinstance(server.reply, Odd) else server.reply(self.path, headers, body)
                self.send_response(odd.status)
                length = {"content-length": str(len(odd.body))}
                for name, value in {"content-type": "application/json", **odd.headers, **length}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(odd.body)

            do_GET = do_POST = answer

        self._serving = serving(Handler)
        self.url = self._serving.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._serving.__exit__(*raised)
