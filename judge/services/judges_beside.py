"""Judges of the same answers next to each other, and a panel of them: the majority, row by row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from benchmark.domain.report_rows import NO_FIGURES, ReportRow
from benchmark.domain.tables import Cell, Cells, Column, Table, share_column
from benchmark.models import Run
from benchmark.services.in_context import judge_text
from benchmark.services.judges import judged_at
from benchmark.services.reports import RunMetrics, each_entered, reports_of, samples_of, stamps_of
from benchmark.suites.groups import MetricGroup
from benchmark.suites.questions import Entered, Outcome
from benchmark.suites.reasons import NO_JUDGEMENT
from benchmark.suites.registry import nouns_of_samples, suite_named
from core.kept import kept_as
from core.messages import Sentence, clauses, gettext_noop, word
from judge.domain.calibration.panels import FEWEST, majority
from judge.domain.calibration.tables import Unknown, count_of
from judge.domain.judgements import PassVerdict, RowJudgement, StoryJudgement
from judge.services.judgements import judgements_of

Answer = tuple[str, str, int]
"""(model, sample, repetition) of an answer that judges read."""
COUNTS = {
    "rows": gettext_noop("Rows"),
    "settled": gettext_noop("Settled by rule"),
    "cannot_tell": gettext_noop("Cannot tell"),
    "missing": gettext_noop("Left out"),
    "flipped": gettext_noop("Flipped"),
}
ALONE = {"alone": gettext_noop("One judge alone")}


def judged_group(run: Run) -> MetricGroup | None:
    """Return the metric group whose figures rest on the run's judge."""
    return next((group for group in suite_named(run.suite).groups if group.judged), None)


def rows_of_judges(runs: Sequence[Run], panel: Sequence[Run] = ()) -> list[Cells]:
    """Return a row of the table for each judge and model of runs that judge the same answers, then one for each model
    by the `panel` of some of them, if that has enough members."""
    reports = reports_of(runs)
    if not (stamps := stamps_of(runs)):
        return _rows(runs, panel, reports)
    facts = [stamps, [judge_text(run) for run in runs], [run.pk for run in panel]]
    return kept_as("judges", facts, lambda: _rows(runs, panel, reports))


def _rows(runs: Sequence[Run], panel: Sequence[Run], reports: Mapping[int, RunMetrics]) -> list[Cells]:
    judgements = {run.pk: list(judgements_of(run)) for run in runs}
    rows: list[Cells] = []
    for run in runs:
        group, judge = judged_group(run), judge_text(run)
        for entrant in reports[run.pk].entrants:
            metrics = entrant.groups.get(group.key) if group else None
            if entrant.id is not None and metrics:
                own = [story for story in judgements[run.pk] if story.model == entrant.name]
                repaired, official = (metrics.parses.overall(parse) for parse in ("repaired", "official"))
                rows.append(_row(run, judge, entrant.name, repaired, official, own))
    if len(panel) < FEWEST:
        return rows
    voted = voted_rows([judgements[run.pk] for run in panel])
    metrics_of = _measured(panel[0], voted)
    by_model: dict[str, list[StoryJudgement]] = {}
    for story in voted.values():
        by_model.setdefault(story.model, []).append(story)
    name = Sentence("Panel of {panel}, majority", panel=len(panel))
    for model, stories in by_model.items():
        # rows of which one judge alone says whether they are matched
        voices = [[verdict for verdict in row.passes if verdict and verdict.count is not None] for story in stories
                  for row in story.rows]  # fmt: skip
        row = _row(panel[0], name, model, metrics_of.get(model, NO_FIGURES), NO_FIGURES, stories)
        rows.append(row | {"alone": sum(len(said) == 1 for said in voices)})
    return rows


def _row(
    run: Run, judge: str, model: str, repaired: ReportRow, official: ReportRow, stories: Sequence[StoryJudgement]
) -> Cells:
    group, price = judged_group(run), _price(stories)
    rows = [row for story in stories for row in story.rows]
    cells: Cells = {
        "judge": judge,
        "model": model,
        "run": run.uid,
        "rows": len(rows),
        **{key: sum(getattr(row, key) for row in rows) for key in COUNTS if key != "rows"},
        "calls": sum(len(story.calls) for story in stories),
        "price": price / len(stories) if stories and price is not None else None,
    }
    for share in group.shares if group else ():
        cells[f"repaired-{share}"] = Cell(
            repaired.value_of(share),
            repaired.interval_of(share),
            reason=repaired.reasons.get(share),
            bounds=repaired.bounds_of(share),
        )
        cells[f"official-{share}"] = official.number_of(share)
    return cells


def _price(stories: Iterable[StoryJudgement]) -> Decimal | None:
    """Return what the calls cost in US dollars, None if any price is unknown."""
    prices = [story.price for story in stories]
    return None if None in prices else sum((price for price in prices if price is not None), Decimal(0))


