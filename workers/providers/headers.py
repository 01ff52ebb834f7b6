"""Response headers that matter for rate control, and the time that a provider asks to wait."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_KEPT = ("retry-after", "retry-after-ms", "x-request-id", "request-id")
"""Headers that are kept of every provider."""
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class RateHeaders:
    """The headers in which a provider says how much it may be asked, their names in lower case.

    `prefix` begins all of them. `limit`, `remaining` and `reset` are the whole names of those that count requests: how
    many a minute, how many are left, and when the count begins anew.
    """

    prefix: str
    limit: str
    remaining: str
    reset: str

    def request_limits(self, headers: Mapping[str, str]) -> RequestLimits:
        """Return (requests a minute, requests left, seconds until the count resets), each None where the provider does
        not say. Names of `headers` are in lower case."""
        if self.limit not in headers:
            return NO_LIMITS
        remaining, reset = headers.get(self.remaining), headers.get(self.reset)
        return _number(headers[self.limit]), _number(remaining), seconds(reset)


RequestLimits = tuple[float | None, float | None, float | None]
NO_LIMITS: RequestLimits = (None, None, None)


def kept(headers: Mapping[str, str], rate: RateHeaders | None) -> dict[str, str]:
    """Return the headers that matter, in lower case: those of every provider, and the `rate` ones of this one."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in lower.items() if name in _KEPT or (rate and name.startswith(rate.prefix))}


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds to wait by retry-after-ms, or retry-after in seconds or as a date; None if absent."""
    relevant = kept(headers, None)
    try:
        if "retry-after-ms" in relevant:
            return max(0.0, float(relevant["retry-after-ms"]) / 1000)
        if "retry-after" not in relevant:
            return None
        return max(0.0, float(relevant["retry-after"]))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(relevant["retry-after"]) - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError, KeyError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and math.isfinite(number) else None


def seconds(text: str | None, *, now: datetime | None = None) -> float | None:
    """ "1m30s", "20ms", "12" or an ISO time, as seconds from now."""
    if not text:
        return None
    if parts := _DURATION.findall(text):
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if (number := _number(text)) is not None:
        return max(0.0, number)
    try:
        return max(0.0, (datetime.fromisoformat(text) - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError):
        return None
