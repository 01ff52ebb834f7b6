"""One digest of what figures are computed and drawn by: whatever is kept of them is kept under it, so that an upgrade
leaves none stale."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWING = {"api", "forms", "management", "migrations", "sample", "templatetags", "urls", "views"}
"""Folders of a package that ask and show: nothing that computes may import them (the import contracts), so they bear on
no figure."""
_libraries: dict[str, tuple[str, ...]] = {
    Path(__file__).parent.name: ("numpy", "pandas", "pydantic", "pydantic_core", "scipy", "statsmodels")
}
"""The libraries that the code of each package computes and draws with; what they require counts too."""


def register(package: str, *, libraries: Iterable[str] = ()) -> None:
    """Add a package of this installation to what computes or draws, with the libraries that it does so with beside
    those of this one. Apps do when they are ready."""
    _libraries[package] = tuple(libraries)
    made_by.cache_clear()


def packages() -> list[str]:
    """Return the packages whose code computes or draws, by name."""
    return sorted(_libraries)


def libraries() -> set[str]:
    """Return the libraries that these packages name."""
    return {name for names in _libraries.values() for name in names}


@cache
def made_by() -> str:
    """SHA-256 of the source of everything that computes or draws, and of the versions of the libraries that it does so
    with.

    Read once a process, while the last app becomes ready: code that is replaced later is not what this process
    executes.
    """
    return digest_of(ROOT)


def digest_of(root: Path) -> str:
    """`made_by` of the packages below `root`."""
    digest = hashlib.sha256(platform.python_version().encode())
    for name, number in sorted(library_versions().items()):
        digest.update(f"\0{name} {number}".encode())
    for path in files(root):
        data = path.read_bytes()
        digest.update(f"\0{path.as_posix().removeprefix(root.as_posix())} {len(data)}\0".encode() + data)
    return digest.hexdigest()


def files(root: Path) -> Iterator[Path]:
    """Code and the texts beside it, in a fixed order; the same of every copy of a release."""
    for package in packages():
        top = str(root / package)
        for folder, inner, names in os.walk(top):  # much faster than `rglob`, and every process waits for it
            inner[:] = sorted(set(inner) - {"__pycache__"} - (SHOWING if folder == top else set()))
            for name in sorted(names):
                yield Path(folder, name)


def library_versions() -> dict[str, str]:
    """Versions of the libraries and of what these require themselves (one that draws may do so with another), as far as
    installed."""
    named = libraries()
    names = named.union(*map(_required, named))
    return {name: number for name in names if (number := version_of(name))}


@cache
def version_of(name: str) -> str:
    """Return the version of an installed package, empty without it. What a process has loaded stays, and to look one up
    takes milliseconds."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _required(name: str) -> Iterator[str]:
    """Yield the libraries that `name` requires, without those of extras, which nobody asked for."""
    for requirement in (requires(name) or ()) if version_of(name) else ():
        if "extra ==" not in requirement:
            yield re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
