"""What a command prints for people, where it has nothing of its own to say."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from config import environment
from core.management.json_command import JsonCommand


def test_nobody_reads_python():
    def said(result: dict) -> list[str]:
        out = StringIO()
        JsonCommand(stdout=out).say(result)
        return out.getvalue().splitlines()

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
    tried = {"ok": True, "supported": {"json_schema": None}}  # values by name stand below each other
    lines = ["endpoint: small", "tried:", "  ok: yes", "  supported:", "    json schema: not known"]
    assert said({"endpoint": "small", "tried": tried}) == lines


def test_a_command_says_what_the_environment_has_wrong_before_it_works(monkeypatch):
    monkeypatch.setattr(environment, "problems", ["PORT is 'x'; expected a number."])
    with pytest.raises(SystemCheckError, match="PORT is 'x'"):
        call_command(JsonCommand(), skip_checks=False)
