"""Official parsing and scoring: records, pipe tables, labels, judgements and figures, as the released code has them."""

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites.omnitom import data, released
from benchmark.suites.omnitom.data import BadRecord, parse_story_ids, read_records, select
from benchmark.suites.omnitom.labels import COLUMNS, canonical
from benchmark.suites.omnitom.official import score_official, stored_tables
from benchmark.suites.omnitom.parsing import official
from benchmark.suites.omnitom.parsing.official import JudgedRow, align, extraction_rows, label_rows, match_count
from benchmark.suites.omnitom.results import Stage1Result, Stage2Result, stage1_metrics, stage2_metrics
from judge.domain.text import key, normalise_space
from tests.benchmark.domain.mock_judge import exact_match_counts, mock_judgement

RECORD = b'{"story_id": %d, "story_category": "Hinting", "story": "S", "beliefs": []}\n'


# --- records
def test_ids_of_stories_are_read_as_officially(omnitom):
    cases = [case for case in omnitom("unit_scalars")["cases"] if case["fn"] == "parse_story_ids"]
    assert len(cases) > 12
    for case in cases:
        if isinstance(case["expected"], dict):
            with pytest.raises(ValueError, match="is not a story id"):
                parse_story_ids(case["input"])
        else:
            found = parse_story_ids(case["input"])
            assert (sorted(found) if found else None) == case["expected"], case


def test_a_selection_keeps_the_order_of_the_file():
    with pytest.raises(ValueError, match="longer than"):  # it would fill the memory
        parse_story_ids("1-99999999999")
    handle = io.BytesIO(b"\xef\xbb\xbf" + b"\n".join(RECORD % number for number in (9, 2, 2, 5)))
    records = read_records(handle, "r.jsonl")
    assert [record.story_id for record in select(records, parse_story_ids("2-5"))] == [2, 2, 5]
    assert [record.story_id for record in select(records, parse_story_ids("7-5"), 2)] == [9, 2]


