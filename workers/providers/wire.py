"""The HTTP under both providers' packages: where everything that a server says comes in.

An answer is unpacked and read up to a limit, and keys are taken out of it, before a package sees it. What is known of a
request when it fails decides whether it can have been paid: nothing was, before there was a connection.
"""

import asyncio
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

from core.messages import Sentence, gettext_noop
from workers.providers.addresses import FORBIDDEN, check_allowed, check_host, guarded_socket, is_forbidden
from workers.providers.contract import Completion, Stop
from workers.providers.errors import BackendError, Lost, Rejected, TooLong, Unreachable, Unreadable
from workers.providers.redaction import Redactor

JUDGED_SECONDS = 60.0
"""Seconds for which a judged name is not looked up again."""
UNUSED = gettext_noop(" The proxy that the worker's environment names is not used (ENDPOINT_PROXY).")


class Judge:
    """Looks up names that are handed to a proxy, each once in JUDGED_SECONDS however many calls go there."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._looking_up = asyncio.Lock()

    async def check(self, host: str) -> None:
        """Raise Rejected if `host` is, or resolves here to, a forbidden address."""
        async with self._looking_up:
            if self._until.get(host, 0.0) < time.monotonic():
                await asyncio.to_thread(check_host, host)
                self._until[host] = time.monotonic() + JUDGED_SECONDS


PIECE = 64 * 1024
"""Bytes that are unpacked at once."""
Unpack = Callable[[bytes], Iterator[bytes]]


def unpacking(encoding: str) -> Unpack:
    """Return a function that unpacks one piece after the other. It raises Unreadable after what it could not unpack,
    and for an encoding that nobody asked for."""
    match encoding.strip().lower():
        case "" | "identity":
            return lambda packed: iter([packed])
        case "gzip" | "x-gzip" | "deflate":
            return _Inflating().unpack

    def refuse(packed: bytes) -> Iterator[bytes]:
        yield packed
        raise Unreadable(
            Sentence(
                "The answer is packed as {encoding}; expected gzip, deflate or none.", encoding=repr(encoding[:40])
            )
        )

    return refuse


class _Inflating:
    """gzip, zlib, and deflate without a frame, in pieces of bounded size however far they grow."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(32 + zlib.MAX_WBITS)
        self._begun = False

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        while packed:
            try:
                piece = self._stream.decompress(packed, PIECE)
            except zlib.error as error:
                if self._begun:
                    yield packed
                    raise Unreadable(Sentence("The answer could not be unpacked ({error}).", error=error)) from error
                self._stream, self._begun = zlib.decompressobj(-zlib.MAX_WBITS), True
                continue
            self._begun = True
            packed = self._stream.unconsumed_tail
            if self._stream.eof:
                packed = self._stream.unused_data.lstrip(b"\0")
                self._stream = zlib.decompressobj(32 + zlib.MAX_WBITS)
            yield piece


CONNECT_SECONDS = 30.0
"""Seconds that a connection is waited for, name server and TLS included."""
BY_LINE = {"X-Read-By-Line": "1"}
"""A header for this transport alone: the answer is a file of lines, each read up to the limit."""
MOST_LINES = 256
"""A file of lines is read up to so many times the limit."""
MEGABYTE = 1_000_000


