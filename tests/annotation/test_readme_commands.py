"""The README's block of commands, run in its order in an empty installation."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from django.core.management import call_command

from annotation.models import Assignment, Project, User

README = Path(__file__).resolve().parents[2] / "README.md"
START = "python manage.py "


def commands() -> list[list[str]]:
    block = re.search(r"## From the command line\n+```sh\n(.+?)```", README.read_text(encoding="utf-8"), re.S).group(1)
    lines = block.splitlines()
    assert all(line.startswith(START) for line in lines)
    return [shlex.split(line.removeprefix(START), comments=True) for line in lines]


def test_the_block_runs_in_its_order(db, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    beliefs = [{"actor": "Ines", "belief": "It rains"}]
    records = [
        {"story_id": number, "story_category": "Hinting", "story": f"Story {number}.", "beliefs": beliefs}
        for number in range(1, 6)
    ]
    (tmp_path / "FILE.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    votes = ["story_id,actor,belief,dimension,annotator,label"]
    votes += [f"{one['story_id']},Ines,It rains,order,{who},1" for one in records for who in ("ada", "bruno", "chidi")]
    (tmp_path / "votes.csv").write_text("\n".join(votes), encoding="utf-8")
    told = {}
    for name, *arguments in commands():
        call_command(name, *arguments, "--json")
        told[name] = json.loads(capsys.readouterr().out)
    # five stories of one category: three for calibration, two of the rest with three annotators each
    assert told["make_split"]["splits"] == {"calibration": 3, "main": 2}
    assert told["assign"] == {"project": "minds", "seats": 6, "short": 0, "seed": 1}
    people = [{"name": name, "kind": "member", "votes": 5} for name in ("ada", "bruno", "chidi")]
    assert (told["import_votes"]["created"], told["import_votes"]["annotators"]) == (15, people)
    assert told["agreement"]["overall"]["agree"] == 5
    assert told["export_gold"]["stories"] == 5
    assert len((tmp_path / "gold.jsonl").read_text(encoding="utf-8").splitlines()) == 5
    assert Assignment.objects.count() == 15
    assert User.objects.count() == Project.objects.get().memberships.count() == 3
