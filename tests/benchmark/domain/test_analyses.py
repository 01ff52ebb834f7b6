"""The paper's further tables: by hand, and from the counts that the paper prints."""

from __future__ import annotations

import pytest

from benchmark.domain.omnitom.analyses import (
    accuracy_by_category,
    confusion,
    label_distribution,
    match_counts,
    recall_by_order,
    unusable_share,
    volume,
)
from benchmark.domain.omnitom.metrics import category_mean
from benchmark.domain.omnitom.results import NO_GOLD, Stage1Result, Stage2Result

GOLD = ("1", "True", "Private", "Implicit", "Epistemic", "Inference", "Neutral")
FALSE = (GOLD[0], "False", *GOLD[2:])

STAGE1 = [
    Stage1Result(1, "A", (0, 1, 5, -1), (1, 0, 2), ("0", "2", "3")),
    Stage1Result(2, "A", (2,), (1, 0), ("1", "first")),
    Stage1Result(3, "B", (), (None,), ("1",), "no usable row"),
    Stage1Result(4, "B", (), (), (), NO_GOLD),
]
STAGE2 = [
    Stage2Result(1, "A", (GOLD, FALSE, GOLD), (GOLD, GOLD, None)),
    Stage2Result(2, "A", (GOLD,), (("1", "so", *GOLD[2:]),)),
    Stage2Result(3, "B", (GOLD,), (GOLD,)),
    Stage2Result(4, "B", (GOLD,), (None,), "no usable row"),
]


def test_stage_1_by_hand():
    # order 0: 1 of 1; order 1: 1 of 1 ("first" is no bucket); orders 2 and 3: one of two
    assert [row["recall"] for row in recall_by_order(STAGE1).values()] == [1, 1, 0.5]
    assert recall_by_order([])["0"] == {"gold": 0, "matched": 0, "recall": None}
    # predicted counts 0, 1, 5, −1, 2
    assert match_counts(STAGE1) == {"0": 2, "1": 1, "2": 1, "3": 0, "4+": 1, "total": 5}
    # five predicted and five gold rows in two usable stories
    assert volume(STAGE1)["predicted_per_story"] == volume(STAGE1)["gold_per_story"] == 2.5


def test_stage_2_by_hand():
    # truth status: story 1 has 1 of 3, story 2 has 0 of 1 → A (1/3 + 0)/2; B 1 of 1, its second story is unusable
    assert accuracy_by_category(STAGE2)["truth_status"] == {"A": pytest.approx(1 / 6), "B": 1}
    table = confusion(STAGE2, "truth_status")
    assert table["True"] == {"True": 2, "False": 0, "Unknown": 0, "missing": 1, "illegal": 1}
    assert table["False"] == {"True": 1, "False": 0, "Unknown": 0, "missing": 0, "illegal": 0}
    spread = label_distribution(STAGE2, "truth_status")
    assert spread["True"] == {"gold": 4, "predicted": 3}
    assert spread["missing"] == {"gold": 0, "predicted": 1}


def test_the_unusable_by_hand():
    # three stories have gold rows, one of them is unusable
    assert unusable_share(STAGE1) == {
        "stories": 3, "unusable": 1, "share": pytest.approx(1 / 3), "reasons": {"no usable row": 1},
    }  # fmt: skip


@pytest.fixture(scope="session")
def paper(omnitom):
    return omnitom("paper_tables")


def test_table_3_prints_the_mean_of_categories(paper):
    for row in paper["table_3"]["rows"]:
        shares = {name: value for name, value in row["stage1"].items() if name != "Overall" and value is not None}
        if not shares:
            continue
        mean = 100 * float(category_mean([f"{value / 100:.6f}" for value in shares.values()]))
        # the finding in "consistency": printed is the unweighted mean, at most 0.0057 off
        assert mean == pytest.approx(row["stage1"]["Overall"], abs=0.0058), row["model"]
        assert mean == pytest.approx(row["check_stage1_unweighted_category_mean"], abs=0.001)
    assert any(one["table"] == "Table 3 Stage 1 Overall" for one in paper["consistency"]["inconsistencies"])


def test_table_10_is_what_accuracy_by_category_gives(paper):
    # stories whose accuracy is the printed one: 10,000 gold rows each would be exact, one story a category is enough
    rows = 10_000
    for values in (models["GPT-5"]["values"] for models in paper["table_10"]["dimensions"].values()):
        results = [
            Stage2Result(1, name, (GOLD,) * rows, (GOLD,) * (hit := round(value * 100)) + (FALSE,) * (rows - hit))
            for name, value in values.items()
        ]
        found = accuracy_by_category(results)["truth_status"]
        assert {name: round(100 * share, 2) for name, share in found.items()} == values


def test_table_10_averages_over_stories_to_table_3(paper):
    stories = {row["category"]: row["stories"] for row in paper["table_4"]["rows"]}
    names = paper["category_abbreviations"]
    for models in paper["table_10"]["dimensions"].values():
        for told in models.values():
            weighted = sum(value * stories[names[short]] for short, value in told["values"].items()) / 895
            assert weighted == pytest.approx(told["check_story_weighted_mean"], abs=0.001)


def test_table_11_from_its_counts(paper):
    for row in paper["table_11"]:
        counts = tuple(count for count in range(5) for _ in range(row[f"mc{count}"]))
        result = Stage1Result(1, "A", counts, (1,), ("1",))
        found = match_counts([result])
        assert list(found.values()) == [*(row[f"mc{count}"] for count in range(5)), row["total"]]
        assert result.pred_matched == row["derived"]["matched"]
        assert round(100 * result.pred_matched / len(counts), 2) == row["derived"]["micro_precision_percent"]
        # the last row holds all eight models
        stories = 895 * (8 if row["model"] == "Total" else 1)
        per_story = volume([result] + [Stage1Result(2, "A", (), (), ())] * (stories - 1))["predicted_per_story"]
        assert round(per_story, 2) == row["derived"]["beliefs_per_story_over_895"]


def test_table_12_from_its_counts(paper):
    for row in paper["table_12"]:
        for stage in ("st1", "st2"):
            percent = row[f"{stage}_unusable_percent"]
            if percent is None:
                continue
            failed = row[f"{stage}_implied_stories"]
            results = [Stage1Result(at, "A", (), (), (), "no usable row" if at < failed else "") for at in range(895)]
            assert round(100 * unusable_share(results)["share"], 2) == percent


def test_figure_of_the_human_judgements(paper):
    told = paper["in_text"]["human_matchcount_distribution"]
    counts = tuple(count for count in range(4) for _ in range(told[f"mc{count}"]))
    found = match_counts([Stage1Result(1, "A", counts, (), ())])
    assert [round(100 * found[str(count)] / found["total"], 2) for count in range(4)] == told["percent"]
