"""Judges of a study together, without those of a model's own family; whether a judge favours its own; and what changes
between two versions of a judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from benchmark.domain.tables import Cells, Column, Table
from benchmark.models import Entrant, Run
from core.messages import Sentence, gettext_noop, word
from judge.domain.calibration.agreement import Agreement
from judge.domain.calibration.panels import (
    Bridge,
    Panel,
    SelfPreference,
    Skill,
    bridge,
    no_preference,
    panel,
    self_preference,
    skill,
)
from judge.domain.calibration.tables import Metric
from judge.models import AlignmentStudy
from judge.services.alignment_tables import places_of_models
from judge.services.calibration import CalibrationWords, JudgeBrief, StudyJudge, calibrated, kept_of
from judge.services.calibration_tables import KAPPA, estimate_cells, kappa_column, share_heads
from judge.services.settled_tables import judged_twice
from judge.services.studies import cluster_of
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


AGREEMENT, WEIGHTS = "panel", "weights"
_JUDGE = Column(key="judge", header=gettext_noop("Judge"))
_FAMILY = Column(key="family", header=gettext_noop("Family"))


def panel_tables(report: PanelReport, words: CalibrationWords) -> dict[str, Callable[[], Table]]:
    """Return the tables of a panel by name, each a function that makes it."""
    return {
        AGREEMENT: partial(_agreement, report, words),
        WEIGHTS: partial(_weights, report, words),
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


def _weights(report: PanelReport, words: CalibrationWords) -> Table:
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
            Column(
                key="preference",
                header=gettext_noop("Self-preference"),
                kind="share",
                unit="%",
                interval="preference-interval",
            ),
            Column(key="p", header="p", kind="number", digits=4),
        ],
        rows=[_weight_cells(member) for member in report.judges],
        notes=[
            gettext_noop("What a verdict counts: the natural logarithm of its likelihood ratio."),
            Sentence(
                "Self-preference: the judge's score ({score}) less people's for models of its own family, less the "
                "same for others. Brackets: 95 % intervals over {units}.",
                score=word(words.score),
                units=word(words.units),
            ),
        ],
    )


def _weight_cells(member: PanelJudge) -> Cells:
    preference = member.preference
    cells: Cells = {
        "judge": member.judge.name, "family": member.family or None, "known": member.compared_rows,
        "left_out": member.left_out, "p": preference.p,
    } | dict(estimate_cells("preference", preference.preference))  # fmt: skip
    if not member.compared_rows:
        return cells
    skill: Cells = {"sensitivity": member.skill.sensitivity, "specificity": member.skill.specificity}
    return cells | skill | {"matched": member.matched, "unmatched": member.unmatched}
