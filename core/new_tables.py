"""A migration's operation that makes the tables of many models in one step."""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class NewTables(Operation):
    """Do what `operations` do where none of their tables is there yet: each is made as the last of them leaves it.

    Django draws up all models that refer to each other anew for every operation that it does by itself: nine tenths of
    the time that a new database took. `operations` are those that `makemigrations` writes of new models.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        state.__dict__.pop("apps", None)  # drawn up again when they are asked for
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for model in self._models(app_label, schema_editor, to_state):
            schema_editor.create_model(model)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for model in reversed(self._models(app_label, schema_editor, from_state)):
            schema_editor.delete_model(model)

    def describe(self) -> str:
        return f"Create {sum(isinstance(operation, CreateModel) for operation in self.operations)} models"

    def _models(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, state: ProjectState) -> list[Any]:
        names = [operation.name for operation in self.operations if isinstance(operation, CreateModel)]
        models = [state.apps.get_model(app_label, name) for name in names]
        return [model for model in models if self.allow_migrate_model(schema_editor.connection.alias, model)]
