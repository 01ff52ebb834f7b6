"""The lengths of a suite's questions and answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmark.domain.parameters import Options
from benchmark.suites.questions import Question
from workers.domain.pricing import Extent


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths of questions and answers, for estimates that make few of the questions.

    `question(question)` is (what its sample alone adds to a question, whose other wording is that of all of a category;
    the answer to be expected); `pairs(pairs, answer_format)` is a judge's answer about pairs of an actor and a belief.
    `measured_with` are settings that questions are measured with whatever was chosen: what depends on answers that
    nobody has yet is measured as if it saved nothing.
    """

    question: Callable[[Question], tuple[Extent, Extent]]
    pairs: Callable[[Sequence[tuple[str, str]], str], Extent]
    measured_with: Options = field(default_factory=dict)
