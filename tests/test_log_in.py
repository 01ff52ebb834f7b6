"""Who may try passwords how often, what a reset leaves behind, and what changing an address asks for."""

from __future__ import annotations

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


@pytest.fixture
def attempt(cast):
    """Try to log in: `attempt("bob", "wrong", address="192.0.2.1")` returns the answer."""

    def make(
        name: str, password: str = "wrong", *, address: str = "192.0.2.1", client: Client | None = None, **headers
    ):
        given = {"username": name, "password": password}
        return (client or Client()).post(reverse("login"), given, REMOTE_ADDR=address, headers=headers)

    return make


def statuses(attempt, times: int, name: str = "bob", **how) -> list[int]:
    return [attempt(name, **how).status_code for _ in range(times)]


def test_an_account_is_guessed_at_three_times_from_wherever(attempt):
    assert [attempt("bob", address=f"192.0.2.{at}").status_code for at in range(4)] == [200, 200, 429, 429]
    locked = attempt("bob", PASSWORD, address="192.0.2.77")
    assert locked.status_code == 429 and "Too many wrong passwords" in locked.content.decode()
    assert 0 < int(locked["Retry-After"]) <= 301  # minutes, not hours
    assert attempt("BOB", PASSWORD).status_code == 429  # whatever its spelling
    assert attempt("bea", PASSWORD).status_code == 302


SPELLINGS = [
    "bob ", " bob", "bob\t", "bob\n", "\r\nbob\x0b", "bob\u00a0", "bob\u3000", "\u2003bob\u2028", "bob\x1f", "bob\x85",
    "\uff42\uff4f\uff42", "\u24d1ob", "b\u00bab", "\U0001d41bob", "BOB", " Bob\u2009",
]  # fmt: skip
"""Ways to type a name that the authentication backend takes for Bob's, or that differ in case only."""


@pytest.mark.parametrize("spelling", SPELLINGS, ids=ascii)
def test_no_spelling_gets_guesses_of_its_own(attempt, spelling):
    assert statuses(attempt, 3) == [200, 200, 429]
    locked = attempt(spelling, PASSWORD, address="192.0.2.9")
    assert locked.status_code == 429


def test_spellings_share_three_guesses(attempt, monkeypatch):
    seen = looked_at(monkeypatch)
    answers = [attempt(name, address=f"192.0.2.{at}").status_code for at, name in enumerate(SPELLINGS)]
    assert answers == [200, 200] + [429] * (len(SPELLINGS) - 2)
    assert len(seen) <= 3


def test_a_name_no_account_can_have_is_no_guess(attempt, monkeypatch):
    seen = looked_at(monkeypatch)
    for name in ("bob\x00", "bob" + " " * 200 + "x", "bob\u200b", "bob\u00ad", "bob@example.org", "b" * 2000):
        assert attempt(name, PASSWORD, address="192.0.2.8").status_code in (200, 429)
    assert not seen


def test_a_stranger_cannot_lock_a_colleague_out(attempt):
    browser = Client()
    assert attempt("bob", PASSWORD, client=browser).status_code == 302
    browser.post(reverse("logout"))
    assert statuses(attempt, 20, address="198.51.100.9")[-1] == 429
    assert attempt("bob", PASSWORD, client=browser).status_code == 302


def test_a_known_browser_has_its_own_three_and_knows_one_account_only(attempt):
    browser = Client()
    attempt("bob", PASSWORD, client=browser)
    browser.post(reverse("logout"))
    assert statuses(attempt, 4, client=browser) == [200, 200, 429, 429]
    assert attempt("bob", PASSWORD).status_code == 302  # another browser is another matter
    other = Client()
    attempt("ben", PASSWORD, client=other)
    other.post(reverse("logout"))
    statuses(attempt, 4, "bea")
    assert attempt("bea", PASSWORD, client=other).status_code == 429


def test_a_cookie_that_was_not_made_here_is_worth_nothing(attempt):
    forged = Client()
    forged.cookies[log_in_limits.COOKIE] = "WyJib2IiLCIxIl0:1abc:forged"
    statuses(attempt, 4)
    assert attempt("bob", PASSWORD, client=forged).status_code == 429


def test_forty_names_from_one_address_are_slowed(attempt):
    answers = [attempt(f"name{at}").status_code for at in range(40)]
    assert answers.index(429) == 3 * 3 - 1 and set(answers[9:]) == {429}
    assert attempt("bea", PASSWORD).status_code == 429
    assert attempt("bea", PASSWORD, address="192.0.2.2").status_code == 302


def test_a_success_forgives_the_account_and_not_the_address(attempt):
    for _ in range(2):
        assert statuses(attempt, 2) == [200, 200]
        assert attempt("bob", PASSWORD).status_code == 302
    assert statuses(attempt, 5, "nobody")[-1] == 429


def test_addresses_of_one_network_of_ipv6_are_one(attempt):
    answers = [attempt(f"name{at}", address=f"2001:db8:1:2::{at:x}").status_code for at in range(10)]
    assert answers[-1] == 429
    assert attempt("bea", PASSWORD, address="2001:db8:1:3::1").status_code == 302


def test_the_address_is_the_proxy_s_word_only_where_a_proxy_is_trusted(attempt, settings):
    def spray(**how):
        LogInCount.objects.all().delete()
        return [
            attempt(f"n{at}", address="10.0.0.1", x_forwarded_for=f"6.6.6.6, 192.0.2.{at}").status_code
            for at in range(12)
        ]

    assert spray()[-1] == 429  # whoever writes the header himself is still one address
    settings.REST_FRAMEWORK = settings.REST_FRAMEWORK | {"NUM_PROXIES": 1}
    assert set(spray()) == {200}


