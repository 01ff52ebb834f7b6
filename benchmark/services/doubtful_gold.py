"""The gold labels that good models agree against, and the second looks of experts at them."""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotation.domain.schema import Schema
from annotation.models import GoldLabel, Proposition, User
from annotation.services.adjudication import (
    AdjudicationRefused,
    DecidedMeanwhile,
    adjudicate,
    check_claim,
    check_independence,
    check_values,
    lock_propositions,
    undo_decision,
)
from benchmark.domain.doubtful_gold import Doubt, doubts
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
    """The doubtful cells of a version, the least credible first."""

    cells: tuple[DoubtfulCell, ...]
    left_out: int
    """The number of cells whose label or proposition changed otherwise since the version was published."""
    families: int
    """The largest number of families heard in a dimension."""
    stories: frozenset[int]
    """The numbers of the stories that all models were asked about."""

    @property
    def waiting(self) -> list[DoubtfulCell]:
        return [cell for cell in self.cells if cell.waits]

    @property
    def looked_at(self) -> list[DoubtfulCell]:
        """The cells that an expert has looked at, the last look first."""
        return sorted((cell for cell in self.cells if not cell.waits), key=lambda cell: -(cell.look.pk))  # type: ignore[union-attr]

    def named(self, proposition: str, dimension: str) -> DoubtfulCell:
        """Return the cell of a proposition's uid. Raises AdjudicationRefused if it is not doubtful."""
        for cell in self.cells:
            if (cell.proposition.uid, cell.dimension) == (proposition, dimension):
                return cell
        raise AdjudicationRefused(gettext("This cell is not doubtful, or its gold changed since it was published."))


def doubtful_gold(labelling: Labelling, *, closed: Set[int] = frozenset()) -> DoubtfulGold:
    """Return the doubtful cells of a version, without those of the `closed` stories, with what experts said of each."""
    models = {
        entrant.entrant: entrant.name
        for entrant in labelling.entrants
        if entrant.kind == "model" and entrant.entrant is not None
    }
    rows = Entrant.objects.filter(pk__in=list(models)).select_related("endpoint")
    # a model of no known family is one of its own
    families = {models[row.pk]: family_named(row.endpoint.model, row.endpoint.family) or models[row.pk] for row in rows}
    material = material_of(labelling)
    doubted, heard, _ = kept_as(
        "doubtful-gold",
        [labelling.versions, sorted(families.items())],
        lambda: doubts(material.cells, material.predicted, families),
    )
    stories = material.cells.stories
    numbered = [(stories[material.cells.story[doubt.cell]], doubt) for doubt in doubted]
    listed = [(number, doubt) for number, doubt in numbered if number not in closed]
    present = _present(labelling, {number for number, _ in listed})
    made = [_cell(material, labelling.dataset.schema, number, doubt, *present) for number, doubt in listed]
    kept = tuple(cell for cell in made if cell is not None and (cell.now == cell.gold or cell.changed))
    return DoubtfulGold(kept, len(made) - len(kept), max(heard, default=0), frozenset(stories))


Tables = Mapping[int, tuple[DatasetSample, list[Proposition]]]
"""The sample and the present propositions of each story, by its number."""


def _present(
    labelling: Labelling, numbers: Collection[int]
) -> tuple[Tables, Mapping[Key, GoldLabel], Mapping[Key, SecondLook]]:
    """Return the present tables, gold labels and standing looks of the stories of a version that are in use."""
    in_use = labelling.dataset.project.stories.in_use().order_by().values("pk")
    samples = list(DatasetSample.objects.filter(dataset=labelling.dataset, number__in=numbers, story__in=in_use))
    live = Proposition.objects.live_gold().filter(table__story__in=[sample.story_id for sample in samples])
    by_story: dict[int, list[Proposition]] = {}
    for row in live.select_related("table__story").order_by("position"):
        by_story.setdefault(row.table.story_id, []).append(row)
    propositions = [row.pk for rows in by_story.values() for row in rows]
    gold = GoldLabel.objects.filter(proposition__in=propositions)
    gold = gold.only("proposition_id", "dimension", "label", "revision")
    looks = SecondLook.objects.standing().filter(proposition__in=propositions).select_related("by")
    return (
        {sample.number: (sample, by_story.get(sample.story_id or 0, [])) for sample in samples},
        {(label.proposition_id, label.dimension): label for label in gold},
        {(look.proposition_id, look.dimension): look for look in looks},
    )


