from __future__ import annotations

from typing import Any

from rest_framework import permissions
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView


class Nothing(APIView):
    """Any address below /api/ that is not a route, for everybody: which routes exist is not a secret."""

    authentication_classes = ()
    permission_classes = (permissions.AllowAny,)
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        hint = "" if request.path.endswith("/") else " Addresses of the API end with a slash."
        raise NotFound(f"There is nothing at this address.{hint}")
