"""The effect of pre-filled labels on a project's votes: loads the votes on cells with a suggestion and compares their
arms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from annotation.domain.anchoring import (
    Accuracy,
    AlternativeAnnotator,
    Arm,
    BlindEvidence,
    DrawUnit,
    OverStories,
    Votes,
    accuracy_on,
    alternative_annotator_over_stories,
    alternative_annotator_test,
    anchoring_report,
    blind_evidence,
    gold_from_blind,
    untouched,
)
from annotation.domain.anchoring.report import AnchoringReport
from annotation.models import Assignment, GoldLabel, Project, Proposition, Suggestion, User, Vote, VoteEvent
from annotation.services.arms import Cell, arm_of
from core.plain import WHERE_THERE_IS_ONE

SEED = 1
_SIZE = 100
"""More than any dimension has labels: code = dimension × 100 + label."""


NO_VOTES = "Nobody has voted on a cell with a suggestion yet."


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source of suggestions: how right they are, on what evidence, and whether it may stand in for an annotator: by
    the published test, which takes cells as independent, and `over_stories`, whose verdict counts. What is said of one
    model never rests on cells of another."""

    source: str
    suggestions: int
    accuracy: Accuracy
    blind_gold: BlindEvidence
    alternative_annotator: AlternativeAnnotator
    over_stories: OverStories


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionEffect:
    """Effect of suggestions on the votes of a project; `votes` and `models` are None with a `reason` where nobody
    voted.

    Votes keep the arm that was drawn for them, and `unseen` counts those of the arm `shown` that were cast without the
    suggestion before their eyes (over the API). `drawn_for` says for how many votes the arm was drawn by cell, by
    proposition and by story; `without_vote` counts by arm what was drawn and has no vote, and so is in no figure.
    """

    project: str
    suggestions: int
    unseen: int
    votes_on_them: int
    drawn_for: Mapping[DrawUnit, int]
    without_vote: Mapping[Arm, int]
    votes: AnchoringReport | None = None
    reason: str | None = field(default=None, metadata=WHERE_THERE_IS_ONE)
    models: Sequence[SourceRow] | None = field(default=None, metadata=WHERE_THERE_IS_ONE)


def report_of(project: Project, *, seed: int = SEED) -> SuggestionEffect:
    """Return what suggestions did to the votes of a project, by the model that suggested, too."""
    loaded = _Loaded(project)
    has_votes = bool(loaded.rows)
    return SuggestionEffect(
        project=project.slug,
        suggestions=len(loaded.suggested),
        unseen=loaded.unseen,
        votes_on_them=len(loaded.rows),
        drawn_for=loaded.drawn_for(),
        without_vote=loaded.without_vote(),
        votes=anchoring_report(loaded.votes(), seed=seed) if has_votes else None,
        reason=None if has_votes else NO_VOTES,
        models=loaded.models(seed) if has_votes else None,
    )


@dataclass(frozen=True, slots=True)
class _Draw:
    """The unit that the arms of an assignment were drawn for, and the chance of blind given blind or shown."""

    unit: DrawUnit | None
    blind_chance: float


_UNKNOWN = _Draw(None, np.nan)


