"""What pre-filled labels did to a project's votes: loads the votes on cells with a suggestion and compares their arms."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from annotation.domain.anchoring import Arm, Votes, accuracy_on, alternative_annotator_test, anchoring_report
from annotation.domain.schema import SCHEMAS
from annotation.models import GoldLabel, Project, Proposition, Suggestion, User, Vote, VoteEvent

SEED = 1
_SIZE = 100
"""More than any dimension has labels: code = dimension × 100 + label."""


def report_of(project: Project, *, seed: int = SEED) -> dict[str, Any]:
    """{"suggestions", "unseen", "votes": anchoring report, "accuracy", "alternative_annotator"}, ready for JSON.

    Votes in the arm `shown` that were cast without the suggestion before their eyes (over the API) count as having no arm.
    """
    loaded = _Loaded(project)
    report = {
        "project": project.slug,
        "suggestions": len(loaded.suggested),
        "unseen": loaded.unseen,
        "votes_on_them": len(loaded.rows),
    }
    if not loaded.rows:
        return report | {"votes": None, "reason": "Nobody has voted on a cell with a suggestion yet."}
    votes = loaded.votes()
    return report | {
        "votes": anchoring_report(votes, seed=seed),
        "accuracy": loaded.accuracy(seed),
        "alternative_annotator": loaded.alternative(),
    }


class _Loaded:
    def __init__(self, project: Project) -> None:
        self.schema = SCHEMAS[project.schema_version]
        live = Proposition.objects.live_gold().filter(table__story__project=project)
        self.story_of = dict(live.values_list("pk", "table__story_id"))
        self.code = {
            (one.key, label): _SIZE * at + number
            for at, one in enumerate(self.schema.dimensions)
            for number, label in enumerate(one.values)
        }
        suggestions = Suggestion.objects.filter(proposition__in=live)
        self.suggested = {cell: self.code[cell[1], label] for cell, label in suggestions.labels().items()}
        self.cell = {cell: at for at, cell in enumerate(self.suggested)}
        first = self._before_reveal(live)
        cast = Vote.objects.cast().filter(proposition__in=live)
        columns = ("proposition_id", "dimension", "annotator_id", "label", "arm", "suggested", "duration_ms")
        self.rows: list[tuple] = []
        self.unseen = 0
        for proposition, dimension, annotator, label, arm, seen, duration in cast.values_list(*columns):
            if (proposition, dimension) not in self.suggested:
                continue
            if arm == Arm.SHOWN and not seen:
                arm, self.unseen = "", self.unseen + 1
            before = first.get((proposition, dimension, annotator), -1) if arm == Arm.REVEAL else -1
            code = self.code.get((dimension, label), -1)
            self.rows.append((proposition, dimension, annotator, code, before, arm, duration))
        ids = sorted({row[2] for row in self.rows})
        names = dict(User.objects.filter(pk__in=ids).values_list("pk", "username"))
        self.people = {pk: at for at, pk in enumerate(ids)}
        self.names = tuple(names[pk] for pk in ids)

    def _before_reveal(self, live) -> dict[tuple, int]:
        """The last label that an annotator gave before the suggestion was revealed."""
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
        return Votes(
            story=np.array([self.story_of[one] for one in columns[0]]),
            cell=np.array([self.cell[cell] for cell in cells]),
            dimension=np.array([keys.index(key) for key in columns[1]]),
            annotator=np.array([self.people[one] for one in columns[2]]),
            label=np.array(columns[3]),
            first_label=np.array(columns[4]),
            suggested=np.array([self.suggested[cell] for cell in cells]),
            arm=np.array(columns[5], dtype="U6"),
            duration_ms=np.array([np.nan if one is None else one for one in columns[6]], dtype=float),
            dimensions=tuple(self.schema[key].name for key in keys),
            annotators=self.names,
        )

    def _blind(self) -> dict[tuple, dict[int, int]]:
        """Cell → annotator → label of the votes that no suggestion can have touched: blind ones, and first votes of a reveal."""
        found: dict[tuple, dict[int, int]] = defaultdict(dict)
        for proposition, dimension, annotator, label, before, arm, _ in self.rows:
            if arm == Arm.BLIND or (arm == Arm.REVEAL and before >= 0):
                found[proposition, dimension][annotator] = before if arm == Arm.REVEAL else label
        return found

    def accuracy(self, seed: int) -> dict:
        settled = GoldLabel.objects.filter(proposition__in=self.story_of).exclude(label="")
        gold = {
            (at, key): self.code.get((key, label), -1)
            for at, key, label in settled.values_list("proposition_id", "dimension", "label")
        }
        blind = {cell: _most(list(votes.values())) for cell, votes in self._blind().items()}
        cells = list(self.suggested)
        return accuracy_on(
            np.array([self.story_of[cell[0]] for cell in cells]),
            np.array([self.suggested[cell] for cell in cells]),
            np.array([gold.get(cell, -1) for cell in cells]),
            np.array([blind.get(cell, -1) for cell in cells]),
            seed=seed,
        )

    def alternative(self) -> dict:
        blind = self._blind()
        labels = np.full((len(blind), len(self.people)), -1)
        for at, votes in enumerate(blind.values()):
            for annotator, label in votes.items():
                labels[at, self.people[annotator]] = label
        model = np.array([self.suggested[cell] for cell in blind], dtype=int)
        found = alternative_annotator_test(labels, model)
        for row, name in zip(found["annotators"], self.names, strict=True):
            row["annotator"] = name
        return found


def _most(labels: list[int]) -> int:
    """The label that more votes chose than any other; -1 for a tie."""
    ranked = Counter(labels).most_common(2)
    return -1 if len(ranked) == 2 and ranked[0][1] == ranked[1][1] else ranked[0][0]
