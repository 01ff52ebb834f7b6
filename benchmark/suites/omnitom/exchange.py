"""The folder of the released runner for one model of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmark.suites.answers import Exchanged, File
from benchmark.suites.omnitom.judgement_rows import released_text
from benchmark.suites.omnitom.judgements import Judging
from benchmark.suites.omnitom.layout import Settings, files
from benchmark.suites.omnitom.official import score_official
from benchmark.suites.omnitom.records import Record, record_of_sample
from benchmark.suites.omnitom.results import GroupScores
from benchmark.suites.omnitom.step_keys import EXTRACT, JUDGE, LABEL
from core.plain import Json

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
