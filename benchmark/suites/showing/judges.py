"""The self-test of judges beside what they judged: a cell of each row, a note, a table of its own."""

from collections.abc import Sequence

from benchmark.domain.tables import Cell, Cells, Column, Table
from benchmark.suites.judges import JudgeTestSummary
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import JUDGE_TEST
from core.messages import Sentence, as_sentence, clauses, gettext_noop, word, worded
from judge.domain.contrast import METHOD, Rate

NOT_TESTED = gettext_noop("not tested")

COLUMN = Column(key=JUDGE_TEST, header=gettext_noop("Judge’s self-test"))
NOTE = gettext_noop(
    "Judge’s self-test: pairs judged rightly of those answered, made by rule from gold; identical and paraphrase "
    "are to match, the others not."
)


def tests_of(entrants: Sequence[EntrantResults]) -> list[JudgeTestSummary]:
    """The tests of the judges of these rows, each once, in the order of the rows."""
    summaries: list[JudgeTestSummary] = []
    for entrant in entrants:
        if (test := entrant.judge_test) and test not in summaries:
            summaries.append(test)
    return summaries


def notes_of(entrants: Sequence[EntrantResults]) -> list[str]:
    """Return what the self-test of each judge came to, with intervals."""
    notes: list[str] = []
    for test in tests_of(entrants):
        if test.state == NOT_TESTED and not test.kinds:
            notes.append(
                Sentence("Self-test of the judge {judge}: {not_tested}.", judge=test.judge, not_tested=NOT_TESTED)
            )
            continue
        state = ""
        if test.state != "tested":
            state = Sentence(
                " ({state}: {answered} of {calls} calls answered)",
                state=word(test.state),
                answered=test.answered,
                calls=test.calls,
            )
        note = Sentence(
            "Self-test of the judge {judge} on pairs made from version {dataset} of the gold{state}, "
            "judged rightly: {parts}; {method}.",
            judge=test.judge,
            dataset=test.dataset,
            state=state,
            parts=clauses(*(worded(kind.name, _share(kind)) for kind in test.kinds)),
            method=METHOD,
        )
        notes.append(note)
    return notes


def _share(kind: Rate) -> str:
    if not kind.n and not kind.missing:
        return gettext_noop("–, no pair")
    share = "–"
    if kind.rate is not None and kind.interval:
        low, high = kind.interval
        share = f"{100 * kind.rate:.1f} % [{100 * low:.1f}, {100 * high:.1f}], n = {kind.n}"
    return Sentence("{share}, {missing} unanswered", share=share, missing=kind.missing) if kind.missing else share


def judge_test_table(entrants: Sequence[EntrantResults]) -> Table:
    """A row for each judge and kind of pair; one row with "not tested" for a judge without a test."""
    columns = [
        Column(key="judge", header=gettext_noop("Judge")),
        Column(key="kind", header=gettext_noop("Kind of pair")),
        Column(key="match", header=gettext_noop("To match")),
        Column(key="rate", header=gettext_noop("Judged rightly"), kind="share", unit="%"),
        Column(key="n", header=gettext_noop("Answered"), kind="count"),
        Column(key="missing", header=gettext_noop("Unanswered"), kind="count"),
    ]
    rows: list[Cells] = []
    for test in tests_of(entrants):
        rows += [
            {
                "judge": test.judge,
                "kind": kind.name,
                "match": "yes" if kind.alike else "no",
                "rate": Cell(kind.rate, kind.interval, kind.n),
                "n": kind.n,
                "missing": kind.missing,
            }
            for kind in test.kinds
        ] or [{"judge": test.judge, "kind": NOT_TESTED}]
    states = [
        Sentence("{name}: {text}.", name=test.judge, text=test.told)
        for test in tests_of(entrants)
        if test.state != "tested"
    ]
    return Table(
        title=gettext_noop("Self-test of judges"), columns=columns, rows=rows, notes=[as_sentence(METHOD), *states]
    )
