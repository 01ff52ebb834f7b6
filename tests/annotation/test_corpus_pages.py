import io
import json
import re
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.domain.tables import TableRow
from annotation.models import AuditEvent, Project, Proposition, Split, Story, Vote
from annotation.services import belief_tables
from annotation.services.belief_tables import move
from annotation.services.drafts import hand_in
from tests.annotation.drafting import write_draft

CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN"}


def url(name: str, *args) -> str:
    return reverse(f"annotation:{name}", args=["minds", *args])


def upload(text: str | bytes, name: str = "records.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


@pytest.fixture
def admin(cast, client):
    client.force_login(cast.alice)
    return client


def text_of(response) -> str:
    return response.content.decode()


# --- stories and splits


def test_the_list_filters_and_sorts_in_few_statements(admin, make_story, assign):
    make_story(1, category="A", text="Plums on the table.")
    make_story(2, category="B", rows=[("x", "y")])
    page = text_of(admin.get(url("stories"), {"category": "A"}))
    assert "Plums" in page and "Story 2" not in page
    for sort in ("rows", "-number"):
        assert [row["story"].number for row in admin.get(url("stories"), {"sort": sort}).context["rows"]] == [2, 1]
    assert admin.get(url("stories"), {"sort": "no-such", "page": "x"}).status_code == 200
    counts = []
    for number in (3, 4, 5, 6, 7):
        story = make_story(number)
        assign(story)
        with CaptureQueriesContext(connection) as queries:
            for address in (url("stories"), url("story", story.uid), url("table_edit", story.uid)):
                admin.get(address)
        counts.append(len(queries))
    assert counts[0] == counts[-1]


def test_ticked_stories_go_to_a_split(admin, make_story):
    first, second = make_story(1), make_story(2)
    admin.post(url("stories"), {"stories": [first.uid], "split": "pilot"})
    assert list(Story.objects.filter(split__name="pilot")) == [first]
    admin.post(url("stories"), {"stories": [first.uid, second.uid], "split": ""})
    assert not Story.objects.filter(split__isnull=False).exists()
    assert "Tick at least one" in text_of(admin.post(url("stories"), {"split": "pilot"}))
    assert AuditEvent.objects.filter(action="split.changed").count() == 2


def test_a_split_is_drawn_on_the_page(admin, cast, make_story):
    for number in range(1, 12):
        make_story(number, category="ABC"[min(number // 5, 2)])  # A: 1 to 4, B: 5 to 9, C: 10 and 11
    a, b, c = cast.project.categories.order_by("name").values_list("id", flat=True)
    form = {"name": "calibration", "rest": "main", "per_category": 1, "seed": 9, f"take_{a}": "on", f"take_{b}": "on"}

    def draw(**more) -> str:
        return text_of(admin.post(url("stories"), form | more, follow=True))

    draw(**{f"number_{b}": 2})
    assert Split.objects.get(name="calibration").seed == 9
    assert sorted(Story.objects.in_split("calibration").values_list("category__name", flat=True)) == ["A", "B", "B"]
    assert Story.objects.in_split("main").count() == 6 and Story.objects.filter(split=None, category=c).count() == 2
    before = dict(Story.objects.filter(category=b).values_list("number", "split__name"))
    page = draw(**{"seed": 3, f"number_{b}": 6, f"take_{c}": "on"})
    assert "left as it was: B has 5 stories; expected at least 6." in page
    assert dict(Story.objects.filter(category=b).values_list("number", "split__name")) == before
    assert Story.objects.in_split("calibration").filter(category=c).count() == 1  # the others were drawn
    assert "expected at least 9" in draw(per_category=9) and "must differ" in draw(rest="calibration")
    for name in (f"take_{a}", f"take_{b}"):
        form.pop(name)
    assert "at least one category" in draw()


def test_annotators_see_no_gold_and_draw_no_split(cast, client, make_story, assign, cast_vote):
    story = make_story()
    proposition = Proposition.objects.gold_of(story).first()
    for one in assign(story):
        cast_vote(one, proposition, "content_type", "Trait/Value")
    for person, sees in ((cast.bob, False), (cast.esi, True)):
        client.force_login(person)
        assert ("Trait/Value" in text_of(client.get(url("story", story.uid)))) is sees
        assert client.post(url("stories"), {"stories": [story.uid], "split": "x"}).status_code == 403


def test_text_of_people_is_shown_as_text_and_chooses_its_own_direction(admin, make_story):
    story = make_story(text="<script>alert(1)</script> وضعت إيناس المفتاح", rows=[("إيناس", "المفتاح في الحقيبة")])
    for name in ("story", "table_edit", "stories", "draft"):
        page = text_of(admin.get(url(name, *[] if name == "stories" else [story.uid])))
        assert "<script>alert" not in page and "&lt;script&gt;" in page, name
        assert name in ("stories", "draft") or page.count('dir="auto"') >= 3, name


# --- what is uploaded

RECORD = {"story_id": 5, "story_category": "C", "story": "Zo\xeb hides the key.", "beliefs": []}
FORM = {"format": "auto", "language": "en"}


def checked(admin, raw, name="records.jsonl", **more):
    """The answer and the page of files that are looked at, or imported with keep="1"."""
    response = admin.post(url("import"), {**FORM, "files": upload(raw, name), **more})
    return response.context["answer"], text_of(response)


def test_an_upload_is_checked_and_then_kept_whatever_its_encoding(admin, cast, settings):
    told, text = {"format": "omnitom"}, json.dumps(RECORD) + "\n{\n"
    _, page = checked(admin, text, **told)
    assert "nothing was kept" in page and "not JSON" in page
    assert not Story.objects.exists()
    checked(admin, text, **told, keep="1")
    assert Story.objects.get().number == 5
    assert AuditEvent.objects.get(action="corpus.imported").actor == cast.alice
    encodings = (("utf-16", ""), ("utf-16-le", ""), ("windows-1252", "windows-1252"), ("gb18030", "gb18030"))
    for number, (used, said) in enumerate(encodings, 6):
        raw = json.dumps(RECORD | {"story_id": number}, ensure_ascii=False).encode(used)
        assert checked(admin, raw, keep="1", encoding=said)[0].heading == "Imported", used
        assert Story.objects.get(number=number).text == "Zo\xeb hides the key.", used
    for raw in (b"", b"\xff\xfe\x00", b"[" * 50_000, b"PK\x03\x04" + bytes(range(256))):
        form = {"format": "tombench", "language": "zh", "files": upload(raw), "keep": "1"}
        assert admin.post(url("import"), form).status_code == 200, raw[:4]
    assert Story.objects.count() == 5
    settings.IMPORT_MAX_BYTES = 10
    assert "larger than" in text_of(admin.post(url("import"), {**FORM, "files": upload("x" * 11)}))


def test_a_story_is_typed(admin):
    said = {"typed": "1", "text": '=Ines, "hides"\r\nthe key; 故事', "category": "Moved, things", "spoken": "en"}
    first, again = (admin.post(url("import"), said) for _ in range(2))
    assert (first.status_code, again.status_code) == (302, 302)
    story = Story.objects.get()
    assert (story.text, story.category.name, story.number) == ('=Ines, "hides"\nthe key; 故事', "Moved, things", 1)
    # the outcome stands beside the form, where the page is scrolled to, with the next step
    assert first["Location"] == f"{url('import')}?story={story.uid}#typed"
    first, again = (text_of(admin.get(one["Location"])).partition('id="typed"')[2] for one in (first, again))
    assert "is in the project" in first and f'href="/p/minds/stories/{story.uid}/draft/"' in first
    assert "nothing was changed" in again
    page = text_of(admin.post(url("import"), {**said, "text": " "}))
    assert "The story is empty" in page and "Moved, things" in page and Story.objects.count() == 1


def test_the_example_of_each_format_can_be_imported(admin):
    for key in ("stories", "tables", "votes", "omnitom", "tombench"):
        got = admin.get(url("import"), {"example": key})
        name = got["Content-Disposition"].split('"')[1]
        answer, _ = checked(admin, got.content, name, format=key, keep="1")
        assert answer.result.taken and not answer.result.problems, key
    assert (Story.objects.count(), Vote.objects.count()) == (3, 3)
    assert admin.get(url("import"), {"example": "none"}).status_code == 404


def test_votes_are_uploaded(admin, cast, make_story):
    make_story()
    text = "story_id,actor,belief,dimension,annotator,label\n1,Ines,The key is in the bag,order,bob,1\n"
    raw = text.replace("bob", "In\xe9s").encode("windows-1252")

    def look(content, **more):
        return checked(admin, content, "votes.csv", **more)

    assert "This looks like votes in a spreadsheet: 1 row." in look(text)[1] and not Vote.objects.exists()
    assert look(text.encode("utf-16"), keep="1")[0].heading == "Imported"
    assert Vote.objects.get().annotator == cast.bob
    assert look(text, keep="1")[0].heading == "Nothing new: all of it is here already"
    for content, more, said in (
        ("a,b\n", {"format": "votes"}, ["column story_id is missing", "<h2>Nothing was imported</h2>"]),
        ("a,b\n", {}, ["votes.csv is of no format that is known here: its first line has a, b."]),
        (",,\n\n".encode("utf-16"), {}, ["votes.csv is empty."]),
        (raw, {}, ["choose the encoding Windows-1252"]),
    ):
        _, page = look(content, keep="1", **more)
        assert all(sentence in page for sentence in said), said
    assert look(raw, keep="1", encoding="windows-1252")[0].result.created == 1


def test_a_file_of_another_format_than_the_chosen_one_is_refused(admin):
    items = [{"STORY": f"A story {at}", "故事": "故事", "QUESTION": "Who?", "OPTION-A": "x"} for at in range(3)]
    raw = "".join(json.dumps(item) + "\n" for item in items)
    _, other = checked(admin, raw, format="omnitom", keep="1")
    assert "This looks like ToMBench items: 3 items, not OmniToM records; choose ToMBench items." in other
    assert other.count("This looks like") == 1 and not Story.objects.exists()
    answer, page = checked(admin, raw, "Hinting Task Test.jsonl", keep="1")
    assert "This looks like ToMBench items: 3 items." in page
    assert (answer.result.created, answer.heading, Story.objects.count()) == (3, "Imported", 3)


def test_equal_problems_are_told_together_and_all_can_be_had(admin, make_story):
    make_story()
    head = "story_id,actor,belief,dimension,annotator,label\n"
    text = head + "1,Ines,The key is in the bag,order,bob,1\n" + "1,Ines,=No such,order,bob,1\n" * 1500 + "x,,,,,\n"
    answer, page = checked(admin, text, "votes.csv", keep="1")
    assert answer.heading == "Imported in part"
    assert "1,502 votes" not in page and "1,501 votes: 1 created, 0 unchanged, 1,500 not taken; 1,501 problems." in page
    assert [alike.lines for alike in answer.result.problems.grouped()] == ["line 3 and 1,499 others", "line 1503"]
    response = admin.post(url("import"), {**FORM, "files": upload(text, "votes.csv"), "problems": "1", "keep": "1"})
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert len(lines) == 1 + 1501 and lines[0] == "file,line,problem" and Vote.objects.count() == 1


def test_tables_are_previewed_and_say_whose_work_they_open_again(admin, cast, make_story, assign, cast_vote):
    finished, bare = make_story(1, rows=[("world", "It rains")]), make_story(2, text="Bare.")
    bare.tables.all().delete()
    (bob, *_) = assign(finished)
    for dimension in cast.project.schema.dimensions:
        cast_vote(bob, Proposition.objects.gold_of(finished).get(), dimension.key, dimension.values[0])
    text = "story;story_id;actor;proposition\n;1;world;It rains\n;1;Ines;It snows\nBare.;;Ines;It rains\n"

    def look(**more):
        return checked(admin, text, "tables.csv", **more)

    answer, page = look()
    assert "This looks like propositions in a spreadsheet: 3 rows." in page
    assert (answer.result.created, answer.result.refused) == (1, 1)
    answer, page = look(replace="on")
    assert "Would open again what was finished:" in page and "Bob" in page
    assert not look(replace="on", keep="1")[0].kept and not Proposition.objects.gold_of(bare).exists()
    _, page = look(replace="on", keep="1", sure="1")
    assert "2 tables: 1 created, 1 changed, 0 unchanged; 2 rows added, 0 taken out." in page
    assert Vote.objects.cast().filter(proposition__belief="It rains").count() == len(cast.project.schema.dimensions)


def test_stories_come_from_a_spreadsheet_and_what_becomes_of_them_is_told_in_chinese(admin):
    head = "story_id,category,story,translation\n"
    text = head + "5,'=A,It rains.,下雨了。\n,,It snows.,\n,,It snows.,\n7,,,\nx,,It hails.,\n8,,,\n"
    answer, page = checked(admin, text, "weather.csv", keep="1")
    assert answer.heading == "Imported in part" and "Line 5" in page and "story: it is empty; expected a story." in page
    rows = Story.objects.order_by("number").values_list("number", "category__name", "text", "translations")
    assert list(rows) == [(5, "=A", "It rains.", {"zh": "下雨了。"}), (6, "weather", "It snows.", {})]
    form = {**FORM, "files": upload(text, "weather.csv")}
    page = text_of(admin.post(url("import"), form, **CHINESE))
    assert "这看起来是电子表格或 JSON 中的故事：" in page and "未变 2；0 条命题；3 个问题。" in page
    assert "story_id：为&#x27;x&#x27;；应为整数，留空则取下一个空号。" in page
    assert "第 5 行及另外 1 行" in page and "story：为空；应为故事。" in page
    form |= {"files": upload(text, "weather.csv"), "problems": "1"}
    sent = b"".join(admin.post(url("import"), form, **CHINESE).streaming_content).decode()
    assert "story_id: it is 'x'; expected a whole number, or nothing for the next free one." in sent, "in English"


# --- tables


def beliefs(story) -> list[str]:
    return [row.belief for row in Proposition.objects.gold_of(story)]


def test_rows_are_added_moved_reworded_and_taken_out(admin, cast, make_story):
    story = make_story(rows=[("Ines", "One"), ("Ines", "Two")])
    address, held = url("table_edit", story.uid), Proposition.objects.gold_of(story)
    admin.post(address, {"actor": "Tomas", "belief": "Three", "order": "1"})
    admin.post(address, {"rows": "Tomas\tFour\nTomas\tFive"})
    assert beliefs(story) == ["One", "Two", "Three", "Four", "Five"]
    for way, belief in (("up", "Five"), ("down", "One"), ("up", "Two")):  # the last is the first already
        admin.post(address, {way: held.get(belief=belief).uid})
    assert beliefs(story) == ["Two", "One", "Three", "Five", "Four"]
    two = url("proposition_edit", held.get(belief="Two").uid)
    assert "at most 200" in text_of(admin.post(two, {"actor": "Ines" * 51, "belief": "Deux"}))
    admin.post(two, {"actor": "Ines", "belief": "Deux"})
    admin.post(url("proposition_edit", held.get(belief="One").uid), {"remove": "1"})
    assert beliefs(story) == ["Deux", "Three", "Five", "Four"]
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert actions >= {"table.rows_added", "proposition.moved", "proposition.reworded", "proposition.removed"}
    held.filter(belief="Three").update(removed_at="2026-01-01T00:00Z")
    assert move(by=cast.alice, proposition=held.get(belief="Five"), up=True)
    assert beliefs(story) == ["Five", "Deux", "Four"], "rows that were taken out are skipped"


@pytest.mark.parametrize("voted", [True, False])
def test_rewording_keeps_votes_and_twice_at_once_makes_one_new_row(
    admin, make_story, assign, cast_vote, monkeypatch, voted
):
    story = make_story(rows=[("Ines", "One"), ("Ines", "Two")])
    old = Proposition.objects.gold_of(story).first()
    address, words = url("proposition_edit", old.uid), {"actor": "Ines", "belief": "Uno"}
    if voted:
        cast_vote(assign(story)[0], old, "order", "1")
        admin.post(address, words)
        assert beliefs(story) == ["One", "Two"], "a row with votes is reworded only when that is confirmed"
    reword = belief_tables.reword

    def slower(**asked):
        reword(**asked)  # the other request of a button that was pressed twice comes first
        return reword(**asked)

    monkeypatch.setattr(belief_tables, "reword", slower)
    page = admin.post(address, words | {"confirmed": "1"}, follow=True)
    assert page.status_code == 200 and ("as it stands" in text_of(page)) == voted
    assert beliefs(story) == ["Uno", "Two"]
    assert AuditEvent.objects.filter(action="proposition.reworded").count() == 1
    if voted:
        old.refresh_from_db()
        assert old.removed_at is not None and old.belief == "One" and old.votes.count() == 1


def test_a_row_that_is_sent_twice_is_added_once_and_equal_rows_stay_possible(admin, cast, make_story, monkeypatch):
    story = make_story(rows=[("Ines", "One")])
    address, row = url("table_edit", story.uid), {"actor": "Tomas", "belief": "Two", "order": "1", "once": "a"}
    assert {admin.post(address, row).status_code for _ in range(5)} == {302}
    many = {"rows": "Tomas\tThree\nTomas\tThree", "once": "b"}  # equal rows in one paste are meant
    assert {admin.post(address, many).status_code for _ in range(2)} == {302}
    assert beliefs(story) == ["One", "Two", "Three", "Three"]
    admin.post(address, row | {"once": "c"})
    assert beliefs(story) == ["One", "Two", "Three", "Three", "Two"]
    monkeypatch.setattr("annotation.services.belief_tables.MAX_PROPOSITIONS", 5)
    refused = admin.post(address, row | {"once": "d"})
    assert "The table would have 6 rows; expected at most 5." in text_of(refused) and len(beliefs(story)) == 5


def test_a_bare_story_has_one_button_which_leads_to_the_next_step_of_its_experts(cast, make_story, client):
    story = make_story()
    story.tables.all().delete()
    draft, pairs = (f"/p/minds/stories/{story.uid}/{page}/" for page in ("draft", "reconcile"))

    def primary_buttons() -> list[tuple[str, str]]:
        page = text_of(client.get(url("story", story.uid)))
        return re.findall(r'class="button button-primary"\s+href="([^"]+)"\s*>([^<]+)<', page)

    client.force_login(cast.esi)
    assert primary_buttons() == [(draft, "Write its table")]
    assert "/table/" not in text_of(client.get(url("story", story.uid)))
    for expert in (cast.esi, cast.alice):
        rows = [TableRow("world", "It rains", "0")]
        write_draft(by=expert, story=story, rows=rows, now=timezone.now(), origin="pasted")
        client.force_login(expert)
        assert primary_buttons() == [(draft, "Go on with your table")]
        hand_in(by=expert, story=story, now=timezone.now())
    assert primary_buttons() == [(pairs, "Reconcile")]
    page = text_of(client.get(url("story", story.uid)))  # as Alice, who is admin
    assert "enter a finished table</a>, past the experts" in page
    client.force_login(cast.bob)
    assert primary_buttons() == []


# --- what goes out


def test_exports_are_downloads_and_the_archive_comes_in_by_the_site_admin_only(admin, cast, make_story):
    make_story()
    for format, begins in (("omnitom", b'{"story_id": 1'), ("long-csv", b"story_id,category"), ("croissant", b"PK")):
        response = admin.get(url("download", format))
        assert b"".join(response.streaming_content).startswith(begins), format
        assert "attachment" in response["Content-Disposition"]
    assert admin.get(url("download", "pdf")).status_code == 404
    raw = b"".join(admin.get(url("archive")).streaming_content)
    assert "manifest.json" in zipfile.ZipFile(io.BytesIO(raw)).namelist()

    def bring(content: bytes):
        return admin.post(url("archive"), {"slug": "copy", "file": upload(content, "a.zip")})

    assert bring(raw).status_code == 403
    cast.alice.is_superuser = True
    cast.alice.save()
    assert "not a readable archive" in text_of(bring(b"no zip"))
    assert bring(raw).status_code == 302 and Project.objects.get(slug="copy").stories.count() == 1
