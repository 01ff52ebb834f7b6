"""Every URL has one row here: who may open it. A URL without a row fails, a stranger is refused everywhere."""

from __future__ import annotations

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.models import Invitation, Membership, Prefill, Proposition, PropositionFlag
from workers.models import Job

PUBLIC, MEMBER = "public", "any account"
ANNOTATOR, EXPERT, ADMIN, SEATED, SITE = "annotator", "expert", "admin", "seated", "site admin"

# name → the least role that may open it. SEATED: only who labels that story.
PAGES = {
    "login": PUBLIC,
    "password_reset": PUBLIC,
    "password_reset_done": PUBLIC,
    "password_reset_confirm": PUBLIC,
    "password_reset_complete": PUBLIC,
    "invitation": PUBLIC,
    "logout": MEMBER,
    "account": MEMBER,
    "api_token": MEMBER,
    "password_change": MEMBER,
    "password_change_done": MEMBER,
    "annotation:home": MEMBER,
    "annotation:new_project": SITE,
    "annotation:project": ANNOTATOR,
    "annotation:settings": ADMIN,
    "annotation:guidelines": ANNOTATOR,
    "annotation:guideline": ANNOTATOR,
    "annotation:audit": ADMIN,
    "annotation:people": ADMIN,
    "annotation:change_role": ADMIN,
    "annotation:revoke_invitation": ADMIN,
    "annotation:stories": ANNOTATOR,
    "annotation:story": ANNOTATOR,
    "annotation:table_edit": EXPERT,
    "annotation:proposition_edit": EXPERT,
    "annotation:reconcile": EXPERT,
    "annotation:draft": EXPERT,
    "annotation:import": ADMIN,
    "annotation:assignments": ADMIN,
    "annotation:release": ADMIN,
    "annotation:work": ANNOTATOR,
    "annotation:next_story": ANNOTATOR,
    "annotation:grid": SEATED,
    "annotation:save_votes": SEATED,
    "annotation:undo_vote": SEATED,
    "annotation:comments": SEATED,
    "annotation:flag": SEATED,
    "annotation:overruled": ANNOTATOR,
    "annotation:adjudication": EXPERT,
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
    "annotation:agreement_opinions": EXPERT,
    "annotation:export": ADMIN,
    "annotation:download": ADMIN,
    "annotation:archive": ADMIN,
    "annotation:prefills": ADMIN,
    "annotation:prefill": ADMIN,
    "annotation:prefill_progress": ADMIN,
    "annotation:prefill_action": ADMIN,
    "annotation:discard_suggestions": ADMIN,
    "annotation:anchoring": EXPERT,
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
}
# Django's admin and the API have tests of their own (tests/test_security.py, tests/api).
ELSEWHERE = ("admin:", "api:", "api-")


def _named(patterns, namespace="") -> list[tuple[str, list[str]]]:
    found = []
    for one in patterns:
        if isinstance(one, URLResolver):
            inner = f"{namespace}{one.namespace}:" if one.namespace else namespace
            found += _named(one.url_patterns, inner)
        elif isinstance(one, URLPattern):
            found.append((f"{namespace}{one.name}", list(one.pattern.converters)))
    return found


URLS = [(name, kwargs) for name, kwargs in _named(get_resolver().url_patterns) if not name.startswith(ELSEWHERE)]


@pytest.fixture
def addresses(cast, make_story, seat):
    """A real address for every URL, with objects that exist."""
    from django.utils import timezone

    story = make_story()
    seats = seat(story)
    proposition = Proposition.objects.gold_of(story).first()
    flag = PropositionFlag.objects.create(proposition=proposition, author=cast.bob, kind="reword", remark="unclear")
    invitation = Invitation.objects.create(
        project=cast.project, role="annotator", token_hash="0" * 64, created_by=cast.alice, expires_at=timezone.now()
    )
    call = _call()
    job = Job.objects.create(purpose="trial", title="Trial")
    values = {
        "slug": "minds",
        "uid": call.uid,
        "round": Prefill.objects.create(project=cast.project, job=job, endpoint=call.endpoint, level=3, prompt="p").uid,
        "story": story.uid,
        "proposition": proposition.uid,
        "dimension": "order",
        "seat": seats[0].uid,
        "flag": flag.uid,
        "membership": Membership.objects.get(user=cast.bob).pk,
        "invitation": invitation.pk,
        "token": "some-token",
        "uidb64": "MQ",
        "format": "omnitom",
        "expert": cast.esi.pk,
        "pk": 1,
        "name": call.endpoint.name,
        "action": "pause",
    }
    jobs = {name: job.uid for name in ("workers:job", "workers:job_progress", "workers:job_action")}
    return {
        name: reverse(name, kwargs={key: values[key] for key in kwargs} | ({"uid": jobs[name]} if name in jobs else {}))
        for name, kwargs in URLS
    }


def _call():
    from django.utils import timezone

    from workers.models import Call, Endpoint, EndpointPace

    endpoint = Endpoint.objects.create(name="tiny", provider="scripted", model="tiny")
    EndpointPace.objects.create(endpoint=endpoint)
    body = '{"messages": [{"role": "user", "content": "Who?"}]}'
    return Call.objects.create(
        key="0" * 64, endpoint=endpoint, provider="scripted", model="tiny", body=body, planned_at=timezone.now()
    )


def test_every_url_has_a_row():
    assert sorted({name for name, _ in URLS} - set(PAGES)) == []


def _statuses(client, address: str) -> set[int]:
    return {client.get(address).status_code, client.post(address).status_code}


@pytest.mark.parametrize("name", [name for name, _ in URLS])
def test_nobody_opens_a_page_without_logging_in(name, addresses, client):
    least = PAGES[name]
    for method in (client.get, client.post):
        response = method(addresses[name])
        if least == PUBLIC:
            assert response.status_code < 500
        elif response.status_code != 405:
            assert response.status_code == 302 and response["Location"].startswith("/login/"), name


@pytest.mark.parametrize("name", [name for name, _ in URLS if PAGES.get(name) not in (PUBLIC, MEMBER)])
def test_a_stranger_is_refused(name, addresses, cast, client):
    client.force_login(cast.charlie)
    assert _statuses(client, addresses[name]) <= {403, 404, 405}, name


@pytest.mark.parametrize("name", [name for name, _ in URLS if PAGES.get(name) in (EXPERT, ADMIN, SEATED, SITE)])
def test_a_role_that_is_too_low_is_refused(name, addresses, cast, client):
    too_low = {
        EXPERT: [cast.bob],
        ADMIN: [cast.bob, cast.esi],
        SEATED: [cast.esi, cast.alice],
        SITE: [cast.alice],
    }
    for person in too_low[PAGES[name]]:
        client.force_login(person)
        assert _statuses(client, addresses[name]) <= {403, 404, 405}, (name, person.username)


@pytest.mark.parametrize("name", [name for name, _ in URLS])
def test_who_may_gets_an_answer_and_never_an_error(name, addresses, cast, client):
    least = PAGES[name]
    who = {PUBLIC: None, MEMBER: cast.bob, ANNOTATOR: cast.bob, SEATED: cast.bob, EXPERT: cast.esi, ADMIN: cast.alice}
    person = who.get(least, cast.alice)
    if person is not None:
        client.force_login(person)
    if least == SITE:
        cast.alice.is_superuser = True
        cast.alice.save()
    assert client.get(addresses[name]).status_code in {200, 302, 405, 410}, name
