"""The calibration of judges as tables: agreement with people of one overall and by every group of rows, of all of a
study beside each other, and by the level of their prompt; corrected scores, MatchCounts, and the paired tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmark.domain.tables import Cells, Column, Table
from benchmark.services.sweeps import NO_LEVEL
from benchmark.suites.judges import Grouping
from core.messages import Sentence, gettext_noop, word
from core.statistics import MISSING_RULE
from judge.domain.calibration.agreement import Agreement, Calibration, SpannedEstimate
from judge.domain.calibration.corrected import Corrected
from judge.domain.calibration.selection import Selection
from judge.domain.calibration.tables import Metric
from judge.services.calibration import OF_STORIES, CalibrationReport, CalibrationWords, CorrectedModel, StudyReports

AGREEMENT, JUDGES, SCORES, COUNTS, RIVALS = "agreement", "judges", "corrected", "match-counts", "paired"
POOLED = "pooled"
_COUNTS = ("tables", "stories", "rows", "known")
KAPPA = "kappa"
_MEASURES = ("by_story", "by_row", "sensitivity", "specificity", KAPPA)


def _count_heads(words: CalibrationWords) -> dict[str, str]:
    heads = (
        gettext_noop("Tables"), words.units.capitalize(), gettext_noop("Rows"), gettext_noop("Rows with both verdicts"),
    )  # fmt: skip
    return dict(zip(_COUNTS, heads, strict=True))


def share_heads(words: CalibrationWords) -> dict[str, str]:
    """Return the heads of the shares that agreement has, by their keys."""
    heads = (
        words.agreement, gettext_noop("Agreement by row"), gettext_noop("Sensitivity"), gettext_noop("Specificity"),
    )  # fmt: skip
    return dict(zip(_MEASURES, heads, strict=False))


def kappa_column() -> Column:
    """Return the column of Cohen's κ."""
    return Column(
        key=KAPPA, header=gettext_noop("Cohen’s κ"), kind="number", digits=3, interval=f"{KAPPA}-interval",
    )  # fmt: skip


def agreement_table(report: CalibrationReport, words: CalibrationWords = OF_STORIES) -> Table:
    """Return a row for all rows together and for each category, evaluated model, group of rows and table."""
    columns = [
        Column(key="by", header=gettext_noop("By")),
        Column(key="group", header=gettext_noop("Group")),
        *(Column(key=key, header=header, kind="count") for key, header in _count_heads(words).items()),
        *(
            Column(key=key, header=header, kind="share", unit="%", interval=f"{key}-interval", bounds=f"{key}-bounds")
            for key, header in share_heads(words).items()
        ),
        kappa_column(),
    ]
    rows = [
        _cells(by, name, agreement) | {"key": key, "why": _why(agreement.by_story)}
        for key, by, groups in _groups(report, words)
        for name, agreement in groups.items()
    ]
    return Table(
        title=gettext_noop("Agreement of the judge with people"),
        columns=[*columns, *_whys(rows)],
        rows=rows,
        notes=[
            Sentence(
                "Brackets: 95 % intervals over {units}. Rows without a verdict are in the bounds alone.",
                units=word(words.units),
            ),
            *(grouping.note for grouping in words.groupings if grouping.note),
        ],
    )


def judges_table(kept: StudyReports, words: CalibrationWords = OF_STORIES) -> Table:
    """Return a row for each version of a judge of a study, the one that agrees most with people first: by table, as
    papers choose a judge, and by row."""
    columns = [
        Column(key="judge", header=gettext_noop("Judge")),
        Column(key="level", header=gettext_noop("Prompt level"), kind="count"),
        Column(key="tables", header=gettext_noop("Tables"), kind="count"),
        Column(key="known", header=gettext_noop("Rows with both verdicts"), kind="count"),
        *(
            Column(key=key, header=header, kind="share", unit="%", interval=f"{key}-interval", best="high")
            for key, header in share_heads(words).items()
        ),
        kappa_column(),
    ]
    rows = [
        _cells("", "", report.calibration.overall)
        | {"judge": report.judge.name, "level": report.judge.level, "why": _why(report.calibration.overall.by_story)}
        for report, _ in kept.reports
    ]
    return Table(
        title=gettext_noop("Judges by agreement with people"),
        columns=[*columns, *_whys(rows)],
        rows=sorted(rows, key=lambda row: -1.0 if row["by_story"] is None else row["by_story"], reverse=True),
        notes=[
            Sentence(
                "Agreement by {table}: matched or not, averaged over tables. The test says what differs.",
                table=words.table,
            ),
            *filter(None, [highest_of(kept)]),
        ],
    )


