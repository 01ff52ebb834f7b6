"""Contexts that views give to templates."""

from __future__ import annotations

from typing import Any

Context = dict[str, Any]
"""Values that a template is given, by the names that it reads."""
