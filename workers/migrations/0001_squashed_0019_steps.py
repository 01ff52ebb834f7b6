"""The tables of workers in a new database, as the single migrations up to 0019 leave them."""

import core.ids
import django.core.validators
import django.db.models.deletion
from decimal import Decimal
from django.db import migrations, models

from core.new_tables import NewTables


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ('workers', '0001_initial'),
        ('workers', '0002_addresses'),
        ('workers', '0003_job_outcome'),
        ('workers', '0004_processes'),
        ('workers', '0005_kept_bodies'),
        ('workers', '0006_held_items'),
        ('workers', '0007_room_for_reasoning'),
        ('workers', '0008_repeats_after_lost_answers'),
        ('workers', '0009_makings'),
        ('workers', '0010_unknown_prices'),
        ('workers', '0011_zero_prices_of_billing_providers'),
        ('workers', '0012_unusable_answers_in_outcomes'),
        ('workers', '0013_zero_prices_of_hosted_vllm'),
        ('workers', '0014_providers_by_registry'),
        ('workers', '0015_rename_endpoint_rate_limit'),
        ('workers', '0016_rename_purpose_to_handler'),
        ('workers', '0017_preparing_jobs'),
        ('workers', '0018_system_fingerprint'),
        ('workers', '0019_steps'),
    ]

    operations = [
        NewTables([
            migrations.CreateModel(
                name='Batch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('state', models.CharField(choices=[('submitting', 'Being handed over'), ('running', 'With the provider'), ('ended', 'Ended'), ('failed', 'Failed')], default='submitting', max_length=10)),
                    ('provider_id', models.CharField(blank=True, max_length=200)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('polled_at', models.DateTimeField(blank=True, null=True)),
                    ('done', models.PositiveIntegerField(default=0)),
                    ('problem', models.TextField(blank=True)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Call',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('key', models.CharField(max_length=64, unique=True)),
                    ('provider', models.CharField(max_length=20)),
                    ('model', models.CharField(max_length=200)),
                    ('revision', models.CharField(blank=True, max_length=100)),
                    ('body', models.TextField(help_text='Canonical JSON, as it was hashed.')),
                    ('sample', models.PositiveIntegerField(default=0)),
                    ('handler', models.CharField(blank=True, max_length=30)),
                    ('state', models.CharField(choices=[('planned', 'Planned'), ('reserved', 'Reserved'), ('sent', 'Sent'), ('answered', 'Answered'), ('truncated', 'Truncated'), ('refused', 'Refused'), ('unusable', 'Unusable'), ('failed', 'Failed'), ('unknown', 'Unknown')], default='planned', max_length=10)),
                    ('attempts_made', models.PositiveIntegerField(default=0)),
                    ('tries', models.PositiveIntegerField(default=0, help_text='Attempts since somebody last asked for it.')),
                    ('unknowns', models.PositiveIntegerField(default=0, help_text='Those of them whose outcome is unknown.')),
                    ('reserved_cost', models.DecimalField(decimal_places=8, default=Decimal('0'), help_text='Empty where the price is unknown.', max_digits=14, null=True)),
                    ('planned_at', models.DateTimeField()),
                    ('sent_at', models.DateTimeField(blank=True, null=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                    ('answer', models.TextField(blank=True)),
                    ('reasoning', models.TextField(blank=True)),
                    ('stop', models.CharField(blank=True, max_length=10)),
                    ('answered_by', models.CharField(blank=True, max_length=200)),
                    ('fingerprint', models.CharField(blank=True, db_default='', default='', help_text='What the provider says of the system that answered.', max_length=200)),
                    ('request_id', models.CharField(blank=True, max_length=200)),
                    ('input_tokens', models.PositiveIntegerField(default=0)),
                    ('cached_tokens', models.PositiveIntegerField(default=0)),
                    ('cache_write_tokens', models.PositiveIntegerField(default=0)),
                    ('output_tokens', models.PositiveIntegerField(default=0)),
                    ('reasoning_tokens', models.PositiveIntegerField(default=0)),
                    ('usage_told', models.BooleanField(default=True, help_text='No: the provider did not say, and tokens and cost are estimated.')),
                    ('cost', models.DecimalField(decimal_places=8, default=Decimal('0'), help_text='Empty where the price is unknown.', max_digits=14, null=True)),
                    ('problem', models.TextField(blank=True)),
                ],
            ),
            migrations.CreateModel(
                name='Endpoint',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.SlugField(help_text='What tables and commands call it.', max_length=60, unique=True)),
                    ('provider', models.CharField(help_text='Its name in workers/providers/registry.py.', max_length=20)),
                    ('model', models.CharField(help_text='The name that the provider knows the model by.', max_length=200)),
                    ('revision', models.CharField(blank=True, help_text='A commit or version of the weights, where there is one.', max_length=100)),
                    ('base_url', models.CharField(blank=True, help_text="Empty for the provider's own address.", max_length=300)),
                    ('api_key_env', models.CharField(blank=True, help_text='The name of the environment variable that holds the key where the worker runs. Never the key.', max_length=100, validators=[django.core.validators.RegexValidator('\\A[A-Z_][A-Z0-9_]*\\Z', 'The name of an environment variable is expected, in capitals, never the key itself.')], verbose_name='key variable')),
                    ('family', models.CharField(blank=True, help_text='Who trained it, for groups in tables.', max_length=60)),
                    ('options', models.JSONField(blank=True, default=dict, help_text="Settings of the provider's own (docs/models.md).")),
                    ('active', models.BooleanField(default=True)),
                    ('sets_temperature', models.BooleanField(default=True, verbose_name='takes a temperature')),
                    ('json_schema', models.BooleanField(default=True, help_text='Answers can be held to a JSON schema.', verbose_name='structured output')),
                    ('batches', models.BooleanField(default=False, help_text="The provider's batch form, at half price.", verbose_name='batch form')),
                    ('context_tokens', models.PositiveIntegerField(default=0, help_text='Context length in tokens; 0 where it does not matter.')),
                    ('reasoning_tokens', models.PositiveIntegerField(default=0, help_text='Tokens that an answer of pre-filling may take beside its text.', verbose_name='room for reasoning')),
                    ('price_input', models.DecimalField(blank=True, decimal_places=6, help_text='US dollars per million tokens; empty where it is unknown.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                    ('price_cached', models.DecimalField(blank=True, decimal_places=6, help_text="For tokens read from the provider's cache; empty for the price of input.", max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                    ('price_cache_write', models.DecimalField(blank=True, decimal_places=6, help_text="For tokens put into the provider's cache; empty for the price of input.", max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                    ('price_output', models.DecimalField(blank=True, decimal_places=6, help_text='Reasoning tokens count as output.', max_digits=12, null=True, validators=[django.core.validators.MinValueValidator(0)])),
                    ('price_batch', models.DecimalField(decimal_places=3, default=Decimal('0.5'), help_text='Factor on all prices in a batch.', max_digits=4, validators=[django.core.validators.MinValueValidator(0)])),
                    ('max_concurrency', models.PositiveIntegerField(default=16, help_text='Calls in flight at once.', validators=[django.core.validators.MinValueValidator(1)])),
                    ('requests_per_minute', models.PositiveIntegerField(default=0, help_text='0: no known limit; it is found out.')),
                    ('tokens_per_minute', models.PositiveIntegerField(default=0, help_text='0: no known limit.')),
                    ('timeout_seconds', models.PositiveIntegerField(default=300, validators=[django.core.validators.MinValueValidator(1)])),
                    ('max_attempts', models.PositiveSmallIntegerField(default=6, validators=[django.core.validators.MinValueValidator(1)])),
                    ('repeat_unknown', models.PositiveSmallIntegerField(default=0, help_text='How often a call is sent again whose answer never came, and that may have been paid.')),
                    ('retry_after_cap', models.PositiveIntegerField(default=60, help_text='Seconds; a longer Retry-After is not obeyed.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('created_by', models.CharField(blank=True, max_length=150)),
                    ('tried_at', models.DateTimeField(blank=True, null=True)),
                    ('tried', models.JSONField(blank=True, default=dict)),
                ],
                options={
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='Item',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('step', models.CharField(blank=True, db_column='stage', max_length=20)),
                    ('key', models.CharField(max_length=80)),
                    ('state', models.CharField(choices=[('waiting', 'Waiting'), ('held', 'Held back'), ('claimed', 'In flight'), ('batched', 'In a batch'), ('done', 'Done'), ('unusable', 'Unusable'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='waiting', max_length=10)),
                    ('not_before', models.DateTimeField()),
                    ('made', models.BooleanField(default=False)),
                    ('cost', models.DecimalField(decimal_places=8, default=Decimal('0'), max_digits=14)),
                    ('unpriced', models.PositiveIntegerField(db_default=0, default=0, help_text='Calls of unknown price, not in the cost.')),
                    ('problem', models.TextField(blank=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                ],
            ),
            migrations.CreateModel(
                name='Job',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('handler', models.CharField(max_length=30)),
                    ('title', models.CharField(max_length=200)),
                    ('state', models.CharField(choices=[('preparing', 'Preparing'), ('running', 'Running'), ('paused', 'Paused'), ('finished', 'Finished'), ('cancelled', 'Cancelled')], default='running', max_length=10)),
                    ('outcome', models.CharField(blank=True, choices=[('finished', 'finished'), ('unusable', 'finished, some unusable'), ('partly', 'finished with failures'), ('useless', 'finished, none usable'), ('failed', 'failed')], max_length=8)),
                    ('note', models.CharField(blank=True, help_text='Why it is paused, or was not prepared.', max_length=300)),
                    ('params', models.JSONField(blank=True, default=dict)),
                    ('budget', models.DecimalField(blank=True, decimal_places=4, help_text='US dollars, a hard cap.', max_digits=12, null=True)),
                    ('batch', models.BooleanField(default=False)),
                    ('priority', models.SmallIntegerField(default=0)),
                    ('created_by', models.CharField(blank=True, max_length=150)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                ],
            ),
            migrations.CreateModel(
                name='Making',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=64, unique=True)),
                    ('content', models.CharField(blank=True, max_length=64)),
                    ('outcome', models.CharField(blank=True, max_length=500)),
                    ('made_at', models.DateTimeField(db_index=True)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Process',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('host', models.CharField(max_length=200)),
                    ('pid', models.PositiveIntegerField()),
                    ('serves', models.JSONField(default=list)),
                    ('keys', models.JSONField(default=list)),
                    ('started_at', models.DateTimeField()),
                    ('seen_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='Worker',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uid', models.CharField(default=core.ids.new_uid, editable=False, max_length=12, unique=True)),
                    ('host', models.CharField(max_length=200)),
                    ('pid', models.PositiveIntegerField()),
                    ('kind', models.CharField(default='calls', max_length=60)),
                    ('state', models.CharField(choices=[('live', 'Working'), ('gone', 'Ended'), ('lost', 'Lost')], default='live', max_length=4)),
                    ('started_at', models.DateTimeField()),
                    ('heartbeat_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='BatchEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('custom_id', models.CharField(max_length=64)),
                    ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='workers.batch')),
                    ('call', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workers.call')),
                ],
            ),
            migrations.CreateModel(
                name='Attempt',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('sent_at', models.DateTimeField()),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                    ('outcome', models.CharField(blank=True, max_length=20)),
                    ('status', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('headers', models.JSONField(default=dict)),
                    ('problem', models.TextField(blank=True)),
                    ('body', models.TextField(blank=True)),
                    ('waits', models.FloatField(default=0, help_text='Seconds until it may be sent again.')),
                    ('call', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='workers.call')),
                ],
                options={
                    'ordering': ['number'],
                },
            ),
            migrations.CreateModel(
                name='EndpointRateLimit',
                fields=[
                    ('endpoint', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='rate_limit', serialize=False, to='workers.endpoint')),
                    ('state', models.JSONField(default=dict)),
                ],
            ),
            migrations.AddConstraint(
                model_name='endpoint',
                constraint=models.CheckConstraint(condition=models.Q(('max_concurrency__gte', 1)), name='endpoint_concurrency_positive'),
            ),
            migrations.AddField(
                model_name='call',
                name='endpoint',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='workers.endpoint'),
            ),
            migrations.AddField(
                model_name='batch',
                name='endpoint',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='batches_made', to='workers.endpoint'),
            ),
            migrations.AddField(
                model_name='item',
                name='call',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='workers.call'),
            ),
            migrations.AddField(
                model_name='item',
                name='endpoint',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='workers.endpoint'),
            ),
            migrations.AddIndex(
                model_name='job',
                index=models.Index(fields=['state', '-priority', 'id'], name='job_by_state'),
            ),
            migrations.AddConstraint(
                model_name='job',
                constraint=models.CheckConstraint(condition=models.Q(('state__in', ['preparing', 'running', 'paused', 'finished', 'cancelled'])), name='job_state_known'),
            ),
            migrations.AddConstraint(
                model_name='job',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('outcome__in', ['finished', 'unusable', 'partly', 'useless', 'failed']), ('state', 'finished')), models.Q(models.Q(('state', 'finished'), _negated=True), ('outcome', '')), _connector='OR'), name='finished_job_has_outcome'),
            ),
            migrations.AddField(
                model_name='item',
                name='job',
                field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='workers.job'),
            ),
            migrations.AddField(
                model_name='batch',
                name='job',
                field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='workers.job'),
            ),
            migrations.AddConstraint(
                model_name='process',
                constraint=models.UniqueConstraint(fields=('host', 'pid'), name='one_row_a_process'),
            ),
            migrations.AddIndex(
                model_name='worker',
                index=models.Index(fields=['state', 'heartbeat_at'], name='worker_by_heartbeat'),
            ),
            migrations.AddField(
                model_name='item',
                name='worker',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='items', to='workers.worker'),
            ),
            migrations.AddField(
                model_name='call',
                name='worker',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='calls', to='workers.worker'),
            ),
            migrations.AddField(
                model_name='batch',
                name='worker',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='batches', to='workers.worker'),
            ),
            migrations.AddField(
                model_name='attempt',
                name='worker',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='workers.worker'),
            ),
            migrations.AddConstraint(
                model_name='batchentry',
                constraint=models.UniqueConstraint(fields=('batch', 'custom_id'), name='one_entry_a_custom_id'),
            ),
            migrations.AddIndex(
                model_name='item',
                index=models.Index(fields=['job', 'endpoint', 'state', 'id'], name='item_to_claim'),
            ),
            migrations.AddIndex(
                model_name='item',
                index=models.Index(condition=models.Q(('state', 'claimed')), fields=['endpoint'], name='item_in_flight'),
            ),
            migrations.AddIndex(
                model_name='item',
                index=models.Index(condition=models.Q(('state', 'claimed')), fields=['worker'], name='item_of_worker'),
            ),
            migrations.AddConstraint(
                model_name='item',
                constraint=models.UniqueConstraint(fields=('job', 'endpoint', 'step', 'key'), name='one_item_a_key'),
            ),
            migrations.AddConstraint(
                model_name='item',
                constraint=models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'held', 'claimed', 'batched', 'done', 'unusable', 'failed', 'cancelled'])), name='item_state_known'),
            ),
            migrations.AddIndex(
                model_name='call',
                index=models.Index(condition=models.Q(('state__in', ['reserved', 'sent'])), fields=['worker', 'state'], name='call_in_flight'),
            ),
            migrations.AddIndex(
                model_name='call',
                index=models.Index(fields=['state', '-id'], name='call_by_state'),
            ),
            migrations.AddIndex(
                model_name='call',
                index=models.Index(fields=['endpoint', '-id'], name='call_by_endpoint'),
            ),
            migrations.AddIndex(
                model_name='call',
                index=models.Index(fields=['finished_at'], name='call_by_day'),
            ),
            migrations.AddConstraint(
                model_name='call',
                constraint=models.CheckConstraint(condition=models.Q(('state__in', ['planned', 'reserved', 'sent', 'answered', 'truncated', 'refused', 'unusable', 'failed', 'unknown'])), name='call_state_known'),
            ),
            migrations.AddIndex(
                model_name='attempt',
                index=models.Index(condition=models.Q(('outcome', 'unknown')), fields=['call'], name='attempt_lost'),
            ),
            migrations.AddConstraint(
                model_name='attempt',
                constraint=models.UniqueConstraint(fields=('call', 'number'), name='one_attempt_a_number'),
            ),
        ]),
    ]
