"""The only way from a user and an id to a dataset, a run or an item of one, and from there to what of its gold the user
may see.

Results wait for those who still label or decide some of the stories behind them. Gold is told cell by cell on items, in
downloads and in what is given story by story: none of that is shown of a story that somebody has open work on. Figures
over whole selections are, from `workload.FEWEST` stories on; what counts gold labels or parts the stories is not, as
the finished stories could be taken away from it. Nor are figures of those whose answers can be known: people, who may
be the reader, and baselines, whose share of right answers counts the gold labels of the stories that are left.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from annotation.access import ProjectAccess, open_work, project_access
from annotation.models import Role, Story, User
from annotation.models.workload import FEWEST, too_few
from annotation.services.open_work import Work
from benchmark.models import Dataset, DatasetSample, EnteredRow, Entrant, Run, RunItem, Snapshot, SnapshotItem
from benchmark.services.absences import Absence, rows_withheld
from benchmark.services.across import SuiteRanking, rankings_across
from benchmark.services.calibration import calibration
from benchmark.services.comparisons import Comparison, NotComparable
from benchmark.services.documents import Document, document_from, document_of
from benchmark.services.leaderboard_scope import Leaderboard, leaderboard_of
from benchmark.services.visibility import shows_results, visibility_of
from benchmark.suites.registry import group_suite, suite_named
from benchmark.suites.results import EntrantResults, EntrantsByGroup
from core.kept import kept_as
from core.messages import Sentence, gettext_noop, quantity
from core.stored_json import parsed_once, text_of
from judge.domain.corrections import STILL_ALIGNING, CorrectedComparison, Correction
from workers.providers.registry import without_prompts

ALIGNING = (Work.ALIGNMENT, Work.ALIGNED_ROWS)
"""The kinds of work that `calibration.open_samples` tells of."""
TELLING = {"person": gettext_noop("People"), "baseline": gettext_noop("Baselines")}
"""Kinds of entrants whose answers can be known, with what their rows are called."""
Numbers = Set[int]


@dataclass(frozen=True, slots=True)
class RunAccess:
    project: ProjectAccess
    run: Run

    @property
    def context(self) -> dict[str, Any]:
        return self.project.context | {"run": self.run}


def sees_results(access: ProjectAccess) -> bool:
    """Return whether this member may see what models came to."""
    return shows_results(access.project, access.role)


def results_access(user: User, slug: str, *, role: Role = Role.ANNOTATOR) -> ProjectAccess:
    """The project for a page with results. Raises Http404 for strangers, PermissionDenied below `role` and for members
    who may not see them."""
    access = project_access(user, slug, role=role)
    if not sees_results(access):
        visibility = visibility_of(access.project)
        raise PermissionDenied(
            Sentence(
                "{project} shows results of models to {audience_text}.",
                project=access.project.name,
                audience_text=visibility.audience_text,
            )
        )
    return access


def run_access(user: User, slug: str, uid: str, *, role: Role = Role.ANNOTATOR) -> RunAccess:
    """A run whose results the user may see, `role` at least where something is to be changed."""
    access = results_access(user, slug, role=role)
    runs = Run.objects.select_related("dataset", "judge", "job", "project")
    return RunAccess(access, get_object_or_404(runs, project=access.project, uid=uid))


def dataset_of(access: ProjectAccess, version: int) -> Dataset:
    return get_object_or_404(Dataset, project=access.project, version=version)


# --- what waits for open work
# --------------------------------------------------------------------------------------------------
def closed_to(
    access: ProjectAccess, suite: str = "", dataset: Dataset | None = None, *, before: Work | None = None
) -> frozenset[int]:
    """Return the numbers of the stories whose gold, and whatever tells of it, waits: this person has open work on them,
    of any kind or of those `before` one (`annotation.services.open_work`).

    For a `suite` with samples of its own these are the numbers of the samples about the very text of such a story, in
    one `dataset` or in any of the project's. Tables that somebody aligns or decides close the samples that they are of
    whoever has the story. Every way to gold or judgements asks here; `tests/benchmark/test_closed_gold.py` walks all
    addresses.
    """
    aligned = calibration.open_samples(access.project, access.user, access.role, before=before)
    stories = {story for story, _, _ in aligned if story is not None}
    stories |= open_work(access, before=before, without=ALIGNING)
    if not (stories or aligned):
        return frozenset()
    numbers_by_version: dict[int | None, set[int]] = {}
    for _story, number, version in aligned:
        numbers_by_version.setdefault(version, set()).add(number)
    if suite and suite_named(suite).copied.load:
        datasets = [dataset] if dataset else list(Dataset.objects.filter(project=access.project, suite=suite))
        return _closed_questions(datasets, stories, numbers_by_version)
    closed: set[int] = set()
    if stories:
        closed.update(Story.objects.filter(pk__in=stories).order_by().values_list("number", flat=True))
        closed.update(DatasetSample.objects.filter(story__in=stories).order_by().values_list("number", flat=True))
    if numbers_by_version:
        own = Dataset.objects.filter(project=access.project, suite="").order_by().values_list("version", flat=True)
        closed.update(*(numbers_by_version.get(version, ()) for version in own))
    return frozenset(closed)


def _closed_questions(
    datasets: Iterable[Dataset], stories: Iterable[int], aligned: Mapping[int | None, Numbers]
) -> frozenset[int]:
    """Return the numbers of the samples of these copies of a suite whose story has the very text of one of these
    stories, as it is, in translation, or as a version of gold keeps it, and of the samples that are `aligned`, by
    version; with all others of their clusters, such as the same story in another language."""
    texts: set[str | None] = set()
    for text, translations in Story.objects.filter(pk__in=stories).values_list("text", "translations"):
        texts |= {text, *(translations or {}).values()}
    texts.update(DatasetSample.objects.filter(story__in=stories).values_list("content__story", flat=True))
    told = frozenset(text for text in texts if isinstance(text, str) and text)
    closed: set[int] = set()
    for dataset in datasets:
        if told and suite_named(dataset.suite).texts.story:
            closed |= _questions_about(told, dataset)
        if own := aligned.get(dataset.version):
            clusters = dataset.samples.filter(number__in=own).order_by().values("cluster")
            closed.update(dataset.samples.filter(cluster__in=clusters).order_by().values_list("number", flat=True))
    return frozenset(closed)


def _questions_about(texts: Set[str], dataset: Dataset) -> frozenset[int]:
    """Return the numbers of the samples of the clusters that are about one of the texts. They are kept, as samples
    never change and a walk through items asks each time."""

    def numbers() -> frozenset[int]:
        field = f"content__{suite_named(dataset.suite).texts.story}"
        rows = list(dataset.samples.order_by().values_list("number", "cluster", field))
        clusters = {cluster for _, cluster, text in rows if text in texts}
        return frozenset(number for number, cluster, _ in rows if cluster in clusters)

    return kept_as("questions-about", [dataset.pk, dataset.digest, sorted(texts)], numbers)


def closed_in(access: ProjectAccess, run: Run) -> frozenset[int]:
    """The numbers of the samples of a run whose items wait (`closed_to`)."""
    return closed_to(access, run.suite, run.dataset)


def check_open(access: ProjectAccess, number: int, run: Run | None = None) -> None:
    """Raise PermissionDenied for a user with open work on the story, or on that of the run's sample: what is shown has
    its gold, or what models and judges made of it."""
    if number in (closed_in(access, run) if run else closed_to(access)):
        raise PermissionDenied(gettext_noop("You still have work to do on this story yourself; finish it first."))


def check_whole(access: ProjectAccess, dataset: Dataset) -> None:
    """Raise PermissionDenied for who has open work on any story of the version: for what holds the gold of all."""
    if count := len(closed_to(access, dataset.suite, dataset) & set(dataset.samples.values_list("number", flat=True))):
        nouns = suite_named(dataset.suite).noun if dataset.suite else ("story", "stories")
        raise PermissionDenied(
            Sentence(
                "This holds the gold of {counted} that you still have work to do on; finish that first.",
                counted=quantity(count, *nouns),
            )
        )


def run_item_of(access: RunAccess, pk: int) -> RunItem:
    """Return an item of a run. Raises PermissionDenied for who has open work on its story."""
    items = RunItem.objects.select_related("sample", "entrant__endpoint", "entrant__run__dataset", "call", "item")
    item = get_object_or_404(items, entrant__run=access.run, pk=pk)
    check_open(access.project, item.sample.number, access.run)
    return item


def snapshot_access(user: User, slug: str, uid: str) -> tuple[ProjectAccess, Snapshot]:
    """Return a snapshot, for members who may see results. Its figures are deferred: lists of items do not need
    them."""
    access = results_access(user, slug)
    reports = Snapshot.objects.select_related("created_by", "run").defer("metrics")
    return access, get_object_or_404(reports, project=access.project, uid=uid)


def entered_row_of(user: User, slug: str, uid: str) -> tuple[ProjectAccess, EnteredRow]:
    """Return a row of a paper, for those who may change it: experts and admins who see results."""
    access = results_access(user, slug, role=Role.EXPERT)
    return access, get_object_or_404(EnteredRow, project=access.project, uid=uid)


def snapshot_item_of(access: ProjectAccess, report: Snapshot, pk: int) -> SnapshotItem:
    """Return an item of a snapshot. Raises PermissionDenied for who has open work on its story."""
    items = report.items.select_related("sample", "entrant__endpoint", "entrant__run__dataset", "call")
    item = get_object_or_404(items, pk=pk)
    check_open(access, item.sample.number, item.entrant.run)
    return item


def run_document(access: RunAccess) -> Document:
    """The run's report as this person may see it. Raises PermissionDenied."""
    return _opened(access.project, document_of(access.run), access.run.dataset)


