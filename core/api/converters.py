"""The converter of ids in addresses of the API. Importing it registers it: `<uid:name>`."""

from django.urls import register_converter
from django.urls.converters import StringConverter

from core.ids import UID


class Uid(StringConverter):
    """An opaque id, as `core.ids` makes it."""

    regex = UID


register_converter(Uid, "uid")
