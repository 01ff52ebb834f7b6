"""The gold labels that good models agree against, as experts look at them again: what waits, and what they said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from annotation.models import GoldLabel, Proposition
from benchmark.domain.gold_kinds.doubt import Doubt, Doubts, doubts
from benchmark.models import DatasetSample, Entrant, SecondLook
from benchmark.services.at_once import kept_once
from benchmark.services.calibrated_panels import family_of
from benchmark.services.gold_kind_cells import Labelling, Material, material_of
from benchmark.services.leaderboards import KEPT_SECONDS
from core.digests import json_digest

Key = tuple[int, str]
"""(proposition id, dimension key)"""


@dataclass(frozen=True, slots=True)
class DoubtfulCell:
    """A doubtful gold cell: `gold` is its label in the version and now, `proposed` the one that models of the
    `families` give, of `heard` families; `credible` orders the cells. `row` counts propositions of the story from 1,
    `label` is the id of its gold label, 0 of an imported one, and `revision` that label's. `look` is the newest that an
    expert took and did not take back, in answer to this doubt or to an earlier one.
    """

    story: int
    row: int
    proposition: Proposition
    dimension: str
    gold: str
    now: str
    label: int
    revision: int
    method: str
    proposed: str
    families: tuple[str, ...]
    heard: int
    credible: float
    look: SecondLook | None

    @property
    def id(self) -> str:
        return f"{self.proposition.uid}-{self.dimension}"

    @property
    def changed(self) -> bool:
        """Return whether an expert's second look changed gold."""
        return self.look is not None and self.now != self.gold and self.look.label == self.now

    @property
    def stands(self) -> bool:
        """Return whether an expert said that gold stands, and no model has said more since."""
        return self.look is not None and self.now == self.gold and self._answered

    @property
    def _answered(self) -> bool:
        return self.look is not None and self.look.answers(self.gold, self.proposed, self.families)

    @property
    def waits(self) -> bool:
        return not (self.changed or self.stands)


@dataclass(frozen=True, slots=True)
class DoubtfulGold:
    """The doubtful cells of a version, the least credible first. `left_out` counts those whose label or proposition
    changed otherwise since it was published; `families` has the largest number of families heard in a dimension, and
    `stories` the numbers of those that all models were asked about."""

    cells: tuple[DoubtfulCell, ...]
    left_out: int
    families: int
    stories: frozenset[int]

    @property
    def waiting(self) -> list[DoubtfulCell]:
        return [cell for cell in self.cells if cell.waits]

    @property
    def looked_at(self) -> list[DoubtfulCell]:
        """The cells that an expert has looked at, the last look first."""
        return sorted((cell for cell in self.cells if not cell.waits), key=lambda cell: -(cell.look.pk))  # type: ignore[union-attr]

    def cell(self, proposition: int, dimension: str) -> DoubtfulCell | None:
        return next(
            (cell for cell in self.cells if (cell.proposition.pk, cell.dimension) == (proposition, dimension)), None
        )


def doubtful_gold(labelling: Labelling, *, closed: Collection[int] = ()) -> DoubtfulGold:
    """Return the doubtful cells of a version, without those of the `closed` stories, with what experts said of each."""
    material, doubted = material_of(labelling), doubts_of(labelling)
    cells = material.cells
    listed = [doubt for doubt in doubted.listed if cells.stories[cells.story[doubt.cell]] not in set(closed)]
    opened = _Opened(labelling, {cells.stories[cells.story[doubt.cell]] for doubt in listed})
    made = [opened.cell(material, doubt) for doubt in listed]
    kept = tuple(cell for cell in made if cell is not None and (cell.now == cell.gold or cell.changed))
    return DoubtfulGold(kept, len(made) - len(kept), max(doubted.families, default=0), frozenset(cells.stories))


