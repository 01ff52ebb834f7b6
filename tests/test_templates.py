"""What every page's frame and crumbs have in common."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from core.templatetags.texts import isolate

ALONE = ("counting", "empty", "progress", "sort_header", "tile")
"""Components whose optional words a variable of the page must not stand in for."""
INCLUDES = re.compile(r"""{% include "components/(\w+)\.html".*? %}""")
LONGEST_LINE = 140  # pyproject.toml, tool.djangofmt
NOT_OURS = ("var", "staticfiles", "test-results")
CRUMBS = re.compile(r"{% block breadcrumb %}(.*?){% endblock %}", re.S)
LINKS_ALONE = re.compile(r"(\s*(<a\s[^>]*>.*?</a\s*>|{%.*?%}))*\s*", re.S)
LIMIT = re.compile(r"""\b(?:max|min)length=["']?((?:{[{%].*?[%}]}|[^"'\s>])*)""")
RIGHT_TO_LEFT_OVERRIDE = "\u202e"


def templates() -> Iterator[Path]:
    """Every template of the project, in whatever folder; none of the packages that it uses."""
    for folder, below, names in os.walk(settings.BASE_DIR):
        below[:] = [one for one in below if not one.startswith(".") and one not in NOT_OURS]
        yield from (Path(folder, name) for name in names if name.endswith(".html"))


def test_crumbs_are_links_and_the_rule_alone_draws_what_stands_between_them():
    found = [(one.name, nav) for one in templates() for nav in CRUMBS.findall(one.read_text("utf-8"))]
    assert len(found) > 20
    assert [name for name, nav in found if not LINKS_ALONE.fullmatch(nav) or "›" in nav or ">/<" in nav] == []


def test_no_line_of_a_template_is_long():
    written = list(templates())
    places = {one.relative_to(settings.BASE_DIR).parts[0] for one in written}
    assert len(written) > 140 and places >= {"templates", "benchmark"}
    lines = (
        (one.name, number, line) for one in written for number, line in enumerate(one.read_text("utf-8").split("\n"), 1)
    )
    assert [(name, number) for name, number, line in lines if len(line) > LONGEST_LINE] == []


def test_no_template_holds_the_limit_of_a_field():
    """The form that reads a field has it, and the page gets it from there."""
    written = {template.name: LIMIT.findall(template.read_text("utf-8")) for template in templates()}
    assert sum(map(len, written.values())) > 12
    assert [name for name, limits in written.items() if any(limit.isdecimal() for limit in limits)] == []


def test_components_with_optional_words_get_those_alone_that_they_are_given():
    pages = [one for one in templates() if one.parent.name != "components"]
    found = [(one.name, include) for one in pages for include in INCLUDES.finditer(one.read_text("utf-8"))]
    bare = [
        (name, include[0]) for name, include in found if include[1] in ALONE and not include[0].endswith(" only %}")
    ]
    assert len(found) > 100 and bare == []


@pytest.mark.django_db
def test_an_annotator_sees_no_button_at_a_story_without_a_table(cast, make_story, client):
    story = make_story()
    story.tables.all().delete()
    client.force_login(cast.bob)
    page = client.get(f"/p/minds/stories/{story.uid}/").content.decode()
    assert "An expert writes it." in page and "button-primary" not in page


def test_a_name_in_a_title_reaches_no_further_than_itself():
    for name, shown in [
        ("Plain", "Plain"),
        (f"Evil {RIGHT_TO_LEFT_OVERRIDE}txt.exe", "Evil txt.exe"),
        # a PDI of its own would end the isolation around it
        ("\u2069\u202ea", "a"),
        ("שלום", "\u2068שלום\u2069"),
    ]:
        assert isolate(name) == shown


@pytest.mark.django_db
def test_the_title_of_a_page_isolates_its_names_and_stays_escaped(cast, client):
    cast.project.name = f"<b>{RIGHT_TO_LEFT_OVERRIDE}Minds ä"
    cast.project.save()
    client.force_login(cast.alice)
    page = " ".join(client.get("/p/minds/stories/").content.decode().split())
    assert "<title> Stories · \u2068&lt;b&gt;Minds ä\u2069 </title>" in page
