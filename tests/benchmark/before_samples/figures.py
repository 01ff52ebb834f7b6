"""Everything that an installation prints of its datasets and runs, as JSON; written for the code of before and of now
alike."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import asdict
from itertools import pairwise, product
from typing import Any

from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import User
from benchmark.management.commands._runs import run_summary
from benchmark.models import AnswerFormat, Dataset, Run, SharedReport
from benchmark.services.documents import as_json as document_as_json
from benchmark.services.documents import document_of, tables_of
from benchmark.services.downloads import no_official_output, output_files, score_lines, table_file, zipped
from benchmark.services.watching import StepProgress, step_progress

SLUG = "before"


def printed(*args: Any) -> Any:
    """What a command prints with --json; what it refuses, as {"refused": its sentence}."""
    out = io.StringIO()
    try:
        call_command(*map(str, args), "--json", stdout=out, stderr=io.StringIO())
    except CommandError as error:
        return {"refused": str(error)}
    return json.loads(out.getvalue())


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def figures() -> dict[str, Any]:
    """By name: what each command and page says of the project `before`."""
    runs = list(Run.objects.order_by("id"))
    client = Client()
    client.force_login(User.objects.get(username="alice"))
    return as_json({
        "datasets": [_dataset(one) for one in Dataset.objects.order_by("version")],
        "frozen again": printed("freeze_gold", "--project", SLUG),
        "agreement": printed("agreement", "--project", SLUG),
        "boards": dict(_boards(runs)),
        "compared": dict(_compared(runs)),
        "runs": {run.title: _run(run, client) for run in runs},
        "shared": {one.title: _shared(one, client) for one in SharedReport.objects.order_by("id")},
    })  # fmt: skip


def _dataset(dataset: Dataset) -> dict[str, Any]:
    held = dataset.samples if hasattr(dataset, "samples") else dataset.stories
    names = ("number", "category", "split", "story_id", "position", "methods", "votes", "adjudications", "digest")
    own = (
        "uid",
        "version",
        "digest",
        "stories_count",
        "propositions_count",
        "left_out",
        "methods",
        "note",
        "created_at",
    )
    rows = [{name: getattr(one, name) for name in names} | {"record": one.record} for one in held.order_by("position")]
    return {name: getattr(dataset, name) for name in own} | {"rows": rows}


def _boards(runs: list[Run]):
    parts = ("calibration", *(f"run:{run.uid}" for run in runs if run.params["limit"] or run.params["split"]))
    for version, form in product(
        Dataset.objects.order_by("version").values_list("version", flat=True), AnswerFormat.values
    ):
        asked = ("leaderboard", "--project", SLUG, "--dataset", version, "--form", form)
        for more in ((), ("--all-runs",), *(("--split", one) for one in parts)):
            yield " ".join(map(str, asked[3:] + more)), printed(*asked, *more)


STAGES = {"extract": "judge", "label": "label"}
"""What `compare_models` calls a stage, and the places that its scores come from."""


def _compared(runs: list[Run]):
    """Of each dataset and form, each model that has scores of the stage with the next and with the first."""
    entrants = [one for run in runs for one in run.entrants.all()]
    kinds = dict.fromkeys((run.dataset_id, run.answer_format) for run in runs)
    for (dataset, form), (stage, places) in product(kinds, STAGES.items()):
        alike = [one for one in entrants if (one.run.dataset_id, one.run.answer_format) == (dataset, form)]
        models = [one for one in alike if one.items.filter(step=places).exists()]
        pairs = [*pairwise(models), *((models[0], one) for one in models[2:])]
        for (one, other), parse in product(pairs, ("official", "repaired")):
            chosen = ("--model", one.name, "--other-model", other.name, "--stage", stage, "--reading", parse)
            told = printed("compare_models", one.run.uid, other.run.uid, *chosen)
            yield " ".join((one.run.uid, other.run.uid, *chosen)), told


def _of_annotator(run: Run) -> list[dict[str, str]]:
    """What Bob may see, who has work left: the scores without those of the stories that he still labels."""
    client = Client()
    client.force_login(User.objects.get(username="bob"))
    return _scores(b"".join(client.get(f"/p/{SLUG}/runs/{run.uid}/scores.csv")).decode())


def _scores(text: str) -> list[dict[str, str]]:
    """Rows by the names of their columns, which may become more."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def _cells(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode())))


