"""Buttons that make something: posted six times at once they make one. Every address that takes a POST is pressed by
some test, or says why that can make nothing twice."""

import io
import json
import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone
from rest_framework.test import APIClient

import tests.benchmark.test_import_page  # noqa: F401 - its tests press, too
from annotation.domain.tables import TableRow
from annotation.models import (
    ApiToken,
    Assignment,
    BeliefTable,
    CellComment,
    GoldEvent,
    GoldLabel,
    Invitation,
    Membership,
    Pair,
    Prefill,
    Project,
    Proposition,
    PropositionFlag,
    Role,
    Split,
    Story,
    User,
    Vote,
    VoteEvent,
)  # fmt: skip
from annotation.services.archive_export import export_archive
from annotation.services.drafts import hand_in
from annotation.services.people import invite
from annotation.services.reconciliation import open_pairs
from benchmark.models import Dataset, EnteredRow, JudgeTest, Run, RunItem, Snapshot, StoredPromptSet
from benchmark.suites.omnitom.data import FOLLOW_UP
from core import idempotency as once
from judge.models import AlignmentStudy
from tests.annotation.drafting import write_draft
from tests.benchmark.settled import baselines, make_endpoint, published, settle, started, work_off
from tests.benchmark.test_follow_ups import forgetful
from tests.posted import patterns, takes_posts
from tests.pressing import KEY, PRESSED, PRESSES, all_at_once, press_six, presses
from workers.models import Attempt, Endpoint, Item, Making
from workers.providers.scripted.backend import FUNCTIONS

pytestmark = pytest.mark.django_db(transaction=True)

BY_NATURE = {
    "logs in or out, or sends on to where that is done": (
        "login logout site_admin_login site_admin_password_change password_reset"
    ),
    "sets what it says, a mark or a state": (
        "language account password_change password_reset_confirm annotation:settings annotation:guideline"
        " annotation:change_role annotation:file_case annotation:prefill_action judge:study judge:calibration"
        " judge:watch benchmark:run_sweep benchmark:edit_row benchmark:audience benchmark:rename_run"
        " benchmark:archive_run benchmark:restore_run workers:job_action workers:endpoint api:prefill_action"
        " api:run_action api:members api:guidelines api:file_case api:pairs_action"
    ),
    "takes away, or releases what then is none": (
        "end_api_token annotation:revoke_invitation annotation:release annotation:release_table"
        " annotation:discard_suggestions benchmark:remove_row benchmark:discard_prompt_set benchmark:delete_run"
        " api:remove_member api:withdraw_invitation api:discard_suggestions"
    ),
    "hands one table in or takes it back": "judge:align annotation:draft api:draft_action",
    "each change has a key of the page's or the request's own and counts once (tests of these rows)": (
        "annotation:save_votes annotation:save_pairs annotation:link_pairs annotation:save_draft judge:save api:draft"
        " api:pairs api:link_pairs"
    ),
    "a decision names the revision that it was made on; the same again is no other one": (
        "judge:save_decisions annotation:alike annotation:save_decisions annotation:undo_decisions"
        " benchmark:save_looks benchmark:undo_looks benchmark:doubtful_cell api:undo_decisions api:majorities"
        " api:alike api:flag"
    ),
    "what it would make is there once: an answer, a slot, a claim, a reworded row, a version, arms, a new watch": (
        "answer_invitation annotation:proposition_edit annotation:tables annotation:keep_claims annotation:grid"
        " benchmark:import_copy judge:new_watch api:propositions"
    ),
    "only estimates, previews or reads again to the same end": "api:estimate api:import_preview benchmark:read_again",
}
"""Addresses that no test presses, by the reason."""


def test_every_address_that_takes_a_post_is_pressed_or_says_why_not(cast):
    known = {name for names in BY_NATURE.values() for name in names.split()}
    client = Client()
    client.force_login(site_admin(cast))
    found = {name for name, one in patterns(get_resolver()) if takes_posts(name, one, client)}
    assert len(found) > 40
    assert not PRESSED & known, "a reason for an address that is pressed"
    assert found - PRESSED - known == set(), "press them, or say why they can make nothing twice"
    assert (PRESSED | known) - found == set(), "they take no POST"


