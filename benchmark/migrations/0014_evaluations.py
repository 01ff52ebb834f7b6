from django.db import migrations


def rename(apps, schema_editor):
    """A run's calls are an evaluation's, of whatever suite."""
    for name in ("Job", "Call"):
        model = apps.get_model("workers", name)
        # where workers is migrated first, it has been renamed by now
        column = "purpose" if any(field.name == "purpose" for field in model._meta.fields) else "handler"
        model.objects.filter(**{column: "omnitom"}).update(**{column: "evaluation"})


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0013_samples_alone"), ("workers", "0014_providers_by_registry")]

    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
