"""Every address that takes a POST is pressed six times at once by some test, or says why that can make nothing
twice."""

from __future__ import annotations

import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone
from rest_framework.test import APIClient

import tests.benchmark.test_import_page
import tests.test_making  # noqa: F401 - their tests press, too
from annotation.domain.tables import TableRow
from annotation.models import (
    Assignment,
    BeliefTable,
    CellComment,
    GoldEvent,
    GoldLabel,
    Invitation,
    Membership,
    Pair,
    Project,
    Proposition,
    PropositionFlag,
    Role,
    Story,
    User,
    Vote,
    VoteEvent,
)
from annotation.services.archive_export import export_archive
from annotation.services.drafts import hand_in
from annotation.services.people import invite
from annotation.services.reconciliation import open_pairs
from benchmark.models import JudgeTest, Run, RunItem
from benchmark.suites.omnitom.data import FOLLOW_UP
from judge.models import AlignmentStudy
from tests.annotation.drafting import write_draft
from tests.benchmark.settled import baselines, make_endpoint, published, started, work_off
from tests.benchmark.test_follow_ups import forgetful
from tests.posted import patterns, takes_posts
from tests.pressing import PRESSED, PRESSES, all_at_once, press_six, presses
from workers.models import Attempt, Item
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)

BY_NATURE = {
    "login": "logs in",
    "site_admin_login": "sends on to the log-in",
    "site_admin_password_change": "sends on to the change of the password",
    "language": "sets the language of pages",
    "logout": "logs out",
    "account": "sets what the account says",
    "end_api_token": "takes away",
    "password_change": "sets a password",
    "answer_invitation": "an invitation is answered once",
    "password_reset": "sends a link that sets a password; it makes nothing here",
    "password_reset_confirm": "sets a password",
    "annotation:settings": "sets rules",
    "annotation:guideline": "sets a text",
    "annotation:change_role": "sets a role or removes a member",
    "annotation:revoke_invitation": "withdraws",
    "annotation:release": "releases one assignment, which then is none",
    "annotation:proposition_edit": "a row that was reworded or taken out is no longer there",
    "annotation:tables": "a slot of a story is one expert's; the form that gives them has a key",
    "annotation:release_table": "frees one slot, which then is free",
    "annotation:save_lanes": "each decision has a key of the page's and counts once",
    "annotation:link_lanes": "two rows that were linked are one, and one that was separated is none",
    "judge:align": "hands in or takes back one table",
    "judge:save": "each change has a key of the page's and counts once (tests/judge/test_alignments.py)",
    "judge:save_decisions": "decisions name the revision that they were made on (same tests)",
    "judge:study": "opens, closes, takes back; a slot of a table is one person's; giving them out has a key",
    "api:propositions": "the same table again changes nothing (tests/api/test_corpus.py)",
    "annotation:draft": "hands in or takes back one table",
    "annotation:save_draft": "each change has a key of the page's and counts once (tests/annotation/test_drafts.py)",
    "api:draft": "each change has an idempotency_key and counts once (tests/api/test_tables.py)",
    "api:draft_action": "hands in or takes back one table",
    "api:lanes": "the same service as the page's, with a key for each decision",
    "api:link_lanes": "a link has an idempotency_key and counts once (same tests)",
    "api:lanes_action": "sets what one story's lanes are: open, agreed to, finished",
    "judge:calibration": "sets which judge was chosen",
    "benchmark:run_sweep": "sets which model and level was chosen",
    "judge:watch": "stops, resumes or notes; asking now has a key (tests/judge/test_watches.py)",
    "judge:new_watch": "the form has a key; the same test sends it twice",
    "benchmark:import_copy": "the same samples are the same version",
    "annotation:save_votes": "the same service as the API's, with a key of the page's for each change",
    "annotation:file_case": "sets or takes away a mark",
    "annotation:alike": "each cell names the revision that it is decided on",
    "annotation:save_decisions": "what stands already is no revision (tests/annotation/test_adjudication_pages.py)",
    "annotation:undo_decisions": "each decision names its revision and is taken back once (same tests)",
    "annotation:keep_claims": "a story has one claim",
    "annotation:grid": "draws the arms of an assignment once",
    "benchmark:save_looks": "the same look again is no other one (tests/benchmark/test_doubtful_gold.py)",
    "benchmark:undo_looks": "a look is taken back once (same tests)",
    "benchmark:doubtful_cell": "the same look again is no other one (same tests)",
    "annotation:discard_suggestions": "discards",
    "annotation:prefill_action": "sets the state of a job, as the run's does",
    "api:prefill_action": "sets the state of a job, as the run's does",
    "api:run_action": "sets the state of a job",
    "api:flag": "a flag is decided once; who comes later gets a 409 (tests/api/test_remarks.py)",
    "api:members": "gives a role; the same again changes nothing (tests/api/test_team.py)",
    "api:remove_member": "takes away",
    "api:guidelines": "sets a text",
    "api:withdraw_invitation": "withdraws",
    "api:file_case": "sets or takes away a mark",
    "api:undo_decisions": "each decision names its revision and is taken back once (tests/api/test_gold.py)",
    "api:discard_suggestions": "discards",
    "api:majorities": "the page's service, which decides a cell once",
    "api:alike": "each cell names the version that it is decided on",
    "api:estimate": "only estimates",
    "api:import_preview": "only previews",
    "workers:job_action": "sets the state of a job, as the run's does",
    "workers:endpoint": "sets what an endpoint says, or deletes it",
    "benchmark:edit_row": "sets what a row says",
    "benchmark:remove_row": "takes away",
    "benchmark:audience": "sets who sees results",
    "benchmark:discard_prompt_set": "discards",
    "benchmark:rename_run": "sets a name",
    "benchmark:archive_run": "sets a mark",
    "benchmark:restore_run": "takes the mark away",
    "benchmark:delete_run": "deletes",
    "benchmark:read_again": "reads kept answers again, to the same end",
}
"""Addresses that no test presses, with the reason."""


