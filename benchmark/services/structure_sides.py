"""Models of a project that have both: structures that they built of stories, and answers to questions about stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from annotation.models import Project
from benchmark.models import Run
from benchmark.services.absences import is_absent
from benchmark.services.leaderboards import entrants_of
from benchmark.services.reports import reports_of
from benchmark.suites.groups import STRUCTURE, MetricGroup
from benchmark.suites.registry import group_named, group_suite, ordered_suites, suite_named
from benchmark.suites.results import RunEntrant
from core.messages import Sentence, gettext_noop, labelled, listed, noted
from workers.models import JobState

SEPARATOR = "."
JOINTLY = gettext_noop("Both together")


JOINT = ","
"""Separator between the keys of figures that are to be right together."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a structure: `share` is one of the metric group's. With `beside` it is the lower of two, so that both
    are right where it is."""

    group: MetricGroup
    share: str
    beside: Measure | None = None

    @property
    def key(self) -> str:
        own = f"{self.group.key}{SEPARATOR}{self.share}"
        return f"{own}{JOINT}{self.beside.key}" if self.beside else own

    @property
    def parts(self) -> tuple[Measure, ...]:
        """The single figures that it is made of."""
        return (replace(self, beside=None), *self.beside.parts) if self.beside else (self,)

    @property
    def title(self) -> str:
        """Return what it is listed under."""
        return JOINTLY if self.beside else self.group.title

    @property
    def label(self) -> str:
        """The name on pages."""
        if self.beside:
            return Sentence("{parts} and {beside}", parts=self.parts[0].label, beside=self.beside.label)
        if self.share == self.group.score:
            return self.group.score_title
        name = self.group.headers.get(self.share, self.share)
        return labelled(self.group.noun.capitalize(), name)


@dataclass(frozen=True)
class Sides:
    """The entrants of finished runs by metric group and by model, newest first."""

    entrants: Mapping[str, Mapping[str, Sequence[RunEntrant]]]

    def groups(self, side: str) -> list[MetricGroup]:
        """The metric groups that tell of structure, or of answers, and that have entrants."""
        return [
            group for key, by_model in self.entrants.items() if by_model and (group := group_named(key)).tells == side
        ]

    @cached_property
    def measures(self) -> list[Measure]:
        """All figures of structures; the score of each group before its others."""
        groups = self.groups(STRUCTURE)
        shares = {
            group.key: sorted(group.shares, key=lambda share, score=group.score: share != score) for group in groups
        }
        return [Measure(group, share) for group in groups for share in shares[group.key]] + _jointly(groups)

    def models(self, measure: Measure, answers: str) -> list[str]:
        """The models that have figures of all groups of a measure and of the answers, in alphabetical order."""
        groups = [part.group.key for part in measure.parts]
        return sorted(set.intersection(*({*self.entrants.get(key, {})} for key in (*groups, answers))))

    def structure_runs(self, measure: Measure) -> dict[str, str]:
        """Titles of the runs that have all figures of a measure, by id, newest first."""
        runs = [self.runs(part.group.key) for part in measure.parts]
        return {uid: title for uid, title in runs[0].items() if all(uid in other for other in runs)}

    def runs(self, group: str) -> dict[str, str]:
        """Titles of the runs with entrants of the group, by id, newest first."""
        listed = [entrant for entrants in self.entrants.get(group, {}).values() for entrant in entrants]
        listed.sort(key=lambda entrant: entrant.at, reverse=True)
        return {entrant.run: entrant.run_title for entrant in listed}

    def entrant(self, group: str, model: str, run: str = "") -> RunEntrant | None:
        """Return the newest entrant of a model, or the one of that run."""
        listed = self.entrants.get(group, {}).get(model, ())
        return next((entrant for entrant in listed if not run or entrant.run == run), None)


def _jointly(groups: Sequence[MetricGroup]) -> list[Measure]:
    """The scores of every two groups of one suite, which are right together where both are."""
    pairs = combinations(groups, 2)
    return [
        Measure(first, first.score, Measure(second, second.score))
        for first, second in pairs
        if group_suite(first.key) == group_suite(second.key)
    ]


def sides_of(project: Project) -> Sides:
    """Return what the finished runs of a project offer, models and baselines; who has not a single answer is left
    out."""
    entrants: dict[str, dict[str, list[RunEntrant]]] = {}
    finished = Run.objects.listed().filter(project=project, job__state=JobState.FINISHED)
    for name in ordered_suites(finished.order_by().values_list("suite", flat=True).distinct()):
        suite = suite_named(name)
        groups = [group for group in suite.groups if group.tells] if suite.story else []
        if not groups:
            continue
        runs = list(
            finished.filter(suite=name)
            .select_related("judge", "project", "dataset", "source", "job")
            .prefetch_related("entrants")
        )
        reports = reports_of(runs)
        for group in groups:
            models = [entrant for entrant in entrants_of(runs, reports, group.key) if entrant.kind != "person"]
            entrants[group.key] = _by_model([entrant for entrant in models if not is_absent(entrant)])
    return Sides(_named(entrants))


def _by_model(entrants: Sequence[RunEntrant]) -> dict[str, list[RunEntrant]]:
    by_model: dict[str, list[RunEntrant]] = {}
    for entrant in entrants:
        by_model.setdefault(_identity(entrant), []).append(entrant)
    return by_model


def _identity(entrant: RunEntrant) -> str:
    """Return what has to be the same in both runs."""
    spec = entrant.spec
    return "\n".join([entrant.name, spec.provider or "", spec.model or "", spec.revision or ""])


def _named(
    entrants: Mapping[str, Mapping[str, Sequence[RunEntrant]]],
) -> dict[str, dict[str, Sequence[RunEntrant]]]:
    """Return them by the name of each model, with what it is where two of one name are not the same."""
    identities = {identity for by_identity in entrants.values() for identity in by_identity}
    names = [identity.partition("\n")[0] for identity in identities]
    return {
        group: {_page_name(identity, names): listed for identity, listed in by_identity.items()}
        for group, by_identity in entrants.items()
    }


def _page_name(identity: str, names: Sequence[str]) -> str:
    name, *endpoint = identity.split("\n")
    return name if names.count(name) == 1 else noted(name, listed(endpoint))
