"""HTTP/1.1 with keep-alive, as little as costs little: the server shares its cores with what it measures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(slots=True)
class Ask:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[bytes, bytes]  # names in lower case
    body: bytes = b""


@dataclass(slots=True)
class Reply:
    """`delay` in seconds, None: never. `sent` is how many bytes of the body leave before the connection is closed."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    kind: str = "application/json"
    delay: float | None = 0.0
    sent: int | None = None
    silent: bool = False  # closes without a word

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Error')}", f"content-type: {self.kind}"]
        lines.append(f"content-length: {len(self.body)}")
        lines += [f"{name}: {value}" for name, value in self.headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Connection(asyncio.Protocol):
    """One connection; a request is read only when the one before it was answered."""

    def __init__(self, answer: Callable[[Ask], Reply], left: Callable[[], None]) -> None:
        """`answer` decides at once; `left` is called when a decided request has left, or its connection is gone."""
        self._answer, self._left = answer, left
        self._buffer = bytearray()
        self._ask: Ask | None = None
        self._length = 0  # bytes of body still to come; -1: chunked
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        if self._busy:
            self._done()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._busy:
            self._read()

    def _read(self) -> None:
        if self._ask is None and not self._read_head():
            return
        if not (self._read_chunks() if self._length < 0 else self._read_body()):
            return
        ask, self._ask, self._busy = self._ask, None, True
        reply = self._answer(ask)
        if reply.delay is None:
            return
        if reply.delay:
            self._timer = asyncio.get_running_loop().call_later(reply.delay, self._send, reply)
        else:
            self._send(reply)

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        first, *lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        headers = {}
        for line in lines:
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        method, target, _ = first.decode("latin-1").split(" ", 2)
        path, _, query = target.partition("?")
        self._ask = Ask(method, path, dict(parse_qsl(query)) if query else {}, headers)
        chunked = b"chunked" in headers.get(b"transfer-encoding", b"")
        self._length = -1 if chunked else int(headers.get(b"content-length", 0))
        return True

    def _read_body(self) -> bool:
        if len(self._buffer) < self._length:
            return False
        self._ask.body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        return True

    def _read_chunks(self) -> bool:
        """The whole of a chunked body at its last chunk; uploads only, so the second parse does not matter."""
        if not self._buffer.endswith(b"0\r\n\r\n"):
            return False
        body, at = bytearray(), 0
        while True:
            end = self._buffer.find(b"\r\n", at)
            if end < 0:
                return False
            size = int(self._buffer[at:end].split(b";")[0], 16)
            if len(self._buffer) < end + size + 4:
                return False
            if not size:
                break
            body += self._buffer[end + 2 : end + 2 + size]
            at = end + 2 + size + 2
        self._ask.body = bytes(body)
        del self._buffer[: end + 4]
        return True

    def _send(self, reply: Reply) -> None:
        self._timer = None
        if self._transport.is_closing():
            return
        if reply.silent:
            self._transport.close()
            return
        if reply.sent is not None:
            self._transport.write(reply.head() + reply.body[: reply.sent])
            self._transport.close()
            return
        self._transport.write(reply.head() + reply.body)
        self._done()
        if self._buffer:
            self._read()

    def _done(self) -> None:
        self._busy = False
        self._left()