def test_every_address_that_takes_a_post_is_pressed_or_says_why_not(cast):
    cast.alice.is_superuser = True
    cast.alice.save()
    client = Client()
    client.force_login(cast.alice)
    found = {name for name, one in patterns(get_resolver()) if takes_posts(name, one, client)}
    assert len(found) > 40
    assert not PRESSED & set(BY_NATURE), "a reason for an address that is pressed"
    assert found - PRESSED - set(BY_NATURE) == set(), "press them, or say why they can make nothing twice"
    assert (PRESSED | set(BY_NATURE)) - found == set(), "they take no POST"


# --- runs
# ------------------------------------------------------------------------------------------------------------------------  # noqa: E501


@pytest.fixture
def judged(cast, make_story, monkeypatch):
    """A run whose judge left rows out."""
    monkeypatch.setitem(FUNCTIONS, "forgetful", forgetful)
    judge = make_endpoint("judge", options={"function": "forgetful"})
    gold = published(cast, make_story, count=2)
    return work_off(started(cast, gold, [baselines()["omniscient"]], ("extract", "judge"), judge=judge))


@presses("judge:align_runs", "judge:grow_alignment")
def test_align_runs(cast, judged):
    chosen = {
        "name": "Study", "runs": [judged.pk], "total": "1", "overlap": "1", "most_links": "1", "seed": "1",
        "audience": "expert", "annotators": [cast.bob.pk], "make": "1", "once": "key",
    }  # fmt: skip
    answers = all_at_once(lambda at: _posted(cast.alice, "/p/minds/runs/align/", chosen))
    study = AlignmentStudy.objects.get()
    assert {one["Location"] for one in answers} == {f"/p/minds/alignment/{study.uid}/"} and study.tasks.count() == 1
    all_at_once(lambda at: _posted(cast.alice, f"/p/minds/runs/align/{study.uid}/", {"more": "1", "once": "key"}))
    assert study.tasks.count() == 2


def _posted(person: User, address: str, posted: dict):
    client = Client()
    client.force_login(person)
    return client.post(address, posted)


def address(run: Run, tail: str) -> str:
    return f"/p/minds/runs/{run.uid}/{tail}/"


def one_place(answers: list) -> None:
    assert {(one.status_code, one.get("Location", "")) for one in answers} == {(302, answers[0]["Location"])}


