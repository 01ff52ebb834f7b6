"""`Idempotency-Key`: a POST that makes something, sent again with its key, is answered as before and makes nothing."""

from collections.abc import Callable

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from core import idempotency as once
from core.api.errors import CannotBeDone

HEADER = "Idempotency-Key"
LONGEST = 200
PARAMETER = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": LONGEST},
    OpenApiParameter.HEADER,
    description=(
        "Made by you, unique to the request (a UUID will do). For a day the request sent again with it makes "
        "nothing new."
    ),
)


def made_once(request: Request, make: Callable[[], str]) -> str:
    """Return what `make` said of what it made, now or under the same key before; without a key it makes each time.

    Raises CannotBeDone where the key was used for another body.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return make()
    if not 0 < len(key) <= LONGEST:
        raise ValidationError({HEADER: [f"A key of 1 to {LONGEST} characters is expected."]})
    content = once.digest_of(request.data)
    digest = once.digest_of("api", request.user.pk, request.path, key)
    try:
        return once.made_once(key=digest, content=content, make=make, now=timezone.now())
    except once.OtherContent as refusal:
        raise CannotBeDone({HEADER: [str(refusal)]}) from refusal
