"""LaTeX tables fit the page of a two-column paper: by estimate always, by an engine where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from benchmark.domain.tables import Cell, Column, Entered, Table, to_latex
from benchmark.domain.tables.latex import SHRUNK, TEXT_WIDTH, blocks, chunks, column_width
from tests.benchmark.domain.test_tables import HOSTILE, balanced

NAMES = [f"Qwen3-{at}B-Instruct-2507 (chain of thought)" for at in range(20)]
GROUPS = {"Ranking": 2, "Missing answers": 4, "Repaired parse": 9, "Official parse": 9}


def wide(models: list[str], *, interval: bool = True, **named) -> Table:
    """A leaderboard of 25 columns, with intervals."""
    keys = [(group, f"{group[0]}{at}") for group, count in GROUPS.items() for at in range(count)]
    columns = [Column(key="model", header="Model")] + [
        Column(key=key, header=f"Dimension {key}", group=group, unit="%", kind="share", best="high")
        for group, key in keys
    ]
    rows = [
        {"model": model} | {key: Cell(0.5 + at / 100, [0.1234, 0.9876] if interval else None) for _, key in keys}
        for at, model in enumerate(models)
    ]
    return Table(
        title="Accuracy & more", columns=columns, rows=rows, notes=["A note of some length. " * 8] * 6, **named
    )


def narrow(models: list[str]) -> Table:
    columns = [Column(key="model", header="Model"), Column(key="n", header="Rows", kind="count")]
    return Table(title="Rows", columns=columns, rows=[{"model": model, "n": 1234} for model in models])


TABLES = {
    "a leaderboard of twenty": wide(NAMES),
    "without intervals": wide(NAMES, interval=False),
    "all pairs of twenty": Table(
        title="Pairs",
        columns=[*(Column(key=key, header=key.capitalize()) for key in ("first", "second")), *wide([]).columns[1:4]],
        rows=[{"first": a, "second": b, "R0": Cell(0.5, [0.4, 0.6])} for a in NAMES for b in NAMES if a < b],
    ),
    "two short columns": narrow(["majority", "random"]),
    "hostile names": narrow(HOSTILE),
    "no row": narrow([]),
    "a long text": Table(
        title="T", columns=[Column(key=key, header=key) for key in "ab"], rows=[{"a": "word " * 60, "b": "x"}]
    ),
    "rows of papers": replace(
        wide(NAMES[:3]),
        entered=[
            Entered({"model": "Human (N = 20)", "R0": "0.915"}, "human", "Kim & al. 2023, 95 % of #3_a, table~9"),
            Entered({"model": "GPT-4", "R0": "0.6", "O1": "0.5"}, "published", "A_b {et al.}", asked_otherwise=True),
        ],
    ),
    "sections and totals": wide(NAMES[:6], section="model", totals=[{"model": "All", "R0": 0.5}]),
}


def environments(text: str) -> list[str]:
    return re.findall(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", text, re.S)


def test_every_cell_stands_once_and_the_title_and_the_label_too():
    for name in TABLES:
        table = TABLES[name]
        text = to_latex(table, label="tab:x").decode()
        assert balanced(text) and text.count(r"\label{tab:x}") == 1
        parts = environments(text)
        assert text.count(r"\caption") == len(parts) == text.count("(continued)") + 1
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}")
        if len(table.rows) > 1 and name == "all pairs of twenty":
            assert len(parts) > 4 and sum(part.count("Qwen3") for part in parts) == 2 * 190


def test_blocks_hold_every_column_once_and_fit_the_width_of_the_text():
    table = wide(NAMES)
    found = blocks(table, intervals=True)
    assert [column.key for block in found for column in block[1:]] == [column.key for column in table.columns[1:]]
    assert all(block[0].key == "model" for block in found) and len(found) > 1
    for block in found:
        width = sum(column_width(table, column, intervals=True, beside=False) + 5 for column in block)
        assert width <= TEXT_WIDTH / SHRUNK


def test_groups_stay_whole_where_they_fit():
    found = blocks(wide(["short"], interval=False), intervals=True)
    split = [{column.group for column in block[1:]} for block in found]
    assert sum("Missing answers" in groups for groups in split) == 1


def test_a_table_of_two_short_columns_fits_a_column_of_a_paper():
    assert r"\begin{table}[tp]" in to_latex(narrow(["majority"])).decode()
    assert r"\begin{table*}[tp]" in to_latex(wide(NAMES)).decode()


def test_rows_are_parted_evenly():
    for count, room, sizes in [(7, 50, [4, 3]), (5, 50, [5]), (0, 50, [0]), (2, 5, [1, 1]), (11, 50, [4, 4, 3])]:
        assert [len(places) for places in chunks(count, 10, room)] == sizes


def test_best_and_second_are_those_of_the_whole_table():
    table = Table(
        title="T", columns=wide([]).columns[:2], rows=[{"model": f"m{at}", "R0": at / 200} for at in range(150)]
    )
    text = to_latex(table).decode()
    assert len(environments(text)) > 1
    assert text.count(r"\textbf{") == text.count(r"\underline{") == 1 and r"\textbf{74.50}" in text


# --- an engine
# ----------------------------------------------------------------------------------------------------------------
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
    tables = [to_latex(table, label=f"tab:{at}").decode() for at, table in enumerate(TABLES.values())]
    (tmp_path / "page.tex").write_text(PAGE % "\n".join(tables), encoding="utf-8")
    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    for _ in range(2):  # the second knows the labels
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        assert ran.returncode == 0, ran.stdout.decode("utf-8", "replace")[-2000:]
    log = (tmp_path / "page.log").read_text("utf-8", "replace")
    for problem in ("Overfull", "Float too large", "undefined references", "Missing character"):
        assert problem not in log, log[log.index(problem) :][:400]
