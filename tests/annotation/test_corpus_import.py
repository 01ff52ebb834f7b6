from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import AuditEvent, BeliefTable, Membership, Project, Proposition, Story, User
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


def test_of_two_stories_with_one_number_in_a_file_the_later_names_the_earlier(db):
    for dry_run in (True, False):
        (problem,) = run(RECORD, {**RECORD, "story": "Another story."}, dry_run=dry_run).problems
        told = "Story 7 has other content in line 1 of records.jsonl, which counts; this one was not taken."
        assert (problem.line, problem.message) == (2, told)


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
        "outcome": "Imported in part",
        "summary": "1 story: 1 created, 0 unchanged; 1 proposition; 1 problem.",
        "project": "minds",
        "stories": 1,
        "created": 1,
        "attached": 0,
        "unchanged": 0,
        "propositions": 1,
        "by_category": {"False Belief Task": 1},
        "not_used": [],
        "problems": [{"file": str(path), "line": 2, "message": message}],
    }


@pytest.fixture
def records(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(RECORD) + "\n", encoding="utf-8")
    return path


def test_an_import_that_brings_nothing_fails_and_leaves_no_project(db, records):
    for text, expected in [
        ("[]\n{\n", "Nothing was imported: 2 problems, the first in {}, line 1: The line holds a list"),
        ("{\n", "Nothing was imported: 1 problem, the first in {}, line 1: column 2: it is not JSON"),
        ("", "Nothing was imported: records.jsonl is empty."),
        ("{\n" * 1002, "Nothing was imported: 1,002 problems, the first in {}, line 1 and 1,001 others: column 2"),
        ("\n", "Nothing was imported: records.jsonl is empty."),
        ("[]", "Nothing was imported: 1 problem, the first in {}, line 1: The file is empty"),
    ]:
        records.write_text(text, encoding="utf-8")
        for options in ([], ["--dry-run"]):
            with pytest.raises(CommandError) as caught:
                call_command("import_corpus", "omnitom", str(records), "--project=mistyped", *options)
            assert str(caught.value).startswith(expected.format(records))
    assert not Project.objects.exists()
    assert not AuditEvent.objects.exists()


def test_the_problems_are_told_in_json_before_the_end_with_1(db, records, capsys):
    records.write_text("[]\n", encoding="utf-8")
    with pytest.raises(CommandError, match="1 problem, the first"):
        call_command("import_corpus", "omnitom", str(records), project="minds", json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["stories"], [one["line"] for one in told["problems"]]) == (0, [1])


def test_an_import_that_brings_nothing_leaves_a_project_that_was_there(db, records, capsys):
    call_command("import_corpus", "omnitom", str(records), project="minds")
    assert capsys.readouterr().out.startswith("Imported. 1 story: 1 created, 0 unchanged; 1 proposition.")
    call_command("import_corpus", "omnitom", str(records), project="minds")  # unchanged is no failure
    records.write_text("[]\n", encoding="utf-8")
    with pytest.raises(CommandError):
        call_command("import_corpus", "omnitom", str(records), project="minds")
    assert Project.objects.get().stories.count() == 1


def admins() -> list[str]:
    return list(Membership.objects.filter(role="admin").values_list("user__username", flat=True))


def test_a_new_project_gets_the_admin_that_is_named(db, records, capsys):
    User.objects.create_superuser("root")
    User.objects.create_user("ada")
    call_command("import_corpus", "omnitom", str(records), project="minds", admin="ada")
    assert admins() == ["ada"]
    assert AuditEvent.objects.get(action="project.created").details == {"admin": "ada"}
    call_command("import_corpus", "omnitom", str(records), project="minds", admin="root")
    assert admins() == ["ada"]
    assert "exists already" in capsys.readouterr().err
    with pytest.raises(CommandError, match="There is nobody called 'bruno'"):
        call_command("import_corpus", "omnitom", str(records), project="other", admin="bruno")
    assert not Project.objects.filter(slug="other").exists()


@pytest.mark.parametrize(("site_admins", "expected"), [([], []), (["root"], ["root"]), (["root", "ruth"], [])])
def test_else_the_only_site_admin_becomes_it(db, records, capsys, site_admins, expected):
    for name in site_admins:
        User.objects.create_superuser(name)
    call_command("import_corpus", "omnitom", str(records), project="minds")
    assert admins() == expected
    assert ("add_member gives it one" in capsys.readouterr().err) is not bool(expected)


def test_a_path_without_files_or_a_bad_name_is_one_sentence(db, tmp_path):
    for path, expected in (("missing.jsonl", "no file"), (".", "holds no")):
        with pytest.raises(CommandError, match=expected):
            call_command("import_corpus", "omnitom", str(tmp_path / path), project="minds")
    with pytest.raises(ImportRefused, match="not a project name"):
        import_corpus(by=None, project_slug="a/b", format="omnitom", sources=[])


