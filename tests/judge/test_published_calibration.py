"""The tables by which a paper chooses prompts and judges, from judges and models of known quality: rows, columns, order
and marks, on the page and as files."""

import csv
import io
from types import SimpleNamespace

import numpy as np
import pytest

from benchmark.domain.tables import Column, Table, to_csv, to_latex
from benchmark.services import sweep_results
from judge.domain.calibration.agreement import calibration
from judge.domain.calibration.means import differing
from judge.domain.calibration.selection import selections
from judge.services.calibration import CalibrationReport, JudgeBrief, StudyReports
from judge.services.calibration_tables import judges_table, rows_by_level
from tests.judge.domain.calibration.worlds import row, table

pytestmark = pytest.mark.once
QUALITY = {("GPT-5", 4): 0.7203, ("Gemini-2.5 Flash", 4): 0.711, ("DeepSeek", 4): 0.6365, ("DeepSeek", 3): 0.5855}
"""The share of rows on which the paper's judges agree with people, by the level of their prompt."""


@pytest.fixture(scope="module")
def kept() -> StudyReports:
    """The reports of judges that are right on so many rows of 60 tables, and of one by rules, which has no level."""
    rng = np.random.default_rng(4)
    humans = [rng.random(40) < 0.57 for _ in range(60)]
    judges = {
        (name, level): [
            table([row(int(true), int(true == (rng.random() < right))) for true in of], story=f"s{at}")
            for at, of in enumerate(humans)
        ]
        for (name, level), right in {**QUALITY, ("lexical-judge", None): 0.6}.items()
    }
    names = {of: f"{of[0]} at {of[1]}" for of in judges}
    selected = selections({names[of]: tables for of, tables in judges.items()}, seed=1)
    reports = []
    for of, tables in judges.items():
        brief = JudgeBrief(names[of], names[of], *of, ("run",), 60, 1500, {}, None)
        agreement = calibration(tables, seed=1)
        reports.append(CalibrationReport(brief, selected[names[of]], agreement, [], differing({})))
    return StudyReports(60, reports)


def test_the_best_level_of_each_row_is_bold_as_in_table_9():
    levels = ("L1", "L2", "L3", "L4")
    columns = [Column(key="model", header="Model")]
    columns += [Column(key=level, header=level, kind="share", unit="%", best="high") for level in levels]
    shares = {"Llama-3.3 70B": (0.3799, 0.3697, 0.4547, 0.675), "Gemma-3 27B": (0.3097, 0.6499, 0.5167, 0.6499)}
    rows = [{"model": model} | dict(zip(levels, of, strict=True)) for model, of in shares.items()]
    made = Table(title="Levels", columns=columns, rows=[*rows, {"model": "one", "L1": 0.5}], mark_across=True)
    # ties share a mark; one cell alone is not the best of anything
    assert made.marks() == {(0, "L4"): "best", (1, "L2"): "best", (1, "L4"): "best"} and made.legend
    tex = to_latex(made).decode()
    assert tex.count("\\textbf{64.99}") == 2 and "\\textbf{67.50}" in tex
    assert "underline" not in tex.partition("begin{tabular")[2].partition("end{tabular")[0]


def test_judges_are_ordered_by_agreement_with_people(kept):
    made = judges_table(kept)
    assert [one["judge"] for one in made.rows][-1] == "DeepSeek at 3"
    assert {one["judge"].partition(" at")[0] for one in made.rows[:2]} == {"GPT-5", "Gemini-2.5 Flash"}
    found = {one["judge"]: 100 * one["by_story"].value for one in made.rows}
    for (name, level), right in QUALITY.items():
        assert found[f"{name} at {level}"] == pytest.approx(100 * right, abs=3)
    marks = made.marks()
    assert (marks[0, "by_story"], marks[1, "by_story"]) == ("best", "second")
    read = list(csv.DictReader(io.StringIO(to_csv(made).decode())))
    assert [one["Judge"] for one in read] == [one["judge"] for one in made.rows] and read[0]["Prompt level"] == "4"
    assert b"Agreement by story" in to_latex(made)


def test_a_sweep_has_the_judges_of_its_gold_between_its_steps(kept, monkeypatch):
    """Table 9 has three blocks; a judge that reads no prompt has a row with the level –."""
    assert set(rows_by_level(kept)) == {"GPT-5", "Gemini-2.5 Flash", "DeepSeek", "lexical-judge"}
    monkeypatch.setattr(sweep_results, "judges_of_launch", lambda run: {})
    launch = [SimpleNamespace(judge=None)]
    rows = {row["model"]: row for row in sweep_results._judge_rows(launch, None, rows_by_level(kept))}
    assert 100 * rows["DeepSeek"]["l4"].value == pytest.approx(63.65, abs=3) and rows["DeepSeek"]["best"] == "L4"
    assert 100 * rows["DeepSeek"]["l3"].value == pytest.approx(58.55, abs=3) and "l3" not in rows["GPT-5"]
    assert rows["GPT-5"]["alike"] == "L4" and rows["DeepSeek"]["alike"] is None, "eight points are told from the best"
    assert all(one["block"] == sweep_results.JUDGES for one in rows.values())
    lexical = rows.pop("lexical-judge")
    assert all(one["l4"].interval for one in rows.values()) and len(rows) == 3
    assert 100 * lexical["l0"].value == pytest.approx(60, abs=3) and lexical["l0"].interval and "l4" not in lexical
    assert (lexical["best"], lexical["alike"]) == ("–", None)
