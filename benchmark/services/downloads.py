"""Files of results: tables, scores by item, and the official output folder as a zip."""

import csv
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from tempfile import TemporaryFile
from typing import Any

from django.db.models import QuerySet

from annotation.domain.columns import Echo, defused
from benchmark.domain.tables import Cells, Table, to_csv, to_json, to_latex
from benchmark.models import AnswerFormat, Dataset, Entrant, Run, RunItem
from benchmark.services.across import tables_across
from benchmark.services.asking import sample_asked, settings_of
from benchmark.services.comparison_tables import tables_of as comparison_tables
from benchmark.services.documents import Document, tables_of
from benchmark.services.plot_data import comparison_picture, pictures_across, plots_of
from benchmark.suites.answers import Asked, Exchange, Exchanged, File, Files
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import Sample
from benchmark.suites.registry import suite_named
from core.messages import Sentence, gettext_noop
from workers.providers.registry import find, without_prompts

WRITERS = {"csv": to_csv, "json": to_json, "tex": to_latex}
TABLE_TYPES = {"csv": "text/csv", "json": "application/json", "tex": "application/x-tex"}
_AT_ONCE = 200
NOT_WHOLE = "not-whole.txt"
"""Says in a folder of the released code why files are missing in it."""


def table_file(table: Table, suffix: str, name: str = "") -> bytes:
    """Return the table in the format `suffix`, a key of WRITERS; in LaTeX its `name` makes its label."""
    if suffix == "tex" and name:
        return to_latex(table, label=f"tab:{name.replace('_', '-')}")
    return WRITERS[suffix](table)


def document_files(kind: str, document: Document, model: str = "") -> Mapping[str, Any]:
    """Return the tables or the pictures of a document by name, as `kind` "table" or "plot" says, made when they are
    asked for. Of rankings across suites these are of all models, or of one by its key."""
    if document.rankings is not None:
        return (tables_across if kind == "table" else pictures_across)(document.rankings, model)
    if document.comparison:
        comparison = document.comparison
        return comparison_tables(comparison) if kind == "table" else {"two-models": comparison_picture(comparison)}
    return tables_of(document) if kind == "table" else plots_of(document)


SCORE_COLUMNS = (
    "model", "step", "story_id", "story_category", "official", "repaired", "unreadable", "state", "rows_not_judged",
    "repetition", "sample",
    "cluster",
)  # fmt: skip
WITHHELD = gettext_noop("withheld: you still have work to do on this story")
_SCORED = (
    "entrant__name", "step", "sample__number", "sample__category", "score", "repaired_score", "unreadable",
    "item__state", "call_id", "unjudged",
    "repetition", "sample__key", "sample__cluster",
)  # fmt: skip


def score_values(run: Run) -> QuerySet[RunItem, tuple[Any, ...]]:
    """Return what `score_row` makes a row of, for every item, models in the run's order."""
    rows = RunItem.objects.filter(entrant__run=run)
    rows = rows.order_by("entrant__position", "step", "repetition", "sample__position")
    return rows.values_list(*_SCORED)


def score_row(values: Sequence[Any], closed: Set[int] = frozenset()) -> Cells:
    """Return one item's scores by SCORE_COLUMNS: fractions, None where there is none. A story in `closed` says that it
    is withheld, and nothing else."""
    name, step, number, category, score, repaired, unreadable, state, call, unjudged, turn, key, cluster = values
    row = {"model": name, "step": step, "story_id": number, "story_category": category, "repetition": turn + 1}
    row |= {"sample": key, "cluster": cluster}
    if number in closed:
        return row | dict.fromkeys(("official", "repaired", "rows_not_judged")) | {"unreadable": "", "state": WITHHELD}
    state = state or ("done" if call else "failed" if unreadable else "waiting")
    return row | {
        "official": score,
        "repaired": repaired,
        "unreadable": unreadable,
        "state": state,
        "rows_not_judged": unjudged,
    }


def score_lines(run: Run, closed: Set[int] = frozenset()) -> Iterator[str]:
    """Every item's scores as CSV, empty where there is none; texts that a spreadsheet would run are defused. Rows of
    stories in `closed` say that they are withheld, and nothing else."""
    writer = csv.writer(Echo())
    yield writer.writerow(SCORE_COLUMNS)
    for values in score_values(run).iterator(chunk_size=2000):
        row = score_row(values, closed)
        yield writer.writerow([_cell(row[name]) for name in SCORE_COLUMNS])


def _cell(value: Any) -> str | int:
    if isinstance(value, str):
        return defused(value)
    return "" if value is None else repr(value) if isinstance(value, float) else value


