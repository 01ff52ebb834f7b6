"""Background tasks besides calls: computing the figures of finished runs, and asking anchors that are due."""

from __future__ import annotations

from celery import shared_task
from django.db import connections

from benchmark.models import Run
from benchmark.services.anchor_charts import read_ended
from benchmark.services.anchors import ask_due
from benchmark.services.reports import REPORTS
from benchmark.services.warm import warm
from core.database_clock import database_time


@shared_task(name="benchmark.report", ignore_result=True)
def compute_report(job: int) -> None:
    """Compute the report of a job's run. May run twice: the figures of the same items are the same."""
    try:
        run = Run.objects.filter(job=job).first()
        if run is not None:
            warm(run)
    finally:
        connections.close_all()


@shared_task(name="benchmark.ask_anchors", ignore_result=True)
def ask_anchors() -> None:
    """Begin the repeats of watches that are due, and read those that have ended. May run twice at once."""
    try:
        ask_due(now=database_time())
        read_ended(now=database_time())
    finally:
        connections.close_all()


REPORTS.connect(lambda job: compute_report.apply_async([job], queue="calls", retry=False, expires=600))
