"""The only way from a user and an id to a dataset, a run or an item of one, and from there to what of its gold the user may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from annotation.access import ProjectAccess, open_work, project_access
from annotation.models import Role, Story, User
from annotation.models.workload import too_few
from benchmark.models import (
    Audience,
    Dataset,
    DatasetSample,
    EnteredRow,
    Entrant,
    ResultsVisibility,
    Run,
    RunItem,
    SharedItem,
    SharedReport,
)
from benchmark.services import withheld
from benchmark.services.across import SuiteRanking, rankings_across
from benchmark.services.across_reports import ACROSS, rankings_from
from benchmark.services.comparisons import Comparison, NotComparable
from benchmark.services.datasets import gold_is_frozen
from benchmark.services.documents import Document, document_of
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.suites.registry import group_suite, suite_named
from workers.providers.registry import without_prompts


@dataclass(frozen=True, slots=True)
class RunAccess:
    project: ProjectAccess
    run: Run

    @property
    def context(self) -> dict:
        return self.project.context | {"run": self.run}


def visibility_of(access: ProjectAccess) -> ResultsVisibility:
    visibility = ResultsVisibility.objects.filter(project=access.project).first()
    return visibility or ResultsVisibility(project=access.project)


def sees_results(access: ProjectAccess) -> bool:
    """Return whether this member may see what models came to; a project keeps it from those who could be biased."""
    if access.at_least(Role.ADMIN):
        return True
    visibility = visibility_of(access)
    invited = access.at_least(Audience(visibility.audience).role)
    return invited and (not visibility.once_frozen or gold_is_frozen(access.project))


def results_access(user: User, slug: str, *, role: Role = Role.ANNOTATOR) -> ProjectAccess:
    """The project for a page with results. Raises Http404 for strangers, PermissionDenied below `role` and for members who may not see them."""
    access = project_access(user, slug, role=role)
    if not sees_results(access):
        raise PermissionDenied(f"{access.project.name} shows results of models to {visibility_of(access).told}.")
    return access


def run_access(user: User, slug: str, uid: str, *, role: Role = Role.ANNOTATOR) -> RunAccess:
    """A run whose results the user may see, `role` at least where something is to be changed."""
    access = results_access(user, slug, role=role)
    runs = Run.objects.select_related("dataset", "judge", "job", "project")
    return RunAccess(access, get_object_or_404(runs, project=access.project, uid=uid))


def dataset_of(access: ProjectAccess, version: int) -> Dataset:
    return get_object_or_404(Dataset, project=access.project, version=version)


# --- what waits for open work --------------------------------------------------------------------------------------------------
def closed_to(access: ProjectAccess, suite: str = "") -> frozenset[int]:
    """The numbers of the stories whose gold, and whatever tells of it, waits: this person still labels or decides them.

    None of a `suite` with samples of its own, whose numbers are others. Every way to gold asks here; `tests/benchmark/test_closed_gold.py`
    walks all addresses.
    """
    if suite and suite_named(suite).load:
        return frozenset()
    stories = open_work(access)
    if not stories:
        return frozenset()
    now = Story.objects.filter(pk__in=stories).values_list("number", flat=True)
    then = DatasetSample.objects.filter(story__in=stories).values_list("number", flat=True)
    return frozenset(now) | frozenset(then)


def check_open(access: ProjectAccess, number: int, suite: str = "") -> None:
    """Raise PermissionDenied for a user with open work on the story: gold stands beside what is shown."""
    if number in closed_to(access, suite):
        raise PermissionDenied("You still have work to do on this story yourself; finish it first.")


def check_whole(access: ProjectAccess, dataset: Dataset) -> None:
    """Raises PermissionDenied for who has open work on any story of the version: for what holds the gold of all."""
    if count := len(closed_to(access, dataset.suite) & set(dataset.samples.values_list("number", flat=True))):
        counted = "a story" if count == 1 else f"{count:,} stories"
        raise PermissionDenied(
            f"This holds the gold of {counted} that you still have work to do on; finish that first."
        )


def run_item_of(access: RunAccess, pk: int) -> RunItem:
    """Raises PermissionDenied for who has open work on its story."""
    items = RunItem.objects.select_related("sample", "entrant__endpoint", "entrant__run__dataset", "call", "item")
    item = get_object_or_404(items, entrant__run=access.run, pk=pk)
    check_open(access.project, item.sample.number, access.run.suite)
    return item


def report_access(user: User, slug: str, uid: str) -> tuple[ProjectAccess, SharedReport]:
    """Return a frozen report, for members who may see results. Its figures are deferred: lists of items do not need them."""
    access = results_access(user, slug)
    reports = SharedReport.objects.select_related("created_by", "run").defer("figures")
    return access, get_object_or_404(reports, project=access.project, uid=uid)


def entered_row_of(user: User, slug: str, uid: str) -> tuple[ProjectAccess, EnteredRow]:
    """Return a row of a paper, for those who may change it: experts and admins who see results."""
    access = results_access(user, slug, role=Role.EXPERT)
    return access, get_object_or_404(EnteredRow, project=access.project, uid=uid)


def shared_item_of(access: ProjectAccess, report: SharedReport, pk: int) -> SharedItem:
    """Raises PermissionDenied for who has open work on its story."""
    items = report.items.select_related("sample", "entrant__endpoint", "entrant__run__dataset", "call")
    item = get_object_or_404(items, pk=pk)
    check_open(access, item.sample.number, item.entrant.run.suite)
    return item


def run_document(access: RunAccess) -> Document:
    """The run's report as this person may see it. Raises PermissionDenied."""
    return _opened(access.project, document_of(access.run))


