"""Tables of runs are drawn for people to align: the page, the command, and who sees what of them."""

import csv
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Claim, Membership, Role, Story, User
from judge.models import Alignment, AlignmentStudy, SettledAlignment
from tests.benchmark.results_world import HOSTILE
from tests.judge.alignment_world import answer_all

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
MODELS = ("majority", "random", "omniscient", HOSTILE)


@pytest.fixture
def study(world) -> AlignmentStudy:
    command(world, "--tables=8", "--annotator=bob", "--annotator=esi")
    return AlignmentStudy.objects.get()


def command(world, *more: str, name: str = "First") -> dict:
    out = StringIO()
    given = ["--project", world.dataset.project.slug, "--name", name, "--run", world.run.uid, *more, "--json"]
    call_command("align_by_people", *given, stdout=out)
    return json.loads(out.getvalue())


def test_the_page_counts_then_makes_and_grows(world, client):
    client.force_login(world.alice)
    page = client.get(reverse("judge:align_runs", args=[world.dataset.project.slug]))
    assert world.run.title in page.content.decode()
    chosen = {
        "name": "First", "runs": [world.run.pk], "total": "8", "overlap": "2", "most_links": "1", "seed": "1",
        "audience": "expert", "annotators": [world.bob.pk, world.esi.pk],
    }  # fmt: skip
    page = client.post(page.request["PATH_INFO"], chosen)
    assert "What would be drawn" in page.content.decode() and not AlignmentStudy.objects.exists()
    assert sum(drawn for _, _, drawn in page.context["strata"]) == 8
    for field in ("runs", "annotators"):
        refused = client.post(page.request["PATH_INFO"], chosen | {"make": "1", field: ["9" * 30]})
        assert list(refused.context["form"].errors) == [field], "a key that no database holds"
    page = client.post(page.request["PATH_INFO"], chosen | {"make": "1", "total": "999"})
    assert "The number of tables is 999" in page.content.decode()
    page = client.post(page.request["PATH_INFO"], chosen | {"make": "1"}, follow=True)
    study = AlignmentStudy.objects.get()
    assert page.status_code == 200 and study.tasks.count() == 8
    address = reverse("judge:grow_alignment", args=[study.project.slug, study.uid])
    pages = [client.get(address + tail) for tail in ("", "?more=27", "?more=-1", "?more=x")]
    assert [page.context["form"]["more"].value() for page in pages] == [10, 27, 10, 10], "as the report asks for"
    page = client.post(address, {"more": "2"}, follow=True)
    assert "10 tables now" in page.content.decode() and study.tasks.count() == 10
    with_rows = study.tasks.exclude(predictions=[])
    assert Alignment.objects.filter(task__in=with_rows).count() == 2 * with_rows.count()


def test_the_command_says_what_is_wrong(world):
    assert sum(row["drawn"] for row in command(world, "--tables=8", "--preview")["strata"].values()) == 8
    for given, sentence in (
        ((), "--tables"),
        (("--tables=8",), "choose as many annotators"),
        (("--tables=8", "--annotator=zoe"), "'zoe' is not a member"),
        (("--more=1",), "no study 'First'"),
        (("--tables=8", "--run=nothing"), "no run 'nothing'"),
    ):
        with pytest.raises(CommandError, match=sentence):
            command(world, *given)
    twice = ["--annotator=bob", "--annotator=bob", f"--run={world.run.uid}"]
    assert command(world, "--tables=8", *twice, "--overlap=1")["tables"] == 8
    assert command(world, "--more=1")["tables"] == 9


def test_nobody_who_aligns_learns_whose_table_it_is(world, study, client):
    """No model, run or endpoint is named in any answer that a person who aligns gets, an expert included."""
    telling = {*MODELS, world.run.uid, world.run.title, *study.tasks.values_list("key", flat=True)}
    slug = study.project.slug
    for person in (world.bob, world.esi):
        client.force_login(person)
        own = Alignment.objects.filter(annotator=person)
        addresses = [reverse("judge:studies", args=[slug])]
        for name in ("align", "answers", "undo"):
            addresses += [reverse(f"judge:{name}", args=[slug, one.uid]) for one in own]
        if person == world.esi:
            addresses.append(reverse("judge:study", args=[slug, study.uid]))
        for address in addresses:
            page = client.get(address)
            assert page.status_code == 200, address
            assert [word for word in telling if word in page.content.decode()] == [], address


def test_who_still_labels_a_story_does_not_see_its_gold_rows(world, study, client):
    client.force_login(world.bob)
    alignment = Alignment.objects.filter(annotator=world.bob).select_related("task").first()
    story = Story.objects.get(pk=alignment.task.story_id)
    given = Assignment.objects.create(story=story, annotator=world.bob, slot=1, overlap=2)
    place = [study.project.slug, alignment.uid]
    for name in ("align", "answers", "undo"):
        assert client.get(reverse(f"judge:{name}", args=place)).status_code == 403
    page = client.get(reverse("judge:studies", args=place[:1])).content.decode()
    assert "waits: you still have work to do on this story" in page and alignment.uid not in page
    assert alignment.uid not in client.get(reverse("judge:next", args=place[:1]))["Location"]
    given.released_at = timezone.now()
    given.save()
    assert client.get(reverse("judge:align", args=place)).status_code == 200


