import csv
import io
import json
from datetime import UTC, datetime

from django.core.management import call_command
from django.utils import timezone

from annotation.domain.formats import GOLD
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.models import GoldLabel, Project, Proposition, Vote
from annotation.services.corpus_import import import_corpus
from annotation.services.gold_export import VOTE_COLUMNS, export_lines, gold_records, vote_lines
from annotation.services.progress import Progress
from annotation.services.vote_import import import_votes


def test_an_untouched_table_comes_out_byte_for_byte(db, shared):
    for name in ("all_47", "clean_30", "paper_examples"):
        text = (shared / "vectors" / "omnitom" / "records" / f"{name}.jsonl").read_bytes().decode()
        sources = [("records.jsonl", lambda text=text: io.BytesIO(text.encode()))]
        assert import_corpus(by=None, project_slug=name, format="omnitom", sources=sources).problems == []
        assert "".join(export_lines(Project.objects.get(slug=name), GOLD)) == text, name


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
    make_story(2).tables.all().delete()
    Proposition.objects.filter(actor="world").update(removed_at=timezone.now())
    (record,) = gold_records(cast.project)
    assert (record.story_id, [one.actor for one in record.beliefs]) == (1, ["Ines"])


def test_votes_are_written_with_their_lineage_and_read_again_without_change(cast, make_story, assign, cast_vote):
    """Equal propositions, and texts that a spreadsheet would run."""
    story = make_story(rows=[("=cmd()", '+1, "x"\r\ny'), ("=cmd()", '+1, "x"\r\ny'), ("'=a", " spaced ")])
    for one in assign(story):
        for label, proposition in zip("012", Proposition.objects.order_by("position"), strict=True):
            cast_vote(one, proposition, "order", label)
    text = "".join(vote_lines(cast.project))
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert tuple(rows[0]) == VOTE_COLUMNS
    assert [row["occurrence"] for row in rows] == ["1"] * 3 + ["2"] * 3 + ["1"] * 3
    assert rows[0]["actor"] == "'=cmd()"
    assert [rows[3][key] for key in ("gold", "method", "agreement", "rule_version")] == ["1", "unanimous", "1.0", "1"]
    assert all(row["received_at"] and row["created_at"] and row["schema_version"] == "1" for row in rows)

    def stored() -> set:
        return set(Vote.objects.values_list("proposition", "dimension", "annotator", "label", "changed_at"))

    options = {"by": None, "project": cast.project, "file": "votes.csv", "now": timezone.now()}
    same = import_votes(handle=io.BytesIO(text.encode()), **options)
    assert (same.votes, same.created, same.unchanged, same.problems) == (9, 0, 9, [])
    held = stored()
    Vote.objects.all().delete()
    GoldLabel.objects.all().delete()
    restored = import_votes(handle=io.BytesIO(text.encode()), **options)
    assert (restored.created, restored.problems, stored()) == (9, [], held)
    masked = "".join(vote_lines(cast.project, pseudonyms=True))
    assert not {"bob", "bea", "ben"} & set(masked.replace(",", " ").split())
    assert {row["annotator"] for row in csv.DictReader(io.StringIO(masked, newline=""))} == {"A1", "A2", "A3"}
    for moment in (datetime(2026, 3, 2, 9, 0, 20, 50, tzinfo=UTC), datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC)):
        Vote.objects.update(changed_at=moment)
        assert {vote["created_at"] for vote in csv.DictReader(vote_lines(cast.project))} == {moment.isoformat()}


def test_the_number_of_statements_does_not_grow(cast, make_story, django_assert_max_num_queries):
    for stories in range(1, 6):
        make_story(stories)
        if stories in (1, 5):
            with django_assert_max_num_queries(11):
                assert sum(1 for _ in vote_lines(cast.project)) == 1
            with django_assert_max_num_queries(4):
                assert sum(1 for _ in export_lines(cast.project, GOLD)) == stories


def test_the_command_says_what_it_wrote(cast, make_story, tmp_path, capsys):
    make_story(1)
    make_story(2, rows=[("Ines", "B")])
    Proposition.objects.filter(belief="B").update(imported_labels=dict.fromkeys(DEFAULT_SCHEMA.keys, "x"))
    path = tmp_path / "gold.jsonl"
    for options, stories, propositions in (([], 2, 3), (["--complete-only"], 1, 1)):
        call_command("export_gold", "--project=minds", "--format=omnitom", f"--output={path}", "--json", *options)
        said = capsys.readouterr()
        counted = {"stories": stories, "propositions": propositions}
        assert json.loads(said.out) == {"format": "omnitom", "path": str(path), **counted}
        assert options or "21 cells" in said.err  # of three propositions on seven dimensions
        assert len(path.read_text(encoding="utf-8").splitlines()) == stories
        assert list(tmp_path.iterdir()) == [path]