@dataclass(slots=True)
class Exchange:
    """State of one request in flight. `left`: it had a connection, so the server may have read it."""

    left: bool = False
    status: int | None = None
    body: bytes = b""

    def complete(self, error: BackendError) -> BackendError:
        """Return the error, with this status and body where it has none of its own."""
        error.status = error.status if error.status is not None else self.status
        error.body = error.body or text_of(self.body)
        return error

    def with_body(self, completion: Completion) -> Completion:
        """Return the completion, with the body where its text is not all that came."""
        return replace(completion, body=text_of(self.body)) if completion.stop is Stop.OTHER else completion


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@asynccontextmanager
async def exchange(timeout: float) -> AsyncIterator[Exchange]:
    """Give one request and its answer `timeout` seconds. A BackendError leaves with the status and body that came.

    Raises Unreachable where the time ran out without a connection, Lost where it ran out later.
    """
    current = Exchange()
    token = _current.set(current)
    try:
        async with asyncio.timeout(timeout):
            yield current
    except TimeoutError:
        message = (
            Sentence("No answer within {timeout} s.", timeout=f"{timeout:g}")
            if current.left
            else Sentence("No connection within {timeout} s.", timeout=f"{timeout:g}")
        )
        raise current.complete((Lost if current.left else Unreachable)(message)) from None
    except BackendError as error:
        raise current.complete(error) from error.__cause__
    finally:
        _current.reset(token)


def text_of(body: bytes) -> str:
    """Return bytes as text that shows what is not UTF-8: the byte FF as \\xff."""
    return body.decode("utf-8", "backslashreplace")


@cache
def _authorities() -> ssl.SSLContext:
    """Return what certificates are checked by: read once a process, since it takes longer than to make a call."""
    return httpx2.create_ssl_context()


