"""An answer to a question in both parses."""

from __future__ import annotations

from benchmark.suites.fantom_questions.asking import score_of
from benchmark.suites.fantom_questions.official import after_marker
from benchmark.suites.fantom_questions.outcomes import Scored, scored_choice_list_or_yes_no
from benchmark.suites.fantom_questions.parses import Parse, is_stray, official_parse, repaired_parse, why_unreadable
from benchmark.suites.fantom_questions.rows import LIST, Row
from benchmark.suites.fantom_questions.samples import row_of
from benchmark.suites.questions import Parsed, Sample


def listing_in(answer: str) -> str:
    """Return the part of an answer that the released code takes for the list: from its only opening to its first
    closing bracket, without such a pair all of it."""
    if answer.count("[") != 1 or "]" not in answer:
        return answer
    return answer[answer.index("[") : answer.index("]") + 1]


def scored_answer(row: Row, answer: str) -> Scored:
    """Return a question with what its answer is officially read as."""
    text = after_marker(answer)
    return scored_choice_list_or_yes_no(row, text, listing_in(text) if row.kind == LIST else None)


def parses_of(sample: Sample, answer: str) -> tuple[Parse, Parse | None]:
    """Return the official parse of an answer and the repaired one, None where a person cannot read it."""
    scored = scored_answer(row_of(sample), answer)
    text = scored.listing or scored.answer
    empty = scored.row.kind == LIST and "[" in text and not text.strip("[] \n")
    repaired = repaired_parse(sample, "nobody" if empty else text)
    return official_parse(sample, scored), repaired


def parsed_answer(sample: Sample, answer: str) -> Parsed:
    """Return both parses of an answer with their scores."""
    official, repaired = parses_of(sample, answer)
    return Parsed(
        official=official,
        repaired=repaired or {},
        score=score_of(official),
        repaired_score=None if repaired is None else score_of(repaired),
        unreadable="" if repaired is not None else why_unreadable(sample, answer),
        stray=is_stray(sample, repaired),
    )