def site_admin(cast) -> User:
    cast.alice.is_superuser = True
    cast.alice.save()
    return cast.alice


def one_place(answers: list) -> None:
    assert {one.status_code for one in answers} <= {200, 302}
    assert len({one.get("Location", "") for one in answers}) == 1, "every press leads to what was made"


def upload(name: str, content: bytes):
    """A file of its own for each press."""
    return lambda: SimpleUploadedFile(name, content)


def caller(person, **headers: str) -> APIClient:
    made = APIClient(headers=headers)
    made.force_authenticate(person)
    return made


def post_six(person, path: str, body: dict, **headers: str) -> list:
    return all_at_once(lambda at: caller(person).post(path, body, format="json", headers=headers))


def posted(person, path: str, body: dict, *, status: int) -> dict:
    """What six requests with one key were all answered with."""
    answers = post_six(person, path, body, **{"Idempotency-Key": path})
    assert [one.status_code for one in answers] == [status] * PRESSES
    assert all(one.json() == answers[0].json() for one in answers)
    return answers[0].json()


# --- runs
# ----------------------------------------------------------------------------------------------------------------------
BASE = "/p/minds/runs/"
LAUNCHED = {
    "dataset": "1", "endpoints": ["majority"], "steps": ["label"], "judge_level": "4", "shots": "3", "level": "3",
    "answer_format": "text", "examples": "1", "examples_from": "sample", "prompt_set": "omnitom-1",
    "max_tokens": "6000", "seed": "1", "repetitions": "1", "judge_answer_format": "same", "passes": "1",
    "settle": "none",
}  # fmt: skip


@presses(
    "benchmark:save_run_snapshot", "benchmark:save_comparison_snapshot", "benchmark:save_leaderboard_snapshot",
    "benchmark:save_across_snapshot", "benchmark:run_again", "benchmark:launch", "benchmark:extend_run",
    "benchmark:add_controls",
)  # fmt: skip
def test_runs_and_what_is_shared_of_them(cast, make_story, client):
    models, dataset = baselines(), published(cast, make_story, count=2)
    run = work_off(started(cast, dataset, [models["majority"], models["random"]], ["label"]))
    work_off(started(cast, dataset, [make_endpoint("tiny", options={"default": "no table"})], ["label"]))
    page, results = f"{BASE}{run.uid}/", "/p/minds/results/"
    a, b = (f"{run.uid}.{one.pk}" for one in run.entrants.order_by("pk"))
    for at, said, to in (
        (f"{page}report/", {"title": "As it is"}, f"{page}report/snapshot/"),
        (f"{results}compare/?a={a}&b={b}", {"a": a, "b": b}, f"{results}compare/snapshot/"),
        (results, {"query": ""}, f"{results}snapshot/"),
        (f"{results}across/", {}, f"{results}across/snapshot/"),
    ):
        before = Snapshot.objects.count()
        one_place(press_six(cast.alice, at, said, to=to))
        assert Snapshot.objects.count() == before + 1, to
    one_place(press_six(cast.alice, f"{page}again/", {}))
    one_place(press_six(cast.alice, f"{BASE}new/", LAUNCHED))
    assert Run.objects.count() == 4
    for name in ("third", "fourth"):
        make_endpoint(name, provider="baseline", model="majority")
    before = Item.objects.count()
    one_place(press_six(cast.alice, f"{page}extend/", {"endpoints": ["third"]}))
    assert Item.objects.count() == before + 2
    client.force_login(cast.alice)  # a late press leads to the extended run
    sent = {"endpoints": ["fourth"], "once": KEY.search(client.get(f"{page}extend/").content.decode())[1]}
    for _ in range(2):
        assert client.post(f"{page}extend/", sent)["Location"] == page
    assert Item.objects.count() == before + 4
    work_off(run)
    one_place(press_six(cast.alice, f"{page}controls/", {"controls": ["distracted"]}))
    assert [control.control for control in run.controls.all()] == ["distracted"]


