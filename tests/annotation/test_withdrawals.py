"""A story that is withdrawn is in no queue, split, published version, export or count, says so, and comes back
whole."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import AuditEvent, Proposition, Story, adjudication_queue, table_queue, workload
from annotation.services.agreement import agreement_report
from annotation.services.assignments import plan_assignments, plan_tables
from annotation.services.gold_export import gold_records, vote_lines
from annotation.services.prefill_rounds import scope_of
from annotation.services.progress import Progress
from annotation.services.stories import make_split, put_in_split, take_back, withdraw
from benchmark.services.gold_samples import present_digest

PAGE = "/p/minds/stories/"


def seen(cast) -> dict:
    """What counts, queues, exports and the present gold say of the project."""
    project, progress = cast.project, Progress(cast.project)
    people = [person.pk for person in cast.annotators]
    every = list(project.stories.select_related("project").order_by("id"))
    stories = [story.pk for story in every]
    asked = {"project": project, "stories": stories, "seed": 1}
    return {
        "totals": progress.totals(),
        "categories": progress.by_category(),
        "annotators": progress.of_annotators(),
        "work": len(workload.of_annotator(project, cast.bob)),
        "adjudication": adjudication_queue.awaiting(project, cast.esi),
        "left": adjudication_queue.left(project),
        "tables": table_queue.counts(table_queue.with_states(project, cast.esi)),
        "plan": plan_assignments(annotators=[*people, cast.esi.pk], without_table=True, **asked).short,
        "to write": plan_tables(experts=[cast.esi.pk, cast.alice.pk], **asked).assignments,
        "to pre-fill": [story.pk for story in scope_of(project=project, stories=every).stories],
        "records": [record.story_id for record in gold_records(project)],
        "votes": len(list(vote_lines(project))),
        "agreement": agreement_report(project=project).propositions,
        "gold": present_digest(project),
    }


@pytest.fixture
def world(cast, make_story, assign, cast_vote):
    """Story 1 is settled, 2 has a cell to decide and was labelled, 3 has no table, 4 waits for annotators."""
    for number in (1, 2):
        story = make_story(number, rows=(("world", "The key is in the drawer"),), category=f"C{number}")
        (row,) = Proposition.objects.gold_of(story)
        for at, one in enumerate(assign(story)):
            for dimension in DEFAULT_SCHEMA.dimensions:
                split_vote = number == 2 and dimension.key == "order"
                cast_vote(one, row, dimension.key, dimension.values[at if split_vote else 0])
    make_story(3, rows=(), category="C2")
    make_story(4, category="C2")
    return list(Story.objects.order_by("number"))


def test_what_is_withdrawn_counts_for_nothing_and_comes_back_whole(cast, world):
    before = seen(cast)
    assert withdraw(by=cast.alice, project=cast.project, now=timezone.now(), category="C2") == 3
    during = seen(cast)
    kept = world[0]
    assert (during["totals"].stories, during["totals"].open, during["work"], during["agreement"]) == (1, 0, 1, 1)
    assert during["records"] == [1] and during["adjudication"] == set() and sum(during["tables"].values()) == 1
    assert not (during["plan"] or during["to write"] or during["to pre-fill"]) and before["to pre-fill"]
    assert during["votes"] == 1 + 3 * len(DEFAULT_SCHEMA.dimensions)
    assert sum(row["todo"] for row in during["left"].values()) == 0
    assert "C2" not in {totals["name"] for totals in during["categories"]}
    drawn, small = make_split(by=cast.alice, project=cast.project, name="a", rest="b", per_category=1, seed=1)
    assert drawn == {"a": 1, "b": 0} and small == ["C2 has 0 stories; expected at least 1."]
    assert put_in_split(by=cast.alice, project=cast.project, stories=[one.pk for one in world], name="c") == 1
    put_in_split(by=cast.alice, project=cast.project, stories=[kept.pk], name="")
    assert take_back(by=cast.alice, project=cast.project, category="C2") == 3
    assert seen(cast) == before


def test_pages_withdraw_take_back_and_say_so(cast, client, world):
    client.force_login(cast.alice)
    ticked = {"stories": [world[1].uid], "withdraw": "set"}
    page = client.post(PAGE, ticked, follow=True)
    assert "1 story is withdrawn" in page.content.decode()
    assert [row["story"].number for row in client.get(PAGE, {"use": "withdrawn"}).context["rows"]] == [2]
    assert [row["story"].number for row in client.get(PAGE, {"use": "used"}).context["rows"]] == [1, 3, 4]
    assert "was withdrawn" in client.get(reverse("annotation:story", args=["minds", world[1].uid])).content.decode()
    overview = client.get("/p/minds/")
    assert overview.context["steps"][0]["step"].progress_text == "3 stories, 1 withdrawn"
    client.post(PAGE, {"whole": "C2", "withdraw": "set"})
    assert Story.objects.in_use().count() == 1
    client.post(PAGE, {"whole": "C2", "withdraw": "back"})
    assert Story.objects.in_use().count() == 4
    assert "Tick at least one story" in client.post(PAGE, {"withdraw": "set"}).content.decode()
    actions = AuditEvent.objects.filter(action__startswith="stories.").order_by("id").values_list("action", "details")
    assert [(action, details["numbers"]) for action, details in actions] == [
        ("stories.withdrawn", [2]), ("stories.withdrawn", [3, 4]), ("stories.taken_back", [2, 3, 4]),
    ]  # fmt: skip
    client.force_login(cast.bob)
    assert client.post(PAGE, ticked).status_code == 403
    withdraw(by=None, project=cast.project, now=timezone.now(), stories=[world[1].pk])
    grid = client.get(reverse("annotation:grid", args=["minds", world[1].uid]))
    assert "was withdrawn" in grid.content.decode()  # who has it open still saves, and is told


def test_commands_withdraw_take_back_and_put_into_a_split(cast, world, capsys):
    def run(command: str, *options: str) -> str:
        call_command(command, "--project=minds", *options)
        return capsys.readouterr().out

    assert json.loads(run("withdraw", "--stories", "1", "4", "--json"))["stories"] == 2
    assert Story.objects.in_use().count() == 2
    assert "1 story taken back" in run("withdraw", "--category=C1", "--back")
    assert run("put_in_split", "--stories", "1", "2", "--split=trial") == "2 stories put into trial.\n"
    assert list(Story.objects.filter(split__name="trial").values_list("number", flat=True)) == [1, 2]
    assert run("put_in_split", "--stories", "1", "--split=") == "1 story taken out of their split.\n"
    assert Story.objects.filter(split__name="trial").count() == 1
    for command, number, options, sentence in (
        ("withdraw", "9", [], "minds has no story 9"),
        ("put_in_split", "9", ["--split=two words"], "minds has no story 9"),
        ("put_in_split", "1", ["--split=two words"], "consists of letters"),
    ):
        with pytest.raises(CommandError, match=sentence):
            run(command, "--stories", number, *options)
