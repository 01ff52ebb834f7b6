from __future__ import annotations

import io
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from benchmark.domain import plots
from benchmark.domain.asked_again import AskedAgain
from benchmark.domain.drawn import Lead, ModelRow, RankedRow
from benchmark.domain.plots.dots import Series
from benchmark.domain.plots.heat import STRONGEST
from benchmark.domain.plots.text import (
    LONGEST,
    ROOM,
    SMALL,
    THEMES,
    UNNAMED,
    WIDTHS,
    families,
    is_eastern,
    labels,
    printable,
    shortened,
    text_width,
    width,
)
from benchmark.domain.tables import Cell
from benchmark.suites.omnitom import plots as omnitom_plots
from benchmark.suites.omnitom.labels import DIMENSIONS, SCHEMA
from benchmark.suites.tombench_tasks import TASKS
from core.statistics import Estimate
from judge.domain.corrections import CorrectedScore

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "$\\frac{1}{0}$ & %",
    "‮evil مدل",
    "通义千问 超长的模型名字 最大版本 最新 72B",
    "a\x00b\ud800\uffff",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct-INT4",
    "🤖" + "e" + "\u0301" * 40,
    "",
    "x" * 300,
]


def names(n: int) -> list[str]:
    return [HOSTILE[at] if at < len(HOSTILE) else f"Model {at}" for at in range(n)]


def metric(value: float) -> Estimate:
    return Estimate(value, 9, [value - 0.03, min(1, value + 0.03)])


def made(n: int) -> dict:
    """Every figure over n models as {name: (function, arguments)}."""
    rng = np.random.default_rng(n)
    models = names(n)
    spread = lambda keys: {key: metric(float(rng.uniform(0.1, 0.95))) for key in keys}  # noqa: E731
    order = [ModelRow(model, spread(("0", "1", "2+"))) for model in models]
    values = SCHEMA["content_type"].values
    said = (*values, "missing", "illegal")
    table = {"gold": values, "said": said, "rows": [[int(rng.integers(9, 4000)) for _ in said] for _ in values]}
    counted = {
        SCHEMA[name].name: {
            "labels": (values := SCHEMA[name].values),
            "gold": [int(rng.integers(1, 900)) for _ in values],
            "predicted": [int(rng.integers(1, 900)) for _ in values],
            "gold_ends": [[0.1, 0.2]] * len(values),
            "ends": [[0.05, 0.3]] * len(values),
            "reasons": [""] * len(values),
            "gold_reasons": [""] * len(values),
        }
        for name in DIMENSIONS
    }
    leaderboard = [RankedRow(model=model, **spread(("official", "repaired")), group="ab") for model in models]
    apart = [
        [Lead(value=0.02 * (b - a), significant=b - a > 2) if b > a else None for b in range(len(models))]
        for a in range(len(models))
    ]
    volume = [
        ModelRow(model, spread(("precision", "recall", "f1")), overall=float(rng.uniform(5, 40))) for model in models
    ]
    matches = {model: {**{str(at): int(rng.integers(0, 9000)) for at in range(4)}, "4+": 3} for model in models}
    return {
        "leaderboard": (plots.leaderboard, ([*leaderboard], {"score": "Stage 1 F1"})),
        "pairs": (plots.pair_matrix, (models, {"cells": apart, "score": "Stage 1 F1", "parse": "repaired"})),
        "category": (
            omnitom_plots.f1_by_category,
            ([ModelRow(model, spread(TASKS)) for model in models], {"parse": "official"}),
        ),
        "orders": (
            omnitom_plots.by_kind,
            ({"F1": order, "Recall": order[:1]}, {"by": "order", "score": "Extraction", "parse": "repaired"}),
        ),
        "dimension": (
            omnitom_plots.accuracy_by_dimension,
            ([ModelRow(model, spread(DIMENSIONS), 0.5) for model in models], {"parse": "official"}),
        ),
        "labels": (omnitom_plots.label_distribution, (counted, {"model": models[-1], "parse": "repaired"})),
        "matches": (omnitom_plots.match_counts, (matches, {"parse": "repaired"})),
        "confusion": (
            omnitom_plots.confusion,
            (table, {"dimension": "Content type", "model": models[0], "parse": "official"}),
        ),
        "volume": (omnitom_plots.volume, (volume, {"parse": "official"})),
        "method_parts": (
            plots.method_parts,
            (
                [
                    AskedAgain(
                        key=str(at),
                        model=model,
                        kind="model",
                        entrant=None,
                        run="",
                        way=title,
                        title=title,
                        part=part,
                        score=metric(float(rng.uniform(0.1, 0.95))),
                    )
                    for part in ("Coarse location, first order", "Attitude")
                    for at, model in enumerate(models)
                    for title in ("plain", "chain of thought", "PercepToM with the true perceptions")
                ],
                {"score": "Macro F1", "parse": "repaired", "part": "genre", "short": {"Attitude": "Att"}},
            ),
        ),
        "two": (
            plots.two_models,
            (
                [tuple(pair) for pair in rng.uniform(0, 1, (60, 2))] + [(None, 0.5), (float("nan"), 0.1)],
                {"first": models[0], "second": models[-1], "score": "Stage 1 F1", "difference": metric(0.02)},
            ),
        ),
    }


