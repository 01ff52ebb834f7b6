def holm(p: list[float | None]) -> list[float | None]:
    """Holm's step-down adjusted p values (Holm 1979); None is not a test and does not count."""
    # not statsmodels' `multipletests`, which collects all garbage of the process at each call: 50 ms and more, the same
    # figures
    out: list[float | None] = [None] * len(p)
    order = sorted((p_value, at) for at, p_value in enumerate(p) if p_value is not None)
    reached = 0.0
    for step, (p_value, at) in enumerate(order):
        reached = max(reached, min(1.0, p_value * (len(order) - step)))
        out[at] = reached
    return out
