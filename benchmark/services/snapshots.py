"""Snapshots of results pages: the whole document as it was, and the items that it rests on, for members who may see
results."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from operator import or_

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import AnswerFormat, Dataset, Run, RunItem, Snapshot, SnapshotItem
from benchmark.models.run import ParsedAnswer
from benchmark.services.across import (
    CHANCE_NOTE,
    METRIC_NOTE,
    NEWEST_NOTE,
    PAIR_NOTE,
    RANK_NOTE,
    SuiteRanking,
    models_across,
    rankings_across,
)
from benchmark.services.archiving import locked_run
from benchmark.services.comparisons import Comparison
from benchmark.services.documents import ACROSS, Document, as_json, document_of, leaderboard_document
from benchmark.services.entered_rows import rows_of
from benchmark.services.items import state_of
from benchmark.services.leaderboard_scope import Leaderboard
from benchmark.services.methods_text import facts_of, methods_of
from benchmark.services.plans import RunRefused
from benchmark.services.reports import RunMetrics, report_of, reports_of
from benchmark.suites.registry import group_named, group_suite
from benchmark.suites.results import EntrantsByGroup
from core.messages import Sentence, capitalised, gettext_noop, listed, sentences, word


@transaction.atomic
def save_run_snapshot(*, by: User | None, run: Run, title: str = "") -> Snapshot:
    """The run's report as it stands, with the items that it rests on. Raises RunRefused where it was deleted."""
    locked_run(run)
    snapshot = _keep(by, run.project, run, title or run.title, document_of(run))
    _keep_items(snapshot, RunItem.objects.filter(entrant__run=run))
    return snapshot


@transaction.atomic
def save_comparison_snapshot(
    *, by: User | None, project: Project, runs: list[Run], keys: Sequence[str], comparison: Comparison, title: str = ""
) -> Snapshot:
    """The comparison as it stands; `keys` are those that `pair_of` found the two by. Raises RunRefused where a run was
    deleted."""
    title = title or Sentence("{first} and {second}", first=comparison.first, second=comparison.second)
    different = [locked_run(run) for _, run in sorted({run.pk: run for run in runs}.items())]
    part = Sentence(" of {selection}", selection=comparison.selection) if comparison.selection else ""
    compared = Sentence(
        "{first} and {second} were compared on the {n} stories{part} for which both have a score, in "
        "the {parse} parse. Differences are first minus second. {how}.",
        first=comparison.first, second=comparison.second, n=f"{comparison.n:,}", part=part,
        parse=word(comparison.parse), how=capitalised(comparison.method),
    )  # fmt: skip
    differ = Sentence("Settings that differ: {differ}.", differ=comparison.differ) if comparison.differ else ""
    document = Document(
        title=title,
        kind="comparison",
        facts=[fact for run in different for fact in facts_of(run, report_of(run))],
        methods=[{"heading": gettext_noop("Comparison"), "text": sentences(compared, differ)}],
        comparison=comparison,
        keys=list(keys),
    )
    snapshot = _keep(by, project, different[0] if len(different) == 1 else None, title, document)
    entrants = [int(entrant) for key in keys if (entrant := key.partition(".")[2]).isdecimal()]  # people have no items
    numbers = [story["number"] for story in comparison.stories]
    _keep_items(snapshot, RunItem.objects.filter(entrant__in=entrants, sample__number__in=numbers))
    return snapshot


@transaction.atomic
def save_leaderboard_snapshot(
    *, by: User | None, dataset: Dataset, leaderboard: Leaderboard, query: Mapping[str, str], title: str = ""
) -> Snapshot:
    """The leaderboard as it stands (`leaderboard_of`), with the items of its stories; `query` is its address. Raises
    RunRefused where a run was deleted, and for a leaderboard without a row."""
    keys = {entrant.run for entrants in leaderboard.entrants.values() for entrant in entrants}
    runs = [locked_run(run) for run in sorted(leaderboard.runs, key=lambda run: run.pk) if run.uid in keys]
    if not runs:
        raise RunRefused(gettext_noop("The leaderboard has no row to keep."))
    assert leaderboard.chosen, "what has rows is over a selection"
    title = title or f"Leaderboard: {leaderboard.chosen.label}"
    snapshot = _keep(by, dataset.project, None, title, leaderboard_report(dataset, leaderboard, runs, query))
    entrants = [entrant.entrant for rows in leaderboard.entrants.values() for entrant in rows if entrant.entrant]
    items, numbers = RunItem.objects.filter(entrant__in=entrants), leaderboard.chosen.stories
    if len(numbers) < dataset.stories_count:
        items = items.filter(sample__in=dataset.samples.filter(number__in=numbers).values("pk"))
    _keep_items(snapshot, items)
    return snapshot


