"""A process is killed in the middle of publishing gold: no version is left, or a whole one, and publishing goes on."""

import os
import signal
import threading

import pytest
from django.db import connections

from annotation.models import AuditEvent, Project
from benchmark.models import Dataset, DatasetSample
from benchmark.services import datasets
from benchmark.services.datasets import publish_version
from benchmark.services.gold_samples import present_digest
from tests.benchmark.settled import settle

pytestmark = pytest.mark.django_db(transaction=True)

STORIES = 3
PLACES = ("the version is made", "the samples are made", "it is logged", "it is committed")


def killed_once(place: str, project: Project) -> None:
    """Publish in a process of its own that is killed as soon as it got to that place."""
    connections.close_all()  # a connection is one process's
    told, write = os.pipe()
    process = os.fork()
    if process == 0:
        _publish_until(place, project, write)
    os.close(write)
    with os.fdopen(told) as pipe:
        assert pipe.readline() == f"{place}\n"
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def _publish_until(place: str, project: Project, write: int) -> None:
    """Never returns: at the place it waits to be killed."""

    def stop_after(owner, name: str, at: str) -> None:
        do = getattr(owner, name)

        def then_wait(*args, **kwargs):
            result = do(*args, **kwargs)
            if at == place:
                os.write(write, f"{place}\n".encode())
                threading.Event().wait()
            return result

        setattr(owner, name, then_wait)

    stop_after(Dataset.objects, "create", PLACES[0])
    stop_after(DatasetSample.objects, "bulk_create", PLACES[1])
    stop_after(datasets.audit, "record", PLACES[2])
    publish_version(by=None, project=project)
    os.write(write, f"{PLACES[3]}\n".encode())
    threading.Event().wait()


@pytest.mark.parametrize("place", PLACES)
def test_a_version_is_whole_or_not_there_at_all(cast, make_story, place):
    for number in range(1, STORIES + 1):
        settle(make_story(number))
    killed_once(place, cast.project)
    whole = [(1, present_digest(cast.project), STORIES)]
    committed = place == PLACES[3]

    def versions() -> list[tuple[int, str, int]]:
        return [(one.version, one.digest, one.samples.count()) for one in Dataset.objects.order_by("version")]

    def logged() -> int:
        return AuditEvent.objects.filter(action="dataset.published").count()

    assert versions() == (whole if committed else [])
    assert DatasetSample.objects.count() == STORIES * committed
    assert logged() == committed
    dataset, is_new = publish_version(by=None, project=cast.project)
    assert (dataset.version, is_new) == (1, not committed)
    assert versions() == whole and logged() == 1
