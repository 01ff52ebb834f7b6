"""Launches as the API's body, the page's form and `run_benchmark` read them: one shape, whose bounds and sentences all
three have."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from benchmark.services.plans import MOST_REPETITIONS, MOST_SEED, MOST_STORIES, MOST_TITLE, MOST_TOKENS
from core.incoming.shapes import Counted, Given, Like, Within, may_lack
from core.plain import Json
from workers.domain.pricing import Dollars

BUDGET = "A hard cap in US dollars, as a string."
Name = Annotated[str, Like(r"^[-a-zA-Z0-9_]{1,60}$", "the name of an endpoint")]
Names = Annotated[list[Name], Counted(1, 200)]
Part = Annotated[
    str, Like(r"^[^\u0000]*$", f"a text of at most {MOST_TITLE} characters, without NUL", max_length=MOST_TITLE)
]
Keys = Annotated[list[Annotated[str, Like(r"^[-a-z0-9_]{1,40}$", "a key, as of a step")]], Counted(1, 40)]
Levels = Annotated[list[Annotated[int, Within(1, 9, pointed=True)]], Counted(1, 9)]
Limit = Annotated[int, Within(0, MOST_STORIES, pointed=True)]
Version = Annotated[int, Within(1, 99_999_999, pointed=True)]
Repetitions = Annotated[int, Within(1, MOST_REPETITIONS, pointed=True)]


class Launch(Given):
    """A run to be launched; what it leaves out is as the suite and the project have it."""

    dataset: Version = may_lack("Number of the version.")
    endpoints: Names = Field(description="Names of the models that are asked.")
    suite: Annotated[str, Like(r"^[-a-z0-9_]{1,40}$", "the name of a suite")] = may_lack(
        "One that asks about the version (`suites` of the version); the first of them without it."
    )
    steps: Keys = may_lack("All that can be launched; a method of the suite may say them itself.")
    judge: Name = may_lack()
    split: Part = may_lack("Only samples of this split.")
    category: Part = may_lack("Only samples of this category.")
    limit: Limit = may_lack("Only the first so many samples; 0 takes all.")
    max_tokens: Annotated[int, Within(1, MOST_TOKENS, pointed=True)] = may_lack("Of an answer.")
    seed: Annotated[int, Within(0, MOST_SEED, pointed=True)] = may_lack()
    repetitions: Repetitions = may_lack("Each is a call of its own.")
    temperature: float | None = may_lack("From 0 to 2; null takes the suite's.")
    budget: Dollars = may_lack(BUDGET)
    batch: bool = may_lack("As a batch, at the provider's lower price.")
    title: Part = may_lack()
    options: Json = may_lack("Settings of the suite by name, as the dataset lists them.")
    methods: Keys = may_lack(
        "Methods of the suite, those of its setting `method`: everything is asked by each, as a run of its own."
    )
    levels: Levels = may_lack("Prompt levels: everything is asked at each, as a run of its own.")
    judges: Names = may_lack("Names of further models that judge the answers of the last level, a run each.")
    judge_levels: Levels = may_lack("Levels of the judge's prompt: each judge judges them at each, a run each.")
    controls: Keys = may_lack("Controls under which everything is asked once more, as runs beside.")


class LaunchIn(Launch):
    """A run to be launched; only dataset and endpoints are needed."""

    dataset: Version = Field(description="Number of the version.")


class JudgeIn(Given):
    """Answers of a run to be judged anew."""

    judge: Name = Field(description="Name of the model that judges.")
    judges: Names = may_lack("Names of further models that judge the same answers, a run each.")
    judge_levels: Levels = may_lack("Levels of the judge's prompt: each judge judges at each, as a run of its own.")
    budget: Dollars = may_lack(BUDGET)
    batch: bool = may_lack()
    title: Part = may_lack()
    options: Json = may_lack("Settings of judging by name.")


class ExtendIn(Given):
    """Additions to a run: models, samples, or both."""

    endpoints: Names = may_lack("Names of further models.")
    more: bool = may_lack("Whether samples are added, those that split, category and limit leave.")
    split: Part = may_lack()
    category: Part = may_lack()
    limit: Limit = may_lack()