@presses(
    "judge:align_runs", "judge:grow_alignment", "benchmark:judge_anew", "benchmark:judge_test", "benchmark:follow_up",
    "api:judge_anew",
)  # fmt: skip
def test_a_run_whose_judge_left_rows_out(cast, make_story, monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "forgetful", forgetful)
    judge, gold = make_endpoint("judge", options={"function": "forgetful"}), published(cast, make_story, count=2)
    run = work_off(started(cast, gold, [baselines()["omniscient"]], ("extract", "judge"), judge=judge))
    one_place(press_six(cast.alice, f"{BASE}{run.uid}/follow-up/", {}))
    places = RunItem.objects.filter(entrant__run=run, step=FOLLOW_UP)
    assert places.count() == Item.objects.filter(job=run.job, step=FOLLOW_UP).count() == 2
    one_place(press_six(cast.alice, f"{BASE}{run.uid}/judge/test/", {}))
    assert JudgeTest.objects.count() == 1
    work_off(run)
    said = {"judge": "lexical-judge", "judge_level": "4", "shots": "0", "judge_answer_format": "same", "passes": "1"}
    one_place(press_six(cast.alice, f"{BASE}{run.uid}/judge/", said | {"settle": "none"}))
    assert Run.objects.filter(source=run).count() == 1
    path = f"/api/v1/projects/minds/runs/{run.uid}/judge/"
    made = posted(cast.alice, path, {"judge": "lexical-judge"}, status=201)["run"]
    assert Run.objects.filter(source=run).count() == 2 and Run.objects.filter(source=run, uid=made).exists()
    chosen = {
        "name": "Study", "runs": [run.pk], "total": "1", "overlap": "1", "most_links": "1", "seed": "1",
        "audience": "expert", "annotators": [cast.bob.pk],
    }  # fmt: skip
    one_place(press_six(cast.alice, f"{BASE}align/", chosen | {"make": "1"}, opened_with=chosen))
    study = AlignmentStudy.objects.get()
    assert study.tasks.count() == 1
    press_six(cast.alice, f"/p/minds/alignment/{study.uid}/", {"more": "1"}, to=f"{BASE}align/{study.uid}/")
    assert study.tasks.count() == 2


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
    one_place(press_six(cast.alice, f"{BASE}{run.uid}/", {}, to=f"{BASE}{run.uid}/do/{action}/"))
    work_off(run)
    assert Attempt.objects.count() == asked + 2
    assert Item.objects.filter(job=run.job).count() == 2


@presses("api:runs", "api:extend_run", "api:run_again")
def test_runs_of_the_api(cast, make_story):
    published(cast, make_story, count=2)
    baselines()
    base = "/api/v1/projects/minds/runs/"
    body = {"dataset": 1, "endpoints": ["majority"], "steps": ["label"]}
    made = posted(cast.alice, base, body, status=201)["run"]
    assert Run.objects.get().uid == made
    assert posted(cast.alice, f"{base}{made}/extend/", {"endpoints": ["random"]}, status=200)["run"] == made
    assert Item.objects.count() == 4
    assert posted(cast.alice, f"{base}{made}/again/", {}, status=201)["run"] != made and Run.objects.count() == 2


@presses("workers:try_endpoint", "api:try_endpoint", "workers:new_endpoint", "api:endpoints")
def test_models(cast, monkeypatch, client):
    asked, alice = [], site_admin(cast)
    monkeypatch.setattr("workers.tasks.ask_to_try", lambda held: asked.append(held.name) or True)
    make_endpoint("tiny")
    answers = press_six(alice, "/models/endpoint/tiny/", {}, to="/models/endpoint/tiny/try/")
    assert {one.status_code for one in answers} == {200} and all(one.context["waiting"] for one in answers)
    make_endpoint("other")
    answers = post_six(alice, "/api/v1/endpoints/other/try/", {})
    assert {(one.status_code, one.json()["try_state"]) for one in answers} == {(200, "waiting")}
    assert asked == ["tiny", "other"]
    client.force_login(alice)
    form = client.get("/models/endpoint/tiny/").content.decode().partition('class="endpoint-form"')[2]
    assert not KEY.search(form.partition("</form>")[0]), "to save again is no second press: others may have changed it"
    page = "/models/new/?provider=baseline"
    form = client.get(page).context["form"]
    said = {name: value for name in form.fields if (value := form[name].value()) not in (None, False)}
    said |= {"name": "large", "model": "majority", "provider": "baseline"}
    answers = press_six(alice, page, said)
    assert {(one.status_code, one.get("Location")) for one in answers} == {(302, "/models/endpoint/large/")}
    assert Endpoint.objects.filter(name="large").count() == 1
    path, body = "/api/v1/endpoints/", {"name": "small", "provider": "baseline", "model": "majority"}
    posted(alice, path, body, status=201)
    assert Endpoint.objects.filter(name="small").count() == 1
    refused = caller(alice, **{"idempotency-key": path}).post(path, body | {"name": "else"}, format="json")
    assert refused.status_code == 422 and "said something else" in refused.content.decode()
    assert not Endpoint.objects.filter(name="else").exists()


