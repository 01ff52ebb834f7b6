"""The folder that the released runner leaves behind, as paths and bytes (specification "OmniToM scoring", section 5).

CSV files are UTF-8 with CRLF, cells space-normalised. The headings inside a raw text file are this project's own.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmark.domain.averaging import StoryAverages
from benchmark.domain.matched_rows import METRICS
from benchmark.suites.answers import (
    BadAnswers,
    Exchange,
    Exchanged,
    File,
    ParsedScores,
    Parser,
    Row,
    Tables,
    read_answers,
)
from benchmark.suites.omnitom.data import (
    EXTRACT,
    JUDGE,
    LABEL,
    STAGE1,
    STAGE2,
    Record,
    parse_story_ids,
    read_records,
    record_of_sample,
    select,
)
from benchmark.suites.omnitom.judgements import Judging, released_text
from benchmark.suites.omnitom.labels import COLUMNS
from benchmark.suites.omnitom.official import StoredTables, score_official, stored_tables
from benchmark.suites.omnitom.parsing.official import (
    JUDGED_COLUMNS,
    JudgedRow,
    align,
    extraction_rows,
    label_rows,
    parse_judgement,
)
from benchmark.suites.omnitom.prompting.requests import MAX_TOKENS
from benchmark.suites.omnitom.results import STAGE1_COLUMNS, STAGE2_COLUMNS, STAGE2_SHARES, GroupScores
from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape
from core.incoming.thoughts import without_thoughts
from core.plain import Json
from judge.domain.text import normalise_space

EXTRACT_COLUMNS = ("actor", "belief", "order")
LABEL_COLUMNS = ("actor", "belief", *COLUMNS.values())
FOLDERS = {EXTRACT: "extraction", LABEL: "labeling", JUDGE: "judge"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The content of `manifest.json` besides the stories, with the runner's defaults; None says that nothing of the
    kind was sent."""

    dataset_path: str
    backend: str
    stages: Sequence[str] = (EXTRACT, LABEL, JUDGE, "metrics")
    model: str | None = None
    extract_model: str | None = None
    label_model: str | None = None
    judge_model: str | None = None
    judge_fewshots: int = 3
    include_story_context: bool = True
    load_in_4bit: bool = False
    bnb_4bit_compute_dtype: str = "bf16"
    api_provider: str | None = "openai"
    temperature: float | None = 0.0
    max_new_tokens: int | None = MAX_TOKENS


def manifest(records: Sequence[Record], settings: Settings) -> Json:
    """The content of `manifest.json`, in its order of keys."""
    fields = asdict(settings)
    head = {name: fields.pop(name) for name in ("dataset_path", "backend", "stages")}
    stories = [record.story_id for record in records]
    return {**head, "stages": list(head["stages"]), "stories": stories, "story_count": len(stories), **fields}


def files(
    records: Sequence[Record],
    exchanges: Mapping[int, Mapping[str, Exchange]],
    scores: GroupScores[StoryAverages],
    settings: Settings,
) -> Iterator[File]:
    """Every file of the output folder as (path, bytes), the manifest first.

    `exchanges` has the calls of each story by step (`extract`, `label`, `judge`), `scores` what `score_official` says
    of their outputs. A step without a call has no files, a metric group without figures no metrics.
    """
    yield "manifest.json", _bytes(json.dumps(manifest(records, settings), ensure_ascii=False, indent=2))
    texts = {story: {step: call.output for step, call in calls.items()} for story, calls in exchanges.items()}
    for story, tables in stored_tables(records, texts).items():
        yield from _story_files(story, exchanges[story], tables)
    yield from _metric_files(scores)


def _story_files(story: int, calls: Mapping[str, Exchange], tables: StoredTables) -> Iterator[File]:
    name = f"story_{story:03d}"
    for step, folder in FOLDERS.items():
        if step in calls:
            yield f"{folder}/raw/{name}.txt", _raw(calls[step])
    if tables.extraction is not None:
        yield f"extraction/csv/{name}_extract.csv", _csv(EXTRACT_COLUMNS, tables.extraction)
    if tables.labels is not None:
        yield f"labeling/csv/{name}_label.csv", _csv(LABEL_COLUMNS, (row.cells() for row in tables.labels))
    if tables.judged is not None:
        for side, rows in zip(("predictions", "groundtruth"), tables.judged, strict=True):
            yield f"judge/csv/{name}_{side}.csv", _csv(JUDGED_COLUMNS, rows)


_METRIC_FILES = {
    STAGE1: (STAGE1_COLUMNS, METRICS),
    STAGE2: (STAGE2_COLUMNS, STAGE2_SHARES),
}


