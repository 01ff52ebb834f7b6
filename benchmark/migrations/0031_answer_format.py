"""Runs and self-tests of judges call the format of answers by that name."""

from django.db import migrations, models

KNOWN = models.CheckConstraint(
    condition=models.Q(("answer_format__in", ["text", "structured"])), name="run_answer_format_known"
)


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0030_steps")]

    operations = [
        migrations.RemoveConstraint("run", "run_form_known"),
        migrations.RenameField("run", "form", "answer_format"),
        migrations.AddConstraint("run", KNOWN),
        migrations.RenameField("judgetest", "form", "answer_format"),
    ]
