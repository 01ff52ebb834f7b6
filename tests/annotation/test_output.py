from __future__ import annotations

import json
import os

import pytest
from django.core.management import CommandError, call_command

from annotation.management.commands import export_gold
from annotation.services import croissant

FILE_COMMANDS = {
    "omnitom": ("export_gold", "--format=omnitom"),
    "long-csv": ("export_gold", "--format=long-csv"),
    "archive": ("export_archive",),
}
CROISSANT = ("export_gold", "--format=croissant")


def refused(command, output) -> str:
    with pytest.raises(CommandError) as caught:
        call_command(*command, "--project=minds", "--output", str(output))
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert not any(one in sentence for one in ("Errno", "PosixPath", "\n"))
    return sentence


@pytest.mark.parametrize("command", [*FILE_COMMANDS.values(), CROISSANT])
def test_an_empty_name_is_refused_and_nothing_is_written(cast, make_story, tmp_path, monkeypatch, command):
    make_story()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("mine", encoding="utf-8")
    assert "--output is empty" in refused(command, "")
    assert [one.name for one in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("command", FILE_COMMANDS.values())
def test_a_file_goes_into_no_folder_device_pipe_or_missing_folder(cast, tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    assert "is a folder" in refused(command, tmp_path)
    assert "is a folder" in refused(command, ".")
    assert "is a device" in refused(command, "/dev/null")
    assert "is a device" in refused(command, tmp_path / "pipe")
    assert "There is no folder" in refused(command, tmp_path / "missing" / "gold.jsonl")
    assert "cannot be written: File name too long" in refused(command, tmp_path / ("x" * 300))
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]


def test_a_file_is_replaced_only_by_a_whole_one(cast, make_story, tmp_path, monkeypatch):
    make_story()
    path = tmp_path / "gold.jsonl"
    path.write_text("before", encoding="utf-8")

    def broken(record):
        raise ValueError("broken")

    with monkeypatch.context() as patch, pytest.raises(CommandError, match="broken"):
        patch.setattr(export_gold, "line_of", broken)
        call_command(*gold_to(path))
    assert path.read_text(encoding="utf-8") == "before"
    call_command(*gold_to(path))
    assert json.loads(path.read_text(encoding="utf-8"))["story_id"] == 1
    assert list(tmp_path.iterdir()) == [path]


def gold_to(path):
    return "export_gold", "--project=minds", "--format=omnitom", f"--output={path}"


def test_a_croissant_folder_with_other_files_is_left_alone(cast, tmp_path):
    own = tmp_path / "README.md"
    own.write_text("mine", encoding="utf-8")
    assert "holds README.md, which no earlier export wrote" in refused(CROISSANT, tmp_path)
    assert "is not a folder" in refused(CROISSANT, own)
    assert "is not a folder" in refused(CROISSANT, "/dev/null")
    assert "cannot be written" in refused(CROISSANT, own / "below")
    assert list(tmp_path.iterdir()) == [own]
    assert own.read_text(encoding="utf-8") == "mine"


def test_a_croissant_folder_is_written_when_new_empty_or_of_an_earlier_export(cast, make_story, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    make_story()
    for folder in (empty, tmp_path / "new" / "below"):
        for _ in range(2):
            call_command(*CROISSANT, "--project=minds", f"--output={folder}")
        assert sorted(one.name for one in folder.iterdir()) == sorted(croissant.FILES)
    (empty / "notes.txt").write_text("mine", encoding="utf-8")
    assert "holds notes.txt" in refused(CROISSANT, empty)


def test_a_croissant_export_that_fails_leaves_no_half_folder(cast, tmp_path, monkeypatch):
    def broken(project, folder, **options):
        (folder / "gold.jsonl").write_text("half", encoding="utf-8")
        raise ValueError("broken")

    call_command(*CROISSANT, "--project=minds", f"--output={tmp_path / 'old'}")
    before = (tmp_path / "old" / "gold.jsonl").read_bytes()
    monkeypatch.setattr(croissant, "write_croissant", broken)
    for name in ("old", "new"):
        with pytest.raises(CommandError, match="broken"):
            call_command(*CROISSANT, "--project=minds", f"--output={tmp_path / name}")
    assert [one.name for one in tmp_path.iterdir()] == ["old"]
    assert sorted(one.name for one in (tmp_path / "old").iterdir()) == sorted(croissant.FILES)
    assert (tmp_path / "old" / "gold.jsonl").read_bytes() == before