@presses("benchmark:judge_anew")
def test_judge_anew(cast, judged):
    said = {
        "judge": "lexical-judge",
        "judge_level": "4",
        "shots": "0",
        "judge_answer_format": "same",
        "passes": "1",
        "settle": "none",
    }
    one_place(press_six(cast.alice, address(judged, "judge"), said))
    assert Run.objects.filter(source=judged).count() == 1


@presses("benchmark:judge_test")
def test_a_self_test(cast, judged):
    one_place(press_six(cast.alice, address(judged, "judge/test"), {}))
    assert JudgeTest.objects.count() == 1


@presses("benchmark:follow_up")
def test_ask_for_the_missing_rows(cast, judged):
    one_place(press_six(cast.alice, address(judged, "follow-up"), {}))
    places = RunItem.objects.filter(entrant__run=judged, step=FOLLOW_UP)
    assert places.count() == Item.objects.filter(job=judged.job, step=FOLLOW_UP).count() == 2


@pytest.mark.parametrize("action", ["retry", "resume"])
@presses("benchmark:run_action")
def test_failed_and_held_items_are_asked_again_once(cast, make_story, action):
    dead = make_endpoint("dead", options={"script": [{"fail": "rejected"}]})
    run = work_off(started(cast, published(cast, make_story, count=2), [dead]))
    if action == "resume":
        Item.objects.filter(job=run.job).update(state="held", finished_at=None)
        type(run.job).objects.filter(pk=run.job.pk).update(state="paused", outcome="")
    dead.options = {"default": "yes"}
    dead.save()
    asked = Attempt.objects.count()
    one_place(press_six(cast.alice, f"/p/minds/runs/{run.uid}/", {}, to=address(run, f"do/{action}")))
    work_off(run)
    assert Attempt.objects.count() == asked + 2
    assert Item.objects.filter(job=run.job).count() == 2


@presses("workers:try_endpoint")
def test_try_one_call(cast, monkeypatch):
    asked = []
    monkeypatch.setattr("workers.tasks.ask_to_try", lambda held: asked.append(held.pk) or True)
    cast.alice.is_superuser = True
    cast.alice.save()
    held = make_endpoint("tiny")
    answers = press_six(cast.alice, "/models/endpoint/tiny/", {}, to="/models/endpoint/tiny/try/")
    assert asked == [held.pk]
    assert {one.status_code for one in answers} == {200} and all(one.context["waiting"] for one in answers)


@presses("api:try_endpoint")
def test_try_one_call_of_the_api(cast, monkeypatch):
    asked = []
    monkeypatch.setattr("workers.tasks.ask_to_try", lambda held: asked.append(held.pk) or True)
    cast.alice.is_superuser = True
    cast.alice.save()
    held = make_endpoint("tiny")
    answers = post_six(cast.alice, "/api/v1/endpoints/tiny/try/", {})
    assert asked == [held.pk]
    assert {(one.status_code, one.json()["try_state"]) for one in answers} == {(200, "waiting")}


# --- imports
# ---------------------------------------------------------------------------------------------------------------------


@presses("annotation:import")
def test_import_stories(cast):
    records = [
        {"story_id": at, "story_category": "False Belief Task", "story": f"Story {at}.", "beliefs": []}
        for at in (1, 2, 3)
    ]
    text = "".join(json.dumps(one) + "\n" for one in records).encode()

    def files() -> SimpleUploadedFile:
        return SimpleUploadedFile("stories.jsonl", text)

    said = {"format": "omnitom", "files": files, "language": "en", "keep": "1"}
    answers = press_six(cast.alice, "/p/minds/import/", said)
    assert {one.status_code for one in answers} == {200} and not any("refusal" in one.context for one in answers)
    assert (Story.objects.count(), BeliefTable.objects.count()) == (3, 3)


@presses("annotation:import")
def test_import_votes(cast, make_story):
    story = make_story()
    row = Proposition.objects.gold_of(story).first()
    text = f"story_id,actor,belief,dimension,annotator,label\n{story.number},{row.actor},{row.belief},order,bob,0\n".encode()  # noqa: E501

    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("votes.csv", text)

    answers = press_six(
        cast.alice, "/p/minds/import/", {"files": file, "format": "votes", "language": "en", "keep": "1"}
    )
    assert {one.status_code for one in answers} == {200}
    assert (Vote.objects.count(), VoteEvent.objects.count(), Assignment.objects.count()) == (1, 1, 1)


