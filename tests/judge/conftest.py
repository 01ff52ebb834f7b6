from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="session")
def omnitom(shared):
    """Reads one file of inputs with the figures that the released OmniToM code gave: `omnitom("unit_judge")`."""
    return lambda name: json.loads((shared / "vectors" / "omnitom" / f"{name}.json").read_text(encoding="utf-8"))
