"""The tables of judge in a new database, as the single migrations up to 0003 leave them."""

import core.ids
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from core.new_tables import NewTables


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ('judge', '0001_initial'),
        ('judge', '0002_chosen_judge'),
        ('judge', '0003_blind_share'),
    ]

    dependencies = [
        ('annotation', '0001_squashed_0024_story_entries'),
    ]

    operations = [
        NewTables([
            migrations.CreateModel(
                name='AlignmentStudy',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('seed', models.PositiveIntegerField(default=1)),
                    ('overlap', models.PositiveSmallIntegerField(default=2, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(9)])),
                    ('most_links', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(3)])),
                    ('blind_share', models.PositiveSmallIntegerField(db_default=0, default=0, validators=[django.core.validators.MaxValueValidator(100)])),
                    ('audience', models.CharField(choices=[('expert', 'Expert'), ('admin', 'Admin')], default='expert', max_length=12)),
                    ('frame', models.JSONField(default=list)),
                    ('origin', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('closed_at', models.DateTimeField(blank=True, null=True)),
                    ('judge_version', models.CharField(blank=True, max_length=64)),
                    ('judge_name', models.CharField(blank=True, max_length=200)),
                    ('judge_reason', models.TextField(blank=True)),
                    ('judge_chosen_at', models.DateTimeField(blank=True, null=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('judge_chosen_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alignment_studies', to='annotation.project')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='AlignmentTask',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('key', models.CharField(max_length=200)),
                    ('source', models.CharField(max_length=200)),
                    ('origin', models.JSONField(default=dict)),
                    ('cluster', models.CharField(max_length=200)),
                    ('number', models.BigIntegerField()),
                    ('text', models.TextField()),
                    ('language', models.CharField(default='en', max_length=8)),
                    ('category', models.CharField(blank=True, max_length=120)),
                    ('place', models.PositiveIntegerField()),
                    ('probability', models.FloatField()),
                    ('predictions', models.JSONField()),
                    ('gold', models.JSONField()),
                    ('added_at', models.DateTimeField(auto_now_add=True)),
                    ('story', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.story')),
                    ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='judge.alignmentstudy')),
                ],
                options={
                    'ordering': ['place', 'number', 'uid'],
                },
            ),
            migrations.CreateModel(
                name='Alignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('slot', models.PositiveSmallIntegerField()),
                    ('state', models.CharField(choices=[('open', 'Open'), ('handed-in', 'Handed in'), ('released', 'Released')], default='open', max_length=12)),
                    ('revision', models.PositiveIntegerField(default=0)),
                    ('answers', models.JSONField(default=dict)),
                    ('assigned_at', models.DateTimeField(auto_now_add=True)),
                    ('handed_in_at', models.DateTimeField(blank=True, null=True)),
                    ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='alignments', to=settings.AUTH_USER_MODEL)),
                    ('assigned_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='alignments', to='judge.alignmenttask')),
                ],
                options={
                    'ordering': ['task__place', 'task__number'],
                },
            ),
            migrations.CreateModel(
                name='SettledAlignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rows', models.JSONField()),
                    ('open_rows', models.PositiveIntegerField()),
                    ('revision', models.PositiveIntegerField(default=0)),
                    ('changed_at', models.DateTimeField()),
                    ('task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='settled', to='judge.alignmenttask')),
                ],
            ),
            migrations.CreateModel(
                name='SettledEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('row', models.CharField(max_length=8)),
                    ('before', models.JSONField(null=True)),
                    ('after', models.JSONField()),
                    ('reason', models.TextField(blank=True)),
                    ('at', models.DateTimeField()),
                    ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='settled_events', to='judge.alignmenttask')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='AlignmentEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('idempotency_key', models.CharField(max_length=64)),
                    ('action', models.CharField(max_length=64)),
                    ('undoes', models.CharField(blank=True, max_length=64)),
                    ('before', models.JSONField(blank=True, null=True)),
                    ('after', models.JSONField()),
                    ('changed_at', models.DateTimeField()),
                    ('received_at', models.DateTimeField()),
                    ('row', models.CharField(blank=True, max_length=8)),
                    ('accepted', models.BooleanField(default=False)),
                    ('duration_ms', models.PositiveIntegerField(blank=True, null=True)),
                    ('alignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='judge.alignment')),
                ],
                options={
                    'ordering': ['id'],
                    'abstract': False,
                    'constraints': [models.UniqueConstraint(fields=('alignment', 'idempotency_key'), name='one_alignment_event_a_key')],
                },
            ),
            migrations.AddConstraint(
                model_name='alignmentstudy',
                constraint=models.UniqueConstraint(fields=('project', 'name'), name='one_alignment_study_a_name'),
            ),
            migrations.AddConstraint(
                model_name='alignmentstudy',
                constraint=models.CheckConstraint(condition=models.Q(('overlap__gte', 1), ('overlap__lte', 9)), name='study_overlap_1_to_9'),
            ),
            migrations.AddConstraint(
                model_name='alignmentstudy',
                constraint=models.CheckConstraint(condition=models.Q(('most_links__gte', 1), ('most_links__lte', 3)), name='study_links_1_to_3'),
            ),
            migrations.AddConstraint(
                model_name='alignmentstudy',
                constraint=models.CheckConstraint(condition=models.Q(('blind_share__lte', 100)), name='study_blind_share_at_most_100'),
            ),
            migrations.AddConstraint(
                model_name='alignmenttask',
                constraint=models.UniqueConstraint(fields=('study', 'key'), name='one_alignment_task_a_table'),
            ),
            migrations.AddConstraint(
                model_name='alignmenttask',
                constraint=models.CheckConstraint(condition=models.Q(('probability__gt', 0), ('probability__lte', 1)), name='task_probability_0_to_1'),
            ),
            migrations.AddIndex(
                model_name='alignment',
                index=models.Index(fields=['annotator', 'state'], name='alignment_of_annotator'),
            ),
            migrations.AddConstraint(
                model_name='alignment',
                constraint=models.UniqueConstraint(condition=models.Q(('state', 'released'), _negated=True), fields=('task', 'slot'), name='one_alignment_a_slot'),
            ),
            migrations.AddConstraint(
                model_name='alignment',
                constraint=models.UniqueConstraint(condition=models.Q(('state', 'released'), _negated=True), fields=('task', 'annotator'), name='one_alignment_an_annotator'),
            ),
            migrations.AddConstraint(
                model_name='alignment',
                constraint=models.CheckConstraint(condition=models.Q(('slot__gte', 1), ('slot__lte', 9)), name='alignment_slot_1_to_9'),
            ),
            migrations.AddConstraint(
                model_name='alignment',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('handed_in_at__isnull', False), ('state', 'handed-in')), models.Q(models.Q(('state', 'handed-in'), _negated=True), ('handed_in_at', None)), _connector='OR'), name='alignment_handed_in_when'),
            ),
        ]),
    ]
