"""Open work of each kind closes a story to its person, whatever the role, and the end of that work opens it again."""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotation.access import closed_gold, open_work, project_access, unfinished
from annotation.models import (
    Assignment,
    BeliefTable,
    GoldLabel,
    Membership,
    Method,
    Proposition,
    Role,
    Story,
    TableKind,
    User,
)
from annotation.services.open_work import Work
from benchmark.models import Audience, RunItem
from judge.models import Alignment, AlignmentState, AlignmentStudy, SettledAlignment
from judge.services.alignment_tables import load_tables, origin_of, units_of
from judge.services.studies import Plan, make_study
from tests.benchmark.evaluation import endpoint
from tests.benchmark.results_world import ResultsWorld, results_world
from tests.benchmark.test_launch import ASKED

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER = 8


@pytest.fixture
def world(tmp_path) -> ResultsWorld:
    held = results_world(tmp_path)
    held.project = held.dataset.project
    held.story = held.project.stories.get(number=NUMBER)
    held.zoe = User.objects.create_user("zoe")
    Membership.objects.create(project=held.project, user=held.zoe, role=Role.ANNOTATOR)
    held.show_to(Audience.EVERYONE)
    return held


@contextmanager
def labels(world, person: str, *, has_table: bool = True, ends: str = "released") -> Iterator[None]:
    if not has_table:
        Proposition.objects.gold_of(world.story).update(removed_at=timezone.now())
    user = getattr(world, person)
    assignment = Assignment.objects.create(story=world.story, annotator=user, slot=1, overlap=world.project.overlap)
    yield
    if ends == "withdrawn":
        Story.objects.filter(pk=world.story.pk).update(withdrawn_at=timezone.now())
    else:
        Assignment.objects.filter(pk=assignment.pk).update(released_at=timezone.now())


@contextmanager
def drafts(world, *authors: str, submitted: bool = False) -> Iterator[None]:
    """Drafts of a story without a table, to write or, submitted, for an expert to reconcile."""
    live = list(Proposition.objects.gold_of(world.story).values_list("pk", flat=True))
    Proposition.objects.filter(pk__in=live).update(removed_at=timezone.now())
    for slot, author in enumerate(authors, 1):
        fields = {"author": getattr(world, author), "slot": slot, "submitted_at": timezone.now() if submitted else None}
        BeliefTable.objects.create(story=world.story, kind=TableKind.DRAFT, **fields)
    yield
    Proposition.objects.filter(pk__in=live).update(removed_at=None)


def drafts_to_reconcile(world, person: str):
    return drafts(world, "alice", "zoe", submitted=True)


@contextmanager
def a_cell_to_decide(world, person: str) -> Iterator[None]:
    row = Proposition.objects.gold_of(world.story).first()
    gold = GoldLabel.objects.create(
        proposition=row, dimension="order", method=Method.OPEN, agreement=0.5, rule_version="1", schema_version="1",
        decided_at=timezone.now(),
    )  # fmt: skip
    yield
    gold.delete()


def study_of(world, *people):
    units = units_of([world.run])
    plan = Plan("Study", len(units), overlap=len(people))
    return make_study(
        by=world.alice, project=world.project, plan=plan, units=units, now=timezone.now(),
        load=partial(load_tables, project=world.project), annotators=people, origin=origin_of([world.run]),
    )  # fmt: skip


def hand_in(rows) -> None:
    rows.update(state=AlignmentState.HANDED_IN, handed_in_at=timezone.now())


@contextmanager
def a_table_to_align(world, person: str, *, taken_away: bool = False) -> Iterator[None]:
    study_of(world, getattr(world, person))
    rows = Alignment.objects.filter(task__number=NUMBER)
    hand_in(Alignment.objects.exclude(task__number=NUMBER))
    yield
    rows.update(state=AlignmentState.RELEASED) if taken_away else hand_in(rows)


@contextmanager
def rows_to_decide(world, person: str) -> Iterator[None]:
    study = study_of(world, world.zoe)
    hand_in(Alignment.objects.all())
    task = study.tasks.filter(number=NUMBER).first()
    settled, _ = SettledAlignment.objects.update_or_create(
        task=task, defaults={"rows": {}, "open_rows": 1, "changed_at": timezone.now()}
    )
    yield
    SettledAlignment.objects.filter(pk=settled.pk).update(open_rows=0)


def tidied(world) -> None:
    """Undo whatever a kind of work did."""
    for left in (Assignment.objects, BeliefTable.objects.filter(kind=TableKind.DRAFT), AlignmentStudy.objects):
        left.all().delete()
    Proposition.objects.filter(table__story=world.story).update(removed_at=None)
    Story.objects.filter(pk=world.story.pk).update(withdrawn_at=None)
    cache.clear()


