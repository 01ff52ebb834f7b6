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
from benchmark.domain.report_rows import BothParses, ParseRows, ReportRow
from benchmark.domain.tables import (
    OF,
    Cell,
    Column,
    Source,
    Table,
    in_order,
    share_column,
    short_name_texts,
    to_csv,
    to_json,
    to_latex,
)
from benchmark.domain.tables.latex import escaped
from benchmark.domain.tables.table import MARKED, MARKED_BY_WORST
from benchmark.suites.omnitom.analyses import stage1_analyses
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, SCHEMA
from benchmark.suites.omnitom.results import Stage1Result
from benchmark.suites.omnitom.tables import dimension_table, main_table, match_count_table, unreadable_table
from benchmark.suites.reports import GroupMetrics, KeptAnalysis
from benchmark.suites.results import EntrantResults
from benchmark.suites.tombench_tasks import TASKS
from benchmark.views.tables import LEGEND_LENGTH, page_table
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
SCORE = share_column("score", "F1")
MODEL = Column(key="model", header="Model")


def table(*cells, column=SCORE) -> Table:
    rows = [{"model": f"m{at}", "score": cell} for at, cell in enumerate(cells)]
    return Table(title="T", columns=[MODEL, column], rows=rows)


def text(value, column=SCORE) -> str:
    return column.text({column.key: value})


def aside(interval, column=SCORE) -> str:
    return column.aside({column.key: Cell(0.5, interval)})


