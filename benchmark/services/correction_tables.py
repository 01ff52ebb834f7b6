"""The table of scores without the judge's error."""

from benchmark.domain.tables import OF, Cell, Cells, Column, Source, Table
from benchmark.suites.registry import group_named, nouns_of_group, units_of_group
from benchmark.suites.showing.corrected import BESIDE, heads_of_counts, notes_of_counts
from core.messages import Sentence, gettext_noop
from judge.domain.corrections import CorrectedRow, Corrections, differing_text

NAME = "corrected"
_GROUPS = {
    "official": gettext_noop("Official"),
    "lenient": gettext_noop("Lenient"),
    "corrected": gettext_noop("Corrected"),
}


def correction_table(corrections: Corrections) -> Table:
    """Tabulate the official, lenient and corrected scores of each model."""
    group, described = corrections.group, group_named(corrections.group)
    heads = {metric: described.headers[share] for metric, share in described.corrected.items()}
    return Table(
        title=gettext_noop("Scores corrected for the judge's error"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            *(
                Column(key=f"{name}-{metric}", header=header, kind="share", unit="%", group=heading)
                for name, heading in _GROUPS.items()
                for metric, header in heads.items()
            ),
            *(Column(key=key, header=header, kind="count") for key, header in heads_of_counts(group).items()),
            *BESIDE.values(),
            Column(key="effective", header=gettext_noop("Effective sample size"), kind="number", digits=1),
        ],
        rows=[_cells(row, corrections) for row in corrections.rows],
        lead=[differing_text(corrections.differing)] if corrections.warns and corrections.differing is not None else [],
        notes=[
            Sentence(
                "Corrected: prediction-powered (PPI++) from the judge's scores of all {judged} that could be "
                "drawn and what people said of the aligned ones, in the study {study}. Brackets: 95 % "
                "intervals over aligned {aligned}.",
                judged=nouns_of_group(group)[1],
                study=corrections.study,
                aligned=units_of_group(group),
            ),
            *notes_of_counts(group),
        ],
    )


def _cells(row: CorrectedRow, corrections: Corrections) -> Cells:
    cells: Cells = {
        name: getattr(row, name) for name in ("model", "aligned", "judged", "unjudged", "unseen", "effective")
    }
    for metric in group_named(corrections.group).corrected:
        cells[f"official-{metric}"] = row.official.get(metric)
        cells[f"lenient-{metric}"] = row.lenient.get(metric)
        if score := row.corrected.get(metric):
            cells[f"corrected-{metric}"] = Cell(score.value, score.interval, reason=score.reason)
    cells[OF] = Source(
        key=row.key, kind=row.kind, run=row.run, entrant=row.entrant, group=corrections.group,
        study=corrections.uid, version=corrections.version,
    )  # fmt: skip
    return cells
