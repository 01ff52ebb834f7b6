"""The requests of an address of a leaderboard or of a comparison, as its reader may see it: pages, files and the API
read addresses alike."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404

from annotation.access import ProjectAccess
from annotation.services.open_work import Work
from benchmark.access import check_shown, closed_to, comparison_for, leaderboard_for, waiting_for
from benchmark.domain.drawn import PaperRow
from benchmark.domain.gold_kinds import REFERENCE, Kind
from benchmark.domain.tables import Table
from benchmark.models import AnswerFormat, Dataset, Run
from benchmark.services.across import SuiteRanking
from benchmark.services.calibration import calibration
from benchmark.services.comparisons import Comparison, compare, pair_of, why_unreadable
from benchmark.services.conditions import FIELDS
from benchmark.services.documents import Document, leaderboard_document
from benchmark.services.doubtful_gold import DoubtfulGold, doubtful_gold
from benchmark.services.entered_rows import rows_of
from benchmark.services.gold_kinds import (
    OVERALL,
    GoldMetrics,
    Labelling,
    gold_metrics_of,
    labelled_versions,
    labelling_of,
)
from benchmark.services.leaderboard_scope import (
    Leaderboard,
    answer_format_to_show,
    suite_to_show,
    suites_with_runs,
    version_to_show,
)
from benchmark.services.leaderboards import selection_named
from benchmark.suites.contract import Suite
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import is_suite, suite_named
from benchmark.suites.results import EntrantResults
from core.messages import Sentence, gettext_noop
from core.views.pages import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenLeaderboard:
    """The leaderboard that an address asks for, with what there is to choose from."""

    dataset: Dataset
    datasets: Sequence[Dataset]
    suite: str
    suites: Sequence[Suite]
    answer_format: str
    answer_formats: Sequence[tuple[str, str]]
    every: bool
    """True if it has all runs, not only the newest of each model."""
    leaderboard: Leaderboard
    asked: Mapping[str, str]
    """The conditions that were asked for."""
    conditions: Sequence[Context]
    """{field, label, names, chosen} of each condition of which there are several."""
    query: str
    params: Mapping[str, Any]
    """Its whole address, as text and by name."""

    @property
    def context(self) -> Context:
        """The names that templates read."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenComparison:
    """The comparison that an address asks for."""

    runs: Sequence[Run]
    entrants: Mapping[str, Sequence[EntrantResults]]
    """The two in each metric group that both have."""
    unofficial: str
    """The reason why there is no official parse."""
    whole: Comparison
    comparison: Comparison
    """All of it, and what its reader may see."""
    asked: dict[str, str]
    """Its whole address, by name."""


CONDITIONS = {"prompts": "Prompts", "judge": gettext_noop("Judge")}


def chosen_leaderboard(params: Mapping[str, str], access: ProjectAccess) -> ChosenLeaderboard | None:
    """Return the version, answer format and stories that the address asks for, and their leaderboard. Returns None
    without a dataset."""
    datasets = list(Dataset.objects.filter(project=access.project))
    if not datasets:
        return None
    named = params.get("suite", "")
    dataset = next((dataset for dataset in datasets if str(dataset.version) == params.get("version")), None)
    dataset = dataset or (version_to_show(access.project, named) if is_suite(named) else None)
    dataset = dataset or version_to_show(access.project)
    assert dataset is not None, "the project has one"
    ran = suites_with_runs(dataset)
    default_suite = suite_to_show(dataset, ran)
    suite = named if named in ran else default_suite
    asked_format = params.get("answer_format", "")
    answer_format = asked_format if asked_format in AnswerFormat.values else answer_format_to_show(dataset, suite)
    every = params.get("runs") == "all"
    conditions = {field: params.get(field, "") for field in FIELDS}
    leaderboard = leaderboard_for(
        access, dataset, answer_format, params.get("split"), suite=suite, all_runs=every, asked=conditions
    )
    names = leaderboard.conditions
    conditions = {field: name for field, name in conditions.items() if name in names[field]}
    split = leaderboard.chosen.key if leaderboard.chosen else ""
    query = (
        {"version": dataset.version, "answer_format": str(answer_format), "split": split}
        | ({"suite": suite} if suite != default_suite else {})
        | ({"runs": "all"} if every else {})
        | conditions
    )
    return ChosenLeaderboard(
        dataset=dataset,
        datasets=datasets,
        suite=suite,
        suites=[suite_named(name) for name in sorted(ran)],
        answer_format=answer_format,
        answer_formats=AnswerFormat.choices,
        every=every,
        leaderboard=leaderboard,
        asked=conditions,
        conditions=[
            {"field": field, "label": label, "names": names[field], "chosen": conditions.get(field, "")}
            for field, label in CONDITIONS.items()
            if len(names[field]) > 1
        ],
        query=urlencode(query),
        params=query,
    )


