"""Accounts by user name, for imports and commands."""

import re
import secrets
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext

from annotation.models import ApiToken, Scope, User
from annotation.models.user import seal_of
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


class Names:
    """Ids by name: as it is spelt, else in any case."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.ids = dict(ids)
        self._spellings: dict[str, list[str]] = defaultdict(list)
        for name in self.ids:
            self._spellings[name.casefold()].append(name)

    def find(self, name: str) -> str | None:
        """Return the spelling of a stored name that `name` means, None where there is none. Raises ValueError where it
        could be two."""
        if name in self.ids:
            return name
        normalised = User.normalize_username(name)
        spellings = self._spellings.get(normalised.casefold(), ())
        if len(spellings) > 1 and normalised not in spellings:
            raise ValueError(
                gettext("{normalised!r} could be {spellings}; write the name as one of them.").format(
                    normalised=normalised[:60], spellings=" or ".join(sorted(spellings))
                )
            )
        if spellings:
            return normalised if normalised in spellings else spellings[0]
        return None


def checked_name(raw: str) -> str:
    """Return the name as an account may have it. Raises ValueError."""
    name = User.normalize_username(raw)
    if len(name) > 150 or name in (".", "..") or not re.fullmatch(UnicodeUsernameValidator.regex, name):
        raise ValueError(
            gettext("{raw!r} is not a user name; expected letters, digits and @ . + - _ only.").format(raw=raw[:60])
        )
    return name
