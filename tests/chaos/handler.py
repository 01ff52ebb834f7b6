from __future__ import annotations

from workers.providers.contract import Message, Request
from workers.services.handlers import JobHandler, Received


class Receipts(JobHandler):
    def ask(self, items):
        return {item.pk: Request((Message("user", f"Question {item.key}"),), max_tokens=50) for item in items}

    def receive(self, answered):
        from tests.chaos.models import Receipt

        Receipt.objects.bulk_create(Receipt(item=item.pk, call=call.uid) for item, call in answered)
        return {item.pk: Received() for item, _ in answered}
