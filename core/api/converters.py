"""The converter of ids in addresses of the API. Importing it registers it: `<uid:name>`."""

from __future__ import annotations

from django.urls import register_converter


class Uid:
    """An opaque id, as `core.ids` makes it."""

    regex = "[a-z0-9]{12}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Uid, "uid")
