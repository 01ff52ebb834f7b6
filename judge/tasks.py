"""Background task: asking the anchors of watches that are due."""

from celery import shared_task
from django.db import connections

from core.database_clock import database_time
from judge.services.watch_reports import read_ended
from judge.services.watches import ask_due


@shared_task(name="judge.ask_anchors", ignore_result=True)
def ask_anchors() -> None:
    """Begin the repeats of watches that are due, and read those that have ended. May run twice at once."""
    try:
        ask_due(now=database_time())
        read_ended(now=database_time())
    finally:
        connections.close_all()
