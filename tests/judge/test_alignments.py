"""Studies of alignment: drawn, given out, aligned, settled, decided, grown."""

import csv
import io
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from annotation.domain.effort import NO_TIME, Activity, forecast_of
from annotation.models import AppendOnly, Membership
from annotation.services.effort import effort_of
from annotation.templatetags.values import hours as time_text
from judge.domain.alignment import RowAnswer
from judge.models import (
    Alignment,
    AlignmentEvent,
    AlignmentState,
    AlignmentStudy,
    AlignmentTask,
    SettledAlignment,
    SettledEvent,
)
from judge.services import alignment_report
from judge.services.alignment_report import (
    StudyProgress,
    accepted_of,
    agreement_report,
    effect_of_proposals,
    open_tables,
    people_of,
    progress_of,
    progress_of_each,
)
from judge.services.settled_tables import settled_probabilities, settled_tables
from judge.services.settling import (
    Change,
    Refused,
    alignments_of,
    check_independence,
    decide,
    give_more,
    hand_in,
    last_step,
    release,
    save_changes,
    take_back,
)
from judge.services.studies import close_study, grow_study
from tests.judge.alignment_world import MODELS, NOW, answer_all, load, new_study, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(cast):
    return new_study(cast)


def tasks(study, source="bright-model"):
    return list(study.tasks.filter(source=source).order_by("place"))


def of(task, person) -> Alignment:
    return Alignment.objects.select_related("task__study").get(task=task, annotator=person)


def read(client, name: str, *args: str) -> str:
    return " ".join(client.get(reverse(f"judge:{name}", args=["minds", *args])).content.decode().split())


def rows_of(response) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def acted(alignment, at: int, moment, duration_ms) -> None:
    AlignmentEvent.objects.create(
        alignment=alignment, row="p1", action=f"a{at}", idempotency_key=f"k{at}", before={}, after={},
        duration_ms=duration_ms, changed_at=moment, received_at=moment,
    )  # fmt: skip


def test_tables_are_drawn_in_proportion_given_out_and_grow_with_what_is_there(cast, study):
    """Two of four stories of each of three models; a table without a row needs nobody."""
    assert {source: len(tasks(study, source)) for source in MODELS} == dict.fromkeys(MODELS, 2)
    assert set(study.tasks.values_list("probability", flat=True)) == {0.5}
    numbers = {source: [task.number for task in tasks(study, source)] for source in MODELS}
    assert len({tuple(one) for one in numbers.values()}) == 1, "models are sampled on the same stories"
    given = set(Alignment.objects.values_list("annotator__username", "slot"))
    assert given <= {(name, slot) for name in ("bob", "bea") for slot in (1, 2)}
    assert Alignment.objects.count() == 2 * 2 * 2
    [one, other] = [table for table in settled_tables(study) if table.source == "silent-model"]
    assert one.counts == other.counts == ([], [0, 0, 0])
    progress = progress_of(study)
    assert (progress.tables, progress.settled, progress.wanted, progress.free) == (6, 2, 8, 0)
    before = set(study.tasks.values_list("uid", flat=True))
    answer_all(of(tasks(study)[0], cast.bob), p1="g1", p2="g2")

    def grow(more, load=load) -> int:
        return grow_study(by=cast.alice, study=study, more=more, load=load, annotators=[], now=NOW)

    assert grow(3) == 9
    assert before < set(study.tasks.values_list("uid", flat=True))
    assert set(study.tasks.values_list("probability", flat=True)) == {0.75}
    assert {row.annotator_id for row in Alignment.objects.all()} == {cast.bob.pk, cast.bea.pk}
    with pytest.raises(Refused, match="expected 1 to 12"):
        grow(4)
    with pytest.raises(Refused, match="not there any more"):
        grow(1, lambda keys: [])
    close_study(by=cast.alice, study=study, now=NOW)
    with pytest.raises(Refused, match="closed"):
        grow(1)


def test_studies_that_cannot_be_made(cast, study):
    for fields, sentence in (
        ({"name": " "}, "no name"),
        ({"name": "n" * 121}, "121 characters long; expected one line"),
        ({"name": "a\0b"}, "expected one line"),
        ({"seed": -1}, "The seed is -1; expected 0 to"),
        ({"seed": 10**30}, "The seed is 1,000"),
        ({"total": 0}, "number of tables is 0"),
        ({"total": 13}, "expected 1 to 12"),
        ({"overlap": 3}, "choose as many annotators"),
        ({"overlap": 0}, "people a table is 0"),
        ({"most_links": 4}, "expected 1 to 3"),
        ({"blind_share": 101}, "per cent without proposals is 101"),
        ({"name": "First"}, "named First already"),
        ({"annotators": [cast.bob, cast.charlie]}, "charlie is not a member"),
        ({"annotators": [cast.bob, cast.bob]}, "choose as many annotators"),
    ):
        with pytest.raises(Refused, match=sentence):
            new_study(cast, **{"name": "Second"} | fields)
    assert AlignmentTask.objects.count() == 6


