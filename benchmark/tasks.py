"""What a worker does besides calls: the figures of runs that have ended."""

from __future__ import annotations

from celery import shared_task
from django.db import connections

from benchmark.models import Run
from benchmark.services.boards import board
from benchmark.services.documents import document_of
from benchmark.services.reports import REPORTS


@shared_task(name="benchmark.report", ignore_result=True)
def compute_report(job: int) -> None:
    """May run twice: the figures of the same items are the same."""
    try:
        run = Run.objects.filter(job=job).first()
        if run is not None:
            document_of(run)  # with the comparison of the run's models, and then of all: nobody is to wait for either
            board(run.dataset, run.form, None)
    finally:
        connections.close_all()


REPORTS.connect(lambda job: compute_report.apply_async([job], queue="calls", retry=False, expires=600))
