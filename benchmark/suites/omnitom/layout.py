"""The folder that the released runner leaves behind, as paths and bytes (specification "OmniToM scoring", section 5).

CSV files are UTF-8 with CRLF, cells space-normalised. The headings inside a raw text file are this project's own.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from benchmark.domain.averaging import StoryAverages
from benchmark.suites.answers import Exchange, File
from benchmark.suites.omnitom.judge_tables import JUDGED_COLUMNS
from benchmark.suites.omnitom.labels import COLUMNS
from benchmark.suites.omnitom.metrics import STAGE1_COLUMNS, STAGE1_SHARES, STAGE2_COLUMNS, STAGE2_SHARES
from benchmark.suites.omnitom.official import StoredTables, stored_tables
from benchmark.suites.omnitom.prompting.requests import MAX_TOKENS
from benchmark.suites.omnitom.records import Record
from benchmark.suites.omnitom.results import GroupScores
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2
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
    STAGE1: (STAGE1_COLUMNS, STAGE1_SHARES),
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
