"""The paper's further tables: by hand, and from the counts that the paper prints."""

from dataclasses import replace

import pytest

from benchmark.domain.bounded_estimates import BoundedEstimate
from benchmark.domain.report_rows import averages
from benchmark.suites.omnitom import analyses
from benchmark.suites.omnitom.analyses import outputs_analysis, read_labels, stage1_analyses, stage2_analyses
from benchmark.suites.omnitom.labels import DIMENSIONS, OMNITOM_SCHEME
from benchmark.suites.omnitom.measure import Results, measured
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result
from benchmark.suites.reasons import NO_GOLD
from core.plain import plain
from core.statistics import few, unseen_share

GOLD = ("1", "True", "Private", "Implicit", "Epistemic", "Inference", "Neutral")
FALSE = (GOLD[0], "False", *GOLD[2:])
FACT = ("0", *GOLD[1:])
ODD = ("1", "maybe", *GOLD[2:])  # its truth status is outside the closed set

STAGE1 = [
    Stage1Result(
        1, "A", (0, 1, 5, -1), (1, 0, 2), ("0", "2", "3"),
        pred_orders=("0", "0", "2+", ""), gold_roles=("world", "actors", "actors"),
        pred_roles=("world", "world", "actors", "actors"),
    ),
    Stage1Result(
        2, "A", (2,), (1, 0), ("1", "first"),
        pred_orders=("0",), gold_roles=("actors", "actors"), pred_roles=("actors",),
    ),
    Stage1Result(3, "B", (), (None,), ("1",), "no readable row", gold_roles=("actors",)),
    Stage1Result(4, "B", (), (), (), NO_GOLD),
]  # fmt: skip
STAGE2 = [
    Stage2Result(1, "A", (GOLD, FALSE, FACT), (GOLD, GOLD, None), roles=("actors", "actors", "world")),
    Stage2Result(2, "A", (GOLD, ODD), (("1", "so", *GOLD[2:]), ODD), roles=("actors", "actors")),
    Stage2Result(3, "B", (GOLD,), (GOLD,), roles=("actors",)),
    Stage2Result(4, "B", (FALSE,), (None,), "no readable row", roles=("actors",)),
]


def test_extraction_by_hand():
    found = plain(stage1_analyses(STAGE1))
    kinds = found["kinds"]
    for measure, wanted in {
        # gold rows: order 0: 1 of 1; order 1: 1 of 1 ("first" is no order); orders 2 and 3: 1 of 2; world 1 of 1;
        # actors 0,2,1,0: 2 of 4
        "recall": (1, 1, 0.5, 1, 0.5),
        # predicted rows as the model called them: order 0: counts 0, 1, 2: 2 of 3; none of order 1; 2+: 5: 1 of 1
        # world 0, 1: 1 of 2; actors 5, -1, 2: 2 of 3
        "precision": (pytest.approx(2 / 3), None, 1, 0.5, pytest.approx(2 / 3)),
        # 2PR / (P + R): order 0 (4/3)/(5/3) = 0.8; 2+ 1/1.5 = 2/3; world 1/1.5 = 2/3; actors (2/3)/(7/6) = 4/7
        "f1": (pytest.approx(0.8), None, pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(4 / 7)),
    }.items():
        assert tuple(kinds[kind][measure]["value"] for kind in ("0", "1", "2+", "world", "actors")) == wanted, measure
    assert kinds["0"]["recall"]["n"] == 1 and kinds["0"]["precision"]["n"] == 3
    assert kinds["1"]["f1"] == {"value": None, "n": 0, "interval": None, "reason": "no row of this kind"}
    assert kinds["2+"]["recall"]["reason"] == few("stories")
    # predicted counts 0, 1, 5, -1, 2
    assert found["match_counts"]["rows"] == {"0": 2, "1": 1, "2": 1, "3": 0, "4+": 1, "total": 5}
    assert [one["value"] for one in found["match_counts"]["shares"].values()] == [0.4, 0.2, 0.2, 0, 0.2]
    # five predicted and five gold rows in two usable stories, too few for an interval
    without = {"n": 2, "interval": None, "reason": few("stories")}
    assert found["volume"]["predicted_per_story"] == found["volume"]["gold_per_story"] == {"value": 2.5, **without}
    assert plain(stage1_analyses([]))["volume"]["predicted_per_story"]["value"] is None


