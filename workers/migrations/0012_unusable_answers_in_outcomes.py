from django.db import migrations, models
from django.db.models import Exists, OuterRef

NAMES = [
    ("finished", "finished"),
    ("unusable", "finished, some unusable"),
    ("partly", "finished with failures"),
    ("useless", "finished, none usable"),
    ("failed", "failed"),
]
HELD_TOGETHER = models.CheckConstraint(
    condition=models.Q(("outcome__in", [name for name, _ in NAMES]), ("state", "finished"))
    | models.Q(models.Q(("state", "finished"), _negated=True), ("outcome", "")),
    name="finished_job_has_outcome",
)


def derive(apps, schema_editor):
    """Tells the jobs apart that have unusable answers, by the rule of workers/domain/outcomes.py."""
    Job, Item = apps.get_model("workers", "Job"), apps.get_model("workers", "Item")
    items = Item.objects.filter(job=OuterRef("pk"))
    done, unusable = Exists(items.filter(state="done")), Exists(items.filter(state="unusable"))
    Job.objects.filter(~done, unusable, outcome__in=["finished", "partly"]).update(outcome="useless")
    Job.objects.filter(done, unusable, outcome="finished").update(outcome="unusable")


def forget(apps, schema_editor):
    Job = apps.get_model("workers", "Job")
    Job.objects.filter(outcome="unusable").update(outcome="finished")
    failed = Exists(apps.get_model("workers", "Item").objects.filter(job=OuterRef("pk"), state="failed"))
    Job.objects.filter(failed, outcome="useless").update(outcome="partly")
    Job.objects.filter(outcome="useless").update(outcome="finished")


class Migration(migrations.Migration):
    dependencies = [("workers", "0011_zero_prices_of_billing_providers")]

    operations = [
        migrations.RemoveConstraint(model_name="job", name="finished_job_has_outcome"),
        migrations.AlterField(
            model_name="job", name="outcome", field=models.CharField(blank=True, choices=NAMES, max_length=8)
        ),
        migrations.RunPython(derive, forget, elidable=True),
        migrations.AddConstraint(model_name="job", constraint=HELD_TOGETHER),
    ]
