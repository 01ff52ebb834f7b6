"""What happened to this installation's disk or database, in a sentence that names it."""

from __future__ import annotations

from django.db import connection

from core.storage_trouble import sentence_of


def trouble_of(error: BaseException) -> str | None:
    """Return the sentence, or None where `error` is another matter."""
    return sentence_of(error, place=place())


def place() -> str:
    """Return what tells the database from others: its file, or host, port and name."""
    held = connection.settings_dict
    if connection.vendor == "sqlite":
        return str(held["NAME"])
    port = f":{held['PORT']}" if held["PORT"] else ""
    return f"{held['HOST'] or 'localhost'}{port}/{held['NAME']}"