def _cell(
    material: Material, schema: Schema, number: int, doubt: Doubt, tables: Tables, gold: Mapping[Key, GoldLabel],
    looks: Mapping[Key, SecondLook],
) -> DoubtfulCell | None:  # fmt: skip
    """Return the cell of a doubt. Returns None if its proposition is no longer as it was published."""
    cells, at = material.cells, doubt.cell
    row, dimension = int(cells.row[at]), int(cells.dimension[at])
    if number not in tables:
        return None
    sample, table = tables[number]
    published = sample.beliefs[row]
    same = [each for each in table if (each.actor, each.belief) == (published["actor"], published["belief"])]
    if not same:
        return None
    # the proposition where it stood, or else the first that says the same
    proposition = next((each for each in table[row : row + 1] if each in same), same[0])
    key = schema.keys[dimension]
    label = gold.get((proposition.pk, key))
    return DoubtfulCell(
        story=number, row=row + 1, proposition=proposition, dimension=key,
        gold=material.label_of(dimension, int(cells.gold[at])),
        now=label.label if label else (proposition.imported_labels or {}).get(key, ""),
        label=label.pk if label else 0, revision=label.revision if label else 0,
        proposed=material.label_of(dimension, doubt.label), families=doubt.against, heard=doubt.heard,
        look=looks.get((proposition.pk, key)),
    )  # fmt: skip


# --- second looks


REASON = "second look: models of several families said otherwise"
"""The reason of a decision whose expert gave none: without having seen what models said, nobody can name it."""


@transaction.atomic
def look_again(
    *,
    by: User, labelling: Labelling, proposition: Proposition, dimension: str, label: str, revision: int, row: int,
    now: datetime, reason: str = "", replaces: str = "",
) -> SecondLook:  # fmt: skip
    """Keep the label that an expert gives a doubtful cell, and adjudicate the cell where gold has another one.

    `revision` and `row` are those of the gold label that the page was made of. The same look again keeps what stands,
    with the reason of the newer one; another label where `replaces` names the expert's own takes the place of it.
    Raises AdjudicationRefused where the cell is not doubtful, where another expert has looked at it or claimed its
    story, and wherever `adjudicate` would; DecidedMeanwhile where gold is not as it was seen.
    """
    check_values(proposition.table.story.project, dimension, label, "")
    lock_propositions([proposition.pk])
    check_independence(by=by, proposition=proposition, dimension=dimension)
    cell, reason = doubtful_gold(labelling).named(proposition.uid, dimension), reason.strip()
    if not cell.waits:
        assert cell.look is not None
        if cell.look.by_id != by.pk:
            text = gettext("Meanwhile {shown_name} looked at this cell. Nothing was overwritten.")
            raise AdjudicationRefused(text.format(shown_name=cell.look.by.shown_name))
        if cell.look.label == label:
            return _explained(cell, by=by, reason=reason, now=now)
        if replaces != cell.look.label:
            text = gettext("You said {label} here. Say that you replace that, then choose again.")
            raise AdjudicationRefused(text.format(label=cell.look.label))
        _take_back(cell.look, by=by, now=now)
        cell = doubtful_gold(labelling).named(proposition.uid, dimension)
    elif (cell.revision, cell.label) != (revision, row):
        rows = GoldLabel.objects.select_related("decided_by")
        raise DecidedMeanwhile(rows.filter(proposition=cell.proposition, dimension=cell.dimension).first())
    check_claim(by=by, story=proposition.table.story, now=now)
    if label != cell.gold:
        _decide(cell, by=by, label=label, reason=reason, now=now)
    return SecondLook.objects.create(
        proposition=proposition, dimension=dimension, gold=cell.gold, label=label, proposed=cell.proposed,
        families=list(cell.families), reason=reason, by=by, at=now,
    )  # fmt: skip


def _explained(cell: DoubtfulCell, *, by: User, reason: str, now: datetime) -> SecondLook:
    """Keep a reason that is given afterwards, with the decision too where there is one."""
    look = cell.look
    assert look is not None
    if reason and reason != look.reason:
        SecondLook.objects.all().give_reason(look, reason)
        look.reason = reason
        if cell.changed:
            _decide(cell, by=by, label=look.label, reason=reason, now=now)
    return look


def _decide(cell: DoubtfulCell, *, by: User, label: str, reason: str, now: datetime) -> None:
    adjudicate(
        by=by, proposition=cell.proposition, dimension=cell.dimension, label=label, revision=cell.revision,
        row=cell.label, reason=reason or REASON, now=now,
    )  # fmt: skip


@transaction.atomic
def take_back(*, by: User, proposition: Proposition, dimension: str, now: datetime) -> SecondLook | None:
    """Take the expert's own look at a cell back, with the decision where it changed gold; return it, None where there
    is none. Raises AdjudicationRefused where somebody decided the cell since."""
    lock_propositions([proposition.pk])
    rows = SecondLook.objects.standing().filter(proposition=proposition, dimension=dimension, by=by)
    look = rows.order_by("-pk").first()
    if look is not None:
        _take_back(look, by=by, now=now)
    return look


def _take_back(look: SecondLook, *, by: User, now: datetime) -> None:
    rows = GoldLabel.objects.filter(proposition=look.proposition_id, dimension=look.dimension)
    gold = rows.select_related("decided_by").first()
    if not look.stands and gold is not None and gold.label == look.label:
        undo_decision(by=by, proposition=look.proposition, dimension=look.dimension, revision=gold.revision, now=now)
    SecondLook.objects.all().withdraw(look, now)


# --- the table

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
