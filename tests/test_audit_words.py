"""The audit log says its actions and details in words, in the reader's language, and leaves names as they are."""

import ast
import re

import pytest
from django.conf import settings

from annotation.models import Role
from annotation.services import audit
from annotation.services.audit import _ACTIONS, details_text
from annotation.services.people import change_role

CODE = re.compile(r"[a-z_]+\.(?!csv|jsonl?$)[a-z_]+")
CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN"}
FOLDERS = ("annotation/services", "annotation/management", "benchmark/services", "judge/services")


def test_every_action_has_words():
    """Of texts of code all that begin as some action does."""
    heads = {action.partition(".")[0] for action in _ACTIONS}
    paths = [path for folder in FOLDERS for path in (settings.BASE_DIR / folder).rglob("*.py")]
    nodes = (node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    said = {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    found = {text for text in said if CODE.fullmatch(text) and text.partition(".")[0] in heads}
    assert len(found) > 50 and found <= _ACTIONS.keys()


@pytest.mark.django_db
def test_the_page_says_them_in_the_language_of_its_reader(cast, client):
    def told(**said) -> str:
        return details_text(audit.record(by=None, project=cast.project, **said).details)

    assert told(action="project.changed", before={"overlap": 2, "name": ""}, after={"overlap": 3}) == (
        "before (overlap: 2); after (overlap: 3)"
    )
    nested = {"up": True, "numbers": [1, 2], "accounts": [{"name": "Ada"}]}
    assert told(action="proposition.moved", **nested) == "upwards: yes; numbers: 1, 2; accounts: name: Ada"
    change_role(by=cast.alice, membership=cast.project.memberships.get(user=cast.bob), role=Role.EXPERT)
    told(action="split.made", target="calibration", seed=1, calibration=7)
    told(action="pairs.opened", target="story 3")
    client.force_login(cast.alice)
    english = client.get("/p/minds/audit/").content.decode()
    chinese = client.get("/p/minds/audit/", **CHINESE).content.decode()
    for word in ("role changed", "before: annotator; after: expert", "story 3", "seed: 1; calibration: 7"):
        assert f">{word}</td>" in english
    for word in ("角色已更改", "之前：标注员；之后：专家", "故事 3", "种子：1；calibration：7"):
        assert f">{word}</td>" in chinese
    assert all(">calibration</td>" in page for page in (english, chinese))
    assert '<option value="split.made" >split drawn</option>' in english
    assert client.get("/p/minds/audit/?action=split.made&csv=1", **CHINESE).getvalue().decode().isascii()