def doubts_of(labelling: Labelling) -> Doubts:
    """Return the doubts of a version, kept for a while."""
    families = families_of(labelling)
    asked = json_digest(sorted(families.items()))

    def compute() -> Doubts:
        material = material_of(labelling)
        return doubts(material.cells, material.predicted, families)

    answers = sum(len(entrant.numbers) for entrant in labelling.entrants)
    return kept_once("doubtful-gold", f"{labelling.digest}:{asked}", compute, answers=answers, seconds=KEPT_SECONDS)


def families_of(labelling: Labelling) -> dict[str, str]:
    """Return the family of each model by its name, the name itself where none can be told; baselines have none."""
    models = {
        entrant.entrant: entrant.name
        for entrant in labelling.entrants
        if entrant.kind == "model" and entrant.entrant is not None
    }
    rows = Entrant.objects.filter(pk__in=list(models)).select_related("endpoint")
    return {models[row.pk]: family_of(row.endpoint) or models[row.pk] for row in rows}


class _Opened:
    """The present gold of the stories of a version, and the looks at it, in four statements."""

    def __init__(self, labelling: Labelling, numbers: Iterable[int]) -> None:
        rows = DatasetSample.objects.filter(dataset=labelling.dataset, number__in=set(numbers), story__isnull=False)
        self.schema = labelling.dataset.schema
        self.samples = {sample.number: sample for sample in rows.filter(story__in=_in_use(labelling))}
        stories = {sample.story_id for sample in self.samples.values()}
        live = Proposition.objects.live_gold().filter(table__story__in=stories)
        self.tables: dict[int, list[Proposition]] = {}
        for row in live.select_related("table__story").order_by("position"):
            self.tables.setdefault(row.table.story_id, []).append(row)
        propositions = [row.pk for table in self.tables.values() for row in table]
        gold = GoldLabel.objects.filter(proposition__in=propositions).only(
            "proposition_id", "dimension", "label", "revision"
        )
        self.gold = {(label.proposition_id, label.dimension): label for label in gold}
        looks = SecondLook.objects.standing().filter(proposition__in=propositions).select_related("by")
        self.looks: Mapping[Key, SecondLook] = {(look.proposition_id, look.dimension): look for look in looks}

    def cell(self, material: Material, doubt: Doubt) -> DoubtfulCell | None:
        """Return the cell of a doubt; None where its proposition is no longer as it was published."""
        cells, at = material.cells, doubt.cell
        number, row, dimension = cells.stories[cells.story[at]], int(cells.row[at]), int(cells.dimension[at])
        proposition = self._proposition(number, row)
        if proposition is None:
            return None
        key = self.schema.keys[dimension]
        gold_label = self.gold.get((proposition.pk, key))
        return DoubtfulCell(
            story=number, row=row + 1, proposition=proposition, dimension=key,
            gold=material.label_of(dimension, int(cells.gold[at])), now=_label_now(proposition, key, gold_label),
            label=gold_label.pk if gold_label else 0, revision=gold_label.revision if gold_label else 0,
            method=str(cells.method[at]), proposed=material.label_of(dimension, doubt.label), families=doubt.against,
            heard=doubt.heard, credible=doubt.credible, look=self.looks.get((proposition.pk, key)),
        )  # fmt: skip

    def _proposition(self, number: int, row: int) -> Proposition | None:
        """Return the proposition of a published row: where it stood, or else the first that says the same."""
        sample = self.samples.get(number)
        if sample is None:
            return None
        published, table = sample.beliefs[row], self.tables.get(sample.story_id or 0, [])
        same = [
            proposition
            for proposition in table
            if (proposition.actor, proposition.belief) == (published["actor"], published["belief"])
        ]
        in_place = [proposition for proposition in table[row : row + 1] if proposition in same]
        return next(iter([*in_place, *same]), None)


def _in_use(labelling: Labelling):
    return labelling.dataset.project.stories.in_use().order_by().values("pk")


def _label_now(proposition: Proposition, dimension: str, gold_label: GoldLabel | None) -> str:
    return gold_label.label if gold_label else (proposition.imported_labels or {}).get(dimension, "")
