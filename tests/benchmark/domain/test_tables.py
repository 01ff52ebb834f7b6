"""Tables as pages, files and papers show them: figures, marks, hostile names, the tables of the paper, and LaTeX that
fits the page, by estimate always, by an engine where there is one."""

import csv
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from benchmark.domain import tables as of_tables
from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.report_rows import BothParses, ParseRows, ReportRow
from benchmark.domain.tables import Cell, Column, Entered, Source, Table, latex, share_column, to_csv, to_json, to_latex
from benchmark.domain.tables.latex import escaped
from benchmark.domain.tables.table import MARKED, MARKED_BY_WORST
from benchmark.suites.omnitom.analyses import stage1_analyses
from benchmark.suites.omnitom.labels import OMNITOM_SCHEME, SCHEMA
from benchmark.suites.omnitom.results import Stage1Result
from benchmark.suites.omnitom.tables import dimension_table, main_table, match_count_table, unreadable_table
from benchmark.suites.reports import Analysis, GroupMetrics
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


def table(*cells, column=SCORE, **more) -> Table:
    rows = [{"model": f"m{at}", "score": cell} for at, cell in enumerate(cells)]
    return Table(title="T", columns=[MODEL, column], rows=rows, **more)


def records(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def tex(of: Table, **how) -> str:
    return to_latex(of, **how).decode()


def balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*([{}])", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


# --- figures and marks
def test_numbers_are_rounded_on_their_decimal_digits():
    def text(value, column=SCORE) -> str:
        return column.text({column.key: value})

    def aside(interval, column=SCORE) -> str:
        return column.aside({column.key: Cell(0.5, interval)})

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


BEST, SECOND = "best", "second"


def marks_of(held: Table) -> dict[int, str]:
    return {row: mark for (row, _), mark in held.marks().items()}


def test_best_and_second_are_judged_as_printed_with_what_is_missing_at_its_worst():
    # 60.001 and 60.004 both print 60.00: both best; 59.99 is second; None has no mark
    assert table(0.60001, 0.5999, 0.60004, None, 0.1).marks() == {
        (0, "score"): BEST, (2, "score"): BEST, (1, "score"): SECOND
    }  # fmt: skip
    for none in (table(None, None), table(0.5), table(0.0, 0.0, None)):
        assert none.marks() == {}

    def marked(best, *rows):
        return table(*(Cell(score, bounds=bounds) for score, bounds in rows), column=replace(SCORE, best=best))

    # 0 of 20 pairs is unfaithful, as none was read; who has 10 % of all is better than who could have 100 %
    low = marked("low", (0.0, [0.0, 1.0]), (0.1, None), (0.2, [0.1, 0.3]))
    assert marks_of(low) == {1: BEST, 2: SECOND} and low.legend == (MARKED_BY_WORST,)
    assert marks_of(marked("low", (1.0, None), (0.5, None))) == {1: BEST}, "never the end of a scale"
    assert marks_of(marked("high", (1.0, [0.1, 1.0]), (0.4, None), (0.0, None))) == {1: BEST, 0: SECOND}
    assert marks_of(marked("high", (0.0, None), (0.4, None))) == {1: BEST}
    # rows that stand outside the ranking take none
    held = table(0.9, 0.6, 0.5)
    source = Source(key="a", kind="model", run="r", entrant=1, group="s", unranked=True)
    found = replace(held, rows=[{**held.rows[0], of_tables.OF: source}, *held.rows[1:]])
    assert marks_of(found) == {1: BEST, 2: SECOND}
    assert MARKED in tex(found) and MARKED not in tex(found, mark=False)


def test_an_estimate_is_printed_with_its_interval_n_and_bounds():
    column = Column(key="a", header="A", kind="share", digits=1)
    rows = [{"a": Cell(0.5, [0.4, 0.6], n=1200)}, {"a": Cell(n=0)}]
    held = Table(title="t", columns=[column], rows=rows)
    assert [column.aside(row) for row in rows] == ["[40, 60] n = 1,200", "n = 0"]
    assert records(to_csv(held)) == [["A", "A low", "A high", "A n"], ["50", "40", "60", "1200"], ["", "", "", "0"]]
    assert json.loads(to_json(held))["rows"][0]["a"] == {"value": 0.5, "interval": [0.4, 0.6], "n": 1200}
    bounded = BoundedEstimate(0.5, 4, None, reason="few", bounds=[0.4, 0.9])
    assert Cell.of(bounded) == Cell(0.5, None, 4, "few", [0.4, 0.9]) and Cell.of(None) == Cell()
    # a figure of a report has bounds only if something is missing
    row = ReportRow(stories=9, cells={"f1": Cell(0.5, bounds=[0.3, 0.7]), "recall": Cell(0.4, bounds=[0.4, 0.4])})
    assert row.cell("f1") == Cell(0.5, bounds=[0.3, 0.7]) and row.cell("recall") == Cell(0.4)
    # a file has the ends of estimates although none has an interval
    assert records(to_csv(table(Cell(0.5, None))))[0] == ["Model", "F1 (%)", "F1 low (%)", "F1 high (%)"]


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
    assert r"m1 & \underline{40.00} {\scriptsize {[}--{]}} \\" in tex(held) and escaped(held.dashes[0]) in tex(held)
    assert "No interval" not in tex(held, intervals=False)


def test_a_page_shows_numbers_notes_and_heads_as_people_read_them():
    notes = ["a", "long " * LEGEND_LENGTH, "c", "d", "e"]
    page = page_table("board", table(0.5, 0.6, notes=notes))
    # few short notes are open, and none is lost
    assert page["notes"] == ["Bold: best of the column; underlined: second.", "a", "c"]
    assert page["more_notes"] == [notes[1], "d", "e"]
    # a small number is never printed as zero
    column = Column(key="score", header="p", kind="number", digits=4)
    for p, shown in ((0.00004, "<0.0001"), (0.00006, "0.0001"), (0.0, "0.0000"), (None, "–"), (0.25, "0.2500")):
        assert page_table("board", table(p, 0.5, column=column))["rows"][0]["cells"][1]["text"] == shown
    # pages write a minus, files the hyphen that programs read
    gaps = table(Cell(-0.0848, [-0.185, 0.017]))
    cell = page_table("gaps", gaps)["rows"][0]["cells"][1]
    assert (cell["text"], cell["interval"]) == ("−8.48", "[−18.5, 1.7]")
    assert b"-8.48,-18.5" in to_csv(gaps) and "−".encode() not in to_csv(gaps)
    # the head of what names the rows stands over it on the left, a number or not
    columns = [Column(key="number", header="Question", kind="count"), Column(key="n", header="n", kind="count")]
    page = page_table("items", Table(title="Items", columns=columns, rows=[{"number": 346, "n": 19}]))
    assert [head["number"] for head in page["columns"]] == [False, True]
    # categories that a suite names stand first and in its order
    short = {"Second": "S", "First": "F"}
    held = of_tables.in_order(["Zebra", "First", "Apple", "Second", "First"], short)
    assert held == ["Second", "First", "Apple", "Zebra"]
    assert of_tables.short_name_texts(held, short) == ["S Second; F First."]
    assert of_tables.short_name_texts(["Apple"], short) == []
    own = {"Fact": "Fact", "Second": "S"}  # a name that is its own short name needs no word
    assert of_tables.short_name_texts(["Fact", "Second"], own) == ["S Second."]


# --- files
def test_csv_is_rfc_4180_and_exact():
    data = to_csv(table(Cell(0.5497, [0.5, 0.6]), None))
    assert data == b"Model,F1 (%),F1 low (%),F1 high (%)\r\nm0,54.97,50,60\r\nm1,,,\r\n"
    # 1/3 of 1: every digit of the double, moved by two places
    assert records(to_csv(table(1 / 3)))[1][1] == "33.33333333333333"
    assert records(to_csv(table(1e-9)))[1][1] == "0.0000001"


def test_hostile_names_come_back_from_csv_and_json_and_leave_latex_whole():
    rows = [{"model": name, "score": 0.5} for name in HOSTILE]
    held = Table(title="<b>&", columns=[MODEL, SCORE], rows=rows)
    names = [row[0] for row in records(to_csv(held))[1:]]
    # a spreadsheet would run it
    assert names == [*HOSTILE[:3], "'" + HOSTILE[3], *HOSTILE[4:]]
    told = json.loads(to_json(held))
    assert [row["model"] for row in told["rows"]] == HOSTILE and told["title"] == "<b>&"
    assert told["rows"][0]["score"] == 0.5 and told["columns"][1]["kind"] == "share"
    columns = [Column(key="model", header=HOSTILE[1]), SCORE]
    text = tex(Table(title=HOSTILE[0], columns=columns, rows=rows))
    assert balanced(text) and not balanced(text + "}") and "\r" not in text and "\x00" not in text
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().split("\n")
    assert len(body) == len(HOSTILE)
    # one alignment tab and one end of line a row: no name adds a cell, a comment, mathematics or a command
    assert all(len(re.findall(r"(?<!\\)&", line)) == 1 and line.endswith(r" \\") for line in body)
    known = r"\\(textbf|text[a-z]+|credenceglyph|[&%$#_{}\\]|ldots)"
    assert not re.sub(known, "", "".join(body)).count("\\")
    assert not re.search(r"(?<!\\)[%$#_^~]", "".join(body))


def test_latex_by_hand():
    text = tex(table(*(Cell(score, [0.1, 0.9]) for score in (0.5, 0.25, 0.125))), label="tab:x")
    assert r"\caption{T}\label{tab:x}" in text and r"\begin{tabular}{lr}" in text
    assert r"Model & \multicolumn{1}{c}{F1 (\%)} \\" in text
    assert r"m0 & \textbf{50.00} {\scriptsize {[}10.0, 90.0{]}} \\" in text
    assert r"m1 & \underline{25.00} {\scriptsize" in text and r"m2 & 12.50 {\scriptsize" in text
    bare = tex(table(Cell(0.5, [0.1, 0.9]), -0.25, None), mark=False, intervals=False)
    assert "m0 & 50.00 \\\\\nm1 & $-$25.00 \\\\\nm2 & -- \\\\\n" in bare and "textbf" not in bare
    with pytest.raises(ValueError, match="not a label"):
        to_latex(table(0.5), label=r"x}\input{y")
    for special, written in (
        (r"a&b%c_d\e$f#g{h}i~j^k", r"a\&b\%c\_d\textbackslash{}e\$f\#g\{h\}i\textasciitilde{}j\textasciicircum{}k"),
        ("[x]*--'<>|", r"{[}x{]}{*}{-}{-}{'}\textless{}\textgreater{}\textbar{}"),
        ("naïve Łódź ‮x\x00\n y", "naïve Łódź x y"),
        ("字", r"\credenceglyph{字}{5B57}"),
        ("ệ", r"\credenceglyph{ệ}{1EC7}"),  # two accents, which the plain fonts do not stack
    ):
        assert escaped(special) == written


# --- the tables of the paper
@pytest.fixture
def paper(omnitom) -> dict:
    return omnitom("paper_tables")


def entrant(model: str, parses: dict | None = None, analysis: dict | None = None) -> EntrantResults:
    """A model with figures by parse, and with analyses of both parses."""
    kept = analysis and Analysis(plain(analysis))
    metrics = GroupMetrics(parses=BothParses(**(parses or {})), analyses={"official": kept, "repaired": kept})
    return EntrantResults(
        key=model, name=model, model=model, own="", kind="model", run="r", run_title="R", entrant=1,
        at=datetime(2025, 1, 1, tzinfo=UTC), metrics=metrics,
    )  # fmt: skip


FULL = {short: name for name, short in TASKS.items()}


def figures(row: dict) -> dict[str, ParseRows | None]:
    """A row of table 3 as reports have it."""

    def report(values: dict, category: str = "") -> ReportRow:
        cells = {name: Cell(None if value is None else f"{value / 100:.6f}") for name, value in values.items()}
        return ReportRow(cells=cells, stories=9, category=category, printed=True)

    first, second = row["stage1"], row["stage2"]
    # as the paper's table calls the dimensions
    called = ("Overall", "Order", "Status", "Access", "Repr", "CType", "Source", "Context")
    keys = dict(zip(called, ("overall_accuracy", *OMNITOM_SCHEME.shares[1:]), strict=True))
    overall = {"f1_category_mean": first["Overall"], "f1": row.get("check_stage1_weighted_by_story_counts")}
    tasks = [report({"f1": value}, FULL[name]) for name, value in first.items() if name != "Overall"]
    return {
        "stage1": ParseRows(overall=report(overall), by_category=tasks) if first["Overall"] else None,
        "stage2": ParseRows(overall=report({keys[name]: value for name, value in second.items()})),
    }


def test_table_3_of_the_paper_is_printed_and_marked_as_it_should_be(paper):
    rows = paper["table_3"]["rows"]
    told = {row["model"]: figures(row) for row in rows}
    groups = {
        group: [entrant(model, {"official": of[group]}) for model, of in told.items() if of[group]]
        for group in ("stage1", "stage2")
    }
    found = main_table(groups, "official")
    at_row, marks = {row["model"]: at for at, row in enumerate(found.rows)}, found.marks()
    keys = dict(zip([*TASKS.values(), "Overall"], [*(f"f1 {name}" for name in TASKS), "f1_category_mean"], strict=True))
    column = {one.key: one for one in found.columns}
    wrongly_marked = {("Mistral-Small 24B", "PST"), ("Mistral-Small 24B", "SIT")}  # errata of the printed table
    for row in rows:
        at = at_row[row["model"]]
        for name, key in keys.items():
            value = row["stage1"][name]
            assert column[key].text(found.rows[at]) == ("–" if value is None else f"{value:.2f}")
            if (row["model"], name) not in wrongly_marked:
                assert marks.get((at, key)) == row["marks"]["stage1"].get(name), (row["model"], name)
        assert column["overall_accuracy"].text(found.rows[at]) == f"{row['stage2']['Overall']:.2f}"
        assert marks.get((at, "overall_accuracy")) == row["marks"]["stage2"].get("Overall")
    # the printed overall of Gemini is the mean of categories, 54.97; over stories it would be 55.75
    assert [column[key].text(found.rows[0]) for key in ("f1_category_mean", "f1")] == ["54.97", "55.75"]
    text = tex(found)
    assert balanced(text) and text.count(r"\begin{table*}") == 1
    assert r"\cmidrule(lr){2-10}\cmidrule(lr){11-18}" in text
    heads = ["Model", "Stage 1: extraction F1 (%): AST", "Stage 1: extraction F1 (%): FBT"]
    assert records(to_csv(found))[0][:3] == heads


def test_the_repaired_reading_has_its_intervals_where_there_are_some():
    shares = ReportRow(cells={"f1": Cell(0.5, [0.4, 0.6]), "f1_category_mean": Cell()})
    found = main_table({"stage1": [entrant("m", {"repaired": ParseRows(overall=shares)})], "stage2": []}, "repaired")
    assert [column.key for column in found.columns if found.shows("interval", column)] == ["f1"]
    assert records(to_csv(found))[1][:5] == ["m", "", "50", "40", "60"]
    # no categories: model, two averages, seven dimensions and their mean are 11 columns, so the interval stands below
    assert r"m & -- & 50.00 & -- " in tex(found) and r" &  & {\tiny {[}40.0, 60.0{]}} & " in tex(found)


def test_table_10_of_the_paper_compares_within_a_dimension(paper):
    shares = {SCHEMA[name].name.lower(): OMNITOM_SCHEME.share_of(name) for name in OMNITOM_SCHEME.keys}
    printed = {name.lower(): models for name, models in paper["table_10"]["dimensions"].items()}
    held: dict = {}
    for dimension, models in printed.items():
        for model, row in models.items():
            for name, value in row["values"].items():
                cell = Cell(None if value is None else value / 100)
                held.setdefault(model, {}).setdefault(FULL[name], {})[shares[dimension]] = cell
    entrants = []
    for model, categories in held.items():
        rows = [ReportRow(cells=cells, stories=9, category=name) for name, cells in categories.items()]
        entrants.append(entrant(model, {"official": ParseRows(overall=ReportRow(), by_category=rows)}))
    found = dimension_table(entrants, "official")
    assert len(found.rows) == 7 * len(held)
    marks = found.marks()
    for at, row in enumerate(found.rows):
        told = printed[row["dimension"].lower()][row["model"]]
        for column in found.columns[1:]:
            place = (row["dimension"], row["model"], column.header)
            assert column.text(row) == f"{told['values'][column.header]:.2f}", place
            assert marks.get((at, column.key)) == told["marks"].get(column.header), place
    assert records(to_csv(found))[0][0] == "dimension"


def test_table_11_of_the_paper_adds_up(paper):
    entrants = []
    for row in paper["table_11"]:
        if row["model"] != "Total":
            counts = tuple(count for count in range(5) for _ in range(row[f"mc{count}"]))
            analyses = stage1_analyses([Stage1Result(1, "A", counts, (1,), ("1",))], resamples=2)
            entrants.append(entrant(row["model"], analysis=analyses))
    found = match_count_table(entrants, "official")
    [total] = found.totals
    counts = [column for column in found.columns if not column.key.endswith("share")]
    printed = ["Total", "38,874", "63,341", "3,683", "833", "34", "106,765"]
    assert [column.text(total) for column in counts] == printed
    assert tex(found).count(r"\textbf{106,765}") == 1


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
    # a group: share, unreadable, answers, calls without an answer, and of stage 1 extractions and rows without a
    # judgement
    assert [[column.text(row) for column in found.columns] for row in found.rows] == [
        ["Qwen3 8B", "6.93", "62", "895", "0", "3", "5", "14.41", "129", "895", "4"],
        ["GPT-5", "–", "–", "–", "–", "–", "–", "1.79", "16", "895", "0"],
    ]
    assert found.columns[1].aside(found.rows[0]) == "[5.0, 9.0]"


# --- LaTeX that fits
NAMES = [f"Qwen3-{at}B-Instruct-2507 (chain of thought)" for at in range(20)]
GROUPS = {"Ranking": 2, "Missing answers": 4, "Repaired parse": 9, "Official parse": 9}


def wide(models: list[str], *, interval: bool = True, **named) -> Table:
    """A leaderboard of 25 columns, with intervals."""
    keys = [(group, f"{group[0]}{at}") for group, count in GROUPS.items() for at in range(count)]
    columns = [MODEL] + [
        Column(key=key, header=f"Dimension {key}", group=group, unit="%", kind="share", best="high")
        for group, key in keys
    ]
    ends = [0.1234, 0.9876] if interval else None
    rows = [{"model": model} | {key: Cell(0.5 + at / 100, ends) for _, key in keys} for at, model in enumerate(models)]
    notes = ["A note of some length. " * 8] * 6
    return Table(title="Accuracy & more", columns=columns, rows=rows, notes=notes, **named)


def narrow(models: list[str]) -> Table:
    columns = [MODEL, Column(key="n", header="Rows", kind="count")]
    return Table(title="Rows", columns=columns, rows=[{"model": model, "n": 1234} for model in models])


PAIRS = [{"first": a, "second": b, "R0": Cell(0.5, [0.4, 0.6])} for a in NAMES for b in NAMES if a < b]
SIDES = [Column(key=key, header=key.capitalize()) for key in ("first", "second")]
ENTERED = [
    Entered({"model": "Human (N = 20)", "R0": "0.915"}, "human", "Kim & al. 2023, 95 % of #3_a, table~9"),
    Entered({"model": "GPT-4", "R0": "0.6", "O1": "0.5"}, "published", "A_b {et al.}", asked_otherwise=True),
]
LONG = [{"a": "word " * 60, "b": "x"}]
TABLES = {
    "a leaderboard of twenty": wide(NAMES),
    "without intervals": wide(NAMES, interval=False),
    "all pairs of twenty": Table(title="Pairs", columns=[*SIDES, *wide([]).columns[1:4]], rows=PAIRS),
    "two short columns": narrow(["majority", "random"]),
    "hostile names": narrow(HOSTILE),
    "no row": narrow([]),
    "a long text": Table(title="T", columns=[Column(key=key, header=key) for key in "ab"], rows=LONG),
    "rows of papers": replace(wide(NAMES[:3]), entered=ENTERED),
    "sections and totals": wide(NAMES[:6], section="model", totals=[{"model": "All", "R0": 0.5}]),
}


def environments(text: str) -> list[str]:
    return re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", text, re.S)


def test_every_cell_stands_once_and_the_title_and_the_label_too():
    for name, held in TABLES.items():
        text = tex(held, label="tab:x")
        assert balanced(text) and text.count(r"\label{tab:x}") == 1, name
        parts = environments(text)
        assert text.count(r"\caption") == len(parts) == text.count("(continued)") + 1, name
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}"), name
        if name == "all pairs of twenty":
            assert len(parts) > 4 and sum(part.count("Qwen3") for part in parts) == 2 * 190
    # best and second are those of the whole table
    rows = [{"model": f"m{at}", "R0": at / 200} for at in range(150)]
    text = tex(Table(title="T", columns=wide([]).columns[:2], rows=rows))
    assert len(environments(text)) > 1
    assert text.count(r"\textbf{") == text.count(r"\underline{") == 1 and r"\textbf{74.50}" in text


