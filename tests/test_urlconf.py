"""Every URL has one row here: who may open it. A URL without a row fails, a stranger is refused everywhere."""

import re
from html import unescape
from urllib.parse import urljoin

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import Assignment, Invitation, Membership, Prefill, Proposition, PropositionFlag, Suggestion
from annotation.services.votes import Change, save_votes
from benchmark.models import Dataset, DatasetSample, EnteredRow, Entrant, Run, RunItem
from benchmark.services.snapshots import save_run_snapshot
from config import api
from judge.models import Alignment, AlignmentStudy, AlignmentTask, AnchorWatch
from tests.api.conftest import token_of
from tests.cast import Cast, new_cast, new_story
from tests.copies import copied
from workers.models import Call, Endpoint, EndpointRateLimit, Job

PUBLIC, MEMBER = "public", "any account"
ANNOTATOR, EXPERT, ADMIN, ASSIGNED, SITE = "annotator", "expert", "admin", "assigned", "site admin"

NAMES = {
    (PUBLIC, ""): (
        "login site_admin_login password_reset password_reset_done password_reset_confirm invitation language"
    ),
    (MEMBER, ""): (
        "answer_invitation logout account make_api_token end_api_token password_change password_change_done"
        " site_admin_password_change"
    ),
    (MEMBER, "annotation:"): "home",
    (ANNOTATOR, "annotation:"): "project guidelines guideline stories story work next_story overruled",
    (ANNOTATOR, "judge:"): "studies next",
    (ANNOTATOR, "benchmark:"): "leaderboard",
    (ASSIGNED, "annotation:"): "grid save_votes undo_vote comments flag",
    (ASSIGNED, "judge:"): "align save answers undo",
    (EXPERT, "annotation:"): (
        "table_edit proposition_edit tables next_table table_figures reconcile pair_rows save_pairs link_pairs"
        " undo_pairs draft save_draft undo_draft draft_versions adjudication next_open save_decisions undo_decisions"
        " keep_claims similar alike majorities adjudicate decide file_case cell_history reply flags decide_flag"
        " guideline_cases agreement agreement_annotators agreement_csv agreement_opinions anchoring draft_effect"
    ),
    (EXPERT, "judge:"): "study decide save_decisions",
    (EXPERT, "benchmark:"): "datasets dataset dataset_present stale_runs dataset_difference",
    (ADMIN, "annotation:"): (
        "settings audit gold_audit people change_role revoke_invitation release_table import assignments release"
        " effort effort_csv export download archive prefills prefill prefill_progress prefill_action"
        " discard_suggestions"
    ),
    (ADMIN, "judge:"): (
        "download_csv download_json align_runs grow_alignment run_judges run_judges_table calibration watches watch"
        " new_watch estimate_watch calibration_rows calibration_table calibration_panel calibration_panel_table"
    ),
    (ADMIN, "benchmark:"): (
        "judge_test run_sweep run_sweep_table publish_version import_copy audience prompt_sets prompt_set"
        " discard_prompt_set launch import_answers estimate prompt_preview extend_run add_controls estimate_controls"
        " flips judge_anew run_again estimate_extension estimate_judging estimate_again read_again follow_up"
        " run_action rename_run archive_run restore_run delete_run runs run_gold run run_progress run_made run_items"
        " run_item run_item_answer run_results run_report save_run_snapshot run_table run_plot run_scores"
        " official_output leaderboard_table leaderboard_plot across save_across_snapshot across_table across_plot"
        " entered_rows enter_row edit_row remove_row differences differences_table items_apart items_file structure"
        " structure_story structure_table structure_plot gold_kinds gold_kinds_cells gold_kinds_table doubtful"
        " doubtful_file second_look save_looks undo_looks doubtful_cell compare compare_story save_comparison_snapshot"
        " save_leaderboard_snapshot comparison_table comparison_plot snapshots snapshot snapshot_items snapshot_item"
        " snapshot_answer snapshot_table snapshot_plot"
    ),
    (SITE, "annotation:"): "new_project",
    (SITE, "workers:"): (
        "endpoints new_endpoint endpoint try_endpoint tried ledger call spending work work_state job job_progress"
        " job_action"
    ),
}
"""The least role that may open the pages of these names. ASSIGNED: only who labels that story. Results are the admins'
alone until they say otherwise (tests/benchmark/test_run_pages.py); who may not see them reads at `leaderboard` who
can."""
PAGES = {f"{space}{name}": role for (role, space), names in NAMES.items() for name in names.split()}


