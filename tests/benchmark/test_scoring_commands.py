"""`parse_outputs` and `score_outputs`: what the released code makes of files of answers, and one sentence on what is
wrong."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

RECORD = {
    "story_id": 7,
    "story_category": "Hinting",
    "story": "It rains.",
    "beliefs": [{"actor": "Ines", "belief": "It rains", "labels": {"order": "1"}}],
}


def run(*arguments) -> str:
    out = StringIO()
    call_command(*map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def lines(*arguments) -> list[dict]:
    return [json.loads(line) for line in run(*arguments).splitlines()]


def refused(*arguments) -> str:
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command(*map(str, arguments), stdout=out, stderr=StringIO())
    assert out.getvalue() == ""
    sentence = str(caught.value)
    assert "\n" not in sentence and "Errno" not in sentence
    return sentence


@pytest.fixture
def write(tmp_path):
    def make(name: str, value, *, as_lines: bool = False):
        path = tmp_path / name
        rows = value if as_lines else [value]
        text = value if isinstance(value, str) else "\n".join(json.dumps(row) for row in rows)
        path.write_text(text, encoding="utf-8")
        return path

    return make


def test_official_parsing_of_pipe_tables(omnitom, write):
    cases = omnitom("unit_pipe_tables")["cases"]
    path = write("texts.jsonl", [{"id": at, "text": case["text"]} for at, case in enumerate(cases)], as_lines=True)
    for kind in ("extract", "label"):
        found = lines("parse_outputs", kind, path, "--json")
        assert found == [{"id": at, "rows": case["expected"][f"{kind}_rows"]} for at, case in enumerate(cases)]


def test_official_parsing_of_judge_texts(omnitom, write):
    vectors = omnitom("unit_judge")
    texts = [{"id": case["note"], "text": case["text"]} for case in vectors["cases"]]
    path = write("texts.jsonl", texts, as_lines=True)
    for line, case in zip(lines("parse_outputs", "judge", path), vectors["cases"], strict=True):
        assert line == {
            "id": case["note"], "pred": case["expected"]["parsed_pred"], "gold": case["expected"]["parsed_gt"],
        }  # fmt: skip
    pred, gold = (write(f"{side}.json", vectors["input_rows"][side]) for side in ("pred", "gt"))
    aligned = lines("parse_outputs", "judge", path, "--pred", pred, "--gold", gold)
    for line, case in zip(aligned, vectors["cases"], strict=True):
        assert [row[:2] for row in line["pred"]] == vectors["input_rows"]["pred"]
        assert [row[2] for row in line["pred"]] == case["expected"]["aligned_pred"]
        assert [row[2] for row in line["gold"]] == case["expected"]["aligned_gt"]


def test_rows_may_differ_from_text_to_text(write):
    text = "GT\nActor,Belief,MatchCount\nInes,a,1\nBo,b,2"
    path = write("texts.jsonl", [{"id": 1, "text": text}, {"id": "x", "text": text}], as_lines=True)
    gold = write("gold.json", {"1": [["ines", "A"]], "x": [["Bo", "b"], ["Bo", "b"]]})
    found = lines("parse_outputs", "judge", path, "--gold", gold)
    assert [line["gold"] for line in found] == [[["ines", "A", 1]], [["Bo", "b", 2], ["Bo", "b", 0]]]
    assert "no rows for the id '1'" in refused("parse_outputs", "judge", path, "--gold", write("g.json", {"x": []}))
    hostile = "<script>alert(1)</script> | \u202eשלום\x00 | 1\n\ud83d\ude00 | b | 0"
    path = write("t.jsonl", json.dumps({"id": None, "text": hostile}))
    assert lines("parse_outputs", "extract", path) == [
        {"id": None, "rows": [["<script>alert(1)</script>", "\u202eשלום\x00", "1"], ["😀", "b", "0"]]}
    ]


def test_official_figures_of_whole_runs(omnitom, shared, write):
    for name in ("e2e_perfect", "e2e_noisy_known"):
        case = omnitom(name)
        data, answers = shared / "vectors" / "omnitom" / case["records_file"], write("a.json", case["raw_outputs"])
        found = json.loads(run("score_outputs", "omnitom", "--data", data, "--answers", answers, "--json"))
        for group in ("stage1", "stage2"):
            told, expected = found["official"][group], case["expected"][group]
            told["overall"].pop("f1_category_mean", None)
            overall = expected["overall"] if isinstance(expected["overall"], dict) else expected["overall"][0]
            assert told == {**expected, "overall": overall}
            repaired = found["repaired"][group]
            assert repaired["overall"].keys() >= {*told["overall"], "interval", "bounds", "unreadable"}
            assert [row["story_id"] for row in repaired["stories"]] == [int(row["story_id"]) for row in told["stories"]]


def test_a_selection_averages_only_the_selection_and_people_are_told_in_words(omnitom, shared, write):
    case = omnitom("e2e_noisy_known")
    command = ("score_outputs", "omnitom", "--data", shared / "vectors" / "omnitom" / case["records_file"], "--answers")
    answers = write("a.json", case["raw_outputs"])
    chosen = ("--story-ids", "9013-9015", "--max-stories", 2, "--seed", 4)
    few = json.loads(run(*command, answers, "--json", *chosen))
    assert [row["story_id"] for row in few["official"]["stage1"]["stories"]] == ["9013", "9014"]
    assert few["repaired"]["stage1"]["seed"] == 4
    some = write("b.json", {story: case["raw_outputs"][story] for story in ("9014", "9013")})
    assert json.loads(run(*command, some, "--json"))["official"] == few["official"]
    text = "Ines | It rains | 1 | True | Private | Implicit | Epistemic | Memory | Neutral"
    answers = write("a.json", {"7": {"label": text}})
    told = run("score_outputs", "omnitom", "--data", write("r.jsonl", RECORD), "--answers", answers)
    assert "official  Stage 2: labelling  Order" in told
    assert "stage2" not in told and "Stage 1" not in told


KNOWN = json.dumps(RECORD)


BAD = [
    ("{}\n", {"7": {}}, "r.jsonl, line 1: The field story_id is missing; expected an object with story_id, story_cat"),
    ("", {"7": {}}, "holds no record"),
    (f"{KNOWN}\n\nx", {"7": {}}, "r.jsonl, line 3: column 1: it is not JSON"),
    (KNOWN, '{\n"7": {},\n}', "a.json, line 3, column 1: it is not JSON"),
    (KNOWN, '{"7": {}, "7": {}}', "occurs twice"),
    (KNOWN, "[" * 100_000, "the JSON is nested too deeply"),
    (KNOWN, {"8": {}}, "answers story '8', which the records do not have"),
    (KNOWN, {"7": {"extract": 1}}, "story 7, extract: it is 1; expected a text."),
    (KNOWN, {"7": {"labels": ""}}, "story 7: there is no field 'labels'; expected only extract, label, judge."),
    (KNOWN, {"7": {"judge": ""}}, "needs the extract answer"),
    (KNOWN, {"7": {}, "07": {}}, "answers story 7 twice"),
    (KNOWN, {}, "holds no answers"),
]


def test_bad_input_is_one_sentence(write, tmp_path):
    for records, answers, told in BAD:
        data, file = write("r.jsonl", records), write("a.json", answers)
        assert told in refused("score_outputs", "omnitom", "--data", data, "--answers", file, "--json")
    long = json.dumps({"id": 1, "text": f"GT\nActor,Belief,MatchCount\n{'x' * 140_000},1"})
    for text, told in (
        ('{"id": 1}', "line 2: The field text is missing; expected an object with id, text"),
        ("nonsense", "line 2: column 1: it is not JSON"),
        (long, "line 2: The text holds a CSV field of more than 131,072 characters"),
    ):  # it stops before any output
        path = write("t.jsonl", json.dumps({"id": 0, "text": "GT"}) + "\n" + text)
        assert told in refused("parse_outputs", "judge", path)
    data, answers = write("r.jsonl", RECORD), write("a.json", {"7": {"extract": "x"}})
    score, none = ("score_outputs", "omnitom", "--data", data, "--answers"), tmp_path / "none.json"
    for arguments, sentence in (
        ((*score, none), "There is no file"),
        ((*score, tmp_path), "is a folder"),
        ((*score, answers, "--story-ids", "9"), "No story is selected"),
        ((*score, answers, "--story-ids", "a-b"), "is not a story id"),
        ((*score, answers, "--seed", "-1"), "The seed is -1; expected 0 or more."),
        ((*score, answers, "--max-stories", "-3"), "max_stories is -3"),
        (("score_outputs", "omnitom", "--data", tmp_path, "--answers", answers), f"{tmp_path}: is a directory."),
        (("parse_outputs", "extract", none), "There is no file"),
        (("parse_outputs", "extract", tmp_path), "is a folder"),
        (("parse_outputs", "extract", write("empty.jsonl", "\n")), "holds no text"),
        (("parse_outputs", "label", data, "--gold", answers), "--pred and --gold are for judge"),
    ):
        assert sentence in refused(*arguments), arguments