class _Loaded:
    def __init__(self, project: Project) -> None:
        self.schema = project.schema
        live = Proposition.objects.live_gold().filter(
            table__story__in=project.stories.in_use(), pk__in=Suggestion.objects.values("proposition")
        )
        self.story_of = dict(live.values_list("pk", "table__story_id"))
        self.uids = dict(live.values_list("pk", "uid"))
        self.code = {
            (dimension.key, label): _SIZE * at + number
            for at, dimension in enumerate(self.schema.dimensions)
            for number, label in enumerate(dimension.values)
        }
        self._load_suggestions(live)
        self.draws = self._draws(project)
        self._load_votes(live)

    def _load_suggestions(self, live) -> None:
        columns = ("proposition_id", "dimension", "label", "source")
        rows = list(Suggestion.objects.filter(proposition__in=live).values_list(*columns))
        self.suggested = {(at, key): self.code[key, label] for at, key, label, _ in rows}
        self.sources = tuple(sorted({source for *_, source in rows}))
        number = {source: at for at, source in enumerate(self.sources)}
        self.source = {(at, key): number[source] for at, key, _, source in rows}
        self.cell = {cell: at for at, cell in enumerate(self.suggested)}

    def _load_votes(self, live) -> None:
        first = self._before_reveal(live)
        cast = Vote.objects.cast().filter(proposition__in=live)
        columns = ("proposition_id", "dimension", "annotator_id", "label", "arm", "suggested", "duration_ms")
        self.rows: list[tuple] = []
        self.unseen = 0
        for proposition, dimension, annotator, label, arm, seen, duration in cast.values_list(*columns):
            if (proposition, dimension) not in self.suggested:
                continue
            self.unseen += arm == Arm.SHOWN and not seen
            before = first.get((proposition, dimension, annotator), -1) if arm == Arm.REVEAL else -1
            code = self.code.get((dimension, label), -1)
            self.rows.append((proposition, dimension, annotator, code, before, arm, duration, bool(seen)))
        ids = sorted({row[2] for row in self.rows})
        names = dict(User.objects.filter(pk__in=ids).values_list("pk", "username"))
        self.people = {pk: at for at, pk in enumerate(ids)}
        self.names = tuple(names[pk] for pk in ids)

    def _draws(self, project: Project) -> dict[tuple[int, int], _Draw]:
        """Return (story, annotator) → how the arms of the assignment were drawn; of several assignments the one drawn
        last."""
        assignments = Assignment.objects.filter(story__project=project, arms_drawn_at__isnull=False).order_by(
            "arms_drawn_at"
        )
        columns = ("story_id", "annotator_id", "arms_unit", "blind_share", "reveal_share")
        return {
            (story, annotator): _Draw(DrawUnit(unit), blind / (100 - reveal) if reveal < 100 else np.nan)
            for story, annotator, unit, blind, reveal in assignments.values_list(*columns)
        }

    def _draw_of(self, row: tuple) -> _Draw:
        return self.draws.get((self.story_of[row[0]], row[2]), _UNKNOWN)

    def drawn_for(self) -> dict[DrawUnit, int]:
        """Votes with an arm, by what it was drawn for; votes whose draw is not known count nowhere."""
        units = Counter(self._draw_of(row).unit for row in self.rows if row[5])
        return {unit: units[unit] for unit in DrawUnit if units[unit]}

    def without_vote(self) -> dict[Arm, int]:
        """Cells with a suggestion that were drawn for an annotator who has not voted on them, by arm."""
        voted = {row[:3] for row in self.rows}
        cells: dict[int, list[Cell]] = defaultdict(list)
        for cell in self.suggested:
            cells[self.story_of[cell[0]]].append(cell)
        drawn = Assignment.objects.active().filter(story__in=cells, arms_drawn_at__isnull=False)
        arms = Counter(
            arm_of(assignment, self.uids[proposition], dimension)
            for assignment in drawn.select_related("story")
            for proposition, dimension in cells[assignment.story_id]
            if (proposition, dimension, assignment.annotator_id) not in voted
        )
        return {arm: arms[arm] for arm in Arm if arm}

    def _unit_of(self, row: tuple) -> tuple:
        """Return the unit that the arm of a vote was drawn for; a vote whose draw is not known is a unit of its own."""
        story, (proposition, dimension, annotator) = self.story_of[row[0]], row[:3]
        unit = self._draw_of(row).unit
        if unit is DrawUnit.STORY:
            return annotator, story, 0, ""
        return annotator, story, proposition, "" if unit is DrawUnit.PROPOSITION else dimension

    def _before_reveal(self, live) -> dict[tuple, int]:
        """Return the last label that an annotator gave before the suggestion was revealed."""
        events = VoteEvent.objects.filter(proposition__in=live, arm=Arm.REVEAL, suggested="", applied=True).exclude(
            label=""
        )
        rows = events.order_by("changed_at").values_list("proposition_id", "dimension", "annotator_id", "label")
        return {
            (at, key, person): self.code[key, label] for at, key, person, label in rows if (key, label) in self.code
        }

    def votes(self) -> Votes:
        keys = list(self.schema.keys)
        columns = list(zip(*self.rows, strict=True))
        cells = list(zip(columns[0], columns[1], strict=True))
        units: dict[tuple, int] = {}
        return Votes(
            story=np.array([self.story_of[pk] for pk in columns[0]]),
            cell=np.array([self.cell[cell] for cell in cells]),
            dimension=np.array([keys.index(key) for key in columns[1]]),
            annotator=np.array([self.people[pk] for pk in columns[2]]),
            label=np.array(columns[3]),
            first_label=np.array(columns[4]),
            suggested=np.array([self.suggested[cell] for cell in cells]),
            source=np.array([self.source[cell] for cell in cells]),
            arm=np.array(columns[5], dtype="U6"),
            duration_ms=np.array([np.nan if pk is None else pk for pk in columns[6]], dtype=float),
            seen=np.array(columns[7], dtype=bool),
            unit=np.array([units.setdefault(self._unit_of(row), len(units)) for row in self.rows]),
            blind_chance=np.array([self._draw_of(row).blind_chance for row in self.rows], dtype=float),
            dimensions=tuple(self.schema[key].name for key in keys),
            annotators=self.names,
            sources=self.sources,
        )

    def _untouched(self) -> np.ndarray:
        """Return the labels that no suggestion can have touched, shape (cells, annotators), -1 where none: blind votes,
        and first votes of a reveal."""
        labels = np.full((len(self.cell), len(self.people)), -1)
        for proposition, dimension, annotator, label, before, arm, *_ in self.rows:
            at = self.cell[proposition, dimension], self.people[annotator]
            labels[at] = untouched(arm, label, first=before, nothing=-1)
        return labels

    def models(self, seed: int) -> list[SourceRow]:
        settled = GoldLabel.objects.filter(proposition__in=self.story_of).exclude(label="")
        gold = {
            (at, key): self.code.get((key, label), -1)
            for at, key, label in settled.values_list("proposition_id", "dimension", "label")
        }
        columns = [
            (self.story_of[cell[0]], label, gold.get(cell, -1), self.source[cell])
            for cell, label in self.suggested.items()
        ]
        story, suggested, all_gold, source = np.array(columns).T
        untouched = self._untouched()
        rows = []
        for number, name in enumerate(self.sources):
            mine = source == number
            blind, votes = gold_from_blind(untouched[mine])
            accuracy = accuracy_on(story[mine], suggested[mine], all_gold[mine], blind, seed=seed)
            test = alternative_annotator_test(untouched[mine], suggested[mine], names=self.names)
            _, stories = np.unique(story[mine], return_inverse=True)
            over_stories = alternative_annotator_over_stories(
                test, untouched[mine], suggested[mine], stories, seed=seed
            )
            evidence = blind_evidence(blind, votes)
            rows.append(SourceRow(name, int(mine.sum()), accuracy, evidence, test, over_stories))
        return rows
