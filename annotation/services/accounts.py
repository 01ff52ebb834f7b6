"""Accounts by user name, for imports and commands."""

from __future__ import annotations

import re
from collections import defaultdict

from django.contrib.auth.validators import UnicodeUsernameValidator

from annotation.models import User


class Accounts:
    """Everybody's id by user name: as it is spelt, else in any case. `made` are the names of new accounts."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = dict(User.objects.values_list("username", "id"))
        self.spellings: dict[str, list[str]] = defaultdict(list)
        for name in self.ids:
            self.spellings[name.casefold()].append(name)
        self.made: list[str] = []

    def find(self, told: str) -> int | None:
        """None where the account would have to be made. Raises ValueError where nobody could be meant."""
        if told in self.ids:
            return self.ids[told]
        name = User.normalize_username(told)
        held = self.spellings.get(name.casefold(), ())
        if len(held) > 1 and name not in held:
            raise ValueError(f"{told[:60]!r} could be {' or '.join(sorted(held))}; write the name as one of them.")
        if held:
            return self.ids[name if name in held else held[0]]
        if len(name) > 150 or name in (".", "..") or not re.fullmatch(UnicodeUsernameValidator.regex, name):
            raise ValueError(f"{told[:60]!r} is no user name; expected letters, digits and @ . + - _ only.")
        return None

    def make(self, told: str) -> int:
        """An account without a password."""
        name = User.normalize_username(told)
        user = User(username=name, display_name=name[:80])
        user.set_unusable_password()
        user.save()
        self.ids[name] = user.pk
        self.spellings[name.casefold()].append(name)
        self.made.append(name)
        return user.pk
