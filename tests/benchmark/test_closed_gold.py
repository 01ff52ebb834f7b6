"""Who has open work on a story sees none of its gold: at every address of the URLconf, with every filter, whoever may
see results.

Bob labels story 8 and aligns tables of story 5; Esi labels story 7, has a cell of story 6 to decide, and aligns tables
of story 4; Ada, an admin, labels story 3 and aligns tables of story 2. Their gold is planted with words that stand
nowhere else, in the published version and, as other words, in the present gold and the version after it.
"""

from __future__ import annotations

import importlib
import io
import json
import pkgutil
import re
import zipfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from html import unescape
from itertools import product
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from django import forms
from django.core.cache.backends.dummy import DummyCache
from django.forms.widgets import ChoiceWidget
from django.http import QueryDict
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from rest_framework.serializers import Serializer

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, GoldLabel, Membership, Method, Proposition, PropositionFlag, Role, User
from benchmark.domain.drawn import PaperRow
from benchmark.models import Audience, DatasetSample, ResultsVisibility, RunItem, RunReport, Snapshot, SnapshotItem
from benchmark.services import snapshots
from benchmark.services.comparisons import compare, pair_of
from benchmark.services.datasets import publish_version
from benchmark.services.entered_rows import add_row
from benchmark.services.items import SORTS
from benchmark.services.leaderboard_scope import leaderboard_of
from benchmark.services.plot_data import Picture
from benchmark.services.reports import forget_report, report_of
from benchmark.suites.omnitom.data import LABEL
from benchmark.suites.omnitom.labels import DIMENSIONS
from benchmark.suites.questions import PARSES
from benchmark.suites.registry import suite_named
from core.messages import restored
from core.stored_json import parsed_once, text_of
from judge.models import Alignment, AlignmentState
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.studies import Plan, make_study
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import HOSTILE, ResultsWorld, results_world
from tests.benchmark.settled import written
from tests.copies import copied
from workers.models import Item

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]

PLANTED = "context"
"""The dimension whose labels are planted."""
LABELLED_BY = {"bob": 8, "esi": 7, "ada": 3}
DECIDED_BY_ESI = 6
ALIGNED_BY = {"bob": 5, "esi": 4, "ada": 2}


def published_word(number: int) -> str:
    return f"Zanzibar{number}"


def present_word(number: int) -> str:
    return f"Quagga{number}"


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    return copied("closed gold", lambda: _planted(tmp_path))


def _planted(folder) -> ResultsWorld:
    held = results_world(folder)
    for story in held.dataset.samples.select_related("story"):
        _plant(story)
    held.project = held.dataset.project
    held.ada = User.objects.create_user("ada", "ada@example.org", "correct-horse-battery")
    Membership.objects.create(project=held.project, user=held.ada, role=Role.ADMIN)
    for slot, (name, number) in enumerate(LABELLED_BY.items(), 1):
        assign(held, getattr(held, name), number, slot)
    row = Proposition.objects.filter(table__story__project=held.project, table__story__number=DECIDED_BY_ESI).first()
    held.later, _ = publish_version(by=held.alice, project=held.project)
    held.open_cell = GoldLabel.objects.create(
        proposition=row, dimension="order", method=Method.OPEN, agreement=0.5, rule_version="1", schema_version="1",
        decided_at=timezone.now(),
    )  # fmt: skip
    forget_report(held.run)
    held.study = _aligned(held)
    own = {"by": held.alice, "project": held.project}
    keys = [held.entrant(name) for name in ("majority", "random")]
    runs, entries = pair_of(held.project, *keys)
    compared = {"runs": runs, "keys": keys, "comparison": compare(entries["stage2"], "stage2", "repaired")}
    leaderboard = leaderboard_of(held.dataset, held.run.answer_format, "")
    ranked = {"dataset": held.dataset, "leaderboard": leaderboard, "query": {"split": ""}}
    held.reports = [
        snapshots.save_run_snapshot(by=held.alice, run=held.run),
        snapshots.save_comparison_snapshot(**own, **compared),
        snapshots.save_leaderboard_snapshot(by=held.alice, **ranked),
        snapshots.save_across_snapshot(**own),
    ]
    return held


