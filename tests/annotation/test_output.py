import json
import os

import pytest
from django.core.management import CommandError, call_command

from annotation.management.commands import export_gold
from annotation.services import croissant

GOLD = ("export_gold", "--format=omnitom")
TO_FILES = (GOLD, ("export_gold", "--format=long-csv"), ("export_archive",))
CROISSANT = ("export_gold", "--format=croissant")


def write(command, output) -> None:
    call_command(*command, "--project=minds", "--output", str(output))


def refused(command, output) -> str:
    with pytest.raises(CommandError) as caught:
        write(command, output)
    sentence = str(caught.value)
    assert sentence.endswith(".") and not any(one in sentence for one in ("Errno", "PosixPath", "\n"))
    return sentence


def test_where_nothing_can_be_written_a_sentence_says_why(cast, make_story, tmp_path, monkeypatch):
    make_story()
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "README.md"
    own.write_text("mine", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    for command in TO_FILES:
        for output, told in (
            ("", "--output is empty"),
            (tmp_path, "is a folder"),
            (".", "is a folder"),
            ("/dev/null", "is a device"),
            ("pipe", "is a device"),
            (tmp_path / "missing" / "gold.jsonl", "There is no folder"),
            ("x" * 300, "cannot be written: File name too long"),
        ):
            assert told in refused(command, output), (command, output)
    for output, told in (
        ("", "--output is empty"),
        (tmp_path, "which no earlier export wrote"),
        (own, "is not a folder"),
        ("/dev/null", "is not a folder"),
        (own / "below", "cannot be written"),
    ):
        assert told in refused(CROISSANT, output), output
    assert {one.name for one in tmp_path.iterdir()} == {"README.md", "pipe"}
    assert own.read_text(encoding="utf-8") == "mine"


def test_a_file_is_replaced_only_by_a_whole_one(cast, make_story, tmp_path, monkeypatch):
    make_story()
    path = tmp_path / "gold.jsonl"
    path.write_text("before", encoding="utf-8")

    def broken(record):
        raise ValueError("broken")

    with monkeypatch.context() as patch, pytest.raises(CommandError, match="broken"):
        patch.setattr(export_gold, "line_of", broken)
        write(GOLD, path)
    assert path.read_text(encoding="utf-8") == "before"
    write(GOLD, path)
    assert json.loads(path.read_text(encoding="utf-8"))["story_id"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_croissant_folder_is_written_when_new_empty_or_of_an_earlier_export(cast, make_story, tmp_path, monkeypatch):
    empty, new = tmp_path / "empty", tmp_path / "new" / "below"
    empty.mkdir()
    make_story()
    for folder in (empty, new, empty, new):
        write(CROISSANT, folder)
        assert sorted(one.name for one in folder.iterdir()) == sorted(croissant.FILES)

    def broken(project, folder, **options):
        (folder / "gold.jsonl").write_text("half", encoding="utf-8")
        raise ValueError("broken")

    before = (empty / "gold.jsonl").read_bytes()
    monkeypatch.setattr(croissant, "write_croissant", broken)
    for name in ("empty", "another"):
        with pytest.raises(CommandError, match="broken"):
            write(CROISSANT, tmp_path / name)
    assert {one.name for one in tmp_path.iterdir()} == {"empty", "new"}, "no half folder is left"
    assert sorted(one.name for one in empty.iterdir()) == sorted(croissant.FILES)
    assert (empty / "gold.jsonl").read_bytes() == before
    (empty / "notes.txt").write_text("mine", encoding="utf-8")
    assert "holds notes.txt" in refused(CROISSANT, empty)