@transaction.atomic
def save_across_snapshot(*, by: User | None, project: Project, title: str = "") -> Snapshot:
    """The page across suites as it stands, of all models, with the items behind its figures. Raises RunRefused where no
    model has a figure."""
    rankings = [ranking for ranking in rankings_across(project) if ranking.places]
    items = _behind(rankings, project)
    if items is None:
        raise RunRefused(gettext_noop("No model has a figure to keep."))
    uids = {place.run for ranking in rankings for place in ranking.places.values()}
    behind = Run.objects.filter(project=project, uid__in=uids).order_by("pk")
    runs = [locked_run(run) for run in behind.select_related("dataset", "judge", "job").prefetch_related("entrants")]
    reports, facts = reports_of(runs), []
    for ranking in rankings:
        about = listed([ranking.score, ranking.dataset, ranking.over, ranking.within])
        facts.append([Sentence("Ranking {ranking}", ranking=ranking.title), about])
    facts += [fact for run in runs for fact in facts_of(run, reports[run.pk])]
    figures = sentences(METRIC_NOTE, CHANCE_NOTE, RANK_NOTE, NEWEST_NOTE)
    document = Document(
        kind=ACROSS,
        rankings=named_apart(rankings),
        facts=facts,
        methods=[
            {"heading": gettext_noop("Figures and ranks"), "text": figures},
            {"heading": gettext_noop("Correlations"), "text": PAIR_NOTE},
        ],
    )
    snapshot = _keep(by, project, None, title or gettext_noop("Models across suites"), document)
    _keep_items(snapshot, RunItem.objects.filter(items))
    return snapshot


def named_apart(rankings: Sequence[SuiteRanking]) -> list[SuiteRanking]:
    """Return the rankings with names of models that no two of them share."""
    names = models_across(rankings)
    return [
        replace(ranking, places={key: replace(place, name=names[key]) for key, place in ranking.places.items()})
        for ranking in rankings
    ]


def _behind(rankings: Sequence[SuiteRanking], project: Project) -> Q | None:
    """Return what finds the items with the figures of the rankings. Returns None if nobody has a place."""
    sizes = dict(project.datasets.values_list("version", "stories_count"))
    queries = []
    for ranking in rankings:
        entrants = [place.entrant for place in ranking.places.values() if place.entrant]
        own = Q(entrant__in=entrants, step=group_named(ranking.group).scored)
        if len(ranking.numbers) < sizes[int(ranking.query["version"])]:
            own &= Q(sample__number__in=ranking.numbers)
        queries += [own] if entrants else []
    return reduce(or_, queries) if queries else None


def _keep(by: User | None, project: Project, run: Run | None, title: str, document: Document) -> Snapshot:
    title = title.replace("\x00", "").strip()[:200]
    metrics = as_json(replace(document, title=title))
    snapshot = Snapshot.objects.create(project=project, run=run, title=title, metrics=metrics, created_by=by)
    audit.record(by=by, project=project, action="snapshot.saved", target=snapshot.uid, title=title)
    return snapshot


_COLUMNS = [column.attname for column in ParsedAnswer._meta.fields]
_AT_ONCE = 500


def _keep_items(snapshot: Snapshot, items: QuerySet[RunItem]) -> None:
    """Copies what the items are now: they may be read again, asked again or be added to."""
    rows = (
        SnapshotItem(
            snapshot=snapshot,
            entrant_id=item.entrant_id,
            state=state_of(item),
            problem=item.item.problem if item.item else "",
            **{name: getattr(item, name) for name in _COLUMNS},
        )
        for item in items.select_related("item").order_by("pk").iterator(chunk_size=_AT_ONCE)
    )
    while batch := list(islice(rows, _AT_ONCE)):
        SnapshotItem.objects.bulk_create(batch)


# --- reports that only snapshots are made of
def leaderboard_report(
    dataset: Dataset, leaderboard: Leaderboard, runs: Sequence[Run], query: Mapping[str, str]
) -> Document:
    """Return the leaderboard (`leaderboard_of`) as a document to be saved. `runs` are those with a row; `query` is the
    address of the leaderboard."""
    assert leaderboard.chosen, "what has rows is over a selection"
    reports, rows, rankings = reports_of(runs), leaderboard.entrants, []
    for group, entrants in rows.items():
        within = {name: value for name, value in leaderboard.rankings[group].chosen.items() if value}
        shared = ", ".join(f"{name} {value}" for name, value in ({**leaderboard.common[group]} | within).items())
        if entrants and shared:
            rankings.append([Sentence("Ranking of {group}", group=group_named(group).title), shared])
    newest, every = gettext_noop("the newest run of each model and its settings"), gettext_noop("all runs")
    which = every if query.get("runs") == "all" else newest
    facts = [
        ["Dataset", Sentence("version {dataset}, SHA-256 {digest}", dataset=dataset.version, digest=dataset.digest)],
        [gettext_noop("Ranked over"), leaderboard.chosen.label],
        ["Answer format", AnswerFormat(runs[0].answer_format).label],
        ["Rows", f"{which}: {len(runs):,} run{'' if len(runs) == 1 else 's'}"],
        *rankings,
        *(fact for run in runs for fact in facts_of(run, reports[run.pk])),
    ]
    entered = rows_of(dataset.project, group_suite(next(iter(rows))))
    return replace(
        leaderboard_document("", rows, leaderboard.absent, entered),
        facts=facts,
        methods=_methods(runs, reports, rows),
        numbers=sorted(leaderboard.chosen.stories),
        query=dict(query),
    )


def _methods(runs: Sequence[Run], reports: Mapping[int, RunMetrics], rows: EntrantsByGroup) -> list[dict[str, str]]:
    """Return the paragraphs of all runs, each text once; if runs differ, the heading names those that it is of."""
    texts: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        own = {group: [entrant for entrant in entrants if entrant.run == run.uid] for group, entrants in rows.items()}
        for part in methods_of(run, reports[run.pk], own):
            texts.setdefault((part["heading"], part["text"]), []).append(run.title)
    return [
        {"heading": heading if len(titles) == len(runs) else f"{heading} ({', '.join(titles)})", "text": text}
        for (heading, text), titles in texts.items()
    ]