def test_a_finished_reset_logs_in_and_forgives(attempt, cast, mailoutbox):
    statuses(attempt, 4)
    browser = Client()
    browser.post(reverse("password_reset"), {"email": "bob@example.org"})
    link = next(line for line in delivered(mailoutbox)[0].body.splitlines() if line.startswith("http"))
    page = browser.get(link, follow=True)
    done = browser.post(page.redirect_chain[-1][0], {"new_password1": NEW, "new_password2": NEW})
    assert done.status_code == 302 and done["Location"] == reverse("annotation:home")
    assert browser.get(reverse("account")).status_code == 200
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


def looked_at(monkeypatch) -> list[str]:
    """Gathers the passwords that are compared with an account's."""
    seen: list[str] = []
    compare = User.check_password
    monkeypatch.setattr(User, "check_password", lambda self, raw: seen.append(raw) or compare(self, raw))
    return seen


@pytest.mark.django_db(transaction=True)
def test_attempts_at_one_moment_are_no_more_than_allowed(attempt, monkeypatch):
    """One account from twelve addresses: three passwords are looked at, however they come."""
    seen = looked_at(monkeypatch)
    at_once([lambda at=at: attempt("bob", f"guess-{at}", address=f"192.0.2.{at}") for at in range(12)])
    assert len(seen) == 3
    assert LogInCount.objects.get(digest=log_in_limits.Limit("account:bob", 0, 0).digest).attempts == 3


@pytest.mark.django_db(transaction=True)
def test_names_sprayed_at_one_moment_are_no_more_than_the_address_may(attempt, cast, monkeypatch):
    for at in range(14):
        User.objects.create_user(f"name-{at}", password=PASSWORD)
    seen = looked_at(monkeypatch)
    at_once([lambda at=at: attempt(f"name-{at}", "guess") for at in range(14)])
    assert len(seen) == 9


@pytest.mark.django_db(transaction=True)
def test_right_passwords_at_one_moment_leave_no_count_behind(attempt, cast):
    names = ("bob", "bea", "ben", "esi")
    answers = []
    at_once([lambda name=name: answers.append(attempt(name, PASSWORD).status_code) for name in names])
    assert answers == [302] * 4
    assert sum(LogInCount.objects.values_list("attempts", flat=True)) == 0


# --- the address that a forgotten password is sent to
# ---------------------------------------------------------------------


def test_an_empty_password_counts_for_nothing(attempt):
    for name in ("", "bob"):
        assert set(statuses(attempt, 5, name, password="")) == {200}
    assert not any(LogInCount.objects.values_list("attempts", flat=True))
    assert attempt("bob", PASSWORD).status_code == 302


def test_counts_outlive_every_cache_until_they_are_over(attempt):
    statuses(attempt, 3)
    cache.clear()
    assert attempt("bob", PASSWORD).status_code == 429
    statuses(attempt, 2, "bea", address="192.0.2.2")
    LogInCount.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert attempt("bob").status_code == 200, "a count that is over begins anew"
    assert sorted(LogInCount.objects.values_list("attempts", flat=True)) == [1, 1]  # Bob's and his address's


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
    bob = User.objects.get(username="bob")
    assert bob.email == "elsewhere@example.org" and bob.check_password(PASSWORD)
    given = {"display_name": "Robert", "email": "elsewhere@example.org"}
    assert client.post(reverse("account"), given).status_code == 302, "another name asks for none"
    assert User.objects.get(username="bob").display_name == "Robert"


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
def test_a_wrong_password_in_any_form_counts_as_a_wrong_log_in(address, cast, client, attempt):
    if address != reverse("login"):
        client.force_login(cast.bob)
    answers = [client.post(address, ASKING[address]) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 429, 429]
    assert "Too many wrong passwords" in answers[-1].content.decode() and 0 < int(answers[-1]["Retry-After"]) <= 301
    assert attempt("bob", PASSWORD).status_code == 429
    assert User.objects.get(username="bob").check_password(PASSWORD)
    assert User.objects.get(username="bob").email == "bob@example.org"


@pytest.mark.parametrize("address", list(ASKING)[1:])
def test_every_form_counts_wrong_passwords_and_nothing_else(address, cast, client, attempt, monkeypatch):
    client.force_login(cast.bob)
    empty, right = (
        {name: said if value == "wrong" else value for name, value in ASKING[address].items()}
        for said in ("", PASSWORD)
    )
    assert {client.post(address, empty).status_code for _ in range(5)} == {200}
    assert not any(LogInCount.objects.values_list("attempts", flat=True))
    statuses(attempt, 3)
    seen = looked_at(monkeypatch)
    assert client.post(address, right).status_code == 429 and seen == []
    LogInCount.objects.all().delete()
    assert client.post(address, right).status_code == 302
    assert not any(LogInCount.objects.values_list("attempts", flat=True))


def test_a_known_browser_guesses_by_itself_in_every_form(cast, attempt):
    browser = Client()
    attempt("bob", PASSWORD, client=browser)
    assert [browser.post("/account/", ASKING["/account/"]).status_code for _ in range(4)] == [200, 200, 429, 429]
    assert attempt("bob", PASSWORD).status_code == 302
