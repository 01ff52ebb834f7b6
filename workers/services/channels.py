"""Channels: the endpoints that a process makes calls for."""

import asyncio
import json
import logging
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef

from core.messages import Sentence
from workers.models import TO_SERVE, Endpoint, Item
from workers.providers import registry
from workers.providers.contract import Backend, Completion
from workers.providers.errors import BackendError, Lost
from workers.services.claims import Claimed, running_ids
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
    due: list[tuple[Claimed, asyncio.Future[bool]]] = field(default_factory=list)
    in_flight: int = 0
    served: float = 0.0
    replaced: list[Backend] = field(default_factory=list)
    """Backends of former settings, whose calls may still be in flight."""

    @property
    def has_pending(self) -> bool:
        """True where outcomes or due calls wait for the next turn."""
        return bool(self.outcomes or self.due)

    def take_pending(self) -> tuple[list[Outcome], list[tuple[Claimed, asyncio.Future[bool]]]]:
        """Return the outcomes and due calls that wait for the next turn, and forget them."""
        pending = self.outcomes, self.due
        self.outcomes, self.due = [], []
        return pending

    def renew(self, endpoint: Endpoint) -> None:
        """Take the endpoint's settings of now. Raises BackendError where they cannot work."""
        if endpoint.spec != self.endpoint.spec:
            backend = registry.make(endpoint.spec)
            self.replaced.append(self.backend)
            self.backend = backend
        self.endpoint = endpoint

    async def aclose(self) -> None:
        for backend in (*self.replaced, self.backend):
            await backend.aclose()

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
            return Lost(
                Sentence("The worker failed while it waited ({name}); its log says more.", name=type(error).__name__)
            )


def open_channels(channels: dict[int, Channel]) -> None:
    """Add a channel for each endpoint that has something to do; changed settings of an endpoint apply from here on."""
    elsewhere = [key for key, provider in endpoints_with_work() if not registry.find(provider).in_process]
    for endpoint in Endpoint.objects.filter(pk__in=elsewhere) if elsewhere else ():
        try:
            if endpoint.pk in channels:
                channels[endpoint.pk].renew(endpoint)
            else:
                channels[endpoint.pk] = Channel(endpoint, registry.make(endpoint.spec))
        except BackendError as error:
            hold_back_everywhere(endpoint, error)


def endpoints_with_work() -> list[tuple[int, str]]:
    """Return (id, provider) of the endpoints for which a running job has something to do."""
    jobs = [job for job, _ in running_ids()]
    if not jobs:
        return []
    # the first item is enough: a long run has ten thousands, and this is asked twice a second
    has_work = Exists(Item.objects.filter(endpoint=OuterRef("pk"), job__in=jobs, state__in=TO_SERVE))
    return list(Endpoint.objects.filter(has_work).order_by().values_list("pk", "provider"))
