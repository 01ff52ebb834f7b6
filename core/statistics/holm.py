from __future__ import annotations


def holm(p: list[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p values (Holm 1979), as statsmodels has them; None is no test and does not count."""
    known = [value for value in p if value is not None]
    if not known:
        return [None] * len(p)
    from statsmodels.stats.multitest import multipletests  # two seconds to load

    adjusted = iter(multipletests(known, method="holm")[1].tolist())
    return [None if value is None else next(adjusted) for value in p]
