"""How many wrong passwords there may be before somebody has to wait.

They are counted by account and by address, so that neither one name is guessed at from many addresses nor many names from one. A
browser in which the person has logged in before is counted by itself and knows nothing of the others' mistakes: a stranger who fails
on purpose keeps nobody out who has been in (the "device cookie" of OWASP's guide to authentication).
"""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from rest_framework.throttling import BaseThrottle

from annotation.models import User

COOKIE = "known_device"
_SALT = "annotation.log_in_limits"
_COOKIE_SECONDS = 180 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Limit:
    """`most` failures within `seconds` of the first, and no more until then."""

    key: str
    most: int
    seconds: int


def limits_of(request: HttpRequest, name: str) -> list[Limit]:
    """Return what an attempt to log in as `name` counts against."""
    most, name = settings.LOGIN_ATTEMPTS, _same(name)
    if device := _device(request, name):
        return [Limit(f"device:{device}", most, 900)]
    return [Limit(f"account:{name}", most, 300), Limit(f"address:{_address(request)}", 3 * most, 900)]


def wait_of(limits: Sequence[Limit]) -> int:
    """Return for how many more seconds no attempt is looked at, 0 where one is."""
    now = time.time()
    return max(
        (round(until - now) + 1 for count, until, limit in map(_count, limits) if count >= limit.most), default=0
    )


def note_failure(limits: Sequence[Limit]) -> None:
    now = time.time()
    for limit in limits:
        count, until, _ = _count(limit)
        until = until if count else now + limit.seconds
        cache.set(_key(limit), (count + 1, until), max(1, until - now))


def note_success(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Forget the account's failures, not the address's: whoever guesses at others may have an account. The browser is known from now on."""
    name = _same(user.get_username())
    cache.delete_many([_key(one) for one in limits_of(request, name) if not one.key.startswith("address:")])
    cache.delete(_key(Limit(f"account:{name}", 0, 0)))
    told = signing.dumps([name, hashlib.sha256(str(time.time_ns()).encode()).hexdigest()[:16]], salt=_SALT)
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(COOKIE, told, _COOKIE_SECONDS, httponly=True, secure=secure, samesite="Lax")


def _same(name: str) -> str:
    return User.normalize_username(name).casefold()


def _device(request: HttpRequest, name: str) -> str:
    """The number of a browser in which this account has logged in, empty for any other."""
    try:
        whose, number = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=_COOKIE_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return number if whose == name else ""


def _address(request: HttpRequest) -> str:
    """The client's address as a trusted proxy tells it; of IPv6 the network, which is one household's."""
    told = BaseThrottle().get_ident(request)
    try:
        address = ipaddress.ip_address(told)
    except ValueError:
        return told
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else told


def _count(limit: Limit) -> tuple[int, float, Limit]:
    count, until = cache.get(_key(limit), (0, 0.0))
    return (count, until, limit) if until > time.time() else (0, 0.0, limit)


def _key(limit: Limit) -> str:
    return f"log-in:{hashlib.sha256(limit.key.encode()).hexdigest()}"
