"""Answers made elsewhere, in both parses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.suites.answers import BadAnswers, ParsedScores, read_answers
from benchmark.suites.omnitom.official import score_official
from benchmark.suites.omnitom.records import Record, parse_story_ids, read_records, select
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE
from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape
from core.incoming.thoughts import without_thoughts


def score_answers(
    data: Path, answers: Path, *, story_ids: str = "", max_stories: int = 0, seed: int = 1
) -> ParsedScores:
    """Both parses of `{"STORY_ID": {"extract"?, "label"?, "judge"?}}` against a record file.

    The selection is the stories that have an entry, or those of `story_ids`; a metric group has official figures only
    where the whole selection has its answers. Raises ValueError.
    """
    from benchmark.suites.omnitom.repaired import score_repaired  # the statistics libraries take a second to load

    if max_stories < 0:
        raise ValueError(f"max_stories is {max_stories}; expected 0 (all) or more.")
    if seed < 0:
        raise ValueError(f"The seed is {seed}; expected 0 or more.")
    with data.open("rb") as handle:
        records = read_records(handle, str(data))
    texts = _texts(read_answers(answers), answers, {record.story_id for record in records})
    chosen = _selection(records, texts, story_ids, max_stories)
    answers_by_story = {
        story: {step: without_thoughts(text) for step, text in steps.items()} for story, steps in texts.items()
    }
    return ParsedScores(score_official(chosen, texts), score_repaired(chosen, answers_by_story, seed=seed))


def _selection(records: list[Record], texts: Mapping[int, Any], story_ids: str, max_stories: int) -> list[Record]:
    ids = parse_story_ids(story_ids) if story_ids.strip() else frozenset(texts)
    chosen = list(select(records, ids, max_stories))
    if not chosen:
        raise ValueError("No story is selected.")
    return chosen


class _Steps(Shape):
    """Raw answers by step."""

    extract: str = ""
    label: str = ""
    judge: str = ""


def _texts(answers: Mapping[str, Any], file: Path, story_ids: set[int]) -> dict[int, dict[str, str]]:
    texts: dict[int, dict[str, str]] = {}
    for name, steps in answers.items():
        number = int(name) if name.isascii() and name.isdecimal() and len(name) < 20 else None
        if number not in story_ids:
            raise BadAnswers(f"{file} answers story {name[:60]!r}, which the records do not have.")
        try:
            _Steps.of(steps)
        except Misfit as error:
            raise BadAnswers(error.message_for(f"{file}, story {name}")) from error
        if number in texts:
            raise BadAnswers(f"{file} answers story {number} twice.")
        if JUDGE in steps and EXTRACT not in steps:
            raise BadAnswers(f"{file}, story {name}: a judge answer needs the extract answer that it judges.")
        texts[number] = steps
    return texts