def shared_document(access: ProjectAccess, report: SharedReport) -> Document:
    """A frozen report as this person may see it, whoever froze it; one across suites with `SuiteRanking`s. Raises PermissionDenied."""
    return _opened(access, report.figures)


def _opened(access: ProjectAccess, document: Document) -> Document:
    if document["kind"] == ACROSS:
        rankings = [_ranking_for(access, ranking) for ranking in rankings_from(document)]
        return document | {"rankings": rankings}
    suite = next(map(group_suite, document["stages"]), "") if "stages" in document else ""
    closed, stories = closed_to(access, suite), withheld.stories_of(document)
    if stories is not None:
        _check_enough(stories, closed)
    if document["kind"] == "comparison" and closed & stories and _tells(document.get("keys", ())):
        raise PermissionDenied(withheld.sentence(len(closed & stories), len(stories)))
    return withheld.whole_document(document, closed)


def _tells(keys: Sequence[str]) -> bool:
    """Return whether one of the two of a frozen comparison is a person or a baseline."""
    entrants = [int(at) for key in keys if (at := key.partition(".")[2]).isdecimal()]
    models = Entrant.objects.filter(pk__in=entrants).exclude(endpoint__provider__in=without_prompts()).count()
    return models < len(keys)


def _check_enough(stories: withheld.Numbers, closed: withheld.Numbers) -> None:
    if too_few(stories, closed):
        raise PermissionDenied(withheld.sentence(len(stories & closed), len(stories)))


def check_shown(files: Mapping[str, object], name: str, withheld: int) -> None:
    """Raise PermissionDenied where a file may be missing because its reader has open work on `withheld` stories."""
    if withheld and name not in files:
        stories = "a story" if withheld == 1 else f"{withheld:,} stories"
        raise PermissionDenied(f"This file tells of {stories} that you still have work to do on; finish that first.")


def leaderboard_for(
    access: ProjectAccess,
    dataset: Dataset,
    answer_format: str,
    key: str | None,
    *,
    suite: str,
    all_runs: bool,
    asked: Mapping[str, str],
) -> dict:
    """Return the leaderboard as this person may see it, with `withheld`, how many of its stories are withheld. Raises PermissionDenied."""
    leaderboard = leaderboard_of(dataset, answer_format, key, suite=suite, all_runs=all_runs, asked=asked)
    stories = leaderboard["chosen"].stories if leaderboard["chosen"] else frozenset()
    closed = closed_to(access, dataset.suite) & stories
    _check_enough(stories, closed)
    if closed:
        stages = {stage: entrants for stage, (entrants, _) in leaderboard["stages"].items()}
        visible = withheld.whole_stages(stages)
        leaderboard["stages"] = {
            stage: (visible[stage], settings) for stage, (_, settings) in leaderboard["stages"].items()
        }
        leaderboard["absent"] = leaderboard["absent"] + withheld.rows_of(stages, len(closed))
    return leaderboard | {"withheld": len(closed)}


def waiting_for(access: ProjectAccess, stories: withheld.Numbers) -> str:
    """Return why figures that part these stories wait, as a sentence; empty for who has no open work on any of them."""
    closed = closed_to(access) & stories
    return withheld.sentence(len(closed), len(stories)) if closed else ""


def across_for(access: ProjectAccess) -> list[SuiteRanking]:
    """Return the rankings of all suites as this person may see them."""
    return [_ranking_for(access, ranking) for ranking in rankings_across(access.project)]


def _ranking_for(access: ProjectAccess, ranking: SuiteRanking) -> SuiteRanking:
    return withheld.whole_ranking(ranking, closed_to(access, group_suite(ranking.stage)))


def comparison_for(access: ProjectAccess, pair: list[dict], comparison: Comparison) -> Comparison:
    """The comparison as this person may see it. Raises NotComparable where it would tell of the open stories."""
    closed = closed_to(access, group_suite(comparison["stage"]))
    stories = {row["number"] for row in comparison["stories"]}
    telling = any(entrant["kind"] in withheld.TELLING for entrant in pair)
    if too_few(stories, closed) or (telling and closed & stories):
        raise NotComparable(withheld.sentence(len(closed & stories), len(stories)))
    return withheld.whole_comparison(comparison, closed)