def test_each_kind_of_open_work_closes_the_story_until_it_ends(world, client):
    """tests/benchmark/test_closed_gold.py walks every page and file; here a page shows what models made of it."""
    item = RunItem.objects.filter(entrant__run=world.run, sample__number=NUMBER, step="label").exclude(call=None)[0]
    withdrawn, without_table = partial(labels, ends="withdrawn"), partial(labels, has_table=False)
    taken_away = partial(a_table_to_align, taken_away=True)

    def closed(person: str) -> set[int]:
        access = project_access(getattr(world, person), world.project.slug)
        client.force_login(access.user)
        found = open_work(access)
        assert client.get(f"{world.live}items/{item.pk}/").status_code == (403 if found else 200)
        return found

    for person, kind in (
        ("bob", labels), ("esi", labels), ("alice", labels), ("bob", withdrawn), ("bob", without_table),
        ("esi", drafts), ("alice", drafts), ("esi", drafts_to_reconcile), ("esi", a_cell_to_decide),
        ("bob", a_table_to_align), ("esi", a_table_to_align), ("alice", a_table_to_align), ("bob", taken_away),
        ("esi", rows_to_decide),
    ):  # fmt: skip
        with kind(world, person):
            assert closed(person) == {world.story.pk}, (person, kind)
        assert closed(person) == set(), (person, kind, "is done")
        tidied(world)
    for kind in (a_cell_to_decide, rows_to_decide):  # any expert may take it up: it is none of an admin's
        with kind(world, "alice"):
            assert closed("alice") == set(), kind


def test_each_kind_of_work_waits_for_those_before_it_alone(world, django_assert_num_queries):
    """Or an expert who decides, aligns and looks again at one story could do neither."""
    with a_cell_to_decide(world, "esi"), a_table_to_align(world, "esi"):
        access = project_access(world.esi, world.project.slug)
        assert open_work(access) == {world.story.pk}
        assert open_work(access, before=Work.ALIGNMENT) == {world.story.pk}, "alignment waits for the decision"
        assert unfinished(access) == closed_gold(access) == set(), "the decision waits for nothing"
        GoldLabel.objects.filter(method=Method.OPEN).delete()
        assert open_work(access, before=Work.ALIGNMENT) == set()
        assert closed_gold(access) == {world.story.pk}, "once it is decided, gold cannot be looked up while she aligns"
    tidied(world)
    study_of(world, world.bob)
    access, every = project_access(world.bob, world.project.slug), {*world.project.stories.values_list("pk", flat=True)}
    with django_assert_num_queries(3):  # assignments, drafts, alignments
        assert open_work(access) == every


def test_an_admin_with_open_work_takes_no_file_with_all_gold(world, client):
    client.force_login(world.alice)
    slug = world.project.slug
    files = [reverse("annotation:download", args=[slug, kind]) for kind in ("omnitom", "long-csv")]
    files += [reverse("annotation:archive", args=[slug]), reverse("api:export", args=[slug, "long-csv"])]
    page = reverse("annotation:export", args=[slug])
    with a_table_to_align(world, "alice"):
        refused = [client.get(address) for address in files]
        assert {answer.status_code for answer in refused} == {403}
        assert "gold of 1 story that you still have work to do on" in refused[0].content.decode()
        told = client.get(page).content.decode()
        assert "still have work to do on" in told and "Download" not in told.replace("Downloads hold", "")
    assert {client.get(address).status_code for address in [*files, page]} == {200}


def test_answers_of_a_study_are_withheld_story_by_story(world, client):
    """An admin who labels a story gets the rest of the study, and is told what is missing."""
    study = study_of(world, world.zoe, world.bob)
    hand_in(Alignment.objects.all())
    client.force_login(world.alice)
    address = reverse("judge:download_csv", args=[world.project.slug, study.uid])
    whole = rows_of(client, address)
    with labels(world, "alice"):
        rows = rows_of(client, address)
        withheld = [row for row in rows if row["answer"].startswith("withheld: ")]
        tables = study.tasks.filter(number=NUMBER).count()
        assert len(withheld) == tables and {row["story"] for row in withheld} == {str(NUMBER)}
        assert not any(row["model"] or row["belief"] for row in withheld)
        others = [row for row in whole if row["story"] != str(NUMBER)]
        assert [row for row in rows if row not in withheld] == others
        api = reverse("api:alignment_tables", args=[world.project.slug, study.uid])
        listed = client.get(f"{api}?page_size=500").json()["results"]
        closed = [table for table in listed if table["withheld"]]
        assert len(closed) == tables and {table["story"] for table in closed} == {NUMBER}
        assert all(not table["alignments"] and not table["predictions"] and "model" not in table for table in closed)


def rows_of(client, address: str) -> list[dict[str, str]]:
    text = client.get(address).getvalue().decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_preview_of_a_prompt_takes_a_story_without_open_work(world, client):
    client.force_login(world.alice)
    endpoint("reader", options={"default": "?"})
    query = ASKED | {"endpoints": ["reader"], "shown": "label"}
    address = f"{world.base}/runs/new/preview/"
    first = world.project.stories.get(number=1)
    before = client.get(address, query).content.decode()
    Assignment.objects.create(story=first, annotator=world.alice, slot=1, overlap=world.project.overlap)
    after = client.get(address, query).content.decode()
    assert "This is story 1." in before and "This is story 1." not in after and "This is story 2." in after
