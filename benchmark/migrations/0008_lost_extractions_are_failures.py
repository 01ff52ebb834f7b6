from django.db import migrations


def note_lost_extractions(apps, schema_editor):
    """Runs that took over lost extractions did not simply finish: the rule of `failed_before` in services/evaluating.py."""
    Job, RunItem = apps.get_model("workers", "Job"), apps.get_model("benchmark", "RunItem")
    lost = RunItem.objects.filter(item=None, call=None).exclude(unusable="")
    Job.objects.filter(outcome__in=["finished", "unusable"], run__entrants__items__in=lost).update(outcome="partly")


class Migration(migrations.Migration):
    dependencies = [
        ("benchmark", "0007_judge_tests"),
        ("workers", "0003_job_outcome"),
    ]

    operations = [migrations.RunPython(note_lost_extractions, migrations.RunPython.noop, elidable=True)]
