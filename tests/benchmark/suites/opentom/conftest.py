from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.benchmark.suites.opentom import small


@pytest.fixture
def copy_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes the small copy as the released one: `copy_of({"attitude.json": b"[]"})`."""
    return partial(small.released, monkeypatch, tmp_path / "OpenToM")
