"""Functions that answer in place of a script, by the name that an endpoint's option `function` has."""

from collections.abc import Callable

from workers.providers.contract import Body

FUNCTIONS: dict[str, Callable[[Body], str]] = {}
"""Apps add theirs. A body holds the request's `task`."""
