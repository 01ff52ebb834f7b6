"""The answer to one question, as official scoring takes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmark.suites.copies import Imported, licence_beside
from benchmark.suites.fantom.embedding import Embedder, cosine, nearness
from benchmark.suites.fantom_questions.data import (
    ACCESSIBLE,
    CHOICE,
    DISTANCE,
    FACT,
    NOT_THERE,
    Fantom,
    Row,
    check_counts,
    file_of,
    in_full,
    names_of,
    oddities,
    read_fantom,
    row_of,
    sample_of,
    without_licence,
)
from benchmark.suites.fantom_questions.parsing import (
    Parse,
    Scored,
    after_marker,
    official_parse,
    owns_ignorance,
    repaired_parse,
    says_nothing,
    scored_choice_list_or_yes_no,
    squad_f1,
    token_f1,
)
from benchmark.suites.questions import Sample
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


def parses_of(sample: Sample, answer: str, embedder: Embedder) -> tuple[Parse, Parse | None]:
    """Return the official parse of an answer and the repaired one, None where a person cannot read it. `answer`
    begins after the released code's marker."""
    scored = scored_row(row_of(sample), answer, embedder)
    return _official(sample, scored), _repaired(sample, scored)


def _official(sample: Sample, scored: Scored) -> Parse:
    if scored.row.kind == FACT:
        return {"f1": scored.f1}
    if scored.row.kind == DISTANCE:
        return {"right": scored.right, "near": list(scored.near), "f1": scored.f1}
    return official_parse(sample, scored)


def _repaired(sample: Sample, scored: Scored) -> Parse | None:
    row, answer = scored.row, scored.answer
    if row.kind == FACT and says_nothing(answer):
        return {"f1": 0.0} if owns_ignorance(answer) else None
    if row.kind == FACT:
        return {"f1": squad_f1(row.right[0], answer)}
    if row.kind == DISTANCE:
        readable = not says_nothing(answer) and scored.near[0] != scored.near[1]
        f1 = token_f1((row.right if scored.right else row.wrong)[0], answer)
        return {"right": scored.right, "near": list(scored.near), "f1": f1} if readable else None
    return repaired_parse(sample, answer)


SHORT, FULL = "short", "full"


def load(path: Path, *, conversation: str = SHORT) -> Imported:
    """Return the questions of a copy, about the short or the full conversations. Raises BadImport."""
    file = file_of(path)
    copy, licence = read_fantom(file), licence_beside(file, "FANToM")
    check_counts(copy)
    samples = list(samples_of(copy, conversation))
    problems = [*without_licence(copy.name, licence), *oddities(copy)]
    title = f"FANToM ({conversation} conversations)"
    return Imported(title, samples, licence, copy.digests, problems, unchecked=copy.unchecked)


def samples_of(copy: Fantom, conversation: str) -> Iterator[Sample]:
    """Return the questions about the short or the full conversations. The short ones are asked without characters who
    are not in them."""
    for question_set in copy.sets.values():
        rows = (
            in_full(question_set.rows)
            if conversation == FULL
            else [row for row in question_set.rows if row.right != (NOT_THERE,)]
        )
        names = names_of(question_set)
        wholly_accessible = all(row.scenario in ("", ACCESSIBLE) for row in rows)
        text = question_set.full_context if conversation == FULL else question_set.short_context
        for row in rows:
            yield sample_of(row, question_set, text, names, wholly_accessible)
