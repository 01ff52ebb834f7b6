"""The lexical judge as a baseline: a suite says what it is asked to compare, and writes its answers.

The option `threshold` (0 to 1) is the least similarity of a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from judge.domain.lexical import NAME, RULES, THRESHOLD
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Body
from workers.providers.errors import Rejected


def lexical_judge(*, task: str, answer: Callable[[Body], str], sample: Mapping[str, Any]) -> Baseline:
    """Return the lexical judge of tasks of a kind. Its `answer` finds the `threshold` in the body, and compares by
    `judge.domain.lexical.align`."""
    return Baseline(
        name=NAME,
        task=task,
        answer=answer,
        sample=sample,
        settings=_settings,
        options={"threshold": (float, int)},
        options_note="threshold for the lexical judge",
        rules=RULES,
    )


def _settings(options: Mapping[str, Any], seed: int | None) -> dict[str, float]:
    """Return the settings in options. Raises Rejected. The version is among them: of another one no answer is taken."""
    threshold = options.get("threshold", THRESHOLD)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise Rejected(f"The option threshold is {threshold!r}; a number from 0 to 1 is expected.")
    return {"threshold": float(threshold), "rules": RULES}