# --- what a project has
# ----------------------------------------------------------------------------------------------------------------------


@presses("annotation:new_project", "annotation:import", "annotation:archive")
def test_a_project_and_its_files(cast, make_story):
    alice, page = site_admin(cast), "/p/minds/import/"
    answers = press_six(alice, "/projects/new/", {"name": "Other", "slug": "other", "schema": "omnitom:1"})
    assert {(one.status_code, one["Location"]) for one in answers} == {(302, "/p/other/")}
    assert Project.objects.filter(slug="other").count() == 1
    record = {"story_category": "False Belief Task", "beliefs": []}
    records = [record | {"story_id": at, "story": f"Story {at}."} for at in (11, 12, 13)]
    lines = "".join(json.dumps(one) + "\n" for one in records).encode()
    said = {"format": "omnitom", "files": upload("stories.jsonl", lines), "language": "en", "keep": "1"}
    answers = press_six(alice, page, said)
    assert {one.status_code for one in answers} == {200} and not any("refusal" in one.context for one in answers)
    assert (Story.objects.count(), BeliefTable.objects.count()) == (3, 3)
    row = Proposition.objects.gold_of(make_story()).first()
    lines = f"story_id,actor,belief,dimension,annotator,label\n1,{row.actor},{row.belief},order,bob,0\n".encode()
    answers = press_six(alice, page, said | {"format": "votes", "files": upload("votes.csv", lines)})
    assert {one.status_code for one in answers} == {200}
    assert (Vote.objects.count(), VoteEvent.objects.count(), Assignment.objects.count()) == (1, 1, 1)
    held = io.BytesIO()
    export_archive(project=cast.project, target=held, now=timezone.now())
    said = {"slug": "third", "file": upload("archive.zip", held.getvalue())}
    press_six(alice, "/p/minds/export/", said, to="/p/minds/export/archive/")
    assert Project.objects.filter(slug="third").count() == 1
    assert Story.objects.filter(project__slug="third").count() == 4


@presses(
    "annotation:table_edit", "annotation:stories", "annotation:assignments", "annotation:prefills",
    "benchmark:publish_version", "benchmark:prompt_sets", "benchmark:enter_row",
)  # fmt: skip
def test_what_a_project_prepares(cast, make_story):
    story, _, alice = make_story(1), make_story(2), cast.alice
    answers = press_six(cast.esi, f"/p/minds/stories/{story.uid}/table/", {"rows": "world | The box is red."})
    one_place(answers)
    assert {one.status_code for one in answers} == {302}
    assert Proposition.objects.filter(belief="The box is red.").count() == 1
    said = {"name": "calibration", "rest": "main", "per_category": "1", "seed": "1"}
    taken = {f"take_{category.pk}": "on" for category in cast.project.categories.all()}
    one_place(press_six(alice, "/p/minds/stories/", said | taken))
    assert Split.objects.count() == 2 and cast.project.audit_events.filter(action__contains="split").count() == 1
    said = {"scope": "all", "annotators": [one.pk for one in cast.annotators], "seed": "1", "apply": "1"}
    one_place(press_six(alice, "/p/minds/assignments/", said))
    assert Assignment.objects.count() == 6
    assert cast.project.audit_events.filter(action__startswith="assignment").count() <= 6
    make_endpoint("tiny")
    said = {"endpoint": "tiny", "level": "3"}
    one_place(press_six(alice, "/p/minds/prefill/", said | {"start": "1"}, opened_with=said))
    assert Prefill.objects.count() == 1
    settle(make_story(3))
    one_place(press_six(alice, "/p/minds/datasets/", {"note": "first"}, to="/p/minds/datasets/publish/"))
    assert Dataset.objects.count() == 1
    prompt = upload("label-level3.txt", b"Label each row.\n{belief_table}\n{story}")
    one_place(press_six(alice, "/p/minds/prompts/", {"name": "ours", "files": prompt}))
    assert StoredPromptSet.objects.count() == 1
    row = {"name": "Human", "kind": "human", "source": "Xu et al. 2024", "figure.f1.Att": "86.2"}
    one_place(press_six(alice, page := "/p/minds/results/entered/new/opentom/", row, to=page))
    assert EnteredRow.objects.count() == 1