METRICS = list(made(1))


def draw(name: str, n: int = 2, **how) -> bytes:
    function, (data, named) = made(n)[name]
    return function(data, **named).draw(**how)


def texts(root: ElementTree.Element) -> list[ElementTree.Element]:
    return list(root.iter(f"{SVG}text"))


PARTS = {"svg", "title", "desc", "g", "path", "defs", "use", "text", "clipPath", "rect"}


@pytest.mark.parametrize("name", METRICS)
def test_an_svg_is_text_that_fits_and_refers_to_nothing_outside(name):
    for n, wide in ((1, "page"), (2, "column"), (20, "page"), (20, "column")):
        data = draw(name, n, width=wide)
        root = ElementTree.fromstring(data)
        title, told = root[0], root[1]
        assert (title.tag, told.tag, root.get("role")) == (f"{SVG}title", f"{SVG}desc", "img")
        assert root.get("aria-labelledby") == f"{title.get('id')} {told.get('id')}"
        assert title.text and (n == 1 or re.search(r"\d", told.text))
        assert {one.tag.removeprefix(SVG) for one in root.iter()} <= PARTS
        assert not any(key == "style" or key.startswith("on") for one in root.iter() for key in one.attrib)
        links = [value for one in root.iter() for key, value in one.attrib.items() if "href" in key or "url(" in value]
        assert all(re.fullmatch(r"#(\w+)|url\(#(\w+)\)", link) for link in links)
        assert {re.search(r"#(\w+)", link)[1] for link in links} <= {one.get("id") for one in root.iter()}
        namespaces = {b"http://www.w3.org/2000/svg", b"http://www.w3.org/1999/xlink"}
        assert set(re.findall(rb"https?://[^\"\s]+", data)) <= namespaces
        assert_texts_fit(root, WIDTHS[wide])


def assert_texts_fit(root: ElementTree.Element, wide: float) -> None:
    box = [float(part) for part in root.get("viewBox").split()]
    assert box[2] == pytest.approx(wide, abs=0.1)
    for one in texts(root):
        size = float(one.get("font-size").removesuffix("px"))
        assert size >= SMALL
        if "rotate(-90" not in one.get("transform", ""):
            x, y, long = float(one.get("x")), float(one.get("y")), taken(one, size)
            start = x - {"middle": long / 2, "end": long}.get(one.get("text-anchor"), 0)
            assert start >= -0.5 and start + long <= box[2] + 0.5, one.text
            assert 0 < y <= box[3] + 0.5, one.text


def taken(text: ElementTree.Element, size: float) -> float:
    return text_width([text.text], size, text.get("font-weight", "normal"))


def svg(plot) -> ElementTree.Element:
    return ElementTree.fromstring(plot.draw())


