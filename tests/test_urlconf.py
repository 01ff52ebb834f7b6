"""Every URL has one row here: who may open it. A URL without a row fails, a stranger is refused everywhere."""

from __future__ import annotations

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
from config import api
from judge.models import AlignmentStudy, AnchorWatch
from tests.api.conftest import token_of
from tests.cast import Cast, new_cast, new_story
from tests.copies import copied
from workers.models import Job

PUBLIC, MEMBER = "public", "any account"
ANNOTATOR, EXPERT, ADMIN, ASSIGNED, SITE = "annotator", "expert", "admin", "assigned", "site admin"

# name → the least role that may open it. ASSIGNED: only who labels that story.
PAGES = {
    "login": PUBLIC,
    "site_admin_login": PUBLIC,
    "password_reset": PUBLIC,
    "password_reset_done": PUBLIC,
    "password_reset_confirm": PUBLIC,
    "invitation": PUBLIC,
    "answer_invitation": MEMBER,
    "language": PUBLIC,
    "logout": MEMBER,
    "account": MEMBER,
    "make_api_token": MEMBER,
    "end_api_token": MEMBER,
    "password_change": MEMBER,
    "password_change_done": MEMBER,
    "site_admin_password_change": MEMBER,
    "annotation:home": MEMBER,
    "annotation:new_project": SITE,
    "annotation:project": ANNOTATOR,
    "annotation:settings": ADMIN,
    "annotation:guidelines": ANNOTATOR,
    "annotation:guideline": ANNOTATOR,
    "annotation:audit": ADMIN,
    "annotation:gold_audit": ADMIN,
    "annotation:people": ADMIN,
    "annotation:change_role": ADMIN,
    "annotation:revoke_invitation": ADMIN,
    "annotation:stories": ANNOTATOR,
    "annotation:story": ANNOTATOR,
    "annotation:table_edit": EXPERT,
    "annotation:proposition_edit": EXPERT,
    "annotation:tables": EXPERT,
    "annotation:next_table": EXPERT,
    "annotation:table_figures": EXPERT,
    "annotation:release_table": ADMIN,
    "annotation:reconcile": EXPERT,
    "annotation:lane_rows": EXPERT,
    "annotation:save_lanes": EXPERT,
    "annotation:link_lanes": EXPERT,
    "annotation:undo_lanes": EXPERT,
    "annotation:draft": EXPERT,
    "annotation:save_draft": EXPERT,
    "annotation:undo_draft": EXPERT,
    "annotation:draft_versions": EXPERT,
    "annotation:import": ADMIN,
    "annotation:assignments": ADMIN,
    "annotation:release": ADMIN,
    "annotation:work": ANNOTATOR,
    "annotation:next_story": ANNOTATOR,
    "annotation:grid": ASSIGNED,
    "annotation:save_votes": ASSIGNED,
    "annotation:undo_vote": ASSIGNED,
    "annotation:comments": ASSIGNED,
    "annotation:flag": ASSIGNED,
    "annotation:overruled": ANNOTATOR,
    "annotation:adjudication": EXPERT,
    "annotation:next_open": EXPERT,
    "annotation:save_decisions": EXPERT,
    "annotation:undo_decisions": EXPERT,
    "annotation:keep_claims": EXPERT,
    "annotation:similar": EXPERT,
    "annotation:alike": EXPERT,
    "annotation:majorities": EXPERT,
    "annotation:adjudicate": EXPERT,
    "annotation:decide": EXPERT,
    "annotation:file_case": EXPERT,
    "annotation:cell_history": EXPERT,
    "annotation:reply": EXPERT,
    "annotation:flags": EXPERT,
    "annotation:decide_flag": EXPERT,
    "annotation:guideline_cases": EXPERT,
    "annotation:agreement": EXPERT,
    "annotation:agreement_annotators": EXPERT,
    "annotation:agreement_csv": EXPERT,
    "annotation:agreement_opinions": EXPERT,
    "annotation:effort": ADMIN,
    "annotation:effort_csv": ADMIN,
    "annotation:export": ADMIN,
    "annotation:download": ADMIN,
    "annotation:archive": ADMIN,
    "annotation:prefills": ADMIN,
    "annotation:prefill": ADMIN,
    "annotation:prefill_progress": ADMIN,
    "annotation:prefill_action": ADMIN,
    "annotation:discard_suggestions": ADMIN,
    "annotation:anchoring": EXPERT,
    "annotation:draft_effect": EXPERT,
    "workers:endpoints": SITE,
    "workers:new_endpoint": SITE,
    "workers:endpoint": SITE,
    "workers:try_endpoint": SITE,
    "workers:tried": SITE,
    "workers:ledger": SITE,
    "workers:call": SITE,
    "workers:spending": SITE,
    "workers:work": SITE,
    "workers:work_state": SITE,
    "workers:job": SITE,
    "workers:job_progress": SITE,
    "workers:job_action": SITE,
    "judge:studies": ANNOTATOR,
    "judge:next": ANNOTATOR,
    "judge:align": ASSIGNED,
    "judge:save": ASSIGNED,
    "judge:answers": ASSIGNED,
    "judge:undo": ASSIGNED,
    "judge:study": EXPERT,
    "judge:download_csv": ADMIN,
    "judge:download_json": ADMIN,
    "judge:decide": EXPERT,
    "judge:save_decisions": EXPERT,
    "judge:align_runs": ADMIN,
    "judge:grow_alignment": ADMIN,
    "benchmark:judge_test": ADMIN,
    "judge:run_judges": ADMIN,
    "judge:run_judges_table": ADMIN,
    "benchmark:run_sweep": ADMIN,
    "benchmark:run_sweep_table": ADMIN,
    "judge:calibration": ADMIN,
    "judge:watches": ADMIN,
    "judge:watch": ADMIN,
    "judge:new_watch": ADMIN,
    "judge:estimate_watch": ADMIN,
    "judge:calibration_rows": ADMIN,
    "judge:calibration_table": ADMIN,
    "judge:calibration_panel": ADMIN,
    "judge:calibration_panel_table": ADMIN,
    "benchmark:datasets": EXPERT,
    "benchmark:dataset": EXPERT,
    "benchmark:publish_version": ADMIN,
    "benchmark:dataset_present": EXPERT,
    "benchmark:import_copy": ADMIN,
    "benchmark:audience": ADMIN,
    "benchmark:stale_runs": EXPERT,
    "benchmark:dataset_difference": EXPERT,
    "benchmark:prompt_sets": ADMIN,
    "benchmark:prompt_set": ADMIN,
    "benchmark:discard_prompt_set": ADMIN,
    "benchmark:launch": ADMIN,
    "benchmark:import_answers": ADMIN,
    "benchmark:estimate": ADMIN,
    "benchmark:prompt_preview": ADMIN,
    "benchmark:extend_run": ADMIN,
    "benchmark:add_controls": ADMIN,
    "benchmark:estimate_controls": ADMIN,
    "benchmark:flips": ADMIN,
    "benchmark:judge_anew": ADMIN,
    "benchmark:run_again": ADMIN,
    "benchmark:estimate_extension": ADMIN,
    "benchmark:estimate_judging": ADMIN,
    "benchmark:estimate_again": ADMIN,
    "benchmark:read_again": ADMIN,
    "benchmark:follow_up": ADMIN,
    "benchmark:run_action": ADMIN,
    "benchmark:rename_run": ADMIN,
    "benchmark:archive_run": ADMIN,
    "benchmark:restore_run": ADMIN,
    "benchmark:delete_run": ADMIN,
    # Results are the admins' alone until they say otherwise (tests/benchmark/test_run_pages.py).
    "benchmark:runs": ADMIN,
    "benchmark:run_gold": ADMIN,
    "benchmark:run": ADMIN,
    "benchmark:run_progress": ADMIN,
    "benchmark:run_made": ADMIN,
    "benchmark:run_items": ADMIN,
    "benchmark:run_item": ADMIN,
    "benchmark:run_item_answer": ADMIN,
    "benchmark:run_results": ADMIN,
    "benchmark:run_report": ADMIN,
    "benchmark:save_run_snapshot": ADMIN,
    "benchmark:run_table": ADMIN,
    "benchmark:run_plot": ADMIN,
    "benchmark:run_scores": ADMIN,
    "benchmark:official_output": ADMIN,
    "benchmark:leaderboard": ANNOTATOR,  # who may not see results reads there who can
    "benchmark:leaderboard_table": ADMIN,
    "benchmark:leaderboard_plot": ADMIN,
    "benchmark:across": ADMIN,
    "benchmark:save_across_snapshot": ADMIN,
    "benchmark:across_table": ADMIN,
    "benchmark:across_plot": ADMIN,
    "benchmark:entered_rows": ADMIN,
    "benchmark:enter_row": ADMIN,
    "benchmark:edit_row": ADMIN,
    "benchmark:remove_row": ADMIN,
    "benchmark:differences": ADMIN,
    "benchmark:differences_table": ADMIN,
    "benchmark:items_apart": ADMIN,
    "benchmark:items_file": ADMIN,
    "benchmark:structure": ADMIN,
    "benchmark:structure_story": ADMIN,
    "benchmark:structure_table": ADMIN,
    "benchmark:structure_plot": ADMIN,
    "benchmark:gold_kinds": ADMIN,
    "benchmark:gold_kinds_cells": ADMIN,
    "benchmark:gold_kinds_table": ADMIN,
    "benchmark:doubtful": ADMIN,
    "benchmark:doubtful_file": ADMIN,
    "benchmark:second_look": ADMIN,
    "benchmark:save_looks": ADMIN,
    "benchmark:undo_looks": ADMIN,
    "benchmark:doubtful_cell": ADMIN,
    "benchmark:compare": ADMIN,
    "benchmark:compare_story": ADMIN,
    "benchmark:save_comparison_snapshot": ADMIN,
    "benchmark:save_leaderboard_snapshot": ADMIN,
    "benchmark:comparison_table": ADMIN,
    "benchmark:comparison_plot": ADMIN,
    "benchmark:snapshots": ADMIN,
    "benchmark:snapshot": ADMIN,
    "benchmark:snapshot_items": ADMIN,
    "benchmark:snapshot_item": ADMIN,
    "benchmark:snapshot_answer": ADMIN,
    "benchmark:snapshot_table": ADMIN,
    "benchmark:snapshot_plot": ADMIN,
}
# Django's admin and the API have tests of their own (tests/test_security.py, tests/api).
ELSEWHERE = ("admin:", "api:", "api-")


