"""Drafts of belief tables get rows of their own, which only gold tables had, and their experts a slot of the story."""

from django.db import migrations

from core.ids import new_uid


def move(apps, schema_editor):
    BeliefTable, Proposition, DraftRow = (
        apps.get_model("annotation", name) for name in ("BeliefTable", "Proposition", "DraftRow")
    )
    taken = {}
    drafts = BeliefTable.objects.filter(kind="draft").order_by("story", "submitted_at", "id")
    for table in sorted(drafts, key=lambda table: (table.story_id, table.submitted_at is None, table.pk)):
        slot = taken[table.story_id] = taken.get(table.story_id, 0) + 1
        BeliefTable.objects.filter(pk=table.pk).update(slot=slot)
        rows = Proposition.objects.filter(table=table).order_by("position")
        DraftRow.objects.bulk_create(
            DraftRow(
                uid=new_uid(), table=table, actor=row.actor[:200], belief=row.belief, order_text=row.order_text, place=place,
            )
            for place, row in enumerate(rows, 1)
        )  # fmt: skip
        rows.delete()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0009_drafts")]
    operations = [migrations.RunPython(move, migrations.RunPython.noop)]
