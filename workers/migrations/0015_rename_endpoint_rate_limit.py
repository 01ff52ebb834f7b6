import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workers', '0014_providers_by_registry'),
    ]

    operations = [
        migrations.RenameModel(old_name='EndpointPace', new_name='EndpointRateLimit'),
        migrations.AlterField(
            model_name='endpointratelimit',
            name='endpoint',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='rate_limit', serialize=False, to='workers.endpoint'),
        ),
    ]
