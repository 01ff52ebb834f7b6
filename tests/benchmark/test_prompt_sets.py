"""A team's own prompts: loaded from files, shown, used by runs, never changed."""

from __future__ import annotations

from itertools import product

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import AuditEvent, Project
from benchmark.models import Run, StoredPromptSet
from benchmark.services.prompt_sets import discard_prompt_set
from benchmark.suites.omnitom.official import STEPS
from benchmark.suites.omnitom.prompting.sets import ANSWER_FORMATS, LEVELS
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
def test_every_built_in_prompt_can_be_read(alice):
    for step, level, answer_format, filled in product(STEPS, LEVELS, ANSWER_FORMATS, ("", "1")):
        asked = {"step": step, "level": level, "answer_format": answer_format, "filled": filled}
        response = alice.get(f"{ADDRESS}omnitom-1/", asked)
        assert [role for role, _ in response.context["parts"]] == ["system", "user"], asked


@pytest.mark.once
def test_what_is_wrong_stands_beside_the_files(alice):
    for files, sentence in (
        ({"extract-level3.txt": "No data here."}, "lack the placeholder {story}"),
        ({"label-level3.txt": "{story} {belief_table} {mystery}"}, "has the placeholder {mystery}"),
        ({"notes.txt": "x"}, "The set holds no prompt"),
        (FILES | {"other.txt": "x"}, "other.txt is used by no prompt"),
        ({"label-level3.txt": b"\xff\xfe"}, "label-level3.txt is not UTF-8 (byte 0)."),
        ({"label-level3.txt": "\x00{story}{belief_table}"}, "holds a NUL byte"),
        ({"label-level3.txt": "x" * 1_100_000}, "larger than 1 MB"),
    ):
        response = load(alice, "ours", files)
        assert response.status_code == 200
        assert sentence in response.context["form"].errors["files"][0]
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
    other = Project.objects.create(slug="other", name="Other")
    StoredPromptSet.objects.create(project=other, name="theirs", files=FILES)
    assert alice.get(f"{ADDRESS}theirs/").status_code == 404
    assert "theirs" not in alice.get(ADDRESS).content.decode()


@pytest.mark.once
def test_hostile_wording_is_shown_as_text(alice):
    load(alice, "ours", {"label-level3.txt": "<script>alert(1)</script>{story}{belief_table}"})
    assert "<script>alert(1)" not in alice.get(f"{ADDRESS}ours/").content.decode()
