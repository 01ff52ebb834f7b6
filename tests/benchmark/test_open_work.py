"""Open work of each kind closes a story to its person, whatever the role, and the end of that work opens it again."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
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
from judge.models import Alignment, AlignmentState, SettledAlignment
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
def labels(world, person: str) -> Iterator[None]:
    user = getattr(world, person)
    assignment = Assignment.objects.create(story=world.story, annotator=user, slot=1, overlap=world.project.overlap)
    yield
    Assignment.objects.filter(pk=assignment.pk).update(released_at=timezone.now())


@contextmanager
def labels_of_a_withdrawn_story(world, person: str) -> Iterator[None]:
    user = getattr(world, person)
    Assignment.objects.create(story=world.story, annotator=user, slot=1, overlap=world.project.overlap)
    yield
    Story.objects.filter(pk=world.story.pk).update(withdrawn_at=timezone.now())


@contextmanager
def labels_without_a_table(world, person: str) -> Iterator[None]:
    live = list(Proposition.objects.gold_of(world.story).values_list("pk", flat=True))
    Proposition.objects.filter(pk__in=live).update(removed_at=timezone.now())
    with labels(world, person):
        yield


@contextmanager
def a_draft(world, person: str) -> Iterator[None]:
    live = list(Proposition.objects.gold_of(world.story).values_list("pk", flat=True))
    Proposition.objects.filter(pk__in=live).update(removed_at=timezone.now())
    BeliefTable.objects.create(story=world.story, kind=TableKind.DRAFT, author=getattr(world, person), slot=1)
    yield
    Proposition.objects.filter(pk__in=live).update(removed_at=None)


@contextmanager
def drafts_to_reconcile(world, person: str) -> Iterator[None]:
    live = list(Proposition.objects.gold_of(world.story).values_list("pk", flat=True))
    Proposition.objects.filter(pk__in=live).update(removed_at=timezone.now())
    for slot, author in enumerate((world.alice, world.zoe), 1):
        fields = {"author": author, "slot": slot, "submitted_at": timezone.now()}
        BeliefTable.objects.create(story=world.story, kind=TableKind.DRAFT, **fields)
    yield
    Proposition.objects.filter(pk__in=live).update(removed_at=None)


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
def a_table_to_align(world, person: str) -> Iterator[None]:
    study_of(world, getattr(world, person))
    rows = Alignment.objects.all()
    hand_in(rows.exclude(task__number=NUMBER))
    yield
    hand_in(rows)


@contextmanager
def a_table_that_is_taken_away(world, person: str) -> Iterator[None]:
    study_of(world, getattr(world, person))
    hand_in(Alignment.objects.exclude(task__number=NUMBER))
    yield
    Alignment.objects.filter(task__number=NUMBER).update(state=AlignmentState.RELEASED)


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


KINDS = [
    ("bob", labels), ("esi", labels), ("alice", labels), ("bob", labels_of_a_withdrawn_story),
    ("bob", labels_without_a_table), ("esi", a_draft), ("alice", a_draft), ("esi", drafts_to_reconcile),
    ("esi", a_cell_to_decide), ("bob", a_table_to_align), ("esi", a_table_to_align), ("alice", a_table_to_align),
    ("bob", a_table_that_is_taken_away), ("esi", rows_to_decide),
]  # fmt: skip


@pytest.mark.parametrize(("person", "kind"), KINDS, ids=lambda one: getattr(one, "__name__", one))
def test_open_work_closes_every_way_to_the_item(person, kind, world, client):
    """The page of an item, its answer and the API show what models and judges made of the story."""
    client.force_login(getattr(world, person))
    closed, other = ways(world, NUMBER), ways(world, 1)
    with kind(world, person):
        assert {address: client.get(address).status_code for address in closed} == dict.fromkeys(closed, 403)
        assert listed(world, client) == {1, 2, 3, 4, 5, 6, 7, 9}
        assert {client.get(address).status_code for address in other} == {200}
    assert {address: client.get(address).status_code for address in closed} == dict.fromkeys(closed, 200)
    assert listed(world, client) == set(range(1, 10))


def ways(world, number: int) -> list[str]:
    slug, uid = world.project.slug, world.run.uid
    asked = RunItem.objects.filter(entrant__run=world.run, sample__number=number).exclude(call=None)
    items = [asked.filter(step=step).first().pk for step in ("extract", "label")]
    pages = [f"{world.base}/runs/{uid}/items/{pk}/" for pk in items]
    keys = f"a={world.entrant('majority')}&b={world.entrant('random')}"
    side_by_side = reverse("benchmark:compare_story", args=[slug, number]) + f"?{keys}"
    api = [reverse("api:run_item", args=[slug, uid, pk]) for pk in items]
    return [*pages, *(f"{page}answer/" for page in pages), *api, side_by_side]


def listed(world, client) -> set[int]:
    address = reverse("api:run_items", args=[world.project.slug, world.run.uid])
    return {item["sample"] for item in client.get(f"{address}?page_size=500&full=true").json()["results"]}


def test_work_that_any_expert_may_take_up_is_none_of_an_admins(world, client):
    client.force_login(world.alice)
    for kind in (a_cell_to_decide, rows_to_decide):
        with kind(world, "alice"):
            assert {client.get(address).status_code for address in ways(world, NUMBER)} == {200}


def test_each_kind_of_work_waits_for_those_before_it_alone(world):
    """Or an expert who decides, aligns and looks again at one story could do neither."""
    with a_cell_to_decide(world, "esi"), a_table_to_align(world, "esi"):
        access = project_access(world.esi, world.project.slug)
        assert open_work(access) == {world.story.pk}
        assert open_work(access, before=Work.ALIGNMENT) == {world.story.pk}, "alignment waits for the decision"
        assert unfinished(access) == closed_gold(access) == set(), "the decision waits for nothing"
        GoldLabel.objects.filter(method=Method.OPEN).delete()
        assert open_work(access, before=Work.ALIGNMENT) == set()
        assert closed_gold(access) == {world.story.pk}, "once it is decided, gold cannot be looked up while she aligns"


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


def test_the_question_takes_a_constant_number_of_statements(world, django_assert_num_queries):
    study_of(world, world.bob)
    access = project_access(world.bob, world.project.slug)
    assert access.role == Role.ANNOTATOR
    every = set(world.project.stories.values_list("pk", flat=True))
    with django_assert_num_queries(3):  # assignments, drafts, alignments
        assert open_work(access) == every
