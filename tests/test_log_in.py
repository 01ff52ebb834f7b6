"""Who may try passwords how often, what a reset leaves behind, and what changing an address asks for."""

import threading
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone

from annotation.models import LogInCount, User
from annotation.services import log_in_limits
from tests.annotation.test_people import delivered
from tests.patience import PATIENCE

PASSWORD = "correct-horse-battery"
NEW = "a-longer-horse-battery"


@pytest.fixture(autouse=True)
def limits(settings):
    settings.LOGIN_ATTEMPTS = 3


def attempt(name: str, password: str = "wrong", *, address: str = "192.0.2.1", client: Client | None = None, **headers):
    given = {"username": name, "password": password}
    return (client or Client()).post(reverse("login"), given, REMOTE_ADDR=address, headers=headers)


def statuses(times: int, name: str = "bob", **how) -> list[int]:
    return [attempt(name, **how).status_code for _ in range(times)]


def known_browser(name: str = "bob") -> Client:
    """One that its owner has logged in with, and out again."""
    browser = Client()
    assert attempt(name, PASSWORD, client=browser).status_code == 302
    browser.post(reverse("logout"))
    return browser


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """Gathers the passwords that are compared with an account's."""
    seen: list[str] = []
    compare = User.check_password
    monkeypatch.setattr(User, "check_password", lambda self, raw: seen.append(raw) or compare(self, raw))
    return seen


def test_an_account_is_guessed_at_three_times_from_wherever(cast):
    assert [attempt("bob", address=f"192.0.2.{at}").status_code for at in range(4)] == [200, 200, 429, 429]
    locked = attempt("bob", PASSWORD, address="192.0.2.77")
    assert locked.status_code == 429 and "Too many wrong passwords" in locked.content.decode()
    assert 0 < int(locked["Retry-After"]) <= 301  # minutes, not hours
    assert attempt("bea", PASSWORD).status_code == 302
    cache.clear()
    assert attempt("bob", PASSWORD).status_code == 429, "counts outlive every cache"
    statuses(2, "bea", address="192.0.2.2")
    LogInCount.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert attempt("bob").status_code == 200, "a count that is over begins anew"
    assert sorted(LogInCount.objects.values_list("attempts", flat=True)) == [1, 1]  # Bob's and his address's


SPELLINGS = [
    "bob ", " bob", "bob\t", "bob\n", "\r\nbob\x0b", "bob\u00a0", "bob\u3000", "\u2003bob\u2028", "bob\x1f", "bob\x85",
    "\uff42\uff4f\uff42", "\u24d1ob", "b\u00bab", "\U0001d41bob", "BOB", " Bob\u2009",
]  # fmt: skip
"""Ways to type a name that the authentication backend takes for Bob's, or that differ in case only."""


def test_no_spelling_gets_guesses_of_its_own(cast, looked_at):
    for name in ("bob\x00", "bob" + " " * 200 + "x", "bob\u200b", "bob\u00ad", "bob@example.org", "b" * 2000):
        assert attempt(name, PASSWORD, address="192.0.2.8").status_code in (200, 429)
    assert not looked_at, "a name that no account can have is no guess"
    answers = [attempt(name, address=f"192.0.2.{at + 100}").status_code for at, name in enumerate(SPELLINGS)]
    assert answers == [200, 200] + [429] * (len(SPELLINGS) - 2) and len(looked_at) <= 3
    for spelling in SPELLINGS:
        assert attempt(spelling, PASSWORD, address="192.0.2.9").status_code == 429, ascii(spelling)


def test_a_stranger_cannot_lock_a_colleague_out(cast):
    browser, other = known_browser(), known_browser("ben")
    forged = Client()
    forged.cookies[log_in_limits.COOKIE] = "WyJib2IiLCIxIl0:1abc:forged"
    assert statuses(20, address="198.51.100.9")[-1] == 429
    assert attempt("bob", PASSWORD, client=forged).status_code == 429, "what was not made here is worth nothing"
    assert attempt("bob", PASSWORD, client=other).status_code == 429, "a browser is known to one account"
    assert attempt("bob", PASSWORD, client=browser).status_code == 302