def _named(patterns, namespace="", above=()) -> list[tuple[str, list[str]]]:
    found = []
    for one in patterns:
        if isinstance(one, URLResolver):
            inner = f"{namespace}{one.namespace}:" if one.namespace else namespace
            found += _named(one.url_patterns, inner, [*above, *one.pattern.converters])
        elif isinstance(one, URLPattern):
            found.append((f"{namespace}{one.name}", [*above, *one.pattern.converters]))
    return found


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
    report = _report(place)
    values = {
        "slug": "minds",
        "uid": call.uid,
        "round": Prefill.objects.create(project=cast.project, job=job, endpoint=call.endpoint, level=3, prompt="p").uid,
        "story": story.uid,
        "proposition": proposition.uid,
        "dimension": "order",
        "assignment": assignments[0].uid,
        "flag": flag.uid,
        "membership": Membership.objects.get(user=cast.bob).pk,
        "invitation": invitation.pk,
        "token": "some-token",
        "uidb64": "MQ",
        "format": "omnitom",
        "expert": cast.esi.pk,
        "pk": 1,
        "person": "p1",
        "number": 1,
        "name": call.endpoint.name,
        "action": "pause",
        "version": 1,
        "old": 1,
        "new": 1,
        "table": "stage2",
        "data": "csv",
        "plot": "leaderboard-stage2",
        "picture": "svg",
        "report": report.uid,
        "entrant": place.entrant.pk,
        "row": _row_of_a_paper(cast.project),
    }
    own = {"benchmark": {"uid": place.entrant.run.uid, "pk": place.pk, "name": "omnitom-1", "suite": "tombench"}}
    own |= {"benchmark:gold_kinds_table": {"table": "by-kind"}}
    own |= {"benchmark:across_table": {"table": "across"}, "benchmark:across_plot": {"plot": "across"}}
    study = {"uid": AlignmentStudy.objects.create(project=cast.project, name="Calibration").uid}
    own |= dict.fromkeys(CALIBRATIONS, study)
    own |= {"judge:calibration_table": study | {"table": "agreement"}}
    own |= {"judge:calibration_panel_table": study | {"table": "panel"}}
    of_run = {"uid": place.entrant.run.uid}
    own |= {f"judge:{name}": of_run for name in ("new_watch", "estimate_watch", "run_judges")}
    own |= {"judge:run_judges_table": of_run | {"table": "judges"}}
    own["judge:watch"] = {"uid": _watch(place.entrant).uid}
    kept = {"uid": place.entrant.run.uid, "pk": report.items.get().pk}
    own |= dict.fromkeys(("benchmark:snapshot_item", "benchmark:snapshot_answer"), kept)
    own |= _alignment(cast)
    of_api = {"run": place.entrant.run.uid, "study": study["uid"], "watch": own["judge:watch"]["uid"], "item": place.pk}
    own["api"] = of_api | {"kind": "omnitom"}
    jobs = {name: job.uid for name in ("workers:job", "workers:job_progress", "workers:job_action")}
    addresses = {
        name: reverse(
            name, kwargs=_chosen(kwargs, values, own.get(name) or own.get(name.partition(":")[0], {}), jobs.get(name))
        )
        for name, kwargs in [*URLS, *OPERATIONS]
    }
    return cast, addresses


