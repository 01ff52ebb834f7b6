"""The tables of a sweep: models by prompt level, and models at the highest level beside each other, as papers that
choose their prompts lay them out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from annotation.models import User
from benchmark.domain.inference import Pair
from benchmark.domain.tables import Cells, Column, Table
from benchmark.models import Run
from benchmark.services.calibrating import reports_of as reports_of_study
from benchmark.services.calibration_links import calibrated_studies, still_aligns
from benchmark.services.calibration_tables import highest_of, rows_by_level
from benchmark.services.comparison_tables import count_column
from benchmark.services.sweep_cells import (
    best_of,
    cell_name,
    cells_of,
    first_of,
    metrics_of,
    pair_of,
    pairs_of,
    swept_by,
)
from benchmark.services.sweep_choices import Choosing, choosings_of
from benchmark.services.sweep_rows import SweptEstimate, SweptRow
from benchmark.services.sweeps import NO_LEVEL, judges_of_launch, level_name, level_of
from benchmark.suites.contract import Suite
from benchmark.suites.groups import MetricGroup
from benchmark.suites.results import EntrantResults
from benchmark.suites.settings import Setting
from core.messages import Sentence, gettext_noop, labelled, listed, noted
from judge.domain.calibration.agreement import Agreement, SpannedEstimate
from judge.domain.calibration.selection import highest_text

LEVELS, MODELS, PAIRED = "levels", "models", "paired"


def sweep_tables(runs: Sequence[Run], reader: User, looked: Sequence[str] = ()) -> dict[str, Callable[[], Table]]:
    """Return the tables of a sweep by name, each a function that makes it; judges stand in it as far as the reader may
    know how people aligned. `looked` has the keys of the candidates that are set beside all others."""
    return {
        LEVELS: partial(levels_table, runs, reader),
        MODELS: partial(models_table, runs),
        PAIRED: lambda: paired_table(choosings_of(runs, looked)),
    }


def levels_table(runs: Sequence[Run], reader: User) -> Table:
    """Return a block for each metric group, in it a row for each model and a column for each level; below the group
    that is judged one of its judges, by agreement with people."""
    suite, setting = swept_by(runs)
    judges = _rows_of_judges(runs, reader)
    rows = [row for group in suite.groups for row in (*_block(runs, group, setting), *(judges if group.judged else ()))]
    asked = {level_of(run, setting.name) for run in runs}.union(*((*row.estimates, *row.waits) for row in rows))
    levels = [value for value in (*(value for value, _ in setting.choices), NO_LEVEL) if value in asked]
    columns = [
        Column(
            key=f"l{value}", header=level_name(value), kind="share", unit="%", interval=f"l{value}-interval",
            bounds=f"l{value}-bounds", best="high", label=NO_PROMPT if value == NO_LEVEL else "",
        )
        for value in levels
    ]  # fmt: skip
    best = [
        Column(key="best", header=gettext_noop("Best level")),
        Column(key="alike", header=gettext_noop("Not shown to differ from the best")),
    ]
    return Table(
        title=Sentence("{setting} by model", setting=setting.label),
        columns=[Column(key="model", header=gettext_noop("Model")), *columns, *best],
        rows=[row.cells() for row in rows],
        section="block",
        mark_across=True,
        notes=[
            NOTE,
            *_highest(runs, suite),
            *_notes_of_judges(runs, judges),
            *_highest_of_judges(runs, reader, judges),
        ],
    )


def _highest(runs: Sequence[Run], suite: Suite) -> list[str]:
    """Return what the best cell of each block comes to without the optimism of choosing it."""
    notes = []
    for group in suite.groups:
        cells = cells_of(runs, group)
        best, estimate = best_of(cells), first_of(runs, group, cells)
        if best and estimate:
            levels = {run.uid: level_of(run, swept_by(runs)[1].name) for run in runs}
            name = f"{cell_name(best)} {level_name(levels[best.run])}"
            notes.append(labelled(group.title, highest_text(name, len(cells), estimate)))
    return notes


def _highest_of_judges(runs: Sequence[Run], reader: User, judges: Sequence[SweptRow]) -> list[str]:
    """Return what the best judge of the table comes to without the optimism of choosing it."""
    if not any(row.values for row in judges):
        return []
    kept = (reports_of_study(study) for study in calibrated_studies(runs[0], reader))
    return next(([text] if (text := highest_of(reports)) else [] for reports in kept if rows_by_level(reports)), [])


NO_PROMPT = gettext_noop("no prompt")
NOTE = gettext_noop(
    "Intervals are 95 % over stories. The last column names the levels of a model that are not shown to differ from "
    "the best cell of its block: paired over the same stories and adjusted for all pairs of cells."
)


JUDGES = gettext_noop("Judges (agreement with people)")
JUDGED_NOTE = gettext_noop(
    "Agreement of a judge: the share of rows of a table on which people and the judge agree whether they are matched, "
    "averaged over the tables that people aligned; the test is paired over stories, with Holm’s correction. Judges "
    "without a verdict on a table of the best one are not compared. A judge that reads no prompt has the level –, in a "
    "column of its own."
)


OPEN_NOTE = gettext_noop("Judges have figures here once people aligned tables of these models and gold.")


def _notes_of_judges(runs: Sequence[Run], judges: Sequence[SweptRow]) -> list[str]:
    calibrated = any(row.values for row in judges)
    waits = any(row.waits for row in judges) or not judges
    return [*([JUDGED_NOTE] if calibrated else []), *([OPEN_NOTE] if waits and runs[0].judge else [])]


def _rows_of_judges(runs: Sequence[Run], reader: User) -> list[SweptRow]:
    """Return the rows of the judges that were calibrated, and of those of the launch, which say where they were not:
    not of a single judge that reads no prompt, as nothing of judges was swept."""
    rows = {row.name: row for row in _judges(runs, reader)}
    aligns = still_aligns(runs[0], reader) if runs[0].judge else False
    launched = judges_of_launch(runs[0])
    for name, levels in launched.items() if [*launched.values()] != [[NO_LEVEL]] else ():
        rows[name] = _waiting(rows.get(name) or SweptRow(JUDGES, name, "judges", {}), levels, aligns)
    return list(rows.values())


def _waiting(row: SweptRow, levels: Sequence[int], aligns: bool) -> SweptRow:
    """Return the row of a judge that was launched at some levels with those at which it was not calibrated; `aligns`
    says that this waits for the reader."""
    waits = [level for level in levels if level not in row.estimates]
    if not waits:
        return row
    at = listed(map(level_name, waits))
    why = Sentence("you still align: {at}", at=at) if aligns else Sentence("not aligned yet: {at}", at=at)
    return replace(row, waits=waits, why_waits=why)


def _judges(runs: Sequence[Run], reader: User) -> list[SweptRow]:
    """Return the rows of the judges that were calibrated by the newest study of tables of the same gold."""
    for study in calibrated_studies(runs[0], reader):
        if by_judge := rows_by_level(reports_of_study(study)):
            return [_judge(name, levels) for name, levels in by_judge.items()]
    return []


def _judge(name: str, levels: Mapping[int, tuple[Agreement, bool | None]]) -> SweptRow:
    estimates = {level: _agreement(agreement.by_story, alike) for level, (agreement, alike) in levels.items()}
    return SweptRow(JUDGES, name, "judges", estimates)


def _agreement(estimate: SpannedEstimate, alike: bool | None) -> SweptEstimate:
    interval, bounds = (list(ends) if ends else None for ends in (estimate.interval, estimate.bounds))
    return SweptEstimate(estimate.value, interval, estimate.reason or None, bounds, alike)


def _block(runs: Sequence[Run], group: MetricGroup, setting: Setting) -> list[SweptRow]:
    """Return the rows of one metric group, models as the launch has them; none of one that nothing was asked for."""
    levels = {run.uid: level_of(run, setting.name) for run in runs}
    cells = cells_of(runs, group)
    pairs = pairs_of(runs, group, cells)
    best, title = best_of(cells), noted(group.title, group.headers[group.score])
    by_model: dict[str, dict[int, SweptEstimate]] = {}
    for cell in cells:
        alike = _alike(cell, best, pairs) if best else False
        by_model.setdefault(cell_name(cell), {})[levels[cell.run]] = replace(_score(cell, group), alike=alike)
    return [SweptRow(title, name, group.key, estimates) for name, estimates in by_model.items()]


def _score(cell: EntrantResults, group: MetricGroup) -> SweptEstimate:
    metrics, score = metrics_of(cell), group.score
    ends = metrics.interval_of(score), metrics.reasons.get(score), metrics.bounds_of(score)
    return SweptEstimate(metrics.number_of(score), *ends)


def _alike(cell: EntrantResults, best: EntrantResults, pairs: Sequence[Pair]) -> bool | None:
    """Return whether a cell is not shown to differ from the best; None where the two cannot be compared."""
    if cell.key == best.key:
        return True
    pair = pair_of(pairs, cell.key, best.key)
    return None if pair is None or pair.value is None else not pair.differs()


def models_table(runs: Sequence[Run]) -> Table:
    """Return the models at the highest level of the sweep: the score of each metric group."""
    suite, setting = swept_by(runs)
    highest = max(level_of(run, setting.name) for run in runs)
    there = [run for run in runs if level_of(run, setting.name) == highest]
    rows: dict[str, Cells] = {}
    columns = [Column(key="model", header=gettext_noop("Model"))]
    for group in suite.groups:
        cells = cells_of(there, group)
        if not cells:
            continue
        columns.append(Column(key=group.key, header=f"{group.title.partition(':')[0]}, {group.headers[group.score]}",
                              kind="share", unit="%", best="high",
                              interval=f"{group.key}-interval", bounds=f"{group.key}-bounds"))  # fmt: skip
        for cell in cells:
            row = rows.get(cell_name(cell), {"model": cell_name(cell)})
            rows[cell_name(cell)] = row | _score(cell, group).cells(group.key)
    return Table(
        title=Sentence("Models at {setting} {highest}", setting=setting.label.lower(), highest=highest),
        columns=columns,
        rows=_best_first(list(rows.values()), columns[1:]),
        notes=[
            gettext_noop(
                "Choose by a paired difference, not by the highest number: the table of levels says what differs."
            )
        ],
    )


def paired_table(choosings: Sequence[Choosing]) -> Table:
    """Return a block for each metric group: its candidate that is looked at beside every other model and level."""
    rows = [
        {
            "block": labelled(choosing.title, choosing.looked.name), "model": other.candidate.name,
            "score": other.candidate.score, "difference": other.value,
            "difference-interval": other.interval, "difference-interval_reason": other.pair and other.pair.reason,
            "n": other.pair and other.pair.n, "p": other.pair and other.pair.p_adjusted,
            "shown": other.pair.verdict if other.pair else None,
        }
        for choosing in choosings
        for other in choosing.against
    ]  # fmt: skip
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        Column(key="score", header=gettext_noop("Score"), kind="share", unit="%"),
        Column(key="difference", header=gettext_noop("The one looked at less this one"), kind="share", unit="points",
               interval="difference-interval"),
        *(count_column(choosing.group.key) for choosing in choosings[:1]),
        Column(key="p", header=gettext_noop("p, Holm"), kind="number", digits=4),
        Column(key="shown", header=gettext_noop("Shown to differ")),
    ]  # fmt: skip
    return Table(
        title=gettext_noop("Beside every other model and level"),
        columns=columns,
        rows=rows,
        section="block",
        notes=[PAIRED_NOTE, *([BEYOND_NOTE] if any(choosing.beyond for choosing in choosings) else [])],
    )


PAIRED_NOTE = gettext_noop(
    "Paired over the same stories, missing answers at their worst; p adjusted for all pairs of cells of a block."
)


BEYOND_NOTE = gettext_noop(
    "In a block of so few stories no difference can be shown in so many tests at once, however large it is."
)


def _best_first(rows: list[Cells], columns: Sequence[Column]) -> list[Cells]:
    """Order models by the first score, as papers do, then by the next; those without one last."""

    def scores(row: Cells) -> list[float]:
        return [-1.0 if (value := row.get(column.key)) is None else value for column in columns]

    return sorted(rows, key=scores, reverse=True)
