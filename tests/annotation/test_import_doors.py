"""What every importer of files has in common: names of columns, unused parts, malformed files, and what would fit."""

import csv
import io
import json
import random
import re

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse

from annotation.domain.formats import STORIES
from annotation.domain.problems import LeftOut, Problem
from annotation.domain.stories import read_stories
from annotation.models import Proposition, Story, Vote
from core.incoming.sheets import BadSheet, rows_of

RAIN = [{"actor": "world", "belief": "It rains"}]
RECORDS = [
    {"story_id": number, "story_category": "Moved things", "story": f"Story {number}.", "beliefs": RAIN}
    for number in (928, 929)
]
TEXTS = [{"text": "Mia hides the key.", "labels": ["x"]}, {"text": "Leo waits.", "labels": []}]


@pytest.fixture
def admin(cast, client):
    client.force_login(cast.alice)
    return client


def brought(admin, raw, name="file.csv", **more):
    """Return the answer to a file that is imported."""
    file = SimpleUploadedFile(name, raw.encode() if isinstance(raw, str) else raw)
    said = {"format": "auto", "language": "en", "files": file, "keep": "1", **more}
    return admin.post(reverse("annotation:import", args=["minds"]), said).context["answer"]


SPELT = {
    "blanks and capitals": lambda name: f" {name.replace('_', ' ').title()} ",
    "hyphens": lambda name: name.replace("_", "-").upper(),
    "camels": lambda name: name.title().replace("_", ""),
    "blanks that do not break": lambda name: f"\u00a0{name.replace('_', chr(0xA0))}\u200b",
    "full width": lambda name: "".join(chr(ord(sign) + 0xFEE0) if sign != "_" else "＿" for sign in name),
    "stars": lambda name: f"**{name}**",
}
SHEETS = {
    "stories": "story_id,story_category,story\n7,A,It rains.\n",
    "tables": "story_id,actor,proposition,order_text\n1,Ines,It rains,1\n",
    "votes": "story_id,actor,belief,dimension,annotator,label,created_at\n"
    "2,Ines,The key is in the bag,order,bob,1,2026-10-05T09:30:00Z\n",
}


def test_names_of_columns_are_compared_by_one_rule(admin, make_story):
    make_story(1).tables.all().delete()
    make_story(2)
    there = {
        "stories": lambda: Story.objects.get(number=7, category__name="A", text="It rains.").delete(),
        "tables": lambda: Proposition.objects.get(table__story__number=1, belief="It rains", order_text="1"),
        "votes": lambda: Vote.objects.get(label="1"),
    }
    spelt = [("stories", spelling) for spelling in SPELT]
    for kind, spelling in [*spelt, ("tables", "full width"), ("votes", "camels")]:
        header, row = (line.split(",") for line in SHEETS[kind].splitlines())
        named = [SPELT[spelling](name) for name in header]
        raw = "\ufeff" + ",".join(named) + "\n" + ",".join(row) + "\n"
        if kind == "tables":
            book, saved = openpyxl.Workbook(), io.BytesIO()
            for cells in (named, row):
                book.active.append(cells)
            book.save(saved)
            raw = saved.getvalue()
        answer = brought(admin, raw)
        assert (answer.heading, answer.result.left_out.names) == ("Imported", []), (kind, spelling)
        there[kind]()


def test_two_columns_of_one_name_are_refused(admin):
    told = "file.csv, line 2: the column Story ID, story-id occurs twice; expected each name once."
    (problem,) = brought(admin, "\nStory ID,story-id,story\n1,2,It rains.\n").result.problems
    assert (problem.line, problem.message) == (2, told)
    votes = "story_id,actor,belief,dimension,annotator,label,Label\n"
    assert brought(admin, votes).refusal.startswith("file.csv, line 1: the column label, Label occurs twice")
    answer = brought(admin, '{"story": "It rains.", "Story": "It snows."}', "file.json")
    assert answer.result.problems[0].message == "The field story, Story occurs twice; expected each name once."
    assert not Story.objects.exists()


