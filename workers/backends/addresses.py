"""Addresses that no model answers at: link-local ones and those where clouds keep the secrets of a machine.

Loopback and private networks stay allowed, for servers of one's own. A name is judged by what it resolves to, when it is written
down and again when it is connected to: by then it may lead elsewhere.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from workers.backends.errors import Rejected

FORBIDDEN = "A link-local or metadata address is no model server."
REMEMBERED = 60.0
"""Seconds that what a name resolves to is held."""
_METADATA = ipaddress.ip_network("fd00:ec2::254/128")
_known: dict[str, tuple[float, bool]] = {}


def check_host(host: str) -> None:
    """Raises Rejected where `host` is, or resolves to, an address that is forbidden. Blocks for the name server.

    A name that does not resolve passes: it may resolve where the workers run, and there it is looked at again.
    """
    if _from_memory(host) is None:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        _remember(host, found)
    _raise_if_forbidden(host)


def guard() -> Callable[[Any], Awaitable[None]]:
    """A request hook for the HTTP clients of the packages: `check_host` for every request, without blocking."""
    lock = asyncio.Lock()  # many first requests to one host ask the name server once

    async def check(request: Any) -> None:
        host = request.url.host
        if _from_memory(host) is None:
            async with lock:
                if _from_memory(host) is None:
                    await _look_up(host)
        _raise_if_forbidden(host)

    return check


async def _look_up(host: str) -> None:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        found = []
    _remember(host, found)


def host_of(url: str) -> str:
    """The host of a URL, "" where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_forbidden(text: str) -> bool:
    """Of an address in any way of writing it: 169.254.169.254 is also 2852039166 and ::ffff:169.254.169.254."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(text))
        except (OSError, UnicodeError):
            return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_link_local or (address.version == 6 and address in _METADATA)


def _remember(host: str, found: Iterable[tuple]) -> None:
    forbidden = is_forbidden(host) or any(is_forbidden(str(one[4][0])) for one in found)
    _known[host] = (time.monotonic() + REMEMBERED, forbidden)


def _from_memory(host: str) -> bool | None:
    until, forbidden = _known.get(host, (0.0, None))
    return forbidden if until > time.monotonic() else None


def _raise_if_forbidden(host: str) -> None:
    if _known[host][1]:
        raise Rejected(FORBIDDEN)
