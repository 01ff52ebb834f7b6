"""What a run is to be, and why it cannot be launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from benchmark.domain.omnitom.prompting import BadPromptSet
from benchmark.models import Dataset, DatasetStory, Form, Run, Stage
from benchmark.services.asking import prompt_hashes
from workers.backends.baseline import MODELS as BASELINES
from workers.models import Endpoint


class RunRefused(ValueError):
    """Says in one sentence why it cannot be launched; `field` of the plan is what to change."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is to be. `examples` and `shots` are in-context examples of extraction and labelling (level 4), and of the judge;
    `limit` 0 takes every story; `max_tokens` of an answer; `budget` in US dollars, None for no cap."""

    dataset: Dataset
    endpoints: Sequence[Endpoint]
    stages: Sequence[str]
    judge: Endpoint | None = None
    level: int = 3
    form: str = Form.TEXT
    prompt_set: str = "omnitom-1"
    judge_level: int = 4
    shots: int = 3
    examples: int = 1
    with_story: bool = True
    split: str = ""
    category: str = ""
    limit: int = 0
    max_tokens: int = 6000
    seed: int = 1
    budget: Decimal | None = None
    batch: bool = False
    source: Run | None = None
    title: str = ""
    chosen: Mapping[str, list[str]] = field(default_factory=dict)


def stages_of(endpoint: Endpoint) -> tuple[str, ...]:
    """What an endpoint can be asked for: a baseline does one thing, a model everything."""
    if endpoint.provider == "baseline":
        return (BASELINES.get(endpoint.model, ""),)
    return tuple(Stage.values)


def check(plan: Plan) -> list[DatasetStory]:
    """The stories that the plan takes. Raises RunRefused with one sentence."""
    unknown = [stage for stage in plan.stages if stage not in Stage.values]
    if unknown or not plan.stages:
        raise RunRefused(
            f"The stages are {', '.join(plan.stages) or 'none'}; expected some of extract, judge and label.", "stages"
        )
    if Stage.JUDGE in plan.stages and Stage.EXTRACT not in plan.stages and plan.source is None:
        raise RunRefused(
            "Judging needs extractions: choose extraction too, or a run whose extractions are judged anew.", "stages"
        )
    if plan.source is not None:
        _check_source(plan, plan.source)
    if Stage.JUDGE in plan.stages and plan.judge is None:
        raise RunRefused("Judging needs a judge: choose an endpoint, for instance the lexical judge.", "judge")
    if plan.judge and Stage.JUDGE not in stages_of(plan.judge):
        raise RunRefused(f"{plan.judge.name} is a baseline that cannot judge.", "judge")
    if not plan.endpoints:
        raise RunRefused("No model was chosen.", "endpoints")
    if not 0 <= plan.shots <= 3:
        raise RunRefused(f"The judge can have 0 to 3 examples, not {plan.shots}.", "shots")
    for endpoint in plan.endpoints:
        if not own_stages(plan, endpoint):
            raise RunRefused(_nothing_for(plan, endpoint), "endpoints")
    if plan.form == Form.STRUCTURED:
        check_structured(plan)
    try:
        prompt_hashes(plan)
    except BadPromptSet as error:
        raise RunRefused(str(error), "prompt_set") from error
    stories = list(plan.dataset.stories.selected(split=plan.split, category=plan.category, limit=plan.limit))
    if not stories:
        raise RunRefused("The choice of split and category leaves no story of this dataset.", "split")
    return stories


def _nothing_for(plan: Plan, endpoint: Endpoint) -> str:
    if endpoint.provider != "baseline":
        return f"{plan.source} has no extraction of {endpoint.name} to be judged."
    able = stages_of(endpoint)[0]
    return f"{endpoint.name} is a baseline that can only {able}; none of the chosen stages is for it."


def _check_source(plan: Plan, source: Run) -> None:
    if Stage.EXTRACT in plan.stages:
        raise RunRefused(
            "A run that judges another's extractions makes none of its own; leave extraction out.", "stages"
        )
    if source.dataset_id != plan.dataset.pk:
        raise RunRefused(
            f"The extractions of {source.title} are about version {source.dataset.version} of the dataset, "
            f"not version {plan.dataset.version}.",
            "source",
        )
    if source.form != plan.form:
        told = Form(source.form).label.lower()
        raise RunRefused(f"The extractions of {source.title} are {told}, and are judged as such.", "form")


def check_structured(plan: Plan) -> None:
    """Raises RunRefused where an endpoint of the plan cannot hold its answers to a schema."""
    asked = [*plan.endpoints, *([plan.judge] if plan.judge else [])]
    unable = [one.name for one in asked if not one.json_schema and one.provider not in ("baseline", "scripted")]
    if unable:
        raise RunRefused(f"{', '.join(unable)} cannot hold its answers to a schema; choose free text.", "form")


def own_stages(plan: Plan, endpoint: Endpoint) -> list[str]:
    """The stages of which the endpoint gets places at the launch."""
    able = stages_of(endpoint)
    own = [stage for stage in plan.stages if stage != Stage.JUDGE and stage in able]
    judged_anew = plan.source is not None and plan.source.entrants.filter(endpoint=endpoint).exists()
    return own or ([Stage.JUDGE] if judged_anew and Stage.JUDGE in plan.stages else [])
