"""Scores without the judge's error beside official and repaired ones: columns of a ranking, notes and warnings."""

from collections.abc import Sequence
from dataclasses import replace

from benchmark.domain.tables import Cell, Cells, Column
from benchmark.suites.registry import group_named, nouns_of_group, units_of_group
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, clauses, gettext_noop
from judge.domain.corrections import Correction, differing_text

PREFIX = "corrected_"
"""Keys of the columns of corrected scores begin with it."""
GROUP = gettext_noop("Corrected (%)")
BASIS = gettext_noop("Corrected from")
BESIDE = {
    "unjudged": Column(key="unjudged", header=gettext_noop("Rows not judged"), kind="count"),
    "unseen": Column(key="unseen", header=gettext_noop("In categories not aligned"), kind="share", unit="%"),
}
"""What scores do not rest on: rows of which the judge said nothing, and stories of which people aligned no like."""
NONE = gettext_noop("No model has a score corrected for the judge's error: {reasons}.")


def heads_of_counts(group: str) -> dict[str, str]:
    """Return what the counts of what people `aligned` and of what the judge `judged` are called in a metric group."""
    aligned, judged = units_of_group(group), nouns_of_group(group)[1]
    return {
        "aligned": Sentence("Aligned {aligned}", aligned=aligned),
        "judged": Sentence("Judged {judged}", judged=judged),
    }


def notes_of_counts(group: str) -> list[str]:
    """Return what corrected scores of a metric group do not rest on, and what they are worth."""
    aligned, judged = units_of_group(group), nouns_of_group(group)[1].capitalize()
    return [
        Sentence(
            "Rows not judged are in no score of the judge. {judged} of categories of which people "
            "aligned none rest on the judge's error elsewhere.",
            judged=judged,
        ),
        Sentence(
            "Effective sample size: aligned {aligned} that people alone would need for as narrow an interval.",
            aligned=aligned,
        ),
    ]


def has_corrected(entrants: Sequence[EntrantResults]) -> bool:
    """Return whether any row has a corrected score."""
    return any(entrant.corrected and entrant.corrected.scores for entrant in entrants)


def corrected_columns(entrants: Sequence[EntrantResults], group: str) -> list[Column]:
    """Return the columns of corrected scores; none where no row has one."""
    described = group_named(group)
    shares = described.corrected if has_corrected(entrants) else {}
    return [
        Column(key=f"{PREFIX}{metric}", header=described.headers[share], kind="share", group=GROUP)
        for metric, share in shares.items()
    ]


def basis_columns(entrants: Sequence[EntrantResults], group: str) -> list[Column]:
    """Return the columns of what corrected scores rest on; none where no row has one."""
    if not has_corrected(entrants):
        return []
    counts = heads_of_counts(group)
    effective = Column(
        key=f"{PREFIX}effective", header=gettext_noop("Effective sample size"), kind="number", digits=1, group=BASIS
    )
    return [
        *(Column(key=f"{PREFIX}{key}", header=header, kind="count", group=BASIS) for key, header in counts.items()),
        *(replace(column, key=f"{PREFIX}{key}", unit="", group=BASIS) for key, column in BESIDE.items()),
        effective,
        Column(key=f"{PREFIX}by", header=gettext_noop("Study and judge"), group=BASIS),
    ]


def corrected_values(entrant: EntrantResults) -> Cells:
    """Return the cells of a row: its scores and what they rest on, or the reason why there are none."""
    correction = entrant.corrected
    if correction is None:
        return {}
    if not correction.scores:
        return {f"{PREFIX}by": correction.reason}
    cells: Cells = {
        f"{PREFIX}{name}": getattr(correction, name) for name in ("aligned", "judged", *BESIDE, "effective")
    }
    for metric, score in correction.scores.items():
        cells[f"{PREFIX}{metric}"] = Cell(score.value, score.interval, reason=score.reason)
    return cells | {f"{PREFIX}by": corrected_by(correction)}


def corrected_by(correction: Correction) -> str:
    """Return the study and the version of the judge that a correction is by."""
    return f"{correction.study_name} · {correction.judge} · {correction.version[:6]}"


def corrected_leads(entrants: Sequence[EntrantResults]) -> list[str]:
    """Return the warnings that the judge's error differs by model, each once."""
    warning = [entrant.corrected for entrant in entrants if entrant.corrected and entrant.corrected.warns]
    return list(dict.fromkeys(differing_text(score.differing) for score in warning if score.differing is not None))


def corrected_notes(entrants: Sequence[EntrantResults], group: str) -> list[str]:
    """Return what corrected scores are, or that there are none, and why; nothing for who may not know them."""
    if has_corrected(entrants):
        aligned, judged = units_of_group(group), nouns_of_group(group)[1]
        note = Sentence(
            "Corrected: prediction-powered (PPI++) from the judge's scores of all {judged} that could be "
            "drawn and what people said of the aligned ones. Brackets: 95 % intervals over aligned "
            "{aligned}. Neither ranks nor marks go by them.",
            judged=judged,
            aligned=aligned,
        )
        return [note, *notes_of_counts(group)]
    reasons = dict.fromkeys(
        entrant.corrected.reason for entrant in entrants if entrant.corrected and entrant.kind != "person"
    )
    return [NONE.format(reasons=clauses(*reasons))] if reasons else []