def three_marks(root: ElementTree.Element) -> list[ElementTree.Element]:
    """A panel's marks are the group with three uses; the ticks of an axis stand in groups of one."""
    groups = (list(group) for group in root.iter(f"{SVG}g"))
    [marks] = [marks for marks in groups if len(marks) == 3 and all(one.tag == f"{SVG}use" for one in marks)]
    return marks


def places_of(root: ElementTree.Element, *ticks: str) -> list[float]:
    places = {one.text: float(one.get("x")) for one in texts(root)}
    return [places[tick] for tick in ticks]


def test_a_description_says_what_the_picture_says():
    rows = [
        RankedRow(model="A", official=Cell("0.500000"), repaired=Cell(0.55, [0.5, 0.6004]), group="a"),
        RankedRow(model="B"),
    ]
    root = svg(plots.leaderboard(rows, score="F1"))
    assert root[1].text == (
        "A: repaired 55.0 (50.0 to 60.0), official 50.0, group a\nB: repaired without a score, official without a score"
    )
    rows[0] = replace(rows[0], corrected=CorrectedScore(0.45, [0.4, 0.5], None, 9))
    root = svg(plots.leaderboard(rows, score="F1"))
    assert "official 50.0, corrected 45.0 (40.0 to 50.0), group a\nB:" in root[1].text
    assert "Corrected" in [one.text for one in texts(root)]


def test_methods_of_a_model_stand_below_its_name_with_a_mark_beside_each():
    shares = {("A", "plain"): 0.4, ("A", "s2a"): 0.6, ("B", "plain"): 0.5}
    rows = [
        AskedAgain(
            key=model, model=model, kind="model", entrant=None, run="", way=title, title=title, part="Attitude",
            score=Estimate(share, 9) if (share := shares.get((model, title))) else None,
        )
        for model in "AB" for title in ("plain", "s2a")
    ]  # fmt: skip
    labels = {"score": "F1", "parse": "repaired", "part": "genre", "short": {"Attitude": "Att"}}
    root = svg(plots.method_parts(rows, **labels))
    named = [(one.text, one.get("font-weight")) for one in texts(root) if one.get("text-anchor") == "end"]
    assert named == [("A", "700"), ("plain", None), ("s2a", None), ("B", "700"), ("plain", None), ("s2a", None)]
    marks = three_marks(root)
    places = [float(one.get("y")) for one in texts(root) if one.text in ("plain", "s2a")]
    # the fourth method was not asked; a text's y is its base line, a mark's its middle
    assert [float(one.get("y")) for one in marks] == pytest.approx(places[:3], abs=4)
    assert [float(one.get("x")) for one in marks] == pytest.approx(places_of(root, "40", "60", "50"), abs=0.02)


def test_hostile_names_are_only_text():
    root = ElementTree.fromstring(draw("leaderboard", len(HOSTILE)))
    shown = [one.text for one in texts(root)]
    # in order of rows: markup and mathematics as they stand, direction marks and what XML forbids gone
    assert "<script>alert(1)</script>" in shown and "$\\frac{1}{0}$ & %" in shown and "evil مدل" in shown
    assert "ab□" in shown and UNNAMED in shown
    assert not any(one in "".join(shown) for one in "\x00‮\uffff")
    assert len(set(shown)) == len(shown) or len(set(labels(HOSTILE))) == len(HOSTILE)


@pytest.mark.usefixtures("small_fonts")
@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_the_same_data_makes_the_same_bytes_also_in_threads(form):
    """Each beside another one in the second thread; what a figure is made of does not depend on its format, so of pdf
    and png a few are enough."""
    metrics = METRICS if form == "svg" else METRICS[::3]
    alone = {name: draw(name, 2, format=form) for name in metrics}
    with ThreadPoolExecutor(2) as pool:
        others = dict(zip(metrics, pool.map(lambda name: draw(name, 2, format=form), metrics), strict=True))
    assert [name for name in metrics if others[name] != alone[name]] == []
    start = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[form]
    for name, once in alone.items():
        assert once.startswith(start) and b"CreationDate" not in once and b"Matplotlib" not in once, name


