from django.db import migrations, models

CONSTRAINTS = (
    ("voteevent", "annotator", "one_event_a_key"),
    ("draftevent", "table", "one_draft_event_a_key"),
    ("laneevent", "row", "one_lane_event_a_key"),
)


class Migration(migrations.Migration):
    """The databases carry the name into indexes and triggers themselves: making the constraints anew would build the
    tables anew on SQLite, without their triggers."""

    dependencies = [("annotation", "0013_lanes")]

    operations = [
        *(
            migrations.RenameField(name, "client_key", "idempotency_key")
            for name in ("vote", "voteevent", "draftevent", "laneevent")
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                operation
                for model, owner, name in CONSTRAINTS
                for operation in (
                    migrations.RemoveConstraint(model, name),
                    migrations.AddConstraint(
                        model, models.UniqueConstraint(fields=[owner, "idempotency_key"], name=name)
                    ),
                )
            ]
        ),
    ]
