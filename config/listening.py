"""The address that the web server answers at, HOST and PORT of the environment."""

from __future__ import annotations

import socket
import sys

from config.environment import integer, problems, text


def address() -> tuple[str, int]:
    """Return host and port; end with a sentence where the port is none."""
    host, port = text("HOST", "127.0.0.1"), integer("PORT", 8000, low=1, high=65535)
    if problems:
        sys.exit(" ".join(problems))
    return host, port


def listen(host: str, port: int, *, backlog: int | None = None) -> socket.socket:
    """Return a socket that takes connections there; end with a sentence where none can be had."""
    try:
        return socket.create_server((host, port), backlog=backlog)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0].lower()
        sys.exit(f"Port {port} of {host}: {reason}; choose another, as with PORT=8001.")
