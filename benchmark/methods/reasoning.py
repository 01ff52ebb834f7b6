"""The part of an answer that comes after its reasoning."""

from __future__ import annotations

import re

MARK = "Final answer:"
_MARK = re.compile(r"\**(?:final answer|最终答案)\**\s*[:：]\**", re.IGNORECASE)


def final_answer(text: str) -> str:
    """Return what follows the last "Final answer:", also in Chinese, without brackets and emphasis around it; of a text
    without it the last line that says something."""
    marks = list(_MARK.finditer(text))
    lines = [line for line in text.strip().splitlines() if line.strip()]
    answer = text[marks[-1].end() :] if marks else lines[-1] if lines else ""
    return answer.strip().strip("*[]").strip()
