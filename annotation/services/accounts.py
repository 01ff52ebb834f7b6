"""Accounts by user name, for imports and commands."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from django.contrib.auth.validators import UnicodeUsernameValidator

from annotation.models import User


class Names:
    """Ids by name: as it is spelt, else in any case."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.ids = dict(ids)
        self._spellings: dict[str, list[str]] = defaultdict(list)
        for name in self.ids:
            self._spellings[name.casefold()].append(name)

    def add(self, name: str, pk: int) -> None:
        self.ids[name] = pk
        self._spellings[name.casefold()].append(name)

    def find(self, told: str) -> str | None:
        """The spelling that is meant. Raises ValueError where it could be two."""
        if told in self.ids:
            return told
        name = User.normalize_username(told)
        held = self._spellings.get(name.casefold(), ())
        if len(held) > 1 and name not in held:
            raise ValueError(f"{told[:60]!r} could be {' or '.join(sorted(held))}; write the name as one of them.")
        if held:
            return name if name in held else held[0]
        return None


def checked_name(told: str) -> str:
    """The name as an account may have it. Raises ValueError."""
    name = User.normalize_username(told)
    if len(name) > 150 or name in (".", "..") or not re.fullmatch(UnicodeUsernameValidator.regex, name):
        raise ValueError(f"{told[:60]!r} is no user name; expected letters, digits and @ . + - _ only.")
    return name


class Accounts:
    """The accounts of this installation. `made` are the names of new ones."""

    def __init__(self) -> None:
        self._names = Names(dict(User.objects.accounts().values_list("username", "id")))
        self.made: list[str] = []

    def find(self, told: str) -> int | None:
        """None where the account would have to be made. Raises ValueError where nobody could be meant."""
        held = self._names.find(told)
        if held is None:
            checked_name(told)
            return None
        return self._names.ids[held]

    def make(self, told: str) -> int:
        """An account without a password."""
        name = User.normalize_username(told)
        user = User(username=name, display_name=name[:80])
        user.set_unusable_password()
        user.save()
        self._names.add(name, user.pk)
        self.made.append(name)
        return user.pk
