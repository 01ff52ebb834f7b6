"""The proxy that a worker's environment names (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).

A proxy looks names up and connects in the worker's place, so nobody here can judge the address that it ends at. It is
used only where the site says that it may be, and what a name leads to is judged as far as it is known here.
"""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from core.messages import gettext_noop
from workers.providers.addresses import check_host

JUDGED_SECONDS = 60.0
"""Seconds for which a judged name is not looked up again."""
UNUSED = gettext_noop(" The proxy that the worker's environment names is not used (ENDPOINT_PROXY).")


def proxy_of(url: str) -> str:
    """The address of the proxy for `url`, "" where the environment names none or excepts the host."""
    parts = urlsplit(url)
    return "" if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme, "")


class Judge:
    """Looks up names that are handed to a proxy, each once in JUDGED_SECONDS however many calls go there."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._looking_up = asyncio.Lock()

    async def check(self, host: str) -> None:
        """Raise Rejected where `host` is, or resolves here to, a forbidden address. A name that does not resolve here
        passes."""
        async with self._looking_up:
            if self._until.get(host, 0.0) < time.monotonic():
                await asyncio.to_thread(check_host, host)
                self._until[host] = time.monotonic() + JUDGED_SECONDS
