from collections.abc import Iterable


def first_duplicate(names: Iterable[str]) -> str | None:
    """Return the first name that occurred before, None where all differ. Each name is looked up once, however many
    there are."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
