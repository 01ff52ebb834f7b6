from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("workers", "0015_rename_endpoint_rate_limit")]

    operations = [
        migrations.RenameField("call", "purpose", "handler"),
        migrations.RenameField("job", "purpose", "handler"),
    ]
