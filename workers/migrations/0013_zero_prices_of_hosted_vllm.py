from django.db import migrations

from workers.providers.addresses import host_of, is_private

COMPLETED = ("answered", "truncated", "refused", "unusable")


def zero_becomes_unknown(apps, schema_editor):
    """Until now a vLLM server without a price was saved with 0, also where somebody else runs it and wants a key.

    Servers of one's own are free without a price, so theirs can be empty again: if one moves elsewhere, its price is unknown.
    """
    Endpoint = apps.get_model("workers", "Endpoint")
    Call, Item = apps.get_model("workers", "Call"), apps.get_model("workers", "Item")
    servers = Endpoint.objects.filter(provider="vllm")
    for name in ("price_input", "price_output"):
        servers.filter(**{name: 0}).update(**{name: None})
    keyed = servers.exclude(api_key_env="").filter(price_input=None, price_output=None)
    hosted = [one.pk for one in keyed if not is_private(host_of(one.base_url))]
    calls = Call.objects.filter(endpoint__in=hosted, cost=0)
    items = Item.objects.filter(endpoint__in=hosted, made=True, cost=0, call__state__in=COMPLETED)
    items.filter(call__cost=0).update(unpriced=1)
    calls.filter(reserved_cost=0).update(reserved_cost=None)
    calls.filter(state__in=COMPLETED).update(cost=None)


class Migration(migrations.Migration):
    dependencies = [("workers", "0012_unusable_answers_in_outcomes")]

    operations = [migrations.RunPython(zero_becomes_unknown, migrations.RunPython.noop)]