def scores_table(report: CalibrationReport, words: CalibrationWords = OF_STORIES) -> Table:
    """Return a row for each model: the score as the judge alone and as people alone have it, and corrected, with what
    stands beside it; where a model has too few aligned stories, also its score by the judge's error on all models."""
    pooled = any(model.pooled and model.pooled.interval for model in report.models)
    shares = {
        "judge": Sentence("{score}, judge alone", score=word(words.score)),
        "f1": Sentence("{score}, corrected", score=word(words.score)),
        "people": gettext_noop("People alone"),
        **({"precision": gettext_noop("Precision"), "recall": gettext_noop("Recall")} if words.sides else {}),
        "categories": Sentence("{score} over categories", score=word(words.score)),
        **(
            {POOLED: Sentence("{score}, by the judge's error on all models", score=word(words.score))} if pooled else {}
        ),
    }
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *(
            Column(key=key, header=name, kind="share", unit="%", interval=f"{key}-interval", bounds=f"{key}-bounds")
            for key, name in shares.items()
        ),
        Column(key="tuning", header="λ", kind="number"),
        Column(key="aligned", header=words.aligned, kind="count"),
        Column(key="stories", header=words.judged, kind="count"),
        Column(key="effective", header=gettext_noop("Worth, of people alone"), kind="number", digits=1),
    ]
    rows = [_score_cells(model, list(shares)) for model in report.models]
    return Table(
        title=gettext_noop("Corrected scores"),
        columns=[*columns, *_whys(rows)],
        rows=rows,
        notes=[
            Sentence(
                "Brackets: 95 % intervals over aligned {units}. λ is how much the judge counts.",
                units=word(words.units),
            ),
            *([DIFFERS if report.differing.warns else NO_EVIDENCE] if pooled else []),
        ],
    )


DIFFERS = gettext_noop("Do not use a score by the judge's error on all models: that error is shown to differ by model.")
NO_EVIDENCE = gettext_noop(
    "By the judge's error on all models: where too few tables of a model were aligned, if the judge errs on it as on "
    "the others. That it does is not shown."
)


def _score_cells(model: CorrectedModel, shares: Sequence[str]) -> Cells:
    own_estimates = {"judge": model.alone, "f1": model.f1, "people": model.people, "categories": model.by_category}
    own_estimates |= {POOLED: model.pooled or SpannedEstimate(None, 0)}
    estimates = {key: own_estimates.get(key) or model.scores[Metric(key)] for key in shares}
    cells: Cells = {
        "model": model.model, "tuning": model.tuning, "aligned": model.f1.aligned, "stories": model.f1.stories,
        "effective": model.f1.effective, "why": _why(model.f1) or _why(model.alone),
    }  # fmt: skip
    return cells | {name: cell for key, estimate in estimates.items() for name, cell in estimate_cells(key, estimate)}


def counts_table(report: CalibrationReport) -> Table:
    """Return a row for each pair of MatchCounts, people's and the judge's, that rows have."""
    columns = [
        Column(key="people", header=gettext_noop("People")),
        Column(key="judge", header=gettext_noop("Judge")),
        Column(key="rows", header=gettext_noop("Rows"), kind="count"),
    ]
    cells = sorted(report.calibration.confusion.items())
    rows: list[Cells] = [{"people": people, "judge": judge, "rows": n} for (people, judge), n in cells]
    return Table(title=gettext_noop("MatchCounts"), columns=columns, rows=rows)


def rivals_table(selection: Selection, words: CalibrationWords = OF_STORIES) -> Table:
    """Return a row for each other judge of the study, paired with this one over what both judged."""
    columns = [
        Column(key="judge", header=gettext_noop("Judge")),
        Column(
            key="agreement", header=words.agreement, kind="share", unit="%", interval="agreement-interval",
        ),
        Column(
            key="difference", header=gettext_noop("The chosen one less this one"), kind="share", unit="%",
            interval="difference-interval", bounds="difference-bounds",
        ),
        Column(key="stories", header=words.units.capitalize(), kind="count"),
        Column(key="p", header=gettext_noop("p, Holm"), kind="number", digits=4),
    ]  # fmt: skip
    rows: list[Cells] = [
        {"judge": rival.name, "stories": rival.difference.n, "p": rival.adjusted}
        | dict(estimate_cells("agreement", rival.agreement))
        | dict(estimate_cells("difference", rival.difference))
        for rival in selection.rivals
    ]
    lead = [selection.reason, *filter(None, [selection.highest])] if selection.rivals else []
    title = gettext_noop("Beside the other judges")
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=[PAIRED_ROWS, MISSING_RULE])


