"""Read the environment: small functions that fail with a sentence.

A wrong value does not raise while settings load: it is collected in `problems`, the default is used, and
`config.checks` reports it, so that `manage.py check` prints every problem at once.
"""

import ipaddress
import os
import re
import socket
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

problems: list[str] = []
EVERYWHERE = frozenset({"0.0.0.0", "::", "0"})
"""Values of HOST that mean every address of the machine, and none that people could use."""
_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?|\[[0-9a-f:.]+\]")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def host() -> str:
    """Return the address that the web server listens on."""
    return text("HOST") or "127.0.0.1"


def is_loopback(host: str) -> bool:
    """Return whether nothing but this machine reaches a server that listens on `host`, an address or a name."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in addresses)


def site_url() -> str:
    """Return the address that people use, without a slash at its end: the server's own where none is given."""
    own = f"http://{'127.0.0.1' if host() in EVERYWHERE else bracketed(host())}:{text('PORT') or 8000}"
    given = text("SITE_URL") or own
    url = given.rstrip("/")
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and _HOST.fullmatch(ascii_host(url)) and parts.port != 0
    except ValueError:  # of a port, a bracket, or a name that no name server takes
        is_usable = False
    if not is_usable:
        problems.append(f"SITE_URL is {given!r}; expected an http or https address.")
        return own
    if parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        problems.append(
            f"SITE_URL is {given!r}; expected a host and a port only, such as {parts.scheme}://credence.example: "
            "Credence needs a host name of its own and works below no path."
        )
    return url


def ascii_host(url: str) -> str:
    """Return the host of an address as browsers send it, without a port. Raises ValueError if it can be none."""
    name = (urlsplit(url).hostname or "").rstrip(".")
    return f"[{ipaddress.IPv6Address(name)}]" if ":" in name else name.encode("idna").decode()


def origin(url: str) -> str:
    """Return the origin that browsers send for pages of an address. Raises ValueError if its host can be none."""
    parts = urlsplit(url)
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{ascii_host(url)}{port}"


def bracketed(host: str) -> str:
    """Return a host as addresses have it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


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
