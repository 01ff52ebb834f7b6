from django.db import models

from workers.providers.contract import Message, Request
from workers.services.handlers import JobHandler, Received


class Receipt(models.Model):
    """One answer taken in. Nothing keeps two of one item out: two would be the fault that the tests look for."""

    item = models.BigIntegerField()
    call = models.CharField(max_length=12)


class Receipts(JobHandler):
    def ask(self, items):
        return {item.pk: Request((Message("user", f"Question {item.key}"),), max_tokens=50) for item in items}

    def receive(self, answered):
        Receipt.objects.bulk_create(Receipt(item=item.pk, call=call.uid) for item, call in answered)
        return {item.pk: Received() for item, _ in answered}