@presses("annotation:archive")
def test_import_an_archive(cast, make_story):
    cast.alice.is_superuser = True
    cast.alice.save()
    make_story()
    held = io.BytesIO()
    export_archive(project=cast.project, target=held, now=timezone.now())

    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("archive.zip", held.getvalue())

    press_six(cast.alice, "/p/minds/export/", {"slug": "other", "file": file}, to="/p/minds/export/archive/")
    assert (
        Project.objects.filter(slug="other").count() == 1 and Story.objects.filter(project__slug="other").count() == 1
    )


# --- people
# ----------------------------------------------------------------------------------------------------------------------


@presses("invitation")
def test_an_invitation(cast):
    made = {"by": cast.alice, "project": cast.project, "role": Role.EXPERT, "email": "", "now": timezone.now()}
    invite(**made, token="a" * 40)
    said = {
        "username": "newcomer",
        "email": "new@example.org",
        "password1": "quite-a-long-one-7",
        "password2": "quite-a-long-one-7",
    }
    press_six(None, f"/invitation/{'a' * 40}/", said)
    assert User.objects.filter(username="newcomer").count() == 1
    invite(**made, token="b" * 40)
    press_six(cast.charlie, f"/invitation/{'b' * 40}/", {})
    assert Membership.objects.filter(user=cast.charlie).count() == 1
    assert cast.project.audit_events.filter(action="membership.created", target="charlie").count() == 1


# --- gold
# ------------------------------------------------------------------------------------------------------------------------  # noqa: E501


@presses("annotation:reconcile")
def test_the_gold_table_of_two_drafts(cast, make_story):
    story = make_story()
    story.tables.all().delete()
    Membership.objects.filter(user=cast.ben).update(role="expert")
    for expert, belief in ((cast.esi, "It rains."), (cast.ben, "It snows.")):
        rows = [TableRow("world", belief)]
        write_draft(by=expert, story=story, rows=rows, now=timezone.now(), origin="pasted")
        hand_in(by=expert, story=story, now=timezone.now())
    open_pairs(story=story, by=cast.esi, now=timezone.now())
    Pair.objects.update(status="kept")
    press_six(cast.esi, f"/p/minds/stories/{story.uid}/reconcile/", {"finish": "1"})
    assert BeliefTable.objects.filter(story=story, kind="gold").count() == 1
    assert cast.project.audit_events.filter(action="table.reconciled").count() == 1


@pytest.fixture
def disputed(cast, make_story, assign, cast_vote) -> GoldLabel:
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    story = make_story()
    row = Proposition.objects.gold_of(story).first()
    for one, label in zip(assign(story), ("0", "0", "1"), strict=True):
        cast_vote(one, row, "order", label)
    return GoldLabel.objects.get(proposition=row, dimension="order")


def decided_once() -> None:
    assert GoldEvent.objects.filter(after_method="adjudicated").count() == 1


@presses("annotation:decide")
def test_a_decision(cast, disputed):
    said = {"label": "0", "revision": disputed.revision, "row": disputed.pk, "reason": "It says so."}
    place = [cast.project.slug, disputed.proposition.uid, "order"]
    press_six(cast.esi, "/p/minds/adjudication/", said, to=reverse("annotation:decide", args=place))
    decided_once()


@presses("annotation:majorities")
def test_majorities(cast, disputed):
    press_six(cast.esi, "/p/minds/adjudication/majorities/", {"seen_until": timezone.now().isoformat()})
    decided_once()


@presses("annotation:flags")
def test_a_decided_flag(cast, make_story):
    row = Proposition.objects.gold_of(make_story()).first()
    flag = PropositionFlag.objects.create(proposition=row, author=cast.bob, kind="reword", remark="unclear")
    press_six(cast.esi, "/p/minds/adjudication/flags/", {"flag": flag.uid, "outcome": "accepted", "text": ""})
    assert cast.project.audit_events.filter(action="flag.accepted").count() == 1


# --- the API
# ---------------------------------------------------------------------------------------------------------------------


