"""A team's own prompts: loaded from files, shown, used by runs, never changed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import AuditEvent
from benchmark.models import Run, StoredPromptSet
from benchmark.services.prompt_sets import discard_prompt_set
from benchmark.suites.omnitom.data import read_records
from benchmark.suites.omnitom.official import STEPS
from benchmark.suites.omnitom.parsing.official import gold_csv, predictions_csv
from benchmark.suites.omnitom.prompting.examples import examples_for
from benchmark.suites.omnitom.prompting.requests import Asking
from benchmark.suites.omnitom.prompting.sets import LEVELS, built_in, load_prompt_set
from benchmark.suites.prompt_sets import BadPromptSet
from tests.benchmark.settled import make_endpoint, published, started, work_off, written
from workers.models import Call

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/p/minds/prompts/"
FILES = {"label-level3.txt": "Label each row.\n\n{story}\n\n{belief_table}\n\n{format}", "README.txt": "Ours."}


@pytest.fixture
def alice(cast, client):
    client.force_login(cast.alice)
    return client


def load(client, name: str, files: dict[str, str | bytes]):
    uploads = [
        SimpleUploadedFile(file, text if isinstance(text, bytes) else text.encode()) for file, text in files.items()
    ]
    return client.post(ADDRESS, {"name": name, "files": uploads})


def test_a_set_is_loaded_listed_and_shown(alice, cast):
    assert load(alice, "ours", FILES)["Location"] == f"{ADDRESS}ours/"
    held = StoredPromptSet.objects.get()
    assert held.files == FILES and held.created_by == cast.alice
    assert AuditEvent.objects.filter(action="prompts.loaded", target="ours").count() == 1
    listed = written(alice.get(ADDRESS))
    assert "omnitom-1" in listed and ">ours<" in listed and "built in" in listed
    shown = written(alice.get(f"{ADDRESS}ours/"))  # its only step and level, without being asked for
    assert "Label each row." in shown and "{belief_table}" in shown
    filled = written(alice.get(f"{ADDRESS}ours/", {"step": "label", "level": 3, "filled": "1"}))
    assert "Label each row." in filled and "{belief_table}" not in filled and "Actor | Belief" in filled
    assert "has no prompt judge-level4" in written(alice.get(f"{ADDRESS}ours/", {"step": "judge", "level": 4}))


@pytest.mark.once
@pytest.mark.parametrize("step", ["extract", "judge", "label"])
@pytest.mark.parametrize("level", [1, 2, 3, 4])
@pytest.mark.parametrize("answer_format", ["text", "structured"])
def test_every_built_in_prompt_can_be_read(alice, step, level, answer_format):
    for filled in ("", "1"):
        asked = {"step": step, "level": level, "answer_format": answer_format, "filled": filled}
        response = alice.get(f"{ADDRESS}omnitom-1/", asked)
        assert [role for role, _ in response.context["parts"]] == ["system", "user"]


REFUSED = [
    ({"extract-level3.txt": "No data here."}, "files", "lack the placeholder {story}"),
    ({"label-level3.txt": "{story} {belief_table} {mystery}"}, "files", "has the placeholder {mystery}"),
    ({"notes.txt": "x"}, "files", "The set holds no prompt"),
    (FILES | {"other.txt": "x"}, "files", "other.txt is used by no prompt"),
    ({"label-level3.txt": b"\xff\xfe"}, "files", "label-level3.txt is not UTF-8 (byte 0)."),
    ({"label-level3.txt": "\x00{story}{belief_table}"}, "files", "holds a NUL byte"),
    ({"label-level3.txt": "x" * 1_100_000}, "files", "larger than 1 MB"),
]  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize(("files", "field", "sentence"), REFUSED)
def test_what_is_wrong_stands_beside_the_files(alice, files, field, sentence):
    response = load(alice, "ours", files)
    assert response.status_code == 200
    assert sentence in response.context["form"].errors[field][0]
    assert not StoredPromptSet.objects.exists()


def test_a_name_is_taken_once(alice):
    load(alice, "ours", FILES)
    again = load(alice, "ours", {"label-level3.txt": "{story}{belief_table}"})
    assert "another wording is another set" in again.context["form"].errors["name"][0]
    built_in = load(alice, "omnitom-1", FILES)
    assert "name of a built-in set" in built_in.context["form"].errors["name"][0]
    assert StoredPromptSet.objects.get().files == FILES


def test_a_name_that_no_address_holds_is_refused_with_what_is_expected(alice):
    told = load(alice, "two words", FILES).context["form"].errors["name"]
    assert told == ["A name of letters, digits, hyphens and underscores is expected, such as our-prompts-2."]


def test_two_files_of_one_name_are_refused(alice):
    uploads = [SimpleUploadedFile(name, b"{story}{belief_table}") for name in ("label-level3.txt", "label-level3.txt")]
    response = alice.post(ADDRESS, {"name": "ours", "files": uploads})
    assert "two files called label-level3.txt" in response.context["form"].errors["files"][0]


def test_a_run_uses_the_set_and_says_so_and_the_set_then_stays(alice, cast, make_story):
    load(alice, "ours", FILES)
    run = work_off(started(cast, published(cast, make_story, 1), [make_endpoint("tiny")], prompt_set="ours"))
    assert run.prompt_set == "ours" and set(run.spec["prompts"]) == {"label"}
    assert "Label each row." in Call.objects.get().request["messages"][-1]["content"]
    shown = written(alice.get(f"{ADDRESS}ours/"))
    assert "used by 1 run" in shown and "Discard" not in shown
    told = written(alice.post(f"{ADDRESS}ours/discard/", follow=True))
    assert "it stays as it is" in told and StoredPromptSet.objects.exists()


def test_a_set_that_no_run_used_can_go(alice, cast):
    load(alice, "ours", FILES)
    assert "Discard" in written(alice.get(f"{ADDRESS}ours/"))
    alice.post(f"{ADDRESS}ours/discard/")
    assert not StoredPromptSet.objects.exists()
    assert not discard_prompt_set(by=cast.alice, project=cast.project, name="omnitom-1")
    assert AuditEvent.objects.filter(action="prompts.discarded").count() == 1
    assert not Run.objects.exists()


def test_a_set_of_another_project_is_not_there(alice, cast):
    from annotation.models import Project

    other = Project.objects.create(slug="other", name="Other")
    StoredPromptSet.objects.create(project=other, name="theirs", files=FILES)
    assert alice.get(f"{ADDRESS}theirs/").status_code == 404
    assert "theirs" not in alice.get(ADDRESS).content.decode()


@pytest.mark.once
def test_hostile_wording_is_shown_as_text(alice):
    load(alice, "ours", {"label-level3.txt": "<script>alert(1)</script>{story}{belief_table}"})
    assert "<script>alert(1)" not in alice.get(f"{ADDRESS}ours/").content.decode()


SAMPLE = Path(__file__).resolve().parents[2] / "annotation" / "sample" / "stories.jsonl"


@pytest.fixture(scope="module")
def sample():
    with SAMPLE.open("rb") as handle:
        return read_records(handle, SAMPLE.name)


def asked(step: str, record, *, level: int = 3, **more):
    """A request about a record; the judge is given its gold rows as predictions."""
    own = {"rows": record.rows, "predictions": told(record)}
    given = {"story": record.story, "category": record.category, "level": level}
    return Asking(step=step, **given, **own, **more).request()


def told(record) -> list[tuple[str, str]]:
    return [row.as_told for row in record.rows]


def texts(request) -> tuple[str, str]:
    found = {one.role: one.content for one in request.messages}
    return found.get("system", ""), found.get("user", "")


def test_hashes_tell_wordings_apart():
    prompts = built_in()
    hashes = [prompts.content_hash(step, level) for step in STEPS for level in LEVELS]
    assert len(set(hashes)) == 12 and all(re.fullmatch(r"[0-9a-f]{64}", one) for one in hashes)
    again = load_prompt_set(prompts.files, name="again")
    assert again.content_hash("judge", 4) == prompts.content_hash("judge", 4)
    changed = load_prompt_set({**prompts.files, "judge-example.txt": "{number}: {story} {answer}"})
    assert changed.content_hash("judge", 4) != prompts.content_hash("judge", 4)
    assert changed.content_hash("judge", 3) == prompts.content_hash("judge", 3)
    assert (prompts.name, prompts.version) == ("omnitom-1", "1")
    with pytest.raises(BadPromptSet, match="There is no built-in prompt set"):
        built_in("../omnitom-1")


OWN = {
    "extract-level3-system.txt": "\ufeffExtract.\r\n\r\n\r\nTable of {columns}.\r\n",
    "extract-level3-user.txt": "Story Narrative:\n{story}\nReturn the table.",
    "label-level3.txt": "Label.",
    "label-user.txt": "{story}\n\n{belief_table}",
    "judge-level4.txt": "{intro}\n\n{category_block}\n\n{examples}\n\n{story}\n\n{predictions}\n{gold}",
    "judge-categories.txt": "Hinting Task Test: Mind the hint.\n\nOther: Nothing.",
    "intro.txt": "Match.",
    "README.md": "Where these come from.",
}


def test_a_set_of_ones_own(sample):
    own = load_prompt_set(OWN, name="released")
    assert [own.levels(step) for step in STEPS] == [(3,), (3,), (4,)]
    assert own.name == "released" and re.fullmatch("[0-9a-f]{12}", own.version)
    record = sample[3]
    system, user = texts(asked("extract", record, prompt_set=own))
    assert system == "Extract.\n\n\nTable of Actor | Belief | Order."
    assert user == f"Story Narrative:\n{record.story}\nReturn the table."
    assert texts(asked("label", record, prompt_set=own))[0] == "Label."
    examples = examples_for(record.category, "judge", record.story, sample, 1)
    system, user = texts(asked("judge", record, level=4, prompt_set=own, examples=examples))
    assert system == ""
    assert user.startswith("Match.\n\nHinting Task Test: Mind the hint.\n\nExample 1\n\nStory:\n=====\n")
    assert user.endswith(f"\n\n{record.story}\n\n{predictions_csv(told(record))}\n{gold_csv(told(record))}")
    assert len(asked("judge", record, level=4, prompt_set=own).messages) == 1


def test_whether_a_prompt_has_a_place_for_examples():
    templates = [built_in().template("judge", level) for level in LEVELS]
    assert ["examples" in template.placeholders for template in templates] == [False, False, False, True]


def test_a_set_without_a_format_has_the_built_in_one_for_structured_output(sample):
    own = load_prompt_set(OWN)
    system, user = texts(asked("label", sample[3], answer_format="structured", prompt_set=own))
    assert system.startswith("Label.\n\nEach proposition is given as a JSON object with an id.")
    assert '{"id": 1, "actor": "world"' in user


def test_a_set_that_cannot_be_used_is_refused_in_one_sentence():
    for files, message in [
        ({}, "holds no prompt"),
        ({"extract-level1.txt": "{story} {Gold}"}, "extract-level1.txt has the placeholder {Gold}"),
        ({"extract-level1.txt": "{story} {gold}"}, "extract-level1.txt has the placeholder {gold}"),
        ({"label-level1.txt": "{story}"}, "label-level1.txt and its other part lack the placeholder {belief_table}"),
        (
            {"judge-level1.txt": "x", "judge-user.txt": "{gold}"},
            ("judge-user.txt and its other part lack the placeholder {predictions}"),
        ),
        ({"extract-level1.txt": "{story}", "extract-levl2.txt": "{story}"}, "extract-levl2.txt is used by no prompt"),
        ({"extract-level1.txt": "{story}", "extract-level1-system.txt": "{story}"}, "extract-level1"),
        ({"extract-level1.txt": "{story}", "notes.csv": ""}, "notes.csv is used by no prompt"),
        ({"extract-level1.txt": "{story} {category_block}"}, "lacks extract-categories.txt"),
        ({"extract-level1.txt": "{story}", "extract-categories.txt": "x"}, "extract-categories.txt, line 1"),
        ({"extract-level1.txt": "{story} {a}", "a.txt": "{b}", "b.txt": "{a}"}, "without an end"),
        ({"extract-level1.txt": "{story}", "extract-example.txt": "{story}"}, "lacks the placeholder {answer}"),
        ({"extract-level1.txt": "{story}", "extract-example.txt": "{answer} {gold}"}, "which is not known there"),
        ({"extract-level1.txt": "{story} {format}", "extract-format-text.txt": "{story}"}, "no place in a format"),
    ]:
        with pytest.raises(BadPromptSet, match=re.escape(message)):
            load_prompt_set(files)


LONGEST_SNAPSHOT = 7


def test_no_eight_words_in_a_row_are_the_papers(shared):
    path = shared / "papers" / "omnitom.txt"
    if not path.is_file():
        pytest.skip("the paper is absent")
    paper = sequences(path.read_text("utf-8"))
    assert len(paper) > 5000
    for name, text in built_in().files.items():
        assert not sequences(text) & paper, name


def sequences(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.lower())
    return {tuple(words[at : at + LONGEST_SNAPSHOT + 1]) for at in range(len(words) - LONGEST_SNAPSHOT)}


CATEGORIES = {
    "Ambiguous Story Task",
    "False Belief Task",
    "Faux-pas Recognition Test",
    "Hinting Task Test",
    "Persuasion Story Task",
    "Scalar Implicature Test",
    "Strange Story Task",
}
