"""Buttons that make something: posted six times at once they make one, and every form of a page says why that is so."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as site
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import (
    ApiToken,
    Assignment,
    CellComment,
    Invitation,
    Prefill,
    Project,
    Proposition,
    PropositionFlag,
    Split,
)
from benchmark.models import Dataset, EnteredRow, Run, Snapshot, StoredPromptSet
from core import idempotency as once
from tests.benchmark.settled import baselines, make_endpoint, published, settle, started, work_off
from tests.pressing import KEY, PRESSES, all_at_once, press_six, presses
from workers.models import Endpoint, Item, Making

TEMPLATES = Path(site.BASE_DIR, "templates")
LAUNCHED = {
    "dataset": "1", "endpoints": ["majority"], "steps": ["label"], "judge_level": "4", "shots": "3", "level": "3",
    "answer_format": "text",
    "examples": "1", "examples_from": "sample", "prompt_set": "omnitom-1", "max_tokens": "6000", "seed": "1",
    "repetitions": "1", "judge_answer_format": "same", "passes": "1", "settle": "none",
}  # fmt: skip
ENDPOINT = {"name": "small", "provider": "baseline", "model": "majority"}


@pytest.fixture
def finished_run(cast, make_story):
    """A run of two models over two stories, labelled."""
    models = baselines()
    dataset = published(cast, make_story, count=2)
    return work_off(started(cast, dataset, [models["majority"], models["random"]], ["label"]))


def _one(answers: list) -> None:
    assert {one.status_code for one in answers} <= {200, 302}
    assert len({one.get("Location", "") for one in answers}) == 1, "every press leads to what was made"


pytestmark = pytest.mark.django_db(transaction=True)


# --- runs and reports
# ------------------------------------------------------------------------------------------------------------


@presses("benchmark:run_again")
def test_run_again(cast, finished_run):
    _one(press_six(cast.alice, f"/p/minds/runs/{finished_run.uid}/again/", {}))
    assert Run.objects.count() == 2


@presses("benchmark:launch")
def test_launch(cast, finished_run):
    _one(press_six(cast.alice, "/p/minds/runs/new/", LAUNCHED))
    assert Run.objects.count() == 2


@presses("benchmark:extend_run")
def test_extend(client, cast, finished_run):
    before = Item.objects.count()
    page = f"/p/minds/runs/{finished_run.uid}/extend/"
    for name in ("third", "fourth"):
        make_endpoint(name, provider="baseline", model="majority")
    _one(press_six(cast.alice, page, {"endpoints": ["third"]}))
    assert Item.objects.count() == before + 2
    client.force_login(cast.alice)  # a late press leads to the extended run
    sent = {"endpoints": ["fourth"], "once": KEY.search(client.get(page).content.decode())[1]}
    for _ in range(2):
        assert client.post(page, sent)["Location"] == f"/p/minds/runs/{finished_run.uid}/"
    assert Item.objects.count() == before + 4


@presses("benchmark:add_controls")
def test_add_controls(cast, finished_run):
    _one(press_six(cast.alice, f"/p/minds/runs/{finished_run.uid}/controls/", {"controls": ["distracted"]}))
    assert [control.control for control in finished_run.controls.all()] == ["distracted"]


@presses(
    "benchmark:save_run_snapshot", "benchmark:save_comparison_snapshot", "benchmark:save_leaderboard_snapshot",
    "benchmark:save_across_snapshot",
)  # fmt: skip
def test_share_results(cast, finished_run):
    work_off(started(cast, finished_run.dataset, [make_endpoint("tiny", options={"default": "no table"})], ["label"]))
    report, results = f"/p/minds/runs/{finished_run.uid}/report/", "/p/minds/results/"
    a, b = (f"{finished_run.uid}.{one.pk}" for one in finished_run.entrants.order_by("pk"))
    for page, said, to in (
        (report, {"title": "As it is"}, f"{report}snapshot/"),
        (f"{results}compare/?a={a}&b={b}", {"a": a, "b": b}, f"{results}compare/snapshot/"),
        (results, {"query": ""}, f"{results}snapshot/"),
        (f"{results}across/", {}, f"{results}across/snapshot/"),
    ):
        before = Snapshot.objects.count()
        _one(press_six(cast.alice, page, said, to=to))
        assert Snapshot.objects.count() == before + 1, to


@presses("benchmark:enter_row")
def test_enter_a_row_of_a_paper(cast):
    row = {"name": "Human", "kind": "human", "source": "Xu et al. 2024", "figure.f1.Att": "86.2"}
    page = "/p/minds/results/entered/new/opentom/"
    _one(press_six(cast.alice, page, row, to=page))
    assert EnteredRow.objects.count() == 1


@presses("benchmark:publish_version")
def test_publish(cast, make_story):
    settle(make_story())
    _one(press_six(cast.alice, "/p/minds/datasets/", {"note": "first"}, to="/p/minds/datasets/publish/"))
    assert Dataset.objects.count() == 1


@presses("benchmark:prompt_sets")
def test_load_a_prompt_set(cast):
    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("label-level3.txt", b"Label each row.\n{belief_table}\n{story}")

    _one(press_six(cast.alice, "/p/minds/prompts/", {"name": "ours", "files": file}))
    assert StoredPromptSet.objects.count() == 1


# --- people
# ----------------------------------------------------------------------------------------------------------------------


@presses("annotation:people")
def test_invite(cast):
    answers = press_six(cast.alice, "/p/minds/people/", {"role": "expert", "people": "new@example.org"})
    assert Invitation.objects.count() == 1
    links = {re.search(r"<pre id=\"link-1\">(.*?)</pre>", one.content.decode())[1] for one in answers}
    assert len(links) == 1, "the answer to the last press shows the link, too"
    assert Client().get(links.pop()).status_code == 200
    assert Making.objects.get().outcome == str(Invitation.objects.get().pk), "no secret is kept"


def test_a_form_that_was_changed_is_another_one(cast, client):
    client.force_login(cast.alice)
    said = {"role": "expert", "people": "a@example.org", "once": "k"}
    first, again = (client.post("/p/minds/people/", said).content.decode() for _ in range(2))
    other = client.post("/p/minds/people/", said | {"people": "b@example.org"}).content.decode()
    link = re.compile(r"<pre id=\"link-1\">(.*?)</pre>")
    assert link.search(first)[1] == link.search(again)[1] != link.search(other)[1]
    assert Invitation.objects.count() == 2


@presses("make_api_token")
def test_an_api_token(cast):
    answers = press_six(cast.bob, "/account/", {"name": "script", "scope": "read", "days": "30"}, to="/account/tokens/")
    assert ApiToken.objects.count() == 1
    secrets = {re.search(r'<pre id="secret">(.*?)</pre>', one.content.decode())[1] for one in answers}
    assert len(secrets) == 1
    caller = APIClient(headers={"authorization": f"Token {secrets.pop()}"})
    assert caller.get("/api/v1/projects/").status_code == 200


# --- labelling
# -------------------------------------------------------------------------------------------------------------------


@presses("annotation:comments")
def test_comment(cast, make_story, assign):
    story = make_story()
    assign(story)
    row = Proposition.objects.gold_of(story).first()
    page = reverse("annotation:comments", args=["minds", story.uid, row.uid, "order"])
    _one(press_six(cast.bob, page, {"text": "Unsure."}))
    assert CellComment.objects.count() == 1


@presses("annotation:cell_history")
def test_reply(cast, make_story, assign):
    story = make_story()
    assign(story)
    row = Proposition.objects.gold_of(story).first()
    asked = CellComment.objects.create(
        proposition=row, dimension="order", text="Why?", author=cast.bob, thread_of=cast.bob
    )
    page = reverse("annotation:cell_history", args=["minds", row.uid, "order"])
    _one(press_six(cast.esi, page, {"text": "Because.", "thread": asked.uid}))
    assert CellComment.objects.count() == 2


@presses("annotation:flag")
def test_flag(cast, make_story, assign):
    story = make_story()
    assign(story)
    page = reverse("annotation:flag", args=["minds", story.uid, Proposition.objects.gold_of(story).first().uid])
    answers = press_six(cast.bob, page, {"kind": "reword", "remark": "unclear"})
    assert PropositionFlag.objects.count() == 1
    assert not any("already" in one.content.decode() for one in answers), "no press is told that it failed"


# --- the project
# -----------------------------------------------------------------------------------------------------------------


@presses("annotation:prefills")
def test_pre_filling(cast, make_story):
    make_story()
    make_endpoint("tiny")
    said = {"endpoint": "tiny", "level": "3"}
    _one(press_six(cast.alice, "/p/minds/prefill/", said | {"start": "1"}, opened_with=said))
    assert Prefill.objects.count() == 1


@presses("annotation:assignments")
def test_assign(cast, make_story):
    make_story()
    said = {"scope": "all", "annotators": [cast.bob.pk, cast.bea.pk, cast.ben.pk], "seed": "1", "apply": "1"}
    _one(press_six(cast.alice, "/p/minds/assignments/", said))
    assert Assignment.objects.count() == 3
    assert cast.project.audit_events.filter(action__startswith="assignment").count() <= 3


@presses("annotation:stories")
def test_split(cast, make_story):
    make_story(1)
    make_story(2)
    _one(
        press_six(
            cast.alice,
            "/p/minds/stories/",
            {"name": "calibration", "rest": "main", "per_category": "1", "seed": "1"}
            | {f"take_{category.pk}": "on" for category in cast.project.categories.all()},
        )
    )
    assert Split.objects.count() == 2 and cast.project.audit_events.filter(action__contains="split").count() == 1


@presses("annotation:table_edit")
def test_add_rows(cast, make_story):
    story = make_story()
    page = f"/p/minds/stories/{story.uid}/table/"
    answers = press_six(cast.esi, page, {"rows": "world | The box is red."})
    _one(answers)
    assert {one.status_code for one in answers} == {302}
    assert Proposition.objects.filter(belief="The box is red.").count() == 1


@presses("annotation:new_project")
def test_a_new_project(cast):
    cast.alice.is_superuser = True
    cast.alice.save()
    answers = press_six(cast.alice, "/projects/new/", {"name": "Other", "slug": "other", "schema": "omnitom:1"})
    assert Project.objects.filter(slug="other").count() == 1
    assert {(one.status_code, one["Location"]) for one in answers} == {(302, "/p/other/")}


@presses("workers:new_endpoint")
def test_a_new_model(cast):
    cast.alice.is_superuser = True
    cast.alice.save()
    shown = Client()
    shown.force_login(cast.alice)
    form = shown.get("/models/new/?provider=baseline").context["form"]
    values = {name: form[name].value() for name in form.fields}
    said = {name: value for name, value in values.items() if value not in (None, False)}
    said |= {"name": "small", "model": "majority", "provider": "baseline"}
    answers = press_six(cast.alice, "/models/new/?provider=baseline", said)
    assert {(one.status_code, one.get("Location")) for one in answers} == {(302, "/models/endpoint/small/")}
    assert Endpoint.objects.filter(name="small").count() == 1


def test_saving_a_page_again_is_never_taken_for_a_second_press(cast, client):
    """What sets a value is done each time: between two presses somebody else may have changed it."""
    cast.alice.is_superuser = True
    cast.alice.save()
    client.force_login(cast.alice)
    make_endpoint("tiny")
    form = client.get("/models/endpoint/tiny/").content.decode().partition('class="endpoint-form"')[2]
    assert not KEY.search(form.partition("</form>")[0])


# --- the API
# ---------------------------------------------------------------------------------------------------------------------


@presses("api:endpoints")
def test_an_api_post_with_a_key(cast):
    cast.alice.is_superuser = True
    cast.alice.save()

    def press(at: int):
        caller = APIClient(headers={"idempotency-key": "6b0c9d0e"})
        caller.force_authenticate(cast.alice)
        return caller.post("/api/v1/endpoints/", ENDPOINT, format="json")

    answers = all_at_once(press)
    assert Endpoint.objects.filter(name="small").count() == 1
    assert [one.status_code for one in answers] == [201] * PRESSES
    assert len({one.content for one in answers}) == 1
    caller = APIClient(headers={"idempotency-key": "6b0c9d0e"})
    caller.force_authenticate(cast.alice)
    refused = caller.post("/api/v1/endpoints/", ENDPOINT | {"name": "other"}, format="json")
    assert refused.status_code == 422 and "said something else" in refused.content.decode()
    assert Endpoint.objects.filter(name="other").count() == 0


# --- keys
# ------------------------------------------------------------------------------------------------------------------------  # noqa: E501


def test_what_was_refused_leaves_the_key_free_and_the_text_typed(cast, make_story, client):
    client.force_login(cast.esi)
    page = f"/p/minds/stories/{make_story().uid}/table/"
    refused = client.post(page, {"rows": "no bar here", "once": "k"}).content.decode()
    assert "no bar here" in refused and not Making.objects.exists()
    assert client.post(page, {"rows": "world | It rains.", "once": "k"}).status_code == 302


@pytest.mark.parametrize("key", ["", "never-shown-by-this-site", "x" * 65])
def test_a_key_that_the_site_does_not_know_loses_no_text(cast, make_story, client, key):
    client.force_login(cast.esi)
    client.post(f"/p/minds/stories/{make_story().uid}/table/", {"rows": "world | It rains.", "once": key})
    assert Proposition.objects.filter(belief="It rains.").count() == 1


def test_a_failed_making_leaves_nothing(db):
    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        once.made_once(key="k", make=fail, now=timezone.now())
    assert once.made_once(key="k", make=lambda: "made", now=timezone.now()) == "made"
    assert once.made_once(key="k", make=fail, now=timezone.now()) == "made"


def test_keys_are_kept_for_a_day(db):
    now = timezone.now()
    once.made_once(key="old", make=lambda: "1", now=now - timedelta(hours=25))
    once.made_once(key="new", make=lambda: "2", now=now)
    assert list(Making.objects.values_list("key", flat=True)) == ["new"]


# --- every form
# ------------------------------------------------------------------------------------------------------------------

FORM = re.compile(r"<form\b[^>]*>.*?</form>|<form\b[^>]*>", re.S)
"""What needs no key, by template and by what tells the form apart, with the reason."""
BY_NATURE = {
    ("annotation/accounts/account.html", "{% url 'account' %}"): "sets what the account says",
    ("annotation/accounts/account.html", "end_api_token"): "takes away",
    ("judge/watches/watch.html", 'value="stop"'): "sets whether anchors are asked",
    ("judge/watches/watch.html", 'value="note"'): "sets what was noted",
    ("judge/calibration/report.html", 'name="reason"'): "sets which judge was chosen, and why",
    ("benchmark/runs/sweep.html", 'name="group"'): "sets which model and level was chosen, and why",
    ("annotation/accounts/invitation.html", "<form"): "an invitation is claimed by one update; a user name is unique",
    ("annotation/adjudication/_cell.html", "annotation:decide"): "a decision names the revision that it was made on",
    ("benchmark/doubtful/_cell.html", "<form"): "the same look again is no other one",
    ("annotation/adjudication/alike.html", "<form"): "each cell names the revision that it is decided on",
    ("annotation/adjudication/flags.html", "flag-form"): "a flag is decided by one update",
    ("annotation/adjudication/majorities.html", "seen_until"): "accepts what is open; what was accepted is not",
    ("annotation/assignments/assignments.html", 'id="release-'): "releases one assignment, which then is none",
    ("annotation/corpus/import.html", "<form"): "stories and votes that are there already are recognised and left",
    ("annotation/corpus/proposition_edit.html", "<form"): "a row that was reworded or taken out is no longer there",
    ("annotation/corpus/stories.html", "<form"): "puts stories into a split",
    ("annotation/corpus/table_edit.html", 'name="up"'): "moves a row",
    ("annotation/exports/export.html", "annotation:archive"): "a short name belongs to one project",
    ("annotation/people/people.html", "annotation:change_role"): "sets a role or removes a member",
    ("annotation/people/people.html", "annotation:revoke_invitation"): "withdraws",
    ("annotation/grid/begin.html", "<form"): "draws the arms that are not drawn",
    ("annotation/prefill/prefills.html", "discard_suggestions"): "discards",
    ("annotation/projects/guidelines.html", "annotation:guideline"): "sets a text",
    ("annotation/projects/settings.html", "<form"): "sets rules",
    ("annotation/tables/_editor.html", 'id="hand-in-form"'): "hands one table in, which then is",
    ("annotation/tables/queue.html", "release_table"): "frees one slot, which then is free",
    ("annotation/tables/queue.html", "Show the plan"): "shows a plan; the one that makes it has a key",
    ("annotation/tables/reconcile.html", "<form"): "opens lanes, which then are open",
    ("annotation/tables/_pairs.html", "agree-form"): "sets whether one expert agrees",
    ("annotation/tables/_pairs.html", 'name="finish"'): "a story has one gold table",
    ("annotation/tables/_reconciled.html", "<form"): "opens the lanes again, which then are open",
    ("annotation/tables/_handed_in.html", "<form"): "takes one table back, which then is not handed in",
    ("judge/align.html", 'name="back"'): "takes one table back, which then is not handed in",
    ("judge/align.html", 'name="hand-in"'): "hands one table in, which then is",
    ("judge/study.html", 'name="open"'): "opens or closes a study",
    ("judge/study.html", 'name="release"'): "takes a person's open tables back",
    ("benchmark/datasets/datasets.html", "benchmark:audience"): "sets who sees results",
    ("benchmark/entered/row.html", "benchmark:remove_row"): "removes",
    ("benchmark/prompts/prompt_set.html", "discard_prompt_set"): "discards",
    ("benchmark/runs/_archive.html", "benchmark:archive_run"): "sets a mark",
    ("benchmark/runs/_archive.html", "benchmark:restore_run"): "takes the mark away",
    ("benchmark/runs/_methods.html", 'name="launch"'): "sets the state of jobs",
    ("benchmark/runs/rename.html", "<form"): "sets a name",
    ("benchmark/runs/delete.html", "Delete the run"): "deletes",
    ("benchmark/runs/delete.html", "benchmark:archive_run"): "sets a mark",
    ("benchmark/runs/run.html", "benchmark:read_again"): "reads kept answers again, to the same end",
    ("components/invitations.html", "answer_invitation"): "an invitation is answered once",
    ("components/language_menu.html", "language"): "sets the language of pages",
    ("components/topbar.html", "logout"): "logs out",
    ("registration/login.html", "<form"): "logs in",
    ("registration/password_change_form.html", "<form"): "sets a password",
    ("registration/password_reset_confirm.html", "<form"): "sets a password",
    ("registration/password_reset_form.html", "<form"): "sends a link that sets a password; it makes nothing here",
    ("workers/_job_actions.html", "{{ actions."): "sets the state of a job",
    ("workers/endpoint.html", "delete-endpoint"): "deletes",
}


def _posting_forms() -> list[tuple[str, str]]:
    found = []
    for path in sorted(TEMPLATES.rglob("*.html")):
        for form in FORM.findall(path.read_text("utf-8")):
            if re.search(r'method="post"|hx-post', form):
                found.append((str(path.relative_to(TEMPLATES)), form))
    return found


def test_every_form_carries_a_key_or_says_why_it_needs_none():
    forms = _posting_forms()
    assert len(forms) > 50
    used = set()
    for name, form in forms:
        reasons = [key for key in BY_NATURE if key[0] == name and key[1] in form]
        used |= set(reasons)
        assert ("{% once %}" in form) or reasons, f"{name}: a key, or a reason for none: {form[:160]}"
    assert set(BY_NATURE) == used, "a reason for a form that is not there"


def test_buttons_outside_of_forms_are_known():
    """One brings the key of the form that it names; the others carry none: stories that are there already are
    recognised and left, and a try starts only where none is waited for."""
    texts = {str(path.relative_to(TEMPLATES)): path.read_text("utf-8") for path in TEMPLATES.rglob("*.html")}
    outside = {name: FORM.sub("", text) for name, text in texts.items()}
    posting = {name: text for name, text in outside.items() if "hx-post" in text}
    imported, answers = "annotation/corpus/_imported.html", "benchmark/answers/_import.html"
    assert sorted(posting) == [imported, answers, "workers/endpoint.html"]
    assert 'hx-include="#import"' in posting[imported] and 'hx-include="#answers"' in posting[answers]
