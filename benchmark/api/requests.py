"""Shapes of requests about runs: filters, bodies."""

from pydantic import Field
from rest_framework import serializers

from benchmark.models import AnswerFormat
from benchmark.services.items import SORTS, STATE_NAMES
from benchmark.services.launches import LaunchIn, Limit, Name, Part, Repetitions, Version
from benchmark.services.structure import QUESTIONS, STORIES
from benchmark.suites.questions import PARSES
from core.api.fields import Strict
from core.incoming.shapes import Given, may_lack
from core.plain import Json
from workers.api.shapes import ActionIn

_ANY = r"^[^\u0000]+$"
_SIGNED = [f"{sign}{sort}" for sort in SORTS for sign in ("", "-")]


def _text(help_text: str, **more: object) -> serializers.RegexField:
    return serializers.RegexField(_ANY, max_length=200, trim_whitespace=False, help_text=help_text, **more)


class RunItemFilter(Strict):
    """The filters of the page of items, by the names that models have in the run."""

    model = _text("Only items of this model.", required=False)
    step = _text("Only items of this step.", required=False)
    state = serializers.ChoiceField(list(STATE_NAMES), required=False)
    problem = _text("Only items whose answer is so: unreadable, missing, used, answered, unanswered, …", required=False)
    category = _text("Only samples of this category.", required=False)
    split = _text("Only samples of this split.", required=False)
    sort = serializers.ChoiceField(_SIGNED, required=False, help_text="story without it.")
    full = serializers.ChoiceField(
        ["true"], required=False, help_text="With the prompt that was sent, and what the sample holds."
    )


class DoubtfulGoldFilter(Strict):
    """Query of doubtful gold: the published version that it is about."""

    version = serializers.IntegerField(
        min_value=1,
        max_value=99_999_999,
        required=False,
        help_text="The newest version that models labelled without it.",
    )


class GoldKindsFilter(DoubtfulGoldFilter):
    """Query of the tables on how gold was made: the published version and the dimension that they are about."""

    dimension = _text("Key of a dimension; all of them without it.", required=False)


class ParseFilter(Strict):
    parse = serializers.ChoiceField(PARSES, required=False, help_text="Only columns of this parse.")


class StructureFilter(ParseFilter):
    """Query of structure against answers."""

    measure = _text(
        "The figure of the structure, a metric group and a metric of it with a dot between them; two figures with a "
        "comma between them are right where both are.",
        required=False,
    )
    cut = _text("From how many per cent on a structure is right; the median without it.", required=False)
    counted = serializers.ChoiceField(
        [QUESTIONS, STORIES], required=False, help_text="Each question, or whole stories."
    )
    answers = _text("The metric group of the answers.", required=False)
    structure = _text("uid of the run of structures; the newest of each model without it.", required=False)
    run = _text("uid of the run of answers; the newest of each model without it.", required=False)
    model = _text("One model; all of them without it.", required=False)


class SweepFilter(Strict):
    beside = _text("Key of a candidate to test against all others; else the chosen one, or the best.", required=False)


class LeaderboardFilter(ParseFilter):
    """Filters of the leaderboard."""

    version = serializers.IntegerField(
        min_value=1, max_value=99_999_999, required=False, help_text="The newest version with a run without it."
    )
    answer_format = serializers.ChoiceField(AnswerFormat.choices, required=False)
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
    parse = serializers.ChoiceField(PARSES, required=False, help_text="repaired without it, where there is one.")


class EstimateIn(LaunchIn):
    """A launch to be estimated."""

    ledger: bool = Field(False, description="Also count the answers that the ledger has, which takes longer.")


class ImportIn(Given):
    """Answers that were made elsewhere, of one model."""

    dataset: Version = Field(description="Number of the version.")
    model: Part = Field(description="The model that answered.")
    answers: Json = Field(description="Texts by id, or texts by step by id.")
    suite: Name = may_lack("Where several suites ask about the version.")
    step: Part = may_lack("The step that is answered, where ids and texts do not say it.")
    repetitions: Repetitions = may_lack("As many as there are without it.")
    split: Part = may_lack("Only samples of this split.")
    category: Part = may_lack("Only samples of this category.")
    limit: Limit = may_lack("Only the first so many samples; 0 takes all.")
    whole: bool = may_lack("Count the chosen samples without an answer as missing; else they are not part of the run.")
    title: Part = may_lack()
    options: Json = may_lack("Settings that answers are read by, and what ids are of, such as part or language.")


class RunActionIn(ActionIn):
    """Body of an action on a run."""

    launch: bool = Field(False, description="Do it to all runs that were launched together with this one.")
