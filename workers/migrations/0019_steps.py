"""Items call a step by that name; the column keeps its own, so the database is left as it is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workers", "0018_system_fingerprint")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint("item", "one_item_a_key"),
                migrations.RenameField("item", "stage", "step"),
                migrations.AlterField(
                    "item", "step", models.CharField(blank=True, db_column="stage", max_length=20)
                ),
                migrations.AddConstraint(
                    "item", models.UniqueConstraint(fields=["job", "endpoint", "step", "key"], name="one_item_a_key")
                ),
            ]
        )
    ]
