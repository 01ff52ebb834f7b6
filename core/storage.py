"""Trouble with this installation's disk or database, in a sentence that names it."""

from django.db import connection

from core.storage_trouble import sentence_of


def trouble_of(error: BaseException) -> str | None:
    """Return the sentence, or None where `error` is another matter."""
    return sentence_of(error, place=place())


def place() -> str:
    """Return what tells the database from others: its file, or host, port and name."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return str(database["NAME"])
    port = f":{database['PORT']}" if database["PORT"] else ""
    return f"{database['HOST'] or 'localhost'}{port}/{database['NAME']}"
