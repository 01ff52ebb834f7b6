"""Answers with a thought in the text, in the marks of many models: what tests of every reader of answers share."""

from workers.providers.contract import Completion, Stop, Usage

FINAL = "<|start|>assistant<|channel|>final<|message|>"
MARKS = {
    "think": "<think>\n{thought}\n</think>\n\n{answer}",
    "thinking": "<thinking>{thought}</thinking>{answer}",
    "thought": "<thought>{thought}</thought>\n{answer}",
    "reasoning": "<Reasoning effort='low'>{thought}</Reasoning>{answer}",
    "brackets": "[THINK]{thought}[/THINK]{answer}",
    "triangles": "◁think▷{thought}◁/think▷{answer}",
    "harmony": f"<|channel|>analysis<|message|>{{thought}}<|end|>{FINAL}{{answer}}<|return|>",
    "closing only": "{thought}\n</think>\n\n{answer}",
    "two thoughts": "<think>{thought}</think>\n<think>{thought}</think>\n{answer}",
    "a draft between": "<think>hm</think>\n{thought}\n<think>wait</think>\n{answer}",
}
UNCLOSED = {
    "think": "<think>\n{thought}",
    "brackets": "[THINK]{thought}",
    "triangles": "◁think▷{thought}",
    "harmony": "<|channel|>analysis<|message|>{thought}",
    "second thought": "<think>hm</think>\n{thought}\n<think>or rather",
}


def completed(text: str, stop: Stop = Stop.END) -> Completion:
    """A completion whose model wrote this text."""
    return Completion(text, stop, Usage(), "tiny")


JSON_FORMS = {
    "plain": "{right}",
    "fence": "```json\n{right}\n```",
    "fence with a blank, and braces behind": "``` json\n{right}\n```\nand {{x}}",
    "fence in capitals, without line ends": "```JSON {right}```",
    "fence of tildes": "~~~\n{right}\n~~~",
    "prose with braces around": "I use {{this form}}: {right}\n\nI left out {{minor facts}}.",
    "repeated": "{right}{right}",
    "a draft before": "For instance {wrong} would be a draft.\n{right}",
    "a draft that was broken off before": "{cut}\nOnce more:\n{right}",
    "something else behind": '{right}\n{{"note": "done"}}',
    "broken off behind": "{right}\n{cut}",
}
"""Ways in which models write `right`, a JSON value; `wrong` is another one, `cut` its first half."""


def formed(form: str, right: str, wrong: str) -> str:
    """What a model writes in one of JSON_FORMS."""
    return JSON_FORMS[form].format(right=right, wrong=wrong, cut=wrong[: len(wrong) // 2])