def test_marks_and_intervals_stand_where_their_values_are_on_the_axis():
    rows = [RankedRow(model=f"m{at}", repaired=Cell(value)) for at, value in enumerate((0.4, 0.6, 0.5))]
    root = svg(plots.leaderboard(rows, score="F1"))
    marks = three_marks(root)
    assert [float(one.get("x")) for one in marks] == pytest.approx(places_of(root, "40", "60", "50"), abs=0.02)
    heights = [float(one.get("y")) for one in marks]
    assert heights == sorted(heights)
    root = svg(plots.leaderboard([RankedRow(model="m", repaired=Cell(0.5, [0.4, 0.6]))], score="F1"))
    drawn = [re.findall(r"[ML] ([\d.]+) ([\d.]+)", one.get("d", "")) for one in root.iter(f"{SVG}path")]
    lines = [[float(x) for x, _ in ends] for ends in drawn if len(ends) == 2]
    assert any(line == pytest.approx(places_of(root, "40", "60"), abs=0.02) for line in lines)


def test_a_confusion_matrix_prints_counts_and_hides_what_was_never_said():
    rows = [[3, 1200, 0, 0], [1, 1200, 0, 0]]
    gold = ["Explicit", "Implicit"]
    table = {"gold": gold, "said": [*gold, "missing", "illegal"], "rows": rows}
    root = svg(omnitom_plots.confusion(table, dimension="Representation", model="m", parse="official"))
    shown = [one.text for one in texts(root)]
    assert shown.count("1,200") == 2 and {"3", "1"} <= set(shown)
    assert "missing" not in shown and "illegal" not in shown
    assert (
        root[1].text
        == "Explicit (1203 rows): Explicit 3, Implicit 1200\nImplicit (1201 rows): Explicit 1, Implicit 1200"
    )


def test_two_models_are_counted_story_by_story():
    # 3 stories: +20, 0 and −30 points; the fourth lacks a score
    pairs = [(0.7, 0.5), (0.5, 0.5), (0.2, 0.5), (None, 0.5)]
    root = svg(plots.two_models(pairs, first="A", second="B", score="F1"))
    assert root[1].text == "3 stories. A is higher on 1, B on 1, they are equal on the rest."
    assert "A higher: 1; equal: 1; B higher: 1" in " ".join(one.text for one in texts(root))


def test_the_mean_of_two_models_is_that_of_the_stories_that_are_drawn():
    # two stories of both: +20 and 0 points, 10 on average; a third that the second one refused counts as +90: (20 + 0 +
    # 90) / 3
    pairs = [(0.7, 0.5), (0.5, 0.5), (0.9, None)]
    held = Estimate(1.1 / 3, 3, (0.1, 0.7))
    root = svg(plots.two_models(pairs, first="A", second="B", score="F1", difference=held))
    words = " ".join(one.text for one in texts(root))
    assert "mean 10.0 " in f"{words} " and "mean 36.7" not in words
    told = "at their worst the mean is 36.7 (10.0 to 70.0) (1 of 3 stories have no score of both)"
    assert told in words and told in root[1].text
    whole = Estimate(0.1, 2, (0.0, 0.2))
    root = svg(plots.two_models(pairs[:2], first="A", second="B", score="F1", difference=whole))
    assert "mean 10.0 (0.0 to 20.0)" in " ".join(one.text for one in texts(root)) and "worst" not in root[1].text


def test_no_data_says_so():
    no_label = {"labels": ["0"], "gold": [0], "predicted": [0]}
    no_row = {"gold": ["0"], "said": ["0"], "rows": [[0]]}
    for plot in (
        plots.leaderboard([], score="F1"),
        omnitom_plots.f1_by_category([], parse="official"),
        omnitom_plots.by_kind({}, by="role", score="Extraction", parse="official"),
        omnitom_plots.accuracy_by_dimension([], parse="official"),
        omnitom_plots.label_distribution({"Order": no_label}, model="m", parse="repaired"),
        omnitom_plots.match_counts({"m": {"0": 0}}, parse="official"),
        omnitom_plots.confusion(no_row, dimension="Order", model="m", parse="official"),
        omnitom_plots.volume([ModelRow("m", {})], parse="official"),
        plots.two_models([(None, 1.0)], first="a", second="b", score="F1"),
    ):
        assert re.fullmatch(r"No .+\.", texts(svg(plot))[0].text)
    assert plot.draw(format="pdf") and plot.draw(format="png")


