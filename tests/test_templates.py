"""What every page's frame and parts have in common, and that style sheets and scripts speak of what is there."""

import re

import pytest
from django.conf import settings

from core.templatetags.texts import isolate

ALONE = ("counting", "empty", "progress", "sort_header", "tile")
"""Components whose optional words a variable of the page must not stand in for."""
INCLUDES = re.compile(r"""{% include "components/(\w+)\.html".*? %}""")
LIMIT = re.compile(r"""\b(?:max|min)length=["']?((?:{[{%].*?[%}]}|[^"'\s>])*)""")
RIGHT_TO_LEFT_OVERRIDE = "\u202e"


def texts(*patterns: str) -> dict[str, str]:
    files = (one for pattern in patterns for one in settings.BASE_DIR.glob(pattern))
    return {one.relative_to(settings.BASE_DIR).as_posix(): one.read_text("utf-8") for one in files}


@pytest.fixture(scope="module")
def templates() -> dict[str, str]:
    return texts("templates/**/*.html", "benchmark/suites/**/*.html")


def test_no_template_holds_the_limit_of_a_field_or_lends_a_component_a_variable(templates):
    """The form that reads a field has its limit, and the page gets it from there."""
    limits = [(name, limit) for name, text in templates.items() for limit in LIMIT.findall(text)]
    assert len(limits) > 12 and not [name for name, limit in limits if limit.isdecimal()]
    pages = [text for name, text in templates.items() if "/components/" not in name]
    found = [include for text in pages for include in INCLUDES.finditer(text)]
    assert len(found) > 100 and not [one[0] for one in found if one[1] in ALONE and not one[0].endswith(" only %}")]


def test_what_style_sheets_and_scripts_ask_for_is_there(templates):
    """Variables that are set, attributes that an element can have."""
    sheets, scripts = "\n".join(texts("static/**/*.css").values()), "\n".join(texts("static/**/*.js").values())
    pages = "\n".join(templates.values())
    python = "\n".join(texts("benchmark/**/*.py", "annotation/**/*.py", "core/**/*.py").values())
    set_, used = set(re.findall(r"(--[\w-]+)\s*:", sheets)), set(re.findall(r"var\((--[\w-]+)", sheets))
    assert sorted(one for one in set_ ^ used if one not in pages + python) == []
    sought = set(re.findall(r"\[(data-[\w-]+)", scripts + sheets))
    written = pages + re.sub(r"\[data-[\w-]+", "", scripts)
    names = {one: re.sub(r"-(\w)", lambda found: found[1].upper(), one.removeprefix("data-")) for one in sought}
    lacking = [one for one in sought if one not in written]
    assert len(sought) > 20
    assert [one for one in lacking if not re.search(rf"\bdataset(\.|, {{.*\b){names[one]}\b", scripts)] == []


def test_a_name_in_a_title_reaches_no_further_than_itself():
    for name, shown in [
        ("Plain", "Plain"), (f"Evil {RIGHT_TO_LEFT_OVERRIDE}txt.exe", "Evil txt.exe"),
        ("\u2069\u202ea", "a"), ("שלום", "\u2068שלום\u2069"),  # a PDI of its own would end the isolation around it
    ]:  # fmt: skip
        assert isolate(name) == shown


@pytest.mark.django_db
def test_pages_isolate_and_escape_names_and_offer_nobody_what_is_not_theirs(cast, client, make_story):
    cast.project.name = f"<b>{RIGHT_TO_LEFT_OVERRIDE}Minds ä"
    cast.project.save()
    client.force_login(cast.alice)
    page = " ".join(client.get("/p/minds/stories/").content.decode().split())
    assert "<title> Stories · \u2068&lt;b&gt;Minds ä\u2069 </title>" in page
    story = make_story()
    story.tables.all().delete()
    client.force_login(cast.bob)
    page = client.get(f"/p/minds/stories/{story.uid}/").content.decode()
    assert "An expert writes it." in page and "button-primary" not in page
