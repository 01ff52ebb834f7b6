"""The calibration of judges as tables: agreement with people of one overall and by every group of rows, of all of a
study next to each other, and by the level of their prompt; corrected scores, MatchCounts, and the paired tests."""

from collections.abc import Callable, Sequence
from functools import partial

from benchmark.domain.tables import Cell, Cells, Column, Table, share_column
from benchmark.services.runs import NO_LEVEL
from core.messages import Sentence, gettext_noop, word
from core.statistics import MISSING_RULE
from judge.domain.calibration.agreement import Agreement
from judge.domain.calibration.corrected import Corrected
from judge.domain.calibration.means import SpannedEstimate
from judge.domain.calibration.selection import Selection
from judge.domain.calibration.tables import Metric
from judge.services.calibration import OF_STORIES, CalibrationReport, CalibrationWords, CorrectedModel, StudyReports

AGREEMENT, JUDGES, SCORES, COUNTS, RIVALS = "agreement", "judges", "corrected", "match-counts", "paired"
POOLED, WHY = "pooled", "why"
KNOWN = Column(key="known", header=gettext_noop("Rows with both verdicts"), kind="count")
DIFFERS = gettext_noop("Do not use a score by the judge's error on all models: that error is shown to differ by model.")
NO_EVIDENCE = gettext_noop(
    "By the judge's error on all models: where too few tables of a model were aligned, if the judge errs on it as on "
    "the others. That it does is not shown."
)


def cell(estimate: SpannedEstimate | Corrected, *, bounds: bool = True) -> Cell:
    """Return an estimate with its interval, or why it has none, and its bounds."""
    ends = estimate.bounds if bounds else None
    return Cell(estimate.value, estimate.interval, reason=estimate.reason or None, bounds=ends)


def measures(words: CalibrationWords, **more: str) -> list[Column]:
    """Return the columns of agreement, sensitivity, specificity and κ; `more` are fields of the shares."""
    shares = {
        "by_story": Sentence("Agreement by {table}", table=words.table),
        "by_row": gettext_noop("Agreement by row"),
        "sensitivity": gettext_noop("Sensitivity"),
        "specificity": gettext_noop("Specificity"),
    }
    return [
        *(share_column(key, header, **{"best": "", **more}) for key, header in shares.items()),
        Column(key="kappa", header=gettext_noop("Cohen’s κ"), kind="number", digits=3),
    ]


def measured(agreement: Agreement, *, bounds: bool = True) -> Cells:
    """Return the cells of an agreement: its counts and measures."""
    counts = {key: getattr(agreement, key) for key in ("tables", "stories", "rows", "known")}
    names = ("by_story", "by_row", "sensitivity", "specificity", "kappa")
    return counts | {name: cell(getattr(agreement, name), bounds=bounds) for name in names}


def _with_reasons(columns: Sequence[Column], rows: Sequence[Cells]) -> list[Column]:
    """Return the columns, with that of why estimates are missing if any row lacks one."""
    return [
        *columns,
        *([Column(key=WHY, header=gettext_noop("No figure because"))] if any(row[WHY] for row in rows) else []),
    ]


def _why(estimate: SpannedEstimate | Corrected) -> str | None:
    return estimate.reason if estimate.value is None else None


def agreement_table(report: CalibrationReport, words: CalibrationWords = OF_STORIES) -> Table:
    """Return a row for all rows together and for each category, evaluated model, group of rows and side."""
    by = report.calibration.by
    groups = [
        ("", gettext_noop("All rows"), {"": report.calibration.overall}),
        ("category", gettext_noop("Category"), by["category"]),
        ("model", gettext_noop("Model"), by["model"]),
        *((key.key, key.header, by[key.key]) for key in words.groupings if any(by.get(key.key, {}))),
        ("side", gettext_noop("Table"), by["side"]),
    ]
    rows: list[Cells] = [
        {"by": header, "group": name or None, "key": key, WHY: _why(agreement.by_story)} | measured(agreement)
        for key, header, agreements in groups
        for name, agreement in agreements.items()
    ]
    columns = [
        Column(key="by", header=gettext_noop("By")),
        Column(key="group", header=gettext_noop("Group")),
        Column(key="tables", header=gettext_noop("Tables"), kind="count"),
        Column(key="stories", header=words.units.capitalize(), kind="count"),
        Column(key="rows", header=gettext_noop("Rows"), kind="count"),
        KNOWN,
        *measures(words),
    ]
    text = "Brackets: 95 % intervals over {units}. Rows without a verdict are in the bounds alone."
    return Table(
        title=gettext_noop("Agreement of the judge with people"),
        columns=_with_reasons(columns, rows),
        rows=rows,
        notes=[Sentence(text, units=word(words.units)), *(key.note for key in words.groupings if key.note)],
    )


def judges_table(kept: StudyReports, words: CalibrationWords = OF_STORIES) -> Table:
    """Return a row for each version of a judge of a study, the one that agrees most with people first: by table, as
    papers choose a judge, and by row."""
    overall = [(report.judge, report.calibration.overall) for report in kept.reports]
    overall.sort(key=lambda pair: -1.0 if pair[1].by_story.value is None else pair[1].by_story.value, reverse=True)
    rows: list[Cells] = [
        {"judge": judge.name, "level": judge.level, WHY: _why(agreement.by_story)} | measured(agreement, bounds=False)
        for judge, agreement in overall
    ]
    columns = [
        Column(key="judge", header=gettext_noop("Judge")),
        Column(key="level", header=gettext_noop("Prompt level"), kind="count"),
        Column(key="tables", header=gettext_noop("Tables"), kind="count"),
        KNOWN,
        *measures(words, best="high"),
    ]
    text = "Agreement by {table}: matched or not, averaged over tables. The test says what differs."
    return Table(
        title=gettext_noop("Judges by agreement with people"),
        columns=_with_reasons(columns, rows),
        rows=rows,
        notes=[Sentence(text, table=words.table), *filter(None, [kept.highest])],
    )


