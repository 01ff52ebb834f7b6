"""The cells behind a figure on a kind of gold, to read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from annotation.domain.anchoring import FEWEST_BLIND_VOTES
from benchmark.domain.gold_kinds.cells import NOTHING, Kind, right
from benchmark.models import DatasetSample, RunItem
from benchmark.services.gold_kind_cells import Labelling, Material, material_of
from benchmark.services.gold_kinds import OVERALL
from benchmark.suites.registry import group_named
from core.messages import gettext_noop

EVERY, WRONG, MOVED, OVERRULED, UNDECIDED = "every", "wrong", "moved", "overruled", "undecided"
WHICH = {
    EVERY: gettext_noop("All cells"),
    WRONG: gettext_noop("Where the model is not right"),
    MOVED: gettext_noop("Where the pre-filled label was changed"),
    OVERRULED: gettext_noop("Where gold is not the majority"),
    UNDECIDED: gettext_noop("Where votes have no majority"),
}


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell: its gold of the kind that is looked at, how it was settled, what was suggested, what most votes say,
    and what the model said; `item` is the run item with its answer."""

    story: int
    actor: str
    belief: str
    dimension: str
    gold: str
    method: str
    suggested: str
    majority: str
    predicted: str
    right: bool | None
    run: str
    item: int | None


class CellRows:
    """The cells of a choice, of which a page is read at a time."""

    def __init__(self, labelling: Labelling, material: Material, model: str, gold: np.ndarray, at: np.ndarray) -> None:
        self.labelling, self.material, self.model = labelling, material, model
        self.gold, self.at, self.majority = gold, at, material.cells.majority()

    def __len__(self) -> int:
        return len(self.at)

    def __getitem__(self, part: slice) -> list[int]:
        return [int(at) for at in self.at[part]]

    def opened(self, places: Iterable[int]) -> list[CellRow]:
        """Return these cells with their texts."""
        places, cells = list(places), self.material.cells
        numbers = {cells.stories[cells.story[at]] for at in places}
        samples = {
            sample.number: sample
            for sample in DatasetSample.objects.filter(dataset=self.labelling.dataset, number__in=numbers)
        }
        entrant = next((entrant for entrant in self.labelling.entrants if entrant.name == self.model), None)
        items: dict[int, int] = {}
        if entrant:
            step = group_named(self.labelling.suite.gold.people).scored
            asked = RunItem.objects.filter(
                entrant=entrant.entrant, step=step, repetition=0, sample__in=samples.values()
            )
            items = dict(asked.values_list("sample__number", "pk"))
        return [self._row(at, samples, items, entrant.run if entrant else "") for at in places]

    def _row(self, at: int, samples: dict[int, DatasetSample], items: dict[int, int], run: str) -> CellRow:
        cells, label_text = self.material.cells, self.material.label_of
        number, dimension = cells.stories[cells.story[at]], int(cells.dimension[at])
        belief = samples[number].beliefs[int(cells.row[at])]
        predicted = self.material.predicted[self.model][0, at] if self.model else NOTHING
        return CellRow(
            number, belief["actor"], belief["belief"], cells.dimensions[dimension],
            label_text(dimension, int(self.gold[at])), str(cells.method[at]),
            label_text(dimension, int(cells.suggested[at])), label_text(dimension, int(self.majority[at])),
            label_text(dimension, int(predicted)), None if predicted == NOTHING else bool(predicted == self.gold[at]),
            run, items.get(number),
        )  # fmt: skip


def rows_of(
    labelling: Labelling, *, kind: Kind, dimension: int, model: str, show: str, closed: Collection[int]
) -> CellRows:
    """Return the cells of a kind of gold and a dimension, `model`'s wrong ones or those that moved alone where `show`
    says so; none of the `closed` stories."""
    material = material_of(labelling)
    cells = material.cells
    gold = cells.by_kind()[kind]
    keep = (gold >= 0) & cells.in_dimension(None if dimension == OVERALL else dimension)
    keep &= ~np.isin(np.array(cells.stories)[cells.story], list(closed))
    if show == WRONG and model:
        keep &= ~(right(material.predicted[model], gold) == 1)
    if show == MOVED:
        keep &= (cells.suggested != NOTHING) & (cells.suggested != gold)
    if show == OVERRULED:
        majority = cells.majority()
        keep &= (majority != NOTHING) & (majority != gold)
    if show == UNDECIDED:
        keep &= ((cells.votes != NOTHING).sum(axis=1) >= FEWEST_BLIND_VOTES) & (cells.majority() == NOTHING)
    return CellRows(labelling, material, model, gold, np.flatnonzero(keep))
