"""What official scoring makes of the answer to one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.suites.fantom.embedding import Embedder, cosine, nearness
from benchmark.suites.fantom.official import Listed, after_marker, chooses, listed, token_f1, yes_or_no
from benchmark.suites.fantom.rows import CHOICE, DISTANCE, FACT, LIST, YES, Row


@dataclass(frozen=True, slots=True)
class Scored:
    """A question with what its answer was read as. `f1` of a fact and a free belief is from 0 to 1; `near` are the cosines of a free belief with
    the right and the wrong text; `said` is 1, 0 or -1 of a yes or no question."""

    row: Row
    answer: str
    right: bool
    f1: float = 0.0
    near: tuple[float, float] = (0.0, 0.0)
    said: int = -1
    listed: Listed | None = None

    @property
    def parsed(self) -> dict[str, Any]:
        """Plain data, with the names of the released code."""
        if self.row.kind == FACT:
            return {"token_f1": round(self.f1, 10)}
        if self.row.kind == CHOICE:
            return {"result": self.right, "official_answer_index": self.row.key}
        if self.row.kind == DISTANCE:
            near = {"cos_correct": round(self.near[0], 6), "cos_wrong": round(self.near[1], 6)}
            return near | {"result": self.right, "word_overlap": round(self.f1, 10)}
        if self.listed is None:
            return {"binarized": self.said, "result": self.right}
        return {
            "result": self.right,
            "excluded_aware_character": self.listed.excluded_aware,
            "included_unaware_character": self.listed.included_unaware,
        }


def scored(rows: Sequence[Row], texts: Mapping[str, str], embedder: Embedder) -> list[Scored]:
    """Return the questions that have an answer, in their order. `texts` are raw answers by question id."""
    answers = {row.id: after_marker(texts[row.id]) for row in rows if row.id in texts}
    answered = [row for row in rows if row.id in answers]
    near = _near([row for row in answered if row.kind == DISTANCE], answers, embedder)
    return [_scored(row, answers[row.id], near.get(row.id, (0.0, 0.0))) for row in answered]


def scored_row(row: Row, answer: str, embedder: Embedder) -> Scored:
    """Return one question with what its answer, without the marker before it, is read as."""
    near = nearness(embedder, answer, row.right[0], row.wrong[0]) if row.kind == DISTANCE else (0.0, 0.0)
    return _scored(row, answer, near)


def _near(rows: Sequence[Row], answers: Mapping[str, str], embedder: Embedder) -> dict[str, tuple[float, float]]:
    if not rows:
        return {}
    given, right, wrong = (
        embedder(texts)
        for texts in ([answers[row.id] for row in rows], [row.right[0] for row in rows], [row.wrong[0] for row in rows])
    )
    cosines = zip(cosine(given, right).tolist(), cosine(given, wrong).tolist(), strict=True)
    return {row.id: pair for row, pair in zip(rows, cosines, strict=True)}


def _scored(row: Row, answer: str, near: tuple[float, float]) -> Scored:
    if row.kind == FACT:
        f1 = token_f1(row.right[0].lower(), answer.lower())
        return Scored(row, answer, right=f1 == 1.0, f1=f1)
    if row.kind == DISTANCE:
        right = near[0] > near[1]
        return Scored(row, answer, right, f1=token_f1((row.right if right else row.wrong)[0], answer), near=near)
    if row.kind == CHOICE:
        return Scored(row, answer, chooses(answer, row.key))
    if row.kind == LIST:
        names = listed(answer, row.right, row.wrong)
        return Scored(row, answer, names.right, listed=names)
    said = yes_or_no(answer)
    return Scored(row, answer, said == int(row.right[0] == YES), said=said)
