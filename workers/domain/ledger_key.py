"""The key of a call in the ledger: what makes two calls the same call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.digests import json_digest
from core.texts import canonical


def call_key(*, provider: str, base_url: str, model: str, revision: str, body: Mapping[str, Any], sample: int) -> str:
    """Return the key of a call: SHA-256, 64 hexadecimal digits.

    The model is part of the key beside the body, and so is the server: two servers may offer different weights under
    one name.
    """
    parts = [provider, base_url.rstrip("/"), model, revision, sample, canonical(body)]
    return json_digest(parts, ensure_ascii=False)
