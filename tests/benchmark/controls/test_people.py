"""Who is renamed: the people of the data where it says them, and else whom the texts tell to be somebody."""

from __future__ import annotations

from dataclasses import replace

from benchmark.controls.contract import CHINESE, ENGLISH, Controllable
from benchmark.controls.people import people_in
from benchmark.controls.renaming import others_in, renaming_of, single_names, spelled
from benchmark.suites.fantom_questions.asking import CONTROLS as CONVERSATIONS
from benchmark.suites.questions import Sample


def found(*texts: str, language: str = ENGLISH, actors=()) -> set[str]:
    return {name for spellings in people_in(texts, language, actors) for name in spellings}


def test_english_texts_tell_who_is_somebody():
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


def test_a_question_tells_who_is_somebody_in_the_story_too():
    story = "It is late. For a while Bo and a dog are there, near Lia."
    assert found(story) == set()
    assert found(story, "What does Bo feel?") == {"Bo"}
    assert found(story, actors=["Bo's sister", "world", "The cook"]) == {"Bo"}


def test_chinese_texts_tell_who_is_somebody():
    for text, people in [
        ("李雷和小明在教室里。李雷想回家，小明不想。李经理走了。", {"李雷", "小明"}),
        ("韩梅梅说她很高兴。韩梅梅高兴地走了。每个周末都很高兴。", {"韩梅梅"}),
        ("小刘查看了瓶子。张伟可能认为那是张伟的。", {"小刘", "张伟"}),
        ("他们照顾各自的小花园，门前的小花园。这个老钟很好。", set()),
        ("城市Skyhaven里住着一个名叫Blix的机器人。Blix可能在模仿什么？", {"Blix"}),
    ]:
        assert found(text, language=CHINESE) == people


def conversation(text: str, *names: str) -> Sample:
    content = {"conversation": text, "question": "Does Mackenzie know this?", "options": [], "names": [*names]}
    return Sample("k", "c", content, {"right": [], "wrong": []})


def test_of_a_conversation_only_those_are_renamed_who_speak_or_are_asked_about():
    text = (
        "Mackenzie: Hi Emely, Hi Cali! I love Thai food, and Google. Makenzie is here.\nEmely and Cali: It is Day of "
        "the Dead.\n"
        "Ariana: Well, I am a fan of Ariana Grande, Emely.\nEveryone: Thanks, Mac!\nAsia: Is Europe far, Ariana?"
    )
    names = renaming_of(conversation(text, "Mackenzie", "Rhett"), CONVERSATIONS, 1)
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


def test_a_group_of_speakers_is_its_people():
    assert single_names(["Mark, Bryce, Alfredo", "Jesus & Cierra", "All", "Erik and Jane", "Mark"]) == [
        "Mark", "Bryce", "Alfredo", "Jesus", "Cierra", "Erik", "Jane",
    ]  # fmt: skip
    assert others_in(["Ariana", "Cali"], ["Hi Cali Ariana, Ariana Grande!"]) == ("Ariana Grande",)


def test_where_the_data_say_who_is_there_nobody_is_guessed():
    one = Sample("k", "c", {"story": "Then Anna put the hat into the Fridge, as Boris saw."}, {})
    named = Controllable(
        "story", ("content.story",), kinds=lambda sample: ("people",), named=lambda sample: [("Anna",)]
    )
    assert {*renaming_of(one, named, 1).people} == {"Anna"}
    assert {*renaming_of(one, replace(named, named=None), 1).people} == {"Anna", "Boris"}


def test_a_thing_that_something_is_called_by_stays():
    one = Sample("k", "c", {"story": "The cat Mittens sits on an apple. Mittens likes Apple Music, and a pear."}, {})
    names = renaming_of(one, Controllable("story", ("content.story",)), 1)
    assert {*names.things} == {"pear", "pears"}


def test_the_name_of_the_family_stays_in_chinese():
    one = Sample("k", "c", {"story": "韩梅梅说她要走了，李雷知道。韩梅梅不知道李雷在想什么。"}, {})
    people = renaming_of(one, Controllable("story", ("content.story",), language=lambda sample: CHINESE), 1).people
    assert [*people] == ["韩梅梅", "李雷"]
    assert [(new[0], len(new)) for new in people.values()] == [("韩", 3), ("李", 2)]
