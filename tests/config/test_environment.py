import stat

import pytest
from django.test import override_settings

from config import environment
from config.checks import settings_agree
from tests.commands import program


@pytest.fixture
def problems(monkeypatch):
    found: list[str] = []
    monkeypatch.setattr(environment, "problems", found)
    return found


def test_values_are_read_and_a_wrong_one_is_one_sentence(monkeypatch, problems):
    monkeypatch.setenv("X_BOOL", "off")
    monkeypatch.setenv("X_INT", "12")
    monkeypatch.setenv("X_LIST", "a, b,,c")
    assert environment.boolean("X_BOOL", True) is False
    assert environment.integer("X_INT", 25, low=1, high=20) == 12
    assert environment.listing("X_LIST") == ["a", "b", "c"]
    assert problems == []
    monkeypatch.setenv("X_BOOL", "maybe")
    monkeypatch.setenv("X_INT", "70000")
    assert environment.boolean("X_BOOL", True) is True
    assert environment.integer("X_INT", 25, low=1, high=65535) == 25, "the default is used"
    assert problems == [
        "X_BOOL is 'maybe'; expected true or false.",
        "X_INT is '70000'; expected a whole number from 1 to 65535.",
    ]


def test_links_lead_to_the_port_of_the_server_where_no_address_is_given(monkeypatch, problems):
    for given, address in [
        ({}, "http://127.0.0.1:8000"),
        ({"PORT": "8391"}, "http://127.0.0.1:8391"),
        ({"PORT": "8391", "SITE_URL": "https://credence.example/"}, "https://credence.example"),
        ({"SITE_URL": "", "HOST": ""}, "http://127.0.0.1:8000"),
        ({"HOST": "192.0.2.7", "PORT": "80"}, "http://192.0.2.7:80"),
        ({"HOST": "2001:db8::7"}, "http://[2001:db8::7]:8000"),
        ({"HOST": "0.0.0.0"}, "http://127.0.0.1:8000"),
        ({"HOST": "::"}, "http://127.0.0.1:8000"),
    ]:
        for name in ("SITE_URL", "PORT", "HOST"):
            monkeypatch.delenv(name, raising=False)
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        assert (environment.site_url(), problems) == (address, []), given
    wrong = "credence.example ftp://credence.example https:// https://* https://*.example.org https://[::1 https://a..b"
    ports = ["https://credence.example:https", "https://credence.example:99999"]
    for url in [*wrong.split(), "https://a b", *ports]:
        monkeypatch.setenv("SITE_URL", url)
        assert environment.site_url().startswith("http://127.0.0.1:")
        assert problems.pop() == f"SITE_URL is {url!r}; expected an http or https address."
    for tail in ("/credence", "/a/b/", "?x=1", "#top"):
        monkeypatch.setenv("SITE_URL", f"https://credence.example{tail}")
        environment.site_url()
        assert "expected a host and a port only, such as https://credence.example" in problems.pop()
    assert not problems


def test_host_and_origin_are_as_browsers_send_them():
    for url, host, origin in [
        ("https://Credence.Example:443", "credence.example", "https://credence.example"),
        ("https://credence.example:8443", "credence.example", "https://credence.example:8443"),
        ("http://credence.example.:80", "credence.example", "http://credence.example"),
        ("http://[2001:DB8::0:1]:8000", "[2001:db8::1]", "http://[2001:db8::1]:8000"),
        ("https://b\u00fccher.example", "xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ]:
        assert (environment.ascii_host(url), environment.origin(url)) == (host, origin)


def test_settings_that_contradict_each_other_are_named():
    agreeing = {"SITE_URL": "https://credence.example", "BEHIND_TLS": True, "TRUST_PROXY": True, "REDIS_URL": ""}
    agreeing["ALLOWED_HOSTS"] = ["credence.example", "[::1]", ".example.org", "*"]
    agreeing["CSRF_TRUSTED_ORIGINS"] = ["https://credence.example", "https://*.example.org:8443"]
    for changed, expected in [
        ({}, ""),
        ({"SITE_URL": "http://credence.example", "BEHIND_TLS": False, "TRUST_PROXY": False}, ""),
        ({"TRUST_PROXY": False}, "every page would redirect to itself without end. Set TRUST_PROXY=true"),
        ({"BEHIND_TLS": False}, "SITE_URL is https://credence.example, but BEHIND_TLS is false"),
        ({"SITE_URL": "http://credence.example"}, "BEHIND_TLS is true, but SITE_URL is http://credence.example"),
        ({"ALLOWED_HOSTS": ["https://credence.example"]}, "ALLOWED_HOSTS names 'https://credence.example'"),
        ({"ALLOWED_HOSTS": ["credence.example:8000"]}, "ALLOWED_HOSTS names 'credence.example:8000'"),
        ({"CSRF_TRUSTED_ORIGINS": ["credence.example"]}, "CSRF_TRUSTED_ORIGINS names 'credence.example'"),
        ({"CSRF_TRUSTED_ORIGINS": ["https://credence.example/"]}, "expected origins such as https://credence.example"),
        ({"REDIS_URL": "localhost:6379"}, "REDIS_URL has another scheme"),
    ]:
        with override_settings(**agreeing | changed):
            found = [error.msg for error in settings_agree(None)]
        assert (len(found) == 1 and expected in found[0]) if expected else not found, changed


def test_the_secret_key_is_made_once_and_readable_by_its_owner_only(monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    first = environment.secret_key(tmp_path)
    assert environment.secret_key(tmp_path) == first and len(first) > 50
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


def test_misconfiguration_is_a_system_check_with_a_sentence(tmp_path):
    wrong = {"SITE_URL": "credence.example", "INVITATION_DAYS": "soon", "DATABASE_URL": "nonsense"}
    with program(tmp_path, **wrong) as run:
        for command in ("check", "prepare"):
            result = run(command)
            assert result.returncode == 1 and "Traceback" not in result.stderr
            assert "SITE_URL is 'credence.example'; expected an http or https address." in result.stderr
            assert "INVITATION_DAYS is 'soon'; expected a whole number from 1 to 365." in result.stderr
            assert "DATABASE_URL could not be read" in result.stderr
