from django.db import migrations

HOLDERS = ("runreport", "sharedreport", "storyscores", "enteredrow")

BEFORE = "fantom-star"


def name_the_embedder(apps, schema_editor):
    """Frozen reports of FANToM had one metric group of ALL*; each embedder has its own now."""
    for report in apps.get_model("benchmark", "SharedReport").objects.filter(metrics__stages__has_key=BEFORE):
        if embedder := _embedder_of(report):
            report.metrics = _renamed(report.metrics, f"{BEFORE}-{embedder}")
            report.save(update_fields=["metrics"])


def _embedder_of(report):
    item = report.items.select_related("entrant__run").first()
    run = report.run or (item and item.entrant.run)
    return run and run.params["options"]["embedder"]


def _renamed(value, name):
    if isinstance(value, dict):
        return {_renamed(key, name): _renamed(held, name) for key, held in value.items()}
    if isinstance(value, list):
        return [_renamed(held, name) for held in value]
    return name if value == BEFORE else value


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0019_suite_names")]

    operations = [
        *(migrations.RenameField(name, "figures", "metrics") for name in HOLDERS),
        migrations.RunPython(name_the_embedder, migrations.RunPython.noop),
    ]