def _aligned(world: ResultsWorld):
    """Bob, Esi and Ada align all that the run extracted, and have one story left each."""
    units = units_of([world.run])
    study = make_study(
        by=world.alice, project=world.project, plan=Plan("Study", len(units), overlap=3), units=units,
        now=timezone.now(), load=partial(load_tables, project=world.project), origin=origin_of([world.run]),
        annotators=[world.bob, world.esi, world.ada],
    )  # fmt: skip
    for name, number in ALIGNED_BY.items():
        others = Alignment.objects.filter(annotator__username=name).exclude(task__number=number)
        others.update(state=AlignmentState.HANDED_IN, handed_in_at=timezone.now())
    return study


def _plant(story: DatasetSample) -> None:
    for belief in story.beliefs:
        belief["labels"] = belief["labels"] | {PLANTED: published_word(story.number)}
    told = [[belief["labels"][one] for one in DIMENSIONS] for belief in story.beliefs]
    story.votes, story.adjudications = {"bob": told, "zoe": told}, {"esi": told}
    story.save(update_fields=["gold", "votes", "adjudications"])
    for row in Proposition.objects.gold_of(story.story):
        row.imported_labels = row.imported_labels | {PLANTED: present_word(story.number)}
        row.save(update_fields=["imported_labels"])


def assign(world: ResultsWorld, person: User, number: int, slot: int = 1) -> Assignment:
    story = world.project.stories.get(number=number)
    return Assignment.objects.create(story=story, annotator=person, slot=slot, overlap=world.project.overlap)


# --- every address
OWN = {"annotation", "benchmark", "judge", "workers", "api"}


