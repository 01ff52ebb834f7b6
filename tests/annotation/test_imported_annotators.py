"""Names of imported annotators, and where the pages say who is one."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models.user import imported_username
from annotation.services.imported_annotators import make_imported


def test_a_long_name_is_cut_the_same_way_every_time():
    name = "x" * 150
    assert len(imported_username("minds", name)) == 150
    assert imported_username("minds", name) != imported_username("minds", name[:-1])
    cut = imported_username("minds", name).partition(":")[2]
    assert imported_username("minds", cut).partition(":")[2] == cut


def test_the_page_says_of_every_name_who_it_is(cast, make_story, client):
    make_story(rows=[("Ines", "It rains")])
    client.force_login(cast.alice)
    lines = (
        "story_id,actor,belief,dimension,annotator,label\n1,Ines,It rains,order,bob,1\n1,Ines,It rains,order,ada,1\n"
    )
    file = SimpleUploadedFile("votes.csv", lines.encode())
    html = client.post(
        reverse("annotation:import", args=["minds"]),
        {"files": file, "format": "votes", "language": "en", "keep": "1", "sure": "1"},
    ).content.decode()
    assert "imported annotator</span>" in html
    assert "member</span>" in html
    people = client.get(reverse("annotation:people", args=["minds"])).content.decode()
    assert "Imported annotators" in people
    assert "minds:ada" in people
    assert "minds:bob" not in people
    assignments = client.get(reverse("annotation:assignments", args=["minds"])).content.decode()
    assert "ada (imported)" in assignments
    assert "no longer a member" not in assignments


def test_an_imported_annotator_gets_no_work_and_is_not_offered(cast, client):
    make_imported({"ada": "Ada"}, cast.project)
    client.force_login(cast.alice)
    assert "Ada (imported)" not in client.get(reverse("annotation:assignments", args=["minds"])).content.decode()
    cast.alice.is_staff = cast.alice.is_superuser = True
    cast.alice.save()
    assert "minds:ada" not in client.get("/site-admin/annotation/user/").content.decode()