def _named(patterns, namespace="", above=()) -> list[tuple[str, list[str]]]:
    found = []
    for one in patterns:
        if isinstance(one, URLResolver):
            inner = f"{namespace}{one.namespace}:" if one.namespace else namespace
            found += _named(one.url_patterns, inner, [*above, *one.pattern.converters])
        elif isinstance(one, URLPattern):
            found.append((f"{namespace}{one.name}", [*above, *one.pattern.converters]))
    return found


ELSEWHERE = ("admin:", "api:", "api-")  # they have tests of their own (tests/test_security.py, tests/api)
URLS = [(name, kwargs) for name, kwargs in _named(get_resolver().url_patterns) if not name.startswith(ELSEWHERE)]
OPERATIONS = [(name, kwargs) for name, kwargs in _named(api.urlpatterns, "api:") if kwargs or name != "api:nothing"]


@pytest.fixture
def held(db) -> tuple[Cast, dict[str, str]]:
    return copied("addresses", _held)


@pytest.fixture
def cast(held) -> Cast:
    return held[0]


@pytest.fixture
def addresses(held) -> dict[str, str]:
    """A real address for every URL, with objects that exist."""
    return held[1]


def _held() -> tuple[Cast, dict[str, str]]:
    cast = new_cast()
    story = new_story(cast)
    assignments = [
        Assignment.objects.create(story=story, annotator=person, slot=slot, overlap=cast.project.overlap)
        for slot, person in enumerate(cast.annotators, 1)
    ]
    proposition = Proposition.objects.gold_of(story).first()
    flag = PropositionFlag.objects.create(proposition=proposition, author=cast.bob, kind="reword", remark="unclear")
    invitation = Invitation.objects.create(
        project=cast.project, role="annotator", token_hash="0" * 64, created_by=cast.alice, expires_at=timezone.now()
    )
    call = _call()
    job = Job.objects.create(handler="prefill", title="Trial")
    place = _place(cast.project, call)
    report = save_run_snapshot(by=None, run=place.entrant.run)
    rounds = Prefill.objects.create(project=cast.project, job=job, endpoint=call.endpoint, level=3, prompt="p")
    values = {
        "slug": "minds", "uid": call.uid, "round": rounds.uid, "story": story.uid, "proposition": proposition.uid,
        "dimension": "order", "assignment": assignments[0].uid, "flag": flag.uid, "invitation": invitation.pk,
        "membership": Membership.objects.get(user=cast.bob).pk, "token": "some-token", "uidb64": "MQ",
        "format": "omnitom", "expert": cast.esi.pk, "pk": 1, "person": "p1", "number": 1, "name": call.endpoint.name,
        "action": "pause", "version": 1, "old": 1, "new": 1, "table": "stage2", "data": "csv",
        "plot": "leaderboard-stage2", "picture": "svg", "report": report.uid, "entrant": place.entrant.pk,
        "row": _row_of_a_paper(cast.project),
    }  # fmt: skip
    own = {"benchmark": {"uid": place.entrant.run.uid, "pk": place.pk, "name": "omnitom-1", "suite": "tombench"}}
    own |= {"benchmark:gold_kinds_table": {"table": "by-kind"}}
    own |= {"benchmark:across_table": {"table": "across"}, "benchmark:across_plot": {"plot": "across"}}
    study = {"uid": AlignmentStudy.objects.create(project=cast.project, name="Calibration").uid}
    own |= {f"judge:calibration{tail}": study for tail in ("", "_rows", "_panel")}
    own |= {"judge:calibration_table": study | {"table": "agreement"}}
    own |= {"judge:calibration_panel_table": study | {"table": "panel"}}
    of_run = {"uid": place.entrant.run.uid}
    own |= {f"judge:{name}": of_run for name in ("new_watch", "estimate_watch", "run_judges")}
    own |= {"judge:run_judges_table": of_run | {"table": "judges"}}
    own["judge:watch"] = {"uid": _watch(place.entrant).uid}
    kept = of_run | {"pk": report.items.get().pk}
    own |= {"benchmark:snapshot_item": kept, "benchmark:snapshot_answer": kept} | _alignment(cast)
    of_api = {"run": place.entrant.run.uid, "study": study["uid"], "watch": own["judge:watch"]["uid"], "item": place.pk}
    own["api"] = of_api | {"kind": "omnitom"}
    own |= {name: {"uid": job.uid} for name in ("workers:job", "workers:job_progress", "workers:job_action")}
    addresses = {}
    for name, kwargs in [*URLS, *OPERATIONS]:
        held = values | own.get(name, own.get(name.partition(":")[0], {}))
        addresses[name] = reverse(name, kwargs={key: held[key] for key in kwargs})
    return cast, addresses


