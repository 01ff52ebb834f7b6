"""What a command prints for people, where it has nothing of its own to say."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from config import environment
from core.management.json_command import JsonCommand


def said(result: dict) -> list[str]:
    out = StringIO()
    JsonCommand(stdout=out).say(result)
    return out.getvalue().splitlines()


def test_nobody_reads_python():
    for value, told in [
        ("main", "splits: main"),
        (12345, "splits: 12,345"),
        (True, "splits: yes"),
        (None, "splits: not known"),
        (["a", "b"], "splits: a, b"),
        ([], "splits: none"),
        ({"calibration": 21, "vote_events": 1280}, "splits: 21 calibration, 1,280 vote events"),
        ({}, "splits: none"),
    ]:
        assert said({"splits": value}) == [told]


def test_values_by_name_stand_below_each_other():
    tried = {"ok": True, "said": "yes", "supported": {"json_schema": None}}
    assert said({"endpoint": "small", "tried": tried}) == [
        "endpoint: small", "tried:", "  ok: yes", "  said: yes", "  supported:", "    json schema: not known",
    ]  # fmt: skip


def test_a_command_says_what_the_environment_has_wrong_before_it_works(monkeypatch):
    monkeypatch.setattr(environment, "problems", ["PORT is 'x'; expected a number."])
    with pytest.raises(SystemCheckError, match="PORT is 'x'"):
        call_command(JsonCommand(), skip_checks=False)
