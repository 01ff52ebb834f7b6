"""Answers that need no model: what accuracy is worth is read beside theirs."""

from __future__ import annotations

from benchmark.suites.tombench.steps import CHOOSE, commonest
from workers.providers.baseline.baseline import Baseline, generator, seeded
from workers.providers.contract import Body

_TASK = {"key": "x", "letters": ["A", "B"], "originals": ["B", "A"], "counts": {"A": 2, "B": 1}}


def first_option(body: Body) -> str:
    """Answer with the option that is shown first."""
    return f"[[{body['task']['letters'][0]}]]"


def random_option(body: Body) -> str:
    """Answer with one of the options shown, each as likely; the draw depends on seed, question and try alone."""
    task = body["task"]
    return f"[[{generator(body, task['key']).choice(task['letters'])}]]"


def majority_letter(body: Body) -> str:
    """Answer with the shown option whose original letter is right most often; of equally frequent ones the first in the
    alphabet."""
    task = body["task"]
    best = commonest(task["originals"], task["counts"])
    return f"[[{task['letters'][task['originals'].index(best)]}]]"


BASELINES = (
    Baseline(name="random", task=CHOOSE, answer=random_option, sample=_TASK, settings=seeded),
    Baseline(name="first-option", task=CHOOSE, answer=first_option, sample=_TASK),
    Baseline(name="majority", task=CHOOSE, answer=majority_letter, sample=_TASK),
)
