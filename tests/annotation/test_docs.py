"""Sentences of the documentation that name what the code does."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands

from tests.commands import program
from workers.domain.rate_limit import START
from workers.models import Endpoint

ROOT = Path(__file__).resolve().parents[2]
OURS = sorted(name for name, app in get_commands().items() if app in ("annotation", "benchmark", "judge", "workers"))
MODELS = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_rate_begins_where_the_documentation_says():
    assert f"from {START:g} calls a second where calls were refused" in MODELS


def test_an_update_leaves_what_is_not_named(db):
    assert "leaves the rest as it is" in " ".join(MODELS.split())
    asked = ("add_endpoint", "m", "--provider", "vllm", "--model", "m-1")
    held = ("--base-url", "http://127.0.0.1:8001/v1", "--api-key-env", "SOME_KEY")
    call_command(*asked, *held, "--options", '{"extra_body": {"top_k": 1}}')
    call_command(*asked, "--update", "--timeout-seconds", "60")
    made = Endpoint.objects.get()
    assert (made.base_url, made.api_key_env, made.timeout_seconds) == ("http://127.0.0.1:8001/v1", "SOME_KEY", 60)
    assert made.options == {"extra_body": {"top_k": 1}}
    call_command(*asked, "--update", "--options", "{}")
    assert Endpoint.objects.get().options == {}


@pytest.mark.once
def test_wrong_arguments_are_refused_as_anything_else_is(db, tmp_path):
    told = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "or with 1 and one clear sentence where it refuses or its arguments are wrong" in told
    with pytest.raises(CommandError) as refused:
        call_command("agreement", "--project", "none")
    assert refused.value.returncode == 1
    sentence = "The following arguments are required: --project; --help says what can be given."
    with program(tmp_path) as run:
        process = run("agreement", "--no-such")
        assert (process.returncode, process.stdout, process.stderr) == (1, "", f"CommandError: {sentence}\n")
        process = run("agreement", "--help")
        assert process.returncode == 0 and process.stdout.startswith("usage: manage.py agreement")
    with pytest.raises(CommandError) as refused:
        call_command("agreement")
    assert str(refused.value) == sentence


def test_every_command_of_the_project_refuses_an_unknown_option_in_one_sentence():
    for name in OURS:
        with pytest.raises(CommandError) as refused:
            call_command(name, "--no-such-option", "two\nlines")
        sentence = str(refused.value)
        assert "\n" not in sentence and sentence.endswith("; --help says what can be given.")
