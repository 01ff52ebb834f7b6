"""The suites that answers made elsewhere can be scored with. A new suite is one more entry of `SUITES`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.domain.duplicates import first_duplicate
from benchmark.suites.omnitom.official import STAGES, score_official
from benchmark.suites.omnitom.records import Record, parse_story_ids, read_records, select


class BadAnswers(ValueError):
    """What is wrong with a file of answers, as one sentence with its name."""


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option of a suite; `default` also says its type."""

    name: str
    default: str | int
    help: str
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """`score(data, answers, **options)` takes both paths and returns {"official", "repaired"}; raises ValueError."""

    name: str
    score: Callable[..., dict[str, Any]]
    options: tuple[Option, ...] = ()


def read_answers(path: Path) -> dict[str, Any]:
    """The JSON object of a file of answers. Raises BadAnswers."""
    try:
        answers = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        raise BadAnswers(f"{path} is not UTF-8 (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        raise BadAnswers(f"{path}, line {error.lineno}: this is not JSON ({error.msg}).") from error
    except BadAnswers as error:
        raise BadAnswers(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise BadAnswers(f"{path} cannot be read as JSON.") from error
    if not isinstance(answers, dict) or not answers:
        raise BadAnswers(f"{path} holds no answers; expected one JSON object that is not empty.")
    return answers


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = first_duplicate(name for name, _ in pairs)
        raise BadAnswers(f"the key {twice[:60]!r} occurs twice in one object.")
    return found


def score_omnitom(
    data: Path, answers: Path, *, story_ids: str = "", max_stories: int = 0, seed: int = 1
) -> dict[str, Any]:
    """Both readings of `{"STORY_ID": {"extract"?, "label"?, "judge"?}}` against a record file.

    The selection is the stories that have an entry, or those of `story_ids`; a stage has official figures only where
    the whole selection has its answers. Raises ValueError.
    """
    from benchmark.suites.omnitom.repaired import score_repaired  # the statistics libraries take a second to load

    if max_stories < 0:
        raise ValueError(f"max_stories is {max_stories}; expected 0 (all) or more.")
    if seed < 0:
        raise ValueError(f"The seed is {seed}; expected 0 or more.")
    with data.open("rb") as handle:
        records = read_records(handle, str(data))
    texts = _omnitom_texts(read_answers(answers), answers, {record.story_id for record in records})
    chosen = _selection(records, texts, story_ids, max_stories)
    return {"official": score_official(chosen, texts), "repaired": score_repaired(chosen, texts, seed=seed)}


def _selection(records: list[Record], texts: Mapping[int, Any], story_ids: str, max_stories: int) -> list[Record]:
    ids = parse_story_ids(story_ids) if story_ids.strip() else frozenset(texts)
    chosen = list(select(records, ids, max_stories))
    if not chosen:
        raise ValueError("No story is selected.")
    return chosen


def _omnitom_texts(answers: Mapping[str, Any], file: Path, known: set[int]) -> dict[int, dict[str, str]]:
    texts: dict[int, dict[str, str]] = {}
    for name, stages in answers.items():
        number = int(name) if name.isascii() and name.isdecimal() and len(name) < 20 else None
        if number not in known:
            raise BadAnswers(f"{file} answers story {name[:60]!r}, which the records do not have.")
        if not isinstance(stages, dict) or not all(isinstance(text, str) for text in stages.values()):
            raise BadAnswers(f"{file}, story {name}: expected an object of texts by stage.")
        if strange := set(stages) - set(STAGES):
            raise BadAnswers(f"{file}, story {name}: {min(strange)[:60]!r} is no stage; expected {', '.join(STAGES)}.")
        if number in texts:
            raise BadAnswers(f"{file} answers story {number} twice.")
        if "judge" in stages and "extract" not in stages:
            raise BadAnswers(f"{file}, story {name}: a judge answer needs the extract answer that it judges.")
        texts[number] = stages
    return texts


SUITES: Mapping[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite(
            "omnitom",
            score_omnitom,
            (
                Option("story_ids", "", "omnitom: the stories to score, such as 1,4-7 (default: those with answers)"),
                Option("max_stories", 0, "omnitom: at most so many stories (0: all)"),
                Option("seed", 1, "omnitom: seed of the intervals"),
            ),
        ),
    )
}
