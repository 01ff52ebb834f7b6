"""Judges of the same answers beside each other, and a panel of them: the majority, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from benchmark.domain.report_rows import NO_FIGURES, ReportRow
from benchmark.domain.tables import Cells, Column, Table
from benchmark.models import Run
from benchmark.services.in_context import judge_text
from benchmark.services.judge_versions import judged_at
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


@dataclass(frozen=True, slots=True)
class Tally:
    """The rows of judgements by what became of them, and what their calls cost in US dollars, None where unknown."""

    stories: int
    rows: int
    settled: int
    cannot_tell: int
    missing: int
    flipped: int
    calls: int
    price: Decimal | None

    @property
    def price_a_story(self) -> Decimal | None:
        return self.price / self.stories if self.stories and self.price is not None else None


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The figures of a model's answers by one judge, or by a panel of the judges `members`. `repaired` and `official`
    are figures over all samples; a panel has no official ones. `alone` counts the rows of
    which one judge of a panel alone speaks, None where no panel judges."""

    judge: str
    model: str
    run: str
    repaired: ReportRow
    official: ReportRow
    tally: Tally
    members: tuple[str, ...] = ()
    alone: int | None = None


def judged_group(run: Run) -> MetricGroup | None:
    """Return the metric group whose figures rest on the run's judge."""
    return next((group for group in suite_named(run.suite).groups if group.judged), None)


def tally_of(stories: Iterable[StoryJudgement]) -> Tally:
    """Count the rows of judgements."""
    counted = list(stories)
    rows = [row for story in counted for row in story.rows]
    prices = [story.price for story in counted]
    return Tally(
        stories=len(counted),
        rows=len(rows),
        settled=sum(row.settled for row in rows),
        cannot_tell=sum(row.cannot_tell for row in rows),
        missing=sum(row.missing for row in rows),
        flipped=sum(row.flipped for row in rows),
        calls=sum(len(story.calls) for story in counted),
        price=None if None in prices else sum((price for price in prices if price is not None), Decimal(0)),
    )


def rows_of_judges(runs: Sequence[Run], panel: Sequence[Run] = ()) -> list[JudgedRow]:
    """Return a row for each judge and model of runs that judge the same answers, then one for each model by the
    `panel` of some of them, where that has enough members. Counted once for the same figures; raises BeingComputed for
    a page that answers at once, where that takes long."""
    reports = reports_of(runs)
    if not (stamps := stamps_of(runs)):
        return _counted(runs, panel, reports)
    facts = [stamps, [judge_text(run) for run in runs], [run.pk for run in panel]]
    return kept_as("judges", facts, lambda: _counted(runs, panel, reports))


def _counted(runs: Sequence[Run], panel: Sequence[Run], reports: Mapping[int, RunMetrics]) -> list[JudgedRow]:
    judgements = {run.pk: list(judgements_of(run)) for run in runs}
    rows = [row for run in runs for row in _rows_of(run, reports[run.pk], judgements[run.pk])]
    if len(panel) >= FEWEST:
        rows += _panel_rows(panel, {run.pk: judgements[run.pk] for run in panel})
    return rows


def _rows_of(run: Run, report: RunMetrics, judgements: Sequence[StoryJudgement]) -> list[JudgedRow]:
    group, judge = judged_group(run), judge_text(run)
    rows = []
    for entrant in report.entrants:
        metrics = entrant.groups.get(group.key) if group else None
        if entrant.id is None or not metrics:
            continue
        mine = [story for story in judgements if story.model == entrant.name]
        repaired, official = (metrics.parses.overall(parse) for parse in ("repaired", "official"))
        rows.append(JudgedRow(judge, entrant.name, run.uid, repaired, official, tally_of(mine)))
    return rows


def _panel_rows(panel: Sequence[Run], judgements: Mapping[int, Sequence[StoryJudgement]]) -> list[JudgedRow]:
    members = tuple(map(judge_text, panel))
    voted = voted_rows(list(judgements.values()))
    metrics = _measured(panel[0], voted)
    by_model: dict[str, list[StoryJudgement]] = {}
    for story in voted.values():
        by_model.setdefault(story.model, []).append(story)
    name, run = Sentence("Panel of {panel}, majority", panel=len(panel)), panel[0].uid
    return [
        JudgedRow(
            name, model, run, metrics.get(model, NO_FIGURES), NO_FIGURES, tally_of(stories), members, _alone(stories)
        )
        for model, stories in by_model.items()
    ]


def voted_rows(judges: Sequence[Sequence[StoryJudgement]]) -> dict[Answer, StoryJudgement]:
    """Return what the majority of judges says of each answer that any of them judged (`majority`). A judge that says
    nothing of a row, or decides nothing, has no vote; a row of which judges differ has flipped. Judgements of other
    answers than the first judge read are left out."""
    by_answer: dict[Answer, list[StoryJudgement]] = {}
    for judgements in judges:
        for story in judgements:
            same = by_answer.setdefault((story.model, story.sample, story.repetition), [])
            if not same or same[0].judged_call == story.judged_call:
                same.append(story)
    return {answer: _voted(stories) for answer, stories in by_answer.items()}


def _voted(stories: Sequence[StoryJudgement]) -> StoryJudgement:
    prices = [story.price for story in stories]
    return replace(
        stories[0],
        version="",
        predicted=_majority([story.predicted for story in stories]),
        gold=_majority([story.gold for story in stories]),
        calls=tuple(call for story in stories for call in story.calls),
        price=None if None in prices else sum((price for price in prices if price is not None), Decimal(0)),
    )


