from __future__ import annotations

import gc
from contextlib import ExitStack

from annotation.services.very_many import without_full_collections


def test_full_collections_alone_wait_and_what_a_process_has_set_stays():
    before = gc.get_threshold()
    try:
        gc.set_threshold(54_321, before[1], before[2])
        with without_full_collections():
            young, middle, old = gc.get_threshold()
            assert (young, middle) == (54_321, before[1]) and old > 1_000_000
        assert gc.get_threshold() == (54_321, *before[1:])
    finally:
        gc.set_threshold(*before)


def test_young_objects_are_looked_at_by_the_thousand_until_the_last_that_is_within_has_left():
    before = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)
        with ExitStack() as first, ExitStack() as second:
            first.enter_context(without_full_collections())
            second.enter_context(without_full_collections())
            first.close()
            assert gc.get_threshold()[0] > 10_000
            second.close()
            assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*before)
