from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.report_rows import ParseRows, ReportRow
from benchmark.domain.tables import Column, Source, SourcedRow, Table, to_csv, to_json, to_latex
from benchmark.domain.tables.categories import in_order, short_name_texts
from benchmark.domain.tables.estimates import metric_of
from benchmark.domain.tables.latex import escaped
from benchmark.domain.tables.table import MARKED, MARKED_BY_WORST
from benchmark.suites.omnitom.analyses import stage1_analyses
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, SCHEMA
from benchmark.suites.omnitom.results import Stage1Result
from benchmark.suites.omnitom.tables import dimension_table, main_table, match_count_table, unreadable_table
from benchmark.suites.reports import GroupMetrics, KeptAnalysis
from benchmark.suites.results import EntrantParses, EntrantResults
from benchmark.suites.tombench_tasks import TASKS
from core.plain import plain

HOSTILE = [
    r"a&b%c_d\e$f#g{h}i~j^k",
    "<script>alert('x')</script>",
    "‮evil\u202c مدل عربي",
    '=HYPERLINK("http://x"), "q"',
    "[2] * second line\r\nnext\x00",
    "通义千问 Qwen — naïve 🤖",
    r"\input{/etc/passwd}",
    "",
]
SCORE = Column(key="score", header="F1", unit="%", kind="share", interval="ci", best="high")


def table(*scores, **more) -> Table:
    rows = [{"model": f"m{at}", "score": score, **more} for at, score in enumerate(scores)]
    return Table(title="T", columns=[Column(key="model", header="Model"), SCORE], rows=rows)


