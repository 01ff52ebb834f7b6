import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Role
from judge.models import Alignment
from tests.judge.alignment_world import answer_all, new_study


@pytest.mark.django_db
def test_studies_are_read_as_their_pages_show_them(cast, api, client):
    study = new_study(cast, [cast.bob, cast.alice])
    hidden = new_study(cast, name="Second", audience=Role.ADMIN)
    everyone = Alignment.objects.select_related("task__study").filter(task__study=study)
    for own in everyone.filter(annotator=cast.bob):
        answer_all(own, **({"p1": "g1"} if own.task.predictions else {}))

    def address(one=None, more=""):
        bare = reverse("api:alignment_studies", args=["minds"])
        return bare if one is None else f"{bare}{one.uid}/{more}"

    for person, names in ((cast.bob, []), (cast.esi, ["First"]), (cast.alice, ["Second", "First"])):
        assert [row["name"] for row in api(person).get(address()).json()["results"]] == names
    for person, one, more, status in (
        (cast.bob, study, "", 403), (cast.esi, study, "", 200), (cast.esi, hidden, "", 403),
        (cast.esi, study, "tables/", 403), (cast.alice, hidden, "tables/", 200), (cast.charlie, study, "tables/", 404),
    ):  # fmt: skip
        assert api(person).get(address(one, more)).status_code == status
        client.force_login(person)
        page = reverse(f"judge:{'download_json' if more else 'study'}", args=["minds", one.uid])
        assert client.get(page).status_code == status

    alice = api(cast.alice)

    def tables(**query) -> list[dict]:
        return alice.get(address(study, "tables/"), query).json()["results"]

    assert not any({"model", "key", "origin"} & row.keys() for row in tables()), "while the study goes on"
    for own in everyone.filter(annotator=cast.alice, state="open"):
        answer_all(own)
    client.force_login(cast.alice)
    whole = client.get(reverse("judge:download_json", args=["minds", study.uid])).json()
    told = alice.get(address(study)).json()
    assert (told["progress"], told["agreement"]) == (whole["progress"], whole["agreement"])
    own = told["progress"]["open_tables"]
    assert told["open"] == {"tables": [], "own": own, "busy": 0, "deciders": ["Esi"], "stuck": 0}
    assert [one["may_decide"] for one in whole["open"]] == [["esi"]] * own and own
    seen_by_esi = api(cast.esi).get(address(study)).json()["open"]
    assert sorted(seen_by_esi["tables"]) == sorted(one["table"] for one in whole["open"]) and not seen_by_esi["own"]
    with CaptureQueriesContext(connection) as few:
        first = tables(page_size=1)
    with CaptureQueriesContext(connection) as many:
        read = tables()
    assert read[:1] == first and len(read) == 6 and len(many) == len(few)
    times = [[one.pop("at")[:19] for table in some for one in table["alignments"]] for some in (read, whole["tables"])]
    assert read == whole["tables"] and times[0] == times[1]
    assert any(answer["links"] for table in read for one in table["alignments"] for answer in one["answers"].values())
    assert {table["model"] for table in read} <= {"bright-model", "plain-model", "silent-model"}
