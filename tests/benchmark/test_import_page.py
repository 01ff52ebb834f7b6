"""The page of importing answers: a preview keeps nothing, an import makes the run, and what is refused leaves what was
typed."""

from __future__ import annotations

import json
import re
import threading

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import Scope
from benchmark.models import Run, RunItem, RunParcel, RunPreparation, UnmatchedReport, UnreadParcel
from benchmark.services.made_elsewhere import importing
from benchmark.services.reports import scores_of
from benchmark.services.runs import act_on
from core.idempotency.requests import HEADER
from tests.api.conftest import token_of
from tests.benchmark.settled import written
from tests.benchmark.test_imported_answers import _with_copy
from tests.benchmark.tiny_copies import SUMS
from tests.copies import copied
from tests.pressing import KEY, all_at_once, press_six, presses
from workers.models import Call, Endpoint, Job
from workers.services.jobs import JobRefused
from workers.services.run_to_end import prepare_all

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
RIGHT = {f"sum-{at}": str(first + second) for at, (first, second) in enumerate(SUMS)}


@pytest.fixture
def cast(db, tiny):
    return copied("imported answers", _with_copy)


@pytest.fixture
def page(cast):
    return reverse("benchmark:import_answers", args=[cast.project.slug])


@pytest.fixture
def admin(cast) -> Client:
    client = Client()
    client.force_login(cast.alice)
    return client


def upload(content=RIGHT, name="answers.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (content if isinstance(content, str) else json.dumps(content)).encode())


def said(**changed) -> dict:
    return {"files": [upload()], "dataset": 1, "model": "acme/large 2", "politeness": "please"} | changed


def test_a_preview_says_what_becomes_of_each_answer_and_keeps_nothing(admin, page):
    content = {key: text for key, text in RIGHT.items() if key != "sum-3"} | {"sum-77": "5", "<b>": "x"}
    page_shown = admin.post(page, said(files=[upload(content)], politeness="now")).content.decode()
    shown = " ".join(re.sub(r"<[^>]+>", " ", page_shown).split())
    for part in (
        "11 matched by id",
        "0 matched by exact text",
        "2 to nothing",
        "1 missing",
        "13 answers",
        "12 sums",
        "1 repetition",
    ):
        assert part in shown, part
    assert "no sample is called &#x27;sum-77&#x27;" in shown and "answer &#x27;&lt;b&gt;&#x27;" in shown
    assert "sum-3" in shown
    assert "acme/large 2" in shown and "not said in the files" in shown and "Tone" in shown and "curt" in shown
    assert not Run.objects.exists() and not Endpoint.objects.exists() and not Call.objects.exists()


def test_an_import_makes_the_run_and_leads_to_it(admin, page, cast):
    answer = admin.post(page, said(keep="1", title="From their site", repetitions="2"))
    run = Run.objects.get()
    assert answer.url == reverse("benchmark:run", args=[cast.project.slug, run.uid])
    assert (run.title, run.created_by, run.imported.file, run.imported.by) == (
        "From their site", cast.alice, "answers.json", "alice",
    )  # fmt: skip
    assert run.params["repetitions"] == 2
    part = admin.post(page, said(keep="1"), headers={"HX-Request": "true"})
    assert (part.status_code, part.headers["HX-Redirect"]) == (
        204,
        reverse("benchmark:run", args=[cast.project.slug, Run.objects.order_by("-pk")[0].uid]),
    )


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"model": ""}, "Model: The file does not say which model answered; name the model."),
        ({"files": [upload("{")]}, "Files: answers.json"),
        ({"files": [upload({"who": "me"})]}, "none of its 1 answers is to a sample"),
        ({"files": []}, "Files: This field is required."),
        ({"repetitions": "0"}, "Repetitions: Ensure this value"),
        ({"dataset": "9"}, "Dataset: Select a valid choice."),
        ({"files": [upload(name="a.eval")]}, "Files: a.eval"),
    ],
)
def test_what_is_refused_is_a_sentence_and_keeps_what_was_typed(admin, page, changed, sentence):
    for keep in ({}, {"keep": "1"}):
        files = {
            "files": [upload(file.file.getvalue().decode(), file.name) for file in changed.get("files", [upload()])]
        }
        part = written(admin.post(page, said(title="Mine") | changed | files | keep, headers={"HX-Request": "true"}))
        assert sentence in part and "<form" not in part
    whole = admin.post(page, said(title="Mine") | changed | {"files": []}).content.decode()
    assert 'value="Mine"' in whole and not Run.objects.exists()


def test_who_may_not_launch_may_not_import(cast, page):
    for person, status in ((cast.bob, 403), (cast.esi, 403), (cast.charlie, 404)):
        client = Client()
        client.force_login(person)
        assert (client.get(page).status_code, client.post(page, said(keep="1")).status_code) == (status, status)
    assert not Run.objects.exists()


