"""Other names: whose, one for one, the same in story, question, options and gold, and never for a word that only looks
like a name."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from benchmark.controls.chosen import controlled
from benchmark.controls.contract import CHINESE, ENGLISH, PEOPLE, Controllable
from benchmark.controls.lists import ALSO_WORDS, CHINESE_OBJECTS, CHINESE_PLACES, NOT_PEOPLE, OBJECTS, PLACES
from benchmark.controls.lists import PEOPLE as NAMES
from benchmark.controls.people import people_in
from benchmark.controls.renaming import others_in, renaming_of, single_names, spelled
from benchmark.suites.fantom_questions.asking import CONTROLS as CONVERSATIONS
from benchmark.suites.questions import Sample
from benchmark.suites.settings import Settings

TEXTS = ("content.story", "content.question", "content.options", "gold.answer")
WHOLE = Controllable("story", TEXTS)
PEOPLE_ALONE = replace(WHOLE, kinds=lambda sample: (PEOPLE,))
IN_CHINESE = replace(WHOLE, language=lambda sample: CHINESE)


def found(*texts: str, language: str = ENGLISH, actors=()) -> set[str]:
    return {name for spellings in people_in(texts, language, actors) for name in spellings}


def test_texts_tell_who_is_somebody():
    for text, people in [
        ("Today Anna moves the box to the Closet. The End.", {"Anna"}),
        ("Then Boris orders a Thai green curry with Maotai liquor in Vienna.", {"Boris"}),
        ("She tells Carla that some are Huskies, but there are hardly any Dalmatians.", {"Carla"}),
        ("On the planet Lumina, a robot named Rizo lives. Lumina has no animals.", {"Rizo"}),
        ("They live in Room 204, as Aunt Rosa and Mr Pym know.", {"Rosa", "Pym"}),
        ("Today Zhang Wei is with Ana, Ben, and Cleo, of whom Ben is tired.", {"Zhang", "Wei", "Ana", "Ben", "Cleo"}),
        ("Whose hat is it? Dora’s mother asks: “Well, Emil, is it Fritz's attitude?”", {"Emil", "Fritz"}),
        ("Here is a copy of “Doraemon”, and there the Xi'an museum and the Ming Dynasty.", set()),
        ("In the afternoon Xiao Wei leaves. Then Xiaowei comes back to Xiaowei's desk.", {"Xiao Wei", "Xiaowei"}),
    ]:
        assert found(text) == people
    for text, people in [
        ("李雷和小明在教室里。李雷想回家，小明不想。李经理走了。", {"李雷", "小明"}),
        ("韩梅梅说她很高兴。韩梅梅高兴地走了。每个周末都很高兴。", {"韩梅梅"}),
        ("小刘查看了瓶子。张伟可能认为那是张伟的。", {"小刘", "张伟"}),
        ("他们照顾各自的小花园，门前的小花园。这个老钟很好。", set()),
        ("城市Skyhaven里住着一个名叫Blix的机器人。Blix可能在模仿什么？", {"Blix"}),
    ]:
        assert found(text, language=CHINESE) == people
    story = "It is late. For a while Bo and a dog are there, near Lia."
    assert found(story) == set()
    assert found(story, "What does Bo feel?") == {"Bo"}, "a question tells it of the story too"
    assert found(story, actors=["Bo's sister", "world", "The cook"]) == {"Bo"}


def test_of_a_conversation_only_those_are_renamed_who_speak_or_are_asked_about():
    text = (
        "Mackenzie: Hi Emely, Hi Cali! I love Thai food, and Google. Makenzie is here.\nEmely and Cali: It is Day of "
        "the Dead.\n"
        "Ariana: Well, I am a fan of Ariana Grande, Emely.\nEveryone: Thanks, Mac!\nAsia: Is Europe far, Ariana?"
    )
    content = {"conversation": text, "question": "Does Mackenzie know this?", "options": []}
    content["names"] = ["Mackenzie", "Rhett"]
    names = renaming_of(Sample("k", "c", content, {"right": [], "wrong": []}), CONVERSATIONS, 1)
    assert {*names.people} == {"Mackenzie", "Makenzie", "Mac", "Emely", "Cali", "Ariana", "Asia", "Rhett"}
    assert names.people["Mackenzie"] == names.people["Makenzie"] == names.people["Mac"]
    told = names.of(text)
    assert "Ariana Grande" in told and f"Hi {names.people['Emely']}, Hi {names.people['Cali']}!" in told
    assert all(kept in told for kept in ("Thai", "Google", "Day of the Dead", "Everyone:", "Europe"))


def test_names_that_sound_alike_are_two_people_where_both_are_asked_about():
    assert spelled(["Scarlett", "Scarlet"], ["Scarlett"], []) == [("Scarlett", "Scarlet")]
    assert spelled(["Scarlett", "Scarlet"], ["Scarlett", "Scarlet"], []) == [("Scarlett",), ("Scarlet",)]
    assert spelled(["Breanna", "Brianna"], [], []) == [("Breanna",), ("Brianna",)]
    assert spelled(["Michaela", "Lisa"], [], ["A book by Michael A. Singer. List them."]) == [("Michaela",), ("Lisa",)]
    groups = ["Mark, Bryce, Alfredo", "Jesus & Cierra", "All", "Erik and Jane", "Mark"]
    assert single_names(groups) == ["Mark", "Bryce", "Alfredo", "Jesus", "Cierra", "Erik", "Jane"]
    assert others_in(["Ariana", "Cali"], ["Hi Cali Ariana, Ariana Grande!"]) == ("Ariana Grande",)


def sample(story: str, question: str = "Who knows?", options=("Yes", "No"), answer: str = "Yes") -> Sample:
    return Sample("k", "c", {"story": story, "question": question, "options": [*options]}, {"answer": answer})


def renamed(one: Sample, controllable: Controllable = WHOLE, seed: int = 1) -> Sample:
    return controlled(one, controllable, Settings(control="renamed", seed=seed))


def told(one: Sample) -> list[str]:
    return [one.content["story"], one.content["question"], *one.content["options"], one.gold["answer"]]


def _a(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


fruits, vegetables = (sorted(OBJECTS[at].there) for at in (0, 1))
containers = st.lists(st.sampled_from(sorted(PLACES[0].there)), min_size=2, max_size=2, unique=True)
WORDS_TOO = ["Will", "Rose", "May", "Mark", "Hope"]
some = ["Anna", "Boris", "Xiao Ming", "Carla", *WORDS_TOO]
people = st.lists(st.sampled_from(some), min_size=3, max_size=3, unique=True)


@st.composite
def stories(draw) -> Sample:
    first, second, third = draw(people)
    kept, moved = draw(st.sampled_from(fruits)), draw(st.sampled_from(vegetables))
    old, new = draw(containers)
    story = (
        f"Today {first} and {second} saw {_a(moved)} in {_a(old)}. Then {third} left, and {first} put all "
        f"{OBJECTS[1].there[moved]} beside {_a(kept)} into {_a(new)}. {second} will mark the page with hope, as one "
        "may when a rose is there."
    )
    options = (old.capitalize(), new.capitalize())
    return sample(story, f"Where does {third} look for the {moved}?", options, old.capitalize())


@given(stories(), st.integers(0, 2**31 - 1))
def test_renaming_is_one_for_one_and_leads_back(one, seed):
    names = renaming_of(one, WHOLE, seed)
    pairs = {**names.people, **names.things}
    assert len(set(pairs.values())) == len(pairs)
    assert not set(names.people.values()) & {*re.findall(r"\w+", " ".join(told(one)))}
    changed = renamed(one, seed=seed)
    for old in pairs:
        if old.capitalize() not in WORDS_TOO:
            assert not any(re.search(rf"\b{re.escape(old)}\b", text) for text in told(changed))
    # with the new names taken back, letter by letter what was published, articles too
    back = {new: old for old, new in pairs.items()}
    names_now = "|".join(sorted(map(re.escape, back), key=len, reverse=True))

    def restored(match: re.Match[str]) -> str:
        word = match[2]
        was = back.get(word) or back[word.lower()]
        was = was.capitalize() if word not in back and word[0].isupper() else was
        return _a(was) if match[1] else was

    pattern = re.compile(rf"\b(?:(a)n? )?({names_now})\b", re.IGNORECASE)
    assert [pattern.sub(restored, text) for text in told(changed)] == told(one)


@given(stories(), st.integers(0, 2**31 - 1))
def test_gold_and_questions_agree_with_the_story(one, seed):
    changed = renamed(one, seed=seed)
    place = one.content["options"].index(one.gold["answer"])
    assert changed.content["options"][place] == changed.gold["answer"]
    assert all(option.lower() in changed.content["story"] for option in changed.content["options"])
    who = re.match(r"Where does ((?:Xiao )?\w+) look", changed.content["question"])
    assert who and f"Then {who[1]} left" in changed.content["story"]
    # the questions of a story share its new names
    other = Sample("other", "c", {**one.content, "question": "What did Dorothea say to Zoltan?"}, {"answer": "Nothing"})
    assert renamed(other, seed=seed).content["story"] == changed.content["story"]


def test_words_that_are_names_and_names_in_other_words_stay_apart():
    for story in (
        "In May it rained, and {Mark} met {May} and {Will} at the market. Will you mark it? May I? Hope is all they "
        "had, as {Will} said. {Will} went home on Friday, the rose in his hand, and Aunt {Rose} told Mr {Bill} of it.",
        "Then {Ann} saw {Anna} and {Annabel}. {Ann}'s hat was on the Ann-tree.",
    ):
        published = re.sub(r"[{}]", "", story)
        names = renaming_of(sample(published), PEOPLE_ALONE, 1).people
        assert {*names} == {*re.findall(r"{(\w+)}", story)}
        assert renamed(sample(published), PEOPLE_ALONE).content["story"] == story.format(**names)


def test_where_the_data_say_who_is_there_nobody_is_guessed_and_what_something_is_called_by_stays():
    one = sample("Then Anna put the hat into the Fridge, as Boris saw.")
    named = replace(PEOPLE_ALONE, named=lambda sample: [("Anna",)])
    assert {*renaming_of(one, named, 1).people} == {"Anna"}
    assert {*renaming_of(one, PEOPLE_ALONE, 1).people} == {"Anna", "Boris"}
    one = sample("The cat Mittens sits on an apple. Mittens likes Apple Music, and a pear.")
    assert {*renaming_of(one, WHOLE, 1).things} == {"pear", "pears"}


def test_number_article_and_capital_go_with_the_word():
    one = sample("Then Anna put an onion and two apples into a box.", "Where is the onion?", ("Box", "An apple"), "Box")
    names, changed = renaming_of(one, WHOLE, 4), renamed(one, seed=4)
    onion, apples, box = (names.things[word] for word in ("onion", "apples", "box"))
    assert changed.content["story"] == f"Then {names.people['Anna']} put {_a(onion)} and two {apples} into {_a(box)}."
    assert changed.content["options"] == [box.capitalize(), _a(names.things["apple"]).capitalize()]
    assert changed.gold["answer"] == box.capitalize()


def test_chinese_items_get_chinese_names_of_the_same_families():
    one = sample(
        "小明和小红在卧室，他们在手提袋里发现了胡萝卜，小明离开了，小红小心地把胡萝卜移到背包，老师和老王在学小学数学。",
        "现在胡萝卜在哪里？小明知道吗？",
        ("背包", "手提袋"),
        "背包",
    )
    changed, names = renamed(one, IN_CHINESE), renaming_of(one, IN_CHINESE, 1)
    assert {*names.people} == {"小明", "小红", "老王"}
    assert all(new[0] == old[0] and not new.isascii() for old, new in names.people.items())
    for word in ("小明", "小红", "老王", "手提袋", "胡萝卜", "背包"):
        assert not any(word in text for text in told(changed))
    assert all(word in changed.content["story"] for word in ("小心", "老师", "小学"))
    assert changed.content["options"][0] == changed.gold["answer"]
    assert changed.content["options"][1] in changed.content["story"]
    people = renaming_of(sample("韩梅梅说她要走了，李雷知道。韩梅梅不知道李雷在想什么。"), IN_CHINESE, 1).people
    assert [*people] == ["韩梅梅", "李雷"]
    assert [(new[0], len(new)) for new in people.values()] == [("韩", 3), ("李", 2)]


def test_our_names_are_no_words_and_no_two_lists_share_one():
    assert not {*NAMES} & (ALSO_WORDS | NOT_PEOPLE) and len({*NAMES}) == len(NAMES)
    words = [word for thing in (*OBJECTS, *PLACES) for forms in thing for one in forms.items() for word in {*one}]
    chinese = [word for there, instead in (*CHINESE_OBJECTS, *CHINESE_PLACES) for word in (*there, *instead)]
    assert len({*words}) == len(words) and len({*chinese}) == len(chinese)
    assert all(thing.instead for thing in (*OBJECTS, *PLACES))  # what takes the place of all words of a text
