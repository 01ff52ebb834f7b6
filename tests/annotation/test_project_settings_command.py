from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import AuditEvent, GoldLabel, Method


def told(capsys, *options: str) -> dict:
    call_command("project_settings", "--project=minds", "--json", *options)
    return json.loads(capsys.readouterr().out)


def test_settings_are_told_foreseen_and_changed_with_an_audit_row(cast, capsys, make_story, assign, cast_vote):
    story = make_story()
    row = story.tables.get().propositions.first()
    for assignment, label in zip(assign(story), "112", strict=True):
        cast_vote(assignment, row, "order", label)
    wanted = ("--set=unanimity_dimensions=order", "--set=decides_and_goes_on=true", "--set=blind_share=40")
    as_wanted = {"unanimity_dimensions": ["order"], "decides_and_goes_on": True, "blind_share": 40}
    before = told(capsys)
    would = told(capsys, *wanted, "--preview")
    assert would["settings"] == before["settings"] | as_wanted and would["changed"] == []
    assert told(capsys) == before, "a preview changes nothing"
    done = told(capsys, *wanted)
    assert (set(done["changed"]), done["cells"]) == (set(as_wanted), would["cells"])
    assert would["cells"] == {"settled": 0, "to_experts": 1, "waiting": 0}, "two against one are no longer enough"
    assert GoldLabel.objects.get().method == Method.OPEN
    assert told(capsys)["settings"] == before["settings"] | as_wanted
    row = AuditEvent.objects.get(action="project.changed")
    assert (row.actor, row.details["after"]) == (None, as_wanted)
    assert told(capsys, *wanted)["changed"] == []


def test_the_dataset_card_is_written_text_by_text(cast, capsys):
    assert told(capsys)["card"] == {}
    told(capsys, "--card=licence=CC BY 4.0")
    card = told(capsys, "--card=citation=Ines, 2026", "--set=blind_share=40")["card"]
    assert (card["licence"], card["citation"], card["biases"]) == ("CC BY 4.0", "Ines, 2026", "")
    assert AuditEvent.objects.filter(action="project.changed").count() == 2
    call_command("project_settings", "--project=minds")
    assert "card licence=CC BY 4.0" in capsys.readouterr().out.splitlines()
    for wrong, sentence in (("colour=red", "with one of licence, "), (f"biases={'a' * 4001}", "biases: ")):
        with pytest.raises(CommandError, match=sentence):
            told(capsys, f"--card={wrong}")


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("overlap=12", "overlap: "),
        ("decides_and_goes_on=yes", "decides_and_goes_on is 'yes'; expected true or false."),
        ("colour=red", "--set 'colour=red': expected NAME=VALUE, with one of name, "),
        ("unanimity_dimensions=order,mood", "unanimity_dimensions: "),
    ],
)
def test_what_is_no_setting_changes_nothing_and_is_told(cast, capsys, setting, sentence):
    before = told(capsys)
    with pytest.raises(CommandError) as refusal:
        told(capsys, f"--set={setting}", "--set=blind_share=40")
    assert str(refusal.value).startswith(sentence)
    assert told(capsys) == before