def _chosen(kwargs, values, own, uid) -> dict:
    held = values | own | ({"uid": uid} if uid else {})
    return {key: held[key] for key in kwargs}


CALIBRATIONS = [f"judge:calibration{tail}" for tail in ("", "_rows", "_panel")]


def _watch(entrant) -> AnchorWatch:
    """A stopped watch of which nothing has been asked."""
    return AnchorWatch.objects.create(
        project=entrant.run.project,
        run=entrant.run,
        asked=entrant.endpoint,
        step="extract",
        rounds=3,
        every=7,
        drop=0.1,
    )


def _alignment(cast) -> dict[str, dict[str, str]]:
    """A study whose table Bob aligns, by address."""
    from judge.models import Alignment, AlignmentStudy, AlignmentTask

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
    from benchmark.models import EnteredRow

    fields = {"suite": "tombench", "kind": "human", "source": "A paper", "metrics": {"tombench.accuracy": "86.1"}}
    return EnteredRow.objects.create(project=project, name="Human", **fields).uid


def _call():
    from workers.models import Call, Endpoint, EndpointRateLimit

    endpoint = Endpoint.objects.create(name="tiny", provider="scripted", model="tiny")
    EndpointRateLimit.objects.create(endpoint=endpoint)
    body = '{"messages": [{"role": "user", "content": "Who?"}]}'
    return Call.objects.create(
        key="0" * 64, endpoint=endpoint, provider="scripted", model="tiny", body=body, planned_at=timezone.now()
    )