def test_the_list_and_the_launch_lead_to_it(admin, page, cast):
    for name in ("runs", "launch"):
        assert page in admin.get(reverse(f"benchmark:{name}", args=[cast.project.slug])).content.decode()
    assert KEY.search(admin.get(page).content.decode())


@presses("benchmark:import_answers")
def test_six_presses_make_one_run(cast, page):
    answers = press_six(cast.alice, page, said(files=lambda: [upload()], keep="1"))
    assert {answer.status_code for answer in answers} == {302} and len({answer.url for answer in answers}) == 1
    assert Run.objects.count() == 1


# --- over the API
# ------------------------------------------------------------------------------------------------------------------
def _api(person, scope=Scope.WRITE) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(person, scope)}")
    return client


RUNS = "/api/v1/projects/minds/runs/import/"
BODY = {"dataset": 1, "model": "acme/large 2", "answers": RIGHT | {"who": "me"}}


def test_the_api_previews_and_imports_as_the_page_does(cast):
    api = _api(cast.alice)
    told = api.post(f"{RUNS}preview/", BODY, format="json")
    assert told.status_code == 200 and not Run.objects.exists()
    assert {name: told.json()[name] for name in ("by_id", "by_text", "answers", "missing", "steps")} == {
        "by_id": 12, "by_text": 0, "answers": 12, "missing": [], "steps": ["sum"],
    }  # fmt: skip
    assert told.json()["unmatched"] == [{"where": "answer 'who'", "why": "no sample is called 'who'"}]
    made = api.post(RUNS, BODY | {"options": {"politeness": "now"}, "title": "Theirs"}, format="json")
    run = Run.objects.get()
    assert (made.status_code, made.json()["run"], made.json()["title"]) == (201, run.uid, "Theirs")
    assert run.params["options"]["politeness"] == "now" and run.imported.by == "alice"


@pytest.mark.parametrize(
    ("changed", "field", "sentence"),
    [
        ({"dataset": 9}, "dataset", "valid choice"),
        ({"answers": {}}, "answers", "holds no answers"),
        ({"answers": {"sum-0": 3}}, "answers", "answer 'sum-0': it is not a text"),
        ({"options": {"tone": "x"}}, "options.tone", "no such setting"),
        ({"options": {"politeness": "x"}}, "options.politeness", "valid choice"),
        ({"step": "guess"}, "step", "guess"),
        ({"model": ""}, "model", "name the model"),
    ],
)
def test_the_api_names_the_field_of_what_it_refuses(cast, changed, field, sentence):
    api = _api(cast.alice)
    for path in ("", "preview/"):
        refusal = api.post(f"{RUNS}{path}", BODY | changed, format="json")
        assert refusal.status_code == 422 and sentence in refusal.json()["error"]["fields"][field][0], refusal.content
    assert not Run.objects.exists()


def test_only_admins_import_over_the_api(cast):
    for path in ("", "preview/"):
        assert _api(cast.esi).post(f"{RUNS}{path}", BODY, format="json").status_code == 403
    assert _api(cast.alice, Scope.READ).post(RUNS, BODY, format="json").status_code == 403


@presses("api:import_answers")
def test_six_requests_make_one_run(cast):
    clients = [_api(cast.alice) for _ in range(6)]
    answers = all_at_once(lambda at: clients[at].post(RUNS, BODY, format="json", headers={HEADER: "a-key-of-ours"}))
    assert {answer.status_code for answer in answers} == {201} and Run.objects.count() == 1


# --- many answers
# ------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def in_parts(monkeypatch):
    """Every import is left to the workers, who take in five answers at a time."""
    monkeypatch.setattr(importing, "ANSWERS_AT_ONCE", 0)
    monkeypatch.setattr(importing, "A_PART", 5)


def _left_to_workers(admin, page, **changed) -> Run:
    content = {key: text for key, text in RIGHT.items() if key != "sum-3"} | {"who": "me"}
    assert admin.post(page, said(files=[upload(content)], keep="1", whole="on") | changed).status_code == 302
    return Run.objects.select_related("job").latest("pk")


