#!/usr/bin/env python
"""Runs Credence's commands."""

import gc
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    gc.set_threshold(50_000)  # what is loaded stays: looking for garbage in it took a tenth of a command's start
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from core.storage_trouble import sentence_of

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"CommandError: {error}")
    except Exception as error:
        sentence = sentence_of(error, place=_database())
        if sentence is None:
            raise
        sys.exit(f"CommandError: {sentence}")


def _database() -> str:
    """Return what the sentence calls the database: settings may be what failed."""
    try:
        from core.storage import place

        return place()
    except Exception:
        return "The database"


if __name__ == "__main__":
    main()
