"""The tables of annotation in a new database, as the single migrations up to 0024 leave them, and their triggers."""

from importlib import import_module

import annotation.models.user
import core.ids
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from core.new_tables import NewTables

counts, marks = (
    import_module(f"annotation.migrations.{name}") for name in ("0011_counts", "0018_marks_when_missing")
)


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ('annotation', '0001_initial'),
        ('annotation', '0002_suggestions'),
        ('annotation', '0003_imported_annotators'),
        ('annotation', '0004_arms_unit'),
        ('annotation', '0005_api_tokens'),
        ('annotation', '0006_tokens_taken_over'),
        ('annotation', '0007_log_in_counts'),
        ('annotation', '0008_label_schemas'),
        ('annotation', '0009_drafts'),
        ('annotation', '0010_rows_of_drafts'),
        ('annotation', '0011_counts'),
        ('annotation', '0012_reviewed_index'),
        ('annotation', '0013_lanes'),
        ('annotation', '0014_idempotency_key'),
        ('annotation', '0015_due_days'),
        ('annotation', '0016_set_aside'),
        ('annotation', '0017_claims'),
        ('annotation', '0018_marks_when_missing'),
        ('annotation', '0019_language'),
        ('annotation', '0020_drafts_by_models'),
        ('annotation', '0021_guidelines_in_chinese'),
        ('annotation', '0022_gold_decisions_index'),
        ('annotation', '0023_fewer_indexes'),
        ('annotation', '0024_story_entries'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('workers', '0001_squashed_0019_steps'),
    ]

    operations = [
        NewTables([
            migrations.CreateModel(
                name='ChangedProposition',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('proposition', models.BigIntegerField(db_index=True)),
                ],
            ),
            migrations.CreateModel(
                name='ChangedTable',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('table', models.BigIntegerField(db_index=True)),
                ],
            ),
            migrations.CreateModel(
                name='LogInCount',
                fields=[
                    ('digest', models.CharField(max_length=64, primary_key=True, serialize=False)),
                    ('attempts', models.PositiveIntegerField()),
                    ('until', models.DateTimeField(db_index=True)),
                ],
            ),
            migrations.CreateModel(
                name='Story',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('number', models.BigIntegerField()),
                    ('text', models.TextField()),
                    ('language', models.CharField(default='en', max_length=8)),
                    ('translations', models.JSONField(blank=True, default=dict)),
                    ('source', models.CharField(blank=True, max_length=255)),
                    ('digest', models.CharField(max_length=64)),
                    ('extra', models.JSONField(blank=True, default=dict)),
                    ('set_aside_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'verbose_name_plural': 'stories',
                    'ordering': ['number'],
                },
            ),
            migrations.CreateModel(
                name='User',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('password', models.CharField(max_length=128, verbose_name='password')),
                    ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                    ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                    ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                    ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                    ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                    ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                    ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                    ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                    ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                    ('display_name', models.CharField(blank=True, max_length=80)),
                    ('language', models.CharField(blank=True, max_length=16)),
                    ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                    ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
                ],
                options={
                    'verbose_name': 'user',
                    'verbose_name_plural': 'users',
                    'abstract': False,
                },
                managers=[
                    ('objects', annotation.models.user.PeopleManager()),
                ],
            ),
            migrations.CreateModel(
                name='BeliefTable',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('kind', models.CharField(choices=[('gold', 'Gold'), ('draft', "Expert's draft")], default='gold', max_length=8)),
                    ('slot', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('submitted_at', models.DateTimeField(blank=True, null=True)),
                    ('opened_at', models.DateTimeField(blank=True, null=True)),
                    ('agreed_at', models.DateTimeField(blank=True, null=True)),
                    ('arm_drawn_at', models.DateTimeField(blank=True, null=True)),
                    ('is_blind', models.BooleanField(blank=True, null=True)),
                    ('arm_seed', models.PositiveIntegerField(blank=True, null=True)),
                    ('blind_share', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('given_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
            ),
            migrations.CreateModel(
                name='Project',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('slug', models.SlugField(max_length=60, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9][a-z0-9-]*$')])),
                    ('name', models.CharField(max_length=120)),
                    ('description', models.TextField(blank=True)),
                    ('overlap', models.PositiveSmallIntegerField(default=3, validators=[django.core.validators.MinValueValidator(2), django.core.validators.MaxValueValidator(9)])),
                    ('unanimity_dimensions', models.JSONField(blank=True, default=list)),
                    ('table_experts', models.PositiveSmallIntegerField(db_default=2, default=2, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(2)])),
                    ('tables_agreed', models.BooleanField(db_default=False, default=False)),
                    ('decides_and_goes_on', models.BooleanField(db_default=False, default=False)),
                    ('schema_name', models.CharField(default='omnitom', max_length=40)),
                    ('schema_version', models.CharField(default='1', max_length=20)),
                    ('rule_version', models.CharField(default='1', max_length=20)),
                    ('blind_share', models.PositiveSmallIntegerField(default=20, validators=[django.core.validators.MaxValueValidator(100)])),
                    ('reveal_share', models.PositiveSmallIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(100)])),
                    ('table_blind_share', models.PositiveSmallIntegerField(db_default=50, default=50, validators=[django.core.validators.MaxValueValidator(100)])),
                    ('arms_seed', models.PositiveIntegerField(default=1)),
                    ('arms_unit', models.CharField(choices=[('cell', 'each cell'), ('proposition', 'each proposition: all its cells alike'), ('story', 'each story: all its cells alike')], db_default='cell', default='cell', max_length=12)),
                    ('speed_floor_ms', models.PositiveIntegerField(default=700)),
                    ('language', models.CharField(default='en', max_length=8)),
                    ('dataset_card', models.JSONField(blank=True, default=dict)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['name'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('table_experts__in', (1, 2))), name='project_table_experts_1_or_2'), models.CheckConstraint(condition=models.Q(('overlap__gte', 2), ('overlap__lte', 9)), name='project_overlap_2_to_9'), models.CheckConstraint(condition=models.Q(('blind_share__lte', django.db.models.expressions.CombinedExpression(models.Value(100), '-', models.F('reveal_share')))), name='project_arm_shares_at_most_100')],
                },
            ),
            migrations.CreateModel(
                name='Prefill',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('kind', models.CharField(choices=[('labels', 'Labels of propositions'), ('tables', 'Drafts of belief tables')], default='labels', max_length=8)),
                    ('level', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('prompt', models.CharField(max_length=40)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='prefills', to='workers.endpoint')),
                    ('job', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='prefill', to='workers.job')),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='prefills', to='annotation.project')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('annotator', 'Annotator'), ('expert', 'Expert'), ('admin', 'Admin')], max_length=12)),
                    ('email', models.EmailField(blank=True, max_length=254)),
                    ('token_hash', models.CharField(max_length=64, unique=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField()),
                    ('accepted_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='annotation.project')),
                ],
                options={
                    'ordering': ['-created_at'],
                },
            ),
            migrations.CreateModel(
                name='Category',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=120)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='categories', to='annotation.project')),
                ],
                options={
                    'verbose_name_plural': 'categories',
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='AuditEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('at', models.DateTimeField(auto_now_add=True, db_index=True)),
                    ('action', models.CharField(max_length=60)),
                    ('target', models.CharField(blank=True, max_length=200)),
                    ('details', models.JSONField(blank=True, default=dict)),
                    ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit_events', to='annotation.project')),
                ],
                options={
                    'ordering': ['-id'],
                },
            ),
            migrations.AddField(
                model_name='user',
                name='imported_into',
                field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='imported_annotators', to='annotation.project'),
            ),
            migrations.CreateModel(
                name='Proposition',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('position', models.PositiveIntegerField()),
                    ('actor', models.TextField()),
                    ('belief', models.TextField()),
                    ('order_text', models.CharField(blank=True, max_length=40)),
                    ('imported_labels', models.JSONField(blank=True, null=True)),
                    ('extra', models.JSONField(blank=True, default=dict)),
                    ('remark', models.CharField(blank=True, choices=[('', 'Unchanged'), ('added', 'Added'), ('removed', 'Removed'), ('revised', 'Revised')], default='', max_length=8)),
                    ('remark_text', models.TextField(blank=True)),
                    ('reviewed', models.BooleanField(default=False)),
                    ('removed_at', models.DateTimeField(blank=True, null=True)),
                    ('table', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='propositions', to='annotation.belieftable')),
                ],
                options={
                    'ordering': ['table', 'position'],
                },
            ),
            migrations.CreateModel(
                name='GoldLabel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dimension', models.CharField(max_length=20)),
                    ('label', models.CharField(blank=True, max_length=80)),
                    ('method', models.CharField(choices=[('open', 'Open'), ('unanimous', 'Unanimous'), ('majority', 'Majority'), ('adjudicated', 'Adjudicated')], max_length=12)),
                    ('agreement', models.FloatField(blank=True, null=True)),
                    ('votes', models.JSONField(default=list)),
                    ('rule_version', models.CharField(max_length=20)),
                    ('schema_version', models.CharField(max_length=20)),
                    ('decided_at', models.DateTimeField()),
                    ('reason', models.TextField(blank=True)),
                    ('error_tag', models.CharField(blank=True, choices=[('definition', 'Definition misread'), ('overlooked-evidence', 'Evidence overlooked'), ('over-inference', 'Read too much into it'), ('slip', 'Slip of the hand'), ('ambiguous-story', 'The story is ambiguous')], max_length=24)),
                    ('guideline_flag', models.BooleanField(default=False)),
                    ('disturbed', models.BooleanField(default=False)),
                    ('revision', models.PositiveIntegerField(default=1)),
                    ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('proposition', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='gold', to='annotation.proposition')),
                ],
            ),
            migrations.CreateModel(
                name='GoldEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dimension', models.CharField(max_length=20)),
                    ('before', models.CharField(blank=True, max_length=80)),
                    ('before_method', models.CharField(blank=True, max_length=12)),
                    ('after', models.CharField(blank=True, max_length=80)),
                    ('after_method', models.CharField(blank=True, max_length=12)),
                    ('at', models.DateTimeField()),
                    ('reason', models.TextField(blank=True)),
                    ('error_tag', models.CharField(blank=True, choices=[('definition', 'Definition misread'), ('overlooked-evidence', 'Evidence overlooked'), ('over-inference', 'Read too much into it'), ('slip', 'Slip of the hand'), ('ambiguous-story', 'The story is ambiguous')], db_default='', default='', max_length=24)),
                    ('undoes', models.PositiveIntegerField(blank=True, null=True)),
                    ('rule_version', models.CharField(max_length=20)),
                    ('votes', models.JSONField(default=list)),
                    ('revision', models.PositiveIntegerField(default=1)),
                    ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('proposition', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='gold_events', to='annotation.proposition')),
                ],
                options={
                    'ordering': ['id'],
                },
            ),
            migrations.CreateModel(
                name='DraftRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('actor', models.CharField(blank=True, max_length=200)),
                    ('belief', models.TextField(blank=True)),
                    ('order_text', models.CharField(blank=True, max_length=40)),
                    ('remark', models.TextField(blank=True)),
                    ('place', models.FloatField()),
                    ('removed', models.BooleanField(default=False)),
                    ('origin', models.CharField(choices=[('typed', 'Typed'), ('pasted', 'Pasted'), ('model', 'Drafted by a model')], default='typed', max_length=8)),
                    ('source', models.CharField(blank=True, max_length=200)),
                    ('table', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='draft_rows', to='annotation.belieftable')),
                    ('proposition', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='draft_rows', to='annotation.proposition')),
                ],
                options={
                    'ordering': ['table', 'place', 'uid'],
                },
            ),
            migrations.CreateModel(
                name='CellComment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('dimension', models.CharField(max_length=20)),
                    ('text', models.TextField(max_length=4000)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('author', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('thread_of', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('proposition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='annotation.proposition')),
                ],
                options={
                    'ordering': ['created_at'],
                },
            ),
            migrations.CreateModel(
                name='PropositionFlag',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('kind', models.CharField(choices=[('split', 'Split it'), ('merge', 'Merge it with another'), ('remove', 'Remove it'), ('reword', 'Reword it')], max_length=8)),
                    ('remark', models.TextField(max_length=2000)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('outcome', models.CharField(blank=True, choices=[('accepted', 'Accepted'), ('declined', 'Declined')], max_length=10)),
                    ('outcome_at', models.DateTimeField(blank=True, null=True)),
                    ('outcome_text', models.TextField(blank=True)),
                    ('author', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('outcome_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('proposition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='flags', to='annotation.proposition')),
                ],
                options={
                    'ordering': ['-created_at'],
                },
            ),
            migrations.CreateModel(
                name='Split',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.SlugField(max_length=40)),
                    ('seed', models.BigIntegerField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='splits', to='annotation.project')),
                ],
                options={
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='StoryCounts',
                fields=[
                    ('story', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='counts', serialize=False, to='annotation.story')),
                    ('propositions', models.PositiveIntegerField()),
                    ('unanimous', models.PositiveIntegerField()),
                    ('majority', models.PositiveIntegerField()),
                    ('adjudicated', models.PositiveIntegerField()),
                    ('open', models.PositiveIntegerField()),
                    ('disturbed', models.PositiveIntegerField()),
                    ('imported', models.PositiveIntegerField()),
                    ('unvoted', models.PositiveIntegerField()),
                    ('patterns', models.BinaryField()),
                    ('revision', models.BigIntegerField()),
                ],
            ),
            migrations.AddField(
                model_name='story',
                name='category',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stories', to='annotation.category'),
            ),
            migrations.AddField(
                model_name='story',
                name='project',
                field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stories', to='annotation.project'),
            ),
            migrations.AddField(
                model_name='story',
                name='split',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='stories', to='annotation.split'),
            ),
            migrations.CreateModel(
                name='LaneRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('place', models.FloatField()),
                    ('status', models.CharField(blank=True, choices=[('kept', 'Kept'), ('dropped', 'Dropped')], max_length=8)),
                    ('actor', models.CharField(blank=True, max_length=200)),
                    ('belief', models.TextField(blank=True)),
                    ('order_text', models.CharField(blank=True, max_length=40)),
                    ('remark', models.TextField(blank=True)),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('gone', models.BooleanField(default=False)),
                    ('a', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.draftrow')),
                    ('b', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.draftrow')),
                    ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('proposition', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='lane_row', to='annotation.proposition')),
                    ('story', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lane_rows', to='annotation.story')),
                ],
                options={
                    'ordering': ['story', 'place', 'uid'],
                },
            ),
            migrations.CreateModel(
                name='Claim',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('until', models.DateTimeField()),
                    ('expert', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('story', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='claim', to='annotation.story')),
                ],
            ),
            migrations.AddField(
                model_name='belieftable',
                name='story',
                field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tables', to='annotation.story'),
            ),
            migrations.CreateModel(
                name='Assignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('slot', models.PositiveSmallIntegerField()),
                    ('overlap', models.PositiveSmallIntegerField()),
                    ('seed', models.BigIntegerField(blank=True, null=True)),
                    ('assigned_at', models.DateTimeField(auto_now_add=True)),
                    ('released_at', models.DateTimeField(blank=True, null=True)),
                    ('due', models.DateField(blank=True, null=True)),
                    ('arms_drawn_at', models.DateTimeField(blank=True, null=True)),
                    ('arms_seed', models.PositiveIntegerField(default=0)),
                    ('arms_unit', models.CharField(choices=[('cell', 'each cell'), ('proposition', 'each proposition: all its cells alike'), ('story', 'each story: all its cells alike')], db_default='cell', default='cell', max_length=12)),
                    ('blind_share', models.PositiveSmallIntegerField(default=0)),
                    ('reveal_share', models.PositiveSmallIntegerField(default=0)),
                    ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to=settings.AUTH_USER_MODEL)),
                    ('assigned_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('story', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.story')),
                ],
                options={
                    'ordering': ['story__number', 'slot'],
                },
            ),
            migrations.CreateModel(
                name='AnnotatorCounts',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('cells', models.PositiveIntegerField()),
                    ('first', models.DateTimeField()),
                    ('last', models.DateTimeField()),
                    ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='vote_counts', to=settings.AUTH_USER_MODEL)),
                    ('story', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='annotator_counts', to='annotation.story')),
                ],
            ),
            migrations.CreateModel(
                name='StoryEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=20)),
                    ('state', models.TextField()),
                    ('value', models.TextField()),
                    ('story', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='annotation.story')),
                ],
            ),
            migrations.CreateModel(
                name='SuggestedRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('number', models.PositiveSmallIntegerField()),
                    ('actor', models.CharField(max_length=200)),
                    ('belief', models.TextField()),
                    ('order_text', models.CharField(blank=True, max_length=40)),
                    ('source', models.CharField(max_length=200)),
                    ('created_at', models.DateTimeField()),
                    ('call', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.call')),
                    ('story', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='suggested_rows', to='annotation.story')),
                ],
                options={
                    'ordering': ['story', 'number'],
                },
            ),
            migrations.AddField(
                model_name='draftrow',
                name='suggested',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='draft_rows', to='annotation.suggestedrow'),
            ),
            migrations.CreateModel(
                name='Suggestion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dimension', models.CharField(max_length=20)),
                    ('label', models.CharField(max_length=40)),
                    ('source', models.CharField(max_length=200)),
                    ('created_at', models.DateTimeField()),
                    ('call', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.call')),
                    ('proposition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='suggestions', to='annotation.proposition')),
                ],
            ),
            migrations.CreateModel(
                name='Vote',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dimension', models.CharField(max_length=20)),
                    ('label', models.CharField(blank=True, max_length=40)),
                    ('changed_at', models.DateTimeField()),
                    ('idempotency_key', models.CharField(max_length=64)),
                    ('duration_ms', models.PositiveIntegerField(blank=True, null=True)),
                    ('arm', models.CharField(blank=True, db_default='', default='', max_length=6)),
                    ('suggested', models.CharField(blank=True, db_default='', default='', max_length=40)),
                    ('annotator', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='votes', to=settings.AUTH_USER_MODEL)),
                    ('proposition', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='votes', to='annotation.proposition')),
                ],
            ),
            migrations.CreateModel(
                name='VoteEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dimension', models.CharField(max_length=20)),
                    ('label', models.CharField(blank=True, max_length=40)),
                    ('previous', models.CharField(blank=True, max_length=40)),
                    ('idempotency_key', models.CharField(max_length=64)),
                    ('undoes', models.CharField(blank=True, max_length=64)),
                    ('changed_at', models.DateTimeField()),
                    ('received_at', models.DateTimeField()),
                    ('duration_ms', models.PositiveIntegerField(blank=True, null=True)),
                    ('applied', models.BooleanField(default=True)),
                    ('arm', models.CharField(blank=True, db_default='', default='', max_length=6)),
                    ('suggested', models.CharField(blank=True, db_default='', default='', max_length=40)),
                    ('accepted', models.BooleanField(db_default=False, default=False)),
                    ('origin', models.CharField(default='grid', max_length=12)),
                    ('annotator', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='vote_events', to=settings.AUTH_USER_MODEL)),
                    ('proposition', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='vote_events', to='annotation.proposition')),
                ],
            ),
            migrations.CreateModel(
                name='ApiToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(help_text='What it is for, so that you know it again.', max_length=60)),
                    ('scope', models.CharField(choices=[('read', 'Read'), ('write', 'Read and write')], default='read', max_length=5)),
                    ('digest', models.CharField(max_length=64, unique=True)),
                    ('beginning', models.CharField(help_text='Its first characters, by which its owner knows it.', max_length=6)),
                    ('seal', models.CharField(max_length=64)),
                    ('created_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('used_at', models.DateTimeField(blank=True, null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-created_at'],
                    'constraints': [models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'write'])), name='api_token_scope_known'), models.CheckConstraint(condition=models.Q(('expires_at', None), ('expires_at__gt', models.F('created_at')), _connector='OR'), name='api_token_expires_later')],
                },
            ),
            migrations.CreateModel(
                name='DraftEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('idempotency_key', models.CharField(max_length=64)),
                    ('action', models.CharField(max_length=64)),
                    ('undoes', models.CharField(blank=True, max_length=64)),
                    ('before', models.JSONField(blank=True, null=True)),
                    ('after', models.JSONField()),
                    ('changed_at', models.DateTimeField()),
                    ('received_at', models.DateTimeField()),
                    ('kind', models.CharField(max_length=12)),
                    ('table', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='draft_events', to='annotation.belieftable')),
                    ('row', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='annotation.draftrow')),
                ],
                options={
                    'ordering': ['id'],
                    'abstract': False,
                    'constraints': [models.UniqueConstraint(fields=('table', 'idempotency_key'), name='one_draft_event_a_key')],
                },
            ),
            migrations.CreateModel(
                name='LabelSchema',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=40)),
                    ('version', models.CharField(max_length=20)),
                    ('content', models.JSONField()),
                    ('loaded_at', models.DateTimeField(auto_now_add=True)),
                    ('loaded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['name', 'version'],
                    'constraints': [models.UniqueConstraint(fields=('name', 'version'), name='one_schema_a_version')],
                },
            ),
            migrations.CreateModel(
                name='LaneEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('idempotency_key', models.CharField(max_length=64)),
                    ('action', models.CharField(max_length=64)),
                    ('undoes', models.CharField(blank=True, max_length=64)),
                    ('before', models.JSONField(blank=True, null=True)),
                    ('after', models.JSONField()),
                    ('changed_at', models.DateTimeField()),
                    ('received_at', models.DateTimeField()),
                    ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('row', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='annotation.lanerow')),
                ],
                options={
                    'ordering': ['id'],
                    'abstract': False,
                    'constraints': [models.UniqueConstraint(fields=('row', 'idempotency_key'), name='one_lane_event_a_key')],
                },
            ),
            migrations.CreateModel(
                name='Membership',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('role', models.CharField(choices=[('annotator', 'Annotator'), ('expert', 'Expert'), ('admin', 'Admin')], max_length=12)),
                    ('since', models.DateTimeField(auto_now_add=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='annotation.project')),
                ],
                options={
                    'ordering': ['role', 'user__username'],
                    'constraints': [models.UniqueConstraint(fields=('project', 'user'), name='one_membership_a_project')],
                },
            ),
            migrations.CreateModel(
                name='Guideline',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('dimension', models.CharField(max_length=20)),
                    ('text', models.TextField(blank=True)),
                    ('text_zh', models.TextField(blank=True)),
                    ('updated_at', models.DateTimeField(auto_now=True)),
                    ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines', to='annotation.project')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('project', 'dimension'), name='one_guideline_a_dimension')],
                },
            ),
            migrations.AddConstraint(
                model_name='category',
                constraint=models.UniqueConstraint(fields=('project', 'name'), name='one_category_a_name'),
            ),
            migrations.AddIndex(
                model_name='auditevent',
                index=models.Index(fields=['project', 'action'], name='audit_by_action'),
            ),
            migrations.AddConstraint(
                model_name='user',
                constraint=models.CheckConstraint(condition=models.Q(('imported_into__isnull', True), models.Q(('email', ''), ('is_active', False), ('is_staff', False), ('is_superuser', False), ('username__contains', ':')), _connector='OR'), name='imported_annotators_are_no_accounts'),
            ),
            migrations.AddIndex(
                model_name='proposition',
                index=models.Index(condition=models.Q(('reviewed', True)), fields=['table', 'remark'], name='proposition_reviewed'),
            ),
            migrations.AddConstraint(
                model_name='proposition',
                constraint=models.UniqueConstraint(fields=('table', 'position'), name='one_proposition_a_position'),
            ),
            migrations.AddIndex(
                model_name='goldlabel',
                index=models.Index(fields=['method', 'disturbed', 'dimension', 'agreement', 'proposition'], name='gold_queue'),
            ),
            migrations.AddIndex(
                model_name='goldlabel',
                index=models.Index(condition=models.Q(('guideline_flag', True)), fields=['dimension'], name='gold_guideline_case'),
            ),
            migrations.AddConstraint(
                model_name='goldlabel',
                constraint=models.UniqueConstraint(fields=('proposition', 'dimension'), name='one_gold_label_a_cell'),
            ),
            migrations.AddConstraint(
                model_name='goldlabel',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('label', ''), ('method', 'open')), models.Q(models.Q(('method', 'open'), _negated=True), models.Q(('label', ''), _negated=True)), _connector='OR'), name='open_cells_have_no_label'),
            ),
            migrations.AddConstraint(
                model_name='goldlabel',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('method', 'adjudicated'), _negated=True), ('decided_by__isnull', False), _connector='OR'), name='adjudicated_by_someone'),
            ),
            migrations.AddIndex(
                model_name='goldevent',
                index=models.Index(fields=['proposition', 'dimension'], name='gold_event_of_cell'),
            ),
            migrations.AddIndex(
                model_name='goldevent',
                index=models.Index(condition=models.Q(('after_method', 'adjudicated'), ('undoes__isnull', False), _connector='OR'), fields=['id'], name='gold_event_decided'),
            ),
            migrations.AddIndex(
                model_name='cellcomment',
                index=models.Index(fields=['proposition', 'dimension', 'thread_of'], name='comment_thread'),
            ),
            migrations.AddConstraint(
                model_name='propositionflag',
                constraint=models.UniqueConstraint(condition=models.Q(('outcome', '')), fields=('proposition', 'author', 'kind'), name='one_open_flag_a_kind'),
            ),
            migrations.AddConstraint(
                model_name='split',
                constraint=models.UniqueConstraint(fields=('project', 'name'), name='one_split_a_name'),
            ),
            migrations.AddIndex(
                model_name='story',
                index=models.Index(fields=['project', 'source', 'digest'], name='story_identity'),
            ),
            migrations.AddIndex(
                model_name='story',
                index=models.Index(condition=models.Q(('set_aside_at__isnull', False)), fields=['project'], name='story_set_aside'),
            ),
            migrations.AddConstraint(
                model_name='story',
                constraint=models.UniqueConstraint(fields=('project', 'number'), name='one_story_a_number'),
            ),
            migrations.AddConstraint(
                model_name='lanerow',
                constraint=models.UniqueConstraint(condition=models.Q(('gone', False)), fields=('a',), name='one_lane_row_of_a_row_of_a'),
            ),
            migrations.AddConstraint(
                model_name='lanerow',
                constraint=models.UniqueConstraint(condition=models.Q(('gone', False)), fields=('b',), name='one_lane_row_of_a_row_of_b'),
            ),
            migrations.AddConstraint(
                model_name='belieftable',
                constraint=models.UniqueConstraint(condition=models.Q(('kind', 'gold')), fields=('story',), name='one_gold_table_a_story'),
            ),
            migrations.AddConstraint(
                model_name='belieftable',
                constraint=models.UniqueConstraint(condition=models.Q(('kind', 'draft')), fields=('story', 'author'), name='one_draft_table_an_author'),
            ),
            migrations.AddConstraint(
                model_name='belieftable',
                constraint=models.UniqueConstraint(condition=models.Q(('kind', 'draft')), fields=('story', 'slot'), name='one_draft_table_a_slot'),
            ),
            migrations.AddIndex(
                model_name='assignment',
                index=models.Index(fields=['annotator', 'released_at'], name='assignment_of_annotator'),
            ),
            migrations.AddConstraint(
                model_name='assignment',
                constraint=models.UniqueConstraint(condition=models.Q(('released_at__isnull', True)), fields=('story', 'slot'), name='one_annotator_a_slot'),
            ),
            migrations.AddConstraint(
                model_name='assignment',
                constraint=models.UniqueConstraint(condition=models.Q(('released_at__isnull', True)), fields=('story', 'annotator'), name='one_seat_an_annotator'),
            ),
            migrations.AddConstraint(
                model_name='assignment',
                constraint=models.CheckConstraint(condition=models.Q(('overlap__lte', 9), ('slot__gte', 1), ('slot__lte', models.F('overlap'))), name='slot_within_overlap'),
            ),
            migrations.AddConstraint(
                model_name='annotatorcounts',
                constraint=models.UniqueConstraint(fields=('story', 'annotator'), name='one_count_an_annotator'),
            ),
            migrations.AddConstraint(
                model_name='storyentry',
                constraint=models.UniqueConstraint(fields=('story', 'name'), name='one_entry_a_name'),
            ),
            migrations.AddConstraint(
                model_name='suggestedrow',
                constraint=models.UniqueConstraint(fields=('story', 'number'), name='one_suggested_row_a_number'),
            ),
            migrations.AddConstraint(
                model_name='suggestion',
                constraint=models.UniqueConstraint(fields=('proposition', 'dimension'), name='one_suggestion_a_cell'),
            ),
            migrations.AddConstraint(
                model_name='suggestion',
                constraint=models.CheckConstraint(condition=models.Q(('label', ''), _negated=True), name='suggestion_has_label'),
            ),
            migrations.AddIndex(
                model_name='vote',
                index=models.Index(fields=['annotator', 'proposition'], name='vote_of_annotator'),
            ),
            migrations.AddConstraint(
                model_name='vote',
                constraint=models.UniqueConstraint(fields=('proposition', 'dimension', 'annotator'), name='one_vote_a_cell'),
            ),
            migrations.AddIndex(
                model_name='voteevent',
                index=models.Index(fields=['proposition', 'dimension'], name='event_of_cell'),
            ),
            migrations.AddIndex(
                model_name='voteevent',
                index=models.Index(condition=models.Q(('applied', True)), fields=['annotator', '-changed_at'], name='event_newest_first'),
            ),
            migrations.AddConstraint(
                model_name='voteevent',
                constraint=models.UniqueConstraint(fields=('annotator', 'idempotency_key'), name='one_event_a_key'),
            ),
        ]),
        migrations.RunPython(counts.make_triggers, counts.drop_triggers),
        migrations.RunPython(marks.make_anew, migrations.RunPython.noop),
    ]
