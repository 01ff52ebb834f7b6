from __future__ import annotations

import stat

import pytest

from config import environment
from tests.commands import program


@pytest.fixture
def problems(monkeypatch):
    found: list[str] = []
    monkeypatch.setattr(environment, "problems", found)
    return found


def test_a_wrong_value_is_one_sentence_and_the_default_is_used(monkeypatch, problems):
    monkeypatch.setenv("X_BOOL", "maybe")
    monkeypatch.setenv("X_INT", "70000")
    assert environment.boolean("X_BOOL", True) is True
    assert environment.integer("X_INT", 25, low=1, high=65535) == 25
    assert problems == [
        "X_BOOL is 'maybe'; expected true or false.",
        "X_INT is '70000'; expected a whole number from 1 to 65535.",
    ]


def test_right_values_are_read(monkeypatch, problems):
    monkeypatch.setenv("X_BOOL", "off")
    monkeypatch.setenv("X_INT", "12")
    monkeypatch.setenv("X_LIST", "a, b,,c")
    assert environment.boolean("X_BOOL", True) is False
    assert environment.integer("X_INT", 25, low=1, high=20) == 12
    assert environment.listing("X_LIST") == ["a", "b", "c"]
    assert problems == []


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"PORT": "8391"}, "http://127.0.0.1:8391"),
        ({"PORT": "8391", "SITE_URL": "https://credence.example/"}, "https://credence.example"),
    ],
)
def test_links_lead_to_the_port_of_the_server_where_no_address_is_given(monkeypatch, given, address):
    for name in ("SITE_URL", "PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert environment.site_url() == address


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
            assert result.returncode == 1
            assert "Traceback" not in result.stderr
            assert "SITE_URL is 'credence.example'; expected an http or https address." in result.stderr
            assert "INVITATION_DAYS is 'soon'; expected a whole number from 1 to 365." in result.stderr
            assert "DATABASE_URL could not be read" in result.stderr
