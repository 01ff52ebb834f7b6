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
from benchmark.domain.plots import text as texts_of_plots
from benchmark.domain.plots.dots import Series
from benchmark.domain.plots.heat import STRONGEST
from benchmark.domain.plots.text import ROOM, SMALL, THEMES, WIDTHS, labels, text_width
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


def metric(value: float) -> Estimate:
    return Estimate(value, 9, [value - 0.03, min(1, value + 0.03)])


def asked_again(key: str, model: str, title: str, part: str, score: Estimate | None) -> AskedAgain:
    return AskedAgain(
        key=key, model=model, kind="model", entrant=None, run="", way=title, title=title, part=part, score=score
    )


def made(n: int) -> dict:
    """Every figure over n models as {name: (function, data, named arguments)}."""
    rng = np.random.default_rng(n)
    models = [HOSTILE[at] if at < len(HOSTILE) else f"Model {at}" for at in range(n)]
    places = range(n)

    def rows(keys, least=0.0, most=1.0) -> list[ModelRow]:
        return [ModelRow(model, spread(keys), overall=float(rng.uniform(least, most))) for model in models]

    def spread(keys) -> dict[str, Estimate]:
        return {key: metric(float(rng.uniform(0.1, 0.95))) for key in keys}

    values = SCHEMA["content_type"].values
    said = (*values, "missing", "illegal")
    counts = [[int(rng.integers(9, 4000)) for _ in said] for _ in values]
    counted = {
        SCHEMA[name].name: {
            "labels": (own := SCHEMA[name].values), "gold": rng.integers(1, 900, len(own)).tolist(),
            "predicted": rng.integers(1, 900, len(own)).tolist(), "gold_ends": [[0.1, 0.2]] * len(own),
            "ends": [[0.05, 0.3]] * len(own), "reasons": [""] * len(own), "gold_reasons": [""] * len(own),
        }
        for name in DIMENSIONS
    }  # fmt: skip
    ranked = [RankedRow(model=model, **spread(("official", "repaired")), group="ab") for model in models]
    leads = [[Lead(value=0.02 * (b - a), significant=b - a > 2) if b > a else None for b in places] for a in places]
    matches = {model: {**{str(at): int(rng.integers(0, 9000)) for at in range(4)}, "4+": 3} for model in models}
    methods = [
        asked_again(str(at), model, title, part, metric(float(rng.uniform(0.1, 0.95))))
        for part in ("Coarse location, first order", "Attitude")
        for at, model in enumerate(models)
        for title in ("plain", "chain of thought", "PercepToM with the true perceptions")
    ]
    pairs = [tuple(pair) for pair in rng.uniform(0, 1, (60, 2))] + [(None, 0.5), (float("nan"), 0.1)]
    volumes = rows(("precision", "recall", "f1"), 5, 40)
    orders, official, repaired = rows(("0", "1", "2+")), {"parse": "official"}, {"parse": "repaired"}
    score, sides = {"score": "Stage 1 F1"}, {"first": models[0], "second": models[-1], "difference": metric(0.02)}
    return {
        "leaderboard": (plots.leaderboard, ranked, score),
        "pairs": (plots.pair_matrix, models, {"cells": leads} | score | repaired),
        "category": (omnitom_plots.f1_by_category, rows(TASKS), official),
        "orders": (
            omnitom_plots.by_kind, {"F1": orders, "Recall": orders[:1]},
            {"by": "order", "score": "Extraction"} | repaired,
        ),
        "dimension": (omnitom_plots.accuracy_by_dimension, rows(DIMENSIONS), official),
        "labels": (omnitom_plots.label_distribution, counted, {"model": models[-1]} | repaired),
        "matches": (omnitom_plots.match_counts, matches, repaired),
        "confusion": (
            omnitom_plots.confusion, {"gold": values, "said": said, "rows": counts},
            {"dimension": "Content type", "model": models[0]} | official,
        ),
        "volume": (omnitom_plots.volume, volumes, official),
        "method_parts": (
            plots.method_parts, methods, {"score": "Macro F1", "part": "genre", "short": {"Attitude": "Att"}} | repaired
        ),
        "two": (plots.two_models, pairs, score | sides),
    }  # fmt: skip


METRICS = list(made(1))


def draw(name: str, n: int = 2, **how) -> bytes:
    function, data, named = made(n)[name]
    return function(data, **named).draw(**how)


def svg(drawn) -> ElementTree.Element:
    return ElementTree.fromstring(drawn if isinstance(drawn, bytes) else drawn.draw())


def leaderboard(*rows: RankedRow) -> ElementTree.Element:
    return svg(plots.leaderboard([*rows], score="F1"))


def texts(root: ElementTree.Element) -> list[ElementTree.Element]:
    return list(root.iter(f"{SVG}text"))


