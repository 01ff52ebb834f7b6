import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Another index of the table begins with the same column: these were written with every vote and never needed.
NEEDLESS = {
    "annotation_vote_proposition_id_f96052ef": ("annotation_vote", "proposition_id"),
    "annotation_vote_annotator_id_637b4b41": ("annotation_vote", "annotator_id"),
    "annotation_voteevent_proposition_id_ff42061f": ("annotation_voteevent", "proposition_id"),
    "annotation_voteevent_annotator_id_908e5e25": ("annotation_voteevent", "annotator_id"),
    "annotation_goldlabel_proposition_id_e3c51a9c": ("annotation_goldlabel", "proposition_id"),
    "annotation_goldevent_proposition_id_b46aa4f4": ("annotation_goldevent", "proposition_id"),
}


def proposition(model, related_name):
    to, cascade = "annotation.proposition", django.db.models.deletion.CASCADE
    field = models.ForeignKey(db_index=False, on_delete=cascade, related_name=related_name, to=to)
    return migrations.AlterField(model, "proposition", field)


def annotator(model, related_name):
    to, protect = settings.AUTH_USER_MODEL, django.db.models.deletion.PROTECT
    field = models.ForeignKey(db_index=False, on_delete=protect, related_name=related_name, to=to)
    return migrations.AlterField(model, "annotator", field)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0022_gold_decisions_index"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # By hand: SQLite's tables would be remade, which takes minutes and loses their triggers.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(f"DROP INDEX IF EXISTS {name}", f"CREATE INDEX {name} ON {table} ({column})")
                for name, (table, column) in NEEDLESS.items()
            ],
            state_operations=[
                proposition("vote", "votes"),
                annotator("vote", "votes"),
                proposition("voteevent", "vote_events"),
                annotator("voteevent", "vote_events"),
                proposition("goldlabel", "gold"),
                proposition("goldevent", "gold_events"),
            ],
        )
    ]