def test_changes_count_once_and_are_taken_back(cast, study):
    alignment = of(tasks(study)[0], cast.bob)
    say(alignment, p1="g1", p2="g2")
    again = save_changes(alignment=alignment, changes=[_change(alignment, "p1", "g1", 0)], now=NOW)
    assert again.revision == 1 and AlignmentEvent.objects.count() == 2
    with pytest.raises(Refused, match="would have more"):
        say(alignment, p2="g1")
    action, rows = last_step(alignment=alignment)
    assert rows == [("p2", RowAnswer())]
    back = _change(alignment, "p2", "", 9, undoes=action)
    assert "p2" not in save_changes(alignment=alignment, changes=[back], now=NOW).answers_by_row
    assert last_step(alignment=alignment)[1] == [("p1", RowAnswer())]
    assert last_step(alignment=alignment, redo=True)[1] == [("p2", RowAnswer(("g2",)))]
    with pytest.raises(AppendOnly):
        AlignmentEvent.objects.update(accepted=True)


def _change(alignment, row, links, at, **fields):
    key = f"{alignment.uid}-{row}-0-{at}"
    return Change(row, RowAnswer(tuple(links.split())), key, key, NOW, **fields)


def test_the_last_to_hand_in_settles_and_an_expert_decides(cast, study):
    task = tasks(study)[0]
    with pytest.raises(Refused, match="Prediction 2 and 2 more rows have no answer yet"):
        hand_in(alignment=say(of(task, cast.bob), p1="g1"), now=NOW)
    answer_all(of(task, cast.bob), p1="g1", p2="g2")
    assert not SettledAlignment.objects.filter(task=task).exists()
    answer_all(of(task, cast.bea), p1="g1", p2="none")
    [settled] = SettledAlignment.objects.waiting()
    assert (settled.task_id, settled.open_rows) == (task.pk, 2)
    assert progress_of(study).open_rows == 2
    [table] = [table for table in settled_tables(study) if table.source == "bright-model"]
    assert (table.key, table.probability) == (task.key, None), "calibration waits for the expert"
    assert task.key not in settled_probabilities(study)
    decision = [("p2", RowAnswer(("g2",)))]
    with pytest.raises(Refused, match="meanwhile"):
        decide(by=cast.esi, task=task, revision=0, decisions=decision, now=NOW)
    after = decide(by=cast.esi, task=task, revision=1, decisions=decision, now=NOW, reason="Still is no change.")
    assert after.open_rows == 0 and after.answers["g2"].count == 1
    events = SettledEvent.objects.filter(by=cast.esi).values_list("row", "reason")
    assert set(events) == {("p2", "Still is no change."), ("g2", "Still is no change.")}
    [table] = [table for table in settled_tables(study) if table.source == "bright-model"]
    assert (table.counts, table.links) == (([1, 1], [1, 1, 0]), [(0, 0), (1, 1)])
    answers = SettledAlignment.objects.get(task__uid=table.uid).answers
    assert {row for row, answer in answers.items() if answer.method == "adjudicated"} == {"p2", "g2"}
    assert {row for row, answer in answers.items() if answer.method == "unanimous"} == {"p1", "g1", "g3"}
    assert table.probability == 0.25  # one of the four stories is settled, the first that was drawn
    with pytest.raises(Refused, match="expert has decided"):
        take_back(alignment=of(task, cast.bob), now=NOW)


def test_downloads_have_the_probability_that_calibration_weights_by(cast, study, client):
    """Beside that of the draw, two of four tables: one of four is settled. It stays out for who still aligns, since it
    is the same for the tables of one model."""
    for person in (cast.bob, cast.bea):
        answer_all(of(tasks(study)[0], person), p1="g1", p2="g2")
        answer_all(of(tasks(study, "plain-model")[1], person))  # before the first of its stratum
    as_json, as_csv = (reverse(f"judge:download_{kind}", args=["minds", study.uid]) for kind in ("json", "csv"))
    client.force_login(cast.alice)
    tables = client.get(as_json).json()["tables"]
    told = {table["key"]: (table["probability"], table["settled_probability"]) for table in tables}
    used = {table.key: table.probability for table in settled_tables(study)}
    assert told == {task.key: (0.5, used.get(task.key)) for task in study.tasks.all()}
    rows = {(row["model"], row["settled_probability"]) for row in rows_of(client.get(as_csv))}
    assert rows == {("bright-model", "0.25"), ("plain-model", ""), ("silent-model", "0.5")}
    Alignment.objects.create(task=tasks(study)[1], annotator=cast.alice, slot=3)
    assert not any("settled_probability" in table for table in client.get(as_json).json()["tables"])
    assert {row["settled_probability"] for row in rows_of(client.get(as_csv))} == {""}


