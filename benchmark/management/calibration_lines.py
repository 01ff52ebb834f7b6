"""What a person reads of calibration reports, panels and bridges on a terminal, from their documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

AGREEMENT = {
    "by_story": "agreement by {table}", "by_row": "agreement by row", "sensitivity": "sensitivity",
    "specificity": "specificity",
}  # fmt: skip
ALONE = "kappa"


def lines_of(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the document that `calibrate_judge` has of a choice, of reports, a panel or a bridge."""
    if "majority" in document:
        yield from _panel(document)
    elif "old" in document:
        yield from _bridge(document)
    else:
        yield f"study: {document['study']}"
        if "settled" in document:
            yield f"settled tables: {document['settled']:,}"
        yield f"chosen: {_choice(document['chosen'])}"
        if replaced := document.get("replaced"):
            by = replaced["by"] or "a command"
            yield f"in place of: {_choice(replaced)} (chosen by {by}, {replaced['at']})"
        for judge in document.get("judges", ()):
            yield from _judge(judge, document["score"], document["table"])


def _choice(chosen: Mapping[str, Any] | None) -> str:
    return f"{chosen['judge']} ({chosen['version'][:12]}), {chosen['reason']}" if chosen else "none"


def _judge(report: Mapping[str, Any], score: str, table: str) -> Iterator[str]:
    yield f"{report['judge']} ({report['version'][:12]}): {report['reason']}"
    if report["caution"]:
        yield f"  {report['caution']}"
    overall = report["calibration"]["overall"]
    with_verdicts = f"{report['known']:,} of {overall['rows']:,}"
    yield f"  rows with both verdicts: {with_verdicts} in {report['aligned_tables']:,} tables"
    yield from _agreement(overall, table)
    for model, corrected in report["corrected"].items():
        f1 = corrected["scores"]["f1"]
        alone = f"judge alone {_share(f1['judged'])}, people alone {_share(f1['human'])}"
        yield f"  {model}: {score} corrected {_estimate(f1)}, {alone}"


def _agreement(of: Mapping[str, Any], table: str) -> Iterator[str]:
    for key, name in AGREEMENT.items():
        yield f"  {name.format(table=table)}: {_estimate(of[key])}"
    kappa = of[ALONE]
    yield "  kappa: " + (_none(kappa) if kappa["value"] is None else f"{kappa['value']:.3f} {_ends(kappa, 1, 3)}")


def _panel(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"tables that people aligned and all judged: {document['tables']:,}"
    for judge in document["judges"].values():
        yield f"{judge['judge']}, family {judge['family'] or 'unknown'}, left out of {judge['left_out']:,} tables"
        yield from _agreement(judge["agreement"], document["table"])
    for name in ("majority", "weighted"):
        yield name
        yield from _agreement(document[name], document["table"])


def _bridge(document: Mapping[str, Any]) -> Iterator[str]:
    order = {True: "the order changes", False: "the order stays", None: "whether the order changes cannot be told"}
    yield f"{document['old']['judge']} to {document['new']['judge']}, over {document['tables']:,} tables"
    yield order[document["reordered"]]
    for model in document["models"]:
        before, after = model["silent"]
        p = "" if model["p"] is None else f", p {model['p']:.4f}"
        scores = f"{_share(model['old']['value'])} to {_share(model['new']['value'])}"
        yield f"  {model['model']}: {scores}, {_estimate(model['change'])}{p}"
        yield f"    rows without a verdict: {before:,} before, {after:,} after, of {model['rows']:,}"
    yield f"rows on which both have a verdict: {document['rows']:,}, the same {_estimate(document['same'])}"


def _share(value: float | None) -> str:
    return "not known" if value is None else f"{100 * value:.2f} %"


def _estimate(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return _none(estimate)
    return f"{_share(estimate['value'])} {_ends(estimate, 100, 1)}"


def _ends(estimate: Mapping[str, Any], scale: int, places: int) -> str:
    """The interval, or why there is none."""
    if not (ends := estimate.get("interval")):
        return f"({estimate['reason']})"
    return f"[{scale * ends[0]:.{places}f}, {scale * ends[1]:.{places}f}]"


def _none(estimate: Mapping[str, Any]) -> str:
    return f"not known ({estimate['reason']})" if estimate.get("reason") else "not known"