def words(root: ElementTree.Element) -> str:
    return " ".join(one.text or "" for one in texts(root))


def span(text: ElementTree.Element) -> tuple[float, float]:
    """From where to where a text is drawn."""
    size = float(text.get("font-size").removesuffix("px"))
    long = text_width([text.text], size, text.get("font-weight", "normal"))
    start = float(text.get("x")) - {"middle": long / 2, "end": long}.get(text.get("text-anchor"), 0)
    return start, start + long


PARTS = {"svg", "title", "desc", "g", "path", "defs", "use", "text", "clipPath", "rect"}


@pytest.mark.parametrize("name", METRICS)
def test_an_svg_is_text_that_fits_and_refers_to_nothing_outside(name):
    for n, wide in ((1, "page"), (2, "column"), (20, "page"), (20, "column")):
        data = draw(name, n, width=wide)
        root = svg(data)
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
        box = [float(part) for part in root.get("viewBox").split()]
        assert box[2] == pytest.approx(WIDTHS[wide], abs=0.1)
        for one in texts(root):
            assert float(one.get("font-size").removesuffix("px")) >= SMALL
            if "rotate(-90" not in one.get("transform", ""):
                start, end = span(one)
                assert start >= -0.5 and end <= box[2] + 0.5 and 0 < float(one.get("y")) <= box[3] + 0.5, one.text


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


def test_a_description_says_what_the_picture_says():
    row = RankedRow(model="A", official=Cell("0.500000"), repaired=Cell(0.55, [0.5, 0.6004]), group="a")
    assert leaderboard(row, RankedRow(model="B"))[1].text == (
        "A: repaired 55.0 (50.0 to 60.0), official 50.0, group a\nB: repaired without a score, official without a score"
    )
    root = leaderboard(replace(row, corrected=CorrectedScore(0.45, [0.4, 0.5], None, 9)), RankedRow(model="B"))
    assert "official 50.0, corrected 45.0 (40.0 to 50.0), group a\nB:" in root[1].text
    assert "Corrected" in [one.text for one in texts(root)]
    # a confusion matrix prints counts and hides what was never said
    gold = ["Explicit", "Implicit"]
    table = {"gold": gold, "said": [*gold, "missing", "illegal"], "rows": [[3, 1200, 0, 0], [1, 1200, 0, 0]]}
    root = svg(omnitom_plots.confusion(table, dimension="Representation", model="m", parse="official"))
    shown = [one.text for one in texts(root)]
    assert shown.count("1,200") == 2 and {"3", "1"} <= set(shown) and not {"missing", "illegal"} & set(shown)
    explicit, implicit = root[1].text.split("\n")
    assert explicit == "Explicit (1203 rows): Explicit 3, Implicit 1200"
    assert implicit == "Implicit (1201 rows): Explicit 1, Implicit 1200"


def three_marks(root: ElementTree.Element) -> list[ElementTree.Element]:
    """A panel's marks are the group with three uses; the ticks of an axis stand in groups of one."""
    groups = (list(group) for group in root.iter(f"{SVG}g"))
    [marks] = [marks for marks in groups if len(marks) == 3 and all(one.tag == f"{SVG}use" for one in marks)]
    return marks


def places_of(root: ElementTree.Element, *ticks: str) -> list[float]:
    places = {one.text: float(one.get("x")) for one in texts(root)}
    return [pytest.approx(places[tick], abs=0.02) for tick in ticks]


def test_marks_and_intervals_stand_where_their_values_are_on_the_axis():
    root = leaderboard(*(RankedRow(model=f"m{at}", repaired=Cell(at)) for at in (0.4, 0.6, 0.5)))
    marks = three_marks(root)
    assert [float(one.get("x")) for one in marks] == places_of(root, "40", "60", "50")
    heights = [float(one.get("y")) for one in marks]
    assert heights == sorted(heights)
    root = leaderboard(RankedRow(model="m", repaired=Cell(0.5, [0.4, 0.6])))
    drawn = [re.findall(r"[ML] ([\d.]+) ([\d.]+)", one.get("d", "")) for one in root.iter(f"{SVG}path")]
    assert any([float(x) for x, _ in ends] == places_of(root, "40", "60") for ends in drawn if len(ends) == 2)
    # methods of a model stand below its name with a mark beside each; the fourth was not asked
    shares = {("A", "plain"): 0.4, ("A", "s2a"): 0.6, ("B", "plain"): 0.5}
    rows = [
        asked_again(model, model, title, "Attitude", Estimate(shares[model, title], 9) if title in of else None)
        for model, of in (("A", ("plain", "s2a")), ("B", ("plain",)))
        for title in ("plain", "s2a")
    ]
    root = svg(plots.method_parts(rows, score="F1", parse="repaired", part="genre", short={"Attitude": "Att"}))
    named = [(one.text, one.get("font-weight")) for one in texts(root) if one.get("text-anchor") == "end"]
    assert named == [("A", "700"), ("plain", None), ("s2a", None), ("B", "700"), ("plain", None), ("s2a", None)]
    marks = three_marks(root)
    places = [float(one.get("y")) for one in texts(root) if one.text in ("plain", "s2a")]
    # a text's y is its base line, a mark's its middle
    assert [float(one.get("y")) for one in marks] == pytest.approx(places[:3], abs=4)
    assert [float(one.get("x")) for one in marks] == places_of(root, "40", "60", "50")


