"""What a person reads in an answer, beside what the released code reads."""

from benchmark.suites.opentom.data import load
from benchmark.suites.opentom.parsing import (
    ACCESSIBILITY,
    ATTITUDE,
    COARSE,
    FINE,
    FULLNESS,
    LABELS,
    NEITHER,
    OUTSIDE,
    UNREADABLE,
    predicted_label,
    read_answer,
)
from benchmark.suites.opentom.steps import parse, places_of, right_label
from benchmark.suites.questions import Question, Sample
from benchmark.suites.settings import Settings

NO_PLACES = ("", "")
NESTED = ("box", "donation box")
TRASH = ("crate", "the trash can")


def test_words_count_whole_and_denied_ones_do_not():
    for kind, answer, official, repaired in [
        (COARSE, "No.", 0, 0),
        (COARSE, "**Yes**", 1, 1),
        (COARSE, "He knows: yes", UNREADABLE, 1),
        (COARSE, "He knows it.", 0, None),
        (COARSE, "Her eyes see it.", 1, None),
        (COARSE, "Noah would say yes", UNREADABLE, 1),
        (COARSE, "Yes or no", UNREADABLE, None),
        (COARSE, "", UNREADABLE, None),
        (FULLNESS, "It is less  full.", UNREADABLE, 1),
        (FULLNESS, "less full, or equally full", 1, None),
        (FULLNESS, "Not less full but more full", 1, 2),
        (FULLNESS, "It is emptier", 1, 1),
        (ACCESSIBILITY, "It is not more accessible.", 1, None),
        (ACCESSIBILITY, "It is never less accessible; it is equally accessible.", 2, 3),
        (ACCESSIBILITY, "More Accessible", 1, 1),
        (ATTITUDE, "A. positive or negative", 1, None),
        (ATTITUDE, "Not positive. Neutral.", 1, 3),
        (ATTITUDE, "b", 3, OUTSIDE),
        (ATTITUDE, "unpositively", 1, OUTSIDE),
        (ATTITUDE, "Angry.", UNREADABLE, OUTSIDE),
        (ATTITUDE, "The attitude is negative, because she likes it.", 2, 2),
        (COARSE, "Maybe.", UNREADABLE, OUTSIDE),
        (COARSE, "It cannot be determined.", 0, OUTSIDE),
        (COARSE, "Yes, because no one moved it.", UNREADABLE, 1),
        (COARSE, "I can't help with that. No.", 0, 0),
        (COARSE, "No. I can't help with that.", 0, None),
        (COARSE, "No, I can't help with that.", 0, None),
        (COARSE, "I don't know.", 0, None),
        (COARSE, "no output", 0, None),
        (FULLNESS, "Half full", UNREADABLE, OUTSIDE),
        (FULLNESS, "It stays the same.", UNREADABLE, 3),
        (ACCESSIBILITY, "Hidden", UNREADABLE, OUTSIDE),
    ]:
        assert predicted_label(kind, answer.strip(), NO_PLACES) == official, answer
        assert read_answer(kind, answer, NO_PLACES)[0] == repaired, answer


def test_places_are_read_as_wholes():
    for places, answer, official, repaired in [
        (NESTED, "the box", 1, 1),
        (NESTED, "In the donation box.", NEITHER, 2),
        (NESTED, "It left the box for the donation box.", NEITHER, None),
        (NESTED, "on the table", NEITHER, OUTSIDE),
        (NESTED, "On a shelf, because it was moved there.", NEITHER, OUTSIDE),
        (NESTED, "somewhere else", NEITHER, None),
        (NESTED, "the donation box, because it is no longer in the box", NEITHER, 2),
        (TRASH, "I can't help with that.", NEITHER, None),
        (TRASH, "I can not help with that.", 2, None),
        (TRASH, "It will be moved by the one who can.", 2, None),
        (TRASH, "In the trash", 2, 2),
        (TRASH, "in the garbage bin", NEITHER, 2),
        (TRASH, "In the can", 2, 2),
        (("crate", "Nora's own refrigerator"), "In Nora's fridge.", 2, 2),
        (("pantry", "kitchen_pantry"), "The kitchen pantry", NEITHER, 2),
        (("aisle", "a cart"), "the aisle", NEITHER, 1),
        (("an oven", "the bin"), "an oven", 1, 1),
        (("attic", "the cellar"), "The attic", NEITHER, 1),
        (("Kofi's drawer", "a shelf"), "Kofi’s drawer!", NEITHER, 1),
        (("green bucket", "red drawer"), "bucket", 1, 1),
        (("green bucket", "red bucket"), "bucket", NEITHER, None),
    ]:
        assert predicted_label(FINE, answer, places) == official, answer
        assert read_answer(FINE, answer, places)[0] == repaired, answer


def test_every_gold_answer_of_the_data_is_read_as_right(shared):
    for sample in load(shared / "data" / "OpenToM").samples:
        kind = sample.content["kind"]
        label = read_answer(kind, sample.gold["answer"], places_of(sample))[0]
        assert label is not None and label == right_label(sample), sample.key
        assert kind == FINE or label == LABELS[kind][sample.gold["answer"]]


def test_the_official_parse_reads_what_the_released_code_reads_by_each_method():
    content = {"story": "", "question": "?", "kind": COARSE, "people": ["Una"], "perspective": "mover"}
    gold = {"answer": "Yes", "label": 1, "places": ["box", "jar"], "mover": "Una", "observer": "Vic"}
    for method, answer, official, repaired in [
        ("cot", "No, wait.\nFinal answer: Yes", 1, 1),
        ("cot", "No one moved it. Therefore yes", 1, 1),
        ("cot", "No one moved it.\nYes\n", 1, 1),
        ("cot", "Yes.\n\nI hope that this helps you!", UNREADABLE, None),
        ("cot", "Final answer: yes\nNo doubt.", 0, 1),
        ("self-ask", "No one moved it.\nFinal answer: Yes", UNREADABLE, 1),
        ("plain", "No one moved it.\nYes", UNREADABLE, 1),
    ]:
        asked = Question(Sample("1", "1", content, gold), "answer", Settings({"method": method}), None)
        parsed = parse(asked, answer)
        assert (parsed.official["label"], parsed.repaired["label"]) == (official, repaired), answer