def snapshot_document(access: ProjectAccess, report: Snapshot) -> Document:
    """A snapshot as this person may see it, whoever saved it; one across suites with `SuiteRanking`s. Raises
    PermissionDenied."""
    text = Snapshot.objects.values_list(text_of("metrics"), flat=True).get(pk=report.pk)
    return _opened(access, document_from(parsed_once(text)), report.run.dataset if report.run else None)


def _opened(access: ProjectAccess, document: Document, dataset: Dataset | None) -> Document:
    # corrections show what people said of whose tables: they are for admins who align none of them still
    if document.corrections and (
        not access.at_least(Role.ADMIN) or calibration.unfinished(access.user, [document.corrections.uid])
    ):
        document = replace(document, corrections=None)
    document = replace(document, groups=_with_own_corrections(access, document.groups))
    if document.comparison:
        document = replace(document, comparison=_with_own_corrected(access, document.comparison))
    if document.rankings is not None:
        whole = [whole_ranking(ranking, closed_to(access, group_suite(ranking.group))) for ranking in document.rankings]
        return replace(document, rankings=whole)
    groups = [document.comparison.group] if document.comparison else document.groups
    suite = next(map(group_suite, groups), "")
    closed, stories = closed_to(access, suite, dataset), _stories_of(document)
    if stories is not None:
        _check_enough(stories, closed, suite)
    if document.comparison and stories and closed & stories:
        keys = document.keys or ()
        entrants = [int(at) for key in keys if (at := key.partition(".")[2]).isdecimal()]
        models = Entrant.objects.filter(pk__in=entrants).exclude(endpoint__provider__in=without_prompts()).count()
        if models < len(keys):  # one of the two is a person or a baseline
            raise PermissionDenied(waiting_sentence(len(closed & stories), len(stories), suite))
    return whole_document(document, closed)