UNUSED = [
    ("Story,Comment,\tNote \nIt rains.,a,b\n", ["Comment", "Note"]),
    (",text,story\n0,It rains.,It snows.\n", ["column 1 without a name", "text"]),
    (json.dumps(TEXTS), ["labels"]),
    ("\n".join(map(json.dumps, TEXTS)), ["labels"]),
    (json.dumps({"version": 2, "stories": TEXTS}), ["labels", "version"]),
    (json.dumps({"a": TEXTS[0], "b": TEXTS[1]}), ["labels", "the names of the objects"]),
    (json.dumps([{**RECORDS[0], "source": "x"}, RECORDS[1]]), ["source"]),
    (json.dumps({**RECORDS[0], "beliefs": [{"actor": "A", "belief": "B", "note": 1}]}), ["beliefs.note"]),
    ('{"STORY": "It rains.", "QUESTION": "Who?", "OPTION-A": "x"}', ["QUESTION", "OPTION-A"]),
    ("id,story,question,answer\n1,It rains.,Where?,here\n2,It rains.,Who?,Mia\n", ["id", "question", "answer"]),
]


def test_what_is_not_used_is_named_in_every_result(admin, tmp_path, capsys):
    path = tmp_path / "other.txt"
    for raw, names in UNUSED:
        told, kind = f"Not used: {', '.join(names)}.", "tombench" if "STORY" in raw else "auto"
        for keep in ({}, {"keep": "1"}):
            file = SimpleUploadedFile("file.txt", raw.encode())
            said = {"format": kind, "language": "en", "files": file, **keep}
            page = admin.post(reverse("annotation:import", args=["minds"]), said).content.decode()
            assert told in page, names
        path.write_text(raw, encoding="utf-8")
        call_command("import_corpus", kind, str(path), project="minds", json=True, dry_run=True)
        result = json.loads(capsys.readouterr().out)
        assert result["not_used"] == names and told in result["summary"]
        call_command("import_corpus", kind, str(path), project="minds")
        assert told in capsys.readouterr().out
        Story.objects.all().delete()
    result = brought(admin, raw).result  # two questions of one story
    assert (result.created, Story.objects.get().text) == (1, "It rains.")


def test_commands_on_tables_and_votes_name_what_is_not_used(cast, make_story, tmp_path, capsys):
    make_story(1), make_story(2)
    for command, kind in (("import_votes", "votes"), ("import_tables", "tables")):
        path = tmp_path / f"{kind}.csv"
        header, row = SHEETS[kind].splitlines()
        path.write_text(f"{header},Comment,\n{row},hello,\n", encoding="utf-8")
        more = ["--replace"] if kind == "tables" else []
        call_command(command, str(path), *more, "--project=minds", "--json")
        told = json.loads(capsys.readouterr().out)
        assert told["not_used"] == ["Comment"] and "Not used: Comment." in told["summary"]


def test_a_second_sheet_is_named(admin, cast, tmp_path, capsys):
    book = openpyxl.Workbook()
    book.active.title = "First"
    book.active.append(["story"])
    book.active.append(["It rains."])
    for name, cells, state in (("Second", ["x"], "visible"), ("Bare", [], "visible"), ("Old", ["x"], "hidden")):
        sheet = book.create_sheet(name)
        sheet.append(cells)
        sheet.sheet_state = state
    path = tmp_path / "two.xlsx"
    book.save(path)
    sentence = "The sheet “First” was read; not read: “Second”."
    assert sentence in brought(admin, path.read_bytes(), "two.xlsx").result.summary
    call_command("import_corpus", "auto", str(path), project="minds", json=True)
    assert json.loads(capsys.readouterr().out)["sheets"] == [{"read": "First", "not_read": ["Second"]}]


JSON = {
    "a list": json.dumps(TEXTS),
    "a list over lines": json.dumps(TEXTS, indent=2),
    "an object a line": "\n".join(map(json.dumps, TEXTS)),
    "objects over lines": "\n\n".join(json.dumps(one, indent=1) for one in TEXTS),
    "an object around a list": json.dumps({"stories": TEXTS}),
    "an object around a list over lines": json.dumps({"meta": {"by": "us"}, "data": TEXTS}, indent="\t"),
    "an object by name": json.dumps({"mia": TEXTS[0], "leo": TEXTS[1]}, indent=2),
    "other names": json.dumps([{"Story": one["text"], "Category": "C", "ID": None} for one in TEXTS]),
}


