from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import AuditEvent, BeliefTable, Project, Proposition, Story
from annotation.services.corpus_import import ImportRefused, import_corpus

KEPT = {
    "Ambiguous Story Task": 101,
    "False Belief Task": 100,
    "Faux-pas Recognition Test": 145,
    "Hinting Task Test": 103,
    "Persuasion Story Task": 100,
    "Scalar Implicature Test": 157,
    "Strange Story Task": 210,
}
RECORD = {
    "story_id": 7,
    "story_category": "False Belief Task",
    "story": "Ines hides the key.",
    "beliefs": [{"actor": "Ines", "belief": "The key is hidden", "labels": {"order": "1", "truth_status": "Maybe"}}],
}


def run(*lines, format="omnitom", name="records.jsonl", **options):
    raw = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()
    sources = [(name, lambda: io.BytesIO(raw))]
    return import_corpus(by=None, project_slug="minds", format=format, sources=sources, **options)


def test_a_record_becomes_a_story_with_its_table_verbatim(db):
    result = run(RECORD)
    assert (result.stories, result.created, result.propositions, result.problems) == (1, 1, 1, [])
    story = Story.objects.get()
    assert (story.number, story.category.name, story.text) == (7, "False Belief Task", "Ines hides the key.")
    proposition = Proposition.objects.gold_of(story).get()
    assert proposition.imported_labels == {"order": "1", "truth_status": "Maybe"}
    assert set(AuditEvent.objects.values_list("action", flat=True)) == {"project.created", "corpus.imported"}


def test_importing_again_changes_nothing_even_after_people_edited(db):
    run(RECORD)
    Proposition.objects.update(belief="The key is safe")
    again = run(RECORD)
    assert (again.stories, again.created, again.unchanged, again.problems) == (1, 0, 1, [])
    assert Proposition.objects.get().belief == "The key is safe"
    assert AuditEvent.objects.filter(action="corpus.imported").count() == 1


def test_other_content_under_the_same_number_is_a_problem_and_overwrites_nothing(db):
    run(RECORD)
    result = run("", {**RECORD, "story": "Another story."})
    (problem,) = result.problems
    assert (problem.file, problem.line) == ("records.jsonl", 2)
    assert "Story 7" in problem.message
    assert Story.objects.get().text == "Ines hides the key."


def test_a_repeated_record_counts_once(db):
    result = run(RECORD, RECORD)
    assert (result.stories, result.created, result.unchanged) == (1, 1, 0)


def test_a_broken_line_stops_nothing_else_unless_asked_to(db):
    result = run(RECORD, "{", {**RECORD, "story_id": 8})
    assert result.created == 2
    assert [problem.line for problem in result.problems] == [2]
    Project.objects.all()
    with pytest.raises(ImportRefused, match=r"records\.jsonl, line 2"):
        run({**RECORD, "story_id": 9}, "{", strict=True)
    assert not Story.objects.filter(number=9).exists()


def test_a_dry_run_keeps_nothing_and_says_the_same(db):
    rehearsed = run(RECORD, dry_run=True)
    assert not Project.objects.exists()
    assert rehearsed.as_dict() == run(RECORD).as_dict()


def test_tombench_stories_are_numbered_and_keep_both_languages(db):
    items = [{"STORY": "One.", "故事": "一。"}, {"STORY": "One.", "故事": "一。"}, {"STORY": "Two.", "故事": "二。"}]
    result = run(*items, format="tombench", name="False Belief Task.jsonl")
    assert result.as_dict()["by_category"] == {"False Belief Task": 2}
    told = Story.objects.order_by("number").values_list("number", "text", "translations")
    assert list(told) == [(1, "One.", {"zh": "一。"}), (2, "Two.", {"zh": "二。"})]
    assert not BeliefTable.objects.exists()
    assert run(*items, format="tombench", name="elsewhere/False Belief Task.jsonl").unchanged == 2
    # the same text in another file is another story
    assert run(items[0], format="tombench", name="Hidden Emotions.jsonl").created == 1


def test_the_command_says_what_the_contract_says(db, tmp_path, capsys):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(RECORD) + "\n[]\n", encoding="utf-8")
    call_command("import_corpus", "omnitom", str(path), project="minds", json=True)
    told = json.loads(capsys.readouterr().out)
    message = "The line holds a list; expected one JSON object."
    assert told == {
        "project": "minds",
        "stories": 1,
        "created": 1,
        "unchanged": 0,
        "propositions": 1,
        "by_category": {"False Belief Task": 1},
        "problems": [{"file": str(path), "line": 2, "message": message}],
    }


@pytest.mark.parametrize(("path", "expected"), [("missing.jsonl", "no file"), (".", "holds no")])
def test_a_path_without_files_is_one_sentence(db, tmp_path, path, expected):
    with pytest.raises(CommandError, match=expected):
        call_command("import_corpus", "omnitom", str(tmp_path / path), project="minds")


def test_a_bad_project_name_is_one_sentence(db):
    with pytest.raises(ImportRefused, match="no project name"):
        import_corpus(by=None, project_slug="a/b", format="omnitom", sources=[])


def test_the_whole_of_tombench(db, shared):
    folder = shared / "data" / "ToMBench"
    sources = [(path.name, lambda path=path: path.open("rb")) for path in sorted(folder.glob("*.jsonl"))]
    result = import_corpus(by=None, project_slug="tombench", format="tombench", sources=sources)
    assert (result.stories, result.created, result.problems) == (1383, 1383, [])
    assert {name: result.by_category[name] for name in KEPT} == KEPT
    assert sum(KEPT.values()) == 916
    call_command("make_split", project="tombench", seed=3, categories=list(KEPT))
    project = Project.objects.get(slug="tombench")
    assert (project.stories.in_split("calibration").count(), project.stories.in_split("main").count()) == (21, 895)
    drawn = set(project.stories.in_split("calibration").values_list("number", flat=True))
    call_command("make_split", project="tombench", seed=3, categories=list(KEPT))
    assert set(project.stories.in_split("calibration").values_list("number", flat=True)) == drawn
    again = import_corpus(by=None, project_slug="tombench", format="tombench", sources=sources)
    assert (again.created, again.unchanged) == (0, 1383)