def scores_table(report: CalibrationReport, words: CalibrationWords = OF_STORIES) -> Table:
    """Return a row for each model: its score by the judge alone, by people alone, and corrected; if a model has too few
    aligned stories, also its score by the judge's error on all models."""
    score = word(words.score)
    pooled = any(model.pooled and model.pooled.interval for model in report.models)
    shares = {
        "judge": Sentence("{score}, judge alone", score=score),
        "f1": Sentence("{score}, corrected", score=score),
        "people": gettext_noop("People alone"),
        **({"precision": gettext_noop("Precision"), "recall": gettext_noop("Recall")} if words.sides else {}),
        "categories": Sentence("{score} over categories", score=score),
        **({POOLED: Sentence("{score}, by the judge's error on all models", score=score)} if pooled else {}),
    }
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *(share_column(key, header, best="") for key, header in shares.items()),
        Column(key="tuning", header="λ", kind="number"),
        Column(key="aligned", header=words.aligned, kind="count"),
        Column(key="stories", header=words.judged, kind="count"),
        Column(key="effective", header=gettext_noop("Worth, of people alone"), kind="number", digits=1),
    ]
    rows = [_score_cells(model) for model in report.models]
    text = "Brackets: 95 % intervals over aligned {units}. λ is how much the judge counts."
    return Table(
        title=gettext_noop("Corrected scores"),
        columns=_with_reasons(columns, rows),
        rows=rows,
        notes=[
            Sentence(text, units=word(words.units)),
            *([DIFFERS if report.differing.warns else NO_EVIDENCE] if pooled else []),
        ],
    )


def _score_cells(model: CorrectedModel) -> Cells:
    f1 = model.f1
    estimates: Cells = {"judge": model.alone, "f1": f1, "people": model.people, "categories": model.by_category}
    estimates |= {metric.value: model.scores[metric] for metric in (Metric.PRECISION, Metric.RECALL)}
    return {
        "model": model.model,
        **{key: cell(estimate) for key, estimate in estimates.items()},
        POOLED: cell(model.pooled) if model.pooled else None,
        "tuning": None if f1.value is None else f1.tuning,
        "aligned": f1.aligned,
        "stories": f1.stories,
        "effective": f1.effective,
        WHY: _why(f1) or _why(model.alone),
    }


def counts_table(report: CalibrationReport) -> Table:
    """Return a row for each pair of MatchCounts, people's and the judge's, that rows have."""
    columns = [
        Column(key="people", header=gettext_noop("People")),
        Column(key="judge", header=gettext_noop("Judge")),
        Column(key="rows", header=gettext_noop("Rows"), kind="count"),
    ]
    cells = sorted(report.calibration.confusion.items())
    rows = [{"people": people, "judge": judge, "rows": n} for (people, judge), n in cells]
    return Table(title=gettext_noop("MatchCounts"), columns=columns, rows=rows)


def rivals_table(selection: Selection, words: CalibrationWords = OF_STORIES) -> Table:
    """Return a row for each other judge of the study, paired with this one over the tables that both judged."""
    columns = [
        Column(key="judge", header=gettext_noop("Judge")),
        share_column("agreement", measures(words)[0].header, best=""),
        share_column("difference", gettext_noop("The chosen one less this one"), best=""),
        Column(key="stories", header=words.units.capitalize(), kind="count"),
        Column(key="p", header=gettext_noop("p, Holm"), kind="number", digits=4),
    ]
    rows = [
        {
            "judge": rival.name,
            "agreement": cell(rival.agreement, bounds=False),
            "difference": cell(rival.difference),
            "stories": rival.difference.n,
            "p": rival.adjusted,
        }
        for rival in selection.rivals
    ]
    lead = [selection.reason, *filter(None, [selection.highest])] if selection.rivals else []
    title = gettext_noop("Beside the other judges")
    return Table(title=title, columns=columns, rows=rows, lead=lead, notes=[PAIRED_ROWS, MISSING_RULE])


PAIRED_ROWS = gettext_noop(
    "Differences are over the rows on which people and both judges have a verdict; p is corrected over all pairs of "
    "judges."
)


def rows_by_level(kept: StudyReports) -> dict[str, dict[int, tuple[Agreement, bool | None]]]:
    """Return by judge and level of its prompt its agreement with people, and whether that is not shown to differ from
    the best of them all, None if the two cannot be compared. A judge that reads no prompt is at `NO_LEVEL`."""
    comparable = [report for report in kept.reports if report.calibration.overall.by_story.value is not None]
    best = max(comparable, key=lambda report: report.calibration.overall.by_story.value or 0.0, default=None)
    alike: dict[str, bool | None] = {}
    if best:
        alike = {rival.name: rival.alike for rival in best.selection.rivals} | {best.judge.name: True}
    by_judge: dict[str, dict[int, tuple[Agreement, bool | None]]] = {}
    for report in kept.reports:
        judge = report.judge
        levels = by_judge.setdefault(judge.judge, {})
        levels[judge.level or NO_LEVEL] = report.calibration.overall, alike.get(judge.name)
    return by_judge


def report_tables(
    kept: StudyReports, report: CalibrationReport, words: CalibrationWords
) -> dict[str, Callable[[], Table]]:
    """Return the tables of a report by name, each as a function that makes it."""
    return {
        AGREEMENT: partial(agreement_table, report, words),
        JUDGES: partial(judges_table, kept, words),
        SCORES: partial(scores_table, report, words),
        RIVALS: partial(rivals_table, report.selection, words),
        COUNTS: partial(counts_table, report),
    }