def _place(project, call):
    """An answered place of a run."""
    from benchmark.models import Dataset, DatasetSample, Entrant, Run, RunItem
    from workers.models import Job

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


def _report(place):
    from benchmark.services.snapshots import save_run_snapshot

    return save_run_snapshot(by=None, run=place.entrant.run)


def test_every_url_has_a_row():
    assert sorted({name for name, _ in URLS} - set(PAGES)) == []


def _statuses(client, address: str) -> set[int]:
    """What it answers to whoever reads and whoever sends; what that changes is taken back."""
    with transaction.atomic():
        statuses = {client.get(address).status_code, client.post(address).status_code}
        transaction.set_rollback(True)
    return statuses


@pytest.mark.once
def test_nobody_opens_a_page_without_logging_in(addresses, client, subtests):
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
def test_a_stranger_is_refused(addresses, cast, client, subtests):
    client.force_login(cast.charlie)
    for name, _ in URLS:
        if PAGES[name] not in (PUBLIC, MEMBER):
            with subtests.test(name):
                assert _statuses(client, addresses[name]) <= {403, 404, 405}


@pytest.mark.once
@pytest.mark.parametrize("person", ["bob", "esi", "alice"])
def test_a_role_that_is_too_low_is_refused(person, addresses, cast, client, subtests):
    too_low = {EXPERT: ["bob"], ADMIN: ["bob", "esi"], ASSIGNED: ["esi", "alice"], SITE: ["alice"]}
    client.force_login(getattr(cast, person))
    for name, _ in URLS:
        if person in too_low.get(PAGES[name], ()):
            with subtests.test(name):
                assert _statuses(client, addresses[name]) <= {403, 404, 405}


def opener(least: str, cast: Cast):
    """Return who has the least role, None where nobody has to log in."""
    who = {PUBLIC: None, MEMBER: cast.bob, ANNOTATOR: cast.bob, ASSIGNED: cast.bob, EXPERT: cast.esi, ADMIN: cast.alice}
    if least == SITE:
        cast.alice.is_superuser = True
        cast.alice.save()
    return who.get(least, cast.alice)


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


HREF = re.compile(rb'<a\b[^>]*?\bhref="([^"#]+)', re.DOTALL)


@pytest.mark.once
@pytest.mark.parametrize("person", ["bob", "esi"])
def test_no_link_leads_to_a_refusal(person, addresses, cast, client):
    """Whoever opens a page may follow each of its links; admins may open what there is."""
    client.force_login(getattr(cast, person))
    links = {}
    for name, _ in URLS:
        page = client.get(addresses[name])
        if page.status_code == 200 and not page.streaming:
            for found in HREF.findall(page.content):
                link = urljoin(addresses[name], unescape(found.decode()))
                links.setdefault(link, name)
    assert len(links) > 15
    refused = {
        link: name for link, name in links.items() if link.startswith("/") and client.get(link).status_code >= 400
    }
    assert refused == {}


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
