"""The endpoints that a process makes calls for."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass, field
from datetime import datetime

from workers.models import Endpoint, Item, ItemState, JobState
from workers.providers import registry
from workers.providers.contract import Backend, Completion
from workers.providers.errors import BackendError, Lost
from workers.services.claims import Claimed
from workers.services.holding import hold_back_everywhere
from workers.services.recording import Outcome

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Line:
    """An endpoint while this process works for it. `due`: calls whose start has come, to be marked as sent; `served`: when
    it last got calls, so that a quick one does not take all starts of the process."""

    endpoint: Endpoint
    backend: Backend
    outcomes: list[Outcome] = field(default_factory=list)
    due: list[tuple[Claimed, asyncio.Future]] = field(default_factory=list)
    flying: int = 0
    served: float = 0.0

    async def ask(self, one: Claimed) -> Completion | BackendError:
        """The error as a value. A mistake of ours has an unknown outcome too: the call may have been paid."""
        try:
            return await self.backend.complete(
                json.loads(one.body), timeout=self.endpoint.timeout_seconds, call=one.uid
            )
        except BackendError as error:
            return error
        except Exception as error:
            log.exception("Call %s failed in a way that its backend does not know.", one.uid)
            return Lost(f"The worker failed while it waited ({type(error).__name__}); its log says more.")


def open_lines(lines: dict[int, Line], *, now: datetime) -> None:
    """Adds a line for each endpoint that has something to do; settings that changed meanwhile count from here on."""
    wanted = {key for key, provider in endpoints_with_work() if not registry.find(provider).in_process}
    for endpoint in Endpoint.objects.filter(pk__in=wanted):
        if endpoint.pk in lines:
            lines[endpoint.pk].endpoint = endpoint
            continue
        try:
            lines[endpoint.pk] = Line(endpoint, registry.make(endpoint.spec))
        except BackendError as error:
            hold_back_everywhere(endpoint, error)


def endpoints_with_work() -> list[tuple[int, str]]:
    """(id, provider) of the endpoints for which a running job has something to do."""
    items = Item.objects.filter(job__state=JobState.RUNNING, state__in=[ItemState.WAITING, ItemState.BATCHED])
    return list(items.order_by().values_list("endpoint_id", "endpoint__provider").distinct())
