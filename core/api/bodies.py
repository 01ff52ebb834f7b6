"""Bodies of requests, read by the shapes that also describe them."""

from typing import Any, TypeVar

from drf_spectacular.contrib.pydantic import PydanticExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape

Body = TypeVar("Body", bound=Shape)


def read_body(request: Request, shape: type[Body], *, quoted: bool = True, **context: Any) -> Body:
    """Return the body as an instance of its shape, checked in a `context`. Raises ValidationError with every field that
    does not fit, and unless `quoted` without a word of what was sent."""
    try:
        return shape.of(request.data, quoted=quoted, **context)
    except Misfit as error:
        raise ValidationError(error.by_field()) from error


class ShapeBody(PydanticExtension):
    """The body of a request as its shape describes itself."""

    target_class = "core.incoming.shapes.Shape"
    match_subclasses = True
    priority = 1

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        return self.target.described()
