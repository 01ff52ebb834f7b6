"""Importing answers on its page and over the API: a preview keeps nothing, an import makes the run, what is refused
leaves what was typed, and a worker takes in what is large."""

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
WITHOUT_A_SUM = {key: text for key, text in RIGHT.items() if key != "sum-3"}
NOBODYS = {"where": "answer 'who'", "why": "no sample is called 'who'"}
TOLD = "no sample is called &#x27;who&#x27;"
HTMX = {"HX-Request": "true"}
RUNS = "/api/v1/projects/minds/runs/import/"
BODY = {"dataset": 1, "model": "acme/large 2", "answers": RIGHT | {"who": "me"}}
ROWS = ("sample", "repetition", "repaired_score", "unreadable", "item__state", "item__problem")


@pytest.fixture
def cast(db, tiny):
    return cast_with_sums()


@pytest.fixture
def page(cast):
    return reverse("benchmark:import_answers", args=[cast.project.slug])


@pytest.fixture
def shown(alice, cast):
    """A page of the project, or of a run of it: `shown("runs")`, `shown("run", run)`."""

    def get(name: str, run: Run | None = None) -> str:
        response = alice.get(of_run(run, name) if run else reverse(f"benchmark:{name}", args=[cast.project.slug]))
        assert response.status_code == 200
        return written(response)

    return get


def upload(content=RIGHT, name="answers.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, (content if isinstance(content, str) else json.dumps(content)).encode())


def said(**changed) -> dict:
    return {"files": [upload()], "dataset": 1, "model": "acme/large 2", "politeness": "please"} | changed


def of_run(run: Run, name: str = "run", *more: str) -> str:
    return reverse(f"benchmark:{name}", args=[run.project.slug, run.uid, *more])


def prepare() -> None:
    prepare_all(threading.Event())


def api_of(person, scope=Scope.WRITE) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(person, scope)}")
    return client


def test_a_preview_says_what_becomes_of_each_answer_and_keeps_nothing(alice, page):
    files = [upload(WITHOUT_A_SUM | {"sum-77": "5", "<b>": "x"})]
    preview = alice.post(page, said(files=files, politeness="now")).content.decode()
    told = " ".join(re.sub(r"<[^>]+>", " ", preview).split())
    counts = "11 matched by id, 0 matched by exact text, 2 to nothing, 1 missing, 13 answers, 12 sums, 1 repetition"
    others = "no sample is called &#x27;sum-77&#x27;, answer &#x27;&lt;b&gt;&#x27;, sum-3, acme/large 2, Tone, curt"
    for part in f"{counts}, {others}, not said in the files".split(", "):
        assert part in told, part
    assert not Run.objects.exists() and not Endpoint.objects.exists() and not Call.objects.exists()


def test_an_import_makes_the_run_and_leads_to_it(alice, page, cast, shown):
    assert page in shown("runs") and page in shown("launch")
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
        ({"limit": "-1"}, "Only the first: Ensure this value"),
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
    for changed, sentence in (({"dataset": "9"}, "Select a valid choice"), ({"limit": "-1"}, "Ensure this value")):
        assert sentence in written(alice.post(page, said(keep="1") | changed, headers=HTMX))
    assert not Run.objects.exists()


@presses("benchmark:import_answers")
def test_six_presses_make_one_run(cast, page):
    answers = press_six(cast.alice, page, said(files=lambda: [upload()], keep="1"))
    assert {answer.status_code for answer in answers} == {302} and len({answer.url for answer in answers}) == 1
    assert Run.objects.count() == 1


@presses("api:import_answers")
def test_six_requests_make_one_run(cast):
    clients = [api_of(cast.alice) for _ in range(6)]
    answers = all_at_once(lambda at: clients[at].post(RUNS, BODY, format="json", headers={HEADER: "a-key-of-ours"}))
    assert {answer.status_code for answer in answers} == {201} and Run.objects.count() == 1