def _majority(sides: Sequence[Sequence[RowJudgement]]) -> tuple[RowJudgement, ...]:
    """Return the majority of the judges of one side; one whose answer gave no rows is not heard."""
    rows = max(map(len, sides))
    return tuple(
        _row_of(row_judgements) for row_judgements in zip(*(side for side in sides if len(side) == rows), strict=True)
    )


def _row_of(row_judgements: Sequence[RowJudgement]) -> RowJudgement:
    count = majority([count_of(row) for row in row_judgements])
    verdicts = (None if row.missing else PassVerdict(row.count, row.links) for row in row_judgements)
    return RowJudgement(None if isinstance(count, Unknown) else count, None, tuple(verdicts))


def _alone(stories: Iterable[StoryJudgement]) -> int:
    """Count the rows of which one judge of a panel says whether they are matched, and no other one."""
    voices = (sum(of_pass is not None and of_pass.count is not None for of_pass in row.passes)
              for story in stories for row in story.rows)  # fmt: skip
    return sum(count == 1 for count in voices)


def _measured(run: Run, voted: Mapping[Answer, StoryJudgement]) -> dict[str, ReportRow]:
    """Return the panel's metrics over all samples by model."""
    suite, group = suite_named(run.suite), judged_group(run)
    metrics: dict[str, ReportRow] = {}
    for _, entered in each_entered(run, samples_of(run)):
        measured = suite.measure(_as_voted(entered, judged_at(run), voted)).get(group.key) if group else None
        if measured is not None:
            metrics[entered.name] = measured.metrics.parses.overall("repaired")
    return metrics


def _as_voted(entered: Entered, step: str, voted: Mapping[Answer, StoryJudgement]) -> Entered:
    """Return the outcomes of a model with the panel's judgements instead of those of its run's judge."""
    outcomes = {
        key: [_outcome(outcome, voted.get((entered.name, key, outcome.repetition)), step) for outcome in of_sample]
        for key, of_sample in entered.outcomes.items()
    }
    return replace(entered, outcomes=outcomes)


def _outcome(outcome: Outcome, story: StoryJudgement | None, step: str) -> Outcome:
    if outcome.step != step or story is None:
        return outcome
    counts: dict[str, list[int | None]] = {
        "pred": [row.count for row in story.predicted],
        "gold": [row.count for row in story.gold],
    }
    decided = any(count is not None for side in counts.values() for count in side)
    unreadable = "" if decided else outcome.unreadable or NO_JUDGEMENT
    return Outcome(step, None, {**(outcome.repaired or {}), **counts}, unreadable, "", outcome.repetition)


JUDGES = "judges"
_ROWS = (
    ("rows", gettext_noop("Rows")),
    ("settled", gettext_noop("Settled by rule")),
    ("cannot_tell", gettext_noop("Cannot tell")),
    ("missing", gettext_noop("Left out")),
    ("flipped", gettext_noop("Flipped")),
)
_OF_PANELS = (("alone", gettext_noop("One judge alone")),)


def judges_table(runs: Sequence[Run], panel: Sequence[Run] = ()) -> Table:
    """Return a row for each judge and model, those of the panel last."""
    group = judged_group(runs[0])
    shares = group.shares if group else ()
    headers = group.headers if group else {}
    noun = nouns_of_samples(runs[0].suite)[0]
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *(
            Column(key=f"repaired-{share}", header=headers.get(share, share), kind="share", unit="%", group="Repaired",
                   interval=f"{share}-interval", bounds=f"{share}-bounds")
            for share in shares
        ),
        *(
            Column(key=f"official-{share}", header=headers.get(share, share), kind="share", unit="%", group="Official")
            for share in shares
        ),
        *(Column(key=key, header=header, kind="count", group=gettext_noop("Rows of both tables"))
          for key, header in (*_ROWS, *(_OF_PANELS if panel else ()))),
        Column(key="calls", header=gettext_noop("Calls"), kind="count"),
        Column(key="price", header=Sentence("Price a {noun}", noun=word(noun)), kind="number", unit="$", digits=6),
    ]  # fmt: skip
    rows = [_cells(row, shares) for row in rows_of_judges(runs, panel)]
    return Table(
        title=gettext_noop("Judges of the same answers"),
        columns=columns,
        rows=rows,
        section="judge",
        notes=_notes(panel),
    )


def _cells(row: JudgedRow, shares: Sequence[str]) -> Cells:
    cells: Cells = {"judge": row.judge, "model": row.model, "run": row.run, "calls": row.tally.calls}
    cells |= {key: getattr(row.tally, key) for key, _ in _ROWS} | {"price": row.tally.price_a_story}
    cells["alone"] = row.alone
    for share in shares:
        cells[f"repaired-{share}"] = row.repaired.value_of(share)
        cells[f"{share}-interval"] = row.repaired.interval_of(share)
        cells[f"{share}-interval_reason"] = row.repaired.reasons.get(share)
        cells[f"{share}-bounds"] = row.repaired.bounds_of(share)
        cells[f"official-{share}"] = row.official.number_of(share)
    return cells


def _notes(panel: Sequence[Run]) -> list[str]:
    notes = [
        gettext_noop(
            "Rows that a judge cannot tell or leaves out are in no estimate; bounds take them as unmatched or matched."
        ),
        gettext_noop(
            "Flipped rows are those of which two passes of a judge, or two judges of a panel, say something else."
        ),
    ]
    members = clauses(*map(judge_text, panel))
    if not panel:
        return notes
    return [
        *notes,
        Sentence("The panel is the majority of {members}; a row without a majority is undecided.", members=members),
        gettext_noop(
            "More than half of the judges that say whether a row is matched decide it, and at least two have to say "
            "so: the word of one judge alone decides nothing."
        ),
    ]
