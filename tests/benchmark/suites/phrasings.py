"""Models that refuse, answer with what is none of the answers, or are right in many words, as texts."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmark.suites.questions import Question, Sample
from benchmark.suites.settings import Settings


def each(texts: str) -> list[str]:
    return texts.split(" ‖ ")


REFUSALS = each(
    "I can't help with that. ‖ I'm sorry, but I can't assist with that request. ‖ "
    "I’m sorry, but I can’t help with that. ‖ I cannot answer this question. ‖ "
    "As an AI language model, I cannot make judgments about what people believe. ‖ "
    "I'm unable to provide an answer to that. ‖ "
    "I apologize, but I am not able to fulfill this request. Is there something else that I can help you with? ‖ "
    "Sorry, I can't do that. ‖ I must respectfully decline to answer. ‖ I refuse to answer. ‖ "
    "I won't answer that question. ‖ I'd rather not answer. ‖ I don't feel comfortable discussing this topic. ‖ "
    "It's against my guidelines to answer this. ‖ This request may violate our usage policies. ‖ "
    "No. I will not help with this. ‖ "
    "Unfortunately, that's not something I can help with. If you have any other questions, feel free to ask! ‖ "
    "I am just an AI assistant and I do not have personal opinions or beliefs. ‖ No comment. ‖ "
    "I am not allowed to respond to this. Please consult a professional."
)
CHINESE_REFUSALS = each(
    "抱歉，我无法回答这个问题。 ‖ 对不起，我不能协助您完成这个请求。 ‖ 我拒绝回答。 ‖ "
    "作为一个人工智能语言模型，我没有个人观点，无法提供答案。 ‖ "
    "很抱歉，我无法提供这方面的帮助。如果您有其他问题，欢迎随时告诉我。 ‖ 这个问题我不便回答，让我们换个话题吧。 ‖ "
    "无可奉告。 ‖ 该请求违反了相关政策，恕我无法作答。"
)
ABSTENTIONS = each("I don't know. ‖ I'm not sure. ‖ I can't tell. ‖ No idea. ‖ 我不知道。")
SILENCE = ["", " \n", *each("??? ‖ ... ‖ N/A ‖ no output ‖ The answer is ‖ Let me think about this step by step:")]
PLACES = each(
    "{0} ‖ **{0}** ‖ The {0}. ‖ In the {0}. ‖ The answer is: in the {0}. ‖ It is in the {0}. ‖ Answer: {0} ‖ "
    "{0}\n\nNobody moved it. ‖ “{0}” ‖ Inside the {0} ‖ {1} thinks that it is in the {0}, not in the {2}. ‖ "
    "{1} will look in the {0} because nobody told them that it was moved. ‖ the {0}, since {1} left it there. ‖ "
    "{1} will look for it in the {0} because they did not see that it was moved to the {2}."
)
"""Right answers to where something is: the place, a person, another place."""
WORDS = each(
    "{0} ‖ **{0}** ‖ {0}. ‖ The answer is: {0}. ‖ Answer: {0} ‖ “{0}” ‖ It is {0}. ‖ {0}, because nobody moved it. ‖ "
    "{0}\n\nExplanation: the thing was left where it was."
)
LISTS = each(
    "{0} ‖ [{0}] ‖ The characters who know are {0}. ‖ The characters who know are: {0} ‖ **{0}** ‖ {0}. ‖ "
    "Only {0} know the answer. ‖ {0}\n\nThe others had left."
)
CHOICES = each(
    "({0}) ‖ {0} ‖ **({0})** ‖ The answer is ({0}). ‖ Answer: {0} ‖ ({0}) {1} ‖ {0}. {1} ‖ ({0}), because of that."
)
LETTERS = each(
    "[[{0}]] ‖ {0} ‖ {0}. {1} ‖ **{0}** ‖ Answer: {0} ‖ The answer is {0} because it fits. ‖ 答案：{0} ‖ {1} ‖ "
    "({0}) ‖ Option {0} is correct."
)
OTHER_PLACES = each(
    "In the aquarium. ‖ aquarium ‖ The answer is: in the aquarium. ‖ "
    "They will look in the aquarium because it is wet. ‖ **Aquarium** ‖ the rusty spaceship"
)
OTHER_WORDS = each("Maybe. ‖ **Purple** ‖ The aquarium ‖ It cannot be determined from the story. ‖ unknown ‖ 42")
OTHER_PEOPLE = each(
    "Zebulon ‖ [Zebulon, Quirinus] ‖ Zebulon and Quirinus ‖ The characters who know are Zebulon and Quirinus. ‖ "
    "- Zebulon\n- Quirinus ‖ **Zebulon**"
)
OTHER_CHOICES = each("(c) ‖ C ‖ Answer: d ‖ (e) ‖ Neither. ‖ None of the options is correct.")
OTHER_LETTERS = each("E ‖ [[E]] ‖ Answer: F ‖ The answer is G. ‖ 答案：E ‖ None of the above.")


class Counts(NamedTuple):
    """What came of a model's answers: how many were right, wrong and unreadable."""

    right: int = 0
    wrong: int = 0
    unreadable: int = 0


class Resources:
    """What questions may need besides their sample."""

    prompts = schema = None

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.samples = samples

    def derived(self, name: object, compute: Callable[[Sequence[Sample]], Any]) -> Any:
        return compute(self.samples)


def settings_of(suite: Any, **options: Any) -> Settings:
    defaults = {setting.name: setting.default for setting in suite.settings}
    return Settings(defaults | options, seed=3, max_tokens=suite.asking.max_tokens)


def read(suite: Any, samples: Sequence[Sample], answers: Sequence[str], **options: Any) -> list[Any]:
    """What the suite's answering step makes of an answer to each sample."""
    settings, resources = settings_of(suite, **options), Resources(samples)
    return [
        suite.parse(Question(sample, "answer", settings, resources), answer)
        for sample, answer in zip(samples, answers, strict=True)
    ]


def counted(parsed: Sequence[Any]) -> Counts:
    unreadable = sum(bool(each.unreadable) for each in parsed)
    right = sum(not each.unreadable and each.repaired_score == 1 for each in parsed)
    return Counts(right, len(parsed) - unreadable - right, unreadable)


def in_turn(texts: Sequence[str], count: int) -> list[str]:
    return [texts[at % len(texts)] for at in range(count)]


def rounded(value: Any, digits: int) -> Any:
    """The figures of a document, however deep they stand, without what floats differ in."""
    if isinstance(value, dict):
        return {key: rounded(inner, digits) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner, digits) for inner in value]
    return round(value, digits) if isinstance(value, float) else value
