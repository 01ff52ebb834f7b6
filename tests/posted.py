"""Which addresses take a POST."""

import inspect
from collections.abc import Iterator

from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, reverse

DUMMY = {"[0-9]+": 1}


def patterns(resolver: URLResolver, names: tuple[str, ...] = ()) -> Iterator[tuple[str, URLPattern]]:
    """By full name; without Django's own admin, which makes nothing but what has a unique name."""
    for one in resolver.url_patterns:
        if isinstance(one, URLPattern):
            yield ":".join((*names, one.name or "")), one
        elif one.namespace != "admin":
            yield from patterns(one, (*names, one.namespace) if one.namespace else names)


def takes_posts(name: str, pattern: URLPattern, client: Client) -> bool:
    """What the view itself says: of its methods where it names them, else whether it reads what was posted."""
    view = pattern.callback
    if hasattr(view, "cls") or hasattr(view, "view_class"):
        return hasattr(getattr(view, "cls", None) or view.view_class, "post")
    named = client.options(_path(name, pattern))
    if named.status_code == 405:
        return "POST" in named["Allow"]
    return "request.POST" in inspect.getsource(inspect.unwrap(view))


def _path(name: str, pattern: URLPattern) -> str:
    own = {key: DUMMY.get(one.regex, "a" * 12) for key, one in pattern.pattern.converters.items()}
    for above in ({}, {"slug": "minds"}, {"slug": "minds", "story": "a" * 12}):
        try:
            return reverse(name, kwargs=own | above)
        except NoReverseMatch:
            continue
    raise AssertionError(f"no address is made of {name}")
