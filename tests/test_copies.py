"""What is made once is copied from then on, also where the database's triggers write rows when others are deleted."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test import TransactionTestCase

from annotation.models import ChangedTable, Proposition
from annotation.services import counts
from tests import copies
from tests.cast import new_cast, new_story


def _stories() -> list[int]:
    """One that is counted, so without marks, and one that is not."""
    cast = new_cast()
    stories = [new_story(cast)]
    counts.refresh(cast.project)
    stories.append(new_story(cast, 2))
    Proposition.objects.filter(table__story=stories[1]).update(imported_labels={"order": "0"})
    return [story.pk for story in stories]


@pytest.mark.django_db(transaction=True)
def test_what_is_made_once_is_copied_to_the_last_row(monkeypatch, tmp_path):
    monkeypatch.setattr(copies, "_folders", [tmp_path])
    found = []
    for make in (_stories, pytest.fail, pytest.fail):
        monkeypatch.setattr(copies, "_copies", {})  # as in another process
        found.append((copies.copied("stories", make), copies._rows()))
        copies.empty_what_is_filled(TransactionTestCase())
        assert copies._rows() == {}
    assert found[1] == found[0] == found[2] and {*copies.MARKS} & found[0][1].keys()


@pytest.mark.django_db(transaction=True)
def test_triggers_work_again_after_a_copy(monkeypatch):
    monkeypatch.setattr(copies, "_folders", [])
    monkeypatch.setattr(copies, "_copies", {})
    assert connection.vendor in ("sqlite", "postgresql"), "where each copies in a manner of its own"
    copies.copied("stories", _stories)
    copies.empty_what_is_filled(TransactionTestCase())
    with transaction.atomic():
        counted, _ = copies.copied("stories", pytest.fail)
        marked = ChangedTable.objects.count()
        Proposition.objects.filter(table__story=counted).update(imported_labels={"order": "1"})
        assert ChangedTable.objects.count() > marked
