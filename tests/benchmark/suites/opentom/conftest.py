from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.suites.opentom import data
from tests.benchmark.suites.opentom import small


@pytest.fixture
def copy_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes the small copy, some of its files changed, where its counts and digests are those of OpenToM:
    `copy_of({"attitude.json": b"[]"})`."""
    files = small.small()
    monkeypatch.setattr(data, "COUNTS", {"meta_data.json": 10, "meta_data_long.json": 2})
    monkeypatch.setattr(data, "DIGESTS", small.digests(files))
    return lambda changed=None: small.write(tmp_path / "OpenToM", files | (changed or {}))
