"""Which English words of the software are left on pages in Chinese: every page of the URLconf is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import pytest
from django.db import transaction
from django.test import Client

from annotation.domain.schema_words import SCHEMA_TEXTS
from annotation.domain.shipped_schemas import SHIPPED
from tests.english_left import OwnData, english_left, sentences_of
from tests.forms_of_pages import Form, forms_of
from tests.test_kept_in_english import CHINESE
from tests.test_urlconf import (  # noqa: F401  (fixtures)
    ADMIN,
    ANNOTATOR,
    ASSIGNED,
    EXPERT,
    MEMBER,
    PAGES,
    SITE,
    addresses,
    cast,
    held,
)
from workers.providers import registry as providers

pytestmark = [pytest.mark.django_db, pytest.mark.once]

LABELS = {value for schema in SHIPPED.values() for one in schema.dimensions for value in one.values}
"""Labels are data, and stay."""
KEPT = {"Models across suites", "Watch of tiny: repeat 0"}
"""Titles of snapshots and of runs are kept as they were given."""
NAMES = {name for one in providers.registered() for name in (*one.models, *one.options)}
"""So are what models and options are registered by, which people type as they are."""
NOT_PRESSED = ("/logout/", "/language/", "/login/")
"""They lead out of the pages."""


def own_pages(addresses: dict[str, str], cast) -> Iterator[tuple[Client, dict[str, str]]]:  # noqa: F811
    """The pages of the URLconf by name, with who opens them: somebody of the least role that may."""
    cast.alice.is_superuser = True
    cast.alice.save()
    people = {MEMBER: cast.bob, ANNOTATOR: cast.bob, ASSIGNED: cast.bob, EXPERT: cast.esi}
    people |= {ADMIN: cast.alice, SITE: cast.alice}
    for least in dict.fromkeys(PAGES.values()):
        client, person = Client(raise_request_exception=False), people.get(least)
        if person is not None:
            client.force_login(person)
        yield client, {name: addresses[name] for name, role in PAGES.items() if role == least and name in addresses}


def left_of(answer, own: OwnData) -> list[str]:
    """The English of an answer: of a page, of a part of one, or of JSON that a page shows."""
    is_file = "attachment" in answer.headers.get("Content-Disposition", "")
    if answer.streaming or is_file or answer.status_code in (302, 304):
        return []
    media = answer.headers.get("Content-Type", "")
    if media.startswith("application/json"):
        return [text for text in sentences_of(answer.json()) if english_left(escape(text), own)]
    return english_left(answer.content.decode(), own) if media.startswith("text/html") else []


def test_every_page_of_the_urlconf_is_chinese_and_every_form_of_one_is_answered_in_chinese(
    addresses,  # noqa: F811
    cast,  # noqa: F811
):
    """A form as it stands, emptied, with nonsense, and with files of every kind; what it changes is taken back."""
    own, left, pressed = OwnData(LABELS | NAMES | KEPT), {}, {}
    for client, pages in own_pages(addresses, cast):
        for name, address in pages.items():
            page = client.get(address, **CHINESE)
            left[name] = left_of(page, own)
            html = "" if page.streaming or page.status_code != 200 else page.content.decode("utf-8", "ignore")
            for form in forms_of(html, address):
                if (key := (name, form.key)) in pressed or form.action.startswith(NOT_PRESSED):
                    continue
                pressed[key] = [*_answers(client, form, own)]
    assert len(left) > 150 and len(pressed) > 40
    assert {name: new for name, texts in (left | pressed).items() if (new := set(texts))} == {}


def _answers(client: Client, form: Form, own: OwnData) -> Iterator[str]:
    for said in form.fillings():
        point = transaction.savepoint()
        answer = client.post(form.action, said, follow=True, **CHINESE)
        assert answer.status_code < 500, (form.action, said)
        yield from left_of(answer, own)
        transaction.savepoint_rollback(point)


def test_english_is_found_and_what_is_no_english_of_ours_is_not():
    own = OwnData()
    own.texts |= {"Ines", "The key is in the drawer", "gpt-x"}
    own.whole = "\n".join(own.texts)
    page = """<title>故事</title><p title="All rows">所有行</p><p>主体：<bdi>Ines</bdi>: The key is in</p>
      <code>make up</code>
      <p lang="en">We evaluated.</p><p>保存 F1 of the rows</p><p>gpt-x，Annotator 2 与 SHA-256 ab12cd</p>"""
    assert english_left(page, own) == ["All rows", "保存 F1 of the rows"]


def test_shipped_schemas_say_nothing_else():
    told = [
        text
        for schema in SHIPPED.values()
        for one in schema.dimensions
        for text in (one.name, one.short, one.question, *(label.meaning for label in one.labels))
    ]
    checks = [check.message for schema in SHIPPED.values() for check in schema.checks]
    assert {*told, *checks} == set(SCHEMA_TEXTS)
