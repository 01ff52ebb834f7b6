import re

from django.template.loader import render_to_string
from django.utils import translation

from core.statistics import Estimate
from core.templatetags.texts import in_words
from core.views.charts import PERCENT, PLAIN, SIGNED_POINTS, Axis, Repeat, Row, control_chart, dot_chart, no_intervals


def metric(value: float | None, *ends: float, reason: str = "") -> Estimate:
    return Estimate(value, 9, ends or None, reason=reason)


def test_an_axis_ends_on_twentieths_around_what_it_holds_and_has_few_round_ticks():
    # 0.42 and 0.58 → 0.40 and 0.60; 0.5 stands half way, 0.45 a quarter
    axis = Axis.of([0.42, 0.58])
    assert (axis.place(0.5), axis.place(0.45), axis.ticks()) == (50, 25, [0.4, 0.45, 0.5, 0.55, 0.6])
    # at least ten points, within 0 and 1; sums of fractions are off by a hair
    for held, ends in {
        (0.42, 0.58): (0.4, 0.6),
        (1.0,): (0.9, 1.0),
        (0.0, 1 + 1e-12): (0.0, 1.0),
        (-0.12, 0.03): (-0.15, 0.05),
    }.items():
        assert (Axis.of(held).low, Axis.of(held).high) == ends
    for edges in [[0.0, 1.0], [-1.0, 1.0], [-0.3, 0.9], [0.13, 0.17], []]:
        axis = Axis.of(edges)
        ticks = axis.ticks()
        assert 2 <= len(ticks) <= 8 and all(axis.low - 1e-9 <= tick <= axis.high + 1e-9 for tick in ticks)
        assert all(abs(tick * 20 - round(tick * 20)) < 1e-9 for tick in ticks)


def test_numbers_are_written_as_the_chart_says():
    assert PERCENT.text(0.4567) == "45.7%" and PERCENT.tick(0.15) == "15%"
    assert PLAIN.text(-0.125) == "−0.12" and PLAIN.tick(0.2) == "0.2"
    assert SIGNED_POINTS.text(0.031) == "+3.1" and SIGNED_POINTS.tick(-0.05) == "−5" and SIGNED_POINTS.tick(-0.0) == "0"
    for notation in (PERCENT, SIGNED_POINTS, PLAIN):
        assert notation.text(-0.0001) == notation.text(0.0), "nought has no sign"


def test_marks_stand_where_their_values_are_and_are_told_in_words():
    found = {"first": metric(0.5, 0.4, 0.6), "second": metric(0.45, reason="few")}
    rows = [
        Row(label="m", bounds=[0.5, 0.6], out=0.25, aside="ab", **found),
        Row(label="n" * 40, first=metric(None, reason="none")),
    ]
    chart = dot_chart("Score", rows, heads=("Repaired", "Official"), aside="Group")
    first, second = chart.marks
    assert first["first"] == {"x": 50, "y": -4, "low": 0, "high": 100} and first["second"] == {"x": 25, "y": 4}
    assert first["band"] == {"x": 50, "width": 50}
    assert first["texts"] == ["50.0", "45.0", "25 %", "ab"] and second["texts"] == ["–", "–", "–", ""]
    assert in_words(first) == (
        "m: repaired 50.0 (40.0 to 60.0), official 45.0 (few), left out 25 %, worst to best case 50.0 to 60.0, Group ab"
    )
    assert second["first"] is None and "repaired without a value" in in_words(second) and len(second["short"]) == 28
    assert chart.seconds and chart.bands
    assert chart.lacking == "few" and no_intervals([rows[0].second]) == "No interval: few."
    # a name is as it is, the rest in the language of the page
    row = Row(label="sample-hasty", first=metric(0.5, 0.4, 0.6), second=metric(None))
    [mark] = dot_chart("Accuracy", [row], heads=("Repaired", "Official")).marks
    assert in_words(mark) == "sample-hasty: repaired 50.0 (40.0 to 60.0), official without a value"
    with translation.override("zh-hans"):
        assert not re.search("[a-z]{2}", in_words(mark).removeprefix("sample-hasty"))


def test_where_nothing_is_missing_no_band_is_drawn_explained_or_told():
    sums = 0.1 + 0.2  # not quite 0.3
    rows = [Row(label="m", first=metric(0.3, 0.2, 0.4), second=metric(0.25), bounds=[0.3, sums])]
    chart = dot_chart("Score", rows, heads=("Corrected", "Judge alone"))
    page = render_to_string("components/dot_chart.html", {"chart": chart})
    assert not chart.bands and "worst to best case" not in page and "key-band" not in page and "key-hollow" in page


def test_a_page_scales_places_and_no_text():
    """Text in a drawing with a `viewBox` shrinks with it; here only per cent depend on the width."""
    chart = dot_chart("Score", [Row(label="<b>", first=metric(0.5, 0.4, 0.6), n="9 cells")], zero=True)
    page = render_to_string("components/dot_chart.html", {"chart": chart, "no": "interval"})
    assert "viewBox" not in page and "font-size" not in page and "&lt;b&gt;" in page and "<b>" not in page
    places = re.findall(r'\b(?:x1|x2|cx|x|width)="([^"]+)"', page)
    assert places and all(place.endswith("%") for place in places)
    assert 'aria-label="&lt;b&gt;: 50.0 (40.0 to 60.0), 9 cells"' in page


def test_a_control_chart_stands_its_repeats_across_and_their_values_up():
    repeats = [Repeat(label="18", value=0.95, limits=(0.9, 1.0)), Repeat(label="19", value=0.8, alarms=True, out=True)]
    axis = Axis.of([0.8, 1.0])
    chart = control_chart("means", repeats, axis, title="t", caption="c", ticks=[(0.9, "90%")], line=(0.95, ""))
    # two repeats share the width; of 0.8 to 1.0 a value of 0.95 is a quarter from the top
    assert [(point["x"], point["y"], point["limits"]) for point in chart["points"]] == [
        (25, 25, (50, 0)),
        (75, 100, None),
    ]
    assert chart["path"] == "25.0,25.0 75.0,100.0"
    assert (chart["ticks"], chart["line"]) == ([{"y": 50, "label": "90%"}], {"y": 25, "label": ""})
    page = render_to_string("components/control_chart.html", {"chart": chart})
    assert page.count("control-out") == 1 and 'r="7"' in page and "control-limit" not in page
    # of many some are labelled, the newest among them
    repeats = [Repeat(label=str(at), value=0.5) for at in range(40)]
    chart = control_chart("sums", repeats, Axis(0, 1), title="t", caption="c", line=(0.9, "limit"))
    assert [point["label"] for point in chart["points"] if point["label"]] == [str(at) for at in range(0, 40, 3)]
