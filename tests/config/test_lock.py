"""The lock files hold what the libraries need on every Python that the product runs on, and not only on this one."""

import re
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ["3.11.0", "3.11.2", "3.11.9", "3.12.0", "3.13.0"]
"""Debian 12 has 3.11.2."""


def locked(name: str) -> dict[str, Requirement]:
    """The requirements of a lock file by name."""
    lines = re.findall(r"^(\S+==.+?) *\\?$", (ROOT / name).read_text(encoding="utf-8"), flags=re.M)
    return {canonicalize_name(one.name): one for one in map(Requirement, lines)}


@cache
def conditional() -> list[tuple[str, Requirement]]:
    """(library, what it needs under a condition) of everything that is installed here."""
    return [
        (canonicalize_name(distribution.metadata["Name"]), need)
        for distribution in distributions()
        for need in map(Requirement, distribution.requires or [])
        if need.marker is not None and "extra ==" not in str(need.marker)
    ]


def test_what_libraries_need_on_another_python_is_locked():
    for python in PYTHONS:
        environment = {"python_full_version": python, "python_version": python.rpartition(".")[0]}
        for name in ["requirements.txt", "requirements-dev.txt"]:
            held = locked(name)
            there = {one for one, of in held.items() if of.marker is None or of.marker.evaluate(environment)}
            needed = [one for one in conditional() if one[0] in held and one[1].marker.evaluate(environment)]
            assert needed
            assert [need for need in needed if canonicalize_name(need[1].name) not in there] == []
