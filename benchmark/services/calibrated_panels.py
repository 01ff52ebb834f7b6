"""Judges of a study together, without those of a model's own family; whether a judge favours its own; and what changes
between two versions of a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.models import Entrant, Run
from benchmark.services.alignment_tables import places_of_models
from benchmark.services.calibrating import JudgeBrief, StudyJudge, calibrated, kept_of
from judge.domain.calibration.bridges import Bridge, bridge
from judge.domain.calibration.panels import (
    Panel,
    SelfPreference,
    Skill,
    no_preference,
    panel,
    self_preference,
    skill,
)
from judge.domain.calibration.stories import Metric
from judge.models import AlignmentStudy
from judge.services.calibrating import judged_twice
from judge.services.cluster_names import cluster_of
from workers.domain.families import family_named
from workers.models import Endpoint


def family_of(endpoint: Endpoint) -> str:
    """Return the family of an endpoint's model; empty where its name has no word."""
    return family_named(endpoint.model, endpoint.family)


@dataclass(frozen=True, slots=True)
class PanelJudge:
    """A judge of a panel: its family, what calibration knows of it over all aligned tables, from `compared_rows`, of
    which both people and it have a verdict, of how many tables it was left out, and whether it favours its family."""

    judge: JudgeBrief
    family: str
    skill: Skill
    compared_rows: int
    left_out: int
    preference: SelfPreference

    @property
    def matched(self) -> float:
        """Return what its verdict “matched” counts, as the log of a likelihood ratio."""
        return self.skill.evidence(True)

    @property
    def unmatched(self) -> float:
        """Return what its verdict “not matched” counts, in the same way."""
        return self.skill.evidence(False)


@dataclass(frozen=True, slots=True)
class PanelReport:
    """A panel of judges of a study beside people, with the family of every model by name. `apart` says whether a judge
    has no vote on models of its own family."""

    judges: list[PanelJudge]
    panel: Panel
    families: dict[str, str]
    apart: bool

    @property
    def tables(self) -> int:
        """The tables that people aligned and all judges judged."""
        return self.panel.majority.tables


def models_of(study: AlignmentStudy) -> dict[str, Endpoint]:
    """Return the endpoint of each model whose tables could be drawn, by the name that its tables have in the study."""
    entrants = Entrant.objects.filter(run__project=study.project, run__uid__in=study.came_of.runs)
    asked = {
        (entrant.run.uid, entrant.position): entrant.endpoint for entrant in entrants.select_related("endpoint", "run")
    }
    places = places_of_models(study.units)
    return {name: asked[place] for name, place in sorted(places.items(), key=lambda pair: pair[1]) if place in asked}


def panel_report(study: AlignmentStudy, judges: Sequence[StudyJudge], *, apart: bool = True) -> PanelReport:
    """Return the panel of these judges, each without a vote on its own family where they are kept `apart`."""
    families = _families(study)
    own = {judge.version: _family_of_judge(judge.runs[0]) for judge in judges}
    # judges are keyed by version: one may have the name of a model
    tables = {judge.version: judge.joined.tables for judge in judges}
    kin = {name: family for name, family in {**families, **own}.items() if family} if apart else {}
    over = cluster_of(study)
    judges_panel = panel(tables, seed=study.seed, family_of=kin, over=over)
    return PanelReport(
        [
            PanelJudge(
                judge.brief,
                own[judge.version],
                skill(judge.joined.tables),
                judges_panel.columns[judge.version].known,
                judges_panel.without_family[judge.version],
                self_preference(judge.joined.models, own[judge.version] or judge.version, families, over=over)
                if judges_panel.columns[judge.version].known
                else no_preference(),
            )
            for judge in judges
        ],
        judges_panel,
        families,
        apart,
    )


def kept_panel(study: AlignmentStudy, judges: Sequence[JudgeBrief], *, apart: bool = True) -> PanelReport:
    """Return the panel of these judges as it is kept: computed anew after a change of what calibration reports are made
    from, or of a family."""
    asked = [judge.version for judge in judges]
    runs = Run.objects.filter(uid__in=[judge.runs[0] for judge in judges]).select_related("judge").order_by("pk")
    families = [_families(study), {run.uid: _family_of_judge(run) for run in runs}]

    def compute() -> PanelReport:
        return panel_report(study, [judge for judge in calibrated(study)[0] if judge.version in asked], apart=apart)

    return kept_of(study, ["panel", apart, asked, families], compute)


def _families(study: AlignmentStudy) -> dict[str, str]:
    return {name: family_of(endpoint) for name, endpoint in models_of(study).items()}


def _family_of_judge(run: Run) -> str:
    """The family of the model of a run's judge; a judge by rules has none."""
    return family_of(run.judge) if run.judge and run.judge.about.reads_prompts else ""


@dataclass(frozen=True, slots=True)
class BridgeReport:
    """Two versions of a judge, or two judges, on the tables of a study that both judged: `tables` of them, of which
    `only` one of the two judged further ones."""

    old: JudgeBrief
    new: JudgeBrief
    bridge: Bridge
    tables: int
    only: int


def bridge_report(study: AlignmentStudy, old: StudyJudge, new: StudyJudge, metric: Metric = Metric.F1) -> BridgeReport:
    """Return what changes from the old judge to the new one, over all tables that both judged, aligned or not."""
    both = [unit for unit in study.units if unit.key in old.judged and unit.key in new.judged]
    only = len(set(old.judged) ^ set(new.judged))
    models = judged_twice(both, old.judged, new.judged)
    change = bridge(models, metric, over=cluster_of(study))
    return BridgeReport(old.brief, new.brief, change, len(both), only)


def kept_bridge(study: AlignmentStudy, old: JudgeBrief, new: JudgeBrief) -> BridgeReport:
    """Return what changes from the old judge to the new one, as it is kept."""

    def compute() -> BridgeReport:
        judges = {judge.version: judge for judge in calibrated(study)[0]}
        return bridge_report(study, judges[old.version], judges[new.version])

    return kept_of(study, ["bridge", old.version, new.version], compute)