class Wire(httpx2.AsyncBaseTransport):
    """aiohttp under httpx, at half the CPU of the default. `limit` in bytes, of an answer or of one line of a file.

    No redirect is followed. Every request goes to one of `hosts`, where some are given, and never to a forbidden
    address. `proxied` requests take the proxy that the environment names.
    """

    def __init__(self, *, limit: int, redact: Redactor, hosts: Collection[str] = (), proxied: bool = False) -> None:
        self.limit, self.redact, self.hosts, self.proxied = limit, redact, hosts, proxied
        self._judge = Judge()
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises BackendError, which the packages wrap into a connection error of their own."""
        check_allowed(str(request.url), self.hosts)
        if is_forbidden(request.url.host):  # a proxy would connect to it in our place
            raise Rejected(FORBIDDEN)
        # What the environment names for the address, unless it excepts the host.
        parts = urlsplit(str(request.url))
        named = "" if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme, "")
        proxy, unused = (named, "") if self.proxied else ("", UNUSED if named else "")
        if proxy:
            await self._judge.check(request.url.host)
        current = _current.get() or Exchange()
        by_line = request.headers.pop(next(iter(BY_LINE)), None)
        with _translated(current, unused):
            answer = await self._send(request, current, proxy)
        current.left, current.status = True, answer.status
        headers = self._headers(answer)
        unpack = unpacking(answer.headers.get("content-encoding", ""))
        if by_line and answer.status == 200:
            stream = _Lines(answer, unpack, self.limit, self.redact, current)
            return httpx2.Response(answer.status, headers=headers, stream=stream, request=request)
        try:
            with _translated(current):
                current.body = await self._whole(answer, unpack, current)
        finally:
            answer.release() if answer.content.at_eof() else answer.close()
        return httpx2.Response(answer.status, headers=headers, content=current.body, request=request)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _send(self, request: httpx2.Request, current: Exchange, proxy: str) -> aiohttp.ClientResponse:
        if self._session is None:
            watch = aiohttp.TraceConfig()
            watch.on_connection_create_end.append(_has_left)
            watch.on_connection_reuseconn.append(_has_left)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=1000, ssl=_authorities(), socket_factory=guarded_socket),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Content-Type"),
                trust_env=False,  # the proxy is named by us; keys are not read from a netrc
                trace_configs=[watch],
            )
        times = request.extensions.get("timeout", {})
        connect = min(times.get("connect") or CONNECT_SECONDS, CONNECT_SECONDS)
        headers = [(name, value) for name, value in request.headers.multi_items() if name.lower() != "accept-encoding"]
        return await self._session.request(
            request.method,
            str(request.url),
            headers=[*headers, ("Accept-Encoding", "gzip, deflate")],
            data=_content(request),
            allow_redirects=False,
            proxy=proxy or None,
            timeout=aiohttp.ClientTimeout(
                total=None, connect=times.get("pool"), sock_connect=connect, sock_read=times.get("read")
            ),
            trace_request_ctx=current,
        )

    def _headers(self, answer: aiohttp.ClientResponse) -> list[tuple[str, str]]:
        """Return the headers without those that describe the packed body."""
        packed = {"content-encoding", "content-length", "transfer-encoding"}
        return [(name, self.redact(value)) for name, value in answer.headers.items() if name.lower() not in packed]

    async def _whole(self, answer: aiohttp.ClientResponse, unpack: Unpack, current: Exchange) -> bytes:
        read = bytearray()
        try:
            async for piece in _pieces(answer, unpack):
                read += piece
                if len(read) > self.limit:
                    raise TooLong(too_long(self.limit), status=answer.status, headers=dict(self._headers(answer)))
        finally:
            current.body = self.redact.in_bytes(bytes(read[: self.limit]))
        return current.body


def too_long(limit: int) -> str:
    """Return the sentence for an answer above `limit` bytes."""
    return Sentence(
        "The answer is longer than {limit} MB, which is the most that is read; it may have been paid.",
        limit=f"{limit / MEGABYTE:g}",
    )


class _Lines(httpx2.AsyncByteStream):
    """A file of lines. Of a line that is too long only the beginning is passed on, up to the limit."""

    def __init__(
        self, answer: aiohttp.ClientResponse, unpack: Unpack, limit: int, redact: Redactor, current: Exchange
    ) -> None:
        self.answer, self.unpack, self.limit, self.redact, self.exchange = answer, unpack, limit, redact, current

    async def __aiter__(self) -> AsyncIterator[bytes]:
        line, read = bytearray(), 0
        with _translated(self.exchange):
            async for piece in _pieces(self.answer, self.unpack):
                read += len(piece)
                if read > MOST_LINES * self.limit:
                    raise TooLong(too_long(MOST_LINES * self.limit))
                *whole, rest = piece.split(b"\n")
                for end in whole:
                    yield self.redact.in_bytes(bytes((line + end)[: self.limit])) + b"\n"
                    line.clear()
                line += rest[: max(0, self.limit - len(line))]
        yield self.redact.in_bytes(bytes(line))

    async def aclose(self) -> None:
        self.answer.close()


async def _pieces(answer: aiohttp.ClientResponse, unpack: Unpack) -> AsyncIterator[bytes]:
    """Yield the unpacked body piece by piece; other calls go on between them."""
    async for packed in answer.content.iter_any():
        for piece in unpack(packed):
            yield piece
            if len(piece) >= PIECE:
                await asyncio.sleep(0)


async def _has_left(session: aiohttp.ClientSession, context: Any, details: object) -> None:
    context.trace_request_ctx.left = True


def _content(request: httpx2.Request) -> Any:
    try:
        return request.content or None
    except httpx2.RequestNotRead:  # a file that is uploaded; aiohttp makes the chunks
        request.headers.pop("transfer-encoding", None)
        return request.stream


@contextmanager
def _translated(current: Exchange, hint: str = "") -> Iterator[None]:
    """Translate aiohttp's errors into ours, here and nowhere else. `hint` is added where there was no connection."""
    try:
        yield
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        message = (str(error) or type(error).__name__).rstrip(".")
        if isinstance(error, ValueError):  # an address or a header that cannot be sent
            raise Rejected(Sentence("The request could not be made: {message}.", message=message)) from error
        if not current.left and FORBIDDEN in str(error):
            raise Rejected(FORBIDDEN) from error
        if not current.left:
            raise Unreachable(Sentence("No connection: {message}.{hint}", message=message, hint=hint)) from error
        if isinstance(error, aiohttp.ClientResponseError):
            raise Unreadable(Sentence("The answer is not HTTP: {message}.", message=message)) from error
        raise Lost(
            Sentence("The connection broke before the answer was whole ({message}).", message=message)
        ) from error
