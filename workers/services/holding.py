"""Holding back what cannot succeed: the items of an endpoint whose key, quota, model or address is wrong wait for a
person.

Other endpoints of the same job go on. The job pauses when nothing else is left to do.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet

from core.messages import gettext_noop, labelled
from core.texts import storable
from workers.models import COMPLETED, OPEN, Attempt, Call, CallState, Endpoint, Item, ItemState, Job, JobState
from workers.providers.errors import Again, BackendError, Forbidden, Rejected

FEW = 3
"""Calls of an endpoint that end in the same trouble, one after another, before its items are held back."""
REFUSED_ALIKE = gettext_noop(
    "Every request is refused in the same words: change the setting that they name, on the model's page, then resume."
)
NOTE = 300
MOVING = tuple(state for state in OPEN if state != ItemState.HELD)
"""States of items that wait for no person: a job that has none has ended, or is held back whole."""


def hold_back_hopeless(job: int, endpoint: Endpoint, error: BackendError) -> bool:
    """Hold the endpoint's items of a job back where `error` says that no call can succeed, in the caller's transaction.

    At once where the key is refused before anything was answered, and where items are held back already; else when the
    last `FEW` calls of this endpoint ended in the same way. Refusals by a server that say nothing of the endpoint count
    only before anything was answered, and if all are in the same words, as they are where a setting is wrong. Items
    that failed for this reason wait with the others.
    """
    items = Item.objects.filter(job=job, endpoint=endpoint)
    is_new = not items.filter(call__state__in=COMPLETED).exists()
    if not (is_new or error.advice):
        return False
    is_refused = is_new and isinstance(error, Forbidden)
    is_held = items.filter(state=ItemState.HELD)
    if not (is_refused or is_held.exists() or _in_a_row(endpoint, error)):
        return False
    last_attempt = _ended_like(error).filter(call=OuterRef("call"), number=OuterRef("call__attempts_made"))
    items.filter(Exists(last_attempt)).hold_failed()
    hold_back(job, endpoint, error)
    return True


def _in_a_row(endpoint: Endpoint, error: BackendError) -> bool:
    ended = Attempt.objects.filter(call__endpoint=endpoint, waits=0, finished_at__isnull=False).order_by("-id")
    return _ended_like(error).filter(pk__in=list(ended.values_list("pk", flat=True)[:FEW])).count() == FEW


def _ended_like(error: BackendError) -> QuerySet[Attempt]:
    """Return the attempts that ended in this trouble: of an unknown outcome, and of a request that was refused, the
    sentence tells it."""
    same = Attempt.objects.lost() if error.again is Again.UNKNOWN else Attempt.objects.filter(outcome=error.kind)
    told_by_words = error.again is Again.UNKNOWN or not error.advice
    return same.filter(problem=storable(str(error))) if told_by_words else same


def hold_back(job: int, endpoint: Endpoint, error: BackendError) -> None:
    """Hold back what waits for the endpoint in a job. Its note says what a person has to do, and what the provider
    says."""
    advice = error.advice or (REFUSED_ALIKE if isinstance(error, Rejected) and error.status else "")
    note = f"{endpoint.name}: {advice} ({str(error).rstrip('.')}.)" if advice else labelled(endpoint.name, error)
    Item.objects.filter(job=job, endpoint=endpoint).hold()
    Job.objects.filter(pk=job).note(storable(note)[:NOTE])


def hold_back_everywhere(endpoint: Endpoint, error: BackendError) -> None:
    """Hold back what waits for an endpoint that cannot be asked at all, in every running job."""
    waiting = Item.objects.filter(endpoint=endpoint, state=ItemState.WAITING, job__state=JobState.RUNNING)
    jobs = set(waiting.order_by().values_list("job", flat=True))
    for job in jobs:
        hold_back(job, endpoint, error)
    pause_held(jobs)


def pause_held(jobs: Iterable[int]) -> None:
    """Pause those running jobs all of whose open items are held back. Their notes say why already."""
    if not (ids := list(jobs)):
        return
    items = Item.objects.filter(job=OuterRef("pk"))
    any_held = Exists(items.filter(state=ItemState.HELD))
    others = Exists(items.filter(state__in=MOVING))
    Job.objects.filter(any_held, ~others, pk__in=ids).pause()


def holds_back(job: Job) -> bool:
    """Return whether items of a job are held back."""
    return Item.objects.filter(job=job, state=ItemState.HELD).exists()


def release(job: int, *, start: datetime) -> int:
    """Let what was held back wait again, and ask again what has no known answer; returns how many items."""
    calls = Call.objects.filter(items__job=job, items__state=ItemState.HELD, state=CallState.UNKNOWN)
    Call.objects.filter(pk__in=list(calls.values_list("pk", flat=True))).retry()
    return Item.objects.filter(job=job).free(start=start)