def test_stories_and_records_in_json_are_imported(admin):
    encoded = [
        ("a list over lines", "utf-16"),
        ("an object a line", "utf-8-sig"),
        *((shape, "utf-8") for shape in JSON),
    ]
    for shape, encoding in encoded:
        answer = brought(admin, JSON[shape].encode(encoding), "stories.json")
        assert (answer.heading, answer.format) == ("Imported", STORIES), shape
        texts = Story.objects.order_by("number").values_list("text", flat=True)
        assert list(texts) == [one["text"] for one in TEXTS]
        assert brought(admin, JSON[shape].encode(encoding), "stories.json").heading.startswith("Nothing new")
        Story.objects.all().delete()
    record = {"Story ID": "12", "category": "C", "text": "It rains.", "translation": "下雨了。"}
    for raw in (json.dumps(record), json.dumps(record, indent=2)):
        assert brought(admin, raw, "one.json").result.stories == 1
    story = Story.objects.get()
    assert (story.number, story.category.name, story.translations) == (12, "C", {"zh": "下雨了。"})
    answer = brought(admin, json.dumps(RECORDS, indent=2), "records.json")
    assert (answer.heading, answer.format.key, answer.result.propositions) == ("Imported", "omnitom", 2)


def test_an_object_that_cannot_be_used_is_a_problem_of_its_line(admin):
    sentences = {
        '{"text": 5}': "story: it is 5; expected a text.",
        '{"text": " "}': "story: it is empty; expected a story.",
        '{"text": "x", "id": "a7"}': "it is 'a7'; expected a whole number, or nothing for the next free one.",
        '{"text": "x", "id": true}': "story_id: it is true; expected a whole number",
        '{"text": "x", "id": -1}': "story_id: it is -1; expected a whole number",
        json.dumps({"text": "x", "category": "c" * 121}): "expected at most 120 characters",
        '{"title": "x"}': "The object has title; expected one of story, text.",
        '"It rains."': "The list holds 'It rains.'; expected an object.",
    }
    raw = '[{"text": "Good."},\n' + ",\n".join(sentences) + "]"
    result = brought(admin, raw, "file.json").result
    assert result.created == 1
    assert [problem.line for problem in result.problems] == list(range(2, 10))
    for problem, sentence in zip(result.problems, sentences.values(), strict=True):
        assert sentence in problem.message


def test_a_document_that_is_broken_is_refused_as_a_whole(admin):
    for raw, sentence in [
        ("[\n" + json.dumps(TEXTS[0]) + ",\n{broken}\n]", r"file.json, line 3, column 2: it is not JSON"),
        (json.dumps(TEXTS, indent=2)[:-20], r"file.json, line \d+"),
        ('[{"text": "a"} {"text": "b"}]', r"file.json, line 1, column 16: .* expected “,”"),
        (json.dumps({"train": TEXTS, "test": TEXTS}), r"several lists of objects \(train, test\); expected one"),
    ]:
        for kind in ("auto", "stories", "omnitom"):
            answer = brought(admin, raw, "file.json", format=kind)
            assert answer.result is None and re.search(sentence, answer.refusal)
    assert not Story.objects.exists()


BROKEN = {
    "stories": ("story_id,story\n7,It rains.\n", '8,"It snows.\n9,It hails.\n'),
    "tables": (SHEETS["tables"], '1,Mia,"It snows,\n2,Leo,It hails,1\n'),
    "votes": (SHEETS["votes"].replace(",created_at", "").replace(",2026-10-05T09:30:00Z", ""), '1,"Ines,B,order,bob\n'),
}


