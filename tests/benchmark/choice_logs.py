"""Real logs of inspect_ai, of its own mock model, over questions with options in our own words."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

PLACES = ("drawer", "box", "bag", "vase", "cupboard", "basket", "pocket", "jar", "shelf", "hat", "boot", "sink")
PEOPLE = ("Ines", "Tomas", "Mara", "Jonas", "Lena", "Pavel")


def question(at: int, **changed: object) -> dict[str, object]:
    """A line of a ToMBench file in our own words. Every third question has two options."""
    first, second = PEOPLE[at % 6], PEOPLE[(at + 1) % 6]
    places = [PLACES[(at + step) % 12] for step in range(4)]
    story = f"{first} puts the key in the {places[0]}. Then {first} leaves, and {second} moves it to the {places[1]}."
    chinese = f"{first}把钥匙放在第{at}个地方，然后离开了。{second}把钥匙挪到别处。"
    letters = "AB" if at % 3 == 2 else "ABCD"
    row = {
        "能力\nABILITY": "Belief: Location false beliefs Belief: Second-order beliefs, a label longer than a question",
        "序号\nINDEX": at,
        "故事": chinese,
        "问题": f"{first}会去哪里找？",
        "STORY": story,
        "QUESTION": f"Where does {first} look for the key?",
        "答案\nANSWER": letters[(at + 1) % len(letters)],
    }
    for prefix, texts in (("OPTION-", [f"In the {place}." for place in places]), ("选项", list("甲乙丙丁"))):
        row |= {f"{prefix}{letter}": texts["ABCD".index(letter)] if letter in letters else None for letter in "ABCD"}
    return row | changed


def options_of(row: Mapping[str, Any]) -> list[str]:
    return [row[f"OPTION-{letter}"] for letter in "ABCD" if row[f"OPTION-{letter}"]]


def right_of(row: Mapping[str, Any]) -> str:
    return row["OPTION-" + row["答案\nANSWER"]]


Answers = Callable[[str, int], str]
"""The text that a model says of a prompt, the number of the call from 0."""


def log_of(
    folder: Path,
    samples: Sequence[Any],
    solver: Any,
    answer: Answers,
    *,
    scorer: Any = None,
    shuffled: int | None = None,
    **how: Any,
) -> Path:
    """Return the path of a log. `how` goes to `inspect_ai.eval`."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai")
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    calls = iter(range(10_000))

    def output(messages: Sequence[Any], *rest: Any) -> Any:
        said = ModelOutput.from_content("mockllm/model", answer(messages[-1].text, next(calls)))
        said.usage = ModelUsage(input_tokens=5, output_tokens=1, total_tokens=6)
        return said

    dataset = MemoryDataset(list(samples))
    if shuffled is not None:
        dataset.shuffle_choices(seed=shuffled)
    task = inspect_ai.Task(dataset=dataset, solver=solver, scorer=scorer, name="choices")
    model = get_model("mockllm/model", custom_outputs=output)
    inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", max_samples=1, **how)
    return next(path for path in folder.iterdir() if path.suffix in (".eval", ".json"))


def accuracy_of(path: Path) -> float:
    """Return the accuracy that the log reports."""
    from inspect_ai.log import read_eval_log

    (score,) = read_eval_log(str(path)).results.scores
    return score.metrics["accuracy"].value