@presses("annotation:people", "invitation", "make_api_token", "api:invitations")
def test_people(cast, client):
    link = re.compile(r"<pre id=\"(?:link-1|secret)\">(.*?)</pre>")
    page, said = "/p/minds/people/", {"role": "expert", "people": "new@example.org"}
    answers = press_six(cast.alice, page, said)
    made = Invitation.objects.get()
    links = {link.search(one.content.decode())[1] for one in answers}
    assert len(links) == 1, "the answer to the last press shows the link, too"
    assert Client().get(links.pop()).status_code == 200
    assert Making.objects.get().outcome == str(made.pk), "no secret is kept"
    client.force_login(cast.alice)
    first, again, other = (
        link.search(client.post(page, said | {"people": f"{name}@example.org", "once": "k"}).content.decode())[1]
        for name in "aab"
    )
    assert first == again != other and Invitation.objects.count() == 3, "a form that was changed is another one"
    posted(cast.alice, reverse("api:invitations", args=["minds"]), {"role": "expert"}, status=201)
    assert Invitation.objects.count() == 4
    made = {"by": cast.alice, "project": cast.project, "role": Role.EXPERT, "email": "", "now": timezone.now()}
    invite(**made, token="a" * 40)
    password = {"password1": "quite-a-long-one-7", "password2": "quite-a-long-one-7"}
    press_six(None, f"/invitation/{'a' * 40}/", {"username": "newcomer", "email": "new@example.org"} | password)
    assert User.objects.filter(username="newcomer").count() == 1
    invite(**made, token="b" * 40)
    press_six(cast.charlie, f"/invitation/{'b' * 40}/", {})
    assert Membership.objects.filter(user=cast.charlie).count() == 1
    assert cast.project.audit_events.filter(action="membership.created", target="charlie").count() == 1
    answers = press_six(cast.bob, "/account/", {"name": "script", "scope": "read", "days": "30"}, to="/account/tokens/")
    assert ApiToken.objects.count() == 1
    [secret] = {link.search(one.content.decode())[1] for one in answers}
    assert APIClient(headers={"authorization": f"Token {secret}"}).get("/api/v1/projects/").status_code == 200


# --- labelling and gold
# ----------------------------------------------------------------------------------------------------------------------


