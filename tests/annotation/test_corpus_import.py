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
LABELS = {"order": "1", "truth_status": "Maybe"}
RECORD = {
    "story_id": 7,
    "story_category": "False Belief Task",
    "story": "Ines hides the key.",
    "beliefs": [{"actor": "Ines", "belief": "The key is hidden", "labels": LABELS}],
}


def run(*lines, format="omnitom", name="records.jsonl", project="minds", **options):
    raw = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()
    sources = [(name, lambda: io.BytesIO(raw))]
    return import_corpus(by=None, project_slug=project, format=format, sources=sources, **options)


def imported() -> int:
    return AuditEvent.objects.filter(action="corpus.imported").count()


def test_a_record_becomes_a_story_with_its_table_verbatim_once(db):
    rehearsed = run(RECORD, dry_run=True)
    assert not Project.objects.exists()
    result = run(RECORD, RECORD)  # which counts once
    assert rehearsed.as_dict() == result.as_dict()
    assert (result.stories, result.created, result.unchanged, result.propositions, result.problems) == (1, 1, 0, 1, [])
    story = Story.objects.get()
    assert (story.number, story.category.name, story.text) == (7, "False Belief Task", "Ines hides the key.")
    assert Proposition.objects.gold_of(story).get().imported_labels == LABELS
    assert set(AuditEvent.objects.values_list("action", flat=True)) == {"project.created", "corpus.imported"}
    # again it changes nothing, even after people edited, and other content overwrites nothing
    Proposition.objects.update(belief="The key is safe")
    again = run(RECORD)
    assert (again.stories, again.created, again.unchanged, again.problems) == (1, 0, 1, [])
    assert Proposition.objects.get().belief == "The key is safe" and imported() == 1
    (problem,) = run("", RECORD | {"story": "Another story."}).problems
    assert (problem.file, problem.line) == ("records.jsonl", 2) and "Story 7" in problem.message
    assert Story.objects.get().text == "Ines hides the key."


def test_a_bad_line_stops_nothing_else_unless_asked_to(db):
    for dry_run in (True, False):
        (problem,) = run(RECORD, RECORD | {"story": "Another story."}, dry_run=dry_run).problems
        told = "The story has other content in line 1 of records.jsonl, which counts; this one was not taken."
        assert (problem.line, problem.message) == (2, told)
    result = run(RECORD | {"story_id": 8}, "{", RECORD | {"story_id": 9})
    assert result.created == 2 and [problem.line for problem in result.problems] == [2]
    with pytest.raises(ImportRefused, match=r"records\.jsonl, line 2"):
        run(RECORD | {"story_id": 10}, "{", strict=True)
    assert not Story.objects.filter(number=10).exists()


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


def test_other_categories_and_translations_of_a_story_that_is_here_are_told(db):
    sheet, header = {"format": "stories", "name": "stories.csv"}, "story_id,story,category,translation"
    for number, other in (("", "Ines leaves.,B,"), ("", "Ines leaves.,A,她走了。"), ("7", "Ines leaves.,A,她走了。")):
        first, other = f"{number},Ines leaves.,A,", f"{number},{other}"
        for files in ([[first, other]], [[first], [other]]):
            project = f"p{Project.objects.count()}"
            *_, result = (run(header, *lines, project=project, **sheet) for lines in files)
            (problem,) = result.problems
            assert "other content" in problem.message
            story = Story.objects.get(project__slug=project)
            assert (story.category.name, story.translations) == ("A", {})
            again = run(header, first, project=project, **sheet)
            assert (again.unchanged, again.problems) == (1, [])
    # one that a later file leaves out is no other content
    run("story,translation", "Ines leaves.,她走了。", **sheet)
    result = run("story", "Ines leaves.", **sheet)
    assert (result.unchanged, result.problems) == (1, [])


@pytest.fixture
def bare(db):
    """A project with the story of RECORD under another number, without a table."""
    run(RECORD | {"story_id": 1, "story": "Another story.", "beliefs": []}, RECORD | {"story_id": 2, "beliefs": []})
    return Story.objects.get(number=2)


def test_a_table_goes_to_the_bare_story_with_its_text(bare, records, command):
    assert run(RECORD, dry_run=True).attached == 1
    assert not Proposition.objects.exists()
    assert "1 story: 0 created, 1 given their table, 0 unchanged" in command().out
    assert Proposition.objects.gold_of(bare).get().imported_labels == LABELS
    assert Story.objects.count() == 2
    assert AuditEvent.objects.filter(action="corpus.imported").order_by("id").last().details["tables"] == 1
    again = run(RECORD)
    assert (again.stories, again.created, again.attached, again.unchanged, again.problems) == (1, 0, 0, 1, [])
    assert Proposition.objects.count() == 1


def test_a_table_that_fits_two_stories_or_that_experts_are_writing_goes_to_neither(bare):
    run(RECORD | {"story_id": 3, "beliefs": []})
    (problem,) = run(RECORD).problems
    assert "Stories 2, 3 have this text and no table" in problem.message
    assert not Proposition.objects.exists()
    assert run(RECORD | {"story_id": 3}).attached == 1
    assert Proposition.objects.get().table.story.number == 3
    BeliefTable.objects.create(story=bare, kind="draft", slot=1)
    (problem,) = run(RECORD).problems
    assert "Experts are writing the table of story 2" in problem.message


# --- the command