def _run(run: Run, client: Client) -> dict[str, Any]:
    document = document_of(run)
    return {
        "told": run_summary(run, scores=True).as_json(),
        "document": document_as_json(document),
        "standings": [_standing(one) for one in step_progress(run, now=run.created_at)],
        "scores.csv": _scores("".join(score_lines(run))),
        "scores of an annotator": _of_annotator(run),
        "tables": {name: _cells(table_file(table(), "csv")) for name, table in tables_of(document).items()},
        "output": {one.name: _output(one) for one in run.entrants.all()} if not no_official_output(run) else {},
        "places": [_place(one) for entrant in run.entrants.all() for one in entrant.items.order_by("id")],
        "judge test": _judge_test(run),
        "items": _items(client, f"/p/{SLUG}/runs/{run.uid}/items/"),
    }


def _standing(row: StepProgress) -> dict[str, Any]:
    """Without what waits for a person, which installations of before did not count apart; a step was called a stage."""
    return {"stage" if name == "step" else name: value for name, value in asdict(row).items() if name != "held_back"}


def _output(entrant) -> dict[str, Any]:
    """The files of its official output by name; lines of JSON as values, whose keys PostgreSQL keeps in no order."""
    archive = zipfile.ZipFile(io.BytesIO(b"".join(zipped(output_files(entrant)))))
    held = {name: archive.read(name).decode() for name in archive.namelist()}
    return {
        name: [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else text
        for name, text in held.items()
    }


READ = ("call_id", "official", "repaired", "score", "repaired_score", "unusable", "unjudged")


def _place(place) -> dict[str, Any]:
    sample = place.sample if hasattr(place, "sample") else place.story
    read = {name: getattr(place, name) for name in ("id", "entrant_id", *READ)}
    return read | {"stage": place.step, "number": sample.number}


def _judge_test(run: Run) -> list[dict[str, Any]]:
    tests = run.project.judge_tests.filter(judge=run.judge).order_by("id") if run.judge else ()
    return [
        {"version": test.version, "pairs": [[one.pk, one.pairs, one.counts, one.call_id] for one in test.items.all()]}
        for test in tests
    ]


def _shared(report: SharedReport, client: Client) -> dict[str, Any]:
    address = f"/p/{SLUG}/results/reports/{report.uid}/"
    document = client.get(address).context["document"]
    return {
        "kept": report.metrics,
        "document": document_as_json(document),
        "tables": _shared_tables(document, client, address),
        "places": [_place(one) | {"state": one.state, "problem": one.problem} for one in report.items.order_by("id")],
        "items": [
            _items(client, f"{address}items/?model={one}")
            for one in report.items.order_by("entrant").values_list("entrant", flat=True).distinct()
        ],
        "answers": _answers(report, client, address),
    }


def _shared_tables(document: Any, client: Client, address: str) -> dict[str, Any]:
    """The tables of a run as those of `_run`, the last of them as the page sends it."""
    makers = tables_of(document) if document.kind == "run" else {}
    sent = [*makers][-1:] or ["differences", "stories"]
    made = {name: _cells(table_file(make(), "csv")) for name, make in makers.items() if name not in sent}
    return made | {name: _cells(client.get(f"{address}tables/{name}.csv").content) for name in sent}


def _answers(report: SharedReport, client: Client, address: str) -> list[str]:
    """What the copied places answer, the last of them as the page sends it."""
    held = list(report.items.filter(call__isnull=False).select_related("call").order_by("id"))
    sent = [client.get(f"{address}items/{one.pk}/answer/").content.decode() for one in held[-1:]]
    return [one.call.answer for one in held[:-1]] + sent


def _items(client: Client, address: str) -> list[list[Any]]:
    """The rows of the page of items."""
    return [
        [row["item"].pk, row["state"], row["item"].step, row["item"].score, row["item"].repaired_score]
        for row in client.get(address).context["rows"]
    ]