def test_the_api_previews_imports_and_refuses_as_the_page_does(cast):
    api = api_of(cast.alice)
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
    for path in ("", "preview/"):
        assert api_of(cast.esi).post(f"{RUNS}{path}", BODY, format="json").status_code == 403
    assert api_of(cast.alice, Scope.READ).post(RUNS, BODY, format="json").status_code == 403
    preview = api.post(f"{RUNS}preview/", BODY, format="json")
    assert preview.status_code == 200 and not Run.objects.exists()
    told = {name: preview.json()[name] for name in ("by_id", "by_text", "answers", "missing", "steps", "unmatched")}
    expected = {"by_id": 12, "by_text": 0, "answers": 12, "missing": [], "steps": ["sum"], "unmatched": [NOBODYS]}
    assert told == expected
    made = api.post(RUNS, BODY | {"options": {"politeness": "now"}, "title": "Theirs"}, format="json")
    run = Run.objects.get()
    assert (made.status_code, made.json()["run"], made.json()["title"]) == (201, run.uid, "Theirs")
    assert run.params["options"]["politeness"] == "now" and run.imported.by == "alice"


# --- many answers


@pytest.fixture
def sent(alice, page):
    """`sent(**changed)`: the run of an import that is kept."""

    def send(**changed) -> Run:
        content = said(files=[upload(WITHOUT_A_SUM | {"who": "me"})], keep="1", whole="on") | changed
        assert alice.post(page, content).status_code == 302
        return Run.objects.select_related("job", "project").latest("pk")

    return send


@pytest.fixture
def in_parts(monkeypatch):
    """Every import is left to the workers, who take in five answers at a time."""
    monkeypatch.setattr(importing, "ANSWERS_AT_ONCE", 0)
    monkeypatch.setattr(importing, "A_PART", 5)


class Killed(BaseException):
    """As a process that ends between two statements."""


def _killed(*args, **kwargs):
    raise Killed


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


def nothing_is_left() -> bool:
    return not any(model.objects.exists() for model in (RunItem, Call, RunParcel, UnreadParcel))


def taken_in(run: Run) -> list[tuple]:
    return sorted(RunItem.objects.filter(entrant__run=run).values_list(*ROWS))


