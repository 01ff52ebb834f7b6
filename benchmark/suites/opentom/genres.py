"""The columns of the benchmark's own tables: a kind of question in an order of belief."""

from __future__ import annotations

from benchmark.domain.tables.categories import ShortNames
from benchmark.suites.opentom.kinds import ATTITUDE, COARSE, FINE
from core.messages import Sentence, gettext_noop

GENRES: ShortNames = {
    gettext_noop("Coarse location, first order"): "Loc c (F)",
    gettext_noop("Coarse location, second order"): "Loc c (S)",
    gettext_noop("Fine location, first order"): "Loc f (F)",
    gettext_noop("Fine location, second order"): "Loc f (S)",
    gettext_noop("Multi-hop, first order"): "MHop (F)",
    gettext_noop("Multi-hop, second order"): "MHop (S)",
    gettext_noop("Attitude"): "Att",
}
"""The short name of each genre by its name, as the paper's tables head them."""
_PLACES = {COARSE: gettext_noop("Coarse location"), FINE: gettext_noop("Fine location")}


def genre_of(type_: str, kind: str) -> str:
    """Return the genre of a question of a type of the files and a kind."""
    if kind == ATTITUDE:
        return gettext_noop("Attitude")
    order = gettext_noop("second") if type_.endswith("-so") else gettext_noop("first")
    what = _PLACES.get(kind, gettext_noop("Multi-hop"))
    return Sentence("{what}, {order} order", what=what, order=order)
