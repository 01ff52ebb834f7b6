"""The cells of a sweep: each model at each level, with its metrics and its place among all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.domain.inference import Pair
from benchmark.domain.report_rows import ReportRow
from benchmark.models import Run
from benchmark.services.conditions import named
from benchmark.services.leaderboards import differences, entrants_of, ranked_entrants
from benchmark.services.reports import reports_of
from benchmark.services.sweeps import swept_settings
from benchmark.suites.contract import Suite
from benchmark.suites.groups import MetricGroup
from benchmark.suites.registry import suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.settings import Setting
from benchmark.suites.showing.names import label
from benchmark.suites.showing.ranking import in_rank_order
from core.statistics import Estimate, holm


def swept_by(runs: Sequence[Run]) -> tuple[Suite, Setting]:
    """Return the suite of a sweep's runs and the setting of which they take several choices."""
    suite = suite_named(runs[0].suite)
    setting = next(swept for swept in swept_settings(suite).values() if swept not in suite.judging_settings)
    return suite, setting


def cells_of(runs: Sequence[Run], group: MetricGroup) -> list[EntrantResults]:
    """Return each model of each run with its metrics and its ranking among all of them."""
    entrants = [entrant for entrant in entrants_of(runs, reports_of(runs), group.key) if entrant.kind != "person"]
    answered = [entrant for entrant in entrants if entrant.metrics.parses.of("repaired")]
    labelled, _ = label(named(answered))
    return ranked_entrants(labelled, group.key, seed=_seed(runs)) if answered else []


def best_of(cells: Sequence[EntrantResults]) -> EntrantResults | None:
    """Return the cell that ranks first, None where none is ranked."""
    return next(iter(in_rank_order(cells, "repaired")), None)


def pairs_of(runs: Sequence[Run], group: MetricGroup, cells: Sequence[EntrantResults]) -> list[Pair]:
    """Return every two cells over the same stories, under the keys of their entrants, each p adjusted for all of these
    pairs: a choice among cells rests on no category."""
    tested = differences(cells, group.key, seed=_seed(runs))["repaired"].pairs if cells else ()
    pairs = [pair for pair in tested if not pair.category]
    return [
        replace(pair, p_adjusted=p) for pair, p in zip(pairs, holm([pair.p for pair in pairs]), strict=True)
    ]  # fmt: skip


def first_of(runs: Sequence[Run], group: MetricGroup, cells: Sequence[EntrantResults]) -> Estimate | None:
    """Return the score of the cell that ranks first, without the optimism of choosing the highest; None where it is the
    only one."""
    return differences(cells, group.key, seed=_seed(runs))["repaired"].first if cells else None


def pair_of(pairs: Sequence[Pair], key: str, other: str) -> Pair | None:
    """Return the pair of two cells by their keys; None where one of them is not ranked."""
    return next((pair for pair in pairs if {pair.first, pair.second} == {key, other}), None)


def _seed(runs: Sequence[Run]) -> int:
    return runs[0].parameters.seed


def cell_name(cell: EntrantResults) -> str:
    """Return what the model of a cell is called in a column of them."""
    return cell.spec.name or cell.name


def metrics_of(cell: EntrantResults) -> ReportRow:
    """Return the metrics of a cell over all its samples, by the repaired parse."""
    return cell.parses.overall("repaired")
