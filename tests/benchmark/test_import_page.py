"""The page of importing answers: a preview keeps nothing, an import makes the run, and what is refused leaves what was
typed."""

from __future__ import annotations

import json
import re
import threading

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
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
from tests.benchmark.tiny_copies import RIGHT, cast_with_sums
from tests.pressing import KEY, all_at_once, press_six, presses
from workers.models import Call, Endpoint, Job
from workers.services.jobs import JobRefused
from workers.services.run_to_end import prepare_all

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cast(db, tiny):
    return cast_with_sums()


@pytest.fixture
def page(cast):
    return reverse("benchmark:import_answers", args=[cast.project.slug])


def upload(content=RIGHT, name="answers.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (content if isinstance(content, str) else json.dumps(content)).encode())


def said(**changed) -> dict:
    return {"files": [upload()], "dataset": 1, "model": "acme/large 2", "politeness": "please"} | changed


class Killed(BaseException):
    """As a process that ends between two statements."""


def _killed(*args, **kwargs):
    raise Killed


def of_run(run: Run, name: str = "run", *more: str) -> str:
    return reverse(f"benchmark:{name}", args=[run.project.slug, run.uid, *more])


def prepare() -> None:
    prepare_all(threading.Event())


WITHOUT_A_SUM = {key: text for key, text in RIGHT.items() if key != "sum-3"} | {"who": "me"}


HTMX = {"HX-Request": "true"}


def test_a_preview_says_what_becomes_of_each_answer_and_keeps_nothing(alice, page):
    content = {key: text for key, text in RIGHT.items() if key != "sum-3"} | {"sum-77": "5", "<b>": "x"}
    page_shown = alice.post(page, said(files=[upload(content)], politeness="now")).content.decode()
    shown = " ".join(re.sub(r"<[^>]+>", " ", page_shown).split())
    for part in (
        "11 matched by id", "0 matched by exact text", "2 to nothing", "1 missing", "13 answers", "12 sums",
        "1 repetition", "no sample is called &#x27;sum-77&#x27;", "answer &#x27;&lt;b&gt;&#x27;", "sum-3",
        "acme/large 2", "not said in the files", "Tone", "curt",
    ):  # fmt: skip
        assert part in shown, part
    assert not Run.objects.exists() and not Endpoint.objects.exists() and not Call.objects.exists()


def test_an_import_makes_the_run_and_leads_to_it(alice, page, cast):
    for name in ("runs", "launch"):
        assert page in alice.get(reverse(f"benchmark:{name}", args=[cast.project.slug])).content.decode()
    assert KEY.search(alice.get(page).content.decode())
    answer = alice.post(page, said(keep="1", title="From their site", repetitions="2"))
    run = Run.objects.get()
    assert answer.url == of_run(run)
    assert (run.title, run.created_by, run.params["repetitions"]) == ("From their site", cast.alice, 2)
    assert (run.imported.file, run.imported.by) == ("answers.json", "alice")
    part = alice.post(page, said(keep="1"), headers=HTMX)
    assert (part.status_code, part.headers["HX-Redirect"]) == (204, of_run(Run.objects.order_by("-pk")[0]))


def test_what_is_refused_is_a_sentence_and_keeps_what_was_typed(alice, page, monkeypatch):
    for changed, sentence in (
        ({"model": ""}, "Model: The file does not say which model answered; name the model."),
        ({"files": "{"}, "Files: answers.json"),
        ({"files": {"who": "me"}}, "none of its 1 answers is to a sample"),
        ({"files": None}, "Files: This field is required."),
        ({"repetitions": "0"}, "Repetitions: Ensure this value"),
        ({"dataset": "9"}, "Dataset: Select a valid choice."),
        ({"limit": "-1"}, "Only the first: It is -1"),
    ):
        for keep in ({}, {"keep": "1"}):
            files = [upload(changed.get("files", RIGHT))] if changed.get("files", RIGHT) else []
            part = written(alice.post(page, said(title="Mine") | changed | {"files": files} | keep, headers=HTMX))
            assert sentence in part and "<form" not in part
        whole = alice.post(page, said(title="Mine") | changed | {"files": []}).content.decode()
        assert 'value="Mine"' in whole and not Run.objects.exists()
    assert "Files: a.eval" in written(alice.post(page, said(files=[upload(name="a.eval")]), headers=HTMX))
    # what is known to be wrong without reading a large file is said at once
    monkeypatch.setattr(importing, "BYTES_AT_ONCE", 0)
    for changed, sentence in (({"dataset": "9"}, "Select a valid choice"), ({"limit": "-1"}, "It is -1")):
        assert sentence in written(alice.post(page, said(keep="1") | changed, headers=HTMX))
    assert not Run.objects.exists()


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


def test_the_api_names_the_field_of_what_it_refuses(cast):
    api = _api(cast.alice)
    for changed, field, sentence in (
        ({"dataset": 9}, "dataset", "valid choice"),
        ({"answers": {}}, "answers", "holds no answers"),
        ({"answers": {"sum-0": 3}}, "answers", "answer 'sum-0': it is not a text"),
        ({"options": {"tone": "x"}}, "options.tone", "no such setting"),
        ({"options": {"politeness": "x"}}, "options.politeness", "valid choice"),
        ({"step": "guess"}, "step", "guess"),
        ({"model": ""}, "model", "name the model"),
    ):
        for path in ("", "preview/"):
            refusal = api.post(f"{RUNS}{path}", BODY | changed, format="json")
            assert refusal.status_code == 422, refusal.content
            assert sentence in refusal.json()["error"]["fields"][field][0], refusal.content
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
    sent = said(files=[upload(WITHOUT_A_SUM)], keep="1", whole="on") | changed
    assert admin.post(page, sent).status_code == 302
    return Run.objects.select_related("job", "project").latest("pk")


def test_a_worker_takes_in_many_answers_also_after_it_was_killed(alice, page, cast, in_parts, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(importing, "ANSWERS_AT_ONCE", 2_000)
        at_once = _left_to_workers(alice, page)
    run = _left_to_workers(alice, page, model="acme/other")
    shown = written(alice.get(of_run(run)))
    assert run.job.state == "preparing" and "Taken in 0 of 12 answers" in shown
    assert "1 answer to no sum" in shown and "no sample is called &#x27;who&#x27;" in shown and "sum-3" in shown
    with monkeypatch.context() as patch:
        patch.setattr(importing, "take_in", after_one_part(Killed))
        with pytest.raises(Killed):
            prepare()
    assert RunItem.objects.filter(entrant__run=run).count() == 5
    assert "Taken in 5 of 12 answers" in written(alice.get(of_run(run)))
    prepare()
    run.job.refresh_from_db()
    assert run.job.standing == at_once.job.standing and not RunParcel.objects.exists()
    assert _answers(run) == _answers(at_once) and len(scores_of(run)) == len(scores_of(at_once)) > 0
    told = _api(cast.alice).get(f"/api/v1/projects/minds/runs/{run.uid}/").json()["left_out"]
    unmatched = [{"where": "answer 'who'", "why": "no sample is called 'who'"}]
    assert told == {"unmatched": unmatched, "double": [], "missing": ["sum-3"], "unanswered": []}


def after_one_part(error: type[BaseException]):
    """What takes in answers and fails at the second part, before or after it."""
    take_in, parts = importing.take_in, []

    def failing(**what):
        if error is Killed or not parts:
            take_in(**what)
        parts.append(what)
        if parts[1:]:
            raise error("no more")

    return failing


def _answers(run: Run) -> list[tuple]:
    rows = RunItem.objects.filter(entrant__run=run)
    return sorted(
        rows.values_list("sample", "repetition", "repaired_score", "unreadable", "item__state", "item__problem")
    )


def test_answers_that_cannot_be_taken_in_leave_a_sentence_and_can_be_imported_again(alice, page, in_parts, monkeypatch):
    run = _left_to_workers(alice, page)
    with monkeypatch.context() as patch:
        patch.setattr(importing, "take_in", after_one_part(ValueError))
        prepare()
    run.job.refresh_from_db()
    assert (run.job.standing, run.job.note) == ("failed", importing.FAILED)
    assert importing.FAILED.replace("'", "&#x27;") in written(alice.get(of_run(run)))
    assert not RunItem.objects.exists() and not Call.objects.exists() and not RunParcel.objects.exists()
    again = _left_to_workers(alice, page)
    prepare()
    assert RunItem.objects.filter(entrant__run=again).count() == 12


def test_an_import_that_a_worker_takes_in_can_be_cancelled_and_made_again(alice, page, in_parts):
    run = _left_to_workers(alice, page)
    cancel = of_run(run, "run_action", "cancel")
    assert importing.take_next(run) and RunItem.objects.filter(entrant__run=run).count() == 5
    shown = written(alice.get(of_run(run)))
    assert cancel in shown and "can be imported again" in shown and "job-retry" not in shown
    for refused in ("pause", "retry", "resume"):
        with pytest.raises(JobRefused, match="were imported"):
            act_on(Run.objects.get(pk=run.pk), refused)
    assert alice.post(cancel).status_code == 302
    assert not importing.take_next(run)
    prepare()
    run.job.refresh_from_db()
    assert run.job.state == "cancelled"
    assert not RunItem.objects.exists() and not Call.objects.exists() and not RunParcel.objects.exists()
    shown = written(alice.get(of_run(run)))
    assert "nothing of it was kept" in shown and cancel not in shown
    again = _left_to_workers(alice, page)
    prepare()
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


def test_a_worker_reads_large_files_also_after_it_was_killed(alice, page, cast, large, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(importing, "BYTES_AT_ONCE", 1_000_000)
        at_once = _left_to_workers(alice, page, title="")
    told = written(alice.post(page, said(files=[upload(WITHOUT_A_SUM)], model="acme/other"), headers=HTMX))
    assert "are read by a worker" in told and "data-import" in told and Run.objects.count() == 1
    run = _left_to_workers(alice, page, model="acme/other", title="")
    shown = written(alice.get(of_run(run)))
    assert run.job.state == "preparing" and "Reading <bdi>answers.json</bdi>" in shown and 'id="run-prepared"' in shown
    assert UnreadParcel.objects.filter(run=run).count() > 1 and run.title == "Imported from answers.json"
    assert alice.get(reverse("benchmark:runs", args=[cast.project.slug])).status_code == 200
    for name in ("preview_of", "_keep_what_was_read", "refuse_twice"):
        with monkeypatch.context() as patch:
            patch.setattr(importing, name, _killed)
            with pytest.raises(Killed):
                prepare()
        assert not run.entrants.exists() and not RunParcel.objects.exists()
    prepare()
    run = Run.objects.select_related("job").get(pk=run.pk)
    assert run.job.standing == at_once.job.standing and not UnreadParcel.objects.exists()
    assert not RunParcel.objects.exists() and not RunPreparation.objects.exists()
    assert _answers(run) == _answers(at_once) and run.params == at_once.params and run.steps == at_once.steps
    same = ("file", "digest", "by", "format", "records", "unmatched", "double", "facts")
    assert [getattr(run.imported, name) for name in same] == [getattr(at_once.imported, name) for name in same]
    assert run.title == run.job.title == "acme/other: imported from answers.json"
    assert UnmatchedReport.objects.get(run=run).missing == ["sum-3"]
    assert "no sample is called &#x27;who&#x27;" in written(alice.get(of_run(run)))


def test_what_is_wrong_with_a_large_file_stands_on_the_page_of_its_run(alice, page, cast, large):
    for changed, sentence in (
        ({"files": "{"}, "answers.json"),
        ({"files": {"who": "me"}}, "answers.json: none of its 1 answers is to a sample"),
        ({"model": ""}, "The file does not say which model answered; name the model."),
    ):
        files = [upload(changed.get("files", RIGHT))]
        assert alice.post(page, said(keep="1") | changed | {"files": files}).status_code == 302
        run = Run.objects.select_related("job", "project").get()
        prepare()
        run.job.refresh_from_db()
        assert run.job.standing == "failed" and sentence in run.job.note
        shown = written(alice.get(of_run(run)))
        assert sentence in shown and "job-retry" not in shown
        assert not UnreadParcel.objects.exists() and not RunItem.objects.exists() and not run.entrants.exists()
        for name in ("runs", "leaderboard"):
            assert alice.get(reverse(f"benchmark:{name}", args=[cast.project.slug])).status_code == 200
        assert alice.get(of_run(run, "run_made")).status_code == 200
        assert alice.post(of_run(run, "delete_run")).status_code == 302
        assert not Run.objects.exists()


def test_a_large_file_is_a_run_once_and_cancelled_one_can_be_imported_again(alice, page, large):
    run = _left_to_workers(alice, page)
    assert alice.post(of_run(run, "run_action", "cancel")).status_code == 302
    prepare()
    assert not UnreadParcel.objects.exists() and not RunItem.objects.exists()
    first, second = _left_to_workers(alice, page), _left_to_workers(alice, page)
    prepare()
    jobs = Job.objects.in_bulk([first.job_id, second.job_id])
    ended, refused = sorted(jobs.values(), key=lambda job: job.standing == "failed")
    assert ended.standing != "failed" and "are a run already" in refused.note
    assert RunItem.objects.count() == 12


def test_the_api_leaves_large_files_to_a_worker(cast, large):
    api = _api(cast.alice)
    made = api.post(RUNS, BODY, format="json")
    told = made.json()
    assert made.status_code == 201 and (told["state"], told["models"]) == ("preparing", [])
    assert told["preparing"] == {"done": 0, "of": 0}
    prepare()
    told = api.get(f"/api/v1/projects/minds/runs/{told['run']}/").json()
    assert told["models"] == ["acme/large 2"] and told["left_out"]["unmatched"][0]["where"] == "answer 'who'"
