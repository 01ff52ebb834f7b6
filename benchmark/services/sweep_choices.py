"""Choice of a model, at a level of a sweep, for a metric group: the paired test that speaks for it, and what was chosen
with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import User
from annotation.services import audit
from benchmark.domain.inference import Pair
from benchmark.models import Run, SweepPick
from benchmark.services.sweep_cells import (
    best_of,
    cell_name,
    cells_of,
    first_of,
    metrics_of,
    pair_of,
    pairs_of,
    swept_by,
)
from benchmark.services.sweeps import level_of
from benchmark.suites.groups import MetricGroup
from benchmark.suites.registry import units_of_group
from benchmark.suites.results import EntrantResults
from core.language import gettext
from core.messages import Sentence, gettext_noop, noted
from core.plain import Json, plain
from core.statistics import Estimate, beyond_reach
from judge.domain.calibration.selection import Beside, choice_text, highest_text

LONGEST_REASON = 2000


class ChoiceRefused(ValueError):
    """A choice that cannot be kept. Its text says why in one sentence."""


class ChoiceSuperseded(ChoiceRefused):
    """A choice that would replace another one than the person saw."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model at a level of a sweep: the `key` of its entrant, and its score with what its table has beside that."""

    key: str
    model: str
    level: Any
    score: float | None
    cell: EntrantResults

    @property
    def name(self) -> str:
        """The model with its level."""
        return f"{self.model} L{self.level}"


@dataclass(frozen=True, slots=True)
class Against:
    """Another model or level beside the one that is looked at, with the `pair` of the two; None where one of them is
    not ranked."""

    candidate: Candidate
    pair: Pair | None

    @property
    def turned(self) -> bool:
        """Return whether the pair has the two the other way round."""
        return self.pair is not None and self.pair.first == self.candidate.key

    @property
    def value(self) -> float | None:
        """The score of the one that is looked at less this one's."""
        value = self.pair.value if self.pair else None
        return -value if self.turned and value is not None else value

    @property
    def interval(self) -> list[float] | None:
        """The 95 % interval of the difference."""
        ends = self.pair.interval if self.pair else None
        return [-ends[1], -ends[0]] if ends and self.turned else ends and list(ends)

    @property
    def is_significant(self) -> bool:
        """Return whether the two are shown to differ, adjusted for all pairs of the sweep."""
        return self.pair is not None and self.pair.differs()


@dataclass(frozen=True, slots=True)
class Choosing:
    """One metric group of a sweep: its candidates, the one that is `looked` at beside all others, and what is `kept`
    of an earlier choice."""

    group: MetricGroup
    candidates: list[Candidate]
    looked: Candidate
    against: list[Against]
    kept: SweepPick | None
    beyond: str = ""
    """Reason why no test of this group can show a difference, a clause; empty where one can."""
    without_optimism: Estimate | None = None
    """The score of the candidate that is looked at without what it owes to being the highest; None where it is not."""

    @property
    def chosen(self) -> Candidate | None:
        """The candidate that was chosen; None where none was, or its run is not there any more."""
        entrant = self.kept and self.kept.entrant_id
        return (
            next((candidate for candidate in self.candidates if candidate.cell.entrant == entrant), None)
            if entrant
            else None
        )

    @property
    def seen(self) -> str:
        """Return what tells the choice that is kept from another one, empty where none is kept."""
        return self.kept.seen if self.kept else ""

    @property
    def reason(self) -> str:
        """Return why the candidate that is looked at was chosen, empty where it was not."""
        return self.kept.reason if self.kept and self.chosen == self.looked else ""

    @property
    def title(self) -> str:
        """The group with its score."""
        return noted(self.group.title, self.group.headers[self.group.score])

    @property
    def highest(self) -> str:
        """Return that score in words, empty without one."""
        estimate = self.without_optimism
        return highest_text(self.looked.name, len(self.candidates), estimate) if estimate else ""

    @property
    def finding(self) -> str:
        """Return what the test says of the candidate that is looked at, one sentence."""
        without = gettext("not compared with {judges}")
        apart = [comparison.candidate.name for comparison in self.against if comparison.value is None]
        alike = [
            comparison.candidate.name
            for comparison in self.against
            if comparison.value is not None and not comparison.is_significant
        ]
        worse, better = (
            [
                comparison.candidate.name
                for comparison in self.against
                if comparison.is_significant and ((comparison.value or 0.0) > 0) is above
            ]
            for above in (True, False)
        )
        return choice_text(self.looked.name, Beside(worse, alike, better, apart), without)


def choosings_of(runs: Sequence[Run], looked: Sequence[str] = ()) -> list[Choosing]:
    """Return each metric group of a sweep with the candidate that is looked at: of the keys `looked` the one that is
    its own, else the one that was chosen, else the best."""
    suite, _setting = swept_by(runs) if runs else (None, None)
    kept = {choice.group: choice for choice in choices_of(runs[0])} if runs else {}
    choosings = [_choosing(runs, group, kept.get(group.key), looked) for group in (suite.groups if suite else ())]
    return [choosing for choosing in choosings if choosing]


def choices_of(run: Run) -> list[SweepPick]:
    """Return what was chosen in the launch of a run, by metric group."""
    kept = SweepPick.objects.filter(project=run.project_id, launch=run.provenance.launch)
    return list(kept.select_related("entrant__run", "by"))


