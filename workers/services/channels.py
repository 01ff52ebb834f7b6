"""Channels: the endpoints that a process makes calls for."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef

from core.language import gettext_noop
from workers.models import Endpoint, Item, ItemState, Job, JobState
from workers.providers import registry
from workers.providers.contract import Backend, Completion
from workers.providers.errors import BackendError, Lost
from workers.services.claims import Claimed
from workers.services.holding import hold_back_everywhere
from workers.services.recording import Outcome

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Channel:
    """An endpoint while this process works for it.

    `outcomes` are not written down yet; `due` are calls whose start has come, to be marked as sent; `in_flight` counts
    calls that were handed to the event loop; `served` is when it last got calls (monotonic), so that a fast endpoint
    does not take all starts of the process.
    """

    endpoint: Endpoint
    backend: Backend
    outcomes: list[Outcome] = field(default_factory=list)
    due: list[tuple[Claimed, asyncio.Future]] = field(default_factory=list)
    in_flight: int = 0
    served: float = 0.0

    @property
    def has_pending(self) -> bool:
        """Whether outcomes or due calls wait for the next turn."""
        return bool(self.outcomes or self.due)

    def take_pending(self) -> tuple[list[Outcome], list[tuple[Claimed, asyncio.Future]]]:
        """Return the outcomes and due calls that wait for the next turn, and forget them."""
        pending = self.outcomes, self.due
        self.outcomes, self.due = [], []
        return pending

    async def ask(self, claimed: Claimed) -> Completion | BackendError:
        """Make a claimed call and return its answer, or the error as a value. A mistake of ours has an unknown outcome
        too: the call may have been paid."""
        try:
            return await self.backend.complete(
                json.loads(claimed.body), timeout=self.endpoint.timeout_seconds, call=claimed.uid
            )
        except BackendError as error:
            return error
        except Exception as error:
            log.exception("Call %s failed in a way that its backend does not know.", claimed.uid)
            return Lost(gettext_noop(f"The worker failed while it waited ({type(error).__name__}); its log says more."))


def open_channels(channels: dict[int, Channel]) -> None:
    """Add a channel for each endpoint that has something to do; changed settings of an endpoint apply from here on."""
    elsewhere = {key for key, provider in endpoints_with_work() if not registry.find(provider).in_process}
    for endpoint in Endpoint.objects.filter(pk__in=elsewhere):
        if endpoint.pk in channels:
            channels[endpoint.pk].endpoint = endpoint
            continue
        try:
            channels[endpoint.pk] = Channel(endpoint, registry.make(endpoint.spec))
        except BackendError as error:
            hold_back_everywhere(endpoint, error)


def endpoints_with_work() -> list[tuple[int, str]]:
    """Return (id, provider) of the endpoints for which a running job has something to do."""
    jobs = list(Job.objects.filter(state=JobState.RUNNING).order_by().values_list("pk", flat=True))
    # the first of them is enough: a long run has ten thousands, and this is asked twice a second
    items = Item.objects.filter(endpoint=OuterRef("pk"), job__in=jobs, state__in=[ItemState.WAITING, ItemState.BATCHED])
    return list(Endpoint.objects.filter(Exists(items)).order_by().values_list("pk", "provider")) if jobs else []
