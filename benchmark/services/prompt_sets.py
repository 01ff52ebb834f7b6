"""Prompt sets of a team: loaded from files, never changed, discarded only while no run has used them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Project, User
from annotation.services import audit
from benchmark.models import Run, StoredPromptSet
from benchmark.suites.contract import Suite
from benchmark.suites.prompt_sets import BadPromptSet, PromptSets
from core.messages import Refusal
from core.plain import Json

LARGEST = 1024 * 1024
"""Bytes of all files of a set together."""


class PromptSetRefused(Refusal):
    """A prompt set that is refused."""


def prompting_of(suite: Suite) -> PromptSets[Any]:
    """Return how a suite asks. Raises PromptSetRefused for a suite whose runs choose no prompt set."""
    if suite.asking.prompting is None:
        raise PromptSetRefused("{suite} has no prompt sets.", "name", suite=suite.title)
    return suite.asking.prompting


def prompt_sets_of(project: Project, suite: Suite) -> list[Json]:
    """Return {prompts, levels, runs, stored} of the built-in sets of a suite and of those of the project: levels by the
    label of a step, the number of the project's runs that used it, and the row of a set of its own."""
    sets = prompting_of(suite)
    used = Counter(Run.objects.originals().filter(project=project).order_by().values_list("prompt_set", flat=True))
    own = StoredPromptSet.objects.filter(project=project).select_related("created_by")
    loaded: list[tuple[Any, str, Any]] = [(sets.built_in(name), name, None) for name in sets.names]
    loaded += [(sets.load(stored.files, stored.name), stored.name, stored) for stored in own]
    return [
        {
            "prompts": prompts,
            "levels": {step.label: ", ".join(map(str, prompts.levels(step.key))) for step in suite.launched},
            "runs": used[name],
            "stored": stored,
        }
        for prompts, name, stored in loaded
    ]


def names_of(project: Project, suite: Suite) -> list[str]:
    """The prompt sets that a run of the suite can choose; none where it chooses none."""
    if suite.asking.prompting is None:
        return []
    return [
        *suite.asking.prompting.names,
        *StoredPromptSet.objects.filter(project=project).values_list("name", flat=True),
    ]


def add_prompt_set(
    *, by: User | None, project: Project, suite: Suite, name: str, files: Mapping[str, bytes]
) -> StoredPromptSet:
    """Add a prompt set. Raises PromptSetRefused for a name that is taken, and with the sentence of what is wrong with
    the files."""
    sets = prompting_of(suite)
    if name in sets.names:
        raise PromptSetRefused("{name} is the name of a built-in set.", "name", name=name)
    texts = {}
    for file, raw in files.items():
        try:
            texts[file] = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            text = "{file} is not UTF-8 (byte {start})."
            raise PromptSetRefused(text, "files", file=file, start=error.start) from error
        if "\x00" in texts[file]:
            raise PromptSetRefused("{file} holds a NUL byte, which no prompt needs.", "files", file=file)
    try:
        sets.load(texts, name)
    except BadPromptSet as error:
        raise PromptSetRefused(str(error), "files") from error
    try:
        with transaction.atomic():
            stored = StoredPromptSet.objects.create(project=project, name=name, files=texts, created_by=by)
            audit.record(by=by, project=project, action="prompts.loaded", target=name, files=len(texts))
    except IntegrityError:
        text = "There is a set {name} already; another wording is another set, so that a run says what it used."
        raise PromptSetRefused(text, "name", name=name) from None
    return stored


@transaction.atomic
def discard_prompt_set(*, by: User | None, project: Project, name: str) -> bool:
    """Delete a prompt set of the project. Returns False where a run used it, or where there is none of that name."""
    Project.objects.select_for_update().get(pk=project.pk)
    if Run.objects.filter(project=project, prompt_set=name).exists():
        return False
    gone, _ = StoredPromptSet.objects.filter(project=project, name=name).delete()
    if gone:
        audit.record(by=by, project=project, action="prompts.discarded", target=name)
    return bool(gone)
