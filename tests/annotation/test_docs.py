"""Sentences of the documentation that name what the code does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from django.core.management import CommandError, call_command
from pytest import raises

from workers.domain.pacing import START
from workers.models import Endpoint

ROOT = Path(__file__).resolve().parents[2]
MODELS = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_rate_begins_where_the_documentation_says():
    assert f"It begins at {START:g} calls a second" in MODELS


def test_an_update_leaves_what_is_not_named(db):
    assert "leaves the rest as it is" in " ".join(MODELS.split())
    asked = ("add_endpoint", "m", "--provider", "vllm", "--model", "m-1")
    held = (
        "--base-url",
        "http://127.0.0.1:8001/v1",
        "--api-key-env",
        "SOME_KEY",
        "--options",
        '{"extra_body": {"top_k": 1}}',
    )
    call_command(*asked, *held)
    call_command(*asked, "--update", "--timeout-seconds", "60")
    made = Endpoint.objects.get()
    assert (made.base_url, made.api_key_env, made.timeout_seconds) == ("http://127.0.0.1:8001/v1", "SOME_KEY", 60)
    assert made.options == {"extra_body": {"top_k": 1}}
    call_command(*asked, "--update", "--options", "{}")
    assert Endpoint.objects.get().options == {}


def test_wrong_arguments_end_with_two_and_a_refusal_with_one(db):
    told = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert (
        "with 1 and one clear sentence where it refuses; and with 2 and its usage where its arguments are wrong" in told
    )
    with raises(CommandError) as refused:
        call_command("agreement", "--project", "none")
    assert refused.value.returncode == 1
    process = subprocess.run(
        [sys.executable, ROOT / "manage.py", "agreement", "--no-such"], capture_output=True, text=True
    )
    assert process.returncode == 2 and process.stderr.startswith("usage: manage.py agreement")
