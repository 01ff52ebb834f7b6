from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0014_evaluations")]

    operations = [
        migrations.RemoveConstraint(model_name="judgetest", name="one_judge_test_a_version"),
        migrations.AddField(
            model_name="judgetest",
            name="suite",
            field=models.CharField(default="omnitom", max_length=20),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="judgetest",
            constraint=models.UniqueConstraint(
                fields=("project", "suite", "version"), name="one_judge_test_a_version"
            ),
        ),
    ]
