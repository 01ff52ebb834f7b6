"""On SQLite a change looks whether its mark is there before it opens the table of marks to write, which took as long
as the change itself."""

from django.db import migrations

MARKS = {
    "annotation_vote": ("proposition_id", "annotation_changedproposition", "proposition"),
    "annotation_goldlabel": ("proposition_id", "annotation_changedproposition", "proposition"),
    "annotation_proposition": ("table_id", "annotation_changedtable", "table"),
}
EVENTS = {"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD"}
BEFORE = """
CREATE TRIGGER {table}_{event}_marks AFTER {event} ON {table} BEGIN
    INSERT INTO {marks} ("{mark}") SELECT {row}.{column}
    WHERE NOT EXISTS (SELECT 1 FROM {marks} WHERE "{mark}" = {row}.{column});
END
"""
NOW = """
CREATE TRIGGER {table}_{event}_marks AFTER {event} ON {table}
    WHEN NOT EXISTS (SELECT 1 FROM {marks} WHERE "{mark}" = {row}.{column})
BEGIN
    INSERT INTO {marks} ("{mark}") VALUES ({row}.{column});
END
"""


def _make_anew(schema_editor, statement):
    if schema_editor.connection.vendor != "sqlite":
        return
    for table, (column, marks, mark) in MARKS.items():
        for event, row in EVENTS.items():
            names = {"table": table, "event": event.lower(), "row": row, "column": column, "marks": marks, "mark": mark}
            schema_editor.execute("DROP TRIGGER IF EXISTS {table}_{event}_marks".format(**names))
            schema_editor.execute(statement.format(**names))


def make_anew(apps, schema_editor):
    _make_anew(schema_editor, NOW)


def as_before(apps, schema_editor):
    _make_anew(schema_editor, BEFORE)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0017_claims")]

    operations = [migrations.RunPython(make_anew, as_before)]