def _watch(entrant) -> AnchorWatch:
    """A stopped watch of which nothing has been asked."""
    fields = {"step": "extract", "rounds": 3, "every": 7, "drop": 0.1}
    return AnchorWatch.objects.create(project=entrant.run.project, run=entrant.run, asked=entrant.endpoint, **fields)


def _alignment(cast) -> dict[str, dict[str, str]]:
    """A study whose table Bob aligns, by address."""
    study = AlignmentStudy.objects.create(project=cast.project, name="Study", overlap=1)
    task = AlignmentTask.objects.create(
        study=study, key="1", source="tiny", cluster="1", number=1, text="It rains.", place=1, probability=1,
        predictions=[["world", "It rains."]], gold=[["world", "It pours."]],
    )  # fmt: skip
    alignment = Alignment.objects.create(task=task, annotator=cast.bob, slot=1)
    of_study = {"uid": study.uid, "table": task.uid}
    tables = {key: {"uid": alignment.uid} for key in ("judge:align", "judge:save", "judge:answers", "judge:undo")}
    return {"judge": of_study, "judge:grow_alignment": of_study, **tables}


def _row_of_a_paper(project) -> str:
    fields = {"suite": "tombench", "kind": "human", "source": "A paper", "metrics": {"tombench.accuracy": "86.1"}}
    return EnteredRow.objects.create(project=project, name="Human", **fields).uid


def _call():
    endpoint = Endpoint.objects.create(name="tiny", provider="scripted", model="tiny")
    EndpointRateLimit.objects.create(endpoint=endpoint)
    body = '{"messages": [{"role": "user", "content": "Who?"}]}'
    return Call.objects.create(
        key="0" * 64, endpoint=endpoint, provider="scripted", model="tiny", body=body, planned_at=timezone.now()
    )


def _place(project, call):
    """An answered place of a run."""
    dataset = Dataset.objects.create(
        project=project, version=1, digest="0" * 64, schema_version="1", rule_version="1", stories_count=1,
        propositions_count=0, overlap=3, unanimity_dimensions=[],
    )  # fmt: skip
    labels = {one.key: one.values[0] for one in DEFAULT_SCHEMA.dimensions}
    story = DatasetSample.objects.create(
        dataset=dataset, position=0, number=1, category="c", digest="0" * 64, key="1", cluster="1",
        content={"story": "t"}, gold={"beliefs": [{"actor": "world", "belief": "It rains.", "labels": labels}]},
        votes={"zoe": [list(labels.values())]},
        methods=[["imported"] * len(labels)],
    )  # fmt: skip
    spec = {"dataset": {"version": 1, "digest": "0" * 64}, "prompts": {}, "judge": None}
    params = {"stories": 1, "judge_level": 4, "shots": 3, "examples": 1, "with_story": True, "max_tokens": 9, "seed": 1}
    run = Run.objects.create(
        project=project, dataset=dataset, suite="omnitom", title="Run", steps=["label"], level=3,
        prompt_set="omnitom-1",
        params=params, spec=spec,
        job=Job.objects.create(handler="evaluation", title="Run", state="finished", outcome="finished"),
    )  # fmt: skip
    entrant = Entrant.objects.create(run=run, endpoint=call.endpoint, position=0, name="tiny")
    return RunItem.objects.create(entrant=entrant, sample=story, step="label", call=call)


def _statuses(client, address: str) -> set[int]:
    """What it answers to whoever reads and whoever sends; what that changes is taken back."""
    with transaction.atomic():
        statuses = {client.get(address).status_code, client.post(address).status_code}
        transaction.set_rollback(True)
    return statuses


@pytest.mark.once
def test_nobody_opens_a_page_without_logging_in(addresses, client, subtests):
    assert sorted({name for name, _ in URLS} - set(PAGES)) == [], "every URL has a least role"
    for name, _ in URLS:
        with subtests.test(name), transaction.atomic():
            for method in (client.get, client.post):
                response = method(addresses[name])
                if PAGES[name] == PUBLIC:
                    assert response.status_code < 500
                elif response.status_code != 405:
                    assert response.status_code == 302 and response["Location"].startswith("/login/")
            transaction.set_rollback(True)


