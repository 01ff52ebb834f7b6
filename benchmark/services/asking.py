"""Questions of a run's items, as its suite is asked to put them."""

import dataclasses
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar, cast

from django.core.cache import cache
from django.db.models import QuerySet

from annotation.domain.schema import Schema
from annotation.models import Project
from benchmark.controls.chosen import controlled
from benchmark.domain.parameters import LONGEST_ANSWER, Options, Parameters
from benchmark.models import Dataset, DatasetSample, Run, StoredPromptSet
from benchmark.suites.lettered import OPTION_ORDER
from benchmark.suites.prompt_sets import BadPromptSet, PromptSet, PromptSets
from benchmark.suites.questions import Question, Sample
from benchmark.suites.registry import suite_named
from benchmark.suites.settings import COLUMN, OPTION, Settings
from core.kept import SECONDS, key_of
from core.messages import Sentence
from workers.models import Call, Endpoint
from workers.providers.contract import Request

T = TypeVar("T")
_READ_AT_ONCE = 500
DRAWS = 1000
"""Draws of the ledger that are reserved for a run that asks anew: more than it has repetitions."""
NO_ANSWERS: Mapping[str, str] = MappingProxyType({})


def prompt_set_named(sets: PromptSets[Any], name: str, project: Project) -> PromptSet:
    """A built-in set of a suite, or one of the project's own. Raises BadPromptSet."""
    if name in sets.names:
        return sets.built_in(name)
    stored = StoredPromptSet.objects.filter(project=project, name=name).first()
    if stored is None:
        project_names = StoredPromptSet.objects.filter(project=project).values_list("name", flat=True)
        raise BadPromptSet(
            Sentence(
                "There is no prompt set {name}; there are {sets}.",
                name=repr(name),
                sets=", ".join([*sets.names, *project_names]),
            )
        )
    return _loaded(sets.load, stored.pk)


@lru_cache(32)
def _loaded(load: Callable[[Mapping[str, str], str], PromptSet], pk: int) -> PromptSet:
    stored = StoredPromptSet.objects.get(pk=pk)
    return load(stored.files, stored.name)


def reads_prompts(endpoint: Endpoint | None) -> bool:
    """A baseline computes its answer from the tables; it sees no wording, no examples, and as a judge no story."""
    return endpoint is not None and endpoint.about.reads_prompts


def step_request(
    story: DatasetSample,
    step: str,
    run: Run,
    prompts: PromptSet | None,
    answers: Mapping[str, str] = NO_ANSWERS,
    repetition: int = 0,
) -> Request | str:
    """Return the request of a step about a sample, or the reason why there is none; `answers` are raw answers by
    step."""
    parameters = run.parameters  # which are read from JSON each time
    settings = _settings(run, parameters)
    resources = DatasetResources(run.dataset, prompts or prompts_of(run))
    sample = sample_asked(run, story, settings)
    request = suite_named(run.suite).request(Question(sample, step, settings, resources, answers, repetition))
    if isinstance(request, str):
        return request
    if parameters.temperature is not None:
        request = replace(request, temperature=parameters.temperature)
    request = replace(request, sample=repetition + DRAWS * parameters.anew)
    return request if request.seed is None else replace(request, seed=request.seed + repetition)


def question_of(
    run: Run,
    story: DatasetSample,
    step: str,
    answers: Mapping[str, str] = NO_ANSWERS,
    prompts: PromptSet | None = None,
    *,
    repetition: int = 0,
    call: Call | None = None,
) -> Question:
    """Return the question of a step about a sample; `call` is that of its answer where there is one already."""
    settings, resources = settings_of(run), DatasetResources(run.dataset, prompts or prompts_of(run))
    return Question(sample_answered(run, story, call, settings), step, settings, resources, answers, repetition)


def request_of(sample: DatasetSample, step: str, draft: Run, prompts: PromptSet | None) -> Request | str:
    """Return what would be asked; earlier answers, which nobody has yet, are those of a perfect model."""
    return step_request(sample, step, draft, prompts, answers_expected(draft, sample, step, prompts))


def answers_expected(draft: Run, sample: DatasetSample, step: str, prompts: PromptSet | None) -> dict[str, str]:
    """Return what a perfect model would have answered at the steps that this one needs."""
    suite = suite_named(draft.suite)
    answers: dict[str, str] = {}
    for needed in suite.needed(step, draft.steps):
        earlier = answers_expected(draft, sample, needed, prompts)
        answers[needed] = suite.expected(question_of(draft, sample, needed, earlier, prompts))
    return answers


def prompts_of(run: Run) -> PromptSet | None:
    """The prompt set of a run, None for a suite without prompt sets. Raises BadPromptSet."""
    sets = suite_named(run.suite).asking.prompting
    return prompt_set_named(sets, run.prompt_set, run.project) if sets else None


def settings_of(run: Run) -> Settings:
    """Return the settings that the run was launched with, for its suite."""
    return _settings(run, run.parameters)


