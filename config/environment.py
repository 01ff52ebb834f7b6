"""Read the environment: small functions that fail with a sentence.

A wrong value does not raise while settings load: it is collected in `problems`, the default is used, and
`config.checks` reports it, so that `manage.py check` prints every problem at once.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

problems: list[str] = []


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def site_url() -> str:
    """Return the address that people use, without a slash at its end: the server's own where none is given."""
    return text("SITE_URL", f"http://127.0.0.1:{text('PORT') or 8000}").rstrip("/")


def boolean(name: str, default: bool) -> bool:
    raw = text(name).lower()
    if not raw:
        return default
    if raw in {"1", "true", "yes", "on"}:
        return True
    if raw in {"0", "false", "no", "off"}:
        return False
    problems.append(f"{name} is {raw!r}; expected true or false.")
    return default


def integer(name: str, default: int, *, low: int, high: int) -> int:
    raw = text(name)
    if not raw:
        return default
    try:
        value = int(raw)
    except ValueError:
        value = low - 1
    if low <= value <= high:
        return value
    problems.append(f"{name} is {raw!r}; expected a whole number from {low} to {high}.")
    return default


def listing(name: str, default: list[str] | None = None) -> list[str]:
    raw = text(name)
    return [part.strip() for part in raw.split(",") if part.strip()] if raw else list(default or [])


def private_folder(path: Path) -> Path:
    """`path`, made where it is missing, so that its owner alone reads what is in it."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    _keep_private(path)
    return path


def private_file(path: Path) -> None:
    """Make the file where it is missing, so that its owner alone reads it; what SQLite puts beside it gets the same
    mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT, 0o600))
    _keep_private(path)


def _keep_private(path: Path) -> None:
    mode = path.stat().st_mode
    if mode & 0o077 and path.stat().st_uid == os.geteuid():
        path.chmod(mode & 0o700)


def secret_key(var: Path) -> str:
    """SECRET_KEY from the environment, else one made once and kept in `var/secret-key`, readable by its owner only."""
    given = text("SECRET_KEY")
    if given:
        return given
    path = var / "secret-key"
    try:
        return path.read_text().strip() or _make_key(path)
    except FileNotFoundError:
        return _make_key(path)


def _make_key(path: Path) -> str:
    import secrets

    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f"{path.name}-{os.getpid()}")
    with os.fdopen(os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
        handle.write(secrets.token_urlsafe(48))
    try:
        os.link(whole, path)  # so that no process reads half a key, or replaces one that is in use
    except FileExistsError:  # another process was first
        pass
    finally:
        whole.unlink()
    return path.read_text().strip()


def code_version(base: Path) -> str:
    """The release, and the commit where the code lies in a checkout: what a run states as its code."""
    release = tomllib.loads((base / "pyproject.toml").read_text())["project"]["version"]
    head = base / ".git" / "HEAD"
    if not head.is_file():
        return release
    named = head.read_text().strip()
    reference = base / ".git" / named.removeprefix("ref: ")
    commit = reference.read_text().strip() if named.startswith("ref: ") and reference.is_file() else named
    return f"{release}+{commit[:12]}" if commit.isalnum() else release