def test_a_worker_takes_in_many_answers_also_after_it_was_killed(cast, sent, shown, in_parts, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(importing, "ANSWERS_AT_ONCE", 2_000)
        at_once = sent()
    run = sent(model="acme/other")
    told = shown("run", run)
    assert run.job.state == "preparing"
    for part in ("Taken in 0 of 12 answers", "1 answer to no sum", TOLD, "sum-3"):
        assert part in told, part
    with monkeypatch.context() as patch:
        patch.setattr(importing, "take_in", after_one_part(Killed))
        with pytest.raises(Killed):
            prepare()
    assert len(taken_in(run)) == 5 and "Taken in 5 of 12 answers" in shown("run", run)
    prepare()
    run.job.refresh_from_db()
    assert run.job.standing == at_once.job.standing and not RunParcel.objects.exists()
    assert taken_in(run) == taken_in(at_once) and len(scores_of(run)) == len(scores_of(at_once)) > 0
    told = api_of(cast.alice).get(f"/api/v1/projects/minds/runs/{run.uid}/").json()["left_out"]
    assert told == {"unmatched": [NOBODYS], "double": [], "missing": ["sum-3"], "unanswered": []}


def test_what_failed_or_was_cancelled_keeps_nothing_and_can_be_imported_again(
    alice, sent, shown, in_parts, monkeypatch
):
    run = sent()
    with monkeypatch.context() as patch:
        patch.setattr(importing, "take_in", after_one_part(ValueError))
        prepare()
    run.job.refresh_from_db()
    assert (run.job.standing, run.job.note) == ("failed", importing.FAILED) and nothing_is_left()
    assert importing.FAILED.replace("'", "&#x27;") in shown("run", run)
    run = sent()
    cancel = of_run(run, "run_action", "cancel")
    assert importing.take_next(run) and len(taken_in(run)) == 5
    told = shown("run", run)
    assert cancel in told and "can be imported again" in told and "job-retry" not in told
    for refused in ("pause", "retry", "resume"):
        with pytest.raises(JobRefused, match="were imported"):
            act_on(Run.objects.get(pk=run.pk), refused)
    assert alice.post(cancel).status_code == 302
    assert not importing.take_next(run)
    prepare()
    run.job.refresh_from_db()
    assert run.job.state == "cancelled" and nothing_is_left()
    told = shown("run", run)
    assert "nothing of it was kept" in told and cancel not in told
    again = sent()
    prepare()
    assert len(taken_in(again)) == 12
    with pytest.raises(JobRefused, match="were imported"):
        act_on(Run.objects.select_related("job").get(pk=again.pk), "cancel")


# --- large files


@pytest.fixture
def large(monkeypatch):
    """Every file is left to the workers, in rows of 100 bytes."""
    monkeypatch.setattr(importing, "BYTES_AT_ONCE", 0)
    monkeypatch.setattr(importing, "_STRETCH", 100)


def test_a_worker_reads_large_files_also_after_it_was_killed(alice, page, sent, shown, large, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(importing, "BYTES_AT_ONCE", 1_000_000)
        at_once = sent(title="")
    told = written(alice.post(page, said(model="acme/other"), headers=HTMX))
    assert "are read by a worker" in told and "data-import" in told and Run.objects.count() == 1
    run = sent(model="acme/other", title="")
    told = shown("run", run)
    assert run.job.state == "preparing" and "Reading <bdi>answers.json</bdi>" in told and 'id="run-prepared"' in told
    assert UnreadParcel.objects.filter(run=run).count() > 1 and run.title == "Imported from answers.json"
    assert shown("runs")
    for name in ("preview_of", "_keep_what_was_read", "refuse_twice"):
        with monkeypatch.context() as patch:
            patch.setattr(importing, name, _killed)
            with pytest.raises(Killed):
                prepare()
        assert not run.entrants.exists() and not RunParcel.objects.exists()
    prepare()
    run = Run.objects.select_related("job").get(pk=run.pk)
    assert run.job.standing == at_once.job.standing and taken_in(run) == taken_in(at_once)
    assert not any(model.objects.exists() for model in (UnreadParcel, RunParcel, RunPreparation))
    assert run.params == at_once.params and run.steps == at_once.steps
    for name in ("file", "digest", "by", "format", "records", "unmatched", "double", "facts"):
        assert getattr(run.imported, name) == getattr(at_once.imported, name), name
    assert run.title == run.job.title == "acme/other: imported from answers.json"
    assert UnmatchedReport.objects.get(run=run).missing == ["sum-3"] and TOLD in shown("run", run)


def test_what_is_wrong_with_a_large_file_stands_on_the_page_of_its_run(alice, page, shown, large):
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
        told = shown("run", run)
        assert sentence in told and "job-retry" not in told and nothing_is_left() and not run.entrants.exists()
        assert shown("runs") and shown("leaderboard") and shown("run_made", run)
        assert alice.post(of_run(run, "delete_run")).status_code == 302
        assert not Run.objects.exists()


def test_a_large_file_is_a_run_once_on_the_page_and_over_the_api(alice, cast, sent, large):
    run = sent()
    assert alice.post(of_run(run, "run_action", "cancel")).status_code == 302
    prepare()
    assert nothing_is_left()
    first, second = sent(), sent()
    prepare()
    jobs = Job.objects.in_bulk([first.job_id, second.job_id])
    ended, refused = sorted(jobs.values(), key=lambda job: job.standing == "failed")
    assert ended.standing != "failed" and "are a run already" in refused.note
    assert RunItem.objects.count() == 12
    api = api_of(cast.alice)
    made = api.post(RUNS, BODY | {"model": "acme/other"}, format="json")
    told = made.json()
    assert made.status_code == 201 and (told["state"], told["models"]) == ("preparing", [])
    assert told["preparing"] == {"done": 0, "of": 0}
    prepare()
    told = api.get(f"/api/v1/projects/minds/runs/{told['run']}/").json()
    assert told["models"] == ["acme/other"] and told["left_out"]["unmatched"] == [NOBODYS]
