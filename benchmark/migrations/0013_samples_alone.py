from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0012_sample_contents")]

    operations = [
        migrations.RemoveField("datasetsample", "text"),
        migrations.RemoveField("datasetsample", "beliefs"),
        migrations.AlterField("datasetsample", "key", models.CharField(max_length=200)),
        migrations.AlterField("datasetsample", "cluster", models.CharField(max_length=200)),
        migrations.AlterField("datasetsample", "group", models.CharField(blank=True, max_length=200)),
        migrations.AlterField("datasetsample", "content", models.JSONField()),
        migrations.AlterField("datasetsample", "gold", models.JSONField()),
        migrations.AlterField("dataset", "suite", models.CharField(blank=True, max_length=40)),
        migrations.AddConstraint(
            "datasetsample", models.UniqueConstraint(fields=("dataset", "number"), name="one_dataset_sample_a_number")
        ),
        migrations.AddConstraint(
            "datasetsample", models.UniqueConstraint(fields=("dataset", "key"), name="one_dataset_sample_a_key")
        ),
    ]