def test_nobody_decides_a_table_that_they_aligned(cast, client):
    """Also where it was taken away since, and in no list; who may is named, and what nobody may is said."""
    study = new_study(cast, [cast.esi, cast.bea])
    [task, other] = tasks(study)
    with pytest.raises(Refused, match="have not handed it in"):
        check_independence(by=cast.esi, task=task)
    for one in (task, other):
        answer_all(of(one, cast.esi), p1="g1", p2="g2")
        answer_all(of(one, cast.bea), p1="g1", p2="none")
    decision = [("p2", RowAnswer(("g2",)))]
    with pytest.raises(Refused, match="You aligned this table yourself"):
        decide(by=cast.esi, task=task, revision=1, decisions=decision, now=NOW)
    client.force_login(cast.esi)
    assert client.get(reverse("judge:decide", args=["minds", study.uid, task.uid])).status_code == 403
    found = open_tables(study, cast.esi)
    assert (found["tables"], found["own"]) == ([], 2)
    told = "2 tables are not listed: you aligned them yourself. Who did not align them may decide: Alice."
    assert told in read(client, "study", study.uid)
    assert len(open_tables(study, cast.alice)["tables"]) == 2 and open_tables(study, cast.alice)["own"] == 0
    of(task, cast.bea).release()  # said something before
    with pytest.raises(Refused, match="You aligned this table yourself"):
        check_independence(by=cast.bea, task=task)
    Membership.objects.filter(user=cast.alice).delete()
    assert [open_tables(study, cast.esi)[name] for name in ("stuck", "deciders")] == [2, []]
    assert decide(by=cast.alice, task=task, revision=1, decisions=decision, now=NOW).open_rows == 0
    unsaid = new_study(cast, [cast.esi, cast.bea], name="Second")
    release(by=cast.alice, study=unsaid, person=cast.esi, now=NOW)
    check_independence(by=cast.esi, task=tasks(unsaid)[0])  # who said nothing of a table may decide it


def test_how_many_links_were_accepted_as_proposed_is_told(cast, study, client):
    task = tasks(study)[0]
    own = of(task, cast.bob)
    links = [("p1", ("g1",)), ("p2", ("g2",))]
    proposed = [Change(row, RowAnswer(to), f"k-{row}", f"k-{row}", NOW, accepted=True) for row, to in links]
    save_changes(alignment=own, changes=proposed, now=NOW)
    answer_all(own, p1="g1", p2="g3")  # the second is changed, the first is said again by hand
    answer_all(of(task, cast.bea), p1="g1", p2="g3")
    assert accepted_of(study) == {"links": 4, "accepted": 0, "changed": 2}
    other = of(tasks(study)[1], cast.bob)
    save_changes(alignment=other, changes=[replace(proposed[0], idempotency_key="k", action="k")], now=NOW)
    hand_in(alignment=say(other, p2="none", g2="none", g3="none"), now=NOW)
    assert accepted_of(study) == {"links": 5, "accepted": 1, "changed": 2}
    client.force_login(cast.esi)
    told = "Of people’s 5 links 1 are proposals of the page that they accepted; 2 accepted ones were changed later."
    assert told in read(client, "study", study.uid)


