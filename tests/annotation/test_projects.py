"""The overview and where a log-in lands, new projects, and settings with the step that asks before gold changes."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import (
    AuditEvent,
    BeliefTable,
    GoldEvent,
    GoldLabel,
    Guideline,
    Membership,
    Method,
    Project,
    Proposition,
    Role,
)
from annotation.services import audit
from annotation.services import projects as service
from annotation.services.adjudication import adjudicate
from annotation.services.counts import recount
from annotation.services.drafts import take_slot
from annotation.services.progress import Progress
from benchmark.models import Dataset
from benchmark.services.datasets import publish_version


def url(name: str) -> str:
    return reverse(f"annotation:{name}", args=["minds"])


@pytest.fixture
def admin(cast, client):
    client.force_login(cast.alice)
    return client


FORM = {
    "name": "Minds", "description": "", "language": "en", "overlap": "3", "speed_floor_ms": "700", "blind_share": "20",
    "arms_unit": "cell",
    "reveal_share": "0", "arms_seed": "1",
}  # fmt: skip


def test_a_short_name_that_cannot_be_is_an_error_of_the_form(admin, cast, monkeypatch):
    cast.alice.is_superuser = True
    cast.alice.save()
    create = service.create_project

    def slower(**asked):
        Project.objects.create(slug=asked["slug"], name="The other request")
        return create(**asked)

    for slug, sentence in (
        ("two words", "A short name of letters, digits, hyphens and underscores is expected, such as minds-2."),
        ("minds", "A project of this short name already exists; another short name is expected."),
        ("tales", "already exists"),  # taken between the check and the write
    ):
        monkeypatch.setattr(service, "create_project", slower)
        page = admin.post(reverse("annotation:new_project"), {"name": "Tales", "slug": slug, "schema": "omnitom:1"})
        assert page.status_code == 200 and sentence in page.content.decode()
    assert Project.objects.get(slug="tales").name == "The other request"


def test_settings_are_saved_or_refused_with_a_sentence(admin, cast):
    for field, value, sentence in [
        ("language", "e", "short tag"),
        ("language", "en-", "short tag"),
        ("language", "<b>", "short tag"),
        ("speed_floor_ms", "60001", "a minute"),
        ("name", "Minds\u202eafter", "direction of text"),
    ]:
        page = admin.post(url("settings"), {**FORM, field: value})
        assert page.status_code == 200 and sentence in page.content.decode()
    assert not AuditEvent.objects.filter(action="project.changed").exists()
    stale = Project.objects.get()
    for language in ("zh", "pt-BR", "zh-Hans"):
        with CaptureQueriesContext(connection) as queries:
            assert admin.post(url("settings"), {**FORM, "language": language}).status_code == 302
        assert Project.objects.get().language == language
        assert not any("annotation_vote" in query["sql"] for query in queries), "no rule changed"
    service.change_settings(by=cast.alice, project=stale, changes={"language": "zh-Hans"}, now=timezone.now())
    for _ in range(3):
        service.write_guideline(by=cast.alice, project=cast.project, dimension="order", text="Count minds.")
    recorded = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert recorded == ["project.changed"] * 3 + ["guideline.changed"], "what changes nothing is not recorded"


@pytest.fixture
def voted(make_story, assign, cast_vote):
    """Of two propositions the first has three equal votes on `order`, the second two against one; on `truth_status` the
    first has two votes, which agree."""
    story = make_story()
    assignments, (first, second) = assign(story), Proposition.objects.gold_of(story)
    for at, one in enumerate(assignments):
        cast_vote(one, first, "order", "0")
        cast_vote(one, second, "order", "2" if at == 2 else "1")
        if at < 2:
            cast_vote(one, first, "truth_status", "True")
    return story


def test_what_is_foreseen_is_what_happens(voted, cast):
    opened, nothing = {"settled": 0, "opened": 1, "waiting": 0}, {"settled": 0, "opened": 0, "waiting": 0}
    for changes, expected in [
        ({"overlap": 3}, nothing),
        ({"overlap": 2}, nothing | {"settled": 1}),  # the two equal votes on truth_status are enough
        ({"overlap": 4}, nothing | {"waiting": 2}),  # both cells of `order` want a fourth vote
        ({"unanimity_dimensions": ["order"]}, opened),  # two against one
        ({"overlap": 2, "unanimity_dimensions": ["order", "truth_status"]}, opened | {"settled": 1}),
    ]:
        foreseen = service.foresee(project=cast.project, changes=changes)
        assert foreseen == {"cells": sum(expected.values())} | expected
        cells = set(GoldLabel.objects.values_list("proposition", "dimension", "method"))
        service.change_settings(by=cast.alice, project=cast.project, changes=changes, now=timezone.now())
        after = set(GoldLabel.objects.values_list("proposition", "dimension", "method"))
        assert len({cell[:2] for cell in cells ^ after}) == foreseen["cells"], changes
        back = {"overlap": 3, "unanimity_dimensions": []}
        service.change_settings(by=cast.alice, project=cast.project, changes=back, now=timezone.now())
    GoldLabel.objects.filter(method="majority").update(method="adjudicated", decided_by=cast.esi)
    foreseen = service.foresee(project=cast.project, changes={"unanimity_dimensions": ["order"]})
    assert foreseen["cells"] == 0, "what an expert decided stays"


def test_a_change_of_rules_is_saved_with_the_second_press(voted, admin, cast):
    form = {**FORM, "unanimity_dimensions": ["order"]}
    page = admin.post(url("settings"), form)
    text = " ".join(page.content.decode().split())
    assert "Save and change 1 cell <" in text and "1 would be open" in text
    assert Project.objects.get().unanimity_dimensions == []
    seal = {"foreseen": page.context["seal"]}
    other = admin.post(url("settings"), {**FORM, "overlap": "2", **seal})  # the seal is of another change
    assert other.status_code == 200 and Project.objects.get().overlap == 3
    assert admin.post(url("settings"), {**form, **seal}).status_code == 302
    assert Project.objects.get().unanimity_dimensions == ["order"]
    assert GoldLabel.objects.open().count() == 1


def said(capsys, *options: str) -> dict:
    call_command("project_settings", "--project=minds", "--json", *options)
    return json.loads(capsys.readouterr().out)


def test_the_command_foresees_changes_and_refuses_settings(voted, cast, capsys):
    wanted = ("--set=unanimity_dimensions=order", "--set=decides_and_goes_on=true", "--set=blind_share=40")
    as_wanted = {"unanimity_dimensions": ["order"], "decides_and_goes_on": True, "blind_share": 40}
    before = said(capsys)
    assert before["card"] == {}
    for setting, sentence in [
        ("overlap=12", "overlap: "),
        ("decides_and_goes_on=yes", "decides_and_goes_on is 'yes'; expected true or false."),
        ("colour=red", "--set 'colour=red': expected NAME=VALUE, with one of name, "),
        ("unanimity_dimensions=order,mood", "unanimity_dimensions: "),
    ]:
        with pytest.raises(CommandError) as refusal:
            said(capsys, f"--set={setting}", "--set=blind_share=40")
        assert str(refusal.value).startswith(sentence)
    would = said(capsys, *wanted, "--preview")
    assert would["settings"] == before["settings"] | as_wanted and would["changed"] == []
    assert said(capsys) == before, "neither a preview nor what is refused changes anything"
    done = said(capsys, *wanted)
    assert (set(done["changed"]), done["cells"]) == (set(as_wanted), would["cells"])
    assert would["cells"] == {"settled": 0, "to_experts": 1, "waiting": 0}, "two against one are no longer enough"
    assert not GoldLabel.objects.filter(method=Method.MAJORITY).exists()
    assert said(capsys)["settings"] == before["settings"] | as_wanted
    row = AuditEvent.objects.get(action="project.changed")
    assert (row.actor, row.details["after"]) == (None, as_wanted)
    assert said(capsys, *wanted)["changed"] == []
    said(capsys, "--card=licence=CC BY 4.0")
    card = said(capsys, "--card=citation=Ines, 2026", "--set=blind_share=30")["card"]
    assert (card["licence"], card["citation"], card["biases"]) == ("CC BY 4.0", "Ines, 2026", "")
    assert AuditEvent.objects.filter(action="project.changed").count() == 3
    call_command("project_settings", "--project=minds")
    assert "card licence=CC BY 4.0" in capsys.readouterr().out.splitlines()
    for wrong, sentence in (("colour=red", "with one of licence, "), (f"biases={'a' * 4001}", "biases: ")):
        with pytest.raises(CommandError, match=sentence):
            said(capsys, f"--card={wrong}")


def test_the_command_writes_a_guideline_in_one_language_and_the_other_stays(cast, capsys, tmp_path):
    def run(*options: str) -> str:
        call_command("guideline", "--project=minds", *options)
        return capsys.readouterr().out

    english, chinese, long = (tmp_path / name for name in ("order.md", "order.zh.md", "long.md"))
    english.write_text("Count **minds**.", encoding="utf-8")
    chinese.write_text("数一数。", encoding="utf-8")
    long.write_text("a" * 20_001)
    for options, sentence in (
        (["--dimension=depth"], "minds has no dimension 'depth'; it has: order, "),
        ([f"--text={long}"], "name it by --dimension"),
        (["--dimension=order", f"--text={long}"], "at most 20000 characters"),
        (["--dimension=order", f"--text={tmp_path / 'none.md'}"], "none.md"),
    ):
        with pytest.raises(CommandError, match=sentence):
            run(*options)
    assert not Guideline.objects.exists()
    run("--dimension=order", f"--text-zh={chinese}")
    shown = run("--dimension=order", f"--text={english}")
    assert shown == "order, English (changed): Count **minds**.\norder, Chinese: 数一数。\n"
    all_of_them = json.loads(run("--json"))
    assert all_of_them["changed"] == [] and len(all_of_them["guidelines"]) == 7
    assert all_of_them["guidelines"]["order"] == {"text": "Count **minds**.", "text_zh": "数一数。"}
    assert json.loads(run("--dimension=order", f"--text={english}", "--json"))["changed"] == []
    assert AuditEvent.objects.filter(action="guideline.changed", actor=None).count() == 2


def test_imported_labels_are_shown_beside_settled_ones(admin, cast, make_story, assign, cast_vote):
    story = make_story()
    first, second = Proposition.objects.gold_of(story)
    labels = {key: "x" for key in DEFAULT_SCHEMA.keys}
    Proposition.objects.filter(pk=first.pk).update(imported_labels=labels)
    Proposition.objects.filter(pk=second.pk).update(imported_labels={**labels, "order": ""})
    recount([story.pk])
    bob, bea, ben = assign(story)
    size = len(DEFAULT_SCHEMA.keys)
    assert Progress(cast.project).totals().unvoted == 2 * size - 1
    cast_vote(bob, first, "order", "0")  # one vote: no longer untouched, but the export still has the imported label
    totals = Progress(cast.project).totals()
    assert (totals.unvoted, totals.imported) == (2 * size - 2, 2 * size - 1)
    page = admin.get(url("project")).content.decode()
    assert f"{2 * size - 2} imported</span>" in page
    assert f'aria-label="All stories: 0 of {2 * size}"' in page
    for one in (bea, ben):
        cast_vote(one, first, "order", "0")
    assert Progress(cast.project).totals().imported == 2 * size - 2
    assert f"{2 * size - 2} labels are the imported ones" in admin.get(url("export")).content.decode()


def test_changes_of_gold_are_in_the_audit_log(
    voted, make_story, assign, admin, cast, cast_vote, django_assert_max_num_queries
):
    audit.record(by=cast.alice, project=cast.project, action="a.b", seed=None, members=[], text="", count=0, off=False)
    page = admin.get(url("audit")).content.decode()
    assert "seed:" not in page and "members:" not in page and "count: " in page and "off: " in page
    cell = GoldLabel.objects.get(method="majority")
    decide = {"by": cast.esi, "proposition": cell.proposition, "dimension": "order", "revision": cell.revision}
    adjudicate(label="2", reason="=The letter says so", now=timezone.now(), **decide)
    text = " ".join(admin.get(url("gold_audit")).content.decode().split())
    assert f"Story 1, {DEFAULT_SCHEMA['order'].name.lower()}" in text
    assert "by the rule" in text and "=The letter says so" in text
    by_people = admin.get(url("gold_audit"), {"by": "decision", "who": "esi", "story": "1", "dimension": "order"})
    (row,) = by_people.context["events"]
    shown = (row["event"].before, row["before"], row["event"].after, row["after"])
    assert shown == ("1", "majority", "2", "adjudicated")
    for other in ({"who": "bob"}, {"story": "9"}, {"dimension": "context"}, {"reason": "nowhere"}):
        assert not admin.get(url("gold_audit"), {"by": "decision", **other}).context["events"]
    sheet = b"".join(admin.get(url("gold_audit"), {"csv": "1", "by": "decision"}).streaming_content).decode()
    assert sheet.count("\n") == 2 and "esi" in sheet and "'=The letter says so" in sheet
    open_work = make_story(2)
    for one in assign(open_work, [cast.bob, cast.bea, cast.alice]):
        cast_vote(one, Proposition.objects.gold_of(open_work).first(), "order", "3")
    with django_assert_max_num_queries(12):
        page = admin.get(url("gold_audit"))  # Alice still labels story 2
    assert {row["event"].proposition.table.story.number for row in page.context["events"]} == {1}
    assert "1 story is not shown" in " ".join(page.content.decode().split())


def test_the_log_of_gold_goes_page_by_page_without_a_limit(admin, voted, cast, monkeypatch):
    monkeypatch.setattr(audit, "PAGE", 7)
    (row,) = Proposition.objects.gold_of(voted)[:1]
    GoldEvent.objects.bulk_create(
        GoldEvent(
            proposition=row, dimension="order", after=str(at), at=timezone.now(), rule_version="1",
            after_method="adjudicated" if at < 30 and at % 3 == 0 else "majority",
        )
        for at in range(60)
    )  # fmt: skip
    every = list(GoldEvent.objects.order_by("-id"))
    decided = [one for one in every if one.after_method == "adjudicated"]
    for filters, expected in (({}, every), ({"by": "decision"}, decided)):
        shown, query, counts = [], {}, []
        while True:
            with CaptureQueriesContext(connection) as queries:
                page = admin.get(url("gold_audit"), filters | query)
            shown, counts = shown + [one["event"] for one in page.context["events"]], [*counts, len(queries)]
            if not page.context["older"]:
                break
            query = {"before": page.context["older"]}
        assert shown == expected  # every page but the last is full, however far apart the changes are
        assert len(counts) == -(-len(expected) // 7) > 1 and len(set(counts[1:])) == 1
        told = b"".join(admin.get(url("gold_audit"), filters | {"csv": "1"}).streaming_content).decode()
        found = audit.gold_changes(cast.project, **filters).explain()
        assert connection.vendor != "sqlite" or ("gold_event_decided" in found) == ("by" in filters)
        assert [line.split(",")[9] for line in told.splitlines()[1:]] == [one.after for one in expected]


def told(page) -> dict[str, tuple[str, bool]]:
    """Return key → (what the step says, whether it has a button)."""
    return {row["step"].key: (row["step"].progress_text, row["may"]) for row in page.context["steps"]}


def test_an_empty_project_begins_with_its_first_step_and_shows_no_bar(admin, client, cast):
    page = admin.get(url("project"))
    states = told(page)
    assert [*states] == ["import", "split", "people", "tables", "assign", "label", "adjudicate", "publish", "run"]
    assert {states[key][0] for key in states if key != "people"} == {"not begun"}
    assert states["people"] == ("3 annotators, 1 expert, 1 admin", True)
    assert page.context["next"].key == "import" and b"<progress" not in page.content
    # how many experts a table takes
    cast.project.memberships.filter(user=cast.esi).update(role="annotator")
    page = admin.get(url("project"))
    assert told(page)["people"] == ("4 annotators, 1 admin; a belief table takes 2 experts", True)
    assert url("settings") in page.content.decode()  # where one expert a table, or fewer annotators, can be chosen
    assert page.context["steps"][2]["step"].state == "begun"
    Project.objects.filter(pk=cast.project.pk).update(table_experts=1)
    assert told(admin.get(url("project")))["people"] == ("4 annotators, 1 admin", True)
    cast.project.memberships.filter(user=cast.esi).update(role="expert")
    client.force_login(cast.esi)
    offered = {key for key, (_, may) in told(client.get(url("project"))).items() if may}
    assert offered == {"tables", "adjudicate"}


def test_the_checklist_goes_on_with_the_work(admin, cast, make_story, assign, cast_vote):
    def next_step(as_whom=cast.alice) -> str:
        admin.force_login(as_whom)
        return admin.get(url("project")).context["next"].key

    bare = make_story(1, rows=())
    assert next_step() == "tables"  # nobody has to draw a split
    started = BeliefTable.objects.create(story=bare, kind="draft", slot=1, author=cast.esi)
    assert told(admin.get(url("project")))["tables"] == ("0 of 1 story has one, experts write 1", True)
    started.delete()
    rows = (("world", "The key is in the drawer"),)
    new_rows = make_story(2, rows=rows)
    BeliefTable.objects.create(story=new_rows, kind="draft", slot=1, author=cast.esi)  # long reconciled
    assert told(admin.get(url("project")))["tables"] == ("1 of 2 stories has one", True)
    bare.delete()
    assert next_step() == "assign"
    assigned = assign(new_rows)
    assert next_step() == "label"
    (row,) = Proposition.objects.gold_of(new_rows)
    for one in assigned:
        for dimension in DEFAULT_SCHEMA.dimensions:
            at = assigned.index(one) if dimension.key == "order" else 0
            cast_vote(one, row, dimension.key, dimension.values[at])
    page = admin.get(url("project"))
    states, cells = told(page), len(DEFAULT_SCHEMA.dimensions)
    assert ">Stories</span>" in page.content.decode() and f">{cells - 1}</span>" in page.content.decode()
    assert states["assign"][0] == "1 of 1 table with all annotators"
    assert states["label"][0] == f"{3 * cells} of {3 * cells} assigned cells labelled"
    assert states["adjudicate"][0] == f"1 cell to decide; {cells - 1} of {cells} cells settled"
    assert next_step() == next_step(cast.esi) == "adjudicate"
    cell = GoldLabel.objects.get(method="open")
    decide = {"by": cast.esi, "proposition": row, "dimension": "order", "revision": cell.revision}
    adjudicate(label=DEFAULT_SCHEMA["order"].values[0], reason="So it says.", now=timezone.now(), **decide)
    assert next_step() == "publish"
    cast_vote(assigned[0], row, "order", DEFAULT_SCHEMA["order"].values[2])  # the decision is to be looked at again
    assert told(admin.get(url("project")))["adjudicate"][0] == f"1 cell to decide; {cells} of {cells} cells settled"
    cast_vote(assigned[0], row, "order", DEFAULT_SCHEMA["order"].values[0])
    assert next_step() == "publish"
    publish_version(by=cast.alice, project=cast.project)
    assert next_step() == "run"


def test_a_project_of_question_sets_alone_has_the_steps_of_those(admin, cast):
    Dataset.objects.create(
        project=cast.project, version=1, digest="0" * 64, suite="tombench", schema_version="1", rule_version="1",
        stories_count=4, propositions_count=0,
    )  # fmt: skip
    page = admin.get(url("project"))
    assert [*told(page)] == ["import", "people", "sets", "run"] and told(page)["sets"] == ("1 copy", True)
    assert page.context["next"].key == "run" and b"<progress" not in page.content


def test_the_overview_takes_as_many_statements_for_many_stories(admin, cast, make_story, assign):
    counts = []
    for numbers in (range(1, 3), range(3, 12)):
        for number in numbers:
            assign(make_story(number, category=f"Category {number}"))
        admin.get(url("project"))  # counts what is new
        with CaptureQueriesContext(connection) as queries:
            admin.get(url("project"))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 20


@pytest.fixture
def lands(cast):
    """`lands("bob")` logs in and returns the address that follows."""

    def log_in(name: str, **form) -> str:
        answer = Client().post(reverse("login"), {"username": name, "password": "correct-horse-battery", **form})
        assert answer.status_code == 302
        return answer.url

    return log_in


def test_a_log_in_lands_at_the_work_of_who_logs_in(cast, lands, make_story, assign, client):
    assert [lands(name) for name in ("bob", "alice", "charlie")] == ["/p/minds/work/", "/p/minds/", "/"]
    assert lands("bob", next="/p/minds/stories/") == "/p/minds/stories/"
    for not_asked_for in ("/", "https://elsewhere.example/"):
        assert lands("bob", next=not_asked_for) == "/p/minds/work/"
    tales = Project.objects.create(slug="tales", name="Minds")
    for person, role in ((cast.bob, Role.ANNOTATOR), (cast.esi, Role.EXPERT), (cast.alice, Role.ANNOTATOR)):
        tales.memberships.create(user=person, role=role)
    assert lands("bob") == "/"  # two projects, and nothing to do: the list, where two of one name are told apart
    client.force_login(cast.bob)
    page = client.get("/").content.decode()
    assert ">minds</p>" in page and ">tales</p>" in page
    assign(make_story(1), [cast.bob, cast.alice])
    make_story(2, rows=())
    assert lands("bob") == "/p/minds/work/"
    assert lands("esi") == "/p/minds/tables/"
    assert lands("alice") == "/"  # an admin's work is more than what is counted
    Membership.objects.filter(user=cast.esi, project=tales).update(role=Role.ADMIN)
    assert lands("esi") == "/"


def test_experts_land_where_something_waits_for_them(cast, make_story, assign, cast_vote, lands):
    assert lands("esi") == "/p/minds/"  # nothing anywhere
    assign(make_story(1), [cast.esi])
    assert lands("esi") == "/p/minds/work/"
    bare = make_story(2, rows=())
    assert lands("esi") == "/p/minds/tables/"
    voted = make_story(3)
    row = Proposition.objects.gold_of(voted).first()
    for assignment, label in zip(assign(voted), ("0", "1", "2"), strict=True):
        cast_vote(assignment, row, "order", label)
    assert lands("esi") == "/p/minds/adjudication/"  # before a table that nobody began
    take_slot(by=cast.esi, story=bare, expert=cast.esi)
    assert lands("esi") == "/p/minds/tables/"
