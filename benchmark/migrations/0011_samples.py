from django.db import migrations, models


class Migration(migrations.Migration):
    """Stories of a dataset become samples, of which later suites have others. Their data moves in 0012."""

    dependencies = [("benchmark", "0010_label_schemas")]

    operations = [
        migrations.RenameModel("DatasetStory", "DatasetSample"),
        migrations.AlterField(
            "datasetsample",
            "dataset",
            models.ForeignKey(on_delete=models.deletion.CASCADE, related_name="samples", to="benchmark.dataset"),
        ),
        migrations.AddField("datasetsample", "key", models.CharField(default="", max_length=200)),
        migrations.AddField("datasetsample", "cluster", models.CharField(default="", max_length=200)),
        migrations.AddField("datasetsample", "group", models.CharField(blank=True, default="", max_length=200)),
        migrations.AddField("datasetsample", "content", models.JSONField(default=dict)),
        migrations.AddField("datasetsample", "gold", models.JSONField(default=dict)),
        migrations.RemoveConstraint("datasetsample", "one_dataset_story_a_number"),
        migrations.AddField("dataset", "suite", models.CharField(blank=True, default="", max_length=40)),
        migrations.AddField("dataset", "origin", models.JSONField(default=dict)),
        migrations.RemoveConstraint("runitem", "one_run_item_a_place"),
        migrations.RemoveConstraint("runitem", "run_item_stage_known"),
        migrations.RemoveConstraint("shareditem", "one_shared_item_a_place"),
        migrations.RemoveConstraint("judgetestitem", "one_judge_test_item_a_story"),
        migrations.RenameField("runitem", "story", "sample"),
        migrations.RenameField("shareditem", "story", "sample"),
        migrations.RenameField("judgetestitem", "story", "sample"),
        migrations.AlterField("runitem", "stage", models.CharField(max_length=20)),
        migrations.AlterField("shareditem", "stage", models.CharField(max_length=20)),
        migrations.AddField("runitem", "repetition", models.PositiveSmallIntegerField(db_default=0, default=0)),
        migrations.AddField("shareditem", "repetition", models.PositiveSmallIntegerField(db_default=0, default=0)),
        migrations.AddConstraint(
            "runitem",
            models.UniqueConstraint(fields=("entrant", "stage", "sample", "repetition"), name="one_run_item_a_place"),
        ),
        migrations.AddConstraint(
            "shareditem",
            models.UniqueConstraint(
                fields=("report", "entrant", "stage", "sample", "repetition"), name="one_shared_item_a_place"
            ),
        ),
        migrations.AddConstraint(
            "judgetestitem", models.UniqueConstraint(fields=("test", "sample"), name="one_judge_test_item_a_story")
        ),
    ]
