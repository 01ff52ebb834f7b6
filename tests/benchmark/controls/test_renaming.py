"""Other names: one for one, the same in story, question, options and gold, and never for a word that only looks like a
name."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from benchmark.controls.chosen import controlled
from benchmark.controls.contract import PEOPLE, Controllable
from benchmark.controls.lists import ALSO_WORDS, CHINESE_OBJECTS, CHINESE_PLACES, NOT_PEOPLE, OBJECTS, PLACES
from benchmark.controls.lists import PEOPLE as NAMES
from benchmark.controls.renaming import renaming_of
from benchmark.suites.questions import Sample
from benchmark.suites.settings import Settings

TEXTS = ("content.story", "content.question", "content.options", "gold.answer")
ENGLISH = Controllable("story", TEXTS)
PEOPLE_ALONE = Controllable("story", TEXTS, kinds=lambda sample: (PEOPLE,))
CHINESE = Controllable("story", TEXTS, language=lambda sample: "zh")


def sample(story: str, question: str = "Who knows?", options=("Yes", "No"), answer: str = "Yes") -> Sample:
    return Sample("k", "c", {"story": story, "question": question, "options": [*options]}, {"answer": answer})


def renamed(one: Sample, controllable: Controllable = ENGLISH, seed: int = 1) -> Sample:
    return controlled(one, controllable, Settings(control="renamed", seed=seed))


def told(one: Sample) -> list[str]:
    return [one.content["story"], one.content["question"], *one.content["options"], one.gold["answer"]]


fruits, vegetables = (sorted(OBJECTS[at].there) for at in (0, 1))
containers = sorted(PLACES[0].there)
people = st.lists(
    st.sampled_from(["Anna", "Boris", "Xiao Ming", "Carla", "Will", "Rose", "May", "Mark", "Hope"]),
    min_size=3, max_size=3, unique=True,
)  # fmt: skip


@st.composite
def stories(draw) -> Sample:
    first, second, third = draw(people)
    kept, moved = draw(st.sampled_from(fruits)), draw(st.sampled_from(vegetables))
    old, new = draw(st.lists(st.sampled_from(containers), min_size=2, max_size=2, unique=True))
    plural = OBJECTS[1].there[moved]
    story = (
        f"Today {first} and {second} saw {_a(moved)} in {_a(old)}. Then {third} left, and {first} put all {plural} "
        f"beside {_a(kept)} into {_a(new)}. {second} will mark the page with hope, as one may when a rose is there."
    )
    return sample(
        story, f"Where does {third} look for the {moved}?", (old.capitalize(), new.capitalize()), old.capitalize()
    )


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


@given(stories(), st.integers(0, 2**31 - 1))
def test_renaming_is_one_for_one_and_leads_back(one, seed):
    names = renaming_of(one, ENGLISH, seed)
    pairs = {**names.people, **names.things}
    assert len(set(pairs.values())) == len(pairs)
    assert not set(names.people.values()) & {*re.findall(r"\w+", " ".join(told(one)))}
    changed = renamed(one, ENGLISH, seed)
    for old in pairs:
        if old.lower() not in ("will", "may", "mark", "hope", "rose"):
            assert not any(re.search(rf"\b{re.escape(old)}\b", text) for text in told(changed))
    # with the new names taken back, letter by letter what was published, articles too
    back = {new: old for old, new in pairs.items()}
    pattern = re.compile(
        rf"\b(?:(a)n? )?({'|'.join(sorted(map(re.escape, back), key=len, reverse=True))})\b", re.IGNORECASE
    )

    def restored(match: re.Match[str]) -> str:
        word = match[2]
        was = back.get(word) or back[word.lower()]
        was = was.capitalize() if word not in back and word[0].isupper() else was
        return f"{_a(was)}" if match[1] else was

    assert [pattern.sub(restored, text) for text in told(changed)] == told(one)


@given(stories(), st.integers(0, 2**31 - 1))
def test_gold_and_question_agree_with_the_story(one, seed):
    changed = renamed(one, ENGLISH, seed)
    place = one.content["options"].index(one.gold["answer"])
    assert changed.content["options"][place] == changed.gold["answer"]
    assert all(option.lower() in changed.content["story"] for option in changed.content["options"])
    who = re.match(r"Where does ((?:Xiao )?\w+) look", changed.content["question"])
    assert who and f"Then {who[1]} left" in changed.content["story"]


@given(stories(), st.integers(0, 1000))
def test_the_questions_of_a_story_share_its_new_names(one, seed):
    other = Sample("other", "c", {**one.content, "question": "What did Dorothea say to Zoltan?"}, {"answer": "Nothing"})
    assert renamed(other, ENGLISH, seed).content["story"] == renamed(one, ENGLISH, seed).content["story"]


def test_words_that_are_names_stay_apart():
    story = (
        "In May it rained, and Mark met May and Will at the market. Will you mark it? May I? Hope is all they had, "
        "as Will said. Will went home on Friday, the rose in his hand, and Aunt Rose told Mr Bill of Paris."
    )
    changed = renamed(sample(story), PEOPLE_ALONE)
    names = renaming_of(sample(story), PEOPLE_ALONE, 1).people
    assert {*names} == {"Mark", "May", "Will", "Rose", "Bill"}
    assert changed.content["story"] == (
        f"In May it rained, and {names['Mark']} met {names['May']} and {names['Will']} at the market. Will you mark "
        f"it? May I? Hope is all they had, as {names['Will']} said. {names['Will']} went home on Friday, the rose in "
        f"his hand, and Aunt {names['Rose']} told Mr {names['Bill']} of Paris."
    )


def test_a_name_that_stands_in_another_word_leaves_it():
    changed = renamed(sample("Then Ann saw Anna and Annabel. Ann's hat was on the Ann-tree."), PEOPLE_ALONE)
    names = renaming_of(sample("Then Ann saw Anna and Annabel."), PEOPLE_ALONE, 1).people
    assert changed.content["story"] == (
        f"Then {names['Ann']} saw {names['Anna']} and Annabel. {names['Ann']}'s hat was on the Ann-tree."
    ).replace("Annabel", names["Annabel"])


def test_number_article_and_capital_go_with_the_word():
    one = sample("Then Anna put an onion and two apples into a box.", "Where is the onion?", ("Box", "An apple"), "Box")
    names = renaming_of(one, ENGLISH, 4)
    changed = renamed(one, ENGLISH, 4)
    onion, apples, box = (names.things[word] for word in ("onion", "apples", "box"))
    assert changed.content["story"] == f"Then {names.people['Anna']} put {_a(onion)} and two {apples} into {_a(box)}."
    assert changed.content["options"] == [box.capitalize(), _a(names.things["apple"]).capitalize()]
    assert changed.gold["answer"] == box.capitalize()


def test_chinese_items_get_chinese_names():
    one = sample(
        "小明和小红在卧室，他们在手提袋里发现了胡萝卜，小明离开了，小红小心地把胡萝卜移到背包，老师和老王在学小学数学。",
        "现在胡萝卜在哪里？小明知道吗？",
        ("背包", "手提袋"),
        "背包",
    )
    changed, names = renamed(one, CHINESE), renaming_of(one, CHINESE, 1)
    assert {*names.people} == {"小明", "小红", "老王"}
    assert all(new[0] == old[0] and not new.isascii() for old, new in names.people.items())
    assert not any(
        word in text for text in told(changed) for word in ("小明", "小红", "老王", "手提袋", "胡萝卜", "背包")
    )
    assert all(word in changed.content["story"] for word in ("小心", "老师", "小学"))
    assert changed.content["options"][0] == changed.gold["answer"]
    assert changed.content["options"][1] in changed.content["story"]


def test_our_names_are_no_words_and_no_two_lists_share_one():
    assert not {*NAMES} & (ALSO_WORDS | NOT_PEOPLE) and len({*NAMES}) == len(NAMES)
    words = [word for thing in (*OBJECTS, *PLACES) for forms in thing for one in forms.items() for word in {*one}]
    assert len({*words}) == len(words)
    chinese = [word for there, instead in (*CHINESE_OBJECTS, *CHINESE_PLACES) for word in (*there, *instead)]
    assert len({*chinese}) == len(chinese)
    # what takes the place of all words that a text could have
    assert all(len(thing.instead) >= 1 for thing in (*OBJECTS, *PLACES))
