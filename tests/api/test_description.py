import json
import re

import pytest
from django.conf import settings
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from config.api import urlpatterns
from tests.api.conftest import OPERATIONS, token_of
from tests.cast import new_cast
from tests.copies import copied


@pytest.fixture
def described(db) -> dict:
    return copied("description of the API", _described)


def _described() -> dict:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(new_cast().bob)}")
    return json.loads(client.get("/api/v1/schema/?format=json").content)


def test_the_description_is_valid_and_without_warnings(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))


def test_every_operation_has_an_id_a_tag_a_text_and_described_errors(described):
    assert described["openapi"].startswith("3.1")
    found = [
        (path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if method in {"get", "post"}
    ]
    assert len(found) == len({operation["operationId"] for _, operation in found}) == OPERATIONS
    for path, operation in found:
        assert operation["tags"] and operation["description"], path
        assert {"401", "404", "406"} <= set(operation["responses"]), path
        assert len({"200", "201"} & set(operation["responses"])) == 1, path
        for status, response in operation["responses"].items():
            if status not in {"200", "201"}:
                content = response["content"]["application/json"]
                assert content["schema"]["$ref"].endswith("/Error") and content["examples"], (path, status)
        for name in (one["name"] for one in operation.get("parameters", [])):
            assert not (name in ("id", "pk") or name.endswith("_id")), "only uids and slugs name things"


def test_every_route_is_described_and_has_a_place_in_the_documentation(described):
    patterns = {str(one.pattern) for one in urlpatterns if one.name not in {"docs", "schema", "nothing"}}
    assert len(patterns) == len(described["paths"])
    page = (settings.BASE_DIR / "docs" / "api.md").read_text("utf-8")
    told = {part for row in re.findall(r"^\| (`.*?`) \|", page, re.M) for part in re.split(r"[/`?]", row)}
    bare = [re.sub(r"<[^>]*>", "", one.removeprefix("v1/")) for one in patterns if one.startswith("v1/")]
    parts = {part for route in bare for part in route.split("/") if part}
    assert len(parts) > 20 and parts <= told


def test_the_docs_page_asks_for_a_log_in_and_needs_no_inline_script(cast, client):
    assert client.get(reverse("api:docs")).status_code == 302
    client.force_login(cast.bob)
    page = client.get(reverse("api:docs"))
    text = page.content.decode()
    assert page.status_code == 200 and "swagger-ui-bundle.js" in text
    assert "<script>" not in text and "style=" not in text and "https://" not in text