def test_a_seed_that_no_column_holds_is_one_sentence(db, records):
    call_command("import_corpus", "omnitom", str(records), project="minds")
    options = ["--project=minds", "--per-category=1"]
    for seed in (-1, 2**31, 2**63, 10**400):
        with pytest.raises(CommandError, match=r"^The seed must be a whole number from 0 to 2147483647\.$"):
            call_command("make_split", *options, f"--seed={seed}")
    call_command("make_split", *options, "--seed=2147483647")
    assert Project.objects.get().splits.get(name="calibration").seed == 2**31 - 1


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
    uneven = [*list(KEPT)[1:], f"{next(iter(KEPT))}=5"]
    call_command("make_split", project="tombench", name="uneven", rest="others", seed=3, categories=uneven)
    assert (project.stories.in_split("uneven").count(), project.stories.in_split("others").count()) == (23, 893)
    call_command("make_split", project="tombench", seed=3, categories=list(KEPT))
    drawn = set(project.stories.in_split("calibration").values_list("number", flat=True))
    call_command("make_split", project="tombench", seed=3, categories=list(KEPT))
    assert set(project.stories.in_split("calibration").values_list("number", flat=True)) == drawn
    again = import_corpus(by=None, project_slug="tombench", format="tombench", sources=sources)
    assert (again.created, again.unchanged) == (0, 1383)


@pytest.fixture
def bare(db):
    """A project with the story of RECORD under another number, without a table."""
    run(RECORD | {"story_id": 1, "story": "Another story.", "beliefs": []}, RECORD | {"story_id": 2, "beliefs": []})
    return Story.objects.get(number=2)


def test_a_table_goes_to_the_bare_story_with_its_text(bare):
    result = run(RECORD)
    assert (result.stories, result.created, result.attached, result.problems) == (1, 0, 1, [])
    assert Proposition.objects.gold_of(bare).get().imported_labels == {"order": "1", "truth_status": "Maybe"}
    assert Story.objects.count() == 2
    assert AuditEvent.objects.filter(action="corpus.imported").order_by("id").last().details["tables"] == 1
    again = run(RECORD)
    assert (again.created, again.attached, again.unchanged, again.problems) == (0, 0, 1, [])
    assert Proposition.objects.count() == 1


def test_a_table_is_only_promised_in_a_rehearsal(bare):
    assert run(RECORD, dry_run=True).attached == 1
    assert not Proposition.objects.exists()


def test_a_table_that_fits_two_stories_goes_to_neither(bare):
    run(RECORD | {"story_id": 3, "beliefs": []})
    result = run(RECORD)
    (problem,) = result.problems
    assert "Stories 2, 3 have this text and no table" in problem.message
    assert not Proposition.objects.exists()
    assert run(RECORD | {"story_id": 3}).attached == 1
    assert Proposition.objects.get().table.story.number == 3


def test_a_table_that_experts_are_writing_is_not_replaced(bare):
    BeliefTable.objects.create(story=bare, kind="draft", slot=1)
    (problem,) = run(RECORD).problems
    assert "Experts are writing the table of story 2" in problem.message


def test_the_command_says_how_many_stories_got_their_table(bare, tmp_path, capsys):
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps(RECORD))
    call_command("import_corpus", "omnitom", file, "--project", "minds")
    assert "1 story: 0 created, 1 given their table, 0 unchanged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "other"), [("", "Ines leaves.,B,"), ("", "Ines leaves.,A,她走了。"), ("7", "Ines leaves.,A,她走了。")]
)
@pytest.mark.parametrize("is_one_file", [True, False])
def test_another_category_or_translation_of_a_story_that_is_here_is_told(db, number, other, is_one_file):
    header, first = "story_id,story,category,translation", f"{number},Ines leaves.,A,"
    other = f"{number},{other}"
    sheets = [[header, first, other]] if is_one_file else [[header, first], [header, other]]
    *_, result = (run(*sheet, format="stories", name="stories.csv") for sheet in sheets)
    (problem,) = result.problems
    assert "other content" in problem.message or "another category or translation in line 2" in problem.message
    assert Story.objects.get().category.name == "A" and Story.objects.get().translations == {}
    again = run(header, first, format="stories", name="stories.csv")
    assert (again.unchanged, again.problems) == (1, [])


def test_a_translation_that_a_later_file_leaves_out_is_no_other_content(db):
    run("story,translation", "Ines leaves.,她走了。", format="stories", name="stories.csv")
    result = run("story", "Ines leaves.", format="stories", name="stories.csv")
    assert (result.unchanged, result.problems) == (1, [])