def test_what_proposals_do_to_links_is_measured_by_those_who_see_none(cast, client):
    """Whoever sees proposals links both of a table here, whoever sees none the first; half of all see none, drawn by
    the seed for each table and slot."""
    study = new_study(cast, total=18, stories=9, blind_share=50)
    waiting = Alignment.objects.waiting().filter(task__study=study, task__source="bright-model")
    own = list(waiting.select_related("task__study", "annotator"))
    blind = [one for one in own if one.is_blind]
    assert 0 < len(blind) < len(own) and len({one.task.cluster for one in own}) >= 5
    assert {one.pk for one in waiting if one.is_blind} == {one.pk for one in blind}, "the same wherever it is drawn"
    for one in own:
        client.force_login(one.annotator)
        shown = client.get(reverse("judge:align", args=["minds", one.uid])).context["settings"]["proposals"]
        assert {row: to["gold"] for row, to in shown.items()} == ({} if one.is_blind else {"p1": "g1", "p2": "g2"})
        answer_all(one, **({"p1": "g1"} if one.is_blind else {"p1": "g1", "p2": "g2"}))
    effect = effect_of_proposals(study)
    assert [effect[name].value for name in ("shown", "blind", "difference")] == [1, 0.5, 0.5]
    assert (effect["shown"].n, effect["blind"].n) == (2 * (len(own) - len(blind)), 2 * len(blind))
    low, high = effect["difference"].interval
    assert low <= 0.5 <= high
    client.force_login(cast.alice)
    page = read(client, "study", study.uid)
    assert "What proposals do to links" in page and "50 % of alignments" in page
    active = Alignment.objects.active().filter(task__study=study).select_related("task__study")
    drawn = Counter(one.is_blind for one in active)
    still = Counter(one.is_blind for one in active if one.state == AlignmentState.OPEN)
    told = f"{still[False]} of {drawn[False]} with proposals, {still[True]} of {drawn[True]} without."
    assert still[True] and f"Not handed in, and in no figure: {told}" in page
    told = client.get(reverse("judge:download_json", args=["minds", study.uid])).json()
    assert told["blind_share"] == 50 and told["proposals"]["difference"]["value"] == 0.5
    assert effect_of_proposals(new_study(cast, name="Second")) is None


def test_a_table_is_taken_back_until_an_expert_decides(cast, study):
    task = tasks(study)[0]
    for person in (cast.bob, cast.bea):
        answer_all(of(task, person), p1="g1", p2="g2")
    with pytest.raises(Refused, match="take it back"):
        say(of(task, cast.bob), p1="none")
    assert take_back(alignment=of(task, cast.bob), now=NOW).is_open
    assert not SettledAlignment.objects.filter(task=task).exists()
    hand_in(alignment=of(task, cast.bob), now=NOW)
    assert SettledAlignment.objects.get(task=task).open_rows == 0
    # a page that was opened before the table was taken back shows what is settled no more
    with pytest.raises(Refused, match="meanwhile"):
        decide(by=cast.esi, task=task, revision=1, decisions=[("p2", RowAnswer(("g3",)))], now=NOW)
    with translation.override("zh-hans"), pytest.raises(Refused, match="此表已提交"):
        say(of(task, cast.bob), p1="none")
    report, pairs = agreement_report(study)
    assert (report.counts.agree, report.counts.cells, report.links.value) == (5, 5, 1.0)
    assert pairs == [("Bea", "Bob", 5, 5)]
    people = {row["person"].username: (row["tables"], row["handed_in"], row["rows"]) for row in people_of(study)}
    assert people == {"bea": (4, 1, 5), "bob": (4, 1, 5)}


def test_what_somebody_has_not_done_goes_to_somebody_else(cast, study):
    answer_all(of(tasks(study)[0], cast.bob), p1="g1", p2="g2")
    assert release(by=cast.alice, study=study, person=cast.bob, now=NOW) == 3
    assert progress_of(study).free == 3
    with pytest.raises(Refused, match="not yours any more"):
        say(of(tasks(study)[1], cast.bob), p1="g1")
    assert give_more(by=cast.alice, study=study, annotators=[cast.ben]) == 3
    assert progress_of(study).free == 0
    with pytest.raises(IntegrityError), transaction.atomic():
        Alignment.objects.create(task=tasks(study)[1], annotator=cast.alice, slot=1)
    close_study(by=cast.alice, study=study, now=NOW)
    with pytest.raises(Refused, match="closed"):
        say(of(tasks(study)[1], cast.ben), p1="g1")
    with pytest.raises(Refused, match="closed"):
        give_more(by=cast.alice, study=study, annotators=[cast.ben])


def test_how_far_studies_are_takes_as_many_statements_of_many_as_of_one(cast, study):
    answer_all(of(tasks(study)[0], cast.bob), p1="g1", p2="g2")
    empty = AlignmentStudy.objects.create(project=study.project, name="Without a table")
    with CaptureQueriesContext(connection) as asked:
        found = progress_of_each([study, empty])
    assert len(asked) == 3
    assert found[study.pk] == StudyProgress(6, 2, 0, 0, handed_in=1, wanted=8, free=0)
    assert found[empty.pk] == StudyProgress(0, 0, 0, 0, handed_in=0, wanted=0, free=0)


