"""Tables of what changes from one version of a judge to another: every model's score, and how many rows have another
verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from benchmark.domain.tables import Cells, Column, Table
from benchmark.services.calibrated_panels import BridgeReport
from benchmark.services.calibration_tables import estimate_cells
from benchmark.services.calibration_words import CalibrationWords
from core.messages import Sentence, gettext_noop, word
from judge.domain.calibration.bridges import Bridged

CHANGE, VERDICTS = "change", "verdicts"


def bridge_tables(report: BridgeReport, words: CalibrationWords) -> dict[str, Callable[[], Table]]:
    """Return the tables of a change of the judge by name, each a function that makes it."""
    return {CHANGE: partial(_change, report, words), VERDICTS: partial(_verdicts, report, words)}


def _change(report: BridgeReport, words: CalibrationWords) -> Table:
    shares = {
        "old": Sentence("{score} before", score=word(words.score)),
        "new": Sentence("{score} after", score=word(words.score)),
        "change": gettext_noop("Difference"),
    }  # fmt: skip
    counts = {
        "n": words.units.capitalize(), "silent_before": gettext_noop("No verdict before"),
        "silent_after": gettext_noop("No verdict after"), "rows": gettext_noop("Rows"),
    }  # fmt: skip
    places = {"place_before": gettext_noop("Place before"), "place_after": gettext_noop("Place after")}
    return Table(
        title=gettext_noop("Change of the judge"),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            *_shares(shares),
            *_counts(counts),
            Column(key="p", header=gettext_noop("p, Holm"), kind="number", digits=4),
            *_counts(places),
            Column(key="why", header=gettext_noop("No figure because")),
        ],
        rows=[_model_cells(model, list(shares)) for model in report.bridge.models],
        lead=[f"{report.old.name} → {report.new.name}"],
        notes=[_over(words), gettext_noop("Over rows of which both have a verdict.")],
    )


def _model_cells(model: Bridged, shares: list[str]) -> Cells:
    cells: Cells = {
        "model": model.model, "n": model.change.n, "silent_before": model.silent[0], "silent_after": model.silent[1],
        "rows": model.rows, "p": model.p, "place_before": model.places[0], "place_after": model.places[1],
        "why": model.change.reason if model.change.value is None else None,
    }  # fmt: skip
    return cells | {name: cell for key in shares for name, cell in estimate_cells(key, getattr(model, key))}


def _verdicts(report: BridgeReport, words: CalibrationWords) -> Table:
    bridge = report.bridge
    counts = {
        "tables": gettext_noop("Tables"), "rows": gettext_noop("Rows with both verdicts"),
        "gained": gettext_noop("Became matched"), "lost": gettext_noop("Became unmatched"),
    }  # fmt: skip
    cells: Cells = {
        "before": report.old.name, "after": report.new.name, "tables": report.tables, "rows": bridge.rows,
        "gained": bridge.gained, "lost": bridge.lost,
    }  # fmt: skip
    return Table(
        title=gettext_noop("Verdicts before and after"),
        columns=[
            Column(key="before", header=gettext_noop("Before")),
            Column(key="after", header=gettext_noop("After")),
            *_counts(counts),
            *_shares({"same": gettext_noop("Same verdict")}),
        ],
        rows=[cells | dict(estimate_cells("same", bridge.same))],
        notes=[_over(words)],
    )


def _over(words: CalibrationWords) -> str:
    return Sentence("Brackets: 95 % intervals over {units}.", units=word(words.units))


def _shares(heads: Mapping[str, str]) -> list[Column]:
    return [
        Column(key=key, header=header, kind="share", unit="%", interval=f"{key}-interval")
        for key, header in heads.items()
    ]


def _counts(heads: Mapping[str, str]) -> list[Column]:
    return [Column(key=key, header=header, kind="count") for key, header in heads.items()]