@pytest.mark.once
def test_a_stranger_and_a_role_that_is_too_low_are_refused(addresses, cast, client, subtests):
    strangers = {ANNOTATOR: [], EXPERT: ["bob"], ADMIN: ["bob", "esi"], ASSIGNED: ["esi", "alice"], SITE: ["alice"]}
    for person in ("charlie", "bob", "esi", "alice"):
        client.force_login(getattr(cast, person))
        for name, _ in URLS:
            if PAGES[name] in strangers and person in ["charlie", *strangers[PAGES[name]]]:
                with subtests.test(f"{person} {name}"):
                    assert _statuses(client, addresses[name]) <= {403, 404, 405}


def opener(least: str, cast: Cast):
    """Return who has the least role, None where nobody has to log in."""
    who = {PUBLIC: None, MEMBER: cast.bob, ANNOTATOR: cast.bob, ASSIGNED: cast.bob, EXPERT: cast.esi, ADMIN: cast.alice}
    if least == SITE:
        cast.alice.is_superuser = True
        cast.alice.save()
    return who.get(least, cast.alice)


HREF = re.compile(rb'<a\b[^>]*?\bhref="([^"#]+)', re.DOTALL)


@pytest.mark.parametrize("least", sorted({*PAGES.values()}))
def test_who_may_gets_an_answer_and_never_an_error(least, addresses, cast, client, subtests):
    person = opener(least, cast)
    if person is not None:
        client.force_login(person)
    for name, _ in URLS:
        if PAGES[name] == least:
            with subtests.test(name), transaction.atomic():
                assert client.get(addresses[name]).status_code in {200, 302, 405, 410}
                transaction.set_rollback(True)


@pytest.mark.once
@pytest.mark.parametrize("person", ["bob", "esi"])
def test_no_link_leads_to_a_refusal(person, addresses, cast, client):
    """Whoever opens a page may follow each of its links; admins may open what there is."""
    client.force_login(getattr(cast, person))
    links = {}
    for name, _ in URLS:
        page = client.get(addresses[name])
        if page.status_code == 200 and not page.streaming:
            found = (urljoin(addresses[name], unescape(one.decode())) for one in HREF.findall(page.content))
            links |= {link: name for link in found if link.startswith("/")}
    assert len(links) > 15
    assert {link: name for link, name in links.items() if client.get(link).status_code >= 400} == {}


WRITE = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)\b(?!.*\bdjango_session\b)", re.IGNORECASE | re.DOTALL)


def writes_of(client, address: str) -> list[str]:
    """Return the statements of a GET that write, outside of sessions."""
    written = []

    def watch(execute, sql, parameters, many, context):
        if WRITE.match(sql):
            written.append(sql[:200])
        return execute(sql, parameters, many, context)

    with transaction.atomic(), connection.execute_wrapper(watch):
        client.get(address)
        transaction.set_rollback(True)
    return written


@pytest.mark.once
def test_nothing_is_written_when_it_is_read(addresses, cast, client, subtests):
    """Bob, Bea and Ben voted differently on all rows, so that experts have cells to decide."""
    story = cast.project.stories.get(number=1)
    now, rows = timezone.now(), Proposition.objects.gold_of(story)
    for assignment, label in zip(story.assignments.order_by("slot"), ("0", "1", "2"), strict=True):
        changes = [Change(row.uid, "order", label, now, f"{row.uid}{label}") for row in rows]
        save_votes(by=assignment.annotator, assignment=assignment, changes=changes, now=now)
    Suggestion.objects.create(proposition=rows[0], dimension="order", label="0", source="tiny", created_at=now)
    queries = {"annotation:similar": "?dimension=order&votes=0%7C1%7C2"}
    for name, _ in URLS:
        with subtests.test(name):
            if (person := opener(PAGES[name], cast)) is not None:
                client.force_login(person)
            assert writes_of(client, addresses[name] + queries.get(name, "")) == []
    token = {"HTTP_AUTHORIZATION": f"Token {token_of(cast.alice)}"}
    for name, _ in OPERATIONS:
        with subtests.test(name):
            assert writes_of(Client(**token), addresses[name]) == []
