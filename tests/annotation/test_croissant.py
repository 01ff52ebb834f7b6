import json

import mlcroissant
from django.core.management import call_command
from django.utils import timezone

from annotation.models import Guideline, Proposition
from annotation.services.croissant import write_croissant


def test_a_project_is_described_by_what_it_knows(cast, make_story, assign, cast_vote, tmp_path):
    project = cast.project
    project.description = "Who believes what."
    project.dataset_card = {"licence": "CC BY 4.0", "source": "Written here.", "demographics": "Three adults."}
    project.save()
    Guideline.objects.create(project=project, dimension="order", text="Count minds.")
    story = make_story(text="=1+1 is a story")
    for one in assign(story):
        for dimension, label in (("order", "0"), ("truth_status", "True")):
            cast_vote(one, Proposition.objects.order_by("position")[0], dimension, label)
    counts = write_croissant(project, tmp_path / "out", site_url="https://example.org", now=timezone.now())
    assert counts == {"stories": 1, "propositions": 2}

    # it validates, and its records load
    dataset = mlcroissant.Dataset(str(tmp_path / "out" / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    (story,) = dataset.records("stories")
    assert (story["stories/story_id"], story["stories/story"]) == (1, b"=1+1 is a story")
    rows = list(dataset.records("propositions"))
    assert [row["propositions/order"] for row in rows] == [0, None]
    assert [row["propositions/truth_status"] for row in rows] == [b"True", None]
    votes = list(dataset.records("votes"))
    assert len(votes) == 6 and {row["votes/annotator"] for row in votes} == {b"A1", b"A2", b"A3"}

    document = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    assert "http://mlcommons.org/croissant/RAI/1.0" in document["conformsTo"]
    assert document["license"] == "CC BY 4.0"
    assert document["rai:dataCollection"] == "Written here."
    assert document["rai:annotatorDemographics"] == "Three adults."
    assert document["rai:annotationsPerItem"].startswith("3 votes")
    assert "12 of 14 cells" in document["rai:dataCollectionMissingData"]
    assert any("guidelines of its own for order" in line for line in document["rai:dataAnnotationProtocol"])
    assert "rai:dataBiases" not in document

    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# Minds\n\nWho believes what.") and "## Licence\n\nCC BY 4.0" in card
    assert "## Intended use\n\nThe project does not say." in card and "bob" not in card


def test_an_empty_project_can_be_described(cast, tmp_path):
    call_command("export_gold", "--project=minds", "--format=croissant", f"--output={tmp_path / 'out'}")
    assert mlcroissant.Dataset(str(tmp_path / "out" / "croissant.json")).metadata.name == "minds"
