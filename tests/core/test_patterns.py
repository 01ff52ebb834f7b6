"""Sentences that code wrote in English are shown in the language of the page."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.utils import translation

from core.catalogues.extraction import Text, python_texts
from core.catalogues.patterns import patterns_of, translated

pytestmark = pytest.mark.once


def test_an_f_string_that_is_marked_is_a_text_with_places():
    code = 'gettext_noop(f"{len(rows):,} of {total:.1f} {group.noun}: {total}"); gettext(f"{not_marked} row")'
    assert python_texts(code) == {Text("{rows} of {total} {noun}: {total_2}")}


def test_the_text_that_says_most_is_taken_and_finds_its_values():
    found = patterns_of(
        [
            ("{a}: {b}", "nothing to be known by"),
            ("{name} is saved.", "{name} 已保存。"),
            ("{what} {name} is saved.", "x"),
            ("The row {name} is saved.", "已保存 {name} 行。"),
            (("{count} row", 0), "{count} 行"),
        ]
    )
    assert [pattern.translated for pattern in found] == ["已保存 {name} 行。", "x", "{name} 已保存。"]
    values = found[0].values("The row a.b\nc is saved.")
    assert values == {"name": "a.b\nc"} and found[0].filled(values) == "已保存 a.b\nc 行。"
    assert found[0].values("The row is saved.") is None


def test_values_are_looked_up_too_and_what_is_unknown_stays():
    sentence = "The run has the control “shuffled options” already."
    assert translated(sentence) == sentence
    with translation.override("zh-hans"):
        assert translated(sentence) == "此运行已有对照“打乱选项”。"
        assert translated("gpt-x is saved.") == "gpt-x 已保存。"
        assert translated("Nobody ever wrote this.") == "Nobody ever wrote this."


def test_a_page_escapes_what_it_shows_so():
    page = Template("{% load translated %}{{ text|translated }} {{ words|translated|join:', ' }} {{ none|translated }}")
    context = Context({"text": "<b> is saved.", "words": ["story", "x"], "none": 3})
    with translation.override("zh-hans"):
        assert page.render(context) == "&lt;b&gt; 已保存。 故事, x 3"
    assert page.render(context) == "&lt;b&gt; is saved. story, x 3"
