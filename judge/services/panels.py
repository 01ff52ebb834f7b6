"""Judges of a study together, without those of a model's own family; whether a judge favours its own; and the changes
between two versions of a judge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmark.domain.tables import Cells, Column, Table, share_column
from benchmark.models import Entrant, Run
from core.kept import kept
from core.messages import Sentence, gettext_noop, word
from judge.domain.calibration.agreement import NOTHING, Agreement
from judge.domain.calibration.means import SpannedEstimate
from judge.domain.calibration.panels import Bridge, Panel, SelfPreference, Skill, bridge, panel, self_preference, skill
from judge.models import AlignmentStudy
from judge.services.alignment_tables import places_of_models
from judge.services.calibration import CalibrationWords, JudgeBrief, StudyJudge, calibrated, state_of
from judge.services.calibration_tables import KNOWN, cell, measured, measures
from judge.services.settled_tables import judged_twice
from judge.services.studies import cluster_of
from workers.domain.families import family_named
from workers.models import Endpoint


def family_of(endpoint: Endpoint) -> str:
    """Return the family of an endpoint's model; empty if its name has no word."""
    return family_named(endpoint.model, endpoint.family)


@dataclass(frozen=True, slots=True)
class PanelJudge:
    """A judge of a panel: its family, its agreement with people on the panel's tables, its skill over all aligned
    tables, the number of tables from which it was left out, and whether it favours its family."""

    judge: JudgeBrief
    family: str
    agreement: Agreement
    skill: Skill
    left_out: int
    preference: SelfPreference


@dataclass(frozen=True, slots=True)
class PanelReport:
    """A panel of judges of a study next to people, with the family of every model by name. If `apart`, a judge has no
    vote on models of its own family."""

    judges: list[PanelJudge]
    panel: Panel
    families: dict[str, str]
    apart: bool

    @property
    def tables(self) -> int:
        """The number of tables that people aligned and all judges judged."""
        return self.panel.majority.tables

    @property
    def voices(self) -> list[tuple[str, Agreement]]:
        """Each judge by name, and the votes of all together."""
        return [
            *((member.judge.name, member.agreement) for member in self.judges),
            (gettext_noop("Majority"), self.panel.majority),
            (gettext_noop("Weighted by calibration"), self.panel.weighted),
        ]


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


def panel_report(study: AlignmentStudy, judges: Sequence[StudyJudge], *, apart: bool = True) -> PanelReport:
    """Return the panel of these judges, each without a vote on its own family if they are kept `apart`."""
    families = _families(study)
    own = {judge.version: _family_of_judge(judge.runs[0]) for judge in judges}
    # judges are keyed by version: one may have the name of a model
    tables = {judge.version: judge.joined.tables for judge in judges}
    kin = {name: family for name, family in {**families, **own}.items() if family} if apart else {}
    over = cluster_of(study)
    together = panel(tables, seed=study.seed, family_of=kin, over=over)
    members = []
    for judge in judges:
        family, agreement = own[judge.version], together.columns[judge.version]
        if agreement.known:
            favour = self_preference(judge.joined.models, family or judge.version, families, over=over)
        else:  # its scores of 0 are not an opinion of any family
            nothing = SpannedEstimate(None, 0, reason=NOTHING)
            favour = SelfPreference(nothing, nothing, nothing, None)
        members.append(
            PanelJudge(
                judge.brief,
                family,
                agreement,
                skill(judge.joined.tables),
                together.without_family[judge.version],
                favour,
            )
        )
    return PanelReport(members, together, families, apart)


def _panel_state(study: AlignmentStudy, judges: Sequence[JudgeBrief], *, apart: bool = True) -> list[Any]:
    runs = Run.objects.filter(uid__in=[judge.runs[0] for judge in judges]).select_related("judge").order_by("pk")
    families = [_families(study), {run.uid: _family_of_judge(run) for run in runs}]
    return state_of(study, [judge.version for judge in judges], apart, families)


@kept("panel", depends_on=_panel_state)
def kept_panel(study: AlignmentStudy, judges: Sequence[JudgeBrief], *, apart: bool = True) -> PanelReport:
    """Return the panel of these judges, recomputed after a change of what reports are computed from, or of a family."""
    versions = {judge.version for judge in judges}
    return panel_report(study, [judge for judge in calibrated(study)[0] if judge.version in versions], apart=apart)


def bridge_report(study: AlignmentStudy, old: StudyJudge, new: StudyJudge) -> tuple[Bridge, int, int]:
    """Return the changes from the old judge to the new one over all tables that both judged, aligned or not, the number
    of these, and that of further ones that only one of them judged."""
    both = [unit for unit in study.units if unit.key in old.judged and unit.key in new.judged]
    change = bridge(judged_twice(both, old.judged, new.judged), over=cluster_of(study))
    return change, len(both), len(set(old.judged) ^ set(new.judged))


def panel_tables(report: PanelReport, words: CalibrationWords) -> dict[str, Callable[[], Table]]:
    """Return the tables of a panel by name, each a function that makes it."""
    return {"panel": partial(_agreement, report, words), "weights": partial(_weights, report, words)}


_JUDGE = Column(key="judge", header=gettext_noop("Judge"))


def _agreement(report: PanelReport, words: CalibrationWords) -> Table:
    rows: list[Cells] = [{"judge": name} | measured(agreement, bounds=False) for name, agreement in report.voices]
    return Table(
        title=gettext_noop("Panel of judges by agreement with people"),
        columns=[_JUDGE, *measures(words), KNOWN, Column(key="rows", header=gettext_noop("Rows"), kind="count")],
        rows=rows,
        notes=[
            gettext_noop("Over the tables that people aligned and all these judges judged."),
            gettext_noop("Judges have no vote on models of their own family.")
            if report.apart
            else gettext_noop("Judges vote on models of their own family, too."),
        ],
    )


def _weights(report: PanelReport, words: CalibrationWords) -> Table:
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
        rows=[_weight_cells(member) for member in report.judges],
        notes=[
            gettext_noop("What a verdict counts: the natural logarithm of its likelihood ratio."),
            Sentence(text, score=word(words.score), units=word(words.units)),
        ],
    )


def _weight_cells(member: PanelJudge) -> Cells:
    preference, known = member.preference, member.agreement.known
    cells: Cells = {
        "judge": member.judge.name,
        "family": member.family or None,
        "known": known,
        "left_out": member.left_out,
        "preference": cell(preference.preference),
        "p": preference.p,
    }
    skill = member.skill
    shares = {"sensitivity": skill.sensitivity, "specificity": skill.specificity}
    return cells | (shares | {"matched": skill.evidence(True), "unmatched": skill.evidence(False)} if known else {})