KINDS = {"model": gettext_noop("Models"), "baseline": gettext_noop("Baselines"), "person": gettext_noop("People")}


def filters_of(params: Mapping[str, str]) -> dict[str, str]:
    """Return which rows and columns the address asks for; what it cannot mean is left out."""
    show, parse = params.get("show", ""), params.get("parse", "")
    return {
        "model": params.get("model", "").strip(),
        "show": show if show in KINDS else "",
        "parse": parse if parse in PARSES else "",
    }


def kept(entrants: Iterable[EntrantResults], filters: Mapping[str, str]) -> list[EntrantResults]:
    text, kind = filters["model"].casefold(), filters["show"]
    return [entrant for entrant in entrants if text in entrant.model.casefold() and kind in ("", entrant.kind)]


def of_parse(table: Table, parse: str) -> Table:
    """Return the table without the columns of the other parse; with both for any other word."""
    other = {"official": "repaired_", "repaired": "official_"}.get(parse)
    return replace(table, columns=[column for column in table.columns if not other or not column.key.startswith(other)])


def model_in(params: Mapping[str, str], rankings: Sequence[SuiteRanking]) -> str:
    """Return the key of the model that the address of the page across suites asks for, "" for all. Raises Http404 if no
    ranking has it."""
    key = params.get("model", "")
    if key and not any(key in ranking.places for ranking in rankings):
        raise Http404(gettext_noop("No suite has a figure of this model."))
    return key


def leaderboard_document_of(chosen: ChosenLeaderboard, params: Mapping[str, str]) -> Document:
    """Return the document of a chosen leaderboard, with the rows that the filters of its address leave."""
    leaderboard, filters = chosen.leaderboard, filters_of(params)
    groups = {group: kept(entrants, filters) for group, entrants in leaderboard.entrants.items()}
    entered = entered_of(chosen, filters)
    return leaderboard_document("Leaderboard", groups, leaderboard.absent, entered, withheld=leaderboard.withheld)


def entered_of(chosen: ChosenLeaderboard, filters: Mapping[str, str]) -> list[PaperRow]:
    """Return the rows of papers that the filters of a leaderboard leave. Returns none if one kind of rows is asked
    for."""
    rows = [] if filters["show"] else rows_of(chosen.dataset.project, chosen.suite)
    return [row for row in rows if filters["model"].casefold() in row.name.casefold()]


def table_named(tables: Mapping[str, Callable[[], Table]], name: str, withheld: int = 0) -> Table:
    """Return the table of that name. Raises Http404, and PermissionDenied where it may be missing because of what is
    withheld."""
    check_shown(tables, name, withheld)
    if name not in tables:
        raise Http404(
            Sentence("There is no table {name}; there are {tables}.", name=repr(name), tables=", ".join(tables))
        )
    return tables[name]()


CARRIED = (*FIELDS, "runs")
"""The part of an address about the ranking that its reader came from; no comparison depends on it."""


def ranking_in(params: Mapping[str, str]) -> dict[str, str]:
    return {name: params[name] for name in CARRIED if params.get(name)}


def chosen_comparison(params: Mapping[str, str], access: ProjectAccess) -> ChosenComparison:
    """Return what the address asks to be compared: `whole`, and as the reader may see it. Raises NotComparable."""
    runs, entrants = pair_of(access.project, params.get("a", ""), params.get("b", ""))
    group = asked if (asked := params.get("group", "")) in entrants else next(iter(entrants))
    pair = entrants[group]
    selection = selection_named(runs[0].dataset, params.get("split", ""), runs[0].suite)
    unofficial = why_unreadable(pair, group, "official", selection)
    parse = "official" if params.get("parse") == "official" and not unofficial else "repaired"
    whole = compare(pair, group, parse, selection)
    both = frozenset(set(pair[0].numbers) & set(pair[1].numbers))
    stories = both & selection.stories if selection else both
    whole = replace(whole, corrected=calibration.of_pair(pair, runs, group, stories))
    query = {"a": params["a"], "b": params["b"], "group": group, "parse": parse}
    query |= ({"split": selection.key} if selection else {}) | ranking_in(params)
    return ChosenComparison(
        runs=runs,
        entrants=entrants,
        unofficial=unofficial,
        whole=whole,
        comparison=comparison_for(access, pair, whole),
        asked=query,
    )


