from django.db import migrations


def fill(apps, schema_editor):
    samples = apps.get_model("benchmark", "DatasetSample").objects
    batch = []
    for one in samples.only("number", "text", "beliefs").iterator(chunk_size=200):
        one.key = one.cluster = str(one.number)
        one.content, one.gold = {"story": one.text}, {"beliefs": one.beliefs}
        batch.append(one)
        if len(batch) == 200:
            samples.bulk_update(batch, ["key", "cluster", "content", "gold"])
            batch = []
    samples.bulk_update(batch, ["key", "cluster", "content", "gold"])


class Migration(migrations.Migration):
    dependencies = [("benchmark", "0011_samples")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
