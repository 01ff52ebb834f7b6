"""Alignment studies in the archive of a project: they come back as they were, and what cannot be read is refused."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotation.domain.archive_format import BadArchive
from annotation.models import Project
from annotation.services.archive_export import export_archive
from annotation.services.archive_import import import_archive
from core.plain import plain
from judge.models import Alignment, AlignmentEvent, AlignmentStudy, SettledEvent
from judge.services.alignment_export import document_of
from judge.services.alignment_report import progress_of
from judge.services.settled_tables import settled_tables
from judge.services.settling import Refused
from judge.services.studies import grow_study
from tests.annotation.test_archive import contents, packed, repacked
from tests.judge.alignment_world import answer_all, new_study

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "<script>alert(1)</script> \u202eRTL"


@pytest.fixture
def study(cast) -> AlignmentStudy:
    made = new_study(cast, name=WORDS, total=7)
    first, *_ = made.tasks.filter(source="bright-model")
    for alignment in first.alignments.all():
        answer_all(alignment, p1="g1")
    return made


def imported(project: Project, **fields) -> AlignmentStudy:
    import_archive(by=None, source=packed(project), slug="copy", now=timezone.now(), **fields)
    return AlignmentStudy.objects.get(project__slug="copy")


def test_a_study_comes_back_with_every_answer_and_decision(study, cast):
    copy = imported(cast.project, matched=["bob", "bea", "alice"])
    told, again = (plain(document_of(one, named=True)) for one in (study, copy))
    for whole in (told, again):
        assert all(table.pop("table") for table in whole["tables"])
        whole["tables"].sort(key=lambda table: table["key"])
    assert told.pop("study") != again.pop("study") and again == told
    assert [one.probability for one in settled_tables(copy)] == [one.probability for one in settled_tables(study)]
    assert progress_of(copy) == progress_of(study)
    for model, within in ((AlignmentEvent, "alignment__task__study"), (SettledEvent, "task__study")):
        assert 0 < model.objects.filter(**{within: copy}).count() == model.objects.filter(**{within: study}).count()
    assert Alignment.objects.filter(task__study=copy, annotator=cast.bob).count() == 7 - 2
    # it is aligned further, and says why it cannot grow
    for own in Alignment.objects.waiting().filter(task__study=copy):
        answer_all(own)
    assert progress_of(copy).settled == 7
    with pytest.raises(Refused, match="were runs deleted"):
        grow_study(by=cast.alice, study=copy, more=1, load=lambda keys: [], annotators=[], now=timezone.now())


def test_page_and_command_say_what_an_archive_does_not_bring(study, cast, client, tmp_path, capsys):
    file = tmp_path / "minds.zip"
    with file.open("wb") as target:
        export_archive(project=cast.project, target=target, now=timezone.now())
    call_command("import_archive", str(file), project="by-command")
    told = "Runs, watches, second looks and what judges said are not part of an archive"
    assert told in "".join(capsys.readouterr())
    cast.alice.is_superuser = True
    cast.alice.save()
    client.force_login(cast.alice)
    with file.open("rb") as source:
        sent = {"file": source, "slug": "by-page", "people": ""}
        page = client.post(reverse("annotation:archive", args=["minds"]), sent, follow=True)
    assert told in page.content.decode()
    study.delete()
    import_archive(by=None, source=packed(cast.project), slug="without", now=timezone.now())


def test_what_no_page_could_read_is_refused_with_file_line_and_field(study, cast):
    whole = packed(cast.project)
    for part, field, value, told in [
        ("alignment_studies", "frame", [["a"]], "line 1: field frame: its content cannot be read"),
        ("alignment_studies", "origin", {"runs": 3}, "line 1: field origin: its content cannot be read"),
        ("alignment_studies", "overlap", 99, "contradicts itself"),
        ("alignment_tables", "predictions", [[1, 2]], "line 1: field predictions: its content cannot be read"),
        ("alignment_tables", "probability", 0.0, "contradicts itself"),
        ("alignments", "answers", {"p1": {"links": ["g9"]}}, "There is no row g9 in these tables"),
        ("alignments", "answers", {"p1": {"links": ["g1", "g2"]}}, "is linked with one row of the other table"),
        ("alignments", "answers", {"x": {"verdict": "maybe"}}, "line 1: field answers: its content cannot be read"),
        ("alignment_events", "after", 7, "line 1: field after: its content cannot be read"),
        ("settled_alignments", "rows", {}, "line 1: field rows: its content cannot be read"),
        ("settled_alignments", "open_rows", 5, "line 1: field open_rows: its content cannot be read"),
        ("settled_alignment_events", "after", {"links": "g1"}, "line 1: field after: its content cannot be read"),
    ]:
        parts = contents(whole)
        first, *rest = parts[f"{part}.jsonl"].splitlines(keepends=True)
        row = json.loads(first) | {field: value}
        parts[f"{part}.jsonl"] = b"".join([json.dumps(row).encode() + b"\n", *rest])
        with pytest.raises(BadArchive, match=told):
            import_archive(by=None, source=repacked(parts), slug="copy", now=timezone.now())
    assert not Project.objects.exclude(pk=cast.project.pk).exists()