def test_a_known_browser_has_its_own_three_in_every_form(cast):
    browser = known_browser()
    assert statuses(4, client=browser) == [200, 200, 429, 429]
    assert attempt("bob", PASSWORD).status_code == 302, "another browser is another matter"
    LogInCount.objects.all().delete()
    assert attempt("bob", PASSWORD, client=browser).status_code == 302
    assert [browser.post("/account/", ASKING["/account/"]).status_code for _ in range(4)] == [200, 200, 429, 429]
    assert attempt("bob", PASSWORD).status_code == 302


def test_many_names_from_one_address_are_slowed(cast, settings):
    answers = [attempt(f"name{at}").status_code for at in range(40)]
    assert answers.index(429) == 3 * 3 - 1 and set(answers[9:]) == {429}
    assert attempt("bea", PASSWORD).status_code == 429
    assert attempt("bea", PASSWORD, address="192.0.2.2").status_code == 302
    answers = [attempt(f"name{at}", address=f"2001:db8:1:2::{at:x}").status_code for at in range(10)]
    assert answers[-1] == 429, "addresses of one network of IPv6 are one"
    assert attempt("bea", PASSWORD, address="2001:db8:1:3::1").status_code == 302

    def spray():
        LogInCount.objects.all().delete()
        told = [f"6.6.6.6, 192.0.2.{at}" for at in range(12)]
        return [attempt(f"n{one}", address="10.0.0.1", x_forwarded_for=one).status_code for one in told]

    assert spray()[-1] == 429, "whoever writes the proxy's header himself is still one address"
    settings.REST_FRAMEWORK = settings.REST_FRAMEWORK | {"NUM_PROXIES": 1}
    assert set(spray()) == {200}


def test_a_success_forgives_the_account_and_not_the_address(cast, mailoutbox):
    for _ in range(2):
        assert statuses(2) == [200, 200]
        assert attempt("bob", PASSWORD).status_code == 302
    assert statuses(5, "nobody")[-1] == 429
    LogInCount.objects.all().delete()
    for name in ("", "bob"):
        assert set(statuses(5, name, password="")) == {200}
    assert not LogInCount.objects.exclude(attempts=0).exists(), "an empty password counts for nothing"
    statuses(4)
    browser = Client()
    browser.post(reverse("password_reset"), {"email": "bob@example.org"})
    link = next(line for line in delivered(mailoutbox)[0].body.splitlines() if line.startswith("http"))
    page = browser.get(link, follow=True)
    done = browser.post(page.redirect_chain[-1][0], {"new_password1": NEW, "new_password2": NEW})
    assert done.status_code == 302 and done["Location"] == reverse("annotation:home")
    assert browser.get(reverse("account")).status_code == 200, "a finished reset logs in, and forgives"
    assert attempt("bob", NEW, address="203.0.113.5").status_code == 302


def at_once(works) -> None:
    """Runs the functions in threads that start together."""
    barrier = threading.Barrier(len(works))

    def run(work) -> None:
        barrier.wait(PATIENCE)
        try:
            work()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.django_db(transaction=True)
def test_attempts_at_one_moment_are_no_more_than_allowed(cast, looked_at):
    """However they come: right passwords leave no count behind, of one account from twelve addresses three wrong ones
    are looked at, of fourteen names from one address nine."""
    names, answers = ("bob", "bea", "ben", "esi"), []
    at_once([lambda name=name: answers.append(attempt(name, PASSWORD).status_code) for name in names])
    assert answers == [302] * 4 and not LogInCount.objects.exclude(attempts=0).exists()
    looked_at.clear()
    at_once([lambda at=at: attempt("bob", f"guess-{at}", address=f"192.0.2.{at}") for at in range(12)])
    assert len(looked_at) == 3
    assert LogInCount.objects.get(digest=log_in_limits.Limit("account:bob", 0, 0).digest).attempts == 3
    for at in range(14):
        User.objects.create_user(f"name-{at}", password=PASSWORD)
    looked_at.clear()
    at_once([lambda at=at: attempt(f"name-{at}", "guess", address="198.51.100.1") for at in range(14)])
    assert len(looked_at) == 9


