from __future__ import annotations

import gc

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
