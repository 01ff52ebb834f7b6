"""A team's own prompts: loaded from files, shown, used by runs, never changed."""

from itertools import product

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import AuditEvent, Project
from benchmark.models import StoredPromptSet
from benchmark.services.prompt_sets import discard_prompt_set
from benchmark.suites.omnitom.official import STEPS
from benchmark.suites.omnitom.prompting.sets import ANSWER_FORMATS, LEVELS
from tests.benchmark.settled import make_endpoint, published, started, work_off, written
from workers.models import Call

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "/p/minds/prompts/"
FILES = {"label-level3.txt": "Label each row.\n\n{story}\n\n{belief_table}\n\n{format}", "README.txt": "Ours."}


def send(client, name: str, *files: tuple[str, str | bytes]):
    uploads = [SimpleUploadedFile(file, text if isinstance(text, bytes) else text.encode()) for file, text in files]
    return client.post(ADDRESS, {"name": name, "files": uploads})


def load(client, name: str, files: dict[str, str | bytes]):
    return send(client, name, *files.items())


def test_a_set_is_loaded_listed_shown_and_can_go_until_a_run_uses_it(alice, cast, make_story):
    assert load(alice, "ours", FILES)["Location"] == f"{ADDRESS}ours/"
    own = StoredPromptSet.objects.filter(project=cast.project)
    assert own.get().files == FILES and own.get().created_by == cast.alice
    assert AuditEvent.objects.filter(action="prompts.loaded", target="ours").count() == 1
    StoredPromptSet.objects.create(project=Project.objects.create(slug="other"), name="theirs", files=FILES)
    listed = written(alice.get(ADDRESS))
    assert "omnitom-1" in listed and ">ours<" in listed and "built in" in listed and "theirs" not in listed
    assert alice.get(f"{ADDRESS}theirs/").status_code == 404
    shown = written(alice.get(f"{ADDRESS}ours/"))  # its only step and level, without being asked for
    assert "Label each row." in shown and "{belief_table}" in shown and "Discard" in shown
    filled = written(alice.get(f"{ADDRESS}ours/", {"step": "label", "level": 3, "filled": "1"}))
    assert "Label each row." in filled and "{belief_table}" not in filled and "Actor | Belief" in filled
    assert "has no prompt judge-level4" in written(alice.get(f"{ADDRESS}ours/", {"step": "judge", "level": 4}))
    alice.post(f"{ADDRESS}ours/discard/")
    assert not own.exists()
    assert not discard_prompt_set(by=cast.alice, project=cast.project, name="omnitom-1")
    assert AuditEvent.objects.filter(action="prompts.discarded").count() == 1
    load(alice, "ours", FILES)
    run = work_off(started(cast, published(cast, make_story, 1), [make_endpoint("tiny")], prompt_set="ours"))
    assert run.prompt_set == "ours" and set(run.spec["prompts"]) == {"label"}
    assert "Label each row." in Call.objects.get().request["messages"][-1]["content"]
    shown = written(alice.get(f"{ADDRESS}ours/"))
    assert "used by 1 run" in shown and "Discard" not in shown
    told = written(alice.post(f"{ADDRESS}ours/discard/", follow=True))
    assert "it stays as it is" in told and own.exists()


@pytest.mark.once
def test_every_built_in_prompt_can_be_read(alice):
    for step, level, answer_format, filled in product(STEPS, LEVELS, ANSWER_FORMATS, ("", "1")):
        asked = {"step": step, "level": level, "answer_format": answer_format, "filled": filled}
        response = alice.get(f"{ADDRESS}omnitom-1/", asked)
        assert [role for role, _ in response.context["parts"]] == ["system", "user"], asked


@pytest.mark.once
def test_what_is_wrong_stands_beside_the_field(alice):
    label = "{story}{belief_table}"
    twice = [("label-level3.txt", label)] * 2
    for files, sentence in (
        ([("extract-level3.txt", "No data here.")], "lack the placeholder {story}"),
        ([("label-level3.txt", label + "{mystery}")], "has the placeholder {mystery}"),
        ([("notes.txt", "x")], "The set holds no prompt"),
        ([*FILES.items(), ("other.txt", "x")], "other.txt is used by no prompt"),
        ([("label-level3.txt", b"\xff\xfe")], "label-level3.txt is not UTF-8 (byte 0)."),
        ([("label-level3.txt", f"\x00{label}")], "holds a NUL byte"),
        ([("label-level3.txt", "x" * 1_100_000)], "larger than 1 MB"),
        (twice, "two files called label-level3.txt"),
    ):
        assert sentence in send(alice, "ours", *files).context["form"].errors["files"][0]
    assert not StoredPromptSet.objects.exists()
    load(alice, "ours", {"label-level3.txt": f"<script>alert(1)</script>{label}"})
    assert "<script>alert(1)" not in alice.get(f"{ADDRESS}ours/").content.decode()
    expected = "A name of letters, digits, hyphens and underscores is expected, such as our-prompts-2."
    for name, sentence in (
        ("ours", "another wording is another set"),
        ("omnitom-1", "name of a built-in set"),
        ("two words", expected),
    ):
        assert sentence in load(alice, name, FILES).context["form"].errors["name"][0]
    assert StoredPromptSet.objects.count() == 1