def test_an_unclosed_quote_refuses_the_file_as_a_whole(admin, make_story, tmp_path):
    make_story(1).tables.all().delete()
    path = tmp_path / "file.csv"
    commands = {"stories": ["import_corpus", "stories"], "tables": ["import_tables"], "votes": ["import_votes"]}
    for kind, lines in BROKEN.items():
        for named in (kind, "auto"):
            answer = brought(admin, "".join(lines), format=named)
            assert answer.result is None
            assert re.match(r"file\.csv, line 3: the quote before '.*' is never closed", answer.refusal)
        path.write_text("".join(lines), encoding="utf-8")
        with pytest.raises(CommandError, match=r"file\.csv, line 3: the quote before"):
            call_command(*commands[kind], str(path), "--project=minds")
    assert (Story.objects.count(), Vote.objects.count(), Proposition.objects.count()) == (1, 0, 0)


def test_no_story_and_no_row_of_a_table_is_cut(admin, make_story):
    for row in ("8,It snows, and hails.\n", "8,It snows\nand hails.\n", "8\n"):
        answer = brought(admin, "story_id,story\n1,It rains.\n" + row + "9,It hails.\n10,It thaws.\n")
        texts = set(Story.objects.values_list("text", flat=True))
        assert "It thaws." in texts and not any("snows" in text for text in texts)
        assert 3 in [problem.line for problem in answer.result.problems]
        Story.objects.all().delete()
    for row in ("1,Mia,It snows, and hails,1", "1,Mia,It snows\nand hails,1", '1,Mia, "It snows",1'):
        first, second = make_story(1), make_story(2)
        for story in (first, second):
            story.tables.all().delete()
        raw = f"story_id,actor,belief,order\n1,world,It rains,0\n{row}\n1,world,It thaws,0\n2,world,It rains,0\n"
        answer = brought(admin, raw)
        assert (answer.result.created, answer.result.refused) == (1, 1)
        assert not Proposition.objects.gold_of(first).exists() and Proposition.objects.gold_of(second).exists()
        assert 3 in [problem.line for problem in answer.result.problems]
        Story.objects.all().delete()


def test_a_damaged_sign_cuts_no_story():
    """Of a file with one sign of CSV taken out, put in or all after it lost, no text is shorter than it was."""
    drawn = random.Random(7)
    texts = ["It rains.", "He came, saw", 'She said "hi", and left.', "One\ntwo, three\n\nfour", "5"]
    sheet = [[str(at), drawn.choice(["A", "B, C"]), drawn.choice(texts)] for at in range(12)]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([["story_id", "category", "story"], *sheet])
    whole, refused = out.getvalue(), 0
    known = {_bare(text) for text in texts}
    for at in (at for at in range(28, len(whole) - 1) if whole[at] in '",\r\n'):
        for damaged in (whole[:at] + whole[at + 1 :], whole[:at] + '"' + whole[at:], whole[:at]):
            rows = rows_of(io.BytesIO(damaged.encode()), "f.csv")
            try:
                read = list(read_stories(rows, "f.csv", language="en", left_out=LeftOut()))
            except BadSheet:
                refused += 1
                continue
            for row in read:
                is_last = damaged == whole[:at] and row is read[-1]  # where the file ends, its last text does
                assert isinstance(row, Problem) or is_last or _bare(row.text) in known, (damaged, row)
    assert refused > 50


def _bare(text: str) -> str:
    return re.sub('[",\r\n]', "", text)


def test_a_file_of_no_format_is_told_what_would_fit(admin):
    for raw, sentence in [
        ("story_id,actor\n1,Ines\n", "; Propositions in a spreadsheet (actor, belief, story_id); Votes in a"),
        (
            '{"story": "It rains.", "beliefs": [], "Category": "A"}',
            "Expected the fields of one of these: OmniToM records (beliefs, story, story_category, story_id); ToM",
        ),
        ("a,b\n1,2\n", "Expected the fields of one of these: Stories in a spreadsheet or JSON (story); Propositions"),
        ('[{"title": "x"}]', "file.csv is of no format that is known here: its first object has title. Expected the"),
        ('["It rains."]', "file.csv is of no format that is known here. Expected the fields of one of these: OmniToM"),
    ]:
        answer = brought(admin, raw)
        assert answer.result is None and sentence in answer.refusal
