"""The converter of ids in addresses of the API. Importing it registers it: `<uid:name>`."""

from django.urls import register_converter

from core.ids import UID


class Uid:
    """An opaque id, as `core.ids` makes it."""

    regex = UID

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(Uid, "uid")
