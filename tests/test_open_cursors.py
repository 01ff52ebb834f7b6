"""No cursor of a test is left for the transaction of another."""

from __future__ import annotations

import gc

import pytest
from django.db import connection

from annotation.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("open cursors")]
left: list = []


def test_a_reader_that_stops_early(cast):
    if connection.vendor != "postgresql":
        pytest.skip("Only PostgreSQL's server has cursors.")
    rows = User.objects.iterator(chunk_size=1)
    next(rows)
    left.append(rows)


def test_leaves_the_next_transaction_alone(cast):
    left.clear()
    gc.collect()
    assert User.objects.exists()
