from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import AuditEvent, Guideline


@pytest.fixture
def run(cast, capsys):
    """The command on the project; returns what it says."""

    def make(*options: str) -> str:
        call_command("guideline", "--project=minds", *options)
        return capsys.readouterr().out

    return make


def test_one_language_is_written_and_the_other_stays(run, tmp_path):
    english, chinese = tmp_path / "order.md", tmp_path / "order.zh.md"
    english.write_text("Count **minds**.", encoding="utf-8")
    chinese.write_text("数一数。", encoding="utf-8")
    run("--dimension=order", f"--text-zh={chinese}")
    said = run("--dimension=order", f"--text={english}")
    assert said == "order, English (changed): Count **minds**.\norder, Chinese: 数一数。\n"
    told = json.loads(run("--json"))
    assert told["changed"] == [] and len(told["guidelines"]) == 7
    assert told["guidelines"]["order"] == {"text": "Count **minds**.", "text_zh": "数一数。"}
    assert json.loads(run("--dimension=order", f"--text={english}", "--json"))["changed"] == []
    assert AuditEvent.objects.filter(action="guideline.changed", actor=None).count() == 2


def test_what_cannot_be_is_refused_with_a_sentence(run, tmp_path):
    long = tmp_path / "long.md"
    long.write_text("a" * 20_001)
    for options, sentence in (
        (["--dimension=depth"], "minds has no dimension 'depth'; it has: order, "),
        ([f"--text={long}"], "name it by --dimension"),
        (["--dimension=order", f"--text={long}"], "at most 20000 characters"),
        (["--dimension=order", f"--text={tmp_path / 'none.md'}"], "none.md"),
    ):
        with pytest.raises(CommandError, match=sentence):
            run(*options)
    assert not Guideline.objects.exists()
