"""Contexts that views give to templates."""

from __future__ import annotations

from typing import Any

Context = dict[str, Any]
"""What a template is given, by the names that it reads."""
