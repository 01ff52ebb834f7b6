"""What many places need is written in one of them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ONCE = {
    "a reader of the files of a copy": (r"csv\.DictReader|ast\.literal_eval", "benchmark/suites", {
        "benchmark/suites/copies.py",
    }),
    "a reader of CSV that somebody brings": (r"csv\.(reader|DictReader)\(", "annotation/", {
        "annotation/services/sample.py",  # files of the program
        "annotation/services/sample_tables.py",
        "annotation/services/sample_votes.py",
    }),
    "the schema of a closed object": (r'"additionalProperties": False', "", {
        "core/api/description.py",  # a shape of the API that lists its fields itself
        "workers/providers/contract.py",
    }),
    "the digest of a text": (r"encode\([^()]*\)\)\.hexdigest\(", "", {"core/digests.py"}),
    "what tells of a difference that was tested": (r"significance_text\([^()]*,[^()]*,[^()]*\)$", "", {
        "benchmark/domain/inference/paired.py",
    }),
    "columns of the test of a difference": (r'key="p_adjusted"', "benchmark/services", {
        "benchmark/services/comparison_tables.py",
    }),
    "the ratio of two columns of sums": (r"ratios\(\w+\[:, 0\], \w+\[:, 1\]\)", "", {"core/statistics/bootstrap.py"}),
    "the version of a package": (r"except PackageNotFoundError", "", {"core/made_by.py"}),
    "F1 of precision and recall": (r"2 \* (precision|first) \* (recall|other)", "", {"core/statistics/f1.py"}),
    "states of jobs, items and calls that belong together": (r"(Job|Item|Call)State\.[A-Z]+, \1State\.", "", {
        "workers/models/call.py",
        "workers/models/item.py",
        "workers/models/job.py",
    }),
}  # fmt: skip
"""By what it is: how it is written, under which folder, and the files that may write it so."""


def product() -> dict[str, str]:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.split() if not re.match(r"tests/|bench/|.*/migrations/", name)]
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in files if (ROOT / name).is_file()}


@pytest.mark.parametrize("what", ONCE)
def test_it_is_written_in_the_files_that_may_and_in_no_other(what):
    pattern, folder, allowed = ONCE[what]
    written = {name for name, text in product().items() if name.startswith(folder) and re.search(pattern, text, re.M)}
    assert written == allowed


def test_no_two_exceptions_for_what_is_bad_have_one_name():
    names = [name for text in product().values() for name in re.findall(r"^class (Bad\w+|\w+Error)\b", text, re.M)]
    assert len(names) > 10 and len(names) == len(set(names))
