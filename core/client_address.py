import ipaddress

from django.http import HttpRequest
from rest_framework.throttling import BaseThrottle


def address_of(request: HttpRequest) -> str:
    """The client's address as a trusted proxy tells it; of IPv6 the network, which is one household's."""
    identity: str = BaseThrottle().get_ident(request)
    try:
        address = ipaddress.ip_address(identity)
    except ValueError:
        return identity
    if address.version == 6 and address.ipv4_mapped:  # IPv4 on a socket of IPv6
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else identity
