"""Numbers as sentences have them."""

from core.language import ngettext


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return the number with its noun: 1 row, 2,860 rows.

    A literal noun is found by `manage.py texts`, and has a translation in the catalogues as `{count} row`.
    """
    return ngettext(f"{{count}} {noun}", f"{{count}} {plural or noun + 's'}", count).format(count=f"{count:,}")
