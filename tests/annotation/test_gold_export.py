from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import GoldLabel, Proposition, Vote
from annotation.services.corpus_import import import_corpus
from annotation.services.gold_export import VOTE_COLUMNS, gold_lines, gold_records, vote_lines
from annotation.services.progress import Progress
from annotation.services.vote_import import import_votes


def load(text: str, slug: str = "minds"):
    from annotation.models import Project

    sources = [("records.jsonl", lambda: io.BytesIO(text.encode()))]
    result = import_corpus(by=None, project_slug=slug, format="omnitom", sources=sources)
    assert result.problems == []
    return Project.objects.get(slug=slug)


@pytest.mark.parametrize("name", ["all_47", "clean_30", "paper_examples"])
def test_an_untouched_table_comes_out_byte_for_byte(db, shared, name):
    text = (shared / "vectors" / "omnitom" / "records" / f"{name}.jsonl").read_bytes().decode()
    assert "".join(gold_lines(load(text))) == text


def test_gold_wins_over_imported_labels_and_open_cells_are_empty(cast, make_story, assign, cast_vote):
    story = make_story(rows=[("Ines", "The key is in the bag")])
    proposition = Proposition.objects.get()
    Proposition.objects.update(imported_labels=dict.fromkeys(DEFAULT_SCHEMA.keys, "imported"))
    assignments = assign(story)
    for one, order, truth in zip(assignments, ("1", "1", "2"), ("True", "False", "Unknown"), strict=True):
        cast_vote(one, proposition, "order", order)
        cast_vote(one, proposition, "truth_status", truth)
    cast_vote(assignments[0], proposition, "context", "Neutral")  # two votes are missing: nothing is settled
    (record,) = gold_records(cast.project)
    labels = record.as_json()["beliefs"][0]["labels"]
    assert tuple(labels) == DEFAULT_SCHEMA.keys
    assert (labels["order"], labels["truth_status"], labels["context"]) == ("1", "", "imported")
    assert Progress(cast.project).totals().unlabelled == 1
    assert list(gold_records(cast.project, complete_only=True)) == []


def test_removed_rows_and_stories_without_a_table_stay_out(cast, make_story):
    make_story(1)
    without = make_story(2)
    without.tables.all().delete()
    Proposition.objects.filter(actor="world").update(removed_at=timezone.now())
    (record,) = gold_records(cast.project)
    assert (record.story_id, [one.actor for one in record.beliefs]) == (1, ["Ines"])


@pytest.fixture
def hostile_votes(cast, make_story, assign, cast_vote):
    """Equal propositions and texts that a spreadsheet would run."""
    story = make_story(rows=[("=cmd()", '+1, "x"\r\ny'), ("=cmd()", '+1, "x"\r\ny'), ("'=a", " spaced ")])
    for one in assign(story):
        for label, proposition in zip("012", Proposition.objects.order_by("position"), strict=True):
            cast_vote(one, proposition, "order", label)
    return cast.project


def test_the_long_csv_holds_one_row_a_vote_with_its_lineage(hostile_votes):
    rows = list(csv.DictReader(io.StringIO("".join(vote_lines(hostile_votes)), newline="")))
    assert tuple(rows[0]) == VOTE_COLUMNS
    assert len(rows) == 9
    assert [row["occurrence"] for row in rows] == ["1"] * 3 + ["2"] * 3 + ["1"] * 3
    assert rows[0]["actor"] == "'=cmd()"
    assert (rows[3]["gold"], rows[3]["method"], rows[3]["agreement"], rows[3]["rule_version"]) == (
        "1",
        "unanimous",
        "1.0",
        "1",
    )
    assert all(row["received_at"] and row["created_at"] and row["schema_version"] == "1" for row in rows)


def test_the_long_csv_is_imported_again_without_change(hostile_votes):
    text = "".join(vote_lines(hostile_votes))
    options = {"by": None, "project": hostile_votes, "file": "votes.csv", "now": timezone.now()}
    same = import_votes(handle=io.BytesIO(text.encode()), **options)
    assert (same.votes, same.created, same.unchanged, same.problems) == (9, 0, 9, [])
    held = set(Vote.objects.values_list("proposition", "dimension", "annotator", "label", "changed_at"))
    Vote.objects.all().delete()
    GoldLabel.objects.all().delete()
    restored = import_votes(handle=io.BytesIO(text.encode()), **options)
    assert (restored.created, restored.problems) == (9, [])
    assert set(Vote.objects.values_list("proposition", "dimension", "annotator", "label", "changed_at")) == held


def test_pseudonyms_replace_every_name(hostile_votes):
    text = "".join(vote_lines(hostile_votes, pseudonyms=True))
    assert not {"bob", "bea", "ben"} & set(text.replace(",", " ").split())
    assert {row["annotator"] for row in csv.DictReader(io.StringIO(text, newline=""))} == {"A1", "A2", "A3"}


@pytest.mark.parametrize("stories", [1, 5])
def test_the_number_of_statements_does_not_grow(cast, make_story, django_assert_max_num_queries, stories):
    for number in range(1, stories + 1):
        make_story(number)
    with django_assert_max_num_queries(11):
        assert sum(1 for _ in vote_lines(cast.project)) == 1
    with django_assert_max_num_queries(4):
        assert sum(1 for _ in gold_lines(cast.project)) == stories


def test_the_command_says_what_the_contract_says(cast, make_story, tmp_path, capsys):
    make_story()
    path = tmp_path / "gold.jsonl"
    call_command("export_gold", "--project=minds", "--format=omnitom", f"--output={path}", "--json")
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"format": "omnitom", "path": str(path), "stories": 1, "propositions": 2}
    assert "14 cells" in captured.err  # two propositions on seven dimensions
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_complete_only_says_how_many_it_wrote(cast, make_story, tmp_path, capsys):
    make_story(1)
    make_story(2, rows=[("Ines", "B")])
    Proposition.objects.filter(belief="B").update(imported_labels=dict.fromkeys(DEFAULT_SCHEMA.keys, "x"))
    path = tmp_path / "gold.jsonl"
    options = ["--project=minds", "--format=omnitom", f"--output={path}", "--complete-only", "--json"]
    call_command("export_gold", *options)
    told = json.loads(capsys.readouterr().out)
    assert (told["stories"], told["propositions"]) == (1, 1)


def test_times_are_written_as_python_writes_them(cast, make_story, assign, cast_vote):
    assignment = assign(make_story())[0]
    row = Proposition.objects.gold_of(assignment.story).first()
    cast_vote(assignment, row, "order", "0")
    for moment in (datetime(2026, 3, 2, 9, 0, 20, 50, tzinfo=UTC), datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC)):
        Vote.objects.update(changed_at=moment)
        assert [vote["created_at"] for vote in csv.DictReader(vote_lines(cast.project))] == [moment.isoformat()]
