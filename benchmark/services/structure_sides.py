"""Which models of a project have both: structures that they built of stories, and answers to questions about
stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.models import Project
from benchmark.models import Run
from benchmark.services.absences import is_absent
from benchmark.services.leaderboards import entrants_of
from benchmark.services.reports import reports_of
from benchmark.suites.contract import STRUCTURE, MetricGroup
from benchmark.suites.registry import group_named, ordered_suites, suite_named
from benchmark.suites.shown import RunEntrant
from workers.models import JobState

ENDPOINT = ("provider", "model", "revision")
"""Fields of an endpoint that have to be the same in both runs, beside its name."""
SEPARATOR = "."


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a structure: `share` is one of the metric group's."""

    group: MetricGroup
    share: str

    @property
    def key(self) -> str:
        return f"{self.group.key}{SEPARATOR}{self.share}"

    @property
    def label(self) -> str:
        """The name on pages."""
        if self.share == self.group.score:
            return self.group.score_title
        name = self.group.labels.get(self.share) or self.group.headers.get(self.share, self.share)
        return f"{self.group.noun.capitalize()}: {name}"


@dataclass(frozen=True)
class Sides:
    """The entrants of finished runs by metric group and by model, newest first."""

    entrants: Mapping[str, Mapping[str, Sequence[RunEntrant]]]

    def groups(self, told: str) -> list[MetricGroup]:
        """The metric groups that tell of structure, or of answers, and that have entrants."""
        return [group for key, of in self.entrants.items() if of and (group := group_named(key)).tells == told]

    @cached_property
    def measures(self) -> list[Measure]:
        """All figures of structures; the score of each group before its others."""
        groups = self.groups(STRUCTURE)
        shares = {group.key: sorted(group.shares, key=lambda share, of=group: share != of.score) for group in groups}
        return [Measure(group, share) for group in groups for share in shares[group.key]]

    def models(self, structure: str, answers: str) -> list[str]:
        """The models that have figures of both groups, in alphabetical order."""
        return sorted(self.entrants.get(structure, {}).keys() & self.entrants.get(answers, {}).keys())

    def runs(self, group: str) -> dict[str, str]:
        """Titles of the runs with entrants of the group, by id, newest first."""
        listed = [entrant for of in self.entrants.get(group, {}).values() for entrant in of]
        listed.sort(key=lambda entrant: entrant.at, reverse=True)
        return {entrant.run: entrant.run_title for entrant in listed}

    def entrant(self, group: str, model: str, run: str = "") -> RunEntrant | None:
        """Return the newest entrant of a model, or the one of that run."""
        listed = self.entrants.get(group, {}).get(model, ())
        return next((entrant for entrant in listed if not run or entrant.run == run), None)


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
    return "\n".join([entrant.name, *(str(entrant.spec.get(name) or "") for name in ENDPOINT)])


def _named(
    entrants: Mapping[str, Mapping[str, Sequence[RunEntrant]]],
) -> dict[str, dict[str, Sequence[RunEntrant]]]:
    """Return them by the name of each model, with what it is where two of one name are not the same."""
    identities = {identity for of in entrants.values() for identity in of}
    names = [identity.partition("\n")[0] for identity in identities]
    return {
        group: {_shown(identity, names): listed for identity, listed in of.items()} for group, of in entrants.items()
    }


def _shown(identity: str, names: Sequence[str]) -> str:
    name, *endpoint = identity.split("\n")
    return name if names.count(name) == 1 else f"{name} ({', '.join(filter(None, endpoint))})"
