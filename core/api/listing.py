"""Lists of the API."""

from collections.abc import Sequence
from typing import Any

from rest_framework.generics import GenericAPIView
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer


class Listing(GenericAPIView):
    """A view whose GET answers one page of rows."""

    def page(self, rows: Any, shape: type[BaseSerializer], **context: object) -> Response:
        return self.answer(self.paginate_queryset(rows), shape, **context)

    def answer(self, page: Sequence[Any], shape: type[BaseSerializer], **context: object) -> Response:
        return self.get_paginated_response(shape(page, many=True, context=context).data)