def test_the_plot_of_two_models_says_what_its_suite_calls_a_sample():
    sums = {"first": "a", "second": "b", "score": "Right", "noun": ("sum", "sums")}
    for pairs, told in (([(None, 1.0)], "No sum has a score"), ([(1.0, 0.0), (0.0, 0.0)], "Sums by difference")):
        drawn = plots.two_models(pairs, **sums).draw().decode()
        assert told in drawn and "stor" not in drawn


def test_unknown_formats_themes_and_widths_are_refused():
    for how in ({"format": "gif"}, {"theme": "sepia"}, {"width": "poster"}):
        with pytest.raises(KeyError):
            draw("leaderboard", **how)


def test_a_png_has_two_hundred_dots_an_inch():
    # 6.3 in · 200 = 1260, 3.0 in · 200 = 600: the width stands in bytes 16 to 19 (PNG, IHDR)
    for wide, dots in (("page", 1260), ("column", 600)):
        assert int.from_bytes(draw("orders", 2, format="png", width=wide)[16:20], "big") == dots


def test_pdf_fonts_are_those_that_publishers_take_unless_the_glyphs_would_be_lost():
    rows = lambda name: [RankedRow(model=name, official=Cell(0.5), repaired=Cell(0.5))]  # noqa: E731
    latin = plots.leaderboard(rows("Qwen"), score="F1").draw(format="pdf")
    assert b"/Type0" in latin and b"/Type3" not in latin
    if len(families()) == 1:
        pytest.skip("no East Asian font on this machine")
    eastern = plots.leaderboard(rows("通义"), score="F1").draw(format="pdf")
    assert b"/Type3" in eastern and b"/Type0" not in eastern
    assert is_eastern("a通") and not is_eastern("naïve…")


@pytest.mark.parametrize("wide", ["page", "column"])
def test_captions_keep_off_the_edges_of_a_png(wide):
    """Its letters are wider than those that the lines were broken by."""
    names = [f"a-model-of-some-length-{at}" for at in range(3)]
    note = "; ".join(
        f"without figures here: {one} (no usable story: the model refused {at})" for at, one in enumerate(names)
    )
    rows = [ModelRow(one, {"False Belief Task": Cell(0.5)}) for one in names]
    data = omnitom_plots.f1_by_category(rows, parse="repaired").about(note=note).draw(format="png", width=wide)
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("L"), dtype=int)
    edge = 4  # of 200 dots an inch
    assert len(set(pixels[:, :edge].ravel()) | set(pixels[:, -edge:].ravel())) == 1


def test_labels_are_short_printable_and_distinct():
    # 30 widths: 15 of the head, an ellipsis, 14 of the tail
    assert shortened("x" * 20 + "y" * 20, 30) == "x" * 15 + "…" + "y" * 14
    assert width("通义a") == 5 and width("e\u0301") == 1
    found = labels(HOSTILE)
    assert all(text_width([label]) <= ROOM["page"] for label in found) and len(set(found)) == len(found)
    assert max(map(width, found)) == LONGEST
    assert all(text_width([label]) <= ROOM["column"] for label in labels(HOSTILE, ROOM["column"]))
    assert found[5] != found[6]
    assert labels(["same", "same", "same"]) == ["same", "same (2)", "same (3)"]
    assert printable(" a\n\tb\x07 ") == "a b"
    assert printable("e" + "\u0301" * 40) == "é\u0301\u0301"  # one accent in the letter, two upon it


def test_no_axis_names_what_no_score_can_be():
    for value in (0.0, 1.0, 1 + 1e-15, -1e-17):
        rows = [RankedRow(model="m", repaired=Cell(value, [value, value]))]
        found = [one.text for one in texts(svg(plots.leaderboard(rows, score="F1")))]
        assert ("0" in found or "100" in found) and not {"−2", "-2", "102", "105", "−5"} & set(found)