def _settings(run: Run, parameters: Parameters) -> Settings:
    return Settings(
        options=_chosen(run, parameters),
        seed=parameters.seed,
        max_tokens=parameters.max_tokens or LONGEST_ANSWER,
        repetitions=parameters.repetitions,
        temperature=parameters.temperature,
        example_stories=parameters.example_stories or (),
        judge_reads_prompts=reads_prompts(run.judge),
        control=run.control,
        control_lists=parameters.control_lists,
    )


def passes_of(run: Run) -> Sequence[str]:
    """Return the steps at which the run's judge is asked once more about the same answers. Raises SuiteFailed."""
    judge = suite_named(run.suite).judge
    return judge.passes(settings_of(run)) if judge and run.judge_id else ()


def chosen_of(run: Run) -> Options:
    """All settings of its suite, wherever they are kept."""
    return _chosen(run, run.parameters)


def _chosen(run: Run, parameters: Parameters) -> Options:
    chosen: dict[str, Any] = {}
    for setting in suite_named(run.suite).settings:
        kept = parameters.options if setting.stored == OPTION else parameters.own
        chosen[setting.name] = (
            getattr(run, setting.name) if setting.stored == COLUMN else kept.get(setting.name, setting.default)
        )
    return chosen


def sample_asked(run: Run, story: DatasetSample, settings: Settings | None = None) -> Sample:
    """Return the sample as the run asks about it, changed by its control. Raises BadQuestion, SuiteFailed."""
    sample = sample_of(story)
    controls = suite_named(run.suite).controls
    return controlled(sample, controls, settings or settings_of(run)) if run.control else sample


def sample_answered(run: Run, story: DatasetSample, call: Call | None, settings: Settings | None = None) -> Sample:
    """Return the sample as it was asked about for this answer, with options in the order that an import recorded."""
    sample = sample_asked(run, story, settings)
    order = call.request.get(OPTION_ORDER) if call and run.imported else None
    if order is None:
        return sample
    controls = suite_named(run.suite).controls
    if controls and controls.reordered:
        return controls.reordered(sample, order)
    return replace(sample, content={**sample.content, OPTION_ORDER: order})


def sample_of(story: DatasetSample) -> Sample:
    """Return the sample as its dataset has it."""
    return Sample(
        story.key, story.cluster, story.content, story.gold, story.category, story.split, story.group, story.number
    )


def all_at_once(samples: QuerySet[DatasetSample]) -> Iterator[DatasetSample]:
    """Yield samples in the order of the dataset; equal texts, such as the story of many questions, share memory."""
    ids = list(samples.order_by("position").values_list("pk", flat=True))  # a database sorts whole rows in memory
    rows = DatasetSample.objects.defer("votes", "methods", "adjudications")
    for at in range(0, len(ids), _READ_AT_ONCE):
        by_id = rows.in_bulk(ids[at : at + _READ_AT_ONCE])
        for row in (by_id[pk] for pk in ids[at : at + _READ_AT_ONCE] if pk in by_id):
            row.content, row.gold, row.cluster = _once(row.content), _once(row.gold), sys.intern(row.cluster)
            yield row


def _once(value: Any) -> Any:
    """Return what was read from JSON with each of its texts held once among all that is held."""
    if isinstance(value, str):
        return sys.intern(value)
    if isinstance(value, list):
        return [_once(entry) for entry in value]
    if isinstance(value, dict):
        return {sys.intern(name): _once(entry) for name, entry in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class DatasetResources:
    """`contract.Resources` of a dataset, with the prompt set of a run where there is one. `preloaded` are all samples
    of the dataset, in its order, where the caller has them at hand."""

    dataset: Dataset
    prompts: PromptSet | None = None
    preloaded: Sequence[Sample] | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def schema(self) -> Schema:
        return self.dataset.schema

    def derived(self, name: Hashable, compute: Callable[[Sequence[Sample]], T]) -> T:
        """Return what is derived from all samples, kept in this process and, if it is small, for other processes:
        reading all samples takes far longer."""
        key = (self.dataset.pk, self.dataset.digest, name)  # another database's dataset may have the same id
        if key in _kept:
            return cast(T, _kept[key])
        shared = key_of("derived", list(key)) if isinstance(name, str) else ""
        written: bytes | None = cache.get(shared) if shared else None
        if written is not None:
            derived = cast(T, pickle.loads(written))
        else:
            rows = DatasetSample.objects.filter(dataset=self.dataset)
            derived = compute(
                [sample_of(row) for row in all_at_once(rows)] if self.preloaded is None else self.preloaded
            )
            small = isinstance(derived, Sized) and len(derived) <= _FEW
            if shared and small and len(written := pickle.dumps(derived)) <= _SMALL:
                cache.set(shared, written, SECONDS)
        _kept[key] = derived
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
        return derived


_FEW, _SMALL = 1_000, 100_000
"""Entries, and bytes, up to which something derived is kept for other processes."""
_kept: OrderedDict[Hashable, Any] = OrderedDict()
_MOST_KEPT = 32