@pytest.fixture
def records(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(RECORD) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def command(db, records, capsys):
    """Runs the command on the file; returns what it said."""

    def make(*options: str, project: str = "minds", path=records):
        call_command("import_corpus", "omnitom", str(path), f"--project={project}", *options)
        return capsys.readouterr()

    return make


def test_the_command_says_what_the_contract_says(records, command):
    records.write_text(json.dumps(RECORD) + "\n[]\n", encoding="utf-8")
    message = "The line holds a list; expected one JSON object."
    assert json.loads(command("--json").out) == {
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
        "problems": [{"file": str(records), "line": 2, "message": message}],
    }


def test_an_import_that_brings_nothing_fails_and_leaves_what_was_there(records, command, capsys):
    for text, expected in (
        ("[]\n{\n", "Nothing was imported: 2 problems, the first in {}, line 1: The line holds a list"),
        ("{\n", "Nothing was imported: 1 problem, the first in {}, line 1: column 2: it is not JSON"),
        ("", "Nothing was imported: records.jsonl is empty."),
        ("{\n" * 1002, "Nothing was imported: 1,002 problems, the first in {}, line 1 and 1,001 others: column 2"),
        ("\n", "Nothing was imported: records.jsonl is empty."),
        ("[]", "Nothing was imported: 1 problem, the first in {}, line 1: The file is empty"),
    ):
        records.write_text(text, encoding="utf-8")
        for options in ([], ["--dry-run"]):
            with pytest.raises(CommandError) as caught:
                command(*options, project="mistyped")
            assert str(caught.value).startswith(expected.format(records))
    capsys.readouterr()
    with pytest.raises(CommandError, match="1 problem, the first"):
        command("--json")
    told = json.loads(capsys.readouterr().out)  # before the end with 1
    assert (told["stories"], [one["line"] for one in told["problems"]]) == (0, [1])
    assert not Project.objects.exists() and not AuditEvent.objects.exists()
    records.write_text(json.dumps(RECORD), encoding="utf-8")
    assert command().out.startswith("Imported. 1 story: 1 created, 0 unchanged; 1 proposition.")
    command()  # unchanged is no failure
    records.write_text("[]\n", encoding="utf-8")
    with pytest.raises(CommandError):
        command()
    assert Project.objects.get().stories.count() == 1
    (records.parent / "empty").mkdir()
    for name, expected in (("missing.jsonl", "no file"), ("empty", "holds no")):
        with pytest.raises(CommandError, match=expected):
            command(path=records.parent / name)
    with pytest.raises(ImportRefused, match="not a project name"):
        import_corpus(by=None, project_slug="a/b", format="omnitom", sources=[])


def admins(project: str) -> list[str]:
    rows = Membership.objects.filter(role="admin", project__slug=project)
    return list(rows.values_list("user__username", flat=True))


def test_a_new_project_gets_the_admin_that_is_named_or_else_the_only_site_admin(command):
    warning = "add_member gives it one"
    for site_admin, project, expected in (("", "none", []), ("root", "one", ["root"]), ("ruth", "two", [])):
        if site_admin:
            User.objects.create_superuser(site_admin)
        said = command(project=project)
        assert admins(project) == expected and (warning in said.err) is not bool(expected), project
    User.objects.create_user("ada")
    command("--admin=ada")
    assert admins("minds") == ["ada"]
    assert AuditEvent.objects.get(action="project.created", project__slug="minds").details == {"admin": "ada"}
    assert "exists already" in command("--admin=root").err and admins("minds") == ["ada"]
    with pytest.raises(CommandError, match="There is nobody called 'bruno'"):
        command("--admin=bruno", project="other")
    assert not Project.objects.filter(slug="other").exists()


def test_a_seed_that_no_column_holds_is_one_sentence(command):
    command()
    options = ["--project=minds", "--per-category=1"]
    for seed in (-1, 2**31, 2**63, 10**400):
        with pytest.raises(CommandError, match=r"^The seed must be a whole number from 0 to 2147483647\.$"):
            call_command("make_split", *options, f"--seed={seed}")
    call_command("make_split", *options, "--seed=2147483647")
    assert Project.objects.get().splits.get(name="calibration").seed == 2**31 - 1


def test_the_whole_of_tombench(db, shared):
    folder = shared / "data" / "ToMBench"
    sources = [(path.name, lambda path=path: path.open("rb")) for path in sorted(folder.glob("*.jsonl"))]
    asked = {"by": None, "project_slug": "tombench", "format": "tombench", "sources": sources}
    result = import_corpus(**asked)
    assert (result.stories, result.created, result.problems) == (1383, 1383, [])
    assert {name: result.by_category[name] for name in KEPT} == KEPT and sum(KEPT.values()) == 916
    stories = Project.objects.get(slug="tombench").stories

    def draw(calibration="calibration", rest="main", categories=None) -> tuple[int, int]:
        split = {"name": calibration, "rest": rest, "categories": categories or list(KEPT)}
        call_command("make_split", project="tombench", seed=3, **split)
        return stories.in_split(calibration).count(), stories.in_split(rest).count()

    assert draw() == (21, 895)
    assert draw("uneven", "others", [*list(KEPT)[1:], f"{next(iter(KEPT))}=5"]) == (23, 893)
    drawn = []
    for _ in range(2):
        draw()
        drawn.append(set(stories.in_split("calibration").values_list("number", flat=True)))
    assert drawn[0] == drawn[1]
    again = import_corpus(**asked)
    assert (again.created, again.unchanged) == (0, 1383)
