"""The table of judges of the same answers, with a panel of them."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.domain.tables import Cells, Column, Table
from benchmark.models import Run
from benchmark.services.in_context import judge_text
from benchmark.services.judge_panels import JudgedRow, judged_group, rows_of_judges
from benchmark.suites.registry import nouns_of_samples
from core.messages import Sentence, clauses, gettext_noop, word

JUDGES = "judges"
_ROWS = (
    ("rows", gettext_noop("Rows")),
    ("settled", gettext_noop("Settled by rule")),
    ("cannot_tell", gettext_noop("Cannot tell")),
    ("missing", gettext_noop("Left out")),
    ("flipped", gettext_noop("Flipped")),
)
_OF_PANELS = (("alone", gettext_noop("One judge alone")),)


def judges_table(runs: Sequence[Run], panel: Sequence[Run] = ()) -> Table:
    """Return a row for each judge and model, those of the panel last."""
    group = judged_group(runs[0])
    shares = group.shares if group else ()
    headers = group.headers if group else {}
    noun = nouns_of_samples(runs[0].suite)[0]
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        *(
            Column(key=f"repaired-{share}", header=headers.get(share, share), kind="share", unit="%", group="Repaired",
                   interval=f"{share}-interval", bounds=f"{share}-bounds")
            for share in shares
        ),
        *(
            Column(key=f"official-{share}", header=headers.get(share, share), kind="share", unit="%", group="Official")
            for share in shares
        ),
        *(Column(key=key, header=header, kind="count", group=gettext_noop("Rows of both tables"))
          for key, header in (*_ROWS, *(_OF_PANELS if panel else ()))),
        Column(key="calls", header=gettext_noop("Calls"), kind="count"),
        Column(key="price", header=Sentence("Price a {noun}", noun=word(noun)), kind="number", unit="$", digits=6),
    ]  # fmt: skip
    rows = [_cells(row, shares) for row in rows_of_judges(runs, panel)]
    return Table(
        title=gettext_noop("Judges of the same answers"),
        columns=columns,
        rows=rows,
        section="judge",
        notes=_notes(panel),
    )


def _cells(row: JudgedRow, shares: Sequence[str]) -> Cells:
    cells: Cells = {"judge": row.judge, "model": row.model, "run": row.run, "calls": row.tally.calls}
    cells |= {key: getattr(row.tally, key) for key, _ in _ROWS} | {"price": row.tally.price_a_story}
    cells["alone"] = row.alone
    for share in shares:
        cells[f"repaired-{share}"] = row.repaired.value_of(share)
        cells[f"{share}-interval"] = row.repaired.interval_of(share)
        cells[f"{share}-interval_reason"] = row.repaired.reasons.get(share)
        cells[f"{share}-bounds"] = row.repaired.bounds_of(share)
        cells[f"official-{share}"] = row.official.number_of(share)
    return cells


def _notes(panel: Sequence[Run]) -> list[str]:
    notes = [
        gettext_noop(
            "Rows that a judge cannot tell or leaves out are in no estimate; bounds take them as unmatched or matched."
        ),
        gettext_noop(
            "Flipped rows are those of which two passes of a judge, or two judges of a panel, say something else."
        ),
    ]
    members = clauses(*map(judge_text, panel))
    if not panel:
        return notes
    return [
        *notes,
        Sentence("The panel is the majority of {members}; a row without a majority is undecided.", members=members),
        gettext_noop(
            "More than half of the judges that say whether a row is matched decide it, and at least two have to say "
            "so: the word of one judge alone decides nothing."
        ),
    ]