def zipped(files: Iterable[File]) -> Iterator[bytes]:
    """Yield a zip archive of the files piece by piece, once all are packed."""
    with TemporaryFile() as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
            for path, data in files:
                entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))  # the same results are the same file
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, data)
        packed.seek(0)
        yield from iter(partial(packed.read, 1 << 20), b"")


def no_official_output(run: Run) -> str:
    """Return why a run has no folder of the released code, as a sentence; empty where it has one."""
    suite = suite_named(run.suite)
    if suite.released.exchange is None:
        return Sentence("{suite} has no official folder.", suite=suite.title)
    return (
        ""
        if run.answer_format == AnswerFormat.TEXT
        else gettext_noop("Structured output has no official layout: the released code could not read it.")
    )


def output_files(entrant: Entrant) -> Files:
    """Return the files that the released code would have left behind for this model, none where its suite has no such
    folder. Of several repetitions they are of the first. A file NOT_WHOLE ends them where the suite could not make them
    all."""
    suite = suite_named(entrant.run.suite)
    chosen = [step.key for step in suite.steps if step.chosen]
    items = RunItem.objects.filter(entrant=entrant, step__in=chosen, repetition=0)
    try:
        yield from suite.released.exchange(_exchanged(entrant, items)) if suite.released.exchange else ()
    except SuiteFailed as error:  # the first files are on their way already
        yield NOT_WHOLE, f"{error}\n".encode()


def _exchanged(entrant: Entrant, items: QuerySet[RunItem]) -> Exchanged:
    run = entrant.run
    samples = run.dataset.samples.filter(pk__in=items.values("sample")).order_by("position")
    rows = {row.pk: sample_asked(run, row) for row in samples.defer("votes", "methods", "adjudications")}
    ids = {sample.key: pk for pk, sample in rows.items()}
    answers: dict[str, dict[str, str]] = {}
    answered = items.filter(call__isnull=False).values_list("sample__key", "step", "call__answer")
    for key, step, answer in answered.iterator(chunk_size=_AT_ONCE):
        answers.setdefault(key, {})[step] = answer

    def exchanges(chosen: Sequence[Sample]) -> dict[str, dict[str, Exchange]]:
        calls: dict[str, dict[str, Exchange]] = {}
        rows = items.filter(sample__in=[ids[sample.key] for sample in chosen], call__isnull=False)
        for key, step, body, answer in rows.values_list("sample__key", "step", "call__body", "call__answer"):
            calls.setdefault(key, {})[step] = Exchange(*_sent(body), answer)
        return calls

    examples: dict[str, int] = {}
    for row in run.provenance.examples:
        examples[row.step] = max(examples.get(row.step, 0), row.most)
    return Exchanged(
        asked=_asked(entrant),
        samples=list(rows.values()),
        steps=frozenset(items.order_by().values_list("step", flat=True)),
        answers=answers,
        exchanges=exchanges,
        settings=settings_of(run),
        examples=examples,
        judge=judge.model if (judge := run.provenance.judge) else None,
        dataset=f"{run.project.slug}-v{run.dataset.version}.jsonl",
        dataset_lines=partial(dataset_lines, run.dataset),
    )


def _asked(entrant: Entrant) -> Asked:
    spec = entrant.asked_as
    provider = spec.provider or ""
    return Asked(
        model=entrant.name if spec.model is None else spec.model,
        provider=provider,
        hosted=bool(provider and find(provider).hosted),
        reads_prompts=provider not in without_prompts(),
        sets_temperature=spec.sets_temperature is not False,
    )


def _sent(body: str) -> tuple[str, str]:
    """Return (system, user) of a call's body; of a baseline, which is sent no text, the data that it read."""
    request: Mapping[str, Any] = json.loads(body)
    if not request.get("messages"):
        return "", json.dumps(request.get("task", {}), ensure_ascii=False, indent=1)
    texts_by_role = {"system": [_text(request.get("system") or "")], "user": []}
    for message in request["messages"]:
        texts_by_role.setdefault(message["role"], []).append(_text(message["content"]))
    return "\n\n".join(filter(None, texts_by_role["system"])), "\n\n".join(texts_by_role["user"])


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


def dataset_lines(dataset: Dataset) -> bytes:
    """Yield the whole version in the record format, a story a line."""
    stories = dataset.samples.order_by("position").defer("votes", "methods", "adjudications")
    lines = (json.dumps(story.record, ensure_ascii=False) for story in stories.iterator(chunk_size=_AT_ONCE))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