def records(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.fixture(scope="module")
def paper() -> dict:
    path = Path(__file__).resolve().parents[4] / "shared/vectors/omnitom/paper_tables.json"
    if not path.is_file():
        pytest.skip("the folder shared/ beside the checkout is absent")
    return json.loads(path.read_text())


def test_numbers_are_rounded_on_their_decimal_digits():
    # 0.57525 of 1 is 57.525 %; half away from zero, although the double below it would round down
    assert text(0.57525) == "57.53" and text("0.575250") == "57.53"
    assert text(None) == "–" and text(0) == "0.00" and text(1) == "100.00"
    assert text(-0.00001) == "0.00" and text(-0.0001) == "-0.01", "zero has no sign"
    assert text(106765, Column(key="n", header="n", kind="count")) == "106,765"
    assert SCORE.exact(0.1 + 0.2) == Decimal("30.000000000000004")
    assert aside([0.50049, 0.6005]) == "[50.0, 60.1]" and aside([-0.0004, 0.1]) == "[0.0, 10.0]" and aside(None) == ""
    kappa = Column(key="k", header="κ", kind="number", digits=3)
    assert aside([0.8187, 0.96749], kappa) == "[0.819, 0.967]", "a tenth would hide where κ lies"
    with pytest.raises(ValueError, match="not a number"):
        text(float("nan"))


def test_best_and_second_are_judged_as_printed_and_ties_share():
    # 60.001 and 60.004 both print 60.00: both best; 59.99 is second; None has no mark
    found = table(0.60001, 0.5999, 0.60004, None, 0.1).marks()
    assert found == {(0, "score"): "best", (2, "score"): "best", (1, "score"): "second"}
    assert table(None, None).marks() == {} == table(0.5).marks() == table(0.0, 0.0, None).marks()


def test_marks_take_what_is_missing_at_its_worst_and_never_the_end_of_a_scale():
    def marked(best, *rows):
        cells = [Cell(score, bounds=bounds) for score, bounds in rows]
        return table(*cells, column=replace(SCORE, best=best))

    # 0 of 20 pairs is unfaithful, as none was read; who has 10 % of all is better than who could have 100 %
    low = marked("low", (0.0, [0.0, 1.0]), (0.1, None), (0.2, [0.1, 0.3]))
    assert low.marks() == {(1, "score"): "best", (2, "score"): "second"} and low.legend == (MARKED_BY_WORST,)
    assert marked("low", (1.0, None), (0.5, None)).marks() == {(1, "score"): "best"}
    high = marked("high", (1.0, [0.1, 1.0]), (0.4, None), (0.0, None))
    assert high.marks() == {(1, "score"): "best", (0, "score"): "second"}
    assert marked("high", (0.0, None), (0.4, None)).marks() == {(1, "score"): "best"}


def test_rows_that_stand_outside_the_ranking_take_no_mark():
    held = table(0.9, 0.6, 0.5)
    source = Source(key="a", kind="model", run="r", entrant=1, group="s", unranked=True)
    found = replace(held, rows=[{**held.rows[0], OF: source}, *held.rows[1:]])
    assert found.marks() == {(1, "score"): "best", (2, "score"): "second"}
    assert MARKED in to_latex(found).decode() and MARKED not in to_latex(found, mark=False).decode()


def test_csv_is_rfc_4180_and_exact():
    data = to_csv(table(Cell(0.5497, [0.5, 0.6]), None))
    assert data == b"Model,F1 (%),F1 low (%),F1 high (%)\r\nm0,54.97,50,60\r\nm1,,,\r\n"
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
    text = to_latex(table(*(Cell(score, [0.1, 0.9]) for score in (0.5, 0.25, 0.125))), label="tab:x").decode()
    assert r"\caption{T}\label{tab:x}" in text and r"\begin{tabular}{lr}" in text
    assert r"Model & \multicolumn{1}{c}{F1 (\%)} \\" in text
    assert r"m0 & \textbf{50.00} {\scriptsize {[}10.0, 90.0{]}} \\" in text
    assert r"m1 & \underline{25.00} {\scriptsize" in text and r"m2 & 12.50 {\scriptsize" in text
    bare = to_latex(table(Cell(0.5, [0.1, 0.9]), -0.25, None), mark=False, intervals=False).decode()
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


def report(shares: dict, categories: dict | None = None) -> ParseRows:
    def row(values: dict, category: str = "") -> ReportRow:
        cells = {name: Cell(value) for name, value in values.items()}
        return ReportRow(cells=cells, stories=9, category=category, printed=True)

    by_category = [row({"f1": value}, name) for name, value in (categories or {}).items()]
    return ParseRows(overall=row(shares), by_category=by_category)


def fraction(percent: float | None) -> str | None:
    return None if percent is None else f"{percent / 100:.6f}"


def entrant(model: str, parses: dict | None = None, analysis: dict | None = None) -> EntrantResults:
    """A model with figures by parse, and with analyses of both parses."""
    kept = analysis and KeptAnalysis(plain(analysis))
    metrics = GroupMetrics(parses=BothParses(**(parses or {})), analyses={"official": kept, "repaired": kept})
    return EntrantResults(
        key=model, name=model, model=model, own="", kind="model", run="r", run_title="R", entrant=1,
        at=datetime(2025, 1, 1, tzinfo=UTC), metrics=metrics,
        
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
            assert column[key].text(found.rows[at]) == ("–" if value is None else f"{value:.2f}")
            if (row["model"], name) not in wrongly_marked:
                assert marks.get((at, key)) == row["marks"]["stage1"].get(name), (row["model"], name)
        assert column["overall_accuracy"].text(found.rows[at]) == f"{row['stage2']['Overall']:.2f}"
        assert marks.get((at, "overall_accuracy")) == row["marks"]["stage2"].get("Overall")
    # the printed overall of Gemini is the mean of categories, 54.97; over stories it would be 55.75
    assert [column[key].text(found.rows[0]) for key in ("f1_category_mean", "f1")] == ["54.97", "55.75"]
    text = to_latex(found).decode()
    assert balanced(text) and text.count(r"\begin{table*}") == 1
    assert r"\cmidrule(lr){2-10}\cmidrule(lr){11-18}" in text
    heads = ["Model", "Stage 1: extraction F1 (%): AST", "Stage 1: extraction F1 (%): FBT"]
    assert records(to_csv(found))[0][:3] == heads


def test_the_repaired_reading_has_its_intervals_where_there_are_some():
    shares = ReportRow(cells={"f1": Cell(0.5, [0.4, 0.6]), "f1_category_mean": Cell()})
    run = entrant("m", {"repaired": ParseRows(overall=shares)})
    found = main_table({"stage1": [run], "stage2": []}, "repaired")
    assert [column.key for column in found.columns if found.shows("interval", column)] == ["f1"]
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
        model: [
            ReportRow(cells={key: Cell(value) for key, value in values.items()}, stories=9, category=name)
            for name, values in categories.items()
        ]
        for model, categories in held.items()
    }
    entrants = [
        entrant(model, {"official": ParseRows(overall=ReportRow(), by_category=of)}) for model, of in rows.items()
    ]
    found = dimension_table(entrants, "official")
    assert len(found.rows) == 7 * len(held)
    marks = found.marks()
    wrong = []
    for at, row in enumerate(found.rows):
        told = printed[row["dimension"].lower()][row["model"]]
        for column in found.columns[1:]:
            short = column.header
            assert column.text(row) == f"{told['values'][short]:.2f}"
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
    assert [column.text(total) for column in counts] == printed
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
    shown = [[column.text(row) for column in found.columns] for row in found.rows]
    # a group: share, unreadable, answers, calls without an answer, and of stage 1 extractions and rows without a
    # judgement
    assert shown == [
        ["Qwen3 8B", "6.93", "62", "895", "0", "3", "5", "14.41", "129", "895", "4"],
        ["GPT-5", "–", "–", "–", "–", "–", "–", "1.79", "16", "895", "0"],
    ]
    assert found.columns[1].aside(found.rows[0]) == "[5.0, 9.0]"


def test_an_estimate_is_printed_with_its_interval_and_n():
    column = Column(key="a", header="A", kind="share", digits=1)
    rows = [{"a": Cell(0.5, [0.4, 0.6], n=1200)}, {"a": Cell(n=0)}]
    table = Table(title="t", columns=[column], rows=rows)
    assert [column.aside(row) for row in rows] == ["[40, 60] n = 1,200", "n = 0"]
    assert records(to_csv(table)) == [["A", "A low", "A high", "A n"], ["50", "40", "60", "1200"], ["", "", "", "0"]]
    assert json.loads(to_json(table))["rows"][0]["a"] == {"value": 0.5, "interval": [0.4, 0.6], "n": 1200}
    bounded = BoundedEstimate(0.5, 4, None, reason="few", bounds=[0.4, 0.9])
    assert Cell.of(bounded) == Cell(0.5, None, 4, "few", [0.4, 0.9]) and Cell.of(None) == Cell()


def test_a_dash_stands_for_an_interval_with_its_reason_in_every_form():
    few = "an interval needs at least 5 stories"
    held = table(Cell(0.5, [0.4, 0.6]), Cell(0.4, reason=few), Cell(None, reason="no usable story"))
    assert [SCORE.aside(row) for row in held.rows] == ["[40.0, 60.0]", "[–]", ""]
    assert held.dashes == ("No interval [–]: an interval needs at least 5 stories.",)
    head, *lines = records(to_csv(held))
    assert head == ["Model", "F1 (%)", "F1 low (%)", "F1 high (%)", "F1 no interval because"]
    assert [line[-1] for line in lines] == ["", few, ""]
    told = json.loads(to_json(held))
    assert [row["score"].get("reason") for row in told["rows"]] == [None, few, "no usable story"]
    assert held.dashes[0] in told["notes"]
    text = to_latex(held).decode()
    assert r"m1 & \underline{40.00} {\scriptsize {[}--{]}} \\" in text and escaped(held.dashes[0]) in text
    assert "No interval" not in to_latex(held, intervals=False).decode()


def test_a_page_keeps_few_short_notes_open_and_loses_none():
    notes = ["a", "long " * LEGEND_LENGTH, "c", "d", "e"]
    page = page_table("board", replace(table(0.5, 0.6), notes=notes))
    assert page["notes"] == ["Bold: best of the column; underlined: second.", "a", "c"]
    assert page["more_notes"] == [notes[1], "d", "e"]


def test_a_page_never_prints_a_small_number_as_zero():
    column = Column(key="score", header="p", kind="number", digits=4)
    for p, shown in ((0.00004, "<0.0001"), (0.00006, "0.0001"), (0.0, "0.0000"), (None, "–"), (0.25, "0.2500")):
        assert page_table("board", table(p, 0.5, column=column))["rows"][0]["cells"][1]["text"] == shown


def test_pages_write_a_minus_and_files_the_hyphen_that_programs_read():
    gaps = table(Cell(-0.0848, [-0.185, 0.017]))
    cell = page_table("gaps", gaps)["rows"][0]["cells"][1]
    assert (cell["text"], cell["interval"]) == ("−8.48", "[−18.5, 1.7]")
    assert b"-8.48,-18.5" in to_csv(gaps) and "−".encode() not in to_csv(gaps)


def test_the_head_of_what_names_the_rows_stands_over_it_on_the_left():
    columns = [Column(key="number", header="Question", kind="count"), Column(key="n", header="n", kind="count")]
    page = page_table("items", Table(title="Items", columns=columns, rows=[{"number": 346, "n": 19}]))
    assert [head["number"] for head in page["columns"]] == [False, True]


def test_categories_that_a_suite_names_stand_first_and_in_its_order():
    short = {"Second": "S", "First": "F"}
    held = in_order(["Zebra", "First", "Apple", "Second", "First"], short)
    assert held == ["Second", "First", "Apple", "Zebra"]
    assert short_name_texts(held, short) == ["S Second; F First."] and short_name_texts(["Apple"], short) == []
    assert short_name_texts(["Fact", "Second"], {"Fact": "Fact", "Second": "S"}) == ["S Second."], (
        "a name that is its own short name needs no word"
    )


def test_a_figure_of_a_report_has_bounds_only_if_something_is_missing():
    row = ReportRow(stories=9, cells={"f1": Cell(0.5, bounds=[0.3, 0.7]), "recall": Cell(0.4, bounds=[0.4, 0.4])})
    assert row.cell("f1") == Cell(0.5, bounds=[0.3, 0.7]) and row.cell("recall") == Cell(0.4)


def test_a_file_has_the_ends_of_estimates_although_none_has_an_interval():
    columns = [Column(key="f1", header="F1", kind="number"), Column(key="n", header="n", kind="count")]
    table = Table(title="T", columns=columns, rows=[{"f1": Cell(0.5, None), "n": Cell(3)}])
    assert to_csv(table).decode().splitlines()[0] == "F1,F1 low,F1 high,n"
