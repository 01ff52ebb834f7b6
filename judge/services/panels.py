"""Judges of a study together, without those of a model's own family; whether a judge favours its own; and the changes
between two versions of a judge."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmark.domain.tables import Cells, Column, Table, share_column
from benchmark.models import Entrant, Run
from core.kept import kept
from core.messages import Sentence, gettext_noop, word
from core.plain import Json, plain
from judge.domain.calibration.agreement import NOTHING
from judge.domain.calibration.means import SpannedEstimate
from judge.domain.calibration.panels import FEWEST, bridge, panel, self_preference, skill
from judge.models import AlignmentStudy
from judge.services.alignment_tables import places_of_models
from judge.services.calibration import (
    CalibrationWords,
    JudgeBrief,
    StudyJudge,
    calibrated,
    judge_of_version,
    state_of,
    words_of,
)
from judge.services.calibration_tables import KNOWN, cell, measured, measures
from judge.services.settled_tables import judged_twice
from judge.services.settling import Refused
from judge.services.studies import cluster_of
from workers.domain.families import family_named
from workers.models import Endpoint

TOO_FEW = "A panel wants at least two judges; this study has fewer."


def family_of(endpoint: Endpoint) -> str:
    """Return the family of an endpoint's model; empty if its name has no word."""
    return family_named(endpoint.model, endpoint.family)


def _families(study: AlignmentStudy) -> dict[str, str]:
    """Return the family of each model whose tables could be drawn, by the name that its tables have in the study."""
    entrants = Entrant.objects.filter(run__project=study.project, run__uid__in=study.came_of.runs)
    asked = {
        (entrant.run.uid, entrant.position): entrant.endpoint for entrant in entrants.select_related("endpoint", "run")
    }
    places = sorted(places_of_models(study.units).items(), key=lambda pair: pair[1])
    return {name: family_of(asked[place]) for name, place in places if place in asked}


def _family_of_judge(run: Run) -> str:
    """Return the family of the model of a run's judge; a judge by rules has none."""
    return family_of(run.judge) if run.judge and run.judge.about.reads_prompts else ""


def panel_report(study: AlignmentStudy, judges: Sequence[StudyJudge], *, apart: bool = True) -> Json:
    """Return the panel of these judges next to people, over the `tables` that people aligned and all of them judged:
    the agreement of the `majority` and of the `weighted` vote, and the family of every model by name. If they are kept
    `apart`, a judge has no vote on models of its own family.

    The `judges` by version have their family, their agreement on these tables, their skill over all aligned tables and
    what their verdicts count by it, the number of tables from which they were left out, and whether they favour their
    family."""
    families = _families(study)
    own = {judge.version: _family_of_judge(judge.runs[0]) for judge in judges}
    # judges are keyed by version: one may have the name of a model
    tables = {judge.version: judge.joined.tables for judge in judges}
    kin = {name: family for name, family in {**families, **own}.items() if family} if apart else {}
    over = cluster_of(study)
    together = panel(tables, seed=study.seed, family_of=kin, over=over)
    members: dict[str, Json] = {}
    for judge in judges:
        version = judge.version
        family, agreement, skills = own[version], together.columns[version], skill(judge.joined.tables)
        if agreement.known:
            favour = self_preference(judge.joined.models, family or version, families, over=over)
        else:  # its scores of 0 are not an opinion of any family
            nothing = SpannedEstimate(None, 0, reason=NOTHING)
            favour = {"own": nothing, "others": nothing, "preference": nothing, "p": None}
        members[version] = {
            "judge": judge.name,
            "family": family,
            "left_out": together.without_family[version],
            "skill": skills,
            "known": agreement.known,
            "matched_counts": skills.evidence(True),
            "unmatched_counts": skills.evidence(False),
            "agreement": agreement,
            "self_preference": favour,
        }
    return {
        "tables": together.majority.tables,
        "own_family_left_out": apart,
        "families": families,
        "judges": members,
        "majority": together.majority,
        "weighted": together.weighted,
    }


def panel_document(study: AlignmentStudy, *, apart: bool) -> Json:
    """Return the panel of all judges of a study as the API and the command have it. Raises Refused for too few
    judges."""
    judges, _settled = calibrated(study)
    if len(judges) < FEWEST:
        raise Refused(TOO_FEW)
    words = words_of(study)
    return plain(panel_report(study, judges, apart=apart)) | {"score": words.score, "table": words.table}


