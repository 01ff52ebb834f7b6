"""Sentences: English text with an id and parameters, kept and read in the language of each reader."""

import json
import pickle

from django.template import Context, Template
from django.utils import translation

from core import messages
from core.catalogues.extraction import Text, python_texts
from core.catalogues.sentences import translated
from core.messages import MARK, Sentence, as_sentence, as_text, from_text, gettext_noop, restored, stored, word
from core.stored_json import parsed
from workers.models import Job

HAS = Sentence("The run has the control “{controls}” already.", controls=gettext_noop("shuffled options"))


def test_a_sentence_is_english_text_and_is_translated_with_its_parameters():
    assert HAS == "The run has the control “shuffled options” already."
    assert translated(HAS) == HAS
    with translation.override("zh-hans"):
        assert translated(HAS) == "此运行已有对照“打乱选项”。"
        assert translated(Sentence("{name} is saved.", name="alignment")) == "alignment 已保存。"  # a name is kept
        assert translated(gettext_noop("alignment")) == translated("alignment") == "对齐"
        assert translated("Nobody ever wrote this.") == "Nobody ever wrote this."


def test_parts_are_put_together_in_each_language():
    levels = messages.listed([messages.worded(gettext_noop("level"), 2)])
    text = messages.clauses(messages.labelled(gettext_noop("Story"), messages.noted("gpt-x", 3)), "", levels)
    assert text == "Story: gpt-x (3); level 2"
    assert messages.listed([]) == "" and messages.listed(["", "x"]) == "x"
    with translation.override("zh-hans"):
        assert translated(text) == "故事：gpt-x（3）；级别 2"
        assert translated(as_sentence(HAS)).startswith("此运行已有")
    assert messages.capitalised(gettext_noop("level")) == "Level" and as_sentence("it is so") == "It is so."


def test_nothing_that_somebody_wrote_is_taken_for_a_sentence():
    """Answers of models, question sets and names are kept in the same columns."""
    for value in [
        {"message": "{x}"},
        {"message": {"text": 1}, "parameters": [3]},
        {"=message": "{x.__class__}"},
        {"=message": {"a": 1}, "=text": None},
        {"=": {"==": 1}},
        {MARK: 1, '{"=message": "a"}': 2},
        {word("=HYPERLINK(1)"): 1},
        [word("a {b} c"), gettext_noop("such as {} for none")],
    ]:
        kept = json.dumps(stored(value))
        assert parsed(kept) == restored(json.loads(kept)) == value
    for text in ['{"=message": "{x}"', '{"=message": "{x}"}', "{x} and {", "=1+1"]:
        assert from_text(as_text(text)) == from_text(as_text(word(text))) == text


def test_a_sentence_stays_one_and_is_kept_with_id_and_parameters_and_sent_as_english():
    for cut in [str, lambda text: text[:500], lambda text: str(ValueError(text)), pickle.dumps]:
        kept = cut(HAS)
        assert (pickle.loads(kept) if isinstance(kept, bytes) else kept).parameters == HAS.parameters
        assert type(HAS[:5]) is str and HAS.lower().id == HAS.id
    value = {"why": [HAS, HAS.lower()], HAS: 1, "plain": gettext_noop("alignment"), "number": 3}
    kept = json.loads(json.dumps(stored(value)))
    assert kept["why"][0] == {"=message": HAS.id, "=parameters": {"controls": {"=message": "shuffled options"}}}
    assert kept["plain"] == {"=message": "alignment"} and restored(kept) == value
    assert [type(text) for text in restored(kept)["why"]] == [Sentence, Sentence]
    assert json.loads(json.dumps({"why": HAS})) == {"why": "The run has the control “shuffled options” already."}
    assert from_text(as_text(HAS)).parameters == HAS.parameters and as_text(gettext_noop("x")) == "x"
    assert from_text("{not a sentence") == "{not a sentence"
    field = Job._meta.get_field("note")
    kept = field.get_prep_value(HAS)
    assert isinstance(kept, str) and field.from_db_value(kept, None, None).parameters == HAS.parameters
    assert field.from_db_value("level", None, None).id == field.get_prep_value(gettext_noop("level")) == "level"


def test_a_page_escapes_what_it_shows_so():
    page = Template("{{ text|translated }} {{ words|translated|join:', ' }} {{ none|translated }}")
    context = Context({"text": Sentence("{name} is saved.", name="<b>"), "words": ["story", "x"], "none": 3})
    with translation.override("zh-hans"):
        assert page.render(context) == "&lt;b&gt; 已保存。 故事, x 3"
    assert page.render(context) == "&lt;b&gt; is saved. story, x 3"


def test_texts_are_collected_from_code():
    code = 'Sentence("{rows} of {total}", rows=1, total=2); gettext_noop("a row"); gettext(f"{not_marked} row")'
    assert python_texts(code) == {Text("{rows} of {total}"), Text("a row")}