def test_a_broken_record_is_named_by_file_and_line():
    for line, told in [
        (b"{\n", "not JSON"),
        (b"[1]\n", "The line holds a list; expected one JSON object"),
        (b"\xff\n", "not UTF-8"),
        (b'{"story_id": "7"}\n', "story_id"),
        (b'{"story_id": 7, "story_category": 1, "story": ""}\n', "story_category: it is 1; expected a text"),
        (b'{"story_id": 7, "story_category": "a", "story": "\\ud800"}\n', "surrogate"),
        (b'{"story_id": 7, "beliefs": [1]}\n', "beliefs"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
    ]:
        with pytest.raises(BadRecord, match=rf"^r\.jsonl, line 3: .*{told}"):
            read_records(io.BytesIO(RECORD % 1 + b" \n" + line), "r.jsonl")


# --- tables and labels
def test_the_official_reading_of_pipe_tables_and_labels(omnitom):
    for case in omnitom("unit_pipe_tables")["cases"]:
        expected, text = case["expected"], case["text"]
        assert list(official.cells(text)) == expected["cells"], case["note"]
        assert [list(row) for row in extraction_rows(text)] == expected["extract_rows"], case["note"]
        assert [row.cells() for row in label_rows(text)] == expected["label_rows"], case["note"]
    keys = {column: name for name, column in COLUMNS.items()}
    for case in omnitom("unit_labels")["cases"]:
        dimension = keys.get(case["dimension"], case["dimension"])
        assert canonical(dimension, case["input"]) == case["expected"], case
        assert canonical(dimension, case["expected"]) == case["expected"]


def test_only_the_first_row_is_a_header_columns_are_positional_and_a_pipe_in_a_belief_cuts_it():
    text = "Order | Actor | Belief\n--- | --- | ---\n0 | world | It rains..\n\nActor | Belief | Order\n"
    assert [tuple(row) for row in extraction_rows(text)] == [
        ("Order", "Actor", "Belief"),
        ("0", "world", "It rains.."),  # the order, as far as official parsing knows
        ("Actor", "Belief", "Order"),
    ]
    assert [tuple(row) for row in extraction_rows("world | A \\| B | 0")] == [("world", "A \\", "B")]
    for dimension, text, label in (
        ("order", "1st or 2nd", "1"),
        ("content_type", "Contents & Physical State", "Contents/Physical State"),
        ("content_type", "physical-state", "physical-state"),
        ("truth_status", "Truth: True", "Truth: True"),
        ("knowledge_access", "unknown!", "Unknown"),
    ):
        assert canonical(dimension, text) == label


def test_the_official_tables_of_prompts(omnitom, omnitom_run):
    records = {record.story_id: record for record in omnitom_run("e2e_perfect")[0]}
    for case in omnitom("serialisers")["cases"]:
        record = records[case["story_id"]]
        assert data.belief_table(record) == case["belief_table_pipe"]
        assert official.gold_csv(row.as_told for row in record.rows) == case["belief_table_csv"]
        rows = [(row.actor, row.belief) for row in record.rows]
        assert official.predictions_csv(rows) == case["predictions_csv_of_gold"]
        assert data.gold_extraction_table(record) == case["gold_extraction_pipe"]
        assert data.gold_label_table(record) == case["gold_label_pipe"]


def test_the_tables_that_a_judge_is_shown():
    rows = [(" Ines ", "The  key"), ("", "nobody"), ("Tomas", "a, b")]
    assert official.predictions_csv(rows) == 'Actor,Belief\nInes,The key\n,nobody\nTomas,"a, b"\n'
    assert official.gold_csv(rows) == 'Actor,Belief\nInes,The  key\nTomas,"a, b"\n'


# --- judgements
TABLE = 'Prediction Table:\nActor,Belief,MatchCount\nInes,"The key, and the bag",{}\n'


def test_the_official_reading_and_alignment_of_judge_texts(omnitom):
    functions = {"normalize_space": normalise_space, "normalize_key": key, "coerce_matchcount": match_count}
    functions["is_heading"] = lambda text: {
        "pred": official.is_prediction_heading(text),
        "gt": official.is_gold_heading(text),
    }
    cases = [case for case in omnitom("unit_scalars")["cases"] if case["fn"] in functions]
    assert len(cases) > 100
    for case in cases:
        assert functions[case["fn"]](case["input"]) == case["expected"], case
    vectors = omnitom("unit_judge")
    rows = {side: [tuple(row) for row in vectors["input_rows"][side]] for side in ("pred", "gt")}
    for case in vectors["cases"]:
        found, expected = official.parse_judgement(case["text"]), case["expected"]
        for side, judged in zip(("pred", "gt"), found, strict=True):
            assert [list(row.keyed()) for row in judged] == expected[f"parsed_{side}"], case["note"]
            assert align(rows[side], judged) == expected[f"aligned_{side}"], case["note"]
    for case in omnitom("unit_exact_matchcount")["cases"]:
        assert exact_match_counts(case["left"], case["right"]) == case["expected"]


def test_counts_are_read_to_the_end_of_the_table():
    text = TABLE.format(2) + "```\nTomas,The key is here,1\nGT\nActor,Belief,MatchCount\nInes,x,1"
    found = official.parse_judgement(text)
    assert [tuple(row) for row in found[0]] == [("Ines", "The key, and the bag", 2)]
    assert [tuple(row) for row in found[1]] == [("Ines", "x", 1)]
    # an actor called GT cuts it
    found = official.parse_judgement(TABLE.format(1) + "GT,The car is fast,1\nTomas,The key is here,1\n")
    assert len(found[0]) == 1 and found[1] == []
    # what is written is read back
    rows = [('Ines "the cat"', "a, b", 2), ("Tomas", "|\x00\u202e<script>", 0)]
    written, gold = official.judged_csv(rows), official.judged_csv(rows[:1])
    found = official.parse_judgement(f"Prediction Table:\n{written}\nGround Truth Table:\n{gold}")
    assert [tuple(row) for row in found[0]] == rows and [tuple(row) for row in found[1]] == rows[:1]
    # a count is cut towards zero
    counts = {"1.9": 1, "-0.5": 0, "1e1": 10, "٣": 3, "nan": 0, "1e999": 0, "1 match": 0, None: 0}
    assert {said: match_count(said) for said in counts} == counts
    # the highest count goes first: "ines|x" is judged 0, 3 and 1, so that its three rows take 3, 1, 0; the judged
    # "tomas" has no row, "Bo" no judgement
    told = [("INES", "x", 0), ("ines", '"X"', 3), ("Tomas", "y", 9), ("Ines", "x", 1)]
    rows = [("Ines", "x"), ("Ines", "X"), ("Bo", "y"), ("ines", "x")]
    assert align(rows, [JudgedRow(*row) for row in told]) == [3, 1, 0, 0]


def test_a_field_that_the_released_code_cannot_read_is_a_named_error_and_leaves_no_figure(make_record):
    limit, most = csv.field_size_limit(), official.MAX_FIELD
    too_long = TABLE.format(f"1\nInes,{'x' * (most + 1)},1")
    with pytest.raises(official.OversizedField, match="131,072 characters"):
        official.parse_judgement(too_long)
    csv.field_size_limit(2 * most)  # the limit is the process's own; others raise it
    try:
        with pytest.raises(official.OversizedField):
            official.parse_judgement(too_long)
    finally:
        csv.field_size_limit(limit)
    assert official.parse_judgement(TABLE.format(f"1\nInes,{'x' * most},1"))[0][1].count == 1
    record = make_record(1, ("Ines", "It rains"))
    texts = mock_texts([record])
    texts[1]["label"] += f"\nInes | {'x' * (most + 1)}" + " | a" * 7
    found = score_official([record], texts)
    assert found["stage1"]["overall"]["f1"] == "1.000000" and found["stage2"] is None
    assert "Story 1, label: " in found["reason"]["stage2"] and "aborts" in found["reason"]["stage2"]


words = st.sampled_from(["a", "A", '"a"', "b", "b.", "", " c "])


@given(st.lists(st.tuples(words, words)), st.lists(st.builds(JudgedRow, words, words, st.integers(-2, 5))))
def test_every_row_gets_one_count_and_no_count_is_used_twice(rows, judged):
    counts = align(rows, judged)
    assert len(counts) == len(rows)
    left = [row.count for row in judged]
    for count in filter(None, counts):
        left.remove(count)
    assert align(rows, list(reversed(judged))) == counts


pieces = ["Actor", "|", "---", "\n", "\r\n", "\\", "```", " ", "Belief", "0", "True", "\x00", ".", '"', ",", "\r"]
pieces += ["Prediction", "GT", "Actor,Belief,MatchCount", "1", "Ines"]


@given(st.one_of(st.text(), st.lists(st.sampled_from(pieces)).map("".join)))
def test_no_text_breaks_a_parser(text):
    assert all(row.belief == row.belief.rstrip(".") for row in extraction_rows(text))
    assert all(len(row.labels) == 7 for row in label_rows(text))
    for dimension in COLUMNS:
        stored = canonical(dimension, text)
        assert canonical(dimension, stored) == stored
    found = official.parse_judgement(text)
    assert all(isinstance(row.count, int) for side in found for row in side)
    assert isinstance(match_count(text), int)


def test_a_megabyte_is_parsed():
    pipes = ("a | b | 1\n", "\x00|", "שלום | \u202eעולם | 1\n", "<script> | x | 1\n", " " * 99 + "|")
    for line in (*pipes, 'a,"b,1\n', "a,b\x00,1\n", "<script>alert(1)</script>,x,1\n", "Prediction:\n"):
        text = line * (1_000_000 // len(line))
        extraction_rows(text)
        label_rows(text)
        try:
            official.parse_judgement(f"Prediction Table:\nActor,Belief,MatchCount\n{text}")
        except official.OversizedField:
            assert '"' in line


# --- figures
def same(found: dict, expected: dict) -> None:
    """The vectors have `overall` as a list of one row, and no mean of categories."""
    overall = {name: value for name, value in found["overall"].items() if name != "f1_category_mean"}
    assert [overall] == (expected["overall"] if isinstance(expected["overall"], list) else [expected["overall"]])
    assert found["by_category"] == expected["by_category"]
    assert found["stories"] == expected["stories"]


def test_figures_by_hand():
    # story 1: P = 1/3, R = 2/2, F1 = 2·(1/3)/(4/3) = 1/2; story 2: P = 0 of no rows, R = 1/2, F1 = 0
    # overall: P 1/6, from the rounded 0.333333 → 0.1666665; R 3/4; F1 1/4
    results = [Stage1Result(1, "A", (0, 2, 0), (1, 3), ("1", "1")), Stage1Result(2, "B ", (), (1, -1), ("1", "1"))]
    found = stage1_metrics(results)
    assert found["stories"][0] == {
        "story_id": "1", "story_category": "A", "pred_total": "3", "gt_total": "2", "pred_matched": "1",
        "gt_matched": "2", "precision": "0.333333", "recall": "1.000000", "f1": "0.500000",
    }  # fmt: skip
    assert (found["overall"]["recall"], found["overall"]["f1"]) == ("0.750000", "0.250000")
    assert [row["story_category"] for row in found["by_category"]] == ["A", "B"]
    # three stories of A at 1/2 and one of B at 0: mean over stories 3/8, over categories 1/4
    overall = stage1_metrics([results[0]] * 3 + [results[1]])["overall"]
    assert (overall["f1"], overall["f1_category_mean"]) == ("0.375000", "0.250000")
    # two gold rows. Row 1: all seven right but the last, where gold is "" as well; row 2 has no prediction.
    # six dimensions 1/2, the last 0: overall (6 · 1/2) / 7 = 0.428571
    gold = ("1", "True", "Private", "Implicit", "Epistemic", "Inference", "")
    [story] = stage2_metrics([Stage2Result(4, "A", (gold, gold), (gold, None))])["stories"]
    assert (story["pairs"], story["matched_pairs"], story["overall_accuracy"]) == ("2", "1", "0.428571")
    assert (story["acc_order"], story["acc_context"]) == ("0.500000", "0.000000")


def test_the_official_arithmetic(omnitom):
    def counts(total: int, matched: int) -> tuple[int, ...]:
        return (1,) * matched + (0,) * (total - matched)

    for case in omnitom("metrics_stage1_arithmetic")["cases"]:
        results = [
            Stage1Result(number, category, counts(pred, pred_hit), counts(gold, gold_hit), ("",) * gold)
            for number, (category, pred, pred_hit, gold, gold_hit) in enumerate(case["stories"], 1)
        ]
        same(stage1_metrics(results), case["expected"])
    for case in omnitom("metrics_stage2_arithmetic")["cases"]:
        results = []
        for number, (category, rows, wrong) in enumerate(case["stories"], 1):
            said = tuple(tuple("x" if row < many else "a" for many in wrong) for row in range(rows))
            results.append(Stage2Result(number, category, (("a",) * 7,) * rows, said))
        same(stage2_metrics(results), case["expected"])


def test_the_official_figures_of_whole_runs(omnitom_run):
    for name in ("e2e_perfect", "e2e_noisy_known"):
        records, texts, expected = omnitom_run(name)
        found = score_official(records, texts)
        for group in ("stage1", "stage2"):
            same(found[group], expected[group])
        tables = stored_tables(records, texts)
        for story, parsed in expected["parsed"].items():
            held = tables[int(story)]
            assert [list(row) for row in held.extraction] == parsed["extract"]
            assert [row.cells() for row in held.labels] == parsed["label"]
            for rows, side in zip(held.judged, ("judge_pred", "judge_gt"), strict=True):
                assert [[row.actor, row.belief, str(row.count)] for row in rows] == parsed[side]
    many = [replace(records[number % len(records)], story_id=number) for number in range(895)]
    answers = {record.story_id: texts[records[record.story_id % len(records)].story_id] for record in many}
    assert score_official(many, answers)["stage1"]["overall"]["stories"] == "895", "the whole benchmark"


def mock_texts(records) -> dict[int, dict[str, str]]:
    """What the official mock backend answers."""
    out = {}
    for record in records:
        extract = data.gold_extraction_table(record)
        rows = stored_tables([record], {record.story_id: {"extract": extract}})[record.story_id].extraction
        judge = mock_judgement([(row.actor, row.belief) for row in rows], record)
        out[record.story_id] = {"extract": extract, "label": data.gold_label_table(record), "judge": judge}
    return out


def test_the_official_mock_backend_to_the_last_file(omnitom_run):
    records, _, expected = omnitom_run("e2e_mock_backend")
    texts = mock_texts(records)
    tables = stored_tables(records, texts)
    for story, told in expected["per_story"].items():
        held = tables[int(story)]
        assert (len(held.extraction), len(held.labels)) == (told["extract_rows"], told["label_rows"])
        assert [[row.count for row in rows] for rows in held.judged] == [told["judge_pred"], told["judge_gt"]]
    exchanges = {
        story: {step: released.Exchange("system", "user", text) for step, text in steps.items()}
        for story, steps in texts.items()
    }
    files = dict([*released.files(records, exchanges), *released.metric_files(score_official(records, texts))])
    assert 1 + len(files) == expected["file_count"]
    for story in ("1", "9013"):
        name = f"story_{int(story):03d}"
        own = sorted(path for path in files if f"{name}." in path or f"{name}_" in path)
        assert own == expected[f"files_for_story_{story}"]
    manifest = released.manifest(records, expected["manifest"]["dataset_path"], "mock", ("extract", "label", "judge"))
    assert manifest == expected["manifest"] and list(manifest) == expected["manifest_key_order"]
    for name, rows in expected["metrics"].items():
        lines = files[f"metrics/{name}.csv"].decode().split("\r\n")
        assert lines[0] == expected["csv_headers"][name] and lines[1:-1] == [",".join(row.values()) for row in rows]


def test_cells_are_stored_with_one_blank_and_crlf(make_record):
    calls = {7: {"extract": released.Exchange(" s ", "u", "Ines | It  rains . | 1\n")}}
    files = dict(released.files([make_record(7, ("Ines", "It rains"))], calls))
    assert sorted(files) == ["extraction/csv/story_007_extract.csv", "extraction/raw/story_007.txt"]
    assert files["extraction/csv/story_007_extract.csv"] == b"actor,belief,order\r\nInes,It rains,1\r\n"


def test_a_step_has_figures_only_with_every_story_of_the_selection(make_record):
    records = [make_record(number, ("Ines", "It rains")) for number in (1, 2)]
    texts = mock_texts(records)
    del texts[2]["judge"]
    found = score_official(records, texts)
    assert found["stage1"] is None
    assert found["reason"] == {"stage1": "Story 2 has no answer for judge; official scoring needs one of every story."}
    assert found["stage2"]["overall"]["overall_accuracy"] == "1.000000"
    assert score_official(records[:1], texts)["stage1"]["overall"]["f1"] == "1.000000"
    # records of one id share the tables of the first
    both = [records[0], make_record(1, ("Bo", "It snows"), ("Bo", "It thaws"))]
    found = score_official(both, texts)
    assert [row["gt_total"] for row in found["stage1"]["stories"]] == ["1", "1"]
    assert [row["overall_accuracy"] for row in found["stage2"]["stories"]] == ["1.000000", "0.000000"]
