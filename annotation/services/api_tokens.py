"""Tokens of the API: made, found, taken away."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from annotation.models import ApiToken, Scope, User
from annotation.models.api_token import seal_of
from core.digests import text_digest
from core.reads import Read

USED_EVERY = timedelta(minutes=10)
"""The exactness of `used_at`: a write for every request would cost more than it tells."""


def make_token(
    *, by: User, name: str, scope: Scope, days: int | None, secret: str = "", now: datetime
) -> tuple[ApiToken, str]:
    """Return a new token and its secret (drawn, where none is given), which nobody sees again; it ends after `days`,
    where given."""
    secret = secret or secrets.token_hex(20)
    token = ApiToken.objects.create(
        user=by,
        name=name,
        scope=scope,
        digest=text_digest(secret),
        beginning=secret[:6],
        seal=seal_of(by.password),
        created_at=now,
        expires_at=now + timedelta(days=days) if days else None,
    )
    return token, secret


def find_token(*, secret: str, now: datetime) -> ApiToken | None:
    """Return the token with its user; None where it is unknown, has expired, or ended with a change of the password."""
    tokens = _BY_DIGEST(digest=text_digest(secret), now=now)  # one at most
    if not tokens or not tokens[0].is_sealed or not tokens[0].user.is_active:
        return None
    token = tokens[0]
    if token.used_at is None or now - token.used_at > USED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(used_at=now)
    return token


_BY_DIGEST = Read[ApiToken](
    lambda given: ApiToken.objects.usable(now=given.now).filter(digest=given.digest).select_related("user").order_by()
)


def end_token(*, by: User, pk: int) -> None:
    by.api_tokens.filter(pk=pk).delete()
