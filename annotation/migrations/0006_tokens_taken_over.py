import hashlib

from django.db import migrations
from django.utils.crypto import salted_hmac


def take_over(apps, schema_editor):
    """The tokens that there were go on, with all that they could do, until the password changes."""
    if "authtoken" not in apps.app_configs:  # a new database: their table comes after that of people
        return
    ApiToken, Token = apps.get_model("annotation", "ApiToken"), apps.get_model("authtoken", "Token")
    for old in Token.objects.select_related("user"):
        ApiToken.objects.create(
            user_id=old.user_id,
            name="made before tokens had names",
            scope="write",
            digest=hashlib.sha256(old.key.encode()).hexdigest(),
            beginning=old.key[:6],
            seal=salted_hmac("annotation.api_token", old.user.password, algorithm="sha256").hexdigest(),
            created_at=old.created,
        )
    Token.objects.all().delete()


class Migration(migrations.Migration):

    # Not those of authtoken, which refer to people: one migration could not stand for all of these. Who has tokens has run them.
    dependencies = [("annotation", "0005_api_tokens")]

    operations = [migrations.RunPython(take_over, migrations.RunPython.noop)]
