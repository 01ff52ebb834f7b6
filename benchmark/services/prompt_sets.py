"""Prompt sets of a team: loaded from files, never changed, discarded only while no run has used them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from annotation.domain.sample_corpus import sample_records
from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import LAUNCHED, Run, Stage, StoredPromptSet
from benchmark.suites.omnitom.prompting import BadPromptSet, PromptSet, built_in, examples_for, load_prompt_set
from benchmark.suites.omnitom.prompting.choosing import WITH_EXAMPLES
from benchmark.suites.omnitom.prompting.requests import REQUESTS
from benchmark.suites.omnitom.prompting.sets import NAMES
from benchmark.suites.omnitom.records import record_of
from workers.providers.contract import Request

LARGEST = 1024 * 1024
"""Bytes of all files of a set together."""


class PromptSetRefused(ValueError):
    """Says in one sentence why; `field` is what to change."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True)
class Listed:
    """A set that runs can use. `levels` by stage name; `runs` is how many of the project used it, `held` None for a built-in one."""

    prompts: PromptSet
    levels: dict[str, str]
    runs: int
    held: StoredPromptSet | None = None


def prompt_sets_of(project: Project) -> list[Listed]:
    used = Counter(Run.objects.filter(project=project).order_by().values_list("prompt_set", flat=True))
    found = [_listed(built_in(name), used[name]) for name in NAMES]
    for held in StoredPromptSet.objects.filter(project=project).select_related("created_by"):
        found.append(_listed(load_prompt_set(held.files, name=held.name), used[held.name], held))
    return found


def _listed(prompts: PromptSet, runs: int, held: StoredPromptSet | None = None) -> Listed:
    levels = {Stage(stage).label: ", ".join(map(str, prompts.levels(stage))) for stage in LAUNCHED}
    return Listed(prompts, levels, runs, held)


def names_of(project: Project) -> list[str]:
    return [*NAMES, *StoredPromptSet.objects.filter(project=project).values_list("name", flat=True)]


def add_prompt_set(*, by: User | None, project: Project, name: str, files: Mapping[str, bytes]) -> StoredPromptSet:
    """Raises PromptSetRefused for a name that is taken, and with the sentence of what is wrong with the files."""
    if name in NAMES:
        raise PromptSetRefused(f"{name} is the name of a built-in set.", "name")
    texts = {file: _text(file, raw) for file, raw in files.items()}
    try:
        load_prompt_set(texts, name=name)
    except BadPromptSet as error:
        raise PromptSetRefused(str(error), "files") from error
    try:
        with transaction.atomic():
            held = StoredPromptSet.objects.create(project=project, name=name, files=texts, created_by=by)
            audit.record(by=by, project=project, action="prompts.loaded", target=name, files=len(texts))
    except IntegrityError:
        raise PromptSetRefused(
            f"There is a set {name} already; another wording is another set, so that a run says what it used.", "name"
        ) from None
    return held


def _text(file: str, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PromptSetRefused(f"{file} is not UTF-8 (byte {error.start}).", "files") from error
    if "\x00" in text:
        raise PromptSetRefused(f"{file} holds a NUL byte, which no prompt needs.", "files")
    return text


@transaction.atomic
def discard_prompt_set(*, by: User | None, project: Project, name: str) -> bool:
    """False where a run used it, or it is not there."""
    Project.objects.select_for_update().get(pk=project.pk)
    if Run.objects.filter(project=project, prompt_set=name).exists():
        return False
    gone, _ = StoredPromptSet.objects.filter(project=project, name=name).delete()
    if gone:
        audit.record(by=by, project=project, action="prompts.discarded", target=name)
    return bool(gone)


def first_prompt(prompts: PromptSet) -> tuple[str, int]:
    """The (stage, level) that a page shows first: level 3 where there is one."""
    stage = next(stage for stage in LAUNCHED if prompts.levels(stage))
    levels = prompts.levels(stage)
    return stage, 3 if 3 in levels else levels[-1]


def filled(prompts: PromptSet, stage: str, level: int, form: str) -> Request:
    """The prompt with a story of the sample in it; its gold table stands in for predictions. Raises BadPromptSet."""
    records = [record_of(one) for one in sample_records()]
    record = records[0]
    shows_examples = level == WITH_EXAMPLES and prompts.has_place(stage, level, "examples", form)
    how = {
        "story": record.story,
        "category": record.category,
        "level": level,
        "form": form,
        "prompt_set": prompts,
        "examples": examples_for(record.category, stage, record.story, records, 1) if shows_examples else (),
    }
    if stage == Stage.LABEL:
        how["rows"] = record.rows
    if stage == Stage.JUDGE:
        how |= {"predictions": [row.as_told for row in record.rows], "gold": record.rows}
        how["with_story"] = prompts.has_place(stage, level, "story", form)
    return REQUESTS[stage](**how)