def post_six(person, path: str, body: dict, **headers: str) -> list:
    def press(at: int):
        caller = APIClient()
        caller.force_authenticate(person)
        return caller.post(path, body, format="json", headers=headers)

    return all_at_once(press)


def made_of_six(person, path: str, body: dict) -> str:
    """The run that six requests with one key were all answered with."""
    answers = post_six(person, path, body, **{"Idempotency-Key": "k1"})
    told = {(one.status_code, one.json().get("run")) for one in answers}
    assert len(told) == 1, [one.json() for one in answers]
    return told.pop()[1]


@presses("api:runs", "api:extend_run", "api:run_again")
def test_runs_of_the_api(cast, make_story):
    published(cast, make_story, count=2)
    baselines()
    base = "/api/v1/projects/minds/runs/"
    made = made_of_six(cast.alice, base, {"dataset": 1, "endpoints": ["majority"], "steps": ["label"]})
    assert Run.objects.get().uid == made
    assert made_of_six(cast.alice, f"{base}{made}/extend/", {"endpoints": ["random"]}) == made
    assert Item.objects.count() == 4
    assert made_of_six(cast.alice, f"{base}{made}/again/", {}) != made and Run.objects.count() == 2


@presses("api:judge_anew")
def test_judging_by_the_api(cast, judged):
    path = f"/api/v1/projects/minds/runs/{judged.uid}/judge/"
    made = made_of_six(cast.alice, path, {"judge": "lexical-judge"})
    assert Run.objects.get(source=judged).uid == made


@presses("api:votes")
def test_votes_of_the_api(cast, make_story, assign):
    story = make_story()
    assign(story)
    row = Proposition.objects.gold_of(story).first()
    change = {"proposition": row.uid, "dimension": "order", "label": "0", "idempotency_key": "k1"}
    body = {"changes": [change | {"changed_at": timezone.now().isoformat()}]}
    answers = post_six(cast.bob, reverse("api:votes", args=["minds", story.uid]), body)
    assert [one.status_code for one in answers] == [200] * PRESSES
    assert (Vote.objects.count(), VoteEvent.objects.count()) == (1, 1)


@presses("api:comments", "api:own_flags")
def test_remarks_of_the_api(cast, make_story, assign):
    story = make_story()
    assign(story)
    row = Proposition.objects.gold_of(story).first()
    for name, said in (
        ("comments", {"dimension": "order", "text": "Whose?"}),
        ("own_flags", {"kind": "reword", "remark": "unclear"}),
    ):
        path = reverse(f"api:{name}", args=["minds", story.uid])
        answers = post_six(cast.bob, path, {"proposition": row.uid} | said, **{"Idempotency-Key": name})
        assert [one.status_code for one in answers] == [201] * PRESSES
        assert all(one.json() == answers[0].json() for one in answers)
    assert (CellComment.objects.count(), PropositionFlag.objects.count()) == (1, 1)


@presses("api:invitations", "api:threads")
def test_invitations_and_replies_of_the_api(cast, make_story):
    row = Proposition.objects.gold_of(make_story()).first()
    said = CellComment.objects.create(
        proposition=row, dimension="order", text="Whose?", author=cast.bob, thread_of=cast.bob
    )
    for person, path, body in (
        (cast.alice, reverse("api:invitations", args=["minds"]), {"role": "expert"}),
        (cast.esi, reverse("api:threads", args=["minds", row.uid, "order"]), {"thread": said.uid, "text": "Hers."}),
    ):
        answers = post_six(person, path, body, **{"Idempotency-Key": "k"})
        assert [one.status_code for one in answers] == [201] * PRESSES
        assert all(one.json() == answers[0].json() for one in answers)
    assert (Invitation.objects.count(), CellComment.objects.count()) == (1, 2)


@presses("api:cell")
def test_a_decision_of_the_api(cast, disputed):
    path = reverse("api:cell", args=["minds", disputed.proposition.uid, "order"])
    caller = APIClient()
    caller.force_authenticate(cast.esi)
    body = {"label": "0", "version": caller.get(path).json()["version"], "reason": "It says so."}
    answers = post_six(cast.esi, path, body)
    assert sorted({one.status_code for one in answers}) == [200, 409]
    decided_once()
