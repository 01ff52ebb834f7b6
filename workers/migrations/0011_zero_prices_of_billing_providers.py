from django.db import migrations

UNBILLED = ("vllm", "vllm-engine", "baseline", "scripted")
COMPLETED = ("answered", "truncated", "refused", "unusable")


def zero_becomes_unknown(apps, schema_editor):
    """Until now a price that nobody set was 0. Where a provider sends bills, that meant that nobody knew it."""
    Endpoint = apps.get_model("workers", "Endpoint")
    Call, Item = apps.get_model("workers", "Call"), apps.get_model("workers", "Item")
    for name in ("price_cached", "price_cache_write"):
        Endpoint.objects.filter(**{name: 0}).update(**{name: None})
    for name in ("price_input", "price_output"):
        Endpoint.objects.exclude(provider__in=UNBILLED).filter(**{name: 0}).update(**{name: None})
    priceless = Endpoint.objects.exclude(provider__in=UNBILLED).filter(price_input=None, price_output=None)
    calls = Call.objects.filter(endpoint__in=priceless, cost=0)
    items = Item.objects.filter(endpoint__in=priceless, made=True, cost=0, call__state__in=COMPLETED)
    items.filter(call__cost=0).update(unpriced=1)
    calls.filter(reserved_cost=0).update(reserved_cost=None)
    calls.filter(state__in=COMPLETED).update(cost=None)


class Migration(migrations.Migration):
    dependencies = [("workers", "0010_unknown_prices")]

    operations = [migrations.RunPython(zero_becomes_unknown, migrations.RunPython.noop)]
