"""What requests about runs carry: filters, bodies."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from rest_framework import serializers

from benchmark.models import Form
from benchmark.services.items import SORTS, STATE_NAMES
from benchmark.services.plans import MOST_REPETITIONS, MOST_SEED, MOST_STORIES, MOST_TOKENS
from benchmark.suites.story_scores import PARSES
from core.api.fields import Strict
from core.incoming.shapes import Counted, Given, Like, Within, may_lack
from workers.api.requests import Budget

_ANY = r"^[^\u0000]+$"
_SIGNED = [f"{sign}{sort}" for sort in SORTS for sign in ("", "-")]


def _text(help_text: str, **more: object) -> serializers.RegexField:
    return serializers.RegexField(_ANY, max_length=200, trim_whitespace=False, help_text=help_text, **more)


class RunItemFilter(Strict):
    """The filters of the page of items, by the names that models have in the run."""

    model = _text("Only items of this model.", required=False)
    step = _text("Only items of this step.", required=False)
    state = serializers.ChoiceField(list(STATE_NAMES), required=False)
    problem = _text("Only items whose answer is so: unusable, missing, used, answered, unanswered, …", required=False)
    category = _text("Only samples of this category.", required=False)
    split = _text("Only samples of this split.", required=False)
    sort = serializers.ChoiceField(_SIGNED, required=False, help_text="story without it.")
    full = serializers.ChoiceField(
        ["true"], required=False, help_text="With the prompt that was sent, and what the sample holds."
    )


class ParseFilter(Strict):
    reading = serializers.ChoiceField(PARSES, required=False, help_text="Only columns of this parse.")


class LeaderboardFilter(ParseFilter):
    """What the address of the leaderboard asks for."""

    version = serializers.IntegerField(
        min_value=1, max_value=99_999_999, required=False, help_text="The newest version with a run without it."
    )
    answer_format = serializers.ChoiceField(Form.choices, required=False)
    suite = _text("A suite of which runs are on the version; that of the newest run without it.", required=False)
    split = _text("A split, or run: and the uid of a run for the samples of that run.", required=False)
    runs = serializers.ChoiceField(
        ["all"], required=False, help_text="All runs of each model and settings, not only the newest."
    )
    prompts = _text("Only what was asked with these prompts.", required=False)
    judge = _text("Only what this judge judged.", required=False)
    show = serializers.ChoiceField(["model", "baseline", "person"], required=False, help_text="Only rows of this kind.")


class ComparisonFilter(ParseFilter):
    a = _text("Key of the first model, as leaderboards and runs have it.")
    b = _text("Key of the second one.")
    group = _text("Key of a metric group; the first that both have without it.", required=False)
    split = _text("As on the leaderboard.", required=False)
    reading = serializers.ChoiceField(PARSES, required=False, help_text="repaired without it, where there is one.")


Name = Annotated[str, Like(r"^[-a-zA-Z0-9_]{1,60}$", "the name of an endpoint")]
Names = Annotated[list[Name], Counted(1, 200)]
Part = Annotated[str, Like(r"^[^\u0000]*$", "a text of at most 200 characters, without NUL", max_length=200)]
Keys = Annotated[list[Annotated[str, Like(r"^[-a-z0-9_]{1,40}$", "a key, as of a step")]], Counted(1, 40)]
Limit = Annotated[int, Within(0, MOST_STORIES, pointed=True)]


class LaunchIn(Given):
    """A run to be launched; only dataset and endpoints are needed."""

    dataset: Annotated[int, Within(1, 99_999_999, pointed=True)] = Field(description="Number of the version.")
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
    repetitions: Annotated[int, Within(1, MOST_REPETITIONS, pointed=True)] = may_lack("Each is a call of its own.")
    temperature: float | None = may_lack("From 0 to 2; null takes the suite's.")
    budget: Budget = may_lack("A hard cap in US dollars, as a string.")
    batch: bool = may_lack("As a batch, at the provider's lower price.")
    title: Part = may_lack()
    options: dict[str, Any] = may_lack("Settings of the suite by name, as the dataset lists them.")
    methods: Keys = may_lack(
        "Methods of the suite, those of its setting `method`: everything is asked by each, as a run of its own."
    )
    controls: Keys = may_lack("Controls under which everything is asked once more, as runs beside.")


class EstimateIn(LaunchIn):
    """A launch to be estimated."""

    ledger: bool = Field(False, description="Also count the answers that the ledger has, which takes longer.")


class ImportIn(Given):
    """Answers that were made elsewhere, of one model."""

    dataset: Annotated[int, Within(1, 99_999_999, pointed=True)] = Field(description="Number of the version.")
    model: Part = Field(description="The model that answered.")
    answers: dict[str, Any] = Field(description="Texts by id, or texts by step by id.")
    suite: Name = may_lack("Where several suites ask about the version.")
    step: Part = may_lack("The step that is answered, where ids and texts do not say it.")
    repetitions: Annotated[int, Within(1, MOST_REPETITIONS, pointed=True)] = may_lack(
        "As many as there are without it."
    )
    split: Part = may_lack("Only samples of this split.")
    category: Part = may_lack("Only samples of this category.")
    limit: Limit = may_lack("Only the first so many samples; 0 takes all.")
    title: Part = may_lack()
    options: dict[str, Any] = may_lack(
        "Settings that answers are read by, and what ids are of, such as part or language."
    )


class ExtendIn(Given):
    """What is added to a run: models, samples, or both."""

    endpoints: Names = may_lack("Names of further models.")
    more: bool = may_lack("Whether samples are added, those that split, category and limit leave.")
    split: Part = may_lack()
    category: Part = may_lack()
    limit: Limit = may_lack()


class JudgeIn(Given):
    judge: Name = Field(description="Name of the model that judges.")
    budget: Budget = may_lack("A hard cap in US dollars, as a string.")
    batch: bool = may_lack()
    title: Part = may_lack()
    options: dict[str, Any] = may_lack("Settings of judging by name.")