def test_namesakes_are_two_people_and_the_page_reads_tables_once(cast, study, client, monkeypatch):
    for person in (cast.bob, cast.bea):
        person.display_name = "Sam"
        person.save()
    for number, alignment in enumerate(study.tasks.filter(source="bright-model").first().alignments.all()):
        answer_all(alignment, **({"p1": "g1"} if number else {}))
    agreement, [(first, other, rows, same)] = agreement_report(study)
    assert (first, other) == ("Sam (bea)", "Sam (bob)") and agreement.tables == 1
    assert (rows, same) == (5, 3), "two rows and three; one says that p1 and g1 are the same"
    read, pairs_of = [], alignment_report.pairs_of_people
    monkeypatch.setattr(alignment_report, "pairs_of_people", lambda tables: read.append(1) or pairs_of(tables))
    client.force_login(cast.alice)
    page = client.get(reverse("judge:study", args=["minds", study.uid])).content.decode()
    assert "Sam (bea)" in page and len(read) == 1


def test_what_is_left_takes_everybodys_own_pace_and_has_a_prediction_interval(cast, client):
    """Bob hands in all tables but three, each row in 10 or 20 seconds; Bea has not begun."""
    study = new_study(cast, total=18, stories=9)
    tables = Alignment.objects.waiting().filter(annotator=cast.bob, task__study=study).select_related("task__study")
    stories: dict[str, tuple[int, float]] = {}
    for at, alignment in enumerate(list(tables.order_by("task__place"))[:-3]):
        took = alignment.task.size * (10, 20)[at % 2]
        moment = NOW + timedelta(hours=at + 1)
        answer_all(alignment)
        acted(alignment, at, moment, 1000 * took)
        rows, hours = stories.get(alignment.task.cluster, (0, 0.0))
        stories[alignment.task.cluster] = rows + alignment.task.size, hours + took / 3600
    people = {row["person"]: SimpleNamespace(**row) for row in people_of(study)}
    bob = people[cast.bob]
    assert bob.rows_left and bob.forecast.value == pytest.approx(bob.rows_left * bob.minutes / 60 / bob.rows)
    low, high = bob.forecast.interval
    left: Counter = Counter()
    for alignment in tables.all():
        left[alignment.task.cluster] += alignment.task.size
    assert bob.forecast == forecast_of([stories[story] for story in sorted(stories)], list(left.values()))
    assert 0 < low < bob.forecast.value < high
    assert people[cast.bea].forecast.value is None and people[cast.bea].forecast.reason == NO_TIME
    client.force_login(cast.alice)
    page = read(client, "study", study.uid)
    assert "95 % prediction intervals" in page and NO_TIME in page
    assert f"{time_text(low)} – {time_text(high)}" in page


def test_aligning_counts_in_the_time_on_task_of_the_project_by_the_same_rule(cast, study, make_story, client):
    first, second = Alignment.objects.filter(annotator=cast.bob).select_related("task")[:2]
    first.task.story = make_story(1)
    first.task.save()
    begin = NOW - timedelta(hours=1)
    seconds = [(first, 0, 6000), (first, 90, None), (second, 100, None), (second, 3000, 2000)]
    for at, (alignment, second_at, measured) in enumerate(seconds):
        acted(alignment, at, begin + timedelta(seconds=second_at), measured)
    bob = {row["person"]: SimpleNamespace(**row) for row in people_of(study)}[cast.bob]
    efforts = effort_of(cast.project, now=timezone.now())
    assert dict(zip(Activity, efforts["hours"], strict=True))["alignment"] == pytest.approx(108 / 3600)
    assert efforts["total"] == pytest.approx(bob.minutes / 60) and [row["number"] for row in efforts["stories"]] == [1]
    client.force_login(cast.alice)
    assert "Alignment" in client.get("/p/minds/effort/").content.decode()
    rows = rows_of(client.get("/p/minds/effort/time-on-task.csv"))
    told = sorted((row["person"], row["activity"], row["story"], row["acts"]) for row in rows)
    assert told == [("bob", "alignment", "", "2"), ("bob", "alignment", "1", "2")]


def test_tables_of_one_story_are_numbered_in_the_list_of_their_person(cast, study, client):
    client.force_login(cast.bob)
    own = alignments_of(cast.project, cast.bob)
    assert len({one.task.number for one in own}) < len(own), "the same story twice"
    listed, names = read(client, "studies"), set()
    for one in own:
        opened = read(client, "align", one.uid)
        assert f"Align table {one.nth} of {one.several} of story {one.task.number}" in opened
        assert not any(model in listed + opened for model in MODELS)
        names.add(f"tory {one.task.number}, table {one.nth} of {one.several}")
    assert len(names) == len(own) and all(name in listed for name in names)
