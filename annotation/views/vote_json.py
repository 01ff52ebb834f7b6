"""Reads the body of a vote request by hand: this is the hottest path, and every bad field deserves its own sentence."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from django.http import HttpRequest

from annotation.services.votes import MAX_CHANGES, Change, Refused

MAX_BYTES = 256 * 1024
_TEXT = {"proposition": 12, "dimension": 20, "label": 40, "client_key": 64}
MAX_DURATION_MS = 2**31 - 1


def read_votes(request: HttpRequest) -> tuple[int | None, list[Change]]:
    """The annotator that the changes name (None where they name none) and the changes.

    Body: {"annotator": 7?, "changes": [{proposition, dimension, label, changed_at, client_key, duration_ms?, undoes?, saw?,
    accepted?}]}.
    Raises Refused.
    """
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > MAX_BYTES:
        raise Refused(f"The request is larger than {MAX_BYTES // 1024} kB.")
    document = _object(request.body)
    annotator = document.get("annotator")
    if annotator is not None and type(annotator) is not int:
        raise Refused("The field annotator must be the number of the annotator who made the changes.")
    rows = document.get("changes")
    if not isinstance(rows, list) or not 0 < len(rows) <= MAX_CHANGES:
        raise Refused(f"The field changes must be a list of 1 to {MAX_CHANGES} changes.")
    return annotator, [_change(row, at) for at, row in enumerate(rows)]


def _object(body: bytes) -> dict:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused("The request is not JSON.") from error
    if not isinstance(document, dict):
        raise Refused("The request is not a JSON object.")
    return document


def _change(row: object, at: int) -> Change:
    where = f"changes[{at}]."
    if not isinstance(row, dict):
        raise Refused(f"changes[{at}] is not an object.")
    proposition, dimension, label, key = (_text(row, name, where) for name in _TEXT)
    undoes = _text(row, "undoes", where) if "undoes" in row else ""
    duration = row.get("duration_ms")
    if duration is not None and (type(duration) is not int or not 0 <= duration <= MAX_DURATION_MS):
        raise Refused(f"{where}duration_ms must be a whole number of milliseconds from 0 to {MAX_DURATION_MS}.")
    saw, accepted = (_truth(row, name, where) for name in ("saw", "accepted"))
    changed_at = _time(row.get("changed_at"), where)
    return Change(proposition, dimension, label, changed_at, key, duration, undoes, saw, accepted)


def _truth(row: dict, name: str, where: str) -> bool:
    value = row.get(name, False)
    if type(value) is not bool:
        raise Refused(f"{where}{name} must be true or false.")
    return value


def _text(row: dict, name: str, where: str) -> str:
    value, longest = row.get(name), _TEXT.get(name, 64)
    if not isinstance(value, str) or len(value) > longest or "\x00" in value or not value.isprintable():
        raise Refused(f"{where}{name} must be a text of at most {longest} printable characters.")
    if not value and name not in {"label", "undoes"}:
        raise Refused(f"{where}{name} is empty.")
    return value


def _time(value: object, where: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)  # type: ignore[arg-type]
        moment = moment.astimezone(UTC) if moment.tzinfo else None
    except (TypeError, ValueError, OverflowError):
        moment = None
    if moment is None or not 2000 <= moment.year <= 9000:
        raise Refused(f"{where}changed_at must be a time with its zone, such as 2026-10-05T09:30:00Z.")
    return moment
