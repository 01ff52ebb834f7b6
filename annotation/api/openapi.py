from __future__ import annotations

from drf_spectacular.openapi import AutoSchema


class Described(AutoSchema):
    def _get_request_body(self, direction="request"):
        """A body that an operation describes must be sent."""
        body = super()._get_request_body(direction)
        return body and {**body, "required": True}