def test_an_interval_resamples_whole_stories_by_the_seed():
    # five stories with 10 rows all matched, five with 10 rows unmatched: the standard error of a mean of ten ones and
    # noughts is .5/√9 = .1667, however many rows there are; times t(9; .975) = 2.262 and the slope 4 of the logit at
    # 1/2: 0 ± 1.508, [.181, .819]
    stories = [Stage1Result(at, "A", (), (at % 2,) * 10, ("1",) * 10) for at in range(10)]
    recall = plain(stage1_analyses(stories))["kinds"]["1"]["recall"]
    assert (recall["value"], recall["n"]) == (0.5, 100)
    assert recall["interval"] == pytest.approx([0.181, 0.819], abs=0.01)
    # a large story weighs with its rows: 50 of 200, not a mean over stories
    large = Stage1Result(10, "A", (), (0,) * 100, ("1",) * 100)
    assert plain(stage1_analyses([*stories, large]))["kinds"]["1"]["recall"]["value"] == 0.25
    stories = [Stage1Result(at, "A", (), (at % 2, 1), ("1", "1")) for at in range(9)]
    first, again, other = (stage1_analyses(stories, seed=seed, resamples=50)["kinds"]["1"] for seed in (1, 1, 2))
    assert first["recall"].interval == again["recall"].interval != other["recall"].interval


