"""The objects of OpenToM's files, checked."""

from __future__ import annotations

from core.incoming.shapes import Filled, Open


class PlotRecord(Open):
    """Plot of who moves what from where to where, and who may have seen it: read by name, since the released code takes
    them in another order."""

    mover: Filled
    observer: Filled
    eoi: Filled
    original_place: Filled
    move_to_place: Filled


class NarrativeRecord(Open):
    """A narrative of `meta_data.json`."""

    plot_info: PlotRecord
    personality: Filled
    observed: bool
    narrative: Filled


class LongNarrativeRecord(NarrativeRecord):
    """A narrative of `meta_data_long.json`."""

    long_narrative: Filled


class QuestionRecord(Open):
    """A question of any other file."""

    question: Filled
    answer: Filled
    type: Filled