def test_every_pair_of_twenty_models_is_a_cell_with_its_points_and_shown_ones_are_bold():
    root = svg(draw("pairs", 20))
    cells = [one for one in texts(root) if re.fullmatch(r"\d+", one.text) and one.get("text-anchor") == "middle"]
    heads = [one for one in cells if float(one.get("y")) < 20]
    assert [one.text for one in heads] == [str(at) for at in range(1, 21)]
    leads = [b - a for a in range(20) for b in range(a + 1, 20)]  # 190 pairs, 2 points a place
    assert sorted(int(one.text) for one in cells if one not in heads) == sorted(2 * lead for lead in leads)
    bold = [one for one in cells if one.get("font-weight") in ("bold", "700")]
    assert len(bold) == sum(lead > 2 for lead in leads)
    assert "190" not in root[1].text and root[1].text.count("shown to differ") == 190


def test_two_models_are_counted_and_their_mean_is_that_of_the_stories_that_are_drawn():
    def drawn(pairs, **named) -> ElementTree.Element:
        return svg(plots.two_models(pairs, **{"first": "A", "second": "B", "score": "F1"} | named))

    # 3 stories: +20, 0 and −30 points; the fourth lacks a score
    root = drawn([(0.7, 0.5), (0.5, 0.5), (0.2, 0.5), (None, 0.5)])
    assert root[1].text == "3 stories. A is higher on 1, B on 1, they are equal on the rest."
    assert "A higher: 1; equal: 1; B higher: 1" in words(root)
    # two stories of both: +20 and 0 points, 10 on average; a third that the second one refused counts as +90: (20 + 0 +
    # 90) / 3
    pairs = [(0.7, 0.5), (0.5, 0.5), (0.9, None)]
    root = drawn(pairs, difference=Estimate(1.1 / 3, 3, (0.1, 0.7)))
    assert "mean 10.0 " in f"{words(root)} " and "mean 36.7" not in words(root)
    told = "at their worst the mean is 36.7 (10.0 to 70.0) (1 of 3 stories have no score of both)"
    assert told in words(root) and told in root[1].text
    root = drawn(pairs[:2], difference=Estimate(0.1, 2, (0.0, 0.2)))
    assert "mean 10.0 (0.0 to 20.0)" in words(root) and "worst" not in root[1].text
    # they are what their suite calls a sample
    for pairs, told in (([(None, 1.0)], "No sum has a score"), ([(1.0, 0.0), (0.0, 0.0)], "Sums by difference")):
        root = drawn(pairs, noun=("sum", "sums"))
        assert told in words(root) and "stor" not in words(root) + root[1].text


def test_no_data_says_so_and_what_is_not_known_is_refused():
    no_label, no_row = {"labels": ["0"], "gold": [0], "predicted": [0]}, {"gold": ["0"], "said": ["0"], "rows": [[0]]}
    official = {"parse": "official"}
    for plot in (
        plots.leaderboard([], score="F1"),
        omnitom_plots.f1_by_category([], **official),
        omnitom_plots.by_kind({}, by="role", score="Extraction", **official),
        omnitom_plots.accuracy_by_dimension([], **official),
        omnitom_plots.label_distribution({"Order": no_label}, model="m", parse="repaired"),
        omnitom_plots.match_counts({"m": {"0": 0}}, **official),
        omnitom_plots.confusion(no_row, dimension="Order", model="m", **official),
        omnitom_plots.volume([ModelRow("m", {})], **official),
        plots.two_models([(None, 1.0)], first="a", second="b", score="F1"),
    ):
        assert re.fullmatch(r"No .+\.", texts(svg(plot))[0].text)
    assert plot.draw(format="pdf") and plot.draw(format="png")
    for how in ({"format": "gif"}, {"theme": "sepia"}, {"width": "poster"}):
        with pytest.raises(KeyError):
            draw("leaderboard", **how)