def test_labelling_by_hand():
    found = plain(stage2_analyses(STAGE2))
    kinds = found["kinds"]
    # truth status, order 1: right, wrong, wrong ("so"), not legal, right: 2 of 4; order 0: not answered
    assert kinds["1"]["truth_status"]["value"] == 0.5 and kinds["1"]["truth_status"]["n"] == 4
    assert kinds["0"]["truth_status"]["value"] == 0 and kinds["world"]["truth_status"]["n"] == 1
    # overall of order 1: 5 rows of 7 cells less one that is not legal: 34; wrong are two
    assert kinds["1"]["overall"] == kinds["actors"]["overall"]
    assert kinds["1"]["overall"]["value"] == pytest.approx(32 / 34) and kinds["1"]["overall"]["n"] == 34
    assert kinds["2+"]["overall"]["value"] is None
    table = found["confusion"]["truth_status"]
    assert table["gold"] == ["True", "False", "Unknown"]
    assert table["said"] == ["True", "False", "Unknown", "missing", "illegal"] == list(read_labels("truth_status"))
    # gold True: said True twice, missing once, "so" once; gold False: said True once; the fourth story is unreadable
    assert table["rows"] == [[2, 0, 0, 1, 1], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    # four stories are too few for an interval
    assert {end for ends in table["ends"] for end in ends} == {None}
    labels = found["labels"]["truth_status"]
    assert labels["predicted"] == [3, 0, 0, 1, 1]
    # gold counts the unreadable story too: four True, two False
    assert labels["gold"] == [4, 2, 0, 0, 0] and labels["gold_ends"][3] is None
    assert labels["gold_ends"][2] is labels["ends"][1] is None
    # of 20 such stories, 15 usable with a row of gold True: False was never said, which can be so in 18 % of stories
    # that were not seen
    many = plain(stage2_analyses(STAGE2 * 5))["confusion"]["truth_status"]["ends"]
    assert many[0][1] == pytest.approx([0, unseen_share(15)], abs=1e-5) and many[2] == [None] * 5
    # nothing usable has no figures
    found = plain(stage2_analyses([STAGE2[3]]))
    assert found["kinds"]["1"]["overall"]["value"] is None and found["confusion"]["order"]["rows"][1] == [0] * 6
    assert found["labels"]["truth_status"]["gold"] == [0, 1, 0, 0, 0]
    assert plain(stage2_analyses([]))["labels"]["order"]["gold"] == [0] * 6


def test_outputs_by_hand():
    # four answers, one of them unreadable; of a fifth story there is none
    found = plain(outputs_analysis(["", "", "no readable row", "", None], {"calls": {"the call failed": 1}}))
    assert found["share"]["value"] == 0.25 and found["share"]["n"] == 4
    assert found["unreadable"] == 1 and found["reasons"] == {"no readable row": 1}
    assert found["without"] == {"calls": {"the call failed": 1}}
    assert outputs_analysis([None], {})["share"] == BoundedEstimate(None, 0, None, reason="no answer")


def test_rows_meant_are_the_rows_counted():
    """What a page lists behind a figure adds up to the figure's n, or to its count."""
    stage1, stage2 = plain(stage1_analyses(STAGE1)), plain(stage2_analyses(STAGE2))
    usable1, usable2 = STAGE1[:2], STAGE2[:3]
    for name, count in stage1["match_counts"]["rows"].items():
        if name != "total":
            assert sum(analyses.stage1_rows(one, matches=name)[0] for one in usable1) == count
    for kind, held in stage1["kinds"].items():
        by = "role" if kind in ("world", "actors") else "order"
        rows = sum(analyses.stage1_rows(one, **{by: kind})[0] for one in usable1)
        assert rows == held["precision"]["n"] + held["recall"]["n"]

    def meant(**asked) -> tuple[int, int]:
        return tuple(map(sum, zip(*(analyses.stage2_rows(one, **asked) for one in usable2), strict=True)))

    table = stage2["confusion"]["truth_status"]
    for gold, row in zip(table["gold"], table["rows"], strict=True):
        for said, count in zip(read_labels("truth_status"), row, strict=True):
            assert meant(dimension="truth_status", gold=gold, predicted=said)[0] == count
    for name in DIMENSIONS:
        right, of = meant(dimension=name, order="1")
        held = stage2["kinds"]["1"][name]
        assert of == held["n"] and right / of == held["value"]


def test_each_parse_has_the_analyses_of_its_own_results():
    read = [replace(result, unreadable="") for result in STAGE2]
    for official, repaired in ((read, STAGE2), (STAGE2[:3], STAGE2[:3])):
        results = Results(OMNITOM_SCHEME, {"stage2": official}, {"stage1": [], "stage2": repaired})
        found = measured(results, seed=1)["stage2"].analyses
        for parse, of in (("official", official), ("repaired", repaired)):
            parts = found[parse].finding(analyses.Found).parts
            assert {**stage2_analyses(of), "outputs": parts["outputs"]} == parts
            kept = found[parse].as_json()
            assert list(kept) == ["kinds", "confusion", "labels", "outputs"]
            assert analyses.Found.from_json(kept).parts == parts
            assert plain(analyses.Found.from_json(kept)) == kept
    assert plain(stage2_analyses(read))["kinds"] != plain(stage2_analyses(STAGE2))["kinds"]


def test_tables_3_and_11_of_the_paper_are_what_its_counts_give(omnitom):
    paper = omnitom("paper_tables")
    for row in paper["table_3"]["rows"]:  # it prints the mean of categories
        shares = {name: value for name, value in row["stage1"].items() if name != "Overall" and value is not None}
        if shares:
            rows = [(name, {"f1": f"{value / 100:.6f}"}) for name, value in shares.items()]
            mean = 100 * float(averages(rows, ("f1",), "f1")["overall"]["f1_category_mean"])
            # the finding in "consistency": printed is the unweighted mean, at most 0.0057 off
            assert mean == pytest.approx(row["stage1"]["Overall"], abs=0.0058), row["model"]
            assert mean == pytest.approx(row["check_stage1_unweighted_category_mean"], abs=0.001)
    for row in paper["table_11"]:
        counts = tuple(count for count in range(5) for _ in range(row[f"mc{count}"]))
        result = Stage1Result(1, "A", counts, (1,), ("1",))
        assert result.pred_matched == row["derived"]["matched"]
        assert round(100 * result.pred_matched / len(counts), 2) == row["derived"]["micro_precision_percent"]
        # the last row holds all eight models
        stories = 895 * (8 if row["model"] == "Total" else 1)
        every = [result] + [Stage1Result(2, "A", (), (), ())] * (stories - 1)
        found = plain(stage1_analyses(every, resamples=2))
        assert [*found["match_counts"]["rows"].values()] == [*(row[f"mc{count}"] for count in range(5)), row["total"]]
        per_story = found["volume"]["predicted_per_story"]["value"]
        assert round(per_story, 2) == row["derived"]["beliefs_per_story_over_895"]
