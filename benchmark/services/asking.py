"""From a place in a run to the request for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from annotation.domain.schema import SCHEMAS
from annotation.models import Project
from benchmark.models import DatasetStory, Form, Run, RunItem, Stage, StoredPromptSet
from benchmark.services.in_context import examples_of, level_of, reads_prompts, wanted
from benchmark.suites.omnitom.pipe_tables import extraction_rows
from benchmark.suites.omnitom.prompting import (
    BadPromptSet,
    PromptSet,
    built_in,
    extraction_request,
    judging_request,
    labelling_request,
    load_prompt_set,
)
from benchmark.suites.omnitom.prompting.follow_up import Gaps, follow_up_request
from benchmark.suites.omnitom.prompting.rendering import plain
from benchmark.suites.omnitom.prompting.sets import NAMES
from benchmark.suites.omnitom.readings.extraction import read_extraction
from benchmark.suites.omnitom.records import GoldRow, record_of
from benchmark.suites.omnitom.repaired import judged_counts
from workers.providers.contract import Request

if TYPE_CHECKING:
    from benchmark.services.plans import Plan


def prompt_set_named(name: str, project: Project) -> PromptSet:
    """A built-in set, or the project's own. Raises BadPromptSet."""
    if name in NAMES:
        return built_in(name)
    held = StoredPromptSet.objects.filter(project=project, name=name).first()
    if held is None:
        own = StoredPromptSet.objects.filter(project=project).values_list("name", flat=True)
        raise BadPromptSet(f"There is no prompt set {name!r}; there are {', '.join([*NAMES, *own])}.")
    return _loaded(held.pk)


@lru_cache(32)
def _loaded(pk: int) -> PromptSet:
    held = StoredPromptSet.objects.get(pk=pk)
    return load_prompt_set(held.files, name=held.name)


def prompt_hashes(plan: Plan) -> dict[str, str]:
    """SHA-256 of the wording by stage; none of judging where the judge reads no prompt.

    Raises BadPromptSet where a request could not be made: no prompt of the level, no place for what it is to show.
    """
    prompts = prompt_set_named(plan.prompt_set, plan.dataset.project)
    hashes = {}
    for stage in plan.stages:
        if stage == Stage.JUDGE and not reads_prompts(plan.judge):
            continue
        level = level_of(stage, plan.level, plan.judge_level)
        hashes[stage] = prompts.content_hash(stage, level)
        _check_places(plan, prompts, stage, level)
    return hashes


def _check_places(plan: Plan, prompts: PromptSet, stage: str, level: int) -> None:
    counts = {name: getattr(plan, name) for name in ("level", "judge_level", "shots", "examples")}
    if wanted(stage, **counts) and not prompts.has_place(stage, level, "examples", plan.form):
        raise BadPromptSet(f"{prompts.name} has no place for examples in {stage}-level{level}; choose 0 examples.")
    if stage == Stage.JUDGE and plan.with_story and not prompts.has_place(stage, level, "story", plan.form):
        raise BadPromptSet(
            f"{prompts.name} has no place for the story in {stage}-level{level}; let the judge go without the story."
        )


def request_for(place: RunItem, extraction: str = "") -> Request:
    """What a place asks. `place.story` and `place.entrant.run.dataset` are loaded; `extraction` is the raw answer to be judged."""
    run = place.entrant.run
    prompts = prompt_set_named(run.prompt_set, run.project)
    return stage_request(place.story, place.stage, run, prompts, extraction)


def stage_request(story: DatasetStory, stage: str, run: Run, prompts: PromptSet, extraction: str = "") -> Request:
    record = record_of(story.record)
    if stage == Stage.JUDGE:
        return judge_request(story, run, prompts, predicted_rows(extraction, run.form), record.rows)
    how = _how(story, stage, run, prompts)
    if stage == Stage.EXTRACT:
        return extraction_request(**how)
    return labelling_request(rows=record.rows, counts=_counts(run.dataset_id, run.dataset.digest), **how)


def judge_request(
    story: DatasetStory, run: Run, prompts: PromptSet, predictions: Sequence[Sequence[str]], gold: Sequence[GoldRow]
) -> Request:
    """What the run's judge is asked about predicted rows (actor, belief) and gold rows of a story."""
    how, with_story = _how(story, Stage.JUDGE, run, prompts), run.params["with_story"]
    if not reads_prompts(run.judge):  # it goes by the data alone, whatever the set has prompts for
        how, with_story = how | {"prompt_set": built_in()}, False
    return judging_request(predictions=predictions, gold=gold, with_story=with_story, **how)


def _how(story: DatasetStory, stage: str, run: Run, prompts: PromptSet) -> dict[str, Any]:
    held = run.params
    return {
        "story": story.text,
        "category": story.category,
        "level": level_of(stage, run.level, held["judge_level"]),
        "form": run.form,
        "schema": SCHEMAS[run.dataset.schema_version],
        "prompt_set": prompts,
        "examples": examples_of(story, stage, run),
        "max_tokens": held["max_tokens"],
        "seed": held["seed"],
    }


def follow_up_of(place: RunItem, extraction: str, judgement: str) -> Request | None:
    """The question for the rows that the judgement of the place's story leaves out, None where it leaves out none."""
    run, record = place.entrant.run, record_of(place.story.record)
    structured = run.form == Form.STRUCTURED
    predicted = read_extraction(extraction, structured=structured)
    counts = judged_counts({"judge": judgement}, predicted, record.shown, structured=structured)
    missing = tuple([at for at, count in enumerate(side) if count is None] for side in counts)
    if not any(missing):
        return None
    prompts = prompt_set_named(run.prompt_set, run.project)
    first = stage_request(place.story, Stage.JUDGE, run, prompts, extraction)
    gaps = Gaps([(row.actor, row.belief) for row in predicted], plain(record.rows), missing)
    return follow_up_request(first, judgement, gaps, form=run.form)


def predicted_rows(extraction: str, form: str) -> list[tuple[str, str]]:
    """What the judge is shown of an extraction: the rows of official parsing, of structured output those of its own reading."""
    structured = form == Form.STRUCTURED
    rows = read_extraction(extraction, structured=True) if structured else extraction_rows(extraction)
    return [(row.actor, row.belief) for row in rows]


@lru_cache(8)
def _counts(dataset: int, digest: str) -> Mapping[str, Mapping[str, int]]:
    """How often each label stands in the dataset's gold: what the majority baseline goes by. By digest, as another database's
    dataset may have the same id."""
    counts: dict[str, Counter[str]] = {}
    for beliefs in DatasetStory.objects.filter(dataset=dataset).values_list("beliefs", flat=True):
        for belief in beliefs:
            for key, label in belief["labels"].items():
                counts.setdefault(key, Counter())[label] += 1
    return {key: dict(found) for key, found in counts.items()}
