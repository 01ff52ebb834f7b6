"""The gold labels that good models agree against, as experts look at them again: what waits, and what they said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from annotation.domain.schema import Schema
from annotation.models import GoldLabel, Proposition
from benchmark.domain.doubtful_gold import Doubt, Doubts, doubts
from benchmark.domain.tables import Cells, Column, Table
from benchmark.models import DatasetSample, Entrant, SecondLook
from benchmark.services.gold_kinds import Labelling, Material, material_of
from core.kept import kept_as
from core.messages import gettext_noop
from workers.domain.families import family_named

Key = tuple[int, str]
"""(proposition id, dimension key)"""


@dataclass(frozen=True, slots=True)
class DoubtfulCell:
    """A doubtful gold cell."""

    story: int
    row: int
    """The proposition within its story, from 1."""
    proposition: Proposition
    dimension: str
    gold: str
    """The label in the published version."""
    now: str
    label: int
    """The id of the gold label, 0 for an imported one."""
    revision: int
    proposed: str
    """The label that models of the `families` give."""
    families: tuple[str, ...]
    heard: int
    """The number of families heard."""
    look: SecondLook | None
    """The newest look that was not taken back, in answer to this doubt or to an earlier one."""

    @property
    def id(self) -> str:
        return f"{self.proposition.uid}-{self.dimension}"

    @property
    def changed(self) -> bool:
        """Return whether an expert's second look changed gold."""
        return self.look is not None and self.now != self.gold and self.look.label == self.now

    @property
    def stands(self) -> bool:
        """Return whether an expert confirmed gold, and no model has said more since."""
        look = self.look
        return look is not None and self.now == self.gold and look.answers(self.gold, self.proposed, self.families)

    @property
    def waits(self) -> bool:
        return not (self.changed or self.stands)

    @property
    def state(self) -> str:
        if self.waits:
            return gettext_noop("To look at")
        return gettext_noop("Gold stands") if self.stands else gettext_noop("Gold changed")


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

    def compute() -> Doubts:
        material = material_of(labelling)
        return doubts(material.cells, material.predicted, families)

    return kept_as("doubtful-gold", [labelling.versions, sorted(families.items())], compute)


def families_of(labelling: Labelling) -> dict[str, str]:
    """Return the family of each model by its name, the name itself where none can be told; baselines have none."""
    models = {
        entrant.entrant: entrant.name
        for entrant in labelling.entrants
        if entrant.kind == "model" and entrant.entrant is not None
    }
    rows = Entrant.objects.filter(pk__in=list(models)).select_related("endpoint")
    return {models[row.pk]: family_named(row.endpoint.model, row.endpoint.family) or models[row.pk] for row in rows}


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
            proposed=material.label_of(dimension, doubt.label), families=doubt.against,
            heard=doubt.heard, look=self.looks.get((proposition.pk, key)),
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


BLIND = gettext_noop(
    "Labels stand in a row once an expert has looked at it: until then nobody is told what models said."
)
SIMULATED = gettext_noop(
    "A doubt is a reason to look again, not yet an error. In simulations with 2 to 10 % of gold wrong, 94 to 100 % of "
    "the first cells listed are wrong where models err independently of one another, and 32 to 66 % where all give the "
    "same wrong label in 5 % of cells. Models that learned from the same texts share more errors: where they do so in "
    "10 to 20 % of cells, 64 to 95 % of all cells listed are right gold, and 48 to 94 % of the first."
)
PUBLISHED = gettext_noop(
    "What an expert changes is in the next version that is published: published ones, and their scores, stay."
)


def doubtful_table(gold: DoubtfulGold, schema: Schema) -> Table:
    """Return a row for each doubtful cell, the least credible first."""
    heads = {
        "place": gettext_noop("Place"),
        "story": gettext_noop("Story"),
        "row": gettext_noop("Row"),
        "actor": gettext_noop("Actor"),
        "belief": gettext_noop("Belief"),
        "dimension": gettext_noop("Dimension"),
        "against": gettext_noop("Families against gold"),
        "heard": gettext_noop("Families heard"),
        "state": gettext_noop("State"),
        "gold": gettext_noop("Gold, published"),
        "proposed": gettext_noop("Models"),
        "label": gettext_noop("Second look"),
        "by": gettext_noop("Expert"),
        "at": gettext_noop("When"),
        "reason": gettext_noop("Reason"),
    }
    counts = {"place", "story", "row", "against", "heard"}
    return Table(
        title=gettext_noop("Doubtful gold"),
        columns=[
            Column(key=key, header=head, kind="count" if key in counts else "text") for key, head in heads.items()
        ],
        rows=[_cells(rank, cell, schema) for rank, cell in enumerate(gold.cells, 1)],
        notes=[SIMULATED, BLIND, PUBLISHED],
    )


def _cells(rank: int, cell: DoubtfulCell, schema: Schema) -> Cells:
    look_cells: Cells = dict.fromkeys(("gold", "proposed", "label", "by", "at", "reason"), "")
    if cell.look and not cell.waits:
        look = cell.look
        look_cells = {
            "gold": cell.gold, "proposed": cell.proposed, "label": look.label, "by": look.by.shown_name,
            "at": look.at.isoformat(timespec="minutes"), "reason": look.reason,
        }  # fmt: skip
    return {
        "place": rank, "story": cell.story, "row": cell.row, "actor": cell.proposition.actor,
        "belief": cell.proposition.belief, "dimension": schema[cell.dimension].name,
        "against": len(cell.families), "heard": cell.heard, "state": cell.state, **look_cells,
    }  # fmt: skip
