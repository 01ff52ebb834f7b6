"""A suite: what it takes to be imported, launched, scored, compared and reported, and to show something of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmark.domain.estimating import StoryScore
from benchmark.suites.contract import Entered, Measured, MetricGroup, Outcome, Sample, Setting, Suite
from benchmark.suites.item_filters import Filter, KeptParse, Rows
from benchmark.suites.measuring import SampleResult, measured_samples
from tests.benchmark.tiny.asking import STEPS, expected, load, parse, request
from tests.benchmark.tiny.results import SECTIONS, pictures, tables
from workers.providers.baseline.baseline import Baseline
from workers.providers.contract import Body

GROUP = MetricGroup(
    key="tiny", title="Sums", noun="adding", shares=("right",), headers={"right": "Right"}, score="right",
    score_title="Right sums", prompt="sum", rests_on=("repeat", "sum"), scored="sum", facets={"parity": "Parity"},
)  # fmt: skip


def _score(sample: Sample, outcomes: Sequence[Outcome]) -> SampleResult:
    held = [one for one in outcomes if not one.without and not one.unusable]
    if len(held) < len(outcomes):
        why = next(one.without or one.unusable for one in outcomes if one.without or one.unusable)
        return SampleResult(None, StoryScore(sample.category, {"right": 0.0}, {"right": 1.0}, None, why), why)
    value = sum((one.repaired or {}).get("said") == sample.gold["sum"] for one in held) / len(held)
    return SampleResult(
        {"right": value}, StoryScore(sample.category, {"right": value}, {"right": value}, {"right": value})
    )


def _measure(entered: Entered) -> dict[str, Measured | None]:
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


SUITE = Suite(
    name="tiny",
    title="Tiny sums",
    steps=STEPS,
    groups=(GROUP,),
    request=request,
    parse=parse,
    measure=_measure,
    expected=expected,
    load=load,
    load_options=(Setting("most", "Largest number", 99),),
    noun=("sum", "sums"),
    cluster=("sheet", "sheets"),
    rows=ROWS,
    settings=(Setting("politeness", "Tone", "please", choices=(("please", "polite"), ("now", "curt"))),),
    tables=tables,
    pictures=pictures,
    sections=SECTIONS,
    baselines=(
        *(
            Baseline(name=name, task="tiny-repeat", answer=lambda body: body["task"]["text"], sample={"text": "1 + 1"})
            for name in ("adder", "counter")
        ),
        Baseline(name="adder", task="tiny-sum", answer=_right, sample={"text": "please: 1 + 1 = ?"}),
        Baseline(name="counter", task="tiny-sum", answer=_wrong, sample={"text": "please: 1 + 1 = ?"}),
    ),
)