def test_a_worker_takes_in_many_answers_also_after_it_was_killed(admin, page, cast, in_parts, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(importing, "ANSWERS_AT_ONCE", 2_000)
        at_once = _left_to_workers(admin, page)
    run = _left_to_workers(admin, page, model="acme/other")
    address = reverse("benchmark:run", args=[cast.project.slug, run.uid])
    shown = written(admin.get(address))
    assert run.job.state == "preparing" and "Taken in 0 of 12 answers" in shown
    assert "1 answer to no sum" in shown and "no sample is called &#x27;who&#x27;" in shown and "sum-3" in shown
    take_in, parts = importing.take_in, []

    class Killed(BaseException):
        """As a process that ends between two statements."""

    def killed(**what):
        take_in(**what)
        parts.append(what)
        if parts[1:]:
            raise Killed

    monkeypatch.setattr(importing, "take_in", killed)
    with pytest.raises(Killed):
        prepare_all(threading.Event())
    assert RunItem.objects.filter(entrant__run=run).count() == 5 and "Taken in 5 of 12 answers" in written(
        admin.get(address)
    )
    monkeypatch.setattr(importing, "take_in", take_in)
    prepare_all(threading.Event())
    run.job.refresh_from_db()
    assert run.job.standing == at_once.job.standing and not RunParcel.objects.exists()
    assert _answers(run) == _answers(at_once) and len(scores_of(run)) == len(scores_of(at_once)) > 0
    told = _api(cast.alice).get(f"/api/v1/projects/minds/runs/{run.uid}/").json()["left_out"]
    assert told == {
        "unmatched": [{"where": "answer 'who'", "why": "no sample is called 'who'"}], "double": [],
        "missing": ["sum-3"], "unanswered": [],
    }  # fmt: skip


def _answers(run: Run) -> list[tuple]:
    rows = RunItem.objects.filter(entrant__run=run)
    return sorted(
        rows.values_list("sample", "repetition", "repaired_score", "unreadable", "item__state", "item__problem")
    )


def test_answers_that_cannot_be_taken_in_leave_a_sentence_and_can_be_imported_again(
    admin, page, cast, in_parts, monkeypatch
):
    run, take_in, parts = _left_to_workers(admin, page), importing.take_in, []

    def failing(**what):
        parts.append(what)
        if parts[1:]:
            raise ValueError("no more")
        take_in(**what)

    monkeypatch.setattr(importing, "take_in", failing)
    prepare_all(threading.Event())
    run.job.refresh_from_db()
    assert (run.job.standing, run.job.note) == ("failed", importing.FAILED)
    assert importing.FAILED.replace("'", "&#x27;") in written(
        admin.get(reverse("benchmark:run", args=[cast.project.slug, run.uid]))
    )
    assert not RunItem.objects.exists() and not Call.objects.exists() and not RunParcel.objects.exists()
    monkeypatch.setattr(importing, "take_in", take_in)
    again = _left_to_workers(admin, page)
    prepare_all(threading.Event())
    assert RunItem.objects.filter(entrant__run=again).count() == 12


def test_an_import_that_a_worker_takes_in_can_be_cancelled_and_made_again(admin, page, cast, in_parts):
    run = _left_to_workers(admin, page)
    address = reverse("benchmark:run", args=[cast.project.slug, run.uid])
    cancel = reverse("benchmark:run_action", args=[cast.project.slug, run.uid, "cancel"])

    assert importing.take_next(run) and RunItem.objects.filter(entrant__run=run).count() == 5
    shown = written(admin.get(address))
    assert cancel in shown and "can be imported again" in shown and "job-retry" not in shown
    for refused in ("pause", "retry", "resume"):
        with pytest.raises(JobRefused, match="were imported"):
            act_on(Run.objects.get(pk=run.pk), refused)
    assert admin.post(cancel).status_code == 302
    assert not importing.take_next(run)
    prepare_all(threading.Event())
    run.job.refresh_from_db()
    assert run.job.state == "cancelled"
    assert not RunItem.objects.exists() and not Call.objects.exists() and not RunParcel.objects.exists()
    shown = written(admin.get(address))
    assert "nothing of it was kept" in shown and cancel not in shown
    again = _left_to_workers(admin, page)
    prepare_all(threading.Event())
    assert RunItem.objects.filter(entrant__run=again).count() == 12
    with pytest.raises(JobRefused, match="were imported"):
        act_on(Run.objects.select_related("job").get(pk=again.pk), "cancel")


# --- large files
# ------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def large(monkeypatch):
    """Every file is left to the workers, in rows of 100 bytes."""
    monkeypatch.setattr(importing, "BYTES_AT_ONCE", 0)
    monkeypatch.setattr(importing, "_STRETCH", 100)


class Killed(BaseException):
    """As a process that ends between two statements."""


def _killed(*args, **kwargs):
    raise Killed


def test_a_worker_reads_large_files_also_after_it_was_killed(admin, page, cast, large, monkeypatch):
    content = {key: text for key, text in RIGHT.items() if key != "sum-3"} | {"who": "me"}
    with monkeypatch.context() as patch:
        patch.setattr(importing, "BYTES_AT_ONCE", 1_000_000)
        at_once = _left_to_workers(admin, page, title="")
    told = written(admin.post(page, said(files=[upload(content)], model="acme/other"), headers={"HX-Request": "true"}))
    assert "are read by a worker" in told and "data-import" in told and Run.objects.count() == 1
    run = _left_to_workers(admin, page, model="acme/other", title="")
    address = reverse("benchmark:run", args=[cast.project.slug, run.uid])
    shown = written(admin.get(address))
    assert run.job.state == "preparing" and "Reading <bdi>answers.json</bdi>" in shown and 'id="run-prepared"' in shown
    assert UnreadParcel.objects.filter(run=run).count() > 1 and run.title == "Imported from answers.json"
    assert admin.get(reverse("benchmark:runs", args=[cast.project.slug])).status_code == 200
    for name in ("preview_of", "_keep_what_was_read", "refuse_twice"):
        with monkeypatch.context() as patch:
            patch.setattr(importing, name, _killed)
            with pytest.raises(Killed):
                prepare_all(threading.Event())
        assert not run.entrants.exists() and not RunParcel.objects.exists()
    prepare_all(threading.Event())
    run = Run.objects.select_related("job").get(pk=run.pk)
    assert run.job.standing == at_once.job.standing and not UnreadParcel.objects.exists()
    assert not RunParcel.objects.exists() and not RunPreparation.objects.exists()
    assert _answers(run) == _answers(at_once) and run.params == at_once.params and run.steps == at_once.steps
    same = ("file", "digest", "by", "format", "records", "unmatched", "double", "facts")
    assert [getattr(run.imported, name) for name in same] == [getattr(at_once.imported, name) for name in same]
    assert run.title == run.job.title == "acme/other: imported from answers.json"
    assert UnmatchedReport.objects.get(run=run).missing == ["sum-3"]
    assert "no sample is called &#x27;who&#x27;" in written(admin.get(address))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"files": "{"}, "answers.json"),
        ({"files": {"who": "me"}}, "answers.json: none of its 1 answers is to a sample"),
        ({"model": ""}, "The file does not say which model answered; name the model."),
    ],
)
def test_what_is_wrong_with_a_large_file_stands_on_the_page_of_its_run(admin, page, cast, large, changed, sentence):
    files = {"files": [upload(changed["files"])]} if "files" in changed else {}
    assert admin.post(page, said(keep="1") | changed | files).status_code == 302
    run = Run.objects.select_related("job").get()
    prepare_all(threading.Event())
    run.job.refresh_from_db()
    assert run.job.standing == "failed" and sentence in run.job.note
    shown = written(admin.get(reverse("benchmark:run", args=[cast.project.slug, run.uid])))
    assert sentence in shown and "job-retry" not in shown
    assert not UnreadParcel.objects.exists() and not RunItem.objects.exists() and not run.entrants.exists()
    for name in ("runs", "leaderboard"):
        assert admin.get(reverse(f"benchmark:{name}", args=[cast.project.slug])).status_code == 200
    assert admin.get(reverse("benchmark:run_made", args=[cast.project.slug, run.uid])).status_code == 200
    assert admin.post(reverse("benchmark:delete_run", args=[cast.project.slug, run.uid])).status_code == 302
    assert not Run.objects.exists()


