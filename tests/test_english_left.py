"""Which English words of the software are left on pages in Chinese: every page of the URLconf is looked at."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.domain.schema_words import SAID
from annotation.domain.shipped_schemas import SHIPPED
from tests.english_left import OwnData, english_left
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

pytestmark = [pytest.mark.django_db, pytest.mark.once]

STILL = {
    "A chart needs at least 60 answers to anchor stories that were asked again while calibrating。",
    "Order",
    "Truth",
    "Content",
    "Context",
    "Source",
    "Access",
    "同一排名：以 omnitom-1, level 3 提问。以其他方式提问或评判的另有排名。",
    "随机水平：在可作的回答中随机抽取时的期望值，逐样本计算；没有定义时取基线“random”在同样问题上的结果，附区间和 n。",
    "Free text · omnitom-1, level 3",
    "There is a run of belief tables. Now import a benchmark with questions about the same stories, such as ToMBench, "
    "and run the same models on it.",
    "majority, random, omniscient, lexical judge, first option, tracker：无需模型、密钥或网络的参照点。",
    "JSON 对象：script, default, delay, function, log。",
    "None",
    "Labels of propositions",
    "Category: text",
    "-structured",
    "Stage",
    "Form",
    "Kind",
    "Version 1: 1 stories",
    "calibration 个故事",
    "Every judgement that a follow-up could complete has all its rows, or had its follow-up already.",
    "· mean accuracy：官方 –，修复 –",
    "标注：故事，n = 1 (Annotator 1), 0 (tiny)。",
    "tiny: no answer yet 1",
    "OmniToM 没有随机水平：按可作的回答没有定义，也没有基线“random”在这些问题上的已完成运行。",
    "gold, version 1",
    "tiny: labels of the record without a value, all gold without a value, worst to best case 0.0 to 100.0, 7 个单元格",
    "Choose two models on the leaderboard, under “Compare two”; a run's page compares its own.",
}
"""What is known to be English there still; what is translated goes from here."""


def left_on(client: Client, pages: dict[str, str], own: OwnData) -> dict[str, list[str]]:
    """The English of each whole page that opens, by name."""
    left = {}
    for name, address in pages.items():
        page = client.get(address, **CHINESE)
        if page.status_code == 200 and not page.streaming and b"<!DOCTYPE html>" in page.content[:200]:
            left[name] = english_left(page.content.decode(), own)
    return left


def test_every_page_of_the_urlconf_is_chinese(addresses, cast):  # noqa: F811
    cast.alice.is_superuser = True
    cast.alice.save()
    people = {MEMBER: cast.bob, ANNOTATOR: cast.bob, ASSIGNED: cast.bob, EXPERT: cast.esi}
    people |= {ADMIN: cast.alice, SITE: cast.alice}
    own, left = OwnData(), {}
    for least in dict.fromkeys(PAGES.values()):
        client, person = Client(), people.get(least)
        if person is not None:
            client.force_login(person)
        pages = {name: addresses[name] for name, role in PAGES.items() if role == least and name in addresses}
        left |= left_on(client, pages, own)
    assert len(left) > 60
    assert {name: new for name, texts in left.items() if (new := set(texts) - STILL)} == {}


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
    assert {*told, *checks} == set(SAID)
