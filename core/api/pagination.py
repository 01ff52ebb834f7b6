from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.views import APIView


class Pages(PageNumberPagination):
    """`?page=2&page_size=100`. A value that is not a number is refused, because a silent default would hide the
    rest."""

    page_size_query_param = "page_size"
    max_page_size = 500
    last_page_strings = ()

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        self._number(request, self.page_query_param)
        return super().paginate_queryset(queryset, request, view)

    def check(self, request: Request) -> None:
        """Refuse a page and a size that are not numbers, where an answer is not parted into pages."""
        self._number(request, self.page_query_param)
        self.get_page_size(request)

    def get_page_size(self, request: Request) -> int:
        return self._number(request, self.page_size_query_param, most=self.max_page_size) or self.page_size

    def _number(self, request: Request, name: str, *, most: int | None = None) -> int | None:
        value = request.query_params.get(name)
        if value is None:
            return None
        digits = value.isascii() and value.isdecimal() and len(value) <= 9
        if not digits or int(value) < 1 or (most and int(value) > most):
            upto = f"from 1 to {most}" if most else "from 1"
            raise ValidationError({name: [f"Expected a whole number {upto}."]})
        return int(value)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        described = super().get_paginated_response_schema(schema)
        link = {"type": ["string", "null"], "format": "uri"}  # OpenAPI 3.1 knows no `nullable`
        described["properties"] |= {"next": link, "previous": link}
        return described

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        page = {"type": "integer", "minimum": 1, "maximum": 999_999_999, "default": 1}
        size = {"type": "integer", "minimum": 1, "maximum": self.max_page_size, "default": self.page_size}
        return [
            {"name": name, "in": "query", "required": False, "description": text, "schema": schema}
            for name, text, schema in (
                (self.page_query_param, "Which page; 404 beyond the last one.", page),
                (self.page_size_query_param, "Rows a page.", size),
            )
        ]