PREFERRED_KINDS = (Kind.BLIND, Kind.UNKNOWN, Kind.ADJUDICATED, Kind.MAJORITY, Kind.UNANIMOUS)
"""Kinds of gold by what a reader asks first."""


@dataclass(frozen=True, slots=True)
class ChosenGold:
    """Choices of an address about how gold was made: metrics of a version, a kind of its gold (None where it has none
    to compare) and a dimension."""

    access: ProjectAccess
    datasets: Sequence[Dataset]
    labelling: Labelling
    metrics: GoldMetrics
    kind: Kind | None
    dimension: int | None

    @property
    def slug(self) -> str:
        return self.access.project.slug

    @property
    def dataset(self) -> Dataset:
        return self.labelling.dataset

    @property
    def waiting(self) -> str:
        """Return why the metrics wait for the reader's own work on labels, empty where they do not; the cells behind
        them wait for work of any kind, story by story."""
        return waiting_for(self.access, frozenset(self.metrics.cells.stories), before=Work.ALIGNMENT)

    def query(self, **others: Any) -> str:
        """Return the address of the choice, with others in their place."""
        asked: dict[str, Any] = {"version": self.dataset.version}
        asked |= {"dimension": self.metrics.keys[self.dimension]} if self.dimension is not None else {}
        asked |= {"kind": self.kind.value} if self.kind else {}
        return urlencode({name: value for name, value in (asked | others).items() if value not in ("", None)})


def chosen_gold(params: Mapping[str, str], access: ProjectAccess) -> ChosenGold | None:
    """Return what an address asks for; None where no finished run has labelled published gold. Raises Http404."""
    datasets, labelling = _labelled(params, access)
    if labelling is None:
        return None
    metrics = gold_metrics_of(labelling)
    if not metrics.cells.stories:
        return None
    key = params.get("dimension", "")
    if key and key not in metrics.keys:
        raise Http404(
            Sentence("There is no dimension {key}; there are {keys}.", key=repr(key), keys=", ".join(metrics.keys))
        )
    compared = [kind for kind in metrics.kinds if kind in REFERENCE]
    asked = [kind for kind in metrics.kinds if kind.value == params.get("kind")]
    kind = next(iter([*asked, *(preferred for preferred in PREFERRED_KINDS if preferred in compared), *compared]), None)
    return ChosenGold(access, datasets, labelling, metrics, kind, metrics.keys.index(key) if key else OVERALL)


def _labelled(params: Mapping[str, str], access: ProjectAccess) -> tuple[Sequence[Dataset], Labelling | None]:
    """Return the versions of the gold that models labelled, and who labelled the one that is asked for. Raises
    Http404."""
    datasets = labelled_versions(access.project)
    version = params.get("version") or (str(datasets[0].version) if datasets else "")
    dataset = next((candidate for candidate in datasets if str(candidate.version) == version), None)
    if datasets and dataset is None:
        raise Http404(gettext_noop("No finished run labelled that version of the gold."))
    labelling = labelling_of(dataset) if dataset else None
    return datasets, labelling if labelling and labelling.entrants else None


@dataclass(frozen=True, slots=True)
class ChosenDoubts:
    """Choices of an address about doubtful gold: that of a version, without stories that the reader has open work on;
    `waiting` says why all of it waits for that work, empty where it does not."""

    access: ProjectAccess
    datasets: Sequence[Dataset]
    labelling: Labelling
    gold: DoubtfulGold
    waiting: str

    @property
    def dataset(self) -> Dataset:
        return self.labelling.dataset

    @property
    def query(self) -> str:
        """The address of the choice."""
        return urlencode({"version": self.dataset.version})


def chosen_doubts(params: Mapping[str, str], access: ProjectAccess) -> ChosenDoubts | None:
    """Return the doubtful gold that an address asks for; None where no finished run has labelled published gold. Raises
    Http404."""
    datasets, labelling = _labelled(params, access)
    if labelling is None:
        return None
    closed = closed_to(access, dataset=labelling.dataset, before=Work.SECOND_LOOKS)
    gold = doubtful_gold(labelling, closed=closed)
    waiting = waiting_for(access, gold.stories, before=Work.ALIGNMENT)  # alignment asks about no label
    return ChosenDoubts(access, datasets, labelling, gold, waiting)


Chosen = TypeVar("Chosen", ChosenGold, ChosenDoubts)


def readable(chosen: Chosen | None) -> Chosen:
    """Return what an address chose. Raises Http404 if no finished run has labelled published gold, PermissionDenied if
    it waits for the reader's own work."""
    if chosen is None:
        raise Http404(gettext_noop("No finished run has labelled published gold."))
    if chosen.waiting:
        raise PermissionDenied(chosen.waiting)
    return chosen
