"""A panel of judges as tables: agreement with people of each and of their votes, what each verdict counts, and whether
judges favour their own family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmark.domain.tables import Cells, Column, Table
from benchmark.services.calibrated_panels import PanelJudge, PanelReport
from benchmark.services.calibration_tables import KAPPA, estimate_cells, kappa_column, share_heads
from benchmark.services.calibration_words import CalibrationWords
from core.messages import Sentence, gettext_noop, word
from judge.domain.calibration.agreement import Agreement

AGREEMENT, WEIGHTS, PREFERENCE = "panel", "weights", "self-preference"
_JUDGE = Column(key="judge", header=gettext_noop("Judge"))
_FAMILY = Column(key="family", header=gettext_noop("Family"))


def panel_tables(report: PanelReport, words: CalibrationWords) -> dict[str, Callable[[], Table]]:
    """Return the tables of a panel by name, each a function that makes it."""
    return {
        AGREEMENT: partial(_agreement, report, words),
        WEIGHTS: partial(_weights, report),
        PREFERENCE: partial(_preference, report, words),
    }


def votes_of(report: PanelReport) -> list[tuple[str, Agreement]]:
    """Return the votes of all judges together with what they are called."""
    return [
        (gettext_noop("Majority"), report.panel.majority),
        (gettext_noop("Weighted by calibration"), report.panel.weighted),
    ]


def _agreement(report: PanelReport, words: CalibrationWords) -> Table:
    heads = share_heads(words)
    voices = [(member.judge.name, report.panel.columns[member.judge.version]) for member in report.judges]
    rows: list[Cells] = [
        {"judge": name, "known": agreement.known, "rows": agreement.rows}
        | {name: cell for key in (*heads, KAPPA) for name, cell in estimate_cells(key, getattr(agreement, key))}
        for name, agreement in [*voices, *votes_of(report)]
    ]
    return Table(
        title=gettext_noop("Panel of judges by agreement with people"),
        columns=[
            _JUDGE,
            *(
                Column(key=key, header=header, kind="share", unit="%", interval=f"{key}-interval")
                for key, header in heads.items()
            ),
            kappa_column(),
            Column(key="known", header=gettext_noop("Rows with both verdicts"), kind="count"),
            Column(key="rows", header=gettext_noop("Rows"), kind="count"),
        ],
        rows=rows,
        notes=[
            gettext_noop("Over the tables that people aligned and all these judges judged."),
            gettext_noop("Judges have no vote on models of their own family.")
            if report.apart
            else gettext_noop("Judges vote on models of their own family, too."),
        ],
    )


def _weights(report: PanelReport) -> Table:
    shares = {"sensitivity": gettext_noop("Sensitivity"), "specificity": gettext_noop("Specificity")}
    counts = {"matched": gettext_noop("“matched” counts"), "unmatched": gettext_noop("“not matched” counts")}
    return Table(
        title=gettext_noop("Weights of judges"),
        columns=[
            _JUDGE,
            _FAMILY,
            *(Column(key=key, header=header, kind="share", unit="%") for key, header in shares.items()),
            *(Column(key=key, header=header, kind="number") for key, header in counts.items()),
            Column(key="known", header=gettext_noop("Rows"), kind="count"),
            Column(key="left_out", header=gettext_noop("Left out of tables"), kind="count"),
        ],
        rows=[_weight_cells(member) for member in report.judges],
        notes=[gettext_noop("What a verdict counts: the natural logarithm of its likelihood ratio.")],
    )


def _weight_cells(member: PanelJudge) -> Cells:
    cells: Cells = {
        "judge": member.judge.name, "family": member.family or None, "known": member.compared_rows,
        "left_out": member.left_out,
    }  # fmt: skip
    if not member.compared_rows:
        return cells
    skill: Cells = {"sensitivity": member.skill.sensitivity, "specificity": member.skill.specificity}
    return cells | skill | {"matched": member.matched, "unmatched": member.unmatched}


def _preference(report: PanelReport, words: CalibrationWords) -> Table:
    shares = {
        "own": gettext_noop("Above people, own family"), "others": gettext_noop("Above people, others"),
        "preference": gettext_noop("Self-preference"),
    }  # fmt: skip
    return Table(
        title=gettext_noop("Self-preference of judges"),
        columns=[
            _JUDGE,
            _FAMILY,
            *(
                Column(key=key, header=header, kind="share", unit="%", interval=f"{key}-interval")
                for key, header in shares.items()
            ),
            Column(key="n", header=words.units.capitalize(), kind="count"),
            Column(key="p", header="p", kind="number", digits=4),
            Column(key="why", header=gettext_noop("No figure because")),
        ],
        rows=[_preference_cells(member, list(shares)) for member in report.judges],
        notes=[Sentence("Brackets: 95 % intervals over {units}.", units=word(words.units))],
    )


def _preference_cells(member: PanelJudge, shares: list[str]) -> Cells:
    bias = member.preference
    cells: Cells = {
        "judge": member.judge.name, "family": member.family or None, "n": bias.preference.n, "p": bias.p,
        "why": bias.preference.reason if bias.preference.value is None else None,
    }  # fmt: skip
    return cells | {name: cell for key in shares for name, cell in estimate_cells(key, getattr(bias, key))}
