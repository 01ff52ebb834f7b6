"""Lines of calibration reports, panels and bridges for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmark.services.calibration_documents import (
    BridgeDocument,
    CalibrationDocument,
    ChosenJudge,
    JudgedDocument,
    PanelDocument,
)
from judge.domain.calibration.agreement import Agreement, SpannedEstimate
from judge.domain.calibration.score import Corrected


@dataclass(frozen=True, slots=True)
class ChoiceDocument:
    """The choice of a judge that a command kept with a study, and the one that it replaced."""

    study: str
    chosen: ChosenJudge | None
    replaced: ChosenJudge | None


Document = CalibrationDocument | ChoiceDocument | PanelDocument | BridgeDocument


def lines_of(document: Document) -> Iterator[str]:
    """Yield the lines of what `calibrate_judge` has of a choice, of reports, a panel or a bridge."""
    match document:
        case PanelDocument():
            yield from _panel(document)
        case BridgeDocument():
            yield from _bridge(document)
        case ChoiceDocument():
            yield from _kept(document)
        case CalibrationDocument():
            yield f"study: {document.study}"
            yield f"settled tables: {document.settled:,}"
            yield f"chosen: {_choice(document.chosen)}"
            for judge in document.judges:
                yield from _judge(judge, document.score, document.table)


def _kept(document: ChoiceDocument) -> Iterator[str]:
    yield f"study: {document.study}"
    yield f"chosen: {_choice(document.chosen)}"
    if replaced := document.replaced:
        yield f"in place of: {_choice(replaced)} (chosen by {replaced.by or 'a command'}, {replaced.at})"


def _choice(chosen: ChosenJudge | None) -> str:
    return f"{chosen.judge} ({chosen.version[:12]}), {chosen.reason}" if chosen else "none"


def _judge(report: JudgedDocument, score: str, table: str) -> Iterator[str]:
    yield f"{report.judge} ({report.version[:12]}): {report.reason}"
    if report.caution:
        yield f"  {report.caution}"
    if report.highest:
        yield f"  {report.highest}"
    overall = report.calibration.overall
    with_verdicts = f"{report.compared_rows:,} of {overall.rows:,}"
    yield f"  rows with both verdicts: {with_verdicts} in {report.aligned_tables:,} tables"
    yield from _agreement(overall, table)
    for model, corrected in report.corrected.items():
        f1 = corrected.scores["f1"]
        alone = f"judge alone {_share(f1.judged)}, people alone {_share(f1.human)}"
        yield f"  {model}: {score} corrected {_estimate(f1)}, {alone}"


def _agreement(agreement: Agreement, table: str) -> Iterator[str]:
    shares = {
        f"agreement by {table}": agreement.by_story,
        "agreement by row": agreement.by_row,
        "sensitivity": agreement.sensitivity,
        "specificity": agreement.specificity,
    }
    for name, estimate in shares.items():
        yield f"  {name}: {_estimate(estimate)}"
    kappa = agreement.kappa
    yield "  kappa: " + (_none(kappa) if kappa.value is None else f"{kappa.value:.3f} {_ends(kappa, 1, 3)}")


def _panel(document: PanelDocument) -> Iterator[str]:
    yield f"tables that people aligned and all judged: {document.tables:,}"
    for judge in document.judges.values():
        yield f"{judge.judge}, family {judge.family or 'unknown'}, left out of {judge.left_out:,} tables"
        yield from _agreement(judge.agreement, document.table)
    for name, votes in (("majority", document.majority), ("weighted", document.weighted)):
        yield name
        yield from _agreement(votes, document.table)


def _bridge(document: BridgeDocument) -> Iterator[str]:
    order = {True: "the order changes", False: "the order stays", None: "whether the order changes cannot be told"}
    bridge = document.bridge
    yield f"{document.old.judge} to {document.new.judge}, over {document.tables:,} tables"
    yield order[bridge.reordered]
    for model in bridge.models:
        before, after = model.silent
        p = "" if model.p is None else f", p {model.p:.4f}"
        scores = f"{_share(model.old.value)} to {_share(model.new.value)}"
        yield f"  {model.model}: {scores}, {_estimate(model.change)}{p}"
        yield f"    rows without a verdict: {before:,} before, {after:,} after, of {model.rows:,}"
    yield f"rows on which both have a verdict: {bridge.rows:,}, the same {_estimate(bridge.same)}"


def _share(value: float | None) -> str:
    return "not known" if value is None else f"{100 * value:.2f} %"


def _estimate(estimate: SpannedEstimate | Corrected) -> str:
    if estimate.value is None:
        return _none(estimate)
    return f"{_share(estimate.value)} {_ends(estimate, 100, 1)}"


def _ends(estimate: SpannedEstimate | Corrected, scale: int, places: int) -> str:
    """The interval, or why there is none."""
    if not (ends := estimate.interval):
        return f"({estimate.reason})"
    return f"[{scale * ends[0]:.{places}f}, {scale * ends[1]:.{places}f}]"


def _none(estimate: SpannedEstimate | Corrected) -> str:
    return f"not known ({estimate.reason})" if estimate.reason else "not known"