def test_a_large_file_is_a_run_once_and_cancelled_one_can_be_imported_again(admin, page, cast, large):
    run = _left_to_workers(admin, page)
    assert admin.post(reverse("benchmark:run_action", args=[cast.project.slug, run.uid, "cancel"])).status_code == 302
    prepare_all(threading.Event())
    assert not UnreadParcel.objects.exists() and not RunItem.objects.exists()
    first, second = _left_to_workers(admin, page), _left_to_workers(admin, page)
    prepare_all(threading.Event())
    jobs = Job.objects.in_bulk([first.job_id, second.job_id])
    ended, refused = sorted(jobs.values(), key=lambda job: job.standing == "failed")
    assert ended.standing != "failed" and "are a run already" in refused.note
    assert RunItem.objects.count() == 12


def test_the_api_leaves_large_files_to_a_worker(cast, large):
    api = _api(cast.alice)
    made = api.post(RUNS, BODY, format="json")
    told = made.json()
    assert made.status_code == 201 and (told["state"], told["models"], told["preparing"]) == (
        "preparing", [], {"done": 0, "of": 0},
    )  # fmt: skip
    prepare_all(threading.Event())
    told = api.get(f"/api/v1/projects/minds/runs/{told['run']}/").json()
    assert told["models"] == ["acme/large 2"] and told["left_out"]["unmatched"][0]["where"] == "answer 'who'"


def test_what_is_known_to_be_wrong_without_reading_is_said_at_once(admin, page, large):
    for changed, sentence in (
        ({"dataset": "9"}, "Select a valid choice"),
        ({"limit": "-1"}, "Only the first: It is -1"),
    ):
        part = written(admin.post(page, said(keep="1") | changed, headers={"HX-Request": "true"}))
        assert sentence in part
    assert not Run.objects.exists()
