"""The address that the web server answers at, HOST and PORT of the environment."""

import ipaddress
import socket
import sys

from config import environment
from config.environment import integer, problems


def address() -> tuple[str, int]:
    """Return host and port; end with a sentence where the port is none."""
    host, port = environment.host(), integer("PORT", 8000, low=1, high=65535)
    if problems:
        sys.exit(" ".join(problems))
    return host, port


def listen(host: str, port: int, *, backlog: int | None = None) -> socket.socket:
    """Return a socket that takes connections there; end with a sentence where none can be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = host == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, backlog=backlog, dualstack_ipv6=both)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0].lower()
        sys.exit(f"Port {port} of {host}: {reason}; choose another, as with PORT=8001.")


def is_loopback(host: str) -> bool:
    """Return whether nothing but this machine reaches a server that listens on `host`, an address or a name."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in addresses)
