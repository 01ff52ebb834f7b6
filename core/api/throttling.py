from __future__ import annotations

from rest_framework.request import Request
from rest_framework.throttling import AnonRateThrottle
from rest_framework.views import APIView

from core.client_address import address_of


class Strangers(AnonRateThrottle):
    """Requests without a token, or with a wrong one, by address as log-ins are counted. Those with a right one are not
    held up by them."""

    def get_cache_key(self, request: Request, view: APIView) -> str:
        return self.cache_format % {"scope": self.scope, "ident": address_of(request)}
