from django.db import migrations


def rename(apps, schema_editor):
    """A run's calls are an evaluation's, of whatever suite."""
    for name in ("Job", "Call"):
        apps.get_model("workers", name).objects.filter(purpose="omnitom").update(purpose="evaluation")


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0013_samples_alone"), ("workers", "0014_providers_by_registry")]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
