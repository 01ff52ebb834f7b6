"""A suite: what it takes to be imported, launched, scored, compared and reported, and to show something of its own."""

from collections.abc import Mapping, Sequence
from functools import partial

from benchmark.domain.drawn import Plot
from benchmark.domain.estimating import StoryScore
from benchmark.domain.plots.dots import METRIC, Panel, Series, dot_plot
from benchmark.domain.plots.drawing import Drawing, Look, plot
from benchmark.domain.plots.values import percent, value_line
from benchmark.domain.tables import Cell, Column, Table
from benchmark.suites.contract import Asking, Copied, ItemPages, Results, Suite
from benchmark.suites.groups import MetricGroup
from benchmark.suites.items import Filter, KeptParse, Rows
from benchmark.suites.measuring import measured_samples
from benchmark.suites.questions import Entered, Outcome, Sample
from benchmark.suites.reports import GroupMetrics
from benchmark.suites.results import ParseResults, Section, ShownPicture, ShownTable
from benchmark.suites.settings import Setting
from benchmark.suites.showing.entrants import row_of
from tests.benchmark.tiny.asking import STEPS, expected, load, parse, request
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Body

GROUP = MetricGroup(
    key="tiny", title="Sums", noun="adding", shares=("right",), headers={"right": "Right"}, score="right",
    score_title="Right sums", prompt="sum", rests_on=("repeat", "sum"), scored="sum", facets={"parity": "Parity"},
)  # fmt: skip


def _score(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
    held = [one for one in outcomes if not one.without and not one.unreadable]
    if len(held) < len(outcomes):
        why = next(one.without or one.unreadable for one in outcomes if one.without or one.unreadable)
        return StoryScore(sample.category, {"right": 0.0}, {"right": 1.0}, None, why, reason=why)
    value = sum((one.repaired or {}).get("said") == sample.gold["sum"] for one in held) / len(held)
    share = {"right": value}
    return StoryScore(sample.category, share, share, share, official=share)


def _measure(entered: Entered) -> dict[str, GroupMetrics | None]:
    return {"tiny": measured_samples(entered, GROUP, _score)}


def _digits(parse: KeptParse, chosen: Mapping[str, str]) -> tuple[int, int]:
    said = parse.parsed["said"]
    return int(said is not None and len(str(abs(said))) == int(chosen["digits"])), 1


ROWS = Rows(("sum",), (Filter("digits", "Digits", (("1", "one"), ("2", "two"))),), _digits)


def _wrong(body: Body) -> str:
    return str(len(body["task"]["text"]))


def _right(body: Body) -> str:
    first, _, second = body["task"]["text"].partition(": ")[2].removesuffix(" = ?").partition(" + ")
    return str(int(first) + int(second))


SECTIONS = (Section("Sums at a glance", ("glance",), ("glance",)),)


def tables(results: ParseResults) -> dict[str, ShownTable]:
    return {"glance": ShownTable(partial(_table, results), ("tiny",))} if results.read["tiny"] else {}


def _table(results: ParseResults) -> Table:
    rows = [
        row_of(one, "tiny", {"right": one.parses.overall(results.parse).cell("right")}) for one in results.read["tiny"]
    ]
    columns = [Column(key="model", header="Model"), Column(key="right", header="Right", kind="share", best="high")]
    return Table(title=f"Right at a glance, {results.parse} parse", columns=columns, rows=rows)


def pictures(results: ParseResults) -> dict[str, ShownPicture]:
    return {"glance": ShownPicture("Right at a glance", partial(_plot, results), ("tiny",), whole=True)}


def _plot(results: ParseResults) -> Plot:
    rows = [(one.model, one.parses.overall(results.parse).cell("right")) for one in results.read["tiny"]]
    return right(rows, parse=results.parse)


@plot
def right(look: Look, rows: Sequence[tuple[str, Cell]], *, parse: str) -> Drawing:
    """Right sums of each model; `rows` are (model, figure)."""
    title = f"Right at a glance, {parse} parse"
    if not rows:
        return Drawing(title, "No model has added.")
    models, metrics = [model for model, _ in rows], [percent(metric) for _, metric in rows]
    canvas = dot_plot(
        models, [Panel.of("", metrics)], [Series(key=METRIC, label="Right sums")], unit="Right sums (%)", look=look
    )
    return Drawing(title, canvas, [value_line("Right", models, metrics)])


SUITE = Suite(
    name="tiny",
    title="Tiny sums",
    steps=STEPS,
    groups=(GROUP,),
    request=request,
    parse=parse,
    measure=_measure,
    expected=expected,
    copied=Copied(load=load, options=(Setting("most", "Largest number", 99),)),
    noun=("sum", "sums"),
    cluster=("sheet", "sheets"),
    items=ItemPages(rows=ROWS),
    settings=(Setting("politeness", "Tone", "please", choices=(("please", "polite"), ("now", "curt"))),),
    results=Results(tables=tables, pictures=pictures, sections=SECTIONS),
    asking=Asking(
        baselines=(
            *(
                Baseline(
                    name=name, task="tiny-repeat", answer=lambda body: body["task"]["text"], sample={"text": "1 + 1"}
                )
                for name in ("adder", "counter")
            ),
            Baseline(name="adder", task="tiny-sum", answer=_right, sample={"text": "please: 1 + 1 = ?"}),
            Baseline(name="counter", task="tiny-sum", answer=_wrong, sample={"text": "please: 1 + 1 = ?"}),
        )
    ),
)