def test_changes_are_posted_and_refused(world, study, client):
    client.force_login(world.bob)
    alignment = Alignment.objects.filter(annotator=world.bob).first()
    address = reverse("judge:save", args=[study.project.slug, alignment.uid])

    def post(row, links, annotator=world.bob.pk, key="k1"):
        change = {
            "row": row, "answer": {"links": links, "verdict": ""}, "idempotency_key": key, "action": key,
            "changed_at": timezone.now().isoformat(),
        }  # fmt: skip
        body = {"annotator": annotator, "changes": [change]}
        return client.post(address, json.dumps(body), content_type="application/json")

    assert post("p1", ["g1"]).json()["saved"][0]["row"] == "p1"
    assert post("p1", ["g1"]).status_code == 200
    assert (post("p2", ["g1"], key="k2").status_code, post("q1", [], key="k3").status_code) == (400, 400)
    assert post("p1", [], annotator=world.esi.pk, key="k4").status_code == 409
    undo = client.get(reverse("judge:undo", args=[study.project.slug, alignment.uid])).json()["undo"]
    assert undo == {"action": "k1", "rows": [{"row": "p1", "answer": {"links": [], "verdict": ""}}]}


def _other_expert(study) -> User:
    """One who aligned nothing of the study."""
    other = User.objects.create_user("dora", password="x")
    Membership.objects.create(project=study.project, user=other, role=Role.EXPERT)
    return other


def test_an_expert_decides_and_an_admin_downloads(world, study, client):
    Membership.objects.filter(user=world.bob).update(role=Role.EXPERT)
    task = study.tasks.filter(source="omniscient").first()
    for person, links in ((world.bob, "g1"), (world.esi, "none")):
        answer_all(Alignment.objects.select_related("task__study").get(task=task, annotator=person), p1=links)
    settled = SettledAlignment.objects.get(task=task)
    place = [study.project.slug, study.uid]
    client.force_login(_other_expert(study))
    page = client.get(reverse("judge:decide", args=[*place, task.uid]))
    votes = page.context["settings"]["votes"]
    said = {row: set(told.split("; ")) for row, told in votes.items()}
    assert said == {"p1": {"1 × G1", "1 × no match"}, "g1": {"1 × P1", "1 × no match"}}
    body = {"revision": settled.revision, "decisions": [{"row": "p1", "answer": {"links": ["g1"], "verdict": ""}}]}
    address = reverse("judge:save_decisions", args=[*place, task.uid])
    answer = client.post(address, json.dumps(body), content_type="application/json")
    assert answer.json() == {"next": reverse("judge:study", args=place), "open_rows": 0}
    assert client.post(address, json.dumps(body), content_type="application/json").status_code == 400
    assert client.get(reverse("judge:download_csv", args=place)).status_code == 403
    client.force_login(world.alice)
    lines = list(csv.DictReader(StringIO(client.get(reverse("judge:download_csv", args=place)).getvalue().decode())))
    [line] = [one for one in lines if (one["table"], one["row"], one["by"]) == (task.uid, "p1", "settled")]
    told = [line[key] for key in ("model", "answer", "match_count", "method")]
    assert told == ["omniscient", "g1", "1", "adjudicated"]
    models = {one["model"] for one in client.get(reverse("judge:download_json", args=place)).json()["tables"]}
    assert models == set(study.tasks.values_list("source", flat=True)) >= {HOSTILE}
    assert "whose tables they are" not in client.get(reverse("judge:study", args=place)).content.decode()


def test_who_left_the_project_gets_no_further_tables_and_theirs_are_taken_back(world, study, client):
    open_tables = Alignment.objects.waiting().filter(annotator=world.bob).count()
    Membership.objects.filter(project=study.project, user=world.bob).delete()
    client.force_login(world.alice)
    place = [study.project.slug, study.uid]
    client.post(reverse("judge:grow_alignment", args=place), {"more": "2"})
    assert study.tasks.count() == 10
    assert Alignment.objects.waiting().filter(annotator=world.bob).count() == open_tables > 0
    client.post(reverse("judge:study", args=place), {"release": world.bob.pk})
    assert not Alignment.objects.waiting().filter(annotator=world.bob).exists()


def test_two_experts_do_not_decide_on_the_same_story(world, study, client):
    """Whoever opens a table has its story for as long as they work; others are told who, and cannot decide there."""
    for own in Alignment.objects.select_related("task__study").exclude(task__predictions=[]):
        answer_all(own, **({"p1": "g1"} if own.annotator == world.bob else {}))
    task = SettledAlignment.objects.waiting().select_related("task").first().task
    place = [study.project.slug, study.uid, task.uid]
    client.force_login(world.alice)
    page = client.get(reverse("judge:decide", args=place))
    assert page.context["editable"]
    claim, address = {"stories": page.context["settings"]["stories"]}, page.context["settings"]["urls"]["claims"]
    assert client.post(address, claim, content_type="application/json").json() == {"others": {}}
    client.force_login(_other_expert(study))
    page = client.get(reverse("judge:decide", args=place))
    assert "decides on this story now" in page.content.decode() and not page.context["editable"]
    assert "decides there now" in client.get(reverse("judge:study", args=place[:2])).content.decode()
    body = {"revision": 1, "reason": "", "decisions": [{"row": "p1", "answer": {"links": ["g1"], "verdict": ""}}]}
    save = reverse("judge:save_decisions", args=place)
    refused = client.post(save, body, content_type="application/json")
    assert refused.status_code == 400 and world.alice.shown_name in refused.json()["error"]
    Claim.objects.update(until=timezone.now())
    assert client.get(reverse("judge:decide", args=place)).context["editable"]
    saved = client.post(save, body, content_type="application/json")
    assert saved.status_code == 200 and SettledAlignment.objects.get(task=task).open_rows == 0
    client.force_login(world.alice)
    others = [one.task_id for one, name in client.get(reverse("judge:study", args=place[:2])).context["open_tables"]]
    assert task.pk not in others
