"""Every command in the code blocks of README and docs that can run without what only a reader has, run in its order."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.sample import sample

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
START = "python manage.py "
ASSIGNED = re.compile(r"([A-Z]+)=\$\(python manage\.py (.+?) \| awk '(.+?)'\)")
NOT_HERE = {
    "import_suite": "a copy of a benchmark",
    "tombench": "a copy of ToMBench",
    "opentom": "a copy of OpenToM",
    "fantom": "a copy of FANToM",
    "percept-fantom": "a copy of FANToM",
    "structure-association": "a benchmark with questions about the same stories",
    "structure-measures": "a benchmark with questions about the same stories",
    "my-suite": "a suite that the reader wrote",
    "parse_outputs": "a file of answers",
    "score_outputs": "files of answers",
    "import_answers": "files of answers",
    "my-baseline": "a baseline that the reader wrote",
    "vllm-engine": "vLLM in an environment of its own",
    "stories.xlsx": "a spreadsheet of the reader’s",
    "prepare": "what precedes these tests",
}
"""Words of a command → what it needs that this repository does not have."""


def blocks(page: Path) -> Iterator[list[str]]:
    """Yield the lines of each block of shell commands, lines that were broken joined."""
    language, lines = None, list[str]()
    for line in re.sub(r"\\\n\s*", "", page.read_text(encoding="utf-8")).splitlines():
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, lines = line.removeprefix("```"), []
        else:
            if language in ("", "sh"):
                yield lines
            language = None


def commands() -> Iterator[tuple[str, str]]:
    """Yield (page, line) in the order of the pages."""
    for page in PAGES:
        for line in (line for lines in blocks(page) for line in lines):
            if (START in line or line.startswith("printf ")) and not line.startswith("#"):
                yield page.name, line.replace(".venv/bin/", "")


def needs(line: str) -> str:
    words = set(shlex.split(line, comments=True))
    return next((what for word, what in NOT_HERE.items() if word in words), "")


def run(line: str) -> str:
    out = StringIO()
    call_command(*shlex.split(line, comments=True), stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.dear
@pytest.mark.thorough
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_every_command_works_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmark.services.warm.MOST_SELECTIONS", 0)  # leaderboards of parts, which nobody opens here
    sample()
    call_command("load_sample", "--once", stdout=StringIO())  # adds what evaluation shows
    (tmp_path / "annotation").symlink_to(ROOT / "annotation")
    (tmp_path / "benchmark").symlink_to(ROOT / "benchmark")
    monkeypatch.chdir(tmp_path)
    known: dict[str, str] = {}
    ran, failed, unmet = 0, [], set()
    for page, line in commands():
        if needed := needs(line):
            unmet.add(needed)
        elif line.startswith("printf "):
            subprocess.run(["bash", "-c", line], check=True)
        elif assigned := ASSIGNED.match(line):
            name, command, program = assigned.groups()
            printed = subprocess.run(["awk", program], input=run(command), capture_output=True, text=True, check=True)
            known[name] = printed.stdout.strip()
        else:
            try:
                run(re.sub(r"\$([A-Z]+)", lambda match: known[match[1]], line.removeprefix(START)))
            except Exception as error:
                failed.append(f"{page}: {line}\n{error}")
            ran += 1
    assert not failed, "\n".join(failed)
    assert ran > 35 and unmet == set(NOT_HERE.values())
    assert len((tmp_path / "gold.jsonl").read_text(encoding="utf-8").splitlines()) == 21
    assert json.loads(run("leaderboard --project sample --suite omnitom --json"))