def _with_own_corrections(access: ProjectAccess, groups: EntrantsByGroup) -> EntrantsByGroup:
    """Return the entrants with the corrected scores that this member may see: admins have the reason for others."""
    studies = {entrant.corrected.study for rows in groups.values() for entrant in rows if entrant.corrected}
    if not studies:
        return groups
    if not access.at_least(Role.ADMIN):
        return {group: [replace(entrant, corrected=None) for entrant in rows] for group, rows in groups.items()}
    closed = calibration.unfinished(access.user, studies - {""})
    waiting = Correction(reason=STILL_ALIGNING)
    return {
        group: [
            replace(entrant, corrected=waiting) if entrant.corrected and entrant.corrected.study in closed else entrant
            for entrant in rows
        ]
        for group, rows in groups.items()
    }


def _with_own_corrected(access: ProjectAccess, comparison: Comparison) -> Comparison:
    """Return the comparison without corrected scores, unless this member may see those of both."""
    corrected = comparison.corrected
    if corrected is None or not access.at_least(Role.ADMIN):
        return replace(comparison, corrected=None)
    waits = calibration.unfinished(access.user, corrected.studies)
    waiting = CorrectedComparison(sides=(), reason=STILL_ALIGNING)
    return replace(comparison, corrected=waiting) if waits else comparison


