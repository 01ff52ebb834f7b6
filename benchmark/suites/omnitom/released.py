"""The folder that the released runner leaves behind, as paths and bytes (specification "OmniToM scoring", section 5).

CSV files are UTF-8 with CRLF, cells space-normalised. The headings inside a raw text file are this project's own.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.domain.matched_rows import METRICS
from benchmark.suites.answers import BadAnswers, Exchange, Exchanged, File, ParsedScores, Parser, Tables, read_answers
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
from benchmark.suites.omnitom.official import score_official, stored_tables
from benchmark.suites.omnitom.parsing.official import (
    JUDGED_COLUMNS,
    align,
    extraction_rows,
    label_rows,
    parse_judgement,
)
from benchmark.suites.omnitom.prompting.requests import MAX_TOKENS
from benchmark.suites.omnitom.results import STAGE1_COLUMNS, STAGE2_COLUMNS, STAGE2_SHARES
from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape
from core.incoming.thoughts import without_thoughts
from core.plain import Json
from judge.domain.text import normalise_space

EXTRACT_COLUMNS = ("actor", "belief", "order")
LABEL_COLUMNS = ("actor", "belief", *COLUMNS.values())
FOLDERS = {EXTRACT: "extraction", LABEL: "labeling", JUDGE: "judge"}


_SETTINGS: Json = {
    "model": None,
    "extract_model": None,
    "label_model": None,
    "judge_model": None,
    "judge_fewshots": 3,
    "include_story_context": True,
    "load_in_4bit": False,
    "bnb_4bit_compute_dtype": "bf16",
    "api_provider": "openai",
    "temperature": 0.0,
    "max_new_tokens": MAX_TOKENS,
}
"""The runner's settings with their defaults. None says that nothing of the kind was sent."""


def manifest(records: Sequence[Record], dataset: str, backend: str, steps: Sequence[str], **chosen: Any) -> Json:
    """The content of `manifest.json`, in its order of keys; `chosen` are other settings than the runner's defaults."""
    stories = [record.story_id for record in records]
    head = {"dataset_path": dataset, "backend": backend, "stages": [*steps, "metrics"]}
    return {**head, "stories": stories, "story_count": len(stories), **_SETTINGS, **chosen}


def files(records: Sequence[Record], exchanges: Mapping[int, Mapping[str, Exchange]]) -> Iterator[File]:
    """Every file of stories as (path, bytes). `exchanges` has the calls of each story by step (`extract`, `label`,
    `judge`); a step without a call has no files."""
    texts = {story: {step: call.output for step, call in calls.items()} for story, calls in exchanges.items()}
    for story, tables in stored_tables(records, texts).items():
        name = f"story_{story:03d}"
        for step, folder in FOLDERS.items():
            if call := exchanges[story].get(step):
                parts = (f"[{part.upper()}]\n{text.strip()}\n\n" for part, text in call._asdict().items())
                yield f"{folder}/raw/{name}.txt", _bytes("".join(parts))
        if tables.extraction is not None:
            yield f"extraction/csv/{name}_extract.csv", _csv(EXTRACT_COLUMNS, tables.extraction)
        if tables.labels is not None:
            yield f"labeling/csv/{name}_label.csv", _csv(LABEL_COLUMNS, (row.cells() for row in tables.labels))
        for side, rows in zip(("predictions", "groundtruth"), tables.judged or (), strict=False):
            yield f"judge/csv/{name}_{side}.csv", _csv(JUDGED_COLUMNS, rows)


def metric_files(scores: Mapping[str, Any]) -> Iterator[File]:
    """The files of figures; a metric group without figures has none."""
    for group, columns, shares in ((STAGE1, STAGE1_COLUMNS, METRICS), (STAGE2, STAGE2_COLUMNS, STAGE2_SHARES)):
        if score := scores.get(group):
            tables: dict[str, tuple[Sequence[str], Sequence[Mapping[str, object]]]] = {
                "story_metrics": (columns, score["stories"]),
                "overall": (("stories", *shares), [score["overall"]]),
                "by_category": (("story_category", "stories", *shares), score["by_category"]),
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


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


_AT_ONCE = 200


def exchange(exchanged: Exchanged) -> Iterator[File]:
    """Manifest and metrics, the dataset that the manifest names, then raw and csv folders, some stories at a time."""
    records = {sample.key: record_of_sample(sample) for sample in exchanged.samples}
    every = list(records.values())
    yield "manifest.json", _bytes(json.dumps(_manifest(every, exchanged), ensure_ascii=False, indent=2))
    texts = {}
    for key, answers in exchanged.answers.items():  # a judgement as the tables that the released code reads
        record, how = records[key], Judging.of(exchanged.settings, key)
        if JUDGE in answers and not how.as_published:
            answers = {**answers, JUDGE: released_text(record, answers, how)}
        texts[record.story_id] = answers
    yield from metric_files(score_official(every, texts))
    yield exchanged.dataset, exchanged.dataset_lines()
    for at in range(0, len(exchanged.samples), _AT_ONCE):
        batch = exchanged.samples[at : at + _AT_ONCE]
        calls = {records[key].story_id: by_step for key, by_step in exchanged.exchanges(batch).items()}
        yield from files([records[sample.key] for sample in batch], calls)


def _manifest(records: Sequence[Record], exchanged: Exchanged) -> Json:
    """Return the manifest with what was sent at the steps that the model took part in."""
    asked, settings = exchanged.asked, exchanged.settings
    judge: Json = {"judge_fewshots": 0, "include_story_context": False}
    if JUDGE in exchanged.steps:
        judge = {
            "judge_model": exchanged.judge,
            "judge_fewshots": exchanged.examples.get(JUDGE, 0),
            "include_story_context": bool(settings.judge_reads_prompts and settings.options["with_story"]),
        }
    return manifest(
        records,
        exchanged.dataset,
        asked.provider,
        [step for step in FOLDERS if step in exchanged.steps],
        model=asked.model,
        api_provider=asked.provider if asked.hosted else None,
        temperature=0.0 if asked.reads_prompts and asked.sets_temperature else None,
        max_new_tokens=settings.max_tokens if asked.reads_prompts else None,
        **judge,
    )


def _judge(text: str, tables: Tables) -> Json:
    """The counts of the given rows, or the rows as parsed where none are given."""
    sides: Json = {}
    for side, judged in zip(("pred", "gold"), parse_judgement(text), strict=True):
        sides[side] = [row.keyed() for row in judged]
        if side in tables:
            pairs = [(actor, belief) for actor, belief in tables[side]]
            sides[side] = [[*row, count] for row, count in zip(pairs, align(pairs, judged), strict=True)]
    return sides


_ROWS = {
    "pred": "JSON [[actor, belief], …] of the predicted rows",
    "gold": "JSON [[actor, belief], …] of the gold rows",
}
PARSERS = {
    EXTRACT: Parser(lambda text, _: {"rows": extraction_rows(text)}),
    LABEL: Parser(lambda text, _: {"rows": [row.cells() for row in label_rows(text)]}),
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
    ids = parse_story_ids(story_ids) if story_ids.strip() else frozenset(texts)
    chosen = list(select(records, ids, max_stories))
    if not chosen:
        raise ValueError("No story is selected.")
    answers_by_story = {
        story: {step: without_thoughts(text) for step, text in steps.items()} for story, steps in texts.items()
    }
    return ParsedScores(score_official(chosen, texts), score_repaired(chosen, answers_by_story, seed=seed))


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
