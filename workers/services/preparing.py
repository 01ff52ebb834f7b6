"""Preparing jobs: their items are made by a worker, as a request has no time for tens of thousands."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError
from django.utils import timezone

from core.messages import gettext_noop
from workers.models import Job
from workers.services.handlers import HandlerUnknown, handler_of

log = logging.getLogger(__name__)
UNPREPARED = gettext_noop("Its questions could not be made; the worker's log says why. Retry makes them again.")


def prepare_all(stop: threading.Event) -> None:
    """Make the items of all jobs that are preparing, or until `stop` is set."""
    for job in Job.objects.preparing().order_by("-priority", "id"):
        if not stop.is_set():
            prepare(job, stop)


def prepare(job: Job, stop: threading.Event) -> None:
    """Make the items of a job that is preparing. A job whose handler fails ends as failed, with a sentence; where the
    database cannot be written to it is left to be tried again."""
    try:
        handler_of(job.handler).prepare(job, stop.is_set)
    except DatabaseError:
        log.exception("Job %s could not be prepared now.", job.uid)
    except HandlerUnknown as error:
        Job.objects.filter(pk=job.pk).fail_preparation(str(error), now=timezone.now())
    except Exception:
        log.exception("The job handler %s could not prepare job %s.", job.handler, job.uid)
        Job.objects.filter(pk=job.pk).fail_preparation(UNPREPARED, now=timezone.now())
