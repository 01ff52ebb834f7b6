"""In which language a page comes, and what stays English."""

import pytest
from django.test import Client
from django.utils import translation

from annotation.domain.schema import cross_check
from annotation.domain.shipped_schemas import OMNITOM
from annotation.domain.table_checks import checks
from annotation.domain.tables import TableRow
from core.language import gettext, ngettext
from core.wording import counted

pytestmark = [pytest.mark.django_db, pytest.mark.once]
CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN,zh;q=0.9,en;q=0.5"}


def language_of(response) -> str:
    page = response.content.decode()
    told = page.partition('<html lang="')[2].partition('"')[0]
    assert response.headers["Content-Language"] == told
    assert ("跳到正文" in page) == ('<script id="script-texts" type="application/json">' in page) == (told == "zh-hans")
    return told


def test_the_browser_asks_until_somebody_chooses(client):
    for headers in ({}, {"HTTP_ACCEPT_LANGUAGE": "en-US,en"}, {"HTTP_ACCEPT_LANGUAGE": "fr"}):
        assert language_of(client.get("/login/", **headers)) == "en-gb"
    asked = client.get("/login/", **CHINESE)
    assert language_of(asked) == "zh-hans" and "Accept-Language" in asked.headers["Vary"]
    page = asked.content.decode()
    assert "\\u65e0" not in page and "无法连接服务器" in page, "scripts find their texts in the page"
    assert Client(enforce_csrf_checks=True).post("/language/", {"language": "zh-hans"}).status_code == 403
    assert client.get("/language/").status_code == 405
    for to, leads in (("/login/", "/login/"), ("https://elsewhere.test/", "/")):
        chosen = client.post("/language/", {"language": "en-gb", "next": to}, **CHINESE)
        assert (chosen.status_code, chosen["Location"]) == (302, leads)
    assert language_of(client.get("/login/", **CHINESE)) == "en-gb"


def test_the_choice_of_an_account_goes_with_it(cast, client):
    client.force_login(cast.alice)
    for wrong in ("fr", "", "../zh", "zh-hans\x00"):
        client.post("/language/", {"language": wrong})
        cast.alice.refresh_from_db()
        assert cast.alice.language == "" and language_of(client.get("/account/")) == "en-gb"
    client.post("/language/", {"language": "zh-hans", "next": "/p/minds/"})
    elsewhere = Client()
    for person, language in ((cast.alice, "zh-hans"), (cast.bob, "en-gb")):
        elsewhere.force_login(person)
        assert language_of(elsewhere.get("/account/")) == language


def test_errors_speak_it_too_and_the_api_and_files_speak_english(cast, client):
    client.force_login(cast.esi)
    assert "此处没有内容" in client.get("/nothing-here/", **CHINESE).content.decode()
    refused = client.get("/api/v1/projects/nothing/", **CHINESE)
    assert refused.headers["Content-Language"] == "en-gb" and refused.content.isascii()
    sent = client.get("/p/minds/agreement/annotators.csv", **CHINESE)
    assert sent.status_code == 200 and sent.headers["Content-Language"] == "en-gb"
    assert b"".join(sent.streaming_content).isascii()


def test_sentences_of_pure_rules_are_translated_for_their_reader():
    assert (counted(1, "story", "stories"), counted(2_860, "story", "stories")) == ("1 story", "2,860 stories")
    rows = [
        TableRow("Mia", "he is here; she knows it", "0"), TableRow("Mia", "He is here; she knows it.", "7"),
        TableRow("world", "Leo is here", "1"), TableRow("Leoo", "Leo thinks that Mia knows the way", "1"),
        TableRow("", "The door is open", ""),
    ]  # fmt: skip
    with translation.override("zh-hans"):
        assert counted(2_860, "story", "stories") == "2,860 个故事"
        assert counted(2, "thing of no catalogue") == "2 thing of no catalogues"
        assert (gettext("Log in"), ngettext("one", "several", 2)) == ("登录", "several")
        warned = checks(rows, ["Mia looks for Leo. Mia asks the neighbour, and Leo hears Mia."])
        said = [one["text"] for row in warned for one in row]
        labels = {"order": "0", "mental_source": "Narration"}
        said += [warning.message for warning in cross_check(OMNITOM, "Leo", labels)]
    assert gettext("Log in") == "Log in"
    assert len(said) > 10 and "故事中没有提到 Leoo。是 Leo 吗？" in said and "0 阶用于世界事实，但主体是 Leo。" in said
    assert [text for text in said if not text.endswith(("。", "？"))] == []


def test_a_guideline_is_shown_in_the_language_of_the_page_else_in_the_other(cast, client):
    client.force_login(cast.esi)
    address, key = "/p/minds/guidelines/", cast.project.schema.keys[0]
    client.post(f"{address}{key}/", {"text": "Ask *who* knows.", "text_zh": "问**谁**知道。"})
    english, chinese = client.get(address).content.decode(), client.get(address, **CHINESE).content.decode()
    assert '<div class="callout prose" dir="auto" lang="en"><p>Ask <em>who</em> knows.</p>' in english
    assert '<div class="callout prose" dir="auto" lang="zh-Hans"><p>问<strong>谁</strong>知道。</p>' in chinese
    client.post(f"{address}{key}/", {"text": "Ask *who* knows.", "text_zh": ""})
    assert 'lang="en"><p>Ask <em>who</em> knows.</p>' in client.get(address, **CHINESE).content.decode()