def records(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.fixture(scope="module")
def paper() -> dict:
    path = Path(__file__).resolve().parents[4] / "shared/vectors/omnitom/paper_tables.json"
    if not path.is_file():
        pytest.skip("the folder shared/ beside the checkout is absent")
    return json.loads(path.read_text())


def test_nought_has_no_sign():
    assert SCORE.text(-0.00001) == "0.00" and SCORE.text(-0.0001) == "-0.01"
    assert SCORE.interval_text({"ci": [-0.0004, 0.1]}) == "[0.0, 10.0]"


def test_numbers_are_rounded_on_their_decimal_digits():
    # 0.57525 of 1 is 57.525 %; half away from nought, although the double below it would round down
    assert SCORE.text(0.57525) == "57.53" and SCORE.text("0.575250") == "57.53"
    assert SCORE.text(None) == "–" and SCORE.text(0) == "0.00" and SCORE.text(1) == "100.00"
    assert Column(key="n", header="n", kind="count").text(106765) == "106,765"
    assert SCORE.exact(0.1 + 0.2) == Decimal("30.000000000000004")
    assert SCORE.interval_text({"ci": [0.50049, 0.6005]}) == "[50.0, 60.1]"
    kappa = Column(key="k", header="κ", kind="number", interval="ci", digits=3)
    assert kappa.interval_text({"ci": [0.8187, 0.96749]}) == "[0.819, 0.967]", "a tenth would hide where κ lies"
    assert SCORE.interval_text({"ci": None}) == SCORE.interval_text({}) == ""
    with pytest.raises(ValueError, match="not a number"):
        SCORE.text(float("nan"))


def test_best_and_second_are_judged_as_printed_and_ties_share():
    # 60.001 and 60.004 both print 60.00: both best; 59.99 is second; None has no mark
    found = table(0.60001, 0.5999, 0.60004, None, 0.1).marks()
    assert found == {(0, "score"): "best", (2, "score"): "best", (1, "score"): "second"}
    assert table(None, None).marks() == {} == table(0.5).marks() == table(0.0, 0.0, None).marks()


def test_marks_take_what_is_missing_at_its_worst_and_never_the_end_of_a_scale():
    def marked(best, *rows):
        column = replace(SCORE, best=best, bounds="bounds")
        rows = [{"model": f"m{at}", "score": score, "bounds": bounds} for at, (score, bounds) in enumerate(rows)]
        return Table(title="T", columns=[Column(key="model", header="Model"), column], rows=rows)

    # 0 of 20 pairs is unfaithful, as none was read; who has 10 % of all is better than who could have 100 %
    low = marked("low", (0.0, [0.0, 1.0]), (0.1, None), (0.2, [0.1, 0.3]))
    assert low.marks() == {(1, "score"): "best", (2, "score"): "second"} and low.legend == (MARKED_BY_WORST,)
    assert marked("low", (1.0, None), (0.5, None)).marks() == {(1, "score"): "best"}
    high = marked("high", (1.0, [0.1, 1.0]), (0.4, None), (0.0, None))
    assert high.marks() == {(1, "score"): "best", (0, "score"): "second"}
    assert marked("high", (0.0, None), (0.4, None)).marks() == {(1, "score"): "best"}


def test_rows_that_stand_outside_the_ranking_take_no_mark():
    held = table(0.9, 0.6, 0.5)
    source = Source(key="a", kind="model", run="r", run_title="R", entrant=1, group="s", unranked=True)
    rows = [SourcedRow(held.rows[0], source), *held.rows[1:]]
    found = Table(title=held.title, columns=held.columns, rows=rows)
    assert found.marks() == {(1, "score"): "best", (2, "score"): "second"}
    assert MARKED in to_latex(found).decode() and MARKED not in to_latex(found, mark=False).decode()


def test_csv_is_rfc_4180_and_exact():
    data = to_csv(table(0.5497, None, ci=[0.5, 0.6]))
    assert data == b"Model,F1 (%),F1 low (%),F1 high (%)\r\nm0,54.97,50,60\r\nm1,,50,60\r\n"
    # 1/3 of 1: every digit of the double, moved by two places
    assert records(to_csv(table(1 / 3)))[1][1] == "33.33333333333333"
    assert records(to_csv(table(1e-9)))[1][1] == "0.0000001"


def test_hostile_names_come_back_from_csv_and_json():
    rows = [{"model": name, "score": 0.5} for name in HOSTILE]
    held = Table(title="<b>&", columns=[Column(key="model", header="Model"), SCORE], rows=rows)
    names = [row[0] for row in records(to_csv(held))[1:]]
    assert names[3] == "'" + HOSTILE[3]  # a spreadsheet would run it
    names[3] = names[3][1:]
    assert names == HOSTILE
    told = json.loads(to_json(held))
    assert [row["model"] for row in told["rows"]] == HOSTILE and told["title"] == "<b>&"
    assert told["rows"][0]["score"] == 0.5 and told["columns"][1]["kind"] == "share"


def test_latex_by_hand():
    text = to_latex(table(0.5, 0.25, 0.125, ci=[0.1, 0.9]), label="tab:x").decode()
    assert r"\caption{T}\label{tab:x}" in text and r"\begin{tabular}{lr}" in text
    assert r"Model & \multicolumn{1}{c}{F1 (\%)} \\" in text
    assert r"m0 & \textbf{50.00} {\scriptsize {[}10.0, 90.0{]}} \\" in text
    assert r"m1 & \underline{25.00} {\scriptsize" in text and r"m2 & 12.50 {\scriptsize" in text
    bare = to_latex(table(0.5, -0.25, None, ci=[0.1, 0.9]), mark=False, intervals=False).decode()
    assert "m0 & 50.00 \\\\\nm1 & $-$25.00 \\\\\nm2 & -- \\\\\n" in bare and "textbf" not in bare
    with pytest.raises(ValueError, match="not a label"):
        to_latex(table(0.5), label=r"x}\input{y")


def test_latex_escapes_all_that_is_special():
    assert escaped(r"a&b%c_d\e$f#g{h}i~j^k") == (
        r"a\&b\%c\_d\textbackslash{}e\$f\#g\{h\}i\textasciitilde{}j\textasciicircum{}k"
    )
    assert escaped("[x]*--'<>|") == r"{[}x{]}{*}{-}{-}{'}\textless{}\textgreater{}\textbar{}"
    assert escaped("naïve Łódź ‮x\x00\n y") == "naïve Łódź x y"
    assert escaped("字") == r"\credenceglyph{字}{5B57}"
    assert escaped("ệ") == r"\credenceglyph{ệ}{1EC7}"  # two accents, which the plain fonts do not stack


def balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def test_hostile_names_leave_latex_whole():
    rows = [{"model": name, "score": 0.5} for name in HOSTILE]
    text = to_latex(
        Table(title=HOSTILE[0], columns=[Column(key="model", header=HOSTILE[1]), SCORE], rows=rows)
    ).decode()
    assert balanced(text) and not balanced(text + "}")
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().split("\n")
    assert len(body) == len(HOSTILE)
    # one alignment tab and one end of line a row: no name adds a cell, a comment, mathematics or a command
    assert all(len(re.findall(r"(?<!\\)&", line)) == 1 and line.endswith(r" \\") for line in body)
    known = r"\\(textbf|text[a-z]+|credenceglyph|[&%$#_{}\\]|ldots)"
    assert not re.sub(known, "", "".join(body)).count("\\")
    assert not re.search(r"(?<!\\)[%$#_^~]", "".join(body))
    assert "\r" not in text and "\x00" not in text


def report(shares: dict, categories: dict | None = None) -> dict:
    rows = [{"story_category": name, "stories": "9", "f1": value} for name, value in (categories or {}).items()]
    return {"overall": {"stories": "9", **shares}, "by_category": rows}


def fraction(percent: float | None) -> str | None:
    return None if percent is None else f"{percent / 100:.6f}"


def entrant(model: str, parses: dict | None = None, analysis: dict | None = None) -> EntrantResults:
    """A model with figures by parse, and with analyses of both parses."""
    rows = {name: ParseRows.from_json(figures) for name, figures in (parses or {}).items()}
    kept = analysis and KeptAnalysis(plain(analysis))
    return EntrantResults(
        key=model, name=model, model=model, own="", kind="model", run="r", run_title="R", entrant=1,
        at=datetime(2025, 1, 1, tzinfo=UTC), metrics=GroupMetrics(analyses={"official": kept, "repaired": kept}),
        parses=EntrantParses(**rows),
    )  # fmt: skip


def paper_figures(row: dict) -> dict[str, dict | None]:
    full = {short: name for name, short in TASKS.items()}
    first, second = row["stage1"], row["stage2"]
    # as the paper's table calls the dimensions
    keys = dict(
        zip(("Order", "Status", "Access", "Repr", "CType", "Source", "Context"), OMNITOM_SCHEME.shares[1:], strict=True)
    )
    shares = {keys[name]: fraction(value) for name, value in second.items() if name != "Overall"}
    by_category = {full[name]: fraction(value) for name, value in first.items() if name != "Overall"}
    overall = {
        "f1_category_mean": fraction(first["Overall"]),
        "f1": fraction(row.get("check_stage1_weighted_by_story_counts")),
    }
    return {
        "stage1": report(overall, by_category) if first["Overall"] else None,
        "stage2": report(shares | {"overall_accuracy": fraction(second["Overall"])}),
    }


def test_table_3_of_the_paper_is_printed_and_marked_as_it_should_be(paper):
    rows = paper["table_3"]["rows"]
    figures = {row["model"]: paper_figures(row) for row in rows}
    groups = {
        group: [entrant(model, {"official": of[group]}) for model, of in figures.items() if of[group]]
        for group in ("stage1", "stage2")
    }
    found = main_table(groups, "official")
    at_row = {row["model"]: at for at, row in enumerate(found.rows)}
    order = [*TASKS.values(), "Overall"]
    keys = [*(f"f1 {name}" for name in TASKS), "f1_category_mean"]
    marks = found.marks()
    column = {one.key: one for one in found.columns}
    wrongly_marked = {("Mistral-Small 24B", "PST"), ("Mistral-Small 24B", "SIT")}  # errata of the printed table
    for row in rows:
        at = at_row[row["model"]]
        for name, key in zip(order, keys, strict=True):
            value = row["stage1"][name]
            assert column[key].text(found.rows[at].get(key)) == ("–" if value is None else f"{value:.2f}")
            if (row["model"], name) not in wrongly_marked:
                assert marks.get((at, key)) == row["marks"]["stage1"].get(name), (row["model"], name)
        assert column["overall_accuracy"].text(found.rows[at]["overall_accuracy"]) == f"{row['stage2']['Overall']:.2f}"
        assert marks.get((at, "overall_accuracy")) == row["marks"]["stage2"].get("Overall")
    # the printed overall of Gemini is the mean of categories, 54.97; over stories it would be 55.75
    assert [column[key].text(found.rows[0][key]) for key in ("f1_category_mean", "f1")] == ["54.97", "55.75"]
    text = to_latex(found).decode()
    assert balanced(text) and text.count(r"\begin{table*}") == 1
    assert r"\cmidrule(lr){2-10}\cmidrule(lr){11-18}" in text
    heads = ["Model", "Stage 1: extraction F1 (%): AST", "Stage 1: extraction F1 (%): FBT"]
    assert records(to_csv(found))[0][:3] == heads


def test_the_repaired_reading_has_its_intervals_where_there_are_some():
    shares = {"f1": 0.5, "interval": {"f1": [0.4, 0.6], "f1_category_mean": None}}
    run = entrant("m", {"repaired": {"overall": shares, "by_category": []}})
    found = main_table({"stage1": [run], "stage2": []}, "repaired")
    intervals = {one.key: one.interval for one in found.columns if one.interval}
    assert intervals == {"f1": "f1_interval"}
    assert records(to_csv(found))[1][:5] == ["m", "", "50", "40", "60"]
    # no categories: model, two averages, seven dimensions and their mean are 11 columns, so the interval stands below
    assert r"m & -- & 50.00 & -- " in (text := to_latex(found).decode())
    assert r" &  & {\tiny {[}40.0, 60.0{]}} & " in text


def test_table_10_of_the_paper_compares_within_a_dimension(paper):
    full = {short: name for name, short in TASKS.items()}
    shares = {SCHEMA[name].name.lower(): OMNITOM_SCHEME.share_of(name) for name in OMNITOM_SCHEME.keys}
    printed = {name.lower(): models for name, models in paper["table_10"]["dimensions"].items()}
    held: dict = {}
    for dimension, models in printed.items():
        for model, row in models.items():
            for name, value in row["values"].items():
                values = held.setdefault(model, {}).setdefault(full[name], {})
                values[shares[dimension]] = None if value is None else value / 100
    rows = {
        model: [{"story_category": name, "stories": 9, **values} for name, values in categories.items()]
        for model, categories in held.items()
    }
    entrants = [entrant(model, {"official": {"overall": {}, "by_category": of}}) for model, of in rows.items()]
    found = dimension_table(entrants, "official")
    assert len(found.rows) == 7 * len(held)
    marks = found.marks()
    wrong = []
    for at, row in enumerate(found.rows):
        told = printed[row["dimension"].lower()][row["model"]]
        for column in found.columns[1:]:
            short = column.header
            assert column.text(row[column.key]) == f"{told['values'][short]:.2f}"
            if marks.get((at, column.key)) != told["marks"].get(short):
                wrong.append((row["dimension"], row["model"], short))
    assert wrong == []
    assert records(to_csv(found))[0][0] == "dimension"


def test_table_11_of_the_paper_adds_up(paper):
    entrants = []
    for row in paper["table_11"]:
        if row["model"] != "Total":
            counts = tuple(count for count in range(5) for _ in range(row[f"mc{count}"]))
            analyses = stage1_analyses([Stage1Result(1, "A", counts, (1,), ("1",))], resamples=2)
            entrants.append(entrant(row["model"], analysis=analyses))
    found = match_count_table(entrants, "official")
    # the paper's last line: 38,874 63,341 3,683 833 34 106,765
    [total] = found.totals
    counts = [column for column in found.columns if not column.key.endswith("share")]
    printed = ["Total", "38,874", "63,341", "3,683", "833", "34", "106,765"]
    assert [column.text(total[column.key]) for column in counts] == printed
    assert to_latex(found).decode().count(r"\textbf{106,765}") == 1


def test_table_12_by_hand():
    # 62 of 895 = 6.927 %, 129 of 895 = 14.413 %
    def held(model: str, unreadable: int, parts: dict) -> EntrantResults:
        share, reasons = BoundedEstimate(unreadable / 895, 895, [0.05, 0.09]), {"no readable row": unreadable}
        outputs = {"share": share, "unreadable": unreadable, "reasons": reasons, "without": parts}
        return entrant(model, analysis={"outputs": outputs})

    judgements = {"the judge refused": 2, "no judgement": 1}
    groups = {
        "stage1": [held("Qwen3 8B", 62, {"calls": {}, "judgements": judgements, "rows": {"left out": 5}})],
        "stage2": [held("Qwen3 8B", 129, {"calls": {"the call failed": 4}}), held("GPT-5", 16, {"calls": {}})],
    }
    found = unreadable_table(groups, "repaired")
    shown = [[column.text(row.get(column.key)) for column in found.columns] for row in found.rows]
    # a group: share, unreadable, answers, calls without an answer, and of stage 1 extractions and rows without a
    # judgement
    assert shown == [
        ["Qwen3 8B", "6.93", "62", "895", "0", "3", "5", "14.41", "129", "895", "4"],
        ["GPT-5", "–", "–", "–", "–", "–", "–", "1.79", "16", "895", "0"],
    ]
    assert found.columns[1].interval_text(found.rows[0]) == "[5.0, 9.0]"


def test_an_estimate_is_printed_with_its_interval_and_n():
    column = Column(key="a", header="A", kind="share", interval="a interval", n="a n", digits=1)
    rows = [{"a": 0.5, "a interval": [0.4, 0.6], "a n": 1200}, {"a": None, "a interval": None, "a n": 0}]
    table = Table(title="t", columns=[column], rows=rows)
    assert [column.interval_text(row) for row in rows] == ["[40, 60] n = 1,200", "n = 0"]
    assert records(to_csv(table)) == [["A", "A low", "A high", "A n"], ["50", "40", "60", "1200"], ["", "", "", "0"]]
    assert b'"a n": 1200' in to_json(table)


def test_a_dash_stands_for_an_interval_with_its_reason_in_every_form():
    rows = [
        {"model": "m", "score": 0.5, "ci": [0.4, 0.6]},
        {"model": "n", "score": 0.4, "ci": None, "ci_reason": "an interval needs at least 5 stories"},
        {"model": "o", "score": None, "ci": None, "ci_reason": "no usable story"},
    ]
    held = Table(title="T", columns=[Column(key="model", header="Model"), SCORE], rows=rows)
    assert [SCORE.interval_text(row) for row in rows] == ["[40.0, 60.0]", "[–]", ""]
    assert held.dashes == ("No interval [–]: an interval needs at least 5 stories.",)
    head, *lines = records(to_csv(held))
    assert head == ["Model", "F1 (%)", "F1 low (%)", "F1 high (%)", "F1 no interval because"]
    assert [line[-1] for line in lines] == ["", "an interval needs at least 5 stories", ""]
    told = json.loads(to_json(held))
    assert [row.get("ci_reason") for row in told["rows"]] == [
        None,
        "an interval needs at least 5 stories",
        "no usable story",
    ]
    assert held.dashes[0] in told["notes"]
    text = to_latex(held).decode()
    assert r"n & \underline{40.00} {\scriptsize {[}--{]}} \\" in text and escaped(held.dashes[0]) in text
    assert "No interval" not in to_latex(held, intervals=False).decode()


def test_categories_that_a_suite_names_stand_first_and_in_its_order():
    short = {"Second": "S", "First": "F"}
    held = in_order(["Zebra", "First", "Apple", "Second", "First"], short)
    assert held == ["Second", "First", "Apple", "Zebra"]
    assert short_name_texts(held, short) == ["S Second; F First."] and short_name_texts(["Apple"], short) == []
    assert short_name_texts(["Fact", "Second"], {"Fact": "Fact", "Second": "S"}) == ["S Second."], (
        "a name that is its own short name needs no word"
    )


def test_a_figure_of_a_report_has_its_interval_or_says_why_not():
    row = ReportRow(
        stories=9,
        values={"f1": 0.5, "recall": 0.4},
        intervals={"f1": [0.4, 0.6]},
        bounds={"f1": [0.3, 0.7], "recall": [0.4, 0.4]},
    )
    assert plain(metric_of(row, "f1")) == {"value": 0.5, "interval": [0.4, 0.6], "bounds": [0.3, 0.7]}
    assert metric_of(replace(row, reasons={"recall": "all alike"}), "recall").reason == "all alike"
    assert plain(metric_of(row, "recall")) == {"value": 0.4, "interval": None}
    assert (row.worst_of("f1"), row.worst_of("precision")) == (0.3, None)


def test_a_long_table_is_looked_through_for_bounds_a_few_times_alone(monkeypatch):
    """As JSON of every story: once a row made a file of 13,708 rows take as many looks at all of them."""
    looks = []
    bounded = Table.bounded
    monkeypatch.setattr(Table, "bounded", property(lambda table: looks.append(1) or bounded.fget(table)))
    columns = [Column(key="model", header="Model"), Column(key="a", header="A", kind="share", bounds="a bounds")]
    rows = [{"model": f"m{at}", "a": 0.5} for at in range(40)]
    rows[7]["a bounds"] = [0.4, 0.6]
    told = json.loads(to_json(Table(title="Long", columns=columns, rows=rows)))
    assert told["rows"][7]["a bounds"] == [0.4, 0.6] and "a bounds" in told["rows"][8]
    assert len(looks) <= 1 + len(columns)
