"""The answer to one question, as official scoring takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.suites.fantom.embedding import Embedder, cosine, nearness
from benchmark.suites.fantom_questions.official import after_marker, token_f1
from benchmark.suites.fantom_questions.outcomes import Scored, scored_choice_list_or_yes_no
from benchmark.suites.fantom_questions.rows import CHOICE, DISTANCE, FACT, Row
from core.plain import Json


def parsed_of(scored: Scored) -> Json:
    """Return plain data, with the names of the released code."""
    row = scored.row
    if row.kind == FACT:
        return {"token_f1": round(scored.f1, 10)}
    if row.kind == CHOICE:
        return {"result": scored.right, "official_answer_index": row.key}
    if row.kind == DISTANCE:
        near = {"cos_correct": round(scored.near[0], 6), "cos_wrong": round(scored.near[1], 6)}
        return near | {"result": scored.right, "word_overlap": round(scored.f1, 10)}
    if scored.listed is None:
        return {"binarized": scored.answer_class, "result": scored.right}
    return {
        "result": scored.right,
        "excluded_aware_character": scored.listed.excluded_aware,
        "included_unaware_character": scored.listed.included_unaware,
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
    return scored_choice_list_or_yes_no(row, answer)
