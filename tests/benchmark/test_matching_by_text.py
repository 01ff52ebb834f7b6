"""A sample is told by its story and question, wherever a record of another tool has them and whatever else it holds."""

from functools import partial
from types import SimpleNamespace

from benchmark.services.made_elsewhere.files import Record
from benchmark.services.made_elsewhere.matching import FileSample, Index, match
from benchmark.suites.fantom.parsing import SHORT, samples_of
from benchmark.suites.fantom_questions.data import read_fantom
from benchmark.suites.questions import Question
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import Settings

STORY = "Ines puts the key in the box. “I’ll be back,” she says.  Tomas moves it."
OTHER = "Mara hides the ring in a drawer, and leaves the house for a walk."
CHINESE = "伊内斯把钥匙放进盒子里，然后离开了房间。托马斯拿走了它。"
SAMPLES = [
    FileSample(1, "where", (), (STORY, "Where does Ines look?")),
    FileSample(2, "where-first", (), (STORY, "Where does Ines look? And why?")),
    FileSample(3, "longer", (), (f"{STORY} Then he goes home.", "Where does Ines look?")),
    FileSample(4, "other", (), (OTHER, "Where does Mara look?")),
    FileSample(5, "chinese", (), (CHINESE, "钥匙在哪？")),
    FileSample(6, "good", (), (OTHER, "What is best?"), (("a ring", "a key"),)),
    FileSample(7, "bad", (), (OTHER, "What is best?"), (("a dog", "a cat"),)),
]
ABILITY = "Belief: Location false beliefs Belief: Second-order beliefs, which is longer than any story or question here"


def told(*texts: str, prompt: str = "", ids: tuple[str, ...] = ()) -> str:
    """The key of the sample that a record is to, or why it is to none."""
    messages = [{"role": "user", "content": prompt}] if prompt else []
    record = Record("1", ids, "x", texts, messages=messages)
    matched = match([record], Index(SAMPLES), steps=["answer"], turns=1)
    keys = {sample.pk: sample.key for sample in SAMPLES}
    return next((keys[pk] for pk, _, _ in matched.answers), "") or matched.unmatched[0][1]


def test_story_and_question_tell_a_sample_together_or_apart():
    for texts, prompt, key in [
        ((f"{OTHER} Where does Mara look?",), "", "other"),
        ((f"Question: Where does Mara look?\n\nStory: {OTHER}",), "", "other"),
        ((ABILITY, OTHER, "Where does Mara look?", "noise"), "", "other"),
        ((ABILITY, OTHER), "Where does Mara look?\nA) here", "other"),
        ((), f"<story>\n{OTHER.replace(' ', '  ')}\n</story>\nQ: WHERE DOES MARA LOOK", "other"),
        ((STORY.replace("“", '"').replace("”", '"').replace("’", "'"), "Where does Ines look?"), "", "where"),
        ((STORY, "Where does Ines look? And why?"), "", "where-first"),
        ((f"{STORY} Then he goes home. Where does Ines look?",), "", "longer"),
        ((CHINESE.replace("，", "，\n"), "钥匙 在哪?"), "", "chinese"),
        ((f"{CHINESE}钥匙在哪？",), "", "chinese"),
        ((OTHER, "What is best?", "a cat", "a dog"), "", "bad"),
        ((), f"{OTHER}\nWhat is best?\n(a) a ring\n(b) a key", "good"),
        # examples in the prompt: the record's own texts say which it is
        ((OTHER, "Where does Mara look?"), f"{CHINESE}钥匙在哪？ {OTHER} Where does Mara look?", "other"),
        # a row in two languages beside the prompt: the prompt says which it is
        ((OTHER, "Where does Mara look?", CHINESE, "钥匙在哪？"), "Where does Mara look?", "other"),
    ]:
        assert told(*texts, prompt=prompt) == key
    # what is told by nothing or by several is not guessed
    for texts, prompt, why in [
        ((OTHER,), "", "it has no id, and no sample has exactly this text or all of its own texts in it"),
        ((ABILITY, "Where does Mara look?"), "", "no sample has exactly this text"),
        ((OTHER, "What is best?"), "", "has the texts of 2 samples: bad, good"),
        ((), f"{CHINESE}钥匙在哪？ {OTHER} Where does Mara look?", "has the texts of 2 samples: chinese, other"),
        ((OTHER, "Where does Mara look?"), f"{CHINESE}钥匙在哪？", "has the texts of 2 samples: chinese, other"),
        ((OTHER, "Somewhere does Marauder look?"), "", "no sample has exactly this text"),
    ]:
        assert why in told(*texts, prompt=prompt)
    # an id and other texts contradict each other
    assert told(OTHER, "Where does Mara look?", ids=("other",)) == "other"
    assert told("Of no sample.", ids=("other",)) == "other"
    assert told(OTHER, "Where does Mara look?", ids=("chinese",)) == "is called chinese and has the texts of other"


def test_equal_doubles_count_once_and_others_not_at_all():
    matched = partial(match, index=Index(SAMPLES), steps=["answer"], turns=1)
    equal = matched([Record("1", ["other"], "x"), Record("2", ["other"], "x")])
    assert [record.where for record in equal.answers.values()] == ["1"] and "counts once" in equal.double[0][1]
    unequal = matched([Record("1", ["other"], "x"), Record("2", ["other"], "y"), Record("3", ["other"], "x")])
    assert not unequal.answers and [where for where, _ in unequal.double] == ["2", "3"]
    of_a_judge = matched([Record("1", ["other"], "x", step="judge")])
    assert "is an answer at 'judge'; expected answer" in of_a_judge.unmatched[0][1]


def test_each_question_of_a_conversation_is_told_from_the_others(shared):
    suite, copy = suite_named("fantom"), read_fantom(shared / "vectors" / "fantom" / "fantom_mini.json")
    samples = list(samples_of(copy, SHORT))
    held = []
    for at, sample in enumerate(samples):
        parts, apart = (
            [sample.content[name] for name in of] for of in (suite.texts.told_by, suite.texts.told_apart_by)
        )
        apart = [[*one] if isinstance(one, list) else [one] for one in apart]
        held.append(FileSample(at, sample.key, parts=parts, apart=apart))
    index = Index(held)
    settings = Settings({setting.name: setting.default for setting in suite.settings})
    whole = SimpleNamespace(prompts=None, schema=None, derived=lambda name, compute: compute(samples))
    for at, sample in enumerate(samples):
        request = suite.request(Question(sample, "answer", settings, whole))
        record = Record("1", (), "x", messages=[{"role": one.role, "content": one.content} for one in request.messages])
        matches = index.match(record)
        assert not isinstance(matches, str) and matches[0] == (at,), (sample.key, matches)
