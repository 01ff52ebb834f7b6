"""Models that refuse, answer with what is none of the answers, or are right in many words, as texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.suites.questions import Question, Sample
from benchmark.suites.settings import Settings

REFUSALS = (
    "I can't help with that.",
    "I'm sorry, but I can't assist with that request.",
    "I’m sorry, but I can’t help with that.",
    "I cannot answer this question.",
    "As an AI language model, I cannot make judgments about what people believe.",
    "I'm unable to provide an answer to that.",
    "I apologize, but I am not able to fulfill this request. Is there something else that I can help you with?",
    "Sorry, I can't do that.",
    "I must respectfully decline to answer.",
    "I refuse to answer.",
    "I won't answer that question.",
    "I'd rather not answer.",
    "I don't feel comfortable discussing this topic.",
    "It's against my guidelines to answer this.",
    "This request may violate our usage policies.",
    "No. I will not help with this.",
    "Unfortunately, that's not something I can help with. If you have any other questions, feel free to ask!",
    "I am just an AI assistant and I do not have personal opinions or beliefs.",
    "No comment.",
    "I am not allowed to respond to this. Please consult a professional.",
)
CHINESE_REFUSALS = (
    "抱歉，我无法回答这个问题。",
    "对不起，我不能协助您完成这个请求。",
    "我拒绝回答。",
    "作为一个人工智能语言模型，我没有个人观点，无法提供答案。",
    "很抱歉，我无法提供这方面的帮助。如果您有其他问题，欢迎随时告诉我。",
    "这个问题我不便回答，让我们换个话题吧。",
    "无可奉告。",
    "该请求违反了相关政策，恕我无法作答。",
)
ABSTENTIONS = ("I don't know.", "I'm not sure.", "I can't tell.", "No idea.", "我不知道。")
SILENCE = ("", " \n", "???", "...", "N/A", "no output", "The answer is", "Let me think about this step by step:")


@dataclass(frozen=True)
class Counts:
    """What came of a model's answers: how many were right, wrong and unreadable."""

    right: int = 0
    wrong: int = 0
    unreadable: int = 0


class Resources:
    prompts = schema = None

    def __init__(self, samples: Sequence[Sample]):
        self.samples = samples

    def derived(self, name: object, compute: Callable[[Sequence[Sample]], Any]) -> Any:
        return compute(self.samples)


def read(suite: Any, samples: Sequence[Sample], answers: Sequence[str], **options: Any) -> list[Any]:
    """What the suite's answering step makes of an answer to each sample."""
    defaults = {setting.name: setting.default for setting in suite.settings}
    settings = Settings(defaults | options, max_tokens=suite.asking.max_tokens)
    resources = Resources(samples)
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


PLACES = (
    "{0}", "**{0}**", "The {0}.", "In the {0}.", "The answer is: in the {0}.", "It is in the {0}.", "Answer: {0}",
    "{0}\n\nNobody moved it.", "“{0}”", "Inside the {0}", "{1} thinks that it is in the {0}, not in the {2}.",
    "{1} will look in the {0} because nobody told them that it was moved.", "the {0}, since {1} left it there.",
    "{1} will look for it in the {0} because they did not see that it was moved to the {2}.",
)  # fmt: skip
"""Right answers to where something is: the place, a person, another place."""
WORDS = (
    "{0}", "**{0}**", "{0}.", "The answer is: {0}.", "Answer: {0}", "“{0}”", "It is {0}.",
    "{0}, because nobody moved it.",
    "{0}\n\nExplanation: the thing was left where it was.",
)  # fmt: skip
LISTS = (
    "{0}", "[{0}]", "The characters who know are {0}.", "The characters who know are: {0}", "**{0}**", "{0}.",
    "Only {0} know the answer.", "{0}\n\nThe others had left.",
)  # fmt: skip
CHOICES = (
    "({0})", "{0}", "**({0})**", "The answer is ({0}).", "Answer: {0}", "({0}) {1}", "{0}. {1}",
    "({0}), because of that.",
)  # fmt: skip
LETTERS = (
    "[[{0}]]", "{0}", "{0}. {1}", "**{0}**", "Answer: {0}", "The answer is {0} because it fits.", "答案：{0}", "{1}",
    "({0})",
    "Option {0} is correct.",
)  # fmt: skip
OTHER_PLACES = (
    "In the aquarium.", "aquarium", "The answer is: in the aquarium.",
    "They will look in the aquarium because it is wet.",
    "**Aquarium**", "the rusty spaceship",
)  # fmt: skip
OTHER_WORDS = ("Maybe.", "**Purple**", "The aquarium", "It cannot be determined from the story.", "unknown", "42")
OTHER_PEOPLE = (
    "Zebulon", "[Zebulon, Quirinus]", "Zebulon and Quirinus", "The characters who know are Zebulon and Quirinus.",
    "- Zebulon\n- Quirinus", "**Zebulon**",
)  # fmt: skip
OTHER_CHOICES = ("(c)", "C", "Answer: d", "(e)", "Neither.", "None of the options is correct.")
OTHER_LETTERS = ("E", "[[E]]", "Answer: F", "The answer is G.", "答案：E", "None of the above.")