def voted_rows(judges: Sequence[Sequence[StoryJudgement]]) -> dict[Answer, StoryJudgement]:
    """Return the majority of judges on each answer that any of them judged (`majority`). A judge that says nothing of a
    row, or decides nothing, has no vote; a row of which judges differ has flipped. Judgements of other answers than the
    first judge read are skipped."""
    by_answer: dict[Answer, list[StoryJudgement]] = {}
    for judgements in judges:
        for story in judgements:
            same = by_answer.setdefault((story.model, story.sample, story.repetition), [])
            if not same or same[0].judged_call == story.judged_call:
                same.append(story)
    return {
        answer: replace(
            stories[0],
            version="",
            predicted=_majority([story.predicted for story in stories]),
            gold=_majority([story.gold for story in stories]),
            calls=tuple(call for story in stories for call in story.calls),
            price=_price(stories),
        )
        for answer, stories in by_answer.items()
    }


def _majority(sides: Sequence[Sequence[RowJudgement]]) -> tuple[RowJudgement, ...]:
    """Return the majority of the judges of one side; one whose answer gave no rows is not heard."""
    rows = max(map(len, sides))
    voted = []
    for judgements in zip(*(side for side in sides if len(side) == rows), strict=True):
        count = majority([count_of(row) for row in judgements])
        verdicts = (None if row.missing else PassVerdict(row.count, row.links) for row in judgements)
        voted.append(RowJudgement(None if isinstance(count, Unknown) else count, None, tuple(verdicts)))
    return tuple(voted)


def _measured(run: Run, voted: Mapping[Answer, StoryJudgement]) -> dict[str, ReportRow]:
    """Return the panel's metrics over all samples by model: those of its outcomes with the panel's judgements instead
    of those of its run's judge."""
    suite, group, step = suite_named(run.suite), judged_group(run), judged_at(run)
    metrics: dict[str, ReportRow] = {}
    for _, entered in each_entered(run, samples_of(run)):
        outcomes = {
            key: [_outcome(outcome, voted.get((entered.name, key, outcome.repetition)), step) for outcome in of_sample]
            for key, of_sample in entered.outcomes.items()
        }
        as_voted: Entered = replace(entered, outcomes=outcomes)
        measured = suite.measure(as_voted).get(group.key) if group else None
        if measured is not None:
            metrics[entered.name] = measured.parses.overall("repaired")
    return metrics


def _outcome(outcome: Outcome, story: StoryJudgement | None, step: str) -> Outcome:
    if outcome.step != step or story is None:
        return outcome
    counts = {"pred": [row.count for row in story.predicted], "gold": [row.count for row in story.gold]}
    decided = any(count is not None for side in counts.values() for count in side)
    unreadable = "" if decided else outcome.unreadable or NO_JUDGEMENT
    return Outcome(step, None, {**(outcome.repaired or {}), **counts}, unreadable, "", outcome.repetition)


def judges_table(runs: Sequence[Run], panel: Sequence[Run] = ()) -> Table:
    """Return a row for each judge and model, those of the panel last."""
    group = judged_group(runs[0])
    shares = {share: group.headers.get(share, share) for share in group.shares} if group else {}
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *(
            share_column(f"{parse.lower()}-{share}", header, group=parse, best="")
            for parse in ("Repaired", "Official")
            for share, header in shares.items()
        ),
        *(
            Column(key=key, header=header, kind="count", group=gettext_noop("Rows of both tables"))
            for key, header in (COUNTS | (ALONE if panel else {})).items()
        ),
        Column(key="calls", header=gettext_noop("Calls"), kind="count"),
        Column(
            key="price",
            header=Sentence("Price a {noun}", noun=word(nouns_of_samples(runs[0].suite)[0])),
            kind="number",
            unit="$",
            digits=6,
        ),
    ]
    return Table(
        title=gettext_noop("Judges of the same answers"),
        columns=columns,
        rows=rows_of_judges(runs, panel),
        section="judge",
        notes=_notes(panel),
    )


def _notes(panel: Sequence[Run]) -> list[str]:
    notes = [
        gettext_noop(
            "Rows that a judge cannot tell or leaves out are in no estimate; bounds take them as unmatched or matched."
        ),
        gettext_noop(
            "Flipped rows are those of which two passes of a judge, or two judges of a panel, say something else."
        ),
    ]
    if panel:
        text = "The panel is the majority of {members}; a row without a majority is undecided."
        decided = gettext_noop(
            "More than half of the judges that say whether a row is matched decide it, and at least two have to say "
            "so: the word of one judge alone decides nothing."
        )
        notes += [Sentence(text, members=clauses(*map(judge_text, panel))), decided]
    return notes