def test_a_png_has_two_hundred_dots_an_inch_and_captions_keep_off_its_edges():
    """Its letters are wider than those that the lines were broken by."""
    names = [f"a-model-of-some-length-{at}" for at in range(3)]
    absent = [f"{one} (no usable story: the model refused {at})" for at, one in enumerate(names)]
    note = "; ".join(f"without figures here: {one}" for one in absent)
    rows = [ModelRow(one, {"False Belief Task": Cell(0.5)}) for one in names]
    for wide, dots in (("page", 1260), ("column", 600)):  # 6.3 in · 200, 3.0 in · 200
        data = omnitom_plots.f1_by_category(rows, parse="repaired").about(note=note).draw(format="png", width=wide)
        pixels = np.asarray(Image.open(io.BytesIO(data)).convert("L"), dtype=int)
        assert pixels.shape[1] == dots
        assert len(set(pixels[:, :4].ravel()) | set(pixels[:, -4:].ravel())) == 1


def test_pdf_fonts_are_those_that_publishers_take_unless_the_glyphs_would_be_lost():
    def pdf(name: str) -> bytes:
        return plots.leaderboard([RankedRow(model=name, official=Cell(0.5))], score="F1").draw(format="pdf")

    latin = pdf("Qwen")
    assert b"/Type0" in latin and b"/Type3" not in latin
    if len(texts_of_plots.families()) == 1:
        pytest.skip("no East Asian font on this machine")
    eastern = pdf("通义")
    assert b"/Type3" in eastern and b"/Type0" not in eastern
    assert texts_of_plots.is_eastern("a通") and not texts_of_plots.is_eastern("naïve…")


def test_labels_are_short_printable_and_distinct():
    # 30 widths: 15 of the head, an ellipsis, 14 of the tail
    assert texts_of_plots.shortened("x" * 20 + "y" * 20, 30) == "x" * 15 + "…" + "y" * 14
    assert texts_of_plots.width("通义a") == 5 and texts_of_plots.width("e\u0301") == 1
    found = labels(HOSTILE)
    assert len(set(found)) == len(found) and found[5] != found[6]
    assert max(map(texts_of_plots.width, found)) == texts_of_plots.LONGEST
    for wide in ("page", "column"):
        assert all(text_width([label]) <= ROOM[wide] for label in labels(HOSTILE, ROOM[wide]))
    assert labels(["same", "same", "same"]) == ["same", "same (2)", "same (3)"]
    assert texts_of_plots.printable(" a\n\tb\x07 ") == "a b"
    # one accent in the letter, two upon it
    assert texts_of_plots.printable("e" + "\u0301" * 40) == "é\u0301\u0301"
    # hostile names are only text: markup and mathematics as they stand, direction marks and what XML forbids gone
    shown = [one.text for one in texts(svg(draw("leaderboard", len(HOSTILE))))]
    assert {"<script>alert(1)</script>", "$\\frac{1}{0}$ & %", "evil مدل", "ab□", texts_of_plots.UNNAMED} <= {*shown}
    assert not any(one in "".join(shown) for one in "\x00‮\uffff")


def test_ticks_are_what_a_score_can_be_and_stay_apart():
    for value in (0.0, 1.0, 1 + 1e-15, -1e-17):
        found = {one.text for one in texts(leaderboard(RankedRow(model="m", repaired=Cell(value, [value, value]))))}
        assert {"0", "100"} & found and not {"−2", "-2", "102", "105", "−5"} & found
    scores = {f"Category {at}": metric(at / 8) for at in range(8)}
    plot = omnitom_plots.f1_by_category([ModelRow("an-organisation/" + "long" * 12, scores)], parse="repaired")
    for wide in ("page", "column"):
        lines: dict[str, list[tuple[float, float]]] = {}
        for one in texts(svg(plot.draw(width=wide))):
            if (one.text or "").isdecimal():
                lines.setdefault(one.get("y"), []).append(span(one))
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


def test_colours_are_the_design_systems_and_legible_and_series_differ_without_them():
    pairs = re.findall(r"light-dark\((#\w{6}), (#\w{6})\)", Path("static/credence.css").read_text())
    for name, theme in THEMES.items():
        known = {pair[name == "dark"] for pair in pairs} | SECOND_SERIES
        assert {getattr(theme, field) for field in theme.__slots__} <= known
        # WCAG 2.2: 4.5 for text, 3 for what carries meaning; the ink also on the strongest cell
        assert min(contrast(theme.ink, theme.surface), contrast(theme.soft, theme.surface)) >= 4.5
        assert contrast(theme.ink, theme.tint(STRONGEST)) >= 4.5 and contrast(theme.soft, theme.sunken) >= 4.5
        assert min(contrast(colour, theme.surface) for colour in (theme.chart, theme.second, theme.line_strong)) >= 3
    assert len({Series(key=one, label="", marker=one).style(THEMES["light"])["marker"] for one in "os^D"}) == 4
    shapes = {one.get("d") for one in svg(draw("orders", 1)).iter(f"{SVG}path") if one.get("id")}
    assert len(shapes) >= 4  # a tick and three marks


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
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", NAMED], cwd=root, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done.stderr