def patterns(of, namespace: str = "", above: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(name, parameters) of every address of ours, from the URLconf."""
    for one in of:
        held = (*above, *one.pattern.converters)
        if isinstance(one, URLResolver):
            yield from patterns(one.url_patterns, one.namespace or namespace, held)
        elif isinstance(one, URLPattern) and one.name and namespace in OWN:
            yield f"{namespace}:{one.name}", held
        elif isinstance(one, URLPattern) and not namespace:
            yield one.name, held


URLS = sorted({one for one in patterns(get_resolver().url_patterns) if one[0] not in ("", "api:nothing", "logout")})
OPEN_TO = {"bob": [8, ALIGNED_BY["bob"]], "esi": [DECIDED_BY_ESI, 7, ALIGNED_BY["esi"]], "ada": [3, ALIGNED_BY["ada"]]}
FINISHED = 1


def choices(world: ResultsWorld, person: str, made: dict[str, str]) -> dict[str, list]:
    """What can stand for each parameter of an address: items and stories with the person's open work, and of one that
    is finished a few."""
    numbers = [FINISHED, *OPEN_TO[person]]
    stories = world.project.stories.filter(number__in=numbers)
    rows = [Proposition.objects.gold_of(one).first().uid for one in stories]
    asked = RunItem.objects.filter(entrant__run=world.run)
    finished = asked.filter(sample__number=FINISHED, entrant__name="majority")
    items = [one.pk for one in asked.filter(sample__number__in=OPEN_TO[person]) | finished]
    call = asked.exclude(call=None).first().call
    return {
        "slug": [world.project.slug], "uid": [world.run.uid], "pk": items,
        "entrant": list(world.run.entrants.values_list("pk", flat=True)), "person": ["p1", "p2", "p3"],
        "number": numbers,
        "report": [one.uid for one in world.reports], "row": [made["row"]], "old": [1, 2], "new": [1, 2],
        "table": ["nothing"], "data": ["json"], "plot": ["nothing"], "picture": ["svg"],
        "story": [one.uid for one in stories], "proposition": rows, "dimension": [PLANTED], "assignment": ["x" * 12],
        "membership": [Membership.objects.get(user=world.bob).pk], "invitation": [1],
        "format": ["omnitom", "long-csv", "croissant"],
        "kind": ["omnitom", "long-csv"], "name": [call.endpoint.name.replace("=", "x")[:9]], "action": ["pause"],
        "round": ["x" * 12], "expert": [world.esi.pk],
        "flag": [made["flag"]], "token": ["t"], "uidb64": ["MQ"], "suite": ["tombench"],
        "study": [world.study.uid], "watch": ["x" * 12], "run": [world.run.uid], "version": [1, 2], "item": items,
    }  # fmt: skip


def _one_of_a_kind(names: set[str]) -> list[str]:
    """Of what there is of each dimension or model, that of the planted dimension and the first model."""
    others = "|".join(one.replace("_", "-") for one in DIMENSIONS if one != PLANTED)
    return sorted(one for one in names if not re.search(rf"-({others})-|-[2-9](-|$)", one))


def queries(name: str, world: ResultsWorld) -> list[str]:
    """Addresses are asked bare, and as pages link to them."""
    first, second = (world.entrant(one) for one in ("majority", "random"))
    if name.startswith("api:comparison"):
        return [f"a={first}&b={second}&group={s}&parse={r}" for s, r in product(("stage1", "stage2"), PARSES)]
    if name == "api:run_items":
        return ["page_size=500&full=true"]
    if name.startswith("api:leaderboard"):
        return ["", "runs=all&show=person", f"split=run:{world.alone.uid}"]
    if "compar" in name:
        category = world.dataset.samples.get(number=8).category
        both = (f"a={first}&b={second}&group={s}&parse={r}" for s, r in product(("stage1", "stage2"), PARSES))
        return [f"a={first}&b={world.run.uid}.p1", *(f"{one}&category={category}" for one in both)]
    if name.startswith(("benchmark:leaderboard", "benchmark:differences", "benchmark:items_")):
        return ["", "runs=all&over=every", "parse=official&over=every&show=person", f"split=run:{world.alone.uid}"]
    if name in ("benchmark:run_results", "benchmark:run_report", "benchmark:snapshot"):
        return [f"confusion_model=1&dimension={PLANTED}&parse={one}" for one in ("official", "repaired")]
    if name == "benchmark:gold_kinds_cells":
        return ["kind=all&model=majority&show=every", f"kind=all&dimension={PLANTED}&model=majority&show=wrong"]
    return [""]


def addresses(world: ResultsWorld, person: str, made: dict[str, str], told: Told) -> list[tuple[str, str]]:
    """(name, address) of everything that answers to GET, of several to one view each with another of its queries."""
    held, found = choices(world, person, made), []
    kept = SnapshotItem.objects.filter(snapshot=world.reports[0], sample__number__in=held["number"], step=LABEL)
    saved = {"pk": list(kept.values_list("pk", flat=True)), "report": [world.reports[0].uid]}
    for name, parameters in URLS:
        own = held | (saved if name in ("benchmark:snapshot_item", "benchmark:snapshot_answer") else {})
        own |= _of_alignment(world, person, name)
        known = [list(dict.fromkeys(map(str, own[one]))) for one in parameters]
        asked = queries(name, world)
        places = [dict(zip(parameters, one, strict=True)) for one in product(*known)]
        bare = [reverse(name, kwargs=one) for place in places for one in told.named(name, place, asked)]
        most = max(len(bare), len(asked))
        found += [(name, f"{bare[at % len(bare)]}?{asked[at % len(asked)]}") for at in range(most)]
    return found


def _of_alignment(world: ResultsWorld, person: str, name: str) -> dict[str, list[str]]:
    """The studies, tables and alignments that stand for the parameters of an address of alignment."""
    if not name.startswith("judge:") and name != "judge:grow_alignment":
        return {}
    own = Alignment.objects.filter(annotator__username=person, task__number__in=[FINISHED, *OPEN_TO[person]])
    if name in ("judge:align", "judge:save", "judge:answers", "judge:undo"):
        return {"uid": list(own.values_list("uid", flat=True))}
    return {"uid": [world.study.uid], "table": list(own.values_list("task__uid", flat=True))}


class Told:
    """Which tables and figures there are at an address, as an admin is told who asks for one that is not there."""

    def __init__(self, world: ResultsWorld) -> None:
        self.client, self.names = Client(), {}
        self.client.force_login(world.alice)

    def named(self, name: str, place: dict[str, str], asked: list[str]) -> list[dict[str, str]]:
        """The place itself, or one for each table or figure that one of the queries has there."""
        kind = next(iter({"table", "plot"} & place.keys()), None)
        if kind is None:
            return [place]
        bare = reverse(name, kwargs=place)
        if bare not in self.names:
            self.names[bare] = set().union(*(self._in(f"{bare}?{query}") for query in asked))
        found = self.names[bare]
        return [place | {kind: one} for one in _one_of_a_kind(found)]

    def _in(self, address: str) -> list[str]:
        response = self.client.get(address, headers={"Accept": "*/*"})
        if response.status_code != 404:
            return ["nothing"]  # nothing is compared or measured there, which a page says
        told = response.json()["error"]["message"] if "/api/" in address else str(response.context["exception"])
        found = re.fullmatch(r"There is no \w+ 'nothing'; there are (.+)\.", told)
        return found[1].split(", ") if found else ["nothing"]


LISTS_OF_ITEMS = ["benchmark:run_items", "benchmark:snapshot_items"]
MADE, MANY = re.compile(r"(benchmark|api):\w+_(table|figure)"), 10
"""Of so many each is asked for by one person, the next by the other: all wait for everybody with open work alike."""


def filtered(world: ResultsWorld, turn: int, people: int) -> list[tuple[str, str]]:
    """(name, address) of every page with a filter, with each of its choices.

    Both lists of items are one view's work, and alike to all people: each list is asked for another part at each of the
    `people`'s turns.
    """
    parameters = dict(URLS)
    known = {"slug": world.project.slug, "uid": world.run.uid, "run": world.run.uid, "report": world.reports[0].uid}
    bare = {name: reverse(name, kwargs={one: known[one] for one in parameters[name]}) for name in FILTERS}
    found = []
    for name, asked in FILTERS.items():
        chosen = asked(world)
        if name in LISTS_OF_ITEMS:
            chosen = chosen[2 * turn + LISTS_OF_ITEMS.index(name) :: 2 * people]
        found += [(name, f"{bare[name]}?{one}") for one in chosen]
    return found


# --- every filter, from the forms
PACKAGES = ("annotation.api", "annotation.forms", "benchmark.api", "benchmark.forms", "judge.api", "workers.forms")
KINDS = {
    name: one
    for package in map(importlib.import_module, PACKAGES)
    for module in pkgutil.iter_modules(package.__path__)
    for name, one in vars(importlib.import_module(f"{package.__name__}.{module.name}")).items()
    if isinstance(one, type) and issubclass(one, forms.Form | Serializer) and "Filter" in name
}
"""Every filter of a page or of the API by its name."""


def item_queries(world: ResultsWorld) -> list[str]:
    """Every choice of every field, of one of two models; gold and said labels in every dimension; every order."""
    chosen = _of_form(KINDS["ItemFilter"](QueryDict(), run=world.run))
    for dimension in DIMENSIONS:
        form = KINDS["ItemFilter"](QueryDict(f"dimension={dimension}"), run=world.run)
        chosen += [f"dimension={dimension}&{one}" for one in _of_form(form) if one.startswith(("gold=", "said="))]
    models = world.run.entrants.values_list("pk", flat=True)[:2]
    # four by four, for both lists of items and both people
    found = [f"model={models[at // 4 % 2]}&{one}" for at, one in enumerate(chosen)]
    return [f"sort={sign}{sort}" for sort in SORTS for sign in ("", "-")] + found


def api_item_queries(world: ResultsWorld) -> list[str]:
    """The same choices by the names that the API has for them."""
    form = KINDS["ItemFilter"](QueryDict(), run=world.run)
    fields = ("step", "state", "problem", "category", "split")
    chosen = [(name, value) for name in fields for value, _ in form.fields[name].choices if value]
    return [urlencode({"full": "true", **dict([one])}) for one in [*chosen, ("model", "majority"), ("sort", "-score")]]


def _of_form(form: forms.Form) -> list[str]:
    return [
        f"{name}={value}" for name, field in form.fields.items() for value, _ in getattr(field, "choices", ()) if value
    ]


def of_project(name: str):
    return lambda world: _of_form(KINDS[name](QueryDict(), project=world.project))


def queue_queries(world: ResultsWorld) -> list[str]:
    pairs = [(one.key, *one.values[:2]) for one in DEFAULT_SCHEMA.dimensions]
    chosen = [f"status=all&dimension={key}&pair={first}|{second}" for key, first, second in pairs]
    return of_project("QueueFilter")(world) + chosen


def by_category(world: ResultsWorld) -> list[str]:
    return [urlencode({"category": one}) for one in world.project.categories.values_list("name", flat=True)]


BY_DIMENSION = [f"dimension={key}" for key in DEFAULT_SCHEMA.keys]


def gold_queries(world: ResultsWorld) -> list[str]:
    methods = [f"method={value}" for value in KINDS["GoldFilter"]().fields["method"].choices]
    stories = world.project.stories.filter(number__in=(6, 7, 8))
    return [*BY_DIMENSION, *methods, *(f"story={one.uid}" for one in stories)]


FILTERS = {
    "benchmark:run_items": item_queries,
    "benchmark:snapshot_items": item_queries,
    "api:run_items": api_item_queries,
    "annotation:adjudication": queue_queries,
    "annotation:majorities": queue_queries,
    "annotation:stories": of_project("StoryFilter"),
    "annotation:tables": of_project("TablesFilter"),
    **dict.fromkeys(
        [f"annotation:agreement{of}" for of in ("", "_annotators", "_csv", "_opinions")], of_project("PartsFilter")
    ),
    "api:gold": gold_queries,
    "api:flags": lambda world: [f"outcome={one}" for one in KINDS["FlagFilter"]().fields["outcome"].choices],
    "api:majorities": lambda world: BY_DIMENSION + by_category(world),
    "api:stories": by_category,
}
WALKED = {
    f"{name}Filter"
    for name in (
        "Comparison", "Item", "Leaderboard", "Parse", "RunItem", "Queue", "Story", "Tables", "Parts", "Gold", "Flag",
        "Majorities", "GoldKinds", "DoubtfulGold", "Structure",
    )
}  # fmt: skip
ADMINS_ALONE = {"BridgeFilter", "FilterForm", "GoldLogFilter", "LedgerFilter", "PanelFilter", "SweepFilter"}
"""Filters of pages that neither annotators nor experts open (tests/test_urlconf.py)."""


def test_every_filter_is_walked():
    assert KINDS.keys() == WALKED | ADMINS_ALONE


# --- the walk
def _with_addresses(folder) -> tuple[ResultsWorld, dict[str, list[tuple[str, str]]]]:
    world = _planted(folder)
    category = world.dataset.samples.get(number=8).category
    world.alone = world.another("majority", steps=("label",), judge=None, category=category)
    report_of(world.alone)
    row = Proposition.objects.filter(table__story__project=world.project, table__story__number=FINISHED).first()
    flag = PropositionFlag.objects.create(proposition=row, author=world.bob, kind="reword", remark="?")
    entry = PaperRow("Human", "human", "A paper", {"stage2.acc_order": "90"})
    entered = add_row(by=world.alice, project=world.project, suite=suite_named("omnitom"), entry=entry)
    made, told = {"flag": flag.uid, "row": entered.uid}, Told(world)
    return world, {person: addresses(world, person, made, told) for person in OPEN_TO}


@pytest.fixture
def site(tmp_path, monkeypatch) -> SimpleNamespace:
    """`told(person)`: by address what the person reads there, archives unpacked; `most` of each name, with the filters
    of `turn`."""
    world, held = copied("closed gold with addresses", lambda: _with_addresses(tmp_path))
    monkeypatch.setattr(ChoiceWidget, "render", _kept(ChoiceWidget.render))

    def told(person: User, names="", *, turn=None, people=1, most: int | None = None, but="^$") -> dict[str, str]:
        client = Client()
        client.force_login(person)
        found, count = {}, Counter()
        asked = dict.fromkeys([*held[person.username], *(filtered(world, turn, people) if turn is not None else [])])
        sizes = Counter(name for name, _ in asked)
        many = {name for name, size in sizes.items() if size >= MANY and MADE.fullmatch(name)}
        for name, address in asked:
            count[name] += 1
            if turn is not None and name in many and count[name] % 2 != turn:
                continue
            if name.startswith(names) and (most is None or count[name] <= most) and not re.search(but, address):
                response = client.get(address, headers={"Accept": "*/*"} if name.startswith("api:") else {})
                assert response.status_code < 500, address
                found[address] = f"{response.status_code} {text_in(response)}"
        return found

    return SimpleNamespace(told=told, world=world)


def _kept(render: Callable[..., str]) -> Callable[..., str]:
    """Draws the choices of a form once for each value: the walk opens a page of twelve of them five hundred times a
    person."""
    drawn: dict[tuple, str] = {}

    def draw(widget: ChoiceWidget, name: str, value, attrs=None, renderer=None) -> str:
        key = (type(widget), name, repr(value), repr(attrs), repr(widget.attrs), repr(list(widget.choices)))
        if key not in drawn:
            drawn[key] = render(widget, name, value, attrs, renderer)
        return drawn[key]

    return draw


def text_in(response) -> str:
    data = b"".join(response.streaming_content) if response.streaming else response.content
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            data = b"\n".join(archive.read(one) for one in archive.namelist())
    return data.decode("utf-8", "replace")


def show(world, audience: Audience = Audience.EVERYONE, once_published: bool = False) -> None:
    told = {"audience": audience, "once_published": once_published}
    ResultsVisibility.objects.update_or_create(project=world.project, defaults=told)


def secrets(person: str, address: str) -> list[str]:
    """Experts see how the story stands that they decide, and the pages of decisions do not wait for alignment; what an
    earlier version had and models answered, they do not."""
    labelled, aligned = LABELLED_BY[person], ALIGNED_BY[person]
    words = [published_word(labelled), present_word(labelled), published_word(aligned)]
    if not re.search(r"/adjudication/|/api/v1/projects/[^/]+/gold/\w{12}/", address):
        words.append(present_word(aligned))
    if person == "esi":
        words.append(published_word(DECIDED_BY_ESI))
        if re.search(r"/(runs|results|datasets|leaderboard|comparison)/", address):
            words.append(present_word(DECIDED_BY_ESI))
    return words


def leaks(person: str, told: dict[str, str]) -> set[str]:
    return {address for address, text in told.items() if any(word in text for word in secrets(person, address))}


SETTINGS = [(Audience.EVERYONE, False), (Audience.EVERYONE, True), (Audience.EXPERTS, False), (Audience.ADMINS, True)]
"""Each audience, and gold that must be published and need not be. The first is the widest: everybody sees results at
once."""


@pytest.mark.dear
@pytest.mark.parametrize(("audience", "once_published"), SETTINGS)
def test_no_address_tells_gold_that_is_open(site, audience, once_published, monkeypatch):
    monkeypatch.setattr("benchmark.services.visibility.gold_is_published", lambda project: True)
    show(site.world, audience, once_published)
    first, last = ((audience, once_published) == SETTINGS[at] for at in (0, 3))
    for turn, name in enumerate(("bob", "esi")):
        asked = {"turn": turn, "people": 2} if first else {"names": "benchmark:", "most": 3}
        told = site.told(getattr(site.world, name), **asked)  # nothing else knows who sees results
        assert leaks(name, told) == set()
        sees = Role(audience.value).rank <= {"bob": Role.ANNOTATOR, "esi": Role.EXPERT}[name].rank
        lists = [text for address, text in told.items() if "/items/?" in address]
        assert any(one.startswith("200") for one in lists) == sees  # the walk is not refused everywhere
    if last:  # an admin sees results whatever the audience
        told = site.told(site.world.ada)
        assert leaks("ada", told) == set()
        assert sum(text.startswith("200") for text in told.values()) > 100
    if first:  # others ask for few, or see none
        assert_nobody_changed_a_report()


def assert_nobody_changed_a_report() -> None:
    """What was parsed for one page is shown to the next: here to hundreds, of all figures and files."""
    kept = (model.objects.values_list(text_of("metrics"), flat=True) for model in (RunReport, Snapshot))
    texts = [text for model in kept for text in model]
    assert texts and all(text in parsed_once for text in texts)
    assert [parsed_once(text) for text in texts] == [restored(json.loads(text)) for text in texts]


@pytest.mark.dear
def test_the_words_are_told_once_the_work_is_done(site):
    """Or the walk would find nothing because nothing is there."""
    show(site.world)
    Assignment.objects.update(released_at=timezone.now())
    Alignment.objects.update(state=AlignmentState.HANDED_IN, handed_in_at=timezone.now())
    site.world.open_cell.delete()
    told = site.told(site.world.bob, ("benchmark:official_output", "benchmark:run_item"))
    leaking = [address for address, text in told.items() if published_word(8) in text]
    assert any("/output/" in one for one in leaking) and any(re.search(r"/items/\d+/", one) for one in leaking)
    told = site.told(site.world.esi, ("benchmark:dataset_difference", "annotation:story"))
    assert sum(published_word(6) in text or present_word(7) in text for text in told.values()) >= 3


FIGURES_OVER_ALL = r"/(results|report|tables|figures)/"
"""Figures over whole selections, which rest on open stories too."""


@pytest.mark.dear
def test_only_figures_over_all_stories_depend_on_open_gold(site, monkeypatch):
    """Items, their counts under every filter and in every order, downloads, people: the same letters, whatever the gold
    of story 8 is.

    Each choice is asked of one of both lists of items, the next of the other.
    """
    show(site.world)
    yesterday = timezone.now() - timedelta(days=1)
    Item.objects.update(finished_at=yesterday)  # a run's page counts the answers of the last seconds
    before, after = (_told_with(site, monkeypatch, at) for at in (0, 1))
    assert before.keys() == after.keys() and len(before) > 150
    assert any(one.startswith("200") and "majority" in one for one in before.values())
    assert [one for one in before if before[one] != after[one]] == []


def _told_with(site, monkeypatch, at: int) -> dict[str, str]:
    story = site.world.dataset.samples.get(number=8)
    for belief in story.beliefs:
        belief["labels"] = {one.key: one.values[at] for one in DEFAULT_SCHEMA.dimensions}
    story.save(update_fields=["gold"])
    # records of this digest are kept with the gold of before
    monkeypatch.setattr("benchmark.services.asking._kept", OrderedDict())
    forget_report(site.world.run)
    told = site.told(site.world.bob, ("benchmark:", "api:run"), turn=0, but=FIGURES_OVER_ALL)
    return {address: plain(text) for address, text in told.items()}


def plain(text: str) -> str:
    """Without what differs from request to request: tokens, and how long ago something was."""
    return re.sub(r"(?s)\b[A-Za-z0-9]{64}\b|<time.*?</time>", "", text)


# --- single ways
def test_an_item_that_shows_an_open_story_as_an_example_does_not_show_it(world, client):
    """Level 4 shows solved stories; story 8 is of story 1's category and serves as an example for it."""
    story = world.dataset.samples.get(number=8)
    for belief in story.beliefs:
        belief["labels"][PLANTED] = "Neutral"
    story.split = "calibration"
    story.save(update_fields=["gold", "split"])
    show(world)
    run = world.another(HOSTILE, steps=("label",), judge=None, level=4, examples_from="calibration", limit=1)
    item = RunItem.objects.get(entrant__run=run, step=LABEL)
    assert item.sample.number == 1 and item.sample.category == story.category
    solved, address = "This is story 8.", f"{world.base}/runs/{run.uid}/items/{item.pk}/"
    client.force_login(world.alice)
    assert solved in client.get(address).content.decode()
    client.force_login(world.bob)
    page = client.get(address)
    assert page.status_code == 200 and solved not in page.content.decode()
    assert "solved, that you still have work to do on" in page.content.decode()


def test_pages_and_figures_say_what_waits(world, client):
    show(world)
    client.force_login(world.bob)
    run, results = f"{world.base}/runs/{world.run.uid}", f"{world.base}/results/"
    for page in (f"{run}/results/", f"{run}/items/", results):
        assert "You still have work to do on 2 of these stories." in written(client.get(page)), page
    lines = client.get(f"{run}/scores.csv").getvalue().decode().splitlines()
    withheld = [line for line in lines if "withheld: you still have work to do on this story" in line]
    assert len(withheld) == RunItem.objects.filter(entrant__run=world.run, sample__number__in=OPEN_TO["bob"]).count()
    assert all(",,," in line for line in withheld)
    # baselines wait, since what they answered is known: a majority baseline's share of right answers, less that of the
    # finished stories, counts the gold labels of the open one
    asked = {"a": world.entrant("majority"), "b": world.entrant("random")}
    page = client.get(f"{results}compare/", asked).content.decode()
    assert "you still have work to do on 2 of them. Finish that first." in page and "Holm" not in page
    table = client.get(f"{run}/tables/stage2.json")
    assert "withheld: you still have work to do on 2 of these stories" in table.content.decode()
    client.force_login(world.alice)
    whole = client.get(f"{run}/tables/stage2.json")
    assert ["majority" in [row["model"] for row in of.json()["rows"]] for of in (table, whole)] == [False, True]
    # figures over few stories wait: a run about the open story alone would tell of it in every figure
    category = world.dataset.samples.get(number=8).category
    alone = world.another("majority", steps=("label",), judge=None, category=category)
    assert 8 in RunItem.objects.filter(entrant__run=alone).values_list("sample__number", flat=True)
    client.force_login(world.bob)
    base = f"{world.base}/runs/{alone.uid}"
    own = [f"{base}/{tail}" for tail in ("results/", "report/", "tables/stage2.csv")]
    for address in (*own, f"{results}?split=run:{alone.uid}"):
        page = client.get(address)
        assert page.status_code == 403 and "you still have work to do on" in page.content.decode(), address
    assert client.get(f"{base}/items/").status_code == 200
    Assignment.objects.update(released_at=timezone.now())
    assert client.get(f"{base}/results/").status_code == 200


def test_two_models_are_compared_without_what_would_tell_of_an_open_story(world, client):
    """What models answered is known only by whose work is done; `queries` compares baselines and people, which wait."""
    show(world)
    again = world.another(HOSTILE, seed=2)
    keys = {"a": world.entrant(HOSTILE), "b": f"{again.uid}.{again.entrants.get().pk}"}
    base, story = f"{world.base}/results/compare", reverse("benchmark:compare_story", args=[world.project.slug, 8])
    told = []
    for user in (world.alice, world.bob):
        client.force_login(user)
        page, rows = client.get(f"{base}/", keys), client.get(f"{base}/tables/differences.json", keys).json()["rows"]
        listed = {one["number"] for one in client.get(f"{base}/tables/stories.json", keys).json()["rows"]}
        api = client.get(reverse("api:comparison", args=[world.project.slug]), keys).json()
        assert page.status_code == 200 and "Holm" in page.content.decode() and rows and listed
        assert {one["number"] for one in api["stories"]["rows"]} == listed
        parts = {row["part"] for row in rows}
        told.append((parts == {"All stories"}, 8 in listed, client.get(story, keys).status_code))
    assert told == [(False, True, 200), (True, False, 403)]


@pytest.fixture
def drawn_once(monkeypatch) -> None:
    """A picture is drawn once, whatever the format and theme that are asked for; test_downloads.py asks for each
    format."""
    draw, drawn = Picture.draw, {}

    def once(picture: Picture, **how: str) -> bytes:
        plot = picture.framed()
        key = json.dumps([picture.title, plot.data, plot.frame], sort_keys=True, default=str)
        if key not in drawn:
            drawn[key] = draw(picture, **how | {"format": "svg"})
        return drawn[key]

    monkeypatch.setattr(Picture, "draw", once)
    # what is drawn so is kept for no other test
    monkeypatch.setattr("benchmark.views.downloads.caches", {"plots": DummyCache("", {})})


@pytest.mark.dear
@pytest.mark.usefixtures("drawn_once")
def test_no_page_shows_a_picture_or_offers_a_file_that_waits(world, client, monkeypatch):
    for name in ("left", "right"):
        world.models[name] = endpoint(name, options={"default": "no table"})
    world.another("left", "right")
    show(world)
    run, results = f"{world.base}/runs/{world.run.uid}", f"{world.base}/results/"
    pages = [results, f"{run}/report/", f"{run}/results/"]
    pages += [f"{results}differences/?group={group}" for group in ("stage1", "stage2")]
    drawn = Counter()
    for person in (world.bob, world.alice):
        client.force_login(person)
        if person == world.alice:  # what an admin sees is drawn in test_downloads.py
            monkeypatch.setattr(Picture, "draw", lambda *_, **how: b"drawn")
        for page in pages:
            text = client.get(page).content.decode()
            held = set(re.findall(r'(?:src|href)="([^"]+/(?:figures|tables|differences)/[^"]+)"', text))
            drawn[person] += sum("/figures/" in one for one in held)
            by_name: dict[str, list[str]] = defaultdict(list)
            for address in sorted(map(unescape, held)):
                by_name[re.sub(r"\.\w+(?=\?|$)|\b(theme|width)=\w+", "", address)].append(address)
            # of each picture and table one, in another format and theme than the last: it waits whatever these are
            for at, one in enumerate(by_name.values()):
                assert client.get(one[at % len(one)]).status_code == 200, (person, page, one)
    assert 0 < drawn[world.bob] < drawn[world.alice]
