"""Background task besides calls: computing the figures of finished runs."""

from celery import shared_task
from django.db import connections

from benchmark.models import Run
from benchmark.services.reports import REPORTS
from benchmark.services.warm import warm


@shared_task(name="benchmark.report", ignore_result=True)
def compute_report(job: int) -> None:
    """Compute the report of a job's run. May run twice: the figures of the same items are the same."""
    try:
        run = Run.objects.filter(job=job).first()
        if run is not None:
            warm(run)
    finally:
        connections.close_all()


REPORTS.connect(lambda job: compute_report.apply_async([job], queue="calls", retry=False, expires=600))
