"""Belief tables from a spreadsheet."""

import io

import openpyxl
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.models import BeliefTable, Proposition, Vote
from annotation.services.counts import recount
from annotation.services.table_import import import_tables

HEAD = "story_id,actor,belief,order\n"


@pytest.fixture
def seven(bare):
    return bare(7)


def run(cast, text, **options):
    handle = io.BytesIO(text.encode())
    return import_tables(by=None, project=cast.project, handle=handle, file="t.csv", now=timezone.now(), **options)


def beliefs(story):
    return list(Proposition.objects.gold_of(story).values_list("actor", "belief", "order_text"))


def test_a_bare_story_gets_its_table_and_the_same_file_changes_nothing(cast, seven, tmp_path, capsys):
    text = HEAD + "7,world,It rains,0\n7,Ines,'=It rains,1\n"
    assert run(cast, text, dry_run=True).created == 1 and not beliefs(seven)
    result = run(cast, text)
    assert (result.created, result.added, result.problems) == (1, 2, [])
    assert beliefs(seven) == [("world", "It rains", "0"), ("Ines", "=It rains", "1")]
    assert run(cast, text).unchanged == 1
    assert cast.project.audit_events.filter(action="table.written").count() == 1
    file = tmp_path / "t.csv"
    file.write_text("story_id;actor;proposition\n7;world;It rains\n")
    call_command("import_tables", file, "--project", "minds", "--replace")
    assert "Imported. 1 table: 0 created, 1 changed, 0 unchanged; 0 rows added, 1 taken out." in capsys.readouterr().out
    file.write_text("story;actor\n")
    with pytest.raises(CommandError, match="the column belief is missing"):
        call_command("import_tables", file, "--project", "minds")


def test_what_was_labelled_stays_where_the_text_did_not_change(cast, make_story, assign, cast_vote, client):
    story = make_story(7)
    first, second = Proposition.objects.gold_of(story)
    for assignment in assign(story)[:2]:
        for row in (first, second):
            for dimension in cast.project.schema.dimensions:
                cast_vote(assignment, row, dimension.key, dimension.values[0])
    result = run(cast, HEAD + f"7,Ines,It snows,1\n7,{second.actor},{second.belief},1\n", replace=True)
    assert (result.changed, result.added, result.removed) == (1, 1, 1)
    assert dict(result.reopened) == {"Bob": 1, "Bea": 1}
    assert [row[1] for row in beliefs(story)] == ["It snows", second.belief]
    assert Vote.objects.cast().filter(proposition=second).count() == 2 * len(cast.project.schema.dimensions)
    first.refresh_from_db()
    assert first.removed_at
    # the page of the table says whose work a new row opens again
    Proposition.objects.filter(belief="It snows").delete()
    recount([story.pk])
    client.force_login(cast.esi)
    address = reverse("annotation:table_edit", args=["minds", story.uid])
    assert "Bob, Bea finished this story" in client.get(address).content.decode()
    page = client.post(address, {"actor": "Ines", "belief": "It rains", "order": ""}, follow=True).content.decode()
    assert "Bob, Bea had finished this story and will find it open again" in page


def test_a_broken_line_is_told_with_its_place_and_its_story_is_left(cast, seven, bare):
    for line, sentence in [
        ("x,Ines,It rains,1", "story_id is 'x'"),
        ("7,,It rains,1", "actor is empty; expected a text."),
        ("7,Ines,  ,1", "belief is empty; expected a text."),
        (f"7,Ines,{'x' * 2001},1", "longer than 2000"),
        ("8,Ines,It rains,1", "no story 8"),
    ]:
        (problem,) = run(cast, HEAD + "7,world,It rains,0\n" + line + "\n").problems
        assert sentence in problem.message and problem.line == 3
        assert bool(beliefs(seven)) == line.startswith("8")
    # a row that names no story holds up its neighbours
    bare(8), bare(9), bare(10)
    result = run(cast, HEAD + "10,Ines,It rains,\nx,Ines,It snows,\n8,Ines,It rains,\n9,Ines,,\n9,Ines,It rains,\n")
    assert (result.created, result.refused) == (0, 3)
    assert [problem.line for problem in result.problems] == [3, 5]


def test_a_story_is_named_by_its_exact_text(cast, seven, bare):
    bare(8, text="The same text."), bare(9, text="The same text.")
    sheet = openpyxl.Workbook()
    for row in (["story", "actor", "proposition"], [seven.text, "Ines", "=It rains"], [None, "world", "It rains"],
                ["The same text.", "x", "y"], ["No such text", "x", "y"]):  # fmt: skip
        sheet.active.append(row)
    sheet.active["C2"].data_type = "s"
    sheet.active.merge_cells("A2:A3")
    raw = io.BytesIO()
    sheet.save(raw)
    result = import_tables(by=None, project=cast.project, handle=raw, file="t.xlsx", now=timezone.now())
    assert (result.stories, result.created, result.refused) == (3, 1, 2)
    assert beliefs(seven) == [("Ines", "=It rains", ""), ("world", "It rains", "")]
    first, second = result.problems
    assert (first.line, first.message) == (
        4, "Stories 8, 9 have this text; name one by its number in a column story_id.",
    )  # fmt: skip
    assert second.message == "minds has no story with exactly the text 'No such text'."


def test_the_api_and_an_import_refuse_a_table_in_the_same_words(cast, seven, make_story, bare, client):
    make_story(8)
    BeliefTable.objects.create(story=bare(9), kind="draft", slot=1)
    client.force_login(cast.esi)
    for number, actor, belief, status, sentence in (
        (8, "Ines", "It rains", 422, "Story 8 has another table already; choose to replace tables to write over it."),
        (9, "Ines", "It rains", 422, "Experts are writing the table of story 9; release them first."),
        (7, " ", "It rains", 400, "actor is empty; expected a text."),
        (7, "Ines", "  ", 400, "belief is empty; expected a text."),
    ):
        (problem,) = run(cast, HEAD + f"{number},{actor},{belief},1\n").problems
        address = reverse("api:propositions", args=["minds", cast.project.stories.get(number=number).uid])
        rows = {"rows": [{"actor": actor, "belief": belief, "order": "1"}]}
        answer = client.post(address, rows, content_type="application/json")
        assert answer.status_code == status and problem.message == sentence
        if status == 422:
            assert answer.json()["error"]["message"].removeprefix("Row 1: ") == sentence
        else:
            assert f"rows[0].{sentence.split()[0]}" in str(answer.json())
    assert not beliefs(seven)


def test_rows_that_say_the_same_are_taken(cast, seven):
    run(cast, HEAD + "7,world,It rains,0\n7,Ines,It rains,1\n7,world,it  rains,\n")
    assert len(beliefs(seven)) == 3


def test_a_number_beside_the_text_of_another_story_is_told(cast, seven, bare):
    other = bare(8, text="Another text.")
    head = "story_id,story,actor,belief\n"
    result = run(cast, head + f"8,Another  text.,Ines,It rains\n7,{other.text},Ines,It rains\n")
    (problem,) = result.problems
    assert (result.created, problem.line) == (1, 3) and not beliefs(seven) and beliefs(other)
    assert problem.message == "Story 7 has another text than the column story; expected both to name one story."
    assert run(cast, head + "7,,Ines,It rains\n").problems == []
