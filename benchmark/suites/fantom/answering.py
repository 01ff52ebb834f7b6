"""The steps of a model: the answer, after the steps of the method that was chosen."""

from __future__ import annotations

from benchmark.methods.contract import PEOPLE
from benchmark.methods.program import program_of, steps_with
from benchmark.methods.registry import methods_for
from benchmark.suites.fantom_questions.baselines import TELL
from benchmark.suites.questions import Step
from core.messages import gettext_noop

ANSWER = "answer"
METHODS = methods_for(PEOPLE)
ANSWERING = steps_with(METHODS, Step(ANSWER, gettext_noop("Answering"), task=TELL))
PROGRAM = program_of(METHODS, ANSWER)
