"""Files of results: tables, scores by item, and the official output folder as a zip."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Collection, Iterator, Mapping, Set
from typing import Any

from annotation.domain.spreadsheet import Echo, defused
from benchmark.domain.tables import Table, to_csv, to_json, to_latex
from benchmark.models import LAUNCHED, Dataset, Entrant, Form, Run, RunItem, Stage
from benchmark.services.asking import reads_prompts
from benchmark.suites.omnitom.layout import Exchange, File, Settings, files
from benchmark.suites.omnitom.official import score_official
from benchmark.suites.omnitom.records import Record, record_of
from benchmark.suites.registry import suite_named
from workers.providers.registry import find, without_prompts

WRITERS = {"csv": to_csv, "json": to_json, "tex": to_latex}
TABLE_TYPES = {"csv": "text/csv", "json": "application/json", "tex": "application/x-tex"}
_AT_ONCE = 200


def table_file(table: Table, suffix: str) -> bytes:
    """`suffix` is a key of WRITERS."""
    return WRITERS[suffix](table)


SCORE_COLUMNS = (
    "model", "stage", "story_id", "story_category", "official", "repaired", "unusable", "state", "rows_not_judged", "repetition",
)  # fmt: skip


WITHHELD = "withheld: you still have work to do on this story"


def score_lines(run: Run, closed: Set[int] = frozenset()) -> Iterator[str]:
    """Every item's scores as CSV: fractions, empty where there is none; texts that a spreadsheet would run are defused. Rows of stories in
    `closed` say that they are withheld, and nothing else."""
    writer = csv.writer(Echo())
    yield writer.writerow(SCORE_COLUMNS)
    rows = RunItem.objects.filter(entrant__run=run).order_by(
        "entrant__position", "stage", "repetition", "sample__position"
    )
    held = rows.values_list(
        "entrant__name",
        "stage",
        "repetition",
        "sample__number",
        "sample__category",
        "score",
        "repaired_score",
        "unusable",
        "item__state",
        "unjudged",
    )
    for name, stage, turn, number, category, score, repaired, unusable, state, unjudged in held.iterator(
        chunk_size=2000
    ):
        if number in closed:
            yield writer.writerow([defused(name), stage, number, defused(category), "", "", "", WITHHELD, "", turn + 1])
            continue
        figures = ("" if one is None else repr(one) for one in (score, repaired))
        yield writer.writerow(
            [
                defused(name),
                stage,
                number,
                defused(category),
                *figures,
                defused(unusable),
                state or "done",
                unjudged,
                turn + 1,
            ]
        )


class _Pipe(io.RawIOBase):
    """What is written since `taken` was last called; cannot seek, so that zipfile streams."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        found, self.parts = b"".join(self.parts), []
        return found


def zipped(found: Iterator[File]) -> Iterator[bytes]:
    """A zip of the files, as they come."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        for path, data in found:
            entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))  # the same results are the same file
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
            if held := pipe.taken():
                yield held
    yield pipe.taken()


def no_official_output(run: Run) -> str:
    """Why a run has no folder of the released code, as a sentence; empty where it has one."""
    suite = suite_named(run.suite)
    if not suite.protocol:
        return f"{suite.title} has no official folder."
    return (
        ""
        if run.form == Form.TEXT
        else "Structured output has no official layout: the released code could not read it."
    )


def output_files(entrant: Entrant) -> Iterator[File]:
    """What the released runner would have left behind for this model: manifest, raw and csv folders, metrics; with the dataset
    that the manifest names. Of a run that asked everything several times, the first."""
    run = entrant.run
    places = RunItem.objects.filter(entrant=entrant, stage__in=LAUNCHED, repetition=0)
    stories = list(
        run.dataset.samples.filter(pk__in=places.values("sample"))
        .order_by("position")
        .defer("votes", "methods", "adjudications")
    )
    records = [record_of(story.record) for story in stories]
    texts: dict[int, dict[str, str]] = {}
    held = places.filter(call__isnull=False).values_list("sample__number", "stage", "call__answer")
    for number, stage, answer in held.iterator(chunk_size=_AT_ONCE):
        texts.setdefault(number, {})[stage] = answer
    settings = _settings(entrant, set(places.order_by().values_list("stage", flat=True)))
    scores = score_official(records, texts)
    yield from files(records, {}, scores, settings)
    yield settings.dataset_path, dataset_lines(run.dataset)
    for at in range(0, len(stories), _AT_ONCE):
        batch = stories[at : at + _AT_ONCE]
        yield from _story_files(
            [records[at + step] for step in range(len(batch))], places.filter(sample__in=batch), settings
        )


def _story_files(records: list[Record], places, settings: Settings) -> Iterator[File]:
    calls: dict[int, dict[str, Exchange]] = {}
    for number, stage, body, answer in places.filter(call__isnull=False).values_list(
        "sample__number", "stage", "call__body", "call__answer"
    ):
        calls.setdefault(number, {})[stage] = Exchange(*_sent(body), answer)
    ordered = {record.story_id: calls[record.story_id] for record in records if record.story_id in calls}
    yield from (one for one in files(records, ordered, {}, settings) if one[0] != "manifest.json")


def _sent(body: str) -> tuple[str, str]:
    """(system, user) of a call's body; of a baseline, which is sent no text, the data that it read."""
    held: Mapping[str, Any] = json.loads(body)
    if not held.get("messages"):
        return "", json.dumps(held.get("task", {}), ensure_ascii=False, indent=1)
    system = [_text(held.get("system") or "")]
    said = {"system": system, "user": []}
    for one in held["messages"]:
        said.setdefault(one["role"], []).append(_text(one["content"]))
    return "\n\n".join(filter(None, said["system"])), "\n\n".join(said["user"])


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


def dataset_lines(dataset: Dataset) -> bytes:
    """The whole version in the record format, a story a line."""
    stories = dataset.samples.order_by("position").defer("votes", "methods")
    lines = (json.dumps(story.record, ensure_ascii=False) for story in stories.iterator(chunk_size=_AT_ONCE))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _settings(entrant: Entrant, stages: Collection[str]) -> Settings:
    """What was sent at the stages that the model took part in."""
    run, spec = entrant.run, entrant.spec
    provider = spec.get("provider", "")
    sent = provider not in without_prompts()
    return Settings(
        dataset_path=f"{run.project.slug}-v{run.dataset.version}.jsonl",
        backend=provider,
        stages=[*(str(name) for name in (Stage.EXTRACT, Stage.LABEL, Stage.JUDGE) if name in stages), "metrics"],
        model=spec.get("model", entrant.name),
        api_provider=provider if provider and find(provider).hosted else None,
        temperature=0.0 if sent and spec.get("sets_temperature", True) else None,
        max_new_tokens=run.params.get("max_tokens", 6000) if sent else None,
        **(_judging(run) if Stage.JUDGE in stages else {"judge_fewshots": 0, "include_story_context": False}),
    )


def _judging(run: Run) -> dict[str, Any]:
    used = [row["most"] for row in run.spec.get("examples", ()) if row["stage"] == Stage.JUDGE]
    return {
        "judge_model": (run.spec.get("judge") or {}).get("model"),
        "judge_fewshots": max(used, default=0),
        "include_story_context": reads_prompts(run.judge) and bool(run.params.get("with_story", True)),
    }