def test_the_site_admin_s_pages_log_in_and_change_passwords_where_everybody_does(client, cast):
    answer = client.get("/site-admin/login/?next=/site-admin/")
    assert answer.status_code == 302 and answer["Location"] == f"{reverse('login')}?next=/site-admin/"
    client.force_login(cast.alice)
    answers = client.get("/site-admin/", follow=True)
    assert answers.status_code == 403 and len(answers.redirect_chain) == 1, "other accounts are refused"
    cast.alice.is_superuser = cast.alice.is_staff = True
    cast.alice.save()
    client.force_login(cast.alice)
    for method in (client.get, client.post):
        answer = method("/site-admin/password_change/")
        assert (answer.status_code, answer["Location"]) == (302, reverse("password_change"))


def test_changing_the_e_mail_address_asks_for_the_password(cast, client):
    client.force_login(cast.bob)
    given = {"display_name": "Bob", "email": "elsewhere@example.org"}
    for password in ("", "wrong"):
        page = client.post(reverse("account"), given | {"password": password})
        assert page.status_code == 200 and "type the password that you log in with" in page.content.decode()
        assert User.objects.get(username="bob").email == "bob@example.org"
    assert client.post(reverse("account"), given | {"password": PASSWORD}).status_code == 302
    given["display_name"] = "Robert"
    assert client.post(reverse("account"), given).status_code == 302, "another name asks for none"
    bob = User.objects.get(username="bob")
    assert (bob.email, bob.display_name) == ("elsewhere@example.org", "Robert") and bob.check_password(PASSWORD)


ASKING = {
    "/login/": {"username": "bob", "password": "wrong"},
    "/account/": {"display_name": "Bob", "email": "elsewhere@example.org", "password": "wrong"},
    "/account/password/": {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW},
}
"""Every form that asks for the password that somebody has, with a wrong guess."""


def plain_addresses(patterns, before: str = "/"):
    for one in patterns:
        if isinstance(one, URLResolver):
            yield from plain_addresses(one.url_patterns, before + str(one.pattern))
        elif not one.pattern.converters and "(" not in str(one.pattern):
            yield before + str(one.pattern)


def test_every_form_that_asks_for_the_password_is_known(cast):
    cast.alice.is_superuser = cast.alice.is_staff = True
    cast.alice.save()
    known, unknown = Client(), Client()
    known.force_login(cast.alice)
    asking = set()
    for address in plain_addresses(get_resolver().url_patterns):
        for browser in (known, unknown):
            page = browser.get(address)
            if page.status_code == 200 and not page.streaming and b'"current-password"' in page.content:
                asking.add(address)
    assert asking == set(ASKING)


@pytest.mark.parametrize("address", ASKING)
def test_a_wrong_password_in_any_form_counts_as_a_wrong_log_in(address, cast, client, looked_at):
    if address != reverse("login"):
        client.force_login(cast.bob)
    answers = [client.post(address, ASKING[address]) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 429, 429]
    assert "Too many wrong passwords" in answers[-1].content.decode() and 0 < int(answers[-1]["Retry-After"]) <= 301
    assert attempt("bob", PASSWORD).status_code == 429
    bob = User.objects.get(username="bob")
    assert bob.check_password(PASSWORD) and bob.email == "bob@example.org"
    if address == reverse("login"):
        return
    empty, right = (
        {name: said if value == "wrong" else value for name, value in ASKING[address].items()}
        for said in ("", PASSWORD)
    )
    looked_at.clear()
    assert client.post(address, right).status_code == 429 and looked_at == []
    LogInCount.objects.all().delete()
    assert {client.post(address, empty).status_code for _ in range(5)} == {200}, "an empty one is no guess"
    assert client.post(address, right).status_code == 302
    assert not LogInCount.objects.exclude(attempts=0).exists()
