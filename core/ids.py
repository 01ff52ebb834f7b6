import secrets

from django.db import models

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # no look-alikes: people read these aloud
UID = "[a-z0-9]{12}"
"""Form of a uid in addresses and in JSON, as a regular expression of the whole text."""


def new_uid() -> str:
    return "".join(_ALPHABET[byte % 32] for byte in secrets.token_bytes(12))


class OpaqueModel(models.Model):
    """A row that URLs and the API name by `uid`: twelve random characters (59 bits), which tell nothing of counts."""

    uid = models.CharField(max_length=12, unique=True, default=new_uid, editable=False)

    class Meta:
        abstract = True
