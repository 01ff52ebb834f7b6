"""Sentences that code wrote in English are shown in the language of the page."""

from __future__ import annotations

from functools import cache

import pytest
from django import forms
from django.template import Context, Template
from django.utils import translation
from django.utils.translation.trans_real import translation as translation_of
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalogues.extraction import Text, python_texts
from core.catalogues.patterns import _PLACE, Index, Pattern, _read, patterns_of, translated
from core.language import AsGiven
from core.templatetags.translated import spoken
from core.templatetags.translated import translated as shown

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


VALUE = st.one_of(st.text(min_size=1, max_size=8), st.sampled_from(["s", "ed", "3", "a b", "x.", "{", "saved"]))
"""What may stand in a place: also what makes one word with the letters beside it."""


@cache
def index_of_the_catalogue() -> Index:
    """All texts with places of the catalogue, each its own translation: filled, it is a sentence of its form."""
    return Index(patterns_of([(text, text) for text, _ in translation_of("zh-hans")._catalog.items()]))


def by_all(patterns: list[Pattern], sentence: str) -> list[Pattern]:
    return [pattern for pattern in patterns if pattern.values(sentence) is not None]


@settings(max_examples=40)
@given(data=st.data())
def test_the_index_misses_no_form_of_the_catalogue(data):
    """Every pattern in turn, with new values each time: what the search through all of them finds, in its order."""
    index = index_of_the_catalogue()
    assert len(index.patterns) > 500
    for pattern in index.patterns[data.draw(st.integers(0, 19)) :: 20]:
        values = {name: data.draw(VALUE) for name in pattern.form.groupindex}
        sentence = _PLACE.sub(lambda place, values=values: values[place[1]], pattern.translated)
        found = by_all(index.near(sentence), sentence)
        assert pattern in found and found == by_all(index.patterns, sentence), sentence


def test_a_word_that_touches_a_place_finds_nothing_by_itself():
    whole = {
        "saved {name}": {"saved"},
        "saved{name}": set(),
        "{name}ed by {who}, now": {"by", "now"},
        "{a}: {b}": set(),
    }
    index = Index([Pattern(text, text) for text in whole])
    assert [pattern.words for pattern in index.patterns] == list(whole.values())
    assert [pattern.translated for pattern in index.near("savedas")] == ["saved{name}", "{a}: {b}"]


def test_a_sentence_is_held_against_few_forms():
    index = index_of_the_catalogue()
    without = [pattern for pattern in index.patterns if not pattern.words]
    assert len(without) < 30, [pattern.literals for pattern in without]
    assert len(index.near("The run of Monday is saved by all of them.")) < len(index.patterns) / 10


def test_a_long_text_is_read_clause_by_clause():
    """Whoever writes a remark of a thousand clauses keeps no page waiting: each is read once."""
    strange = "Zorp blen quix number {at}, with a frum; clause {at}."
    with translation.override("zh-hans"):
        known = translated("Annotators")
        assert known != "Annotators"
        text = " ".join(strange.format(at=at) for at in range(1000))
        before = _read.cache_info().misses
        assert translated(text) == text
        assert _read.cache_info().misses - before < 12 * 1000
        assert translated(f"{text} Annotators").endswith(known)


def test_names_that_people_gave_and_words_of_files_are_alike_in_every_language():
    field = forms.Form()
    field.fields["split"] = forms.ChoiceField(choices=[("", "All"), ("alignment", "alignment"), ("x", "Stories")])
    with translation.override("zh-hans"):
        assert translated("Alignment") == translated("alignment") == "对齐"
        assert translated("Split alignment") == "划分 alignment"
        assert (
            translated("label is 'Order'; expected one of Order, Truth.")
            == "label（标签）为 'Order'；应为 Order, Truth 之一。"
        )
        assert shown(AsGiven("alignment")) == "alignment" and shown("alignment") == "对齐"
        choices = spoken(field["split"]).field.widget.choices
    assert choices == [("", "全部"), ("alignment", "alignment"), ("x", "故事")]


def test_names_do_not_keep_what_is_said_of_them_in_english():
    apart = "gpt-x, gpt-y (ranked apart: judged by rules, level 4, with the story, 2 from the sample corpus)"
    with translation.override("zh-hans"):
        said = "gpt-x，gpt-y（另行排名：由 rules，级别 4，附故事，从示例语料中取 2 评判）"
        assert translated(f"Not in this table: {apart}; {apart}; {apart}.") == f"不在此表中：{said}；{said}；{said}。"
        assert translated("Judged anew: gpt-x") == "重新评判：gpt-x"
