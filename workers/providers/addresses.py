"""Addresses that no model answers at: link-local ones and those where clouds keep the secrets of a machine.

Loopback and private networks stay allowed, for servers of one's own. A name is judged by what it resolves to when it is
written down. When it is asked, the socket is judged: by then a name may lead elsewhere, and only what is connected to
counts.
"""

import errno
import ipaddress
import socket
from collections.abc import Collection, Iterator
from typing import Any
from urllib.parse import urlsplit

from core.messages import Sentence, gettext_noop
from workers.providers.errors import Rejected

FORBIDDEN = gettext_noop("A link-local or metadata address is not a model server.")
_METADATA = {
    ipaddress.ip_address(address)
    for address in (
        "fd00:ec2::254",  # Amazon
        "fd20:ce::254",  # Google
        "fd00:c1::a9fe:a9fe",  # Oracle
        "192.0.0.192",  # Oracle, before
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure
        "fd00:42::42",  # Scaleway
    )
}
_LOCAL_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")
_LAST = tuple(
    ipaddress.ip_network(network)
    for network in (
        "::/96",  # compatible
        "::ffff:0:0/96",  # mapped
        "::ffff:0:0:0/96",  # translated
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",  # NAT64 of a site, in its longest layout
    )
)
"""Networks whose last 32 bits are an IPv4 address."""
_ISATAP = {0x5EFE, 0x2005EFE}
_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
)
_PRIVATE_NAMES = ("localhost", "local", "internal", "home.arpa")
_PORTS = {"http": 80, "https": 443}
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def check_host(host: str) -> None:
    """Raise Rejected where `host` is, or resolves to, an address that is forbidden. Blocks for the name server.

    A name that does not resolve passes: it may resolve where the workers run, and there the connection is looked at.
    """
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        rows = []
    if is_forbidden(host) or any(is_forbidden(str(row[4][0])) for row in rows):
        raise Rejected(FORBIDDEN)


def guarded_socket(row: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
    """Return a socket for one row of getaddrinfo. The connection goes to that very row, so that no second look-up can
    lead elsewhere.

    Raises OSError with the sentence FORBIDDEN, as a connection that is refused would.
    """
    family, kind, protocol, _, address = row
    if is_forbidden(str(address[0])):
        raise OSError(errno.EACCES, FORBIDDEN)
    return socket.socket(family=family, type=kind, proto=protocol)


def check_allowed(url: str, hosts: Collection[str]) -> None:
    """Raise Rejected where `hosts` (each `host` or `host:port`) are given and `url` leads to none of them."""
    if not hosts:
        return
    parts = urlsplit(url)
    host, port = (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme)
    if not {host, f"{host}:{port}", f"[{host}]", f"[{host}]:{port}"} & {allowed.lower() for allowed in hosts}:
        raise Rejected(Sentence("This site allows only {hosts} (ENDPOINT_HOSTS).", hosts=", ".join(hosts)))


def host_of(url: str) -> str:
    """Return the host of a URL, "" where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_forbidden(text: str) -> bool:
    """Return whether an address is forbidden, however it is written: 169.254.169.254 is also 2852039166, 0xa9fea9fe and
    0251.0376.0251.0376.

    An IPv6 address that carries an IPv4 address to a gateway or a tunnel is judged by both.
    """
    address = _address_of(text)
    return address is not None and any(
        form.is_link_local or form in _METADATA for form in (address, *_carried(address))
    )


def is_private(host: str) -> bool:
    """Return whether a host is this machine or one of a private network, by how it is written: no name is resolved.

    Names are private without a dot, and under localhost, local, internal and home.arpa, which the public name servers
    do not know.
    """
    if address := _address_of(host):
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in _PRIVATE)
    name = host.lower().rstrip(".")
    return bool(name) and ("." not in name or name.endswith(tuple(f".{suffix}" for suffix in _PRIVATE_NAMES)))


def _address_of(text: str) -> Address | None:
    """Return the address that a text writes in any spelling, None where it is a name."""
    try:
        return ipaddress.ip_address(text.partition("%")[0].strip("[]"))
    except ValueError:
        try:
            return ipaddress.ip_address(socket.inet_aton(text.rstrip(".")))
        except (OSError, UnicodeError, ValueError):
            return None


def _carried(address: Address) -> Iterator[Address]:
    """Yield the IPv4 addresses that an IPv6 address stands for."""
    if address.version == 4:
        return
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if any(address in network for network in _LAST):
        yield last
    if address in _LOCAL_NAT64:
        # behind a prefix of 48, 56 or 64 bits, without bits 64 to 71 (RFC 6052, 2.2)
        without = int(address) >> 64 << 56 | int(address) & (1 << 56) - 1
        for prefix in (48, 56, 64):
            yield ipaddress.IPv4Address(without >> 120 - 32 - prefix & 0xFFFFFFFF)
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        yield last
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