def _choosing(
    runs: Sequence[Run], group: MetricGroup, kept: SweepPick | None, looked: Sequence[str]
) -> Choosing | None:
    cells = cells_of(runs, group)
    candidates = _candidates(runs, group, cells)
    best = best_of(cells)
    looked_at = (
        next((candidate for candidate in candidates if candidate.key in looked), None)
        or next((candidate for candidate in candidates if kept and candidate.cell.entrant == kept.entrant_id), None)
        or next((candidate for candidate in candidates if best and candidate.key == best.key), None)
    )
    if looked_at is None:
        return None
    pairs = pairs_of(runs, group, cells)
    others = [
        Against(other, pair_of(pairs, looked_at.key, other.key)) for other in candidates if other.key != looked_at.key
    ]  # fmt: skip
    first = first_of(runs, group, cells) if best and looked_at.key == best.key else None
    return Choosing(group, candidates, looked_at, others, kept, _beyond(pairs, group), first)


def _beyond(pairs: Sequence[Pair], group: MetricGroup) -> str:
    tested = [pair for pair in pairs if pair.p is not None]
    units = max((pair.clusters or pair.n for pair in tested), default=0)
    return beyond_reach(units, len(tested), units_of_group(group.key))


def _candidates(runs: Sequence[Run], group: MetricGroup, cells: Sequence[EntrantResults]) -> list[Candidate]:
    """Return the cells in the order of models and levels."""
    _suite, setting = swept_by(runs)
    levels = {run.uid: level_of(run, setting.name) for run in runs}
    candidates = [
        Candidate(cell.key, cell_name(cell), levels[cell.run], metrics_of(cell).number_of(group.score), cell)
        for cell in cells
    ]  # fmt: skip
    return sorted(candidates, key=lambda candidate: (candidate.model, candidate.level))


@transaction.atomic
def choose_model(
    *, by: User | None, runs: Sequence[Run], key: str, group: str, reason: str, now: datetime, seen: str | None = None
) -> SweepPick | None:
    """Keep which model of a sweep, at which level, is chosen for a metric group, and why; return the choice that it
    takes the place of, None where there is none or it says the same. The log keeps earlier choices.

    `seen` is the `seen` of the choice that the person looked at, empty where there was none; None is for who replaces
    whatever there is. Raises ChoiceSuperseded where it is another one by now; ChoiceRefused for one that the sweep has
    no score of, without a reason, and for one that is too long."""
    locked = Run.objects.select_for_update().filter(pk__in=[run.pk for run in runs]).order_by("pk")
    there = {run.uid for run in locked.only("uid")}
    choosing = {choosing.group.key: choosing for choosing in choosings_of(runs, [key])}.get(group)
    if choosing is None or choosing.looked.key != key or choosing.looked.cell.run not in there:
        raise ChoiceRefused(gettext_noop("The sweep has no score of that model."))
    reason = reason.replace("\x00", "").strip()
    kept, entrant = choosing.kept, choosing.looked.cell.entrant
    if kept and (kept.entrant_id, kept.reason, kept.by) == (entrant, reason, by):
        return None
    if seen is not None and seen != choosing.seen:
        raise ChoiceSuperseded(_superseded(choosing))
    _check_reason(reason)
    run = runs[0]
    SweepPick.objects.update_or_create(
        project=run.project, launch=run.provenance.launch, group=group,
        defaults={"entrant_id": entrant, "reason": reason, "by": by, "at": now},
    )  # fmt: skip
    audit.record(
        by=by, project=run.project, action="sweep.model_chosen", target=run.uid, group=choosing.group.title,
        model=choosing.looked.name, reason=reason,
    )  # fmt: skip
    return kept


def _superseded(choosing: Choosing) -> str:
    """Say who chose what since."""
    kept = choosing.kept
    name = choosing.chosen.name if choosing.chosen else kept.entrant.name if kept else ""
    if kept is None or kept.by is None:
        text = gettext("{model} was chosen since you opened this page; keep your choice again to replace that one.")
        return text.format(model=name)
    text = gettext("{person} chose {model} since you opened this page; keep your choice again to replace that one.")
    return text.format(person=kept.by.shown_name, model=name)


def _check_reason(reason: str) -> None:
    if not reason:
        raise ChoiceRefused(gettext_noop("Say why this model is chosen."))
    if len(reason) > LONGEST_REASON:
        raise ChoiceRefused(
            Sentence(
                "The reason has {reason} characters; at most {longest_reason} are kept.",
                reason=f"{len(reason):,}",
                longest_reason=f"{LONGEST_REASON:,}",
            )
        )


def choosing_document(choosing: Choosing) -> Json:
    """Return a metric group of a sweep as plain data: what was chosen, and the test of the candidate that is looked
    at."""
    return {
        "group": choosing.group.key,
        "chosen": _chosen(choosing),
        "candidates": [_as_json(candidate) for candidate in choosing.candidates],
        "looked": choosing.looked.key,
        "found": choosing.finding,
        "beyond": choosing.beyond or None,
        "without_optimism": plain(choosing.without_optimism),
        "against": [
            _as_json(comparison.candidate)
            | {
                "difference": comparison.value,
                "interval": comparison.interval,
                "n": comparison.pair.n if comparison.pair else 0,
                "p": comparison.pair.p if comparison.pair else None,
                "adjusted": comparison.pair.p_adjusted if comparison.pair else None,
                "shown": comparison.is_significant,
            }
            for comparison in choosing.against
        ],
    }


def _as_json(candidate: Candidate) -> Json:
    return {"key": candidate.key, "model": candidate.model, "level": candidate.level, "score": candidate.score}


def _chosen(choosing: Choosing) -> Json | None:
    return pick_document(choosing.kept) if choosing.kept else None


def pick_document(kept: SweepPick) -> Json:
    """Return a choice as plain data."""
    setting = swept_by([kept.entrant.run])[1]
    return {
        "model": kept.entrant.name,
        "level": level_of(kept.entrant.run, setting.name),
        "reason": kept.reason,
        "by": kept.by.username if kept.by else None,
        "at": kept.at.isoformat(),
    }