def _few(stories: Numbers, closed: Numbers, suite: str) -> bool:
    """Return whether figures over these samples of a suite tell too much to a reader to whom some are `closed`. Of
    questions about stories all closed ones count as those of one story."""
    if not (suite and suite_named(suite).copied.load):
        return too_few(stories, closed)
    return bool(stories & closed) and len(stories - closed) + 1 < FEWEST


def _check_enough(stories: Numbers, closed: Numbers, suite: str) -> None:
    if _few(stories, closed, suite):
        raise PermissionDenied(waiting_sentence(len(stories & closed), len(stories), suite))


def waiting_sentence(open_stories: int, stories: int, suite: str = "") -> str:
    """Say why figures over `stories`, or over questions of a `suite` about some, are not shown to a reader with open
    work on some of them."""
    return Sentence(
        "These figures rest on {counted}, and you still have work to do on {open_stories} of them. Finish that first.",
        counted=quantity(stories, *(suite_named(suite).noun if suite else ("story", "stories"))),
        open_stories=f"{open_stories:,}",
    )


def _stories_of(document: Document) -> Numbers | None:
    """Return the numbers of the stories that a document is about; None of one across suites."""
    if document.comparison:
        return {story["number"] for story in document.comparison.stories}
    return None if document.numbers is None else set(document.numbers)


def whole_document(document: Document, closed: Numbers) -> Document:
    """Return the document with the number of stories that it is `withheld` for, and without what tells of them:
    `TELLING` rows and every table and figure but those over all stories (`documents`)."""
    stories = _stories_of(document)
    count = len(closed if stories is None else closed & stories)
    if not count:
        return document
    if document.comparison:
        return replace(document, comparison=_whole_comparison(document.comparison, closed), withheld=count)
    absent = dict(document.absent or {})
    for row in _rows_withheld(document.groups, count):
        absent[row.group] = [*absent.get(row.group, ()), row.absent_model]
    return replace(document, groups=_whole_groups(document.groups), absent=absent, withheld=count)


def _rows_withheld(groups: EntrantsByGroup, stories: int) -> list[Absence]:
    """Return an absence for each kind of `TELLING` rows that is left out; `stories` is how many wait."""
    present = {(group, entrant.kind) for group, entrants in groups.items() for entrant in entrants}
    return [
        rows_withheld(group, rows, stories)
        for group in groups
        for kind, rows in TELLING.items()
        if (group, kind) in present
    ]


def _whole_groups(groups: EntrantsByGroup) -> dict[str, list[EntrantResults]]:
    """Return the rows that tell of no story: without `TELLING` ones and the levels that follow from gold, and without
    corrected scores, which rest on few stories."""
    return {
        group: [
            replace(entrant, corrected=None, metrics=replace(entrant.metrics, levels=None, tells_levels=False))
            for entrant in entrants
            if entrant.kind not in TELLING
        ]
        for group, entrants in groups.items()
    }


