"""Limits of wrong passwords, after which somebody has to wait.

An attempt is counted before its password is looked at, and taken back where it was not a wrong guess, so that attempts
at one moment get no more than their number. The counts are rows of the database: no cache that throws out what is old
forgives them. They are counted by account and by address, so that neither one name is guessed at from many addresses
nor many names from one. A browser in which the person has logged in before is counted by itself and knows nothing of
the others' mistakes: a stranger who fails on purpose keeps nobody out who has been in (the "device cookie" of OWASP's
guide to authentication).
"""

import math
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from annotation.models import LogInCount, User
from core.client_address import address_of
from core.digests import text_digest

COOKIE = "known_device"
_SALT = "annotation.log_in_limits"
_COOKIE_SECONDS = 180 * 24 * 3600
_CLEANED_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Limit:
    """`most` failures within `seconds` of the first, and no more until then."""

    key: str
    most: int
    seconds: int

    @property
    def digest(self) -> str:
        return text_digest(self.key)


def limits_of(request: HttpRequest, name: str) -> list[Limit]:
    """Return what an attempt to log in as `name` counts against: the name that the authentication backend looks up, not
    the typed one."""
    most, name = settings.LOGIN_ATTEMPTS, User.normalize_username(name).casefold()
    try:
        # the number of a browser in which this account has logged in
        whose, device = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=_COOKIE_SECONDS)
    except (signing.BadSignature, ValueError, TypeError):
        whose = device = ""
    if device and whose == name:
        return [Limit(f"device:{device}", most, 900)]
    return [Limit(f"account:{name}", most, 300), Limit(f"address:{address_of(request)}", 3 * most, 900)]


RESETS_OF_ACCOUNT, RESETS_OF_ADDRESS, RESET_SECONDS = 3, 20, 3600
"""Messages about a forgotten password that one e-mail address gets, and that one network address asks for, an hour."""


def limits_of_reset(request: HttpRequest, email: str) -> list[Limit]:
    """Return what asking for a new password for an e-mail address counts against."""
    same = unicodedata.normalize("NFKC", email).strip().casefold()
    return [
        Limit(f"reset:{same}", RESETS_OF_ACCOUNT, RESET_SECONDS),
        Limit(f"reset-address:{address_of(request)}", RESETS_OF_ADDRESS, RESET_SECONDS),
    ]


def wait_of(limits: Sequence[Limit]) -> int:
    """Return for how many more seconds no attempt is looked at, 0 where one is."""
    now = timezone.now()
    running = LogInCount.objects.of(limit.digest for limit in limits).running(now=now)
    return _wait(limits, {row.digest: row for row in running}, now)


def begin_attempt(limits: Sequence[Limit]) -> int:
    """Count an attempt and return 0, or return for how many more seconds none is looked at; that one is not counted."""
    if wait := wait_of(limits):  # most that are kept waiting write nothing and wait for nobody
        return wait
    now = timezone.now()
    with transaction.atomic():
        new_counts = [LogInCount(digest=limit.digest, attempts=0, until=now) for limit in limits]
        LogInCount.objects.bulk_create(sorted(new_counts, key=lambda row: row.digest), ignore_conflicts=True)
        counts = {
            row.digest: row for row in LogInCount.objects.of(limit.digest for limit in limits).select_for_update()
        }
        running = {digest: row for digest, row in counts.items() if row.until > now}
        if wait := _wait(limits, running, now):
            return wait
        for limit in limits:
            row = counts[limit.digest]
            if limit.digest not in running:
                row.attempts, row.until = 0, now + timedelta(seconds=limit.seconds)
            row.attempts += 1
            row.save()
    if len(running) < len(limits):
        with transaction.atomic():
            over = LogInCount.objects.over(now=now).select_for_update(skip_locked=True)
            digests = list(over.values_list("digest", flat=True)[:_CLEANED_AT_ONCE])
            LogInCount.objects.filter(digest__in=digests).delete()
    return 0


def take_back(limits: Sequence[Limit]) -> None:
    """Take back the attempt that was begun last: it was not a wrong guess."""
    counts = LogInCount.objects.of(limit.digest for limit in limits).filter(attempts__gt=0).order_by()
    counts.update(attempts=F("attempts") - 1)


def note_success(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Forget the account's failures, not the address's: whoever guesses at others may have an account. The browser is
    known from now on."""
    name = User.normalize_username(user.get_username()).casefold()
    forgiven = [limit for limit in limits_of(request, name) if not limit.key.startswith("address:")]
    forgiven.append(Limit(f"account:{name}", 0, 0))
    LogInCount.objects.of(limit.digest for limit in forgiven).order_by().delete()
    device = signing.dumps([name, secrets.token_hex(8)], salt=_SALT)
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(COOKIE, device, _COOKIE_SECONDS, httponly=True, secure=secure, samesite="Lax")


def _wait(limits: Sequence[Limit], running: Mapping[str, LogInCount], now: datetime) -> int:
    full = (row for limit in limits if (row := running.get(limit.digest)) and row.attempts >= limit.most)
    return max((math.ceil((row.until - now).total_seconds()) for row in full), default=0)
