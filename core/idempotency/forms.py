"""Forms that make something carry a one-time key from `{% once %}`: posted six times, they make one."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core import idempotency as once

FIELD = "once"
_LONGEST = 64
_OF_THE_FRAME = {FIELD, "csrfmiddlewaretoken"}


def made_once(request: HttpRequest, make: Callable[[], str]) -> str:
    """Return what `make` said of what it made, now or when this very form was sent before. Without a key it makes each
    time.

    `make` returns a short text that finds the thing again. What it raises leaves the key free, and the form as it was
    typed.
    """
    key = _key_of(request)
    return once.made_once(key=key, make=make, now=timezone.now()) if key else make()


def made_before(request: HttpRequest) -> str:
    """Return what this very form has made before; empty where nothing. To be asked where a form is
    refused: what it made may be why, such as a name that is now taken."""
    key = request.method == "POST" and _key_of(request)
    return once.made_before(key=key) if key else ""


def secret_for(request: HttpRequest) -> str:
    """A secret to be shown once: the same for the same form, so that the answer to a second press shows it too.

    It comes from the key on the page and the site's own secret; neither is stored.
    """
    key = request.POST.get(FIELD, "")[:_LONGEST] and _key_of(request)
    if not key:
        return secrets.token_hex(20)
    typed = f"{key} {request.POST[FIELD]}"
    return salted_hmac("once", typed, algorithm="sha256").hexdigest()[:40]


def _key_of(request: HttpRequest) -> str:
    """Empty where the form has none. A form that was changed and sent again (the browser's way back) is another one."""
    typed = request.POST.get(FIELD, "")
    if not 0 < len(typed) <= _LONGEST:
        return ""
    fields = sorted((name, values) for name, values in request.POST.lists() if name not in _OF_THE_FRAME)
    files = []
    for name, uploads in request.FILES.lists():
        for upload in uploads:
            upload.seek(0)
            files.append((name, upload.name or "", hashlib.file_digest(upload, "sha256").hexdigest()))
            upload.seek(0)
    return once.digest_of(request.user.pk, request.path, typed, fields, sorted(files))
