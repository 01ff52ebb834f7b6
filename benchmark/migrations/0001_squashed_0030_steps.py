"""The tables of benchmark in a new database, as the single migrations up to 0030 leave them."""

import core.ids
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from core.new_tables import NewTables


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ('benchmark', '0001_initial'),
        ('benchmark', '0002_reports'),
        ('benchmark', '0003_frozen_content'),
        ('benchmark', '0004_dataset_rules'),
        ('benchmark', '0005_unjudged_rows'),
        ('benchmark', '0006_follow_ups'),
        ('benchmark', '0007_judge_tests'),
        ('benchmark', '0008_lost_extractions_are_failures'),
        ('benchmark', '0009_shared_items'),
        ('benchmark', '0010_label_schemas'),
        ('benchmark', '0011_samples'),
        ('benchmark', '0012_sample_contents'),
        ('benchmark', '0013_samples_alone'),
        ('benchmark', '0014_evaluations'),
        ('benchmark', '0015_judge_tests_by_suite'),
        ('benchmark', '0016_archived_runs'),
        ('benchmark', '0017_controls'),
        ('benchmark', '0018_entered_rows'),
        ('benchmark', '0019_suite_names'),
        ('benchmark', '0020_metrics'),
        ('benchmark', '0021_entered_rows_of_own_schemas'),
        ('benchmark', '0022_run_preparation'),
        ('benchmark', '0023_imported_answers'),
        ('benchmark', '0024_watches'),
        ('benchmark', '0025_extended_preparation'),
        ('benchmark', '0026_second_looks'),
        ('benchmark', '0027_unread_parcels'),
        ('benchmark', '0028_replaced_scores'),
        ('benchmark', '0029_sweep_picks'),
        ('benchmark', '0030_steps'),
    ]

    dependencies = [
        ('annotation', '0001_squashed_0024_story_entries'),
        ('workers', '0001_squashed_0019_steps'),
    ]

    operations = [
        NewTables([
            migrations.CreateModel(
                name='Dataset',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('version', models.PositiveIntegerField()),
                    ('digest', models.CharField(max_length=64)),
                    ('suite', models.CharField(blank=True, max_length=40)),
                    ('origin', models.JSONField(default=dict)),
                    ('schema_name', models.CharField(default='omnitom', max_length=40)),
                    ('schema_version', models.CharField(max_length=20)),
                    ('rule_version', models.CharField(max_length=20)),
                    ('overlap', models.PositiveSmallIntegerField(null=True)),
                    ('unanimity_dimensions', models.JSONField(null=True)),
                    ('stories_count', models.PositiveIntegerField()),
                    ('propositions_count', models.PositiveIntegerField()),
                    ('left_out', models.PositiveIntegerField(default=0, help_text='Stories with a table whose cells were not all settled.')),
                    ('methods', models.JSONField(default=dict)),
                    ('note', models.CharField(blank=True, max_length=200)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='datasets', to='annotation.project')),
                ],
                options={
                    'ordering': ['-version'],
                },
            ),
            migrations.CreateModel(
                name='DatasetSample',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('number', models.BigIntegerField()),
                    ('key', models.CharField(max_length=200)),
                    ('cluster', models.CharField(max_length=200)),
                    ('group', models.CharField(blank=True, max_length=200)),
                    ('category', models.CharField(max_length=120)),
                    ('split', models.CharField(blank=True, max_length=40)),
                    ('content', models.JSONField()),
                    ('gold', models.JSONField()),
                    ('methods', models.JSONField(default=list)),
                    ('votes', models.JSONField(default=dict)),
                    ('adjudications', models.JSONField(default=dict)),
                    ('digest', models.CharField(max_length=64)),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='benchmark.dataset')),
                    ('story', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.story')),
                ],
                options={
                    'ordering': ['position'],
                },
            ),
            migrations.CreateModel(
                name='EnteredRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('suite', models.CharField(max_length=100)),
                    ('name', models.CharField(max_length=120)),
                    ('kind', models.CharField(choices=[('human', 'People'), ('published', 'Published model')], max_length=12)),
                    ('source', models.CharField(max_length=400)),
                    ('metrics', models.JSONField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entered_rows', to='annotation.project')),
                ],
                options={
                    'ordering': ['suite', 'kind', 'name'],
                },
            ),
            migrations.CreateModel(
                name='JudgeTest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('suite', models.CharField(max_length=100)),
                    ('version', models.CharField(max_length=64)),
                    ('form', models.CharField(choices=[('text', 'Free text'), ('structured', 'Structured output')], max_length=12)),
                    ('prompt_set', models.CharField(max_length=60)),
                    ('params', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmark.dataset')),
                    ('job', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='judge_test', to='workers.job')),
                    ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.endpoint')),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judge_tests', to='annotation.project')),
                ],
            ),
            migrations.CreateModel(
                name='JudgeTestItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pairs', models.JSONField()),
                    ('counts', models.JSONField(null=True)),
                    ('call', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.call')),
                    ('item', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='workers.item')),
                    ('sample', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmark.datasetsample')),
                    ('test', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='benchmark.judgetest')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='ResultsVisibility',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('audience', models.CharField(choices=[('admin', 'Admins only'), ('expert', 'Admins and experts'), ('annotator', 'Every member')], default='admin', max_length=10)),
                    ('once_frozen', models.BooleanField(default=False)),
                    ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='results_visibility', to='annotation.project')),
                ],
            ),
            migrations.CreateModel(
                name='Run',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('suite', models.CharField(max_length=100)),
                    ('title', models.CharField(max_length=200)),
                    ('steps', models.JSONField(db_column='stages')),
                    ('form', models.CharField(choices=[('text', 'Free text'), ('structured', 'Structured output')], default='text', max_length=12)),
                    ('level', models.PositiveSmallIntegerField()),
                    ('prompt_set', models.CharField(max_length=60)),
                    ('control', models.CharField(blank=True, db_default='', max_length=20)),
                    ('params', models.JSONField(default=dict)),
                    ('spec', models.JSONField(default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('archived_at', models.DateTimeField(blank=True, null=True)),
                    ('deleted_at', models.DateTimeField(blank=True, null=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='benchmark.dataset')),
                    ('job', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='run', to='workers.job')),
                    ('judge', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.endpoint')),
                    ('original', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='controls', to='benchmark.run')),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='annotation.project')),
                    ('source', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judged_anew', to='benchmark.run')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='Entrant',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('name', models.CharField(max_length=200)),
                    ('spec', models.JSONField(default=dict)),
                    ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.endpoint')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entrants', to='benchmark.run')),
                ],
                options={
                    'ordering': ['position'],
                },
            ),
            migrations.CreateModel(
                name='AnchorWatch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('step', models.CharField(max_length=40)),
                    ('about', models.JSONField(default=list)),
                    ('anchors', models.JSONField(default=list)),
                    ('seed', models.PositiveIntegerField(default=1)),
                    ('rounds', models.PositiveSmallIntegerField()),
                    ('every', models.PositiveSmallIntegerField()),
                    ('drop', models.FloatField()),
                    ('budget', models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True)),
                    ('due_at', models.DateTimeField(blank=True, null=True)),
                    ('concerns', models.JSONField(default=list)),
                    ('noted_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('asked', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.endpoint')),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='anchor_watches', to='annotation.project')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='anchor_watches', to='benchmark.run')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='AnchorRepeat',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('due_at', models.DateTimeField()),
                    ('missed', models.PositiveIntegerField(default=0)),
                    ('why_not', models.CharField(blank=True, max_length=500)),
                    ('read_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('watch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='repeats', to='benchmark.anchorwatch')),
                    ('run', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='anchor_repeat', to='benchmark.run')),
                ],
                options={
                    'ordering': ['number'],
                },
            ),
            migrations.CreateModel(
                name='RunItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('step', models.CharField(db_column='stage', max_length=20)),
                    ('repetition', models.PositiveSmallIntegerField(db_default=0, default=0)),
                    ('official', models.JSONField(blank=True, null=True)),
                    ('repaired', models.JSONField(blank=True, null=True)),
                    ('score', models.FloatField(blank=True, null=True)),
                    ('repaired_score', models.FloatField(blank=True, null=True)),
                    ('unusable', models.CharField(blank=True, max_length=120)),
                    ('unjudged', models.PositiveIntegerField(db_default=0, default=0)),
                    ('call', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.call')),
                    ('entrant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='benchmark.entrant')),
                    ('item', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='run_item', to='workers.item')),
                    ('sample', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmark.datasetsample')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='RunParcel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('rows', models.JSONField()),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers_to_take', to='benchmark.run')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='RunPreparation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('samples', models.JSONField()),
                    ('looks', models.BooleanField(default=False)),
                    ('extends', models.BooleanField(default=False)),
                    ('of', models.PositiveIntegerField()),
                    ('done', models.PositiveIntegerField(default=0)),
                    ('kept', models.PositiveIntegerField(default=0)),
                    ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='preparation', to='benchmark.run')),
                ],
            ),
            migrations.CreateModel(
                name='RunReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('scored', models.PositiveIntegerField()),
                    ('metrics', models.JSONField()),
                    ('computed_at', models.DateTimeField()),
                    ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='report', to='benchmark.run')),
                ],
            ),
            migrations.CreateModel(
                name='SecondLook',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dimension', models.CharField(max_length=20)),
                    ('gold', models.CharField(max_length=80)),
                    ('label', models.CharField(max_length=80)),
                    ('proposed', models.CharField(max_length=80)),
                    ('families', models.JSONField(default=list)),
                    ('reason', models.TextField(blank=True)),
                    ('at', models.DateTimeField()),
                    ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                    ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('proposition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.proposition')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='SharedReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('title', models.CharField(max_length=200)),
                    ('metrics', models.JSONField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shared_reports', to='annotation.project')),
                    ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='shared_reports', to='benchmark.run')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='SharedItem',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('step', models.CharField(db_column='stage', max_length=20)),
                    ('repetition', models.PositiveSmallIntegerField(db_default=0, default=0)),
                    ('official', models.JSONField(blank=True, null=True)),
                    ('repaired', models.JSONField(blank=True, null=True)),
                    ('score', models.FloatField(blank=True, null=True)),
                    ('repaired_score', models.FloatField(blank=True, null=True)),
                    ('unusable', models.CharField(blank=True, max_length=120)),
                    ('unjudged', models.PositiveIntegerField(db_default=0, default=0)),
                    ('state', models.CharField(max_length=12)),
                    ('problem', models.TextField(blank=True)),
                    ('call', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.call')),
                    ('entrant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='benchmark.entrant')),
                    ('sample', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmark.datasetsample')),
                    ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='benchmark.sharedreport')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='StoredPromptSet',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('name', models.SlugField(max_length=60)),
                    ('files', models.JSONField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='prompt_sets', to='annotation.project')),
                ],
                options={
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='StoryScores',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('person', models.CharField(blank=True, max_length=160)),
                    ('metrics', models.JSONField()),
                    ('replaced_at', models.DateTimeField(blank=True, null=True)),
                    ('entrant', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='story_scores', to='benchmark.entrant')),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='story_scores', to='benchmark.run')),
                ],
            ),
            migrations.CreateModel(
                name='SweepPick',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('launch', models.CharField(max_length=64)),
                    ('group', models.CharField(max_length=60)),
                    ('reason', models.TextField()),
                    ('at', models.DateTimeField()),
                    ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('entrant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='benchmark.entrant')),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.project')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='UnmatchedReport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('unmatched', models.JSONField(default=list)),
                    ('double', models.JSONField(default=list)),
                    ('missing', models.JSONField(default=list)),
                    ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='unmatched_report', to='benchmark.run')),
                ],
            ),
            migrations.CreateModel(
                name='UnreadParcel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveSmallIntegerField()),
                    ('name', models.CharField(max_length=255)),
                    ('content', models.BinaryField()),
                    ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files_to_read', to='benchmark.run')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.AddConstraint(
                model_name='dataset',
                constraint=models.UniqueConstraint(fields=('project', 'version'), name='one_dataset_a_version'),
            ),
            migrations.AddConstraint(
                model_name='dataset',
                constraint=models.UniqueConstraint(fields=('project', 'digest'), name='one_dataset_a_content'),
            ),
            migrations.AddConstraint(
                model_name='datasetsample',
                constraint=models.UniqueConstraint(fields=('dataset', 'number'), name='one_dataset_sample_a_number'),
            ),
            migrations.AddConstraint(
                model_name='datasetsample',
                constraint=models.UniqueConstraint(fields=('dataset', 'key'), name='one_dataset_sample_a_key'),
            ),
            migrations.AddConstraint(
                model_name='enteredrow',
                constraint=models.UniqueConstraint(fields=('project', 'suite', 'name'), name='one_entered_row_a_name'),
            ),
            migrations.AddConstraint(
                model_name='enteredrow',
                constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['human', 'published'])), name='entered_row_kind'),
            ),
            migrations.AddConstraint(
                model_name='enteredrow',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('name', ''), _negated=True), models.Q(('source', ''), _negated=True)), name='entered_row_says_its_source'),
            ),
            migrations.AddConstraint(
                model_name='judgetest',
                constraint=models.UniqueConstraint(fields=('project', 'suite', 'version'), name='one_judge_test_a_version'),
            ),
            migrations.AddConstraint(
                model_name='judgetestitem',
                constraint=models.UniqueConstraint(fields=('test', 'sample'), name='one_judge_test_item_a_story'),
            ),
            migrations.AddConstraint(
                model_name='run',
                constraint=models.CheckConstraint(condition=models.Q(('form__in', ['text', 'structured'])), name='run_form_known'),
            ),
            migrations.AddConstraint(
                model_name='run',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('control', ''), ('original', None)), models.Q(models.Q(('control', ''), _negated=True), ('original__isnull', False)), _connector='OR'), name='run_control_of_a_run'),
            ),
            migrations.AddConstraint(
                model_name='run',
                constraint=models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('original', 'control'), name='one_run_a_control'),
            ),
            migrations.AddConstraint(
                model_name='run',
                constraint=models.CheckConstraint(condition=models.Q(('level__gte', 1), ('level__lte', 4)), name='run_level_1_to_4'),
            ),
            migrations.AddConstraint(
                model_name='entrant',
                constraint=models.UniqueConstraint(fields=('run', 'endpoint'), name='one_entrant_an_endpoint'),
            ),
            migrations.AddIndex(
                model_name='anchorwatch',
                index=models.Index(fields=['due_at'], name='watch_by_due'),
            ),
            migrations.AddConstraint(
                model_name='anchorwatch',
                constraint=models.CheckConstraint(condition=models.Q(('every__gte', 1), ('every__lte', 365)), name='watch_every_1_to_365_days'),
            ),
            migrations.AddConstraint(
                model_name='anchorwatch',
                constraint=models.CheckConstraint(condition=models.Q(('drop__gt', 0), ('drop__lt', 1)), name='watch_drop_is_a_share'),
            ),
            migrations.AddConstraint(
                model_name='anchorrepeat',
                constraint=models.UniqueConstraint(fields=('watch', 'number'), name='one_repeat_a_number'),
            ),
            migrations.AddConstraint(
                model_name='runitem',
                constraint=models.UniqueConstraint(fields=('entrant', 'step', 'sample', 'repetition'), name='one_run_item_a_place'),
            ),
            migrations.AddConstraint(
                model_name='runpreparation',
                constraint=models.CheckConstraint(condition=models.Q(('done__lte', models.F('of'))), name='preparation_within_its_samples'),
            ),
            migrations.AddIndex(
                model_name='secondlook',
                index=models.Index(fields=['proposition', 'dimension'], name='second_look_of_cell'),
            ),
            migrations.AddConstraint(
                model_name='shareditem',
                constraint=models.UniqueConstraint(fields=('report', 'entrant', 'step', 'sample', 'repetition'), name='one_shared_item_a_place'),
            ),
            migrations.AddConstraint(
                model_name='storedpromptset',
                constraint=models.UniqueConstraint(fields=('project', 'name'), name='one_prompt_set_a_name'),
            ),
            migrations.AddIndex(
                model_name='storyscores',
                index=models.Index(condition=models.Q(('replaced_at', None), _negated=True), fields=['replaced_at'], name='replaced_story_scores'),
            ),
            migrations.AddConstraint(
                model_name='storyscores',
                constraint=models.UniqueConstraint(condition=models.Q(('replaced_at', None)), fields=('run', 'entrant'), name='one_story_scores_an_entrant'),
            ),
            migrations.AddConstraint(
                model_name='storyscores',
                constraint=models.UniqueConstraint(condition=models.Q(('replaced_at', None), models.Q(('person', ''), _negated=True)), fields=('run', 'person'), name='one_story_scores_a_person'),
            ),
            migrations.AddConstraint(
                model_name='storyscores',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('entrant__isnull', False), ('person', '')), models.Q(('entrant__isnull', True), models.Q(('person', ''), _negated=True)), _connector='OR'), name='story_scores_of_one'),
            ),
            migrations.AddConstraint(
                model_name='sweeppick',
                constraint=models.UniqueConstraint(fields=('project', 'launch', 'group'), name='one_choice_a_launch_and_group'),
            ),
        ]),
    ]
