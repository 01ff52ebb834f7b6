from __future__ import annotations

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
from annotation.views.corpus import cut_at_word
from tests.annotation.drafting import write_draft

RECORD = {"story_id": 5, "story_category": "C", "story": "<script>alert(1)</script> hides the key.", "beliefs": []}


def url(name: str, *args) -> str:
    return reverse(f"annotation:{name}", args=["minds", *args])


def upload(text: str | bytes, name: str = "records.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


@pytest.fixture
def admin(cast, client):
    client.force_login(cast.alice)
    return client


def test_the_list_filters_and_sorts(admin, cast, make_story):
    make_story(1, category="A", text="Plums on the table.")
    make_story(2, category="B", rows=[("x", "y")])
    page = admin.get(url("stories"), {"category": "A"}).content.decode()
    assert "Plums" in page and "Story 2" not in page
    assert [row["story"].number for row in admin.get(url("stories"), {"sort": "rows"}).context["rows"]] == [2, 1]
    assert [row["story"].number for row in admin.get(url("stories"), {"sort": "-number"}).context["rows"]] == [2, 1]
    assert admin.get(url("stories"), {"sort": "no-such", "page": "x"}).status_code == 200


def test_the_number_of_statements_does_not_grow(admin, cast, make_story, assign):
    counts = []
    for number in (1, 2, 3, 4, 5):
        story = make_story(number)
        assign(story)
        with CaptureQueriesContext(connection) as queries:
            admin.get(url("stories"))
        with CaptureQueriesContext(connection) as more:
            admin.get(url("story", story.uid))
            admin.get(url("table_edit", story.uid))
        counts.append((len(queries), len(more)))
    assert counts[0] == counts[-1]


def test_ticked_stories_go_to_a_split(admin, cast, make_story):
    first, second = make_story(1), make_story(2)
    admin.post(url("stories"), {"stories": [first.uid], "split": "pilot"})
    assert list(Story.objects.filter(split__name="pilot")) == [first]
    admin.post(url("stories"), {"stories": [first.uid, second.uid], "split": ""})
    assert not Story.objects.filter(split__isnull=False).exists()
    assert "Tick at least one" in admin.post(url("stories"), {"split": "pilot"}).content.decode()
    assert AuditEvent.objects.filter(action="split.changed").count() == 2


def test_a_split_is_drawn_on_the_page(admin, cast, make_story):
    for number in range(1, 12):
        make_story(number, category="ABC"[min(number // 5, 2)])  # A: 1 to 4, B: 5 to 9, C: 10 and 11
    a, b, c = cast.project.categories.order_by("name").values_list("id", flat=True)
    draw = {"name": "calibration", "rest": "main", "per_category": 1, "seed": 9, f"take_{a}": "on", f"take_{b}": "on"}
    admin.post(url("stories"), {**draw, f"number_{b}": 2})
    assert Split.objects.get(name="calibration").seed == 9
    assert sorted(Story.objects.in_split("calibration").values_list("category__name", flat=True)) == ["A", "B", "B"]
    assert Story.objects.in_split("main").count() == 6 and Story.objects.filter(split=None, category=c).count() == 2
    before = dict(Story.objects.filter(category=b).values_list("number", "split__name"))
    page = admin.post(url("stories"), {**draw, "seed": 3, f"number_{b}": 6, f"take_{c}": "on"}, follow=True)
    assert "left as it was: B has 5 stories; expected at least 6." in page.content.decode()
    assert dict(Story.objects.filter(category=b).values_list("number", "split__name")) == before
    assert Story.objects.in_split("calibration").filter(category=c).count() == 1  # the others were drawn
    assert "expected at least 9" in admin.post(url("stories"), {**draw, "per_category": 9}).content.decode()
    assert "must differ" in admin.post(url("stories"), {**draw, "rest": "calibration"}).content.decode()
    unticked = {name: value for name, value in draw.items() if not name.startswith("take")}
    assert "at least one category" in admin.post(url("stories"), unticked).content.decode()


def test_annotators_see_no_gold_and_draw_no_split(cast, client, make_story, assign, cast_vote):
    story = make_story()
    proposition = Proposition.objects.gold_of(story).first()
    for one in assign(story):
        cast_vote(one, proposition, "content_type", "Trait/Value")
    client.force_login(cast.bob)
    assert "Trait/Value" not in client.get(url("story", story.uid)).content.decode()
    assert client.post(url("stories"), {"stories": [story.uid], "split": "x"}).status_code == 403
    client.force_login(cast.esi)
    assert "Trait/Value" in client.get(url("story", story.uid)).content.decode()


def test_html_in_a_story_is_shown_as_text(admin, cast):
    admin.post(url("import"), {"format": "omnitom", "language": "en", "files": upload(json.dumps(RECORD)), "keep": "1"})
    story = Story.objects.get(number=5)
    for page in (url("stories"), url("story", story.uid), url("table_edit", story.uid), url("draft", story.uid)):
        text = admin.get(page).content.decode()
        assert "<script>alert" not in text and "&lt;script&gt;" in text, page


def test_an_upload_is_checked_and_then_kept(admin, cast):
    form = {"format": "omnitom", "language": "en"}
    text = json.dumps(RECORD) + "\n{\n"
    page = admin.post(url("import"), {**form, "files": upload(text)}).content.decode()
    assert "nothing was kept" in page and "not JSON" in page
    assert not Story.objects.exists()
    admin.post(url("import"), {**form, "files": upload(text), "keep": "1"})
    assert Story.objects.get().number == 5
    assert AuditEvent.objects.get(action="corpus.imported").actor == cast.alice


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe\x00", b"[" * 50_000, b"PK\x03\x04" + bytes(range(256))])
def test_a_hostile_upload_is_answered(admin, raw):
    response = admin.post(url("import"), {"format": "tombench", "language": "zh", "files": upload(raw), "keep": "1"})
    assert response.status_code == 200
    assert not Story.objects.exists()


FORM = {"format": "auto", "language": "en"}


def test_an_upload_that_is_too_large_is_refused(admin, settings):
    settings.IMPORT_MAX_BYTES = 10
    response = admin.post(url("import"), {**FORM, "files": upload("x" * 11)})
    assert "larger than" in response.content.decode()


def checked(admin, raw, name="records.jsonl", **more):
    """The answer and the page of files that are looked at, or imported with keep="1"."""
    response = admin.post(url("import"), {**FORM, "files": upload(raw, name), **more})
    return response.context["answer"], response.content.decode()


def test_a_story_is_typed(admin, cast):
    said = {"typed": "1", "text": '=Ines, "hides"\r\nthe key; 故事', "category": "Moved, things", "spoken": "en"}
    first, again = (admin.post(url("import"), said) for _ in range(2))
    assert (first.status_code, again.status_code) == (302, 302)
    story = Story.objects.get()
    assert (story.text, story.category.name, story.number) == ('=Ines, "hides"\nthe key; 故事', "Moved, things", 1)
    # the outcome stands beside the form, where the page is scrolled to, with the next step
    assert first["Location"] == f"{url('import')}?story={story.uid}#typed"
    card = admin.get(first["Location"]).content.decode().partition('id="typed"')[2]
    assert "is in the project" in card and f'href="/p/minds/stories/{story.uid}/draft/"' in card
    assert "nothing was changed" in admin.get(again["Location"]).content.decode().partition('id="typed"')[2]
    page = admin.post(url("import"), {**said, "text": " "}).content.decode()
    assert "The story is empty" in page and "Moved, things" in page and Story.objects.count() == 1


def test_the_example_of_each_format_can_be_imported(admin, cast):
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
    _, page = checked(admin, text, "votes.csv")
    assert "This looks like votes in a spreadsheet: 1 row." in page and not Vote.objects.exists()
    assert checked(admin, text.encode("utf-16"), "votes.csv", keep="1")[0].heading == "Imported"
    assert Vote.objects.get().annotator == cast.bob
    assert checked(admin, text, "votes.csv", keep="1")[0].heading == "Nothing new: all of it is here already"
    _, wrong = checked(admin, "a,b\n", "votes.csv", keep="1", format="votes")
    assert "column story_id is missing" in wrong and "<h2>Nothing was imported</h2>" in wrong
    _, unknown = checked(admin, "a,b\n", "votes.csv", keep="1")
    assert "votes.csv is of no format that is known here: its first line has a, b." in unknown
    empty = checked(admin, ",,\n\n".encode("utf-16"), "votes.csv", keep="1")[1]
    assert "votes.csv is empty." in empty
    raw = text.replace("bob", "In\xe9s").encode("windows-1252")
    assert "choose the encoding Windows-1252" in checked(admin, raw, "votes.csv", keep="1")[1]
    assert checked(admin, raw, "votes.csv", keep="1", encoding="windows-1252")[0].result.created == 1


@pytest.mark.parametrize(
    ("bytes_of", "said"), [("utf-16", ""), ("utf-16-le", ""), ("windows-1252", "windows-1252"), ("gb18030", "gb18030")]
)
def test_records_are_uploaded_in_other_encodings(admin, cast, bytes_of, said):
    raw = json.dumps(RECORD | {"story": "Zo\xeb hides the key."}, ensure_ascii=False).encode(bytes_of)
    assert checked(admin, raw, "records.jsonl", keep="1", encoding=said)[0].heading == "Imported"
    assert Story.objects.get().text == "Zo\xeb hides the key."


def test_what_a_file_is_to_become_is_asked_before_anything_is_written(admin, cast):
    items = [{"STORY": f"A story {at}", "故事": "故事", "QUESTION": "Who?", "OPTION-A": "x"} for at in range(3)]
    raw = "".join(json.dumps(item) + "\n" for item in items)
    answer, page = checked(admin, raw, "Hinting Task Test.jsonl", keep="1")
    assert "This looks like ToMBench items: 3 items." in page
    assert "As stories of this project or as the question suite?" in page
    assert reverse("benchmark:import_copy", args=["minds", "tombench"]) in page
    assert (answer.result.created, answer.kept, Story.objects.count()) == (3, False, 0)
    _, other = checked(admin, raw, format="omnitom", keep="1")
    assert "This looks like ToMBench items: 3 items, not OmniToM records; choose ToMBench items." in other
    assert other.count("This looks like") == 1
    assert checked(admin, raw, format="tombench", keep="1")[0].heading == "Imported"
    _, foreign = checked(admin, '{"doc_id": 1, "resps": [["x"]]}\n', keep="1")
    assert reverse("benchmark:import_answers", args=["minds"]) in foreign and "Imported" not in foreign


def test_equal_problems_are_told_together_and_all_can_be_had(admin, cast, make_story):
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
    answer, page = checked(admin, text, "tables.csv")
    assert "This looks like propositions in a spreadsheet: 3 rows." in page
    assert (answer.result.created, answer.result.refused) == (1, 1)
    answer, page = checked(admin, text, "tables.csv", replace="on")
    assert "Would open again what was finished:" in page and "Bob" in page
    assert not checked(admin, text, "tables.csv", replace="on", keep="1")[0].kept
    assert not Proposition.objects.gold_of(bare).exists()
    _, page = checked(admin, text, "tables.csv", replace="on", keep="1", sure="1")
    assert "2 tables: 1 created, 1 changed, 0 unchanged; 2 rows added, 0 taken out." in page
    assert Vote.objects.cast().filter(proposition__belief="It rains").count() == len(cast.project.schema.dimensions)


def test_stories_come_from_a_spreadsheet(admin, cast, make_story):
    text = "story_id,category,story,translation\n5,'=A,It rains.,下雨了。\n,,It snows.,\n,,It snows.,\n7,,,\n"
    answer, page = checked(admin, text, "weather.csv", keep="1")
    assert answer.heading == "Imported in part" and "Line 5" in page and "story: it is empty; expected a story." in page
    rows = Story.objects.order_by("number").values_list("number", "category__name", "text", "translations")
    assert list(rows) == [(5, "=A", "It rains.", {"zh": "下雨了。"}), (6, "weather", "It snows.", {})]
    assert checked(admin, text.replace("7,,,\n", ""), "weather.csv", keep="1")[0].result.unchanged == 2


def test_rows_are_added_moved_reworded_and_taken_out(admin, cast, make_story):
    story = make_story(rows=[("Ines", "One"), ("Ines", "Two")])
    address = url("table_edit", story.uid)
    admin.post(address, {"actor": "Tomas", "belief": "Three", "order": "1"})
    admin.post(address, {"rows": "Tomas\tFour\nTomas\tFive"})
    held = Proposition.objects.gold_of(story)
    assert [row.belief for row in held] == ["One", "Two", "Three", "Four", "Five"]
    admin.post(address, {"up": held.get(belief="Five").uid})
    admin.post(address, {"down": held.get(belief="One").uid})
    admin.post(address, {"up": held.get(belief="Two").uid})  # it is the first already
    assert [row.belief for row in held.all()] == ["Two", "One", "Three", "Five", "Four"]
    two = url("proposition_edit", held.get(belief="Two").uid)
    assert "at most 200" in admin.post(two, {"actor": "Ines" * 51, "belief": "Deux"}).content.decode()
    admin.post(two, {"actor": "Ines", "belief": "Deux"})
    admin.post(url("proposition_edit", held.get(belief="One").uid), {"remove": "1"})
    assert [row.belief for row in held.all()] == ["Deux", "Three", "Five", "Four"]
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    expected = {"table.rows_added", "proposition.moved", "proposition.reworded", "proposition.removed"}
    assert expected <= actions


def test_a_row_with_votes_is_reworded_only_when_confirmed_and_keeps_them(admin, cast, make_story, assign, cast_vote):
    story = make_story(rows=[("Ines", "One"), ("Ines", "Two")])
    old = Proposition.objects.gold_of(story).first()
    cast_vote(assign(story)[0], old, "order", "1")
    address = url("proposition_edit", old.uid)
    admin.post(address, {"actor": "Ines", "belief": "Uno"})
    assert Proposition.objects.gold_of(story).first() == old
    admin.post(address, {"actor": "Ines", "belief": "Uno", "confirmed": "1"})
    old.refresh_from_db()
    assert old.removed_at is not None and old.belief == "One" and old.votes.count() == 1
    assert [row.belief for row in Proposition.objects.gold_of(story)] == ["Uno", "Two"]


@pytest.mark.parametrize("voted", [True, False])
def test_rewording_twice_at_once_makes_one_new_row(admin, cast, make_story, assign, cast_vote, monkeypatch, voted):
    story = make_story(rows=[("Ines", "One"), ("Ines", "Two")])
    old = Proposition.objects.gold_of(story).first()
    if voted:
        cast_vote(assign(story)[0], old, "order", "1")
    words = {"actor": "Ines", "belief": "Uno"}
    reword = belief_tables.reword

    def slower(**asked):
        reword(**asked)  # the other request of a button that was pressed twice comes first
        return reword(**asked)

    monkeypatch.setattr(belief_tables, "reword", slower)
    page = admin.post(url("proposition_edit", old.uid), {**words, "confirmed": "1"}, follow=True)
    assert page.status_code == 200 and ("as it stands" in page.content.decode()) == voted
    assert [row.belief for row in Proposition.objects.gold_of(story)] == ["Uno", "Two"]
    assert AuditEvent.objects.filter(action="proposition.reworded").count() == 1


def test_a_row_that_is_sent_twice_is_added_once_and_equal_rows_stay_possible(admin, cast, make_story):
    story = make_story(rows=[("Ines", "One")])
    address, row = url("table_edit", story.uid), {"actor": "Tomas", "belief": "Two", "order": "1"}
    pages = [admin.post(address, row) for _ in range(5)]
    assert [page.status_code for page in pages] == [302, 200, 200, 200, 200]
    assert "added a moment ago" in pages[1].content.decode()
    many = {"rows": "Tomas\tThree\nTomas\tThree"}  # equal rows in one paste are meant
    assert [admin.post(address, many).status_code for _ in range(2)] == [302, 200]
    held = Proposition.objects.gold_of(story)
    assert [one.belief for one in held] == ["One", "Two", "Three", "Three"]
    rows = [belief_tables.TableRow("Tomas", "Two", "1")]
    belief_tables.add_rows(by=cast.esi, story=story, rows=rows, now=timezone.now())  # somebody else means it
    later = timezone.now() + belief_tables.AGAIN_AFTER
    belief_tables.add_rows(by=cast.alice, story=story, rows=rows, now=later)
    assert [one.belief for one in held.all()] == ["One", "Two", "Three", "Three", "Two", "Two"]


def test_an_excerpt_is_one_line_and_ends_with_a_word():
    for text, shown in [
        ("Ines puts\nthe key away.", "Ines puts the key away."),
        ("Ines puts the key into the bag.", "Ines puts the …"),  # 18 would end within “key”
        ("伊内斯把钥匙放进了包里然后她离开了房间去花园里玩。", "伊内斯把钥匙放进了包里然后她离开 …"),
    ]:
        width = 40 if "\n" in text else 18
        assert cut_at_word(text, width) == shown and len(shown) <= width


def test_text_of_people_chooses_its_own_direction(admin, make_story):
    story = make_story(text="وضعت إيناس المفتاح في الحقيبة.", rows=[("إيناس", "المفتاح في الحقيبة")])
    for name, parts in (("story", 3), ("table_edit", 3)):
        assert admin.get(url(name, story.uid)).content.decode().count('dir="auto"') >= parts


def test_moving_skips_rows_that_were_taken_out(cast, make_story):
    story = make_story(rows=[("a", "One"), ("a", "Gone"), ("a", "Three")])
    Proposition.objects.filter(belief="Gone").update(removed_at="2026-01-01T00:00Z")
    assert move(by=cast.alice, proposition=Proposition.objects.get(belief="Three"), up=True)
    assert [row.belief for row in Proposition.objects.gold_of(story)] == ["Three", "One"]


@pytest.mark.parametrize(
    ("format", "begins"), [("omnitom", b'{"story_id": 1'), ("long-csv", b"story_id,category"), ("croissant", b"PK")]
)
def test_exports_are_downloads(admin, make_story, format, begins):
    make_story()
    response = admin.get(url("download", format))
    assert b"".join(response.streaming_content).startswith(begins)
    assert "attachment" in response["Content-Disposition"]
    assert admin.get(url("download", "pdf")).status_code == 404


def test_the_archive_goes_out_and_comes_in_by_the_site_admin_only(admin, cast, make_story):
    make_story()
    raw = b"".join(admin.get(url("archive")).streaming_content)
    assert "manifest.json" in zipfile.ZipFile(io.BytesIO(raw)).namelist()
    assert admin.post(url("archive"), {"slug": "copy", "file": upload(raw, "a.zip")}).status_code == 403
    cast.alice.is_superuser = True
    cast.alice.save()
    wrong = admin.post(url("archive"), {"slug": "copy", "file": upload(b"no zip", "a.zip")})
    assert "not a readable archive" in wrong.content.decode()
    assert admin.post(url("archive"), {"slug": "copy", "file": upload(raw, "a.zip")}).status_code == 302
    assert Project.objects.get(slug="copy").stories.count() == 1


def primary_button(client, story) -> tuple[str, str] | None:
    page = client.get(url("story", story.uid)).content.decode()
    found = re.findall(r'class="button button-primary"\s+href="([^"]+)"\s*>([^<]+)<', page)
    assert len(found) <= 1
    return found[0] if found else None


def test_a_bare_story_has_one_button_which_leads_to_the_next_step_of_its_experts(cast, make_story, client):
    story = make_story()
    story.tables.all().delete()
    draft, lanes = (f"/p/minds/stories/{story.uid}/{page}/" for page in ("draft", "reconcile"))
    client.force_login(cast.esi)
    assert primary_button(client, story) == (draft, "Write its table")
    assert "/table/" not in client.get(url("story", story.uid)).content.decode()
    rows = [TableRow("world", "It rains", "0")]
    for expert in (cast.esi, cast.alice):
        write_draft(by=expert, story=story, rows=rows, now=timezone.now(), origin="pasted")
        client.force_login(expert)
        assert primary_button(client, story) == (draft, "Go on with your table")
        hand_in(by=expert, story=story, now=timezone.now())
    assert primary_button(client, story) == (lanes, "Reconcile")
    page = client.get(url("story", story.uid)).content.decode()  # as Alice, who is admin
    assert "enter a finished table</a>, past the experts" in page
    client.force_login(cast.bob)
    assert primary_button(client, story) is None


CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN"}


def test_what_becomes_of_a_file_is_told_in_chinese_and_its_file_of_problems_in_english(admin, cast, make_story):
    make_story(1)
    sheet = "story_id,story\n7,A key is found.\nx,Another one.\n9,\n10,\n"
    said = {"format": "auto", "language": "en", "files": upload(sheet, "s.csv")}
    page = admin.post(url("import"), said, **CHINESE).content.decode()
    assert "这看起来是电子表格或 JSON 中的故事：4 个故事。" in page
    assert "1 个故事：新建 1，未变 0；0 条命题；3 个问题。" in page
    assert "story_id：为&#x27;x&#x27;；应为整数，留空则取下一个空号。" in page
    assert "第 4 行及另外 1 行" in page and "story：为空；应为故事。" in page
    said["files"] = upload(sheet, "s.csv")
    sent = b"".join(admin.post(url("import"), {**said, "problems": "1"}, **CHINESE).streaming_content).decode()
    assert "story_id: it is 'x'; expected a whole number, or nothing for the next free one." in sent


def test_a_row_that_a_script_sent_is_refused_in_chinese(cast, client, make_story):
    story = make_story(1)
    client.force_login(cast.esi)
    address = reverse("annotation:save_draft", args=["minds", story.uid])
    answer = client.post(address, {"changes": [{}]}, content_type="application/json", **CHINESE)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("changes[0]：缺少字段")
