"""The table of scores without the judge's error."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmark.domain.tables import OF, Cells, Column, Source, Table
from benchmark.suites.registry import group_named, nouns_of_group, units_of_group
from benchmark.suites.results import Section, ShownTable
from benchmark.suites.showing.corrected import BESIDE, heads_of_counts, notes_of_counts
from core.messages import Sentence, gettext_noop
from judge.domain.corrections import CorrectedRow, Corrections, differing_text

NAME = "corrected"
_GROUPS = (
    ("official", gettext_noop("Official")),
    ("lenient", gettext_noop("Lenient")),
    ("corrected", gettext_noop("Corrected")),
)


def correction_sections() -> list[Section]:
    """Return the part of a page that corrected scores have."""
    return [Section(gettext_noop("Corrected for the judge's error"), (), (NAME,))]


def correction_tables(corrections: Corrections) -> Iterator[tuple[str, ShownTable]]:
    """Yield the table by its name."""
    yield NAME, ShownTable(partial(correction_table, corrections))


def correction_table(corrections: Corrections) -> Table:
    """Tabulate the official, lenient and corrected scores of each model."""
    columns = [Column(key="model", header=gettext_noop("Model"))]
    shares = group_named(corrections.group).corrected
    columns += [_column(name, group, metric, corrections.group) for name, group in _GROUPS for metric in shares]
    columns += [
        *(Column(key=key, header=header, kind="count") for key, header in heads_of_counts(corrections.group).items()),
        *BESIDE.values(),
        Column(key="effective", header=gettext_noop("Effective sample size"), kind="number", digits=1),
    ]
    return Table(
        title=gettext_noop("Scores corrected for the judge's error"),
        columns=columns,
        rows=[_cells(row, corrections) for row in corrections.rows],
        lead=_lead(corrections),
        notes=_notes(corrections),
    )


def _column(name: str, heading: str, metric: str, group: str) -> Column:
    described, key = group_named(group), f"{name}-{metric}"
    header = described.headers[described.corrected[metric]]
    interval = f"{key}-interval" if name == "corrected" else ""
    return Column(key=key, header=header, kind="share", unit="%", group=heading, interval=interval)


def _cells(row: CorrectedRow, corrections: Corrections) -> Cells:
    cells: Cells = {
        "model": row.model, "aligned": row.aligned, "judged": row.judged, "unjudged": row.unjudged,
        "unseen": row.unseen, "effective": row.effective,
    }  # fmt: skip
    for metric in group_named(corrections.group).corrected:
        score = row.corrected.get(metric)
        cells[f"official-{metric}"] = row.official.get(metric)
        cells[f"lenient-{metric}"] = row.lenient.get(metric)
        cells[f"corrected-{metric}"] = score and score.value
        cells[f"corrected-{metric}-interval"] = score and score.interval
        cells[f"corrected-{metric}-interval_reason"] = score and score.reason
    source = Source(
        key=row.key, kind=row.kind, run=row.run, entrant=row.entrant, group=corrections.group,
        study=corrections.uid, version=corrections.version,
    )  # fmt: skip
    return {**cells, OF: source}


def _lead(corrections: Corrections) -> list[str]:
    if not corrections.warns or corrections.differing is None:
        return []
    return [differing_text(corrections.differing)]


def _notes(corrections: Corrections) -> list[str]:
    study, group = corrections.study, corrections.group
    aligned, judged = units_of_group(group), nouns_of_group(group)[1]
    return [
        Sentence(
            "Corrected: prediction-powered (PPI++) from the judge's scores of all {judged} that could be "
            "drawn and what people said of the aligned ones, in the study {study}. Brackets: 95 % "
            "intervals over aligned {aligned}.",
            judged=judged,
            study=study,
            aligned=aligned,
        ),
        *notes_of_counts(group),
    ]
