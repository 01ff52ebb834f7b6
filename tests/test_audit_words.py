"""The audit log says its actions and details in words, in the reader's language, and leaves names as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from django.conf import settings

from annotation.models import Role
from annotation.services import audit
from annotation.services.audit import _ACTIONS, details_text
from annotation.services.people import change_role

CODE = re.compile(r"[a-z_]+\.[a-z_]+")
CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN"}
FOLDERS = ("annotation/services", "annotation/management", "benchmark/services", "judge/services")


def codes() -> Iterator[str]:
    """The texts of code that are of the form of an action, and begin as some action does."""
    heads = {action.partition(".")[0] for action in _ACTIONS}
    for folder in FOLDERS:
        for path in (settings.BASE_DIR / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                text = node.value if isinstance(node, ast.Constant) else ""
                if isinstance(text, str) and CODE.fullmatch(text) and text.partition(".")[0] in heads:
                    yield text


def test_every_action_has_words():
    found = {code for code in codes() if not code.endswith((".csv", ".jsonl", ".json"))}
    assert len(found) > 50
    assert found <= _ACTIONS.keys()


@pytest.mark.django_db
def test_the_page_says_them_in_the_language_of_its_reader(cast, client):
    change_role(by=cast.alice, membership=cast.project.memberships.get(user=cast.bob), role=Role.EXPERT)
    audit.record(by=None, project=cast.project, action="split.made", target="calibration", seed=1, calibration=7)
    audit.record(by=cast.alice, project=cast.project, action="lanes.opened", target="story 3")
    client.force_login(cast.alice)
    english = client.get("/p/minds/audit/").content.decode()
    chinese = client.get("/p/minds/audit/", **CHINESE).content.decode()
    assert all(f">{told}</td>" in english for told in ("role changed", "before: annotator; after: expert", "story 3"))
    assert all(f">{told}</td>" in chinese for told in ("角色已更改", "之前：标注员；之后：专家", "故事 3"))
    assert all(">calibration</td>" in page for page in (english, chinese))
    assert ">seed: 1; calibration: 7</td>" in english and ">种子：1；calibration：7</td>" in chinese
    assert '<option value="split.made" >split drawn</option>' in english
    assert client.get("/p/minds/audit/?action=split.made&csv=1", **CHINESE).getvalue().decode().isascii()


@pytest.mark.django_db
def test_details_within_details_and_lists_are_told_without_brackets_of_code(cast):
    event = audit.record(
        by=None, project=cast.project, action="project.changed", before={"overlap": 2, "name": ""}, after={"overlap": 3}
    )
    assert details_text(event) == "before (overlap: 2); after (overlap: 3)"
    event = audit.record(
        by=None, project=cast.project, action="proposition.moved", up=True, numbers=[1, 2], accounts=[{"name": "Ada"}]
    )
    assert details_text(event) == "upwards: yes; numbers: 1, 2; accounts: name: Ada"
