from typing import Any

from django.conf import settings
from django.db import models

from annotation.domain.schema import Schema
from annotation.domain.schema_files import schema_of_document
from annotation.domain.shipped_schemas import SHIPPED
from annotation.models.append_only import AppendOnlyModel


class SchemaUnknown(ValueError):
    """No schema has this name and version here; the message is one sentence."""


class LabelSchema(AppendOnlyModel):
    """A label schema that was loaded into this installation, for good: projects and dataset versions name it.

    `content` is the document that `annotation/domain/schema_files.py` describes. Schemas that come with the program
    have no row.
    """

    append_only = "A label schema stays as it is: projects and datasets name it."

    name = models.CharField(max_length=40)
    version = models.CharField(max_length=20)
    content = models.JSONField()
    loaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    loaded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "version"]
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="one_schema_a_version")]

    def __str__(self) -> str:
        return f"{self.name}:{self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        _read.pop((self.name, self.version), None)  # read in a transaction that was rolled back
        super().save(*args, **kwargs)

    @property
    def schema(self) -> Schema:
        return schema_of_document(self.content, str(self))


_read: dict[tuple[str, str], Schema] = {}
"""Schemas that this process has read. They never change."""


def schema_of(name: str, version: str) -> Schema:
    """Return the schema of this name and version. Asks the database once a process, and never for one that comes with
    the program. Raises SchemaUnknown."""
    if shipped := SHIPPED.get((name, version)):
        return shipped
    if (name, version) not in _read:
        row = LabelSchema.objects.filter(name=name, version=version).first()
        if row is None:
            raise SchemaUnknown(f"There is no label schema {name}:{version} here; load_schema takes it from its file.")
        _read[name, version] = row.schema
    return _read[name, version]