def test_blocks_hold_every_column_once_and_fit_the_width_of_the_text():
    held = wide(NAMES)
    found = latex.blocks(held, intervals=True)
    assert [column.key for block in found for column in block[1:]] == [column.key for column in held.columns[1:]]
    assert all(block[0].key == "model" for block in found) and len(found) > 1
    for block in found:
        widths = [latex.column_width(held, column, intervals=True, beside=False) + 5 for column in block]
        assert sum(widths) <= latex.TEXT_WIDTH / latex.SHRUNK
    # groups stay whole where they fit, and a table of two short columns fits a column of a paper
    blocks = latex.blocks(wide(["short"], interval=False), intervals=True)
    assert sum("Missing answers" in {column.group for column in block[1:]} for block in blocks) == 1
    assert r"\begin{table}[tp]" in tex(narrow(["majority"])) and r"\begin{table*}[tp]" in tex(held)
    # rows are parted evenly
    for count, room, sizes in [(7, 50, [4, 3]), (5, 50, [5]), (0, 50, [0]), (2, 5, [1, 1]), (11, 50, [4, 4, 3])]:
        assert [len(places) for places in latex.chunks(count, 10, room)] == sizes


NO_ENGINE = (
    "no pdflatex: apt-get install --no-install-recommends texlive-latex-recommended (144 MB and 40 seconds, for which "
    "tests elsewhere do without it)"
)
PAGE = r"""\documentclass[twocolumn]{article}
\usepackage[T1,OT1]{fontenc}\usepackage{booktabs}\usepackage{graphicx}
\setlength{\textwidth}{6.3in}\setlength{\columnsep}{.3in}\setlength{\columnwidth}{3in}\setlength{\textheight}{9in}
\setlength{\oddsidemargin}{.1in}\setlength{\topmargin}{-.5in}
\begin{document}
Text. %s
\clearpage
See~\ref{tab:0}.
\end{document}
"""


@pytest.mark.skipif(not shutil.which("pdflatex"), reason=NO_ENGINE)
def test_an_engine_sets_every_table_within_the_page(tmp_path):
    tables = [tex(held, label=f"tab:{at}") for at, held in enumerate(TABLES.values())]
    (tmp_path / "page.tex").write_text(PAGE % "\n".join(tables), encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    for _ in range(2):  # the second knows the labels
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        assert ran.returncode == 0, ran.stdout.decode("utf-8", "replace")[-2000:]
    log = (tmp_path / "page.log").read_text("utf-8", "replace")
    for problem in ("Overfull", "Float too large", "undefined references", "Missing character"):
        assert problem not in log, log[log.index(problem) :][:400]