def _panel_state(study: AlignmentStudy, judges: Sequence[JudgeBrief], *, apart: bool = True) -> list[Any]:
    runs = Run.objects.filter(uid__in=[judge.runs[0] for judge in judges]).select_related("judge").order_by("pk")
    families = [_families(study), {run.uid: _family_of_judge(run) for run in runs}]
    return state_of(study, [judge.version for judge in judges], apart, families)


@kept("panel", depends_on=_panel_state)
def kept_panel(study: AlignmentStudy, judges: Sequence[JudgeBrief], *, apart: bool = True) -> Json:
    """Return the panel of these judges, recomputed after a change of what reports are computed from, or of a family."""
    versions = {judge.version for judge in judges}
    return panel_report(study, [judge for judge in calibrated(study)[0] if judge.version in versions], apart=apart)


def bridge_document(study: AlignmentStudy, old: str, new: str) -> Json:
    """Return the changes from one version of a judge to another, by their beginnings, over all `tables` that both
    judged, aligned or not; `judged_by_one` counts the tables that only one of them judged. Raises Refused for unknown
    versions."""
    judges, _settled = calibrated(study)
    before, after = (judge_of_version(judges, beginning) for beginning in (old, new))
    both = [unit for unit in study.units if unit.key in before.judged and unit.key in after.judged]
    return {
        "old": {"judge": before.name, "version": before.version},
        "new": {"judge": after.name, "version": after.version},
        "tables": len(both),
        "judged_by_one": len(set(before.judged) ^ set(after.judged)),
        **plain(bridge(judged_twice(both, before.judged, after.judged), over=cluster_of(study))),
    }


def panel_tables(report: Json, words: CalibrationWords) -> dict[str, Callable[[], Table]]:
    """Return the tables of a panel by name, each a function that makes it."""
    return {"panel": partial(_agreement, report, words), "weights": partial(_weights, report, words)}


_JUDGE = Column(key="judge", header=gettext_noop("Judge"))


def _agreement(report: Json, words: CalibrationWords) -> Table:
    voices = [
        *((member["judge"], member["agreement"]) for member in report["judges"].values()),
        (gettext_noop("Majority"), report["majority"]),
        (gettext_noop("Weighted by calibration"), report["weighted"]),
    ]
    rows: list[Cells] = [{"judge": name} | measured(agreement, bounds=False) for name, agreement in voices]
    return Table(
        title=gettext_noop("Panel of judges by agreement with people"),
        columns=[_JUDGE, *measures(words), KNOWN, Column(key="rows", header=gettext_noop("Rows"), kind="count")],
        rows=rows,
        notes=[
            gettext_noop("Over the tables that people aligned and all these judges judged."),
            gettext_noop("Judges have no vote on models of their own family.")
            if report["own_family_left_out"]
            else gettext_noop("Judges vote on models of their own family, too."),
        ],
    )


def _weights(report: Json, words: CalibrationWords) -> Table:
    text = (
        "Self-preference: the judge's score ({score}) less people's for models of its own family, less the same for "
        "others. Brackets: 95 % intervals over {units}."
    )
    return Table(
        title=gettext_noop("Weights of judges"),
        columns=[
            _JUDGE,
            Column(key="family", header=gettext_noop("Family")),
            share_column("sensitivity", gettext_noop("Sensitivity"), best=""),
            share_column("specificity", gettext_noop("Specificity"), best=""),
            Column(key="matched", header=gettext_noop("“matched” counts"), kind="number"),
            Column(key="unmatched", header=gettext_noop("“not matched” counts"), kind="number"),
            Column(key="known", header=gettext_noop("Rows"), kind="count"),
            Column(key="left_out", header=gettext_noop("Left out of tables"), kind="count"),
            share_column("preference", gettext_noop("Self-preference"), best=""),
            Column(key="p", header="p", kind="number", digits=4),
        ],
        rows=[_weight_cells(member) for member in report["judges"].values()],
        notes=[
            gettext_noop("What a verdict counts: the natural logarithm of its likelihood ratio."),
            Sentence(text, score=word(words.score), units=word(words.units)),
        ],
    )


def _weight_cells(member: Json) -> Cells:
    favour, skills = member["self_preference"], member["skill"]
    cells: Cells = {
        **{key: member[key] for key in ("judge", "known", "left_out")},
        "family": member["family"] or None,
        "preference": cell(favour["preference"]),
        "p": favour["p"],
    }
    if member["known"]:
        cells |= {"sensitivity": skills.sensitivity, "specificity": skills.specificity}
        cells |= {"matched": member["matched_counts"], "unmatched": member["unmatched_counts"]}
    return cells
