"""A revision of each story's counts, and what is worked out of a story and kept under it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0023_fewer_indexes")]

    operations = [
        migrations.AddField("storycounts", "revision", models.BigIntegerField(default=0), preserve_default=False),
        migrations.CreateModel(
            name="StoryEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("name", models.CharField(max_length=20)),
                ("state", models.TextField()),
                ("value", models.TextField()),
                (
                    "story",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="annotation.story"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("story", "name"), name="one_entry_a_name")]
            },
        ),
    ]