def _metric_files(scores: GroupScores[StoryAverages]) -> Iterator[File]:
    for group, (columns, shares) in _METRIC_FILES.items():
        if score := scores.by_group.get(group):
            averages = score.averages
            tables: dict[str, tuple[Sequence[str], Sequence[Mapping[str, object]]]] = {
                "story_metrics": (columns, [story.row for story in score.stories]),
                "overall": (("stories", *shares), [averages.overall.as_json()]),
                "by_category": (
                    ("story_category", "stories", *shares),
                    [row.as_json() for row in averages.by_category],
                ),
            }
            for name, (header, rows) in tables.items():
                cells = ([row[column] for column in header] for row in rows)
                yield f"metrics/{group}_{name}.csv", _csv(header, cells)


def _csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(header)
    writer.writerows([normalise_space(cell) for cell in row] for row in rows)
    return _bytes(out.getvalue())


def _raw(call: Exchange) -> bytes:
    return _bytes("".join(f"[{name.upper()}]\n{text.strip()}\n\n" for name, text in call._asdict().items()))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


_AT_ONCE = 200


def exchange(exchanged: Exchanged) -> Iterator[File]:
    """Manifest and metrics, the dataset that the manifest names, then raw and csv folders, some stories at a time."""
    records = {sample.key: record_of_sample(sample) for sample in exchanged.samples}
    texts = {records[key].story_id: _released(exchanged, records[key], key) for key in exchanged.answers}
    settings = _settings(exchanged)
    yield from files(list(records.values()), {}, score_official(list(records.values()), texts), settings)
    yield settings.dataset_path, exchanged.dataset_lines()
    for at in range(0, len(exchanged.samples), _AT_ONCE):
        batch = exchanged.samples[at : at + _AT_ONCE]
        calls_by_sample = exchanged.exchanges(batch)
        calls = {
            records[sample.key].story_id: calls_by_sample[sample.key]
            for sample in batch
            if sample.key in calls_by_sample
        }
        written = files([records[sample.key] for sample in batch], calls, GroupScores(), settings)
        yield from (file for file in written if file[0] != "manifest.json")


def _released(exchanged: Exchanged, record: Record, key: str) -> Mapping[str, str]:
    """Return the answers about a sample, its judgement as the tables that the released code reads."""
    answers, how = exchanged.answers[key], Judging.of(exchanged.settings, key)
    if how.as_published or JUDGE not in answers:
        return answers
    return {**answers, JUDGE: released_text(record, answers, how)}


def _settings(exchanged: Exchanged) -> Settings:
    """Return what was sent at the steps that the model took part in."""
    asked, sent = exchanged.asked, exchanged.asked.reads_prompts
    steps = [step for step in (EXTRACT, LABEL, JUDGE) if step in exchanged.steps]
    return Settings(
        dataset_path=exchanged.dataset,
        backend=asked.provider,
        stages=[*steps, "metrics"],
        model=asked.model,
        api_provider=asked.provider if asked.hosted else None,
        temperature=0.0 if sent and asked.sets_temperature else None,
        max_new_tokens=exchanged.settings.max_tokens if sent else None,
        **(_judging(exchanged) if JUDGE in steps else {"judge_fewshots": 0, "include_story_context": False}),
    )


def _judging(exchanged: Exchanged) -> Json:
    settings = exchanged.settings
    return {
        "judge_model": exchanged.judge,
        "judge_fewshots": exchanged.examples.get(JUDGE, 0),
        "include_story_context": bool(settings.judge_reads_prompts and settings.options["with_story"]),
    }


def _extract(text: str, tables: Tables) -> Json:
    return {"rows": extraction_rows(text)}


def _label(text: str, tables: Tables) -> Json:
    return {"rows": [row.cells() for row in label_rows(text)]}


def _judge(text: str, tables: Tables) -> Json:
    """The counts of the given rows, or the rows as parsed where none are given."""
    judgement = parse_judgement(text)
    pred, gold = (
        _counted(tables[side], judged) if side in tables else [row.keyed() for row in judged]
        for side, judged in (("pred", judgement.predictions), ("gold", judgement.gold))
    )
    return {"pred": pred, "gold": gold}


def _counted(rows: Sequence[Row], judged: Sequence[JudgedRow]) -> list[list[str | int]]:
    pairs = [(actor, belief) for actor, belief in rows]
    return [[*row, count] for row, count in zip(pairs, align(pairs, judged), strict=True)]


_ROWS = {
    "pred": "JSON [[actor, belief], …] of the predicted rows",
    "gold": "JSON [[actor, belief], …] of the gold rows",
}
PARSERS = {
    EXTRACT: Parser(_extract),
    LABEL: Parser(_label),
    JUDGE: Parser(_judge, options=_ROWS, columns=("actor", "belief")),
}


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
