"""A leaderboard as a report: its rows, what is ranked in it, and what made each of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.documents import Document, leaderboard_document, plain
from benchmark.services.entered_rows import rows_of
from benchmark.services.leaderboard_scope import Leaderboard
from benchmark.services.methods_text import Facts, facts_of, methods_of
from benchmark.services.reports import reports_of
from benchmark.services.run_metrics import RunMetrics
from benchmark.suites.registry import group_named, group_suite
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, gettext_noop


def leaderboard_report(
    dataset: Dataset, leaderboard: Leaderboard, runs: Sequence[Run], query: Mapping[str, str]
) -> Document:
    """Return the leaderboard (`leaderboard_of`) as a document to be saved. `runs` are those with a row; `query` is the
    address of the leaderboard."""
    reports = reports_of(runs)
    rows = leaderboard.entrants
    entered = rows_of(dataset.project, group_suite(next(iter(rows))))
    document = leaderboard_document(
        "", {group: [plain(entrant) for entrant in rows[group]] for group in rows}, leaderboard.absent, entered
    )
    return replace(
        document,
        facts=[
            *_facts(dataset, leaderboard, runs, query),
            *(fact for run in runs for fact in facts_of(run, reports[run.pk])),
        ],
        methods=_methods(runs, reports, rows),
        numbers=sorted(leaderboard.chosen.stories),
        query=dict(query),
    )


def _facts(dataset: Dataset, leaderboard: Leaderboard, runs: Sequence[Run], query: Mapping[str, str]) -> Facts:
    """Return what is ranked: version, stories, answer format, runs, and within each ranking what its rows share."""
    rankings = [
        [
            Sentence("Ranking of {group}", group=group_named(group).title),
            ", ".join(f"{name} {value}" for name, value in shared.items()),
        ]
        for group, entrants in leaderboard.entrants.items()
        if entrants
        and (
            shared := dict(leaderboard.common[group])
            | {name: value for name, value in leaderboard.rankings[group].chosen.items() if value}
        )
    ]
    chosen = (
        gettext_noop("all runs")
        if query.get("runs") == "all"
        else gettext_noop("the newest run of each model and its settings")
    )
    return [
        ["Dataset", Sentence("version {dataset}, SHA-256 {digest}", dataset=dataset.version, digest=dataset.digest)],
        [gettext_noop("Ranked over"), leaderboard.chosen.label],
        ["Answer format", AnswerFormat(runs[0].answer_format).label],
        ["Rows", f"{chosen}: {len(runs):,} run{'' if len(runs) == 1 else 's'}"],
        *rankings,
    ]


def _methods(
    runs: Sequence[Run], reports: Mapping[int, RunMetrics], rows: Mapping[str, Sequence[EntrantResults]]
) -> list[dict[str, str]]:
    """Return the paragraphs of all runs, each text once; where runs differ, the heading names those that it is of."""
    texts: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        own = {group: [entrant for entrant in entrants if entrant.run == run.uid] for group, entrants in rows.items()}
        for part in methods_of(run, reports[run.pk], own):
            texts.setdefault((part["heading"], part["text"]), []).append(run.title)
    return [
        {"heading": heading if len(titles) == len(runs) else f"{heading} ({', '.join(titles)})", "text": text}
        for (heading, text), titles in texts.items()
    ]