def test_ticks_of_panels_side_by_side_stay_apart():
    names = [f"Category {at}" for at in range(8)]
    rows = [ModelRow("an-organisation/" + "long" * 12, {name: metric(at / 8) for at, name in enumerate(names)})]
    for wide in ("page", "column"):
        root = ElementTree.fromstring(omnitom_plots.f1_by_category(rows, parse="repaired").draw(width=wide))
        lines: dict[str, list[tuple[float, float]]] = {}
        for one in texts(root):
            if (one.text or "").isdecimal():
                start = float(one.get("x")) - taken(one, SMALL) * {"middle": 0.5, "end": 1.0}.get(
                    one.get("text-anchor"), 0
                )
                lines.setdefault(one.get("y"), []).append((start, start + taken(one, SMALL)))
        assert all(len(line) > 2 for line in lines.values())
        assert all(left[1] < right[0] for line in lines.values() for left, right in pairwise(sorted(line)))


def luminance(colour: str) -> float:
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in to_rgb(colour)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


SECOND_SERIES = {"#b57a10", "#efc16a"}
"""Which no chart of a page has."""


@pytest.mark.parametrize("name", THEMES)
def test_colours_are_the_design_systems_and_legible(name):
    theme = THEMES[name]
    pairs = re.findall(r"light-dark\((#\w{6}), (#\w{6})\)", Path("static/credence.css").read_text())
    known = {pair[name == "dark"] for pair in pairs} | SECOND_SERIES
    assert {getattr(theme, field) for field in theme.__slots__} <= known
    # WCAG 2.2: 4.5 for text, 3 for what carries meaning; the ink also on the strongest cell
    assert min(contrast(theme.ink, theme.surface), contrast(theme.soft, theme.surface)) >= 4.5
    assert contrast(theme.ink, theme.tint(STRONGEST)) >= 4.5 and contrast(theme.soft, theme.sunken) >= 4.5
    assert min(contrast(colour, theme.surface) for colour in (theme.chart, theme.second, theme.line_strong)) >= 3


def test_series_differ_without_colour():
    theme = THEMES["light"]
    styles = [Series(key=one, label="", marker=one).style(theme)["marker"] for one in "os^D"]
    assert len(set(styles)) == 4
    root = ElementTree.fromstring(draw("orders", 1))
    shapes = {one.get("d") for one in root.iter(f"{SVG}path") if one.get("id")}
    assert len(shapes) >= 4  # a tick and three marks


def test_every_pair_of_twenty_models_is_a_cell_with_its_points_and_shown_ones_are_bold():
    root = ElementTree.fromstring(draw("pairs", 20))
    cells = [one for one in texts(root) if re.fullmatch(r"\d+", one.text) and one.get("text-anchor") == "middle"]
    heads = [one for one in cells if float(one.get("y")) < 20]
    assert [one.text for one in heads] == [str(at) for at in range(1, 21)]
    told = sorted(int(one.text) for one in cells if one not in heads)
    assert told == sorted(2 * (b - a) for a in range(20) for b in range(a + 1, 20))  # 190 pairs, 2 points a place
    bold = [one for one in cells if one.get("font-weight") in ("bold", "700")]
    assert len(bold) == sum(b - a > 2 for a in range(20) for b in range(a + 1, 20))
    assert "190" not in root[1].text and root[1].text.count("shown to differ") == 190


NAMED = """
import sys
from benchmark.domain.plots import two_models
from benchmark.suites.omnitom.plots import match_counts
plots = two_models([(1.0, 0.0)], first="a", second="b", score="F1"), match_counts({"m": {"0": 1}}, parse="official")
assert len({(plot.name, str(plot.data)) for plot in plots}) == 2
print("matplotlib" in sys.modules)
plots[0].draw()
print("matplotlib" in sys.modules)
"""


def test_which_plot_it_is_and_of_what_is_known_without_matplotlib():
    done = subprocess.run(
        [sys.executable, "-c", NAMED], cwd=Path(__file__).resolve().parents[3], capture_output=True, text=True
    )
    assert done.stdout.split() == ["False", "True"], done.stderr
