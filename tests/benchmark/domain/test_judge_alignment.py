from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.omnitom.parsing.official import JudgedRow, align, parse_judgement
from tests.benchmark.domain.mock_judge import exact_match_counts


def test_the_official_alignment(omnitom):
    vectors = omnitom("unit_judge")
    rows = {side: [tuple(row) for row in vectors["input_rows"][side]] for side in ("pred", "gt")}
    for case in vectors["cases"]:
        found = parse_judgement(case["text"])
        assert align(rows["pred"], found.predictions) == case["expected"]["aligned_pred"], case["note"]
        assert align(rows["gt"], found.gold) == case["expected"]["aligned_gt"], case["note"]


def test_the_official_mock_judge(omnitom):
    for case in omnitom("unit_exact_matchcount")["cases"]:
        assert exact_match_counts(case["left"], case["right"]) == case["expected"]


def test_the_highest_count_goes_first():
    # "ines|x" is judged 0, 3 and 1: its three rows take 3, 1, 0; the judged "tomas" has no row, "Bo" no judgement
    judged = [
        JudgedRow("INES", "x", 0),
        JudgedRow("ines", '"X"', 3),
        JudgedRow("Tomas", "y", 9),
        JudgedRow("Ines", "x", 1),
    ]
    assert align([("Ines", "x"), ("Ines", "X"), ("Bo", "y"), ("ines", "x")], judged) == [3, 1, 0, 0]


words = st.sampled_from(["a", "A", '"a"', "b", "b.", "", " c "])


@given(st.lists(st.tuples(words, words)), st.lists(st.builds(JudgedRow, words, words, st.integers(-2, 5))))
def test_every_row_gets_one_count_and_no_count_is_used_twice(rows, judged):
    counts = align(rows, judged)
    assert len(counts) == len(rows)
    left = [row.count for row in judged]
    for count in filter(None, counts):
        left.remove(count)
    assert align(rows, list(reversed(judged))) == counts