@presses(
    "annotation:comments", "annotation:cell_history", "annotation:flag", "api:votes", "api:comments", "api:own_flags",
    "api:threads",
)  # fmt: skip
def test_votes_and_remarks(cast, make_story, assign):
    assign(story := make_story())
    row, other = Proposition.objects.gold_of(story)
    one_place(
        press_six(cast.bob, reverse("annotation:comments", args=["minds", story.uid, row.uid, "order"]), {"text": "?"})
    )
    asked = CellComment.objects.get()
    page = reverse("annotation:cell_history", args=["minds", row.uid, "order"])
    one_place(press_six(cast.esi, page, {"text": "Because.", "thread": asked.uid}))
    assert CellComment.objects.count() == 2
    said = {"kind": "reword", "remark": "unclear"}
    answers = press_six(cast.bob, reverse("annotation:flag", args=["minds", story.uid, row.uid]), said)
    assert PropositionFlag.objects.count() == 1
    assert not any("already" in one.content.decode() for one in answers), "no press is told that it failed"
    change = {"proposition": row.uid, "dimension": "order", "label": "0", "idempotency_key": "k1"}
    body = {"changes": [change | {"changed_at": timezone.now().isoformat()}]}
    answers = post_six(cast.bob, reverse("api:votes", args=["minds", story.uid]), body)
    assert [one.status_code for one in answers] == [200] * PRESSES
    assert (Vote.objects.count(), VoteEvent.objects.count()) == (1, 1)
    for person, path, body in (
        (cast.bob, reverse("api:comments", args=["minds", story.uid]), {"dimension": "order", "text": "Whose?"}),
        (cast.bob, reverse("api:own_flags", args=["minds", story.uid]), said),
        (cast.esi, reverse("api:threads", args=["minds", row.uid, "order"]), {"thread": asked.uid, "text": "Hers."}),
    ):
        posted(person, path, body if "thread" in body else body | {"proposition": other.uid}, status=201)
    assert (CellComment.objects.count(), PropositionFlag.objects.count()) == (4, 2)


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


@presses("annotation:decide", "annotation:majorities", "api:cell", "annotation:flags")
def test_decisions(cast, make_story, assign, cast_vote):
    cast.project.unanimity_dimensions = ["order"]
    cast.project.save()
    disputed = []
    for number in (1, 2, 3):
        row = Proposition.objects.gold_of(story := make_story(number)).first()
        for one, label in zip(assign(story), ("0", "0", "1"), strict=True):
            cast_vote(one, row, "order", label)
        disputed.append(GoldLabel.objects.get(proposition=row, dimension="order"))
    decided = GoldEvent.objects.filter(after_method="adjudicated")
    first, second, _ = disputed
    said = {"label": "0", "revision": first.revision, "row": first.pk, "reason": "It says so."}
    place = ["minds", first.proposition.uid, "order"]
    press_six(cast.esi, "/p/minds/adjudication/", said, to=reverse("annotation:decide", args=place))
    assert decided.count() == 1
    path = reverse("api:cell", args=["minds", second.proposition.uid, "order"])
    body = {"label": "0", "version": caller(cast.esi).get(path).json()["version"], "reason": "It says so."}
    assert sorted({one.status_code for one in post_six(cast.esi, path, body)}) == [200, 409]
    assert decided.count() == 2
    press_six(cast.esi, "/p/minds/adjudication/majorities/", {"seen_until": timezone.now().isoformat()})
    assert decided.count() == 3
    said = {"proposition": first.proposition, "author": cast.bob, "kind": "reword", "remark": "unclear"}
    flag = PropositionFlag.objects.create(**said)
    press_six(cast.esi, "/p/minds/adjudication/flags/", {"flag": flag.uid, "outcome": "accepted", "text": ""})
    assert cast.project.audit_events.filter(action="flag.accepted").count() == 1


# --- keys
# ----------------------------------------------------------------------------------------------------------------------


def test_what_was_refused_leaves_the_key_free_and_an_unknown_key_loses_no_text(cast, make_story, client):
    client.force_login(cast.esi)
    page = f"/p/minds/stories/{make_story().uid}/table/"
    refused = client.post(page, {"rows": "no bar here", "once": "k"}).content.decode()
    assert "no bar here" in refused and not Making.objects.exists()
    for at, key in enumerate(("k", "", "never-shown-by-this-site", "x" * 65)):
        assert client.post(page, {"rows": f"world | It rains {at}.", "once": key}).status_code == 302
        assert Proposition.objects.filter(belief=f"It rains {at}.").count() == 1


def test_a_key_is_of_one_making_and_kept_for_a_day(db):
    def fail() -> str:
        raise ValueError("no")

    now = timezone.now()
    with pytest.raises(ValueError, match="no"):
        once.made_once(key="k", make=fail, now=now - timedelta(hours=25))
    assert not Making.objects.exists(), "what failed leaves nothing"
    for make in (lambda: "made", fail):
        assert once.made_once(key="k", make=make, now=now - timedelta(hours=25)) == "made"
    once.made_once(key="new", make=lambda: "2", now=now)
    assert list(Making.objects.values_list("key", flat=True)) == ["new"]
