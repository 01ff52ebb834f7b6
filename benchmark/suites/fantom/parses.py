"""An answer in both parses, as plain data.

A parse has `right`; that of a fact `f1` instead, which a free belief has, too, beside `near`, its cosines with the
right and the wrong text. Those of other kinds are those of `fantom_questions.parses`. A fact that the model does not
know has an F1 of 0.
"""

from __future__ import annotations

from benchmark.suites.fantom.embedding import Embedder
from benchmark.suites.fantom.outcomes import scored_row
from benchmark.suites.fantom_questions.official import token_f1
from benchmark.suites.fantom_questions.outcomes import Scored
from benchmark.suites.fantom_questions.parses import Parse, official_parse, owns_ignorance, repaired_parse, says_nothing
from benchmark.suites.fantom_questions.repaired import squad_f1
from benchmark.suites.fantom_questions.rows import DISTANCE, FACT
from benchmark.suites.fantom_questions.samples import row_of
from benchmark.suites.questions import Sample


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