PAIRED_ROWS = gettext_noop(
    "Differences are over the rows on which people and both judges have a verdict; p is corrected over all pairs of "
    "judges."
)


def highest_of(kept: StudyReports) -> str:
    """Return the agreement of the judge that agrees most, without the optimism of choosing it, in words; empty where
    there is no choice."""
    return next((selection.highest for _, selection in kept.reports if selection.highest), "")


def rows_by_level(kept: StudyReports) -> dict[str, dict[int, tuple[Agreement, bool | None]]]:
    """Return by judge and level of its prompt how far it agrees with people, and whether that is not shown to differ
    from the best of them all, None where the two cannot be compared. A judge that reads no prompt is at `NO_LEVEL`."""
    comparable = [pair for pair in kept.reports if pair[0].calibration.overall.by_story.value is not None]
    best = max(comparable, key=lambda pair: pair[0].calibration.overall.by_story.value or 0.0, default=None)
    rivals = {rival.name: rival for rival in best[1].rivals} if best else {}
    by_judge: dict[str, dict[int, tuple[Agreement, bool | None]]] = {}
    for report, _ in kept.reports:
        judge, rival = report.judge, rivals.get(report.judge.name)
        alike = best is not None and report is best[0] if rival is None else rival.alike
        by_judge.setdefault(judge.judge, {})[judge.level or NO_LEVEL] = (
            report.calibration.overall,
            alike if best else None,
        )
    return by_judge


def report_tables(
    kept: StudyReports, report: CalibrationReport, selection: Selection, words: CalibrationWords
) -> dict[str, Callable[[], Table]]:
    """Return the tables of a report by name, each as a function that makes it."""
    return {
        AGREEMENT: partial(agreement_table, report, words),
        JUDGES: partial(judges_table, kept, words),
        SCORES: partial(scores_table, report, words),
        RIVALS: partial(rivals_table, selection, words),
        COUNTS: partial(counts_table, report),
    }


def _why(estimate: SpannedEstimate | Corrected) -> str | None:
    """Return why there is no estimate, None where there is one."""
    return estimate.reason if estimate.value is None else None


def _whys(rows: Iterable[Cells]) -> list[Column]:
    """The column of why estimates are missing, where any row lacks one."""
    return [Column(key="why", header=gettext_noop("No figure because"))] if any(row["why"] for row in rows) else []


def grouped(calibration: Calibration, words: CalibrationWords) -> list[tuple[Grouping, Mapping[str, Agreement]]]:
    """Return the agreement in the groups of each of the suite's groupings in which any row is."""
    by_grouping = [(grouping, calibration.by_grouping.get(grouping.key, {})) for grouping in words.groupings]
    return [(grouping, groups) for grouping, groups in by_grouping if any(groups)]


def _groups(report: CalibrationReport, words: CalibrationWords) -> Iterator[tuple[str, str, Mapping[str, Agreement]]]:
    """Yield the key, name and agreements of each grouping of rows; the key of all rows together is ""."""
    calibration = report.calibration
    yield "", gettext_noop("All rows"), {"": calibration.overall}
    yield "category", gettext_noop("Category"), calibration.by_category
    yield "model", gettext_noop("Model"), calibration.by_model
    yield from ((grouping.key, grouping.header, groups) for grouping, groups in grouped(calibration, words))
    yield "side", gettext_noop("Table"), calibration.by_side


def _cells(by: str, name: str, agreement: Agreement) -> Cells:
    cells: Cells = {"by": by, "group": name or None} | {key: getattr(agreement, key) for key in _COUNTS}
    for key in _MEASURES:
        cells.update(estimate_cells(key, getattr(agreement, key)))
    return cells


def estimate_cells(key: str, estimate: SpannedEstimate | Corrected) -> Iterator[tuple[str, Any]]:
    """Yield the cells of an estimate: its value, its interval or why it has none, and its bounds."""
    yield key, estimate.value
    yield f"{key}-interval", list(estimate.interval) if estimate.interval else None
    yield f"{key}-interval_reason", estimate.reason or None
    yield f"{key}-bounds", list(estimate.bounds) if estimate.bounds else None
