"""Runs and items call a step by that name; the columns keep theirs, so the database is left as it is."""

from django.db import migrations, models

STEP = models.CharField(db_column="stage", max_length=20)


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0029_sweep_picks")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField("run", "stages", "steps"),
                migrations.AlterField("run", "steps", models.JSONField(db_column="stages")),
                migrations.RemoveConstraint("runitem", "one_run_item_a_place"),
                migrations.RenameField("runitem", "stage", "step"),
                migrations.AlterField("runitem", "step", STEP),
                migrations.AddConstraint(
                    "runitem",
                    models.UniqueConstraint(
                        fields=["entrant", "step", "sample", "repetition"], name="one_run_item_a_place"
                    ),
                ),
                migrations.RemoveConstraint("shareditem", "one_shared_item_a_place"),
                migrations.RenameField("shareditem", "stage", "step"),
                migrations.AlterField("shareditem", "step", STEP),
                migrations.AddConstraint(
                    "shareditem",
                    models.UniqueConstraint(
                        fields=["report", "entrant", "step", "sample", "repetition"], name="one_shared_item_a_place"
                    ),
                ),
            ]
        )
    ]
