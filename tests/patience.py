"""How long tests wait for what must happen."""

import os

PATIENCE = int(os.environ.get("TEST_PATIENCE") or 180)
"""Seconds. It only ends a test that hangs: on a machine that is busy with other work everything takes many times as
long."""
