"""What a reader sees of a change: the texts that differ, each in pieces of which the other has not some."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from benchmark.controls.chosen import controlled
from benchmark.controls.contract import Controllable
from benchmark.controls.marking import changes_of, marked
from benchmark.suites.questions import Sample
from benchmark.suites.settings import Settings

WHOLE = Controllable("story", ("content.story", "content.question", "content.options"))
SAMPLE = Sample("k", "c", {"question": "Why?", "story": "Then Anna left.", "options": ["a", "b"]}, {})
texts = st.text("ab .,\n", max_size=12)


@given(texts, texts)
def test_the_pieces_of_a_text_are_the_text_and_what_is_not_marked_is_in_both(before, after):
    first, second = marked(before, after)
    assert ["".join(text for text, _ in side) for side in (first, second)] == [before, after]
    same = ["".join(text for text, changed in side if not changed) for side in (first, second)]
    assert same[0] == same[1]


def test_a_changed_name_alone_is_marked():
    assert marked("Then Anna left.", "Then Ida left.") == (
        [("Then ", False), ("Anna", True), (" left.", False)], [("Then ", False), ("Ida", True), (" left.", False)],
    )  # fmt: skip


def test_only_texts_that_changed_are_shown_the_story_first():
    assert changes_of(SAMPLE, WHOLE) == []
    changed = controlled(SAMPLE, WHOLE, Settings(control="storyless"))
    assert [one.name for one in changes_of(changed, WHOLE)] == ["story"]
    both = replace(changed, content={**changed.content, "options": ["b", "a"]})
    assert [one.name for one in changes_of(both, WHOLE)] == ["story", "options"]