def _whole_comparison(comparison: Comparison, closed: Numbers) -> Comparison:
    """Return the comparison without rows by category, without corrected scores, which rest on few stories, and without
    the stories in `closed`."""
    stories = [story for story in comparison.stories if story["number"] not in closed]
    withheld = len(comparison.stories) - len(stories)
    if not withheld:
        return comparison
    rows = [row for row in comparison.rows if not row.category]
    return replace(comparison, rows=rows, stories=stories, corrected=None, withheld=withheld)


def check_shown(files: Mapping[str, object], name: str, withheld: int) -> None:
    """Raise PermissionDenied where a file may be missing because its reader has open work on `withheld` stories."""
    if withheld and name not in files:
        raise PermissionDenied(
            Sentence(
                "This file tells of {stories} that you still have work to do on; finish that first.",
                stories=quantity(withheld, "story", "stories"),
            )
        )


def leaderboard_for(
    access: ProjectAccess,
    dataset: Dataset,
    answer_format: str,
    key: str | None,
    *,
    suite: str,
    all_runs: bool,
    asked: Mapping[str, str],
) -> Leaderboard:
    """Return the leaderboard as this person may see it. Raises PermissionDenied."""
    leaderboard = leaderboard_of(dataset, answer_format, key, suite=suite, all_runs=all_runs, asked=asked)
    leaderboard = replace(leaderboard, entrants=_with_own_corrections(access, leaderboard.entrants))
    stories = leaderboard.chosen.stories if leaderboard.chosen else frozenset()
    closed = closed_to(access, dataset.suite, dataset) & stories
    _check_enough(stories, closed, dataset.suite)
    if closed:
        leaderboard = replace(
            leaderboard,
            entrants=_whole_groups(leaderboard.entrants),
            absent=[*leaderboard.absent, *_rows_withheld(leaderboard.entrants, len(closed))],
            withheld=len(closed),
        )
    return leaderboard


def waiting_for(access: ProjectAccess, stories: Numbers, *, before: Work | None = None) -> str:
    """Return why figures that part these stories wait, as a sentence; empty for who has no open work on any of them, of
    any kind or of those `before` one."""
    closed = closed_to(access, before=before) & stories
    return waiting_sentence(len(closed), len(stories)) if closed else ""


def across_for(access: ProjectAccess) -> list[SuiteRanking]:
    """Return the rankings of all suites as this person may see them."""
    return [
        whole_ranking(ranking, closed_to(access, group_suite(ranking.group)))
        for ranking in rankings_across(access.project)
    ]


def whole_ranking(ranking: SuiteRanking, closed: Numbers) -> SuiteRanking:
    """Return the ranking without its chance level, which is a baseline's figure, for who has open work on its stories,
    and with nobody in it where these are too few."""
    count = len(closed & ranking.numbers)
    if not count:
        return ranking
    suite = group_suite(ranking.group)
    if _few(ranking.numbers, closed, suite):
        why = waiting_sentence(count, len(ranking.numbers), suite)
        return replace(ranking, places={}, ranked=0, chance=None, absent=(), withheld=why)
    return replace(ranking, chance=None, no_chance=rows_withheld(ranking.group, TELLING["baseline"], count).why)


def comparison_for(access: ProjectAccess, pair: Sequence[EntrantResults], comparison: Comparison) -> Comparison:
    """The comparison as this person may see it. Raises NotComparable where it would tell of the open stories."""
    suite = group_suite(comparison.group)
    closed = closed_to(access, suite)
    stories = {story["number"] for story in comparison.stories}
    telling = any(entrant.kind in TELLING for entrant in pair)
    if _few(stories, closed, suite) or (telling and closed & stories):
        raise NotComparable(waiting_sentence(len(closed & stories), len(stories), suite))
    return _whole_comparison(_with_own_corrected(access, comparison), closed)
