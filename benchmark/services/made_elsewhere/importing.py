"""Keeping answers that were made elsewhere as a run: first what would become of each, then all of it or nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from annotation.models import User
from annotation.services import audit
from benchmark.models import DatasetSample, Entrant, Run, RunItem
from benchmark.services.asking import prompts_of
from benchmark.services.made_elsewhere.matching import Index, Known, Matched, Place, match
from benchmark.services.made_elsewhere.reading import digest_of, read_made
from benchmark.services.made_elsewhere.records import BadFile, Made, Record
from benchmark.services.plan_checks import samples_of_import
from benchmark.services.plans import Plan, RunRefused
from benchmark.services.provenance import versions
from benchmark.services.question_sizes import request_of
from benchmark.services.runs import PURPOSE, add_work
from benchmark.services.stored_plans import draft_of
from benchmark.suites.contract import BadQuestion
from benchmark.suites.guarding import SuiteFailed
from benchmark.suites.reasons import NOT_IN_FILE
from core.bulk import insert_rows
from core.texts import storable
from workers.models import Endpoint, Job
from workers.providers.imported import IMPORTED
from workers.services.imported_calls import ImportedAnswer, take_in

_PARTS = 2
"""So many of the longest texts of a sample say together which it is: a story and its question."""
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Preview:
    """What an import would make of a file: `matched` is what becomes of its answers, `missing` are the keys of samples that it does not answer at all
    their repetitions, with how many answers they lack."""

    plan: Plan
    model: str
    file: str
    digest: str
    made: Made
    step: str
    stories: Sequence[DatasetSample]
    matched: Matched
    missing: Mapping[str, int]

    @property
    def told(self) -> dict[str, Any]:
        """Return it as commands print it and pages show it."""
        return {
            "file": self.file,
            "digest": self.digest,
            "model": self.model,
            **self.made.making,
            "step": self.step,
            "repetitions": self.plan.repetitions,
            "samples": len(self.stories),
            "records": len(self.made.records),
            "answers": len(self.matched.answers),
            "missing_answers": sum(self.missing.values()),
            "missing": list(self.missing),
            "unmatched": [{"where": where, "why": why} for where, why in self.matched.unmatched],
            "double": [{"where": where, "why": why} for where, why in self.matched.double],
        }


def preview_of(path: Path, plan: Plan, *, name: str, model: str = "", format: str = "", step: str = "") -> Preview:
    """Return what the import of a file would make; `plan` says of which samples, in which settings and how often. `name` is what the file is called,
    `model` the model where the file does not name it. Nothing is written. Raises BadFile, RunRefused."""
    made = read_made(path, name, format)
    if not (model or made.model):
        raise RunRefused("The file does not say which model answered; name the model.", "model")
    stories = samples_of_import(plan)
    steps = _steps(plan)
    step = step or steps[-1]
    if step not in steps:
        raise RunRefused(f"There is no step {step!r} to import answers of; expected {' or '.join(steps)}.", "step")
    known = _known(plan, stories, made.records, step)
    matched = match(made.records, known, step=step, steps=steps, turns=plan.repetitions)
    answered = {place: record for place, record in matched.answers.items() if record.text is not None}
    if not answered:
        raise BadFile(_nothing(name, made, matched, known, plan))
    lacking = _missing(plan, stories, answered, {place[1] for place in matched.answers})
    return Preview(
        plan, storable(model or made.model)[:200], name, digest_of(path), made, step, stories, matched, lacking
    )


def _steps(plan: Plan) -> list[str]:
    """Return the steps whose answers can be imported: those that models answer, of the chosen method the last."""
    definition = plan.definition
    asked = [
        step.key
        for step in definition.launched
        if not step.judged and (not definition.program or step.key in plan.stages)
    ]
    return asked[-1:] if definition.program else asked


def _known(plan: Plan, stories: Sequence[DatasetSample], records: Sequence[Record], step: str) -> list[Known]:
    """Return the samples by their ids, and where an id is not enough by what is asked about them."""
    named = [Known(story.pk, story.key, _names(story)) for story in stories]
    index = Index(named)
    if not any(record.texts and index.named(record) is None for record in records):
        return named
    draft = draft_of(plan, stories)
    prompts = prompts_of(draft)
    return [
        Known(story.pk, story.key, _names(story), _asked(story, step, draft, prompts), _parts(story))
        for story in stories
    ]


def _names(story: DatasetSample) -> list[str]:
    """Return the ids of a sample: its key; of a story of gold its number, too."""
    return [story.key] if story.dataset.suite else [story.key, str(story.number)]


def _asked(story: DatasetSample, step: str, draft: Run, prompts: Any) -> list[str]:
    """Return the prompt that a run would send, whole and without the system's part; none where it cannot be made alone."""
    try:
        request = request_of(story, step, draft, prompts)
    except (BadQuestion, SuiteFailed, KeyError):
        return []
    if isinstance(request, str):
        return []
    texts = [message.content for message in request.messages]
    return ["\n\n".join(texts), *[message.content for message in request.messages if message.role == "user"][-1:]]


def _parts(story: DatasetSample) -> list[str]:
    texts = [value for value in story.content.values() if isinstance(value, str) and len(value) >= 8]
    return sorted(texts, key=len, reverse=True)[:_PARTS]


def _missing(
    plan: Plan, stories: Sequence[DatasetSample], answered: Mapping[Place, Record], steps: set[str]
) -> dict[str, int]:
    wanted = len(steps) * plan.repetitions
    there: dict[int, int] = {}
    for sample, _, _ in answered:
        there[sample] = there.get(sample, 0) + 1
    return {story.key: wanted - there.get(story.pk, 0) for story in stories if there.get(story.pk, 0) < wanted}


def _nothing(name: str, made: Made, matched: Matched, known: Sequence[Known], plan: Plan) -> str:
    if not matched.unmatched:
        return f"{name} holds no answers: {made.records[0].problem or 'every one is missing or double'}."
    where, why = matched.unmatched[0]
    example = f"; samples are called like {known[0].key!r}" if known else ""
    return f"{name}: none of its {len(made.records):,} answers is to a sample of {plan.dataset}. {where.capitalize()}: {why}{example}."


def import_answers(*, by: User | None, preview: Preview, now: datetime) -> Run:
    """Keep the answers as a finished run, all or none. They are read and scored as answers of a model are; what the file lacks is missing.

    Raises RunRefused where the project has a run of the same answers.
    """
    plan = preview.plan
    project = plan.dataset.project
    for other in Run.objects.filter(project=project, dataset=plan.dataset, suite=plan.suite):
        same = other.imported and (other.imported["digest"], other.imported["model"]) == (preview.digest, preview.model)
        if same and other.params == draft_of(plan, preview.stories).params:
            raise RunRefused(f"The answers of this file are a run already: {other.title} ({other.uid}).")
    with transaction.atomic():
        run = _run(by, preview, now)
        entrant = Entrant.objects.create(
            run=run, endpoint=_endpoint(preview.model, by), position=0, name=preview.model,
            spec={"name": preview.model, "provider": IMPORTED, "model": preview.model, "options": {}},
        )  # fmt: skip
        _take_in(run, entrant, preview, now)
        details = {"file": preview.file, "model": preview.model, "answers": len(preview.matched.answers)}
        audit.record(by=by, project=project, action="run.imported", target=run.uid, **details)
    return run


def _run(by: User | None, preview: Preview, now: datetime) -> Run:
    plan, made = preview.plan, preview.made
    title = (plan.title or f"{preview.model}: imported from {preview.file}")[:200]
    run = draft_of(plan, preview.stories)
    run.stages = [step for step in _steps(plan) if step in {place[1] for place in preview.matched.answers}]
    run.title, run.created_by = title, by
    run.spec = {
        "dataset": {"version": plan.dataset.version, "digest": plan.dataset.digest},
        "prompts": {},
        "examples": [],
        "judge": None,
        "imported": {
            "file": preview.file, "digest": preview.digest, "model": preview.model, "by": by.username if by else "",
            "at": now.isoformat(), "records": len(made.records), "unmatched": len(preview.matched.unmatched),
            "double": len(preview.matched.double), **made.making,
        },
        **versions(),
    }  # fmt: skip
    run.job = Job.objects.create(
        purpose=PURPOSE,
        title=title,
        params={"project": plan.dataset.project.slug},
        created_by=by.username if by else "",
    )
    run.save()
    return run


def _endpoint(model: str, by: User | None) -> Endpoint:
    """Return the model that nobody can ask, one for each name as files have it."""
    endpoint = Endpoint.objects.filter(provider=IMPORTED, model=model).first()
    if endpoint is None:
        digest = hashlib.sha256(model.encode()).hexdigest()[:8]
        name = f"imported-{slugify(model)[:40]}-{digest}".replace("--", "-")
        endpoint = Endpoint.objects.create(
            name=name, provider=IMPORTED, model=model, active=False, created_by=by.username if by else ""
        )
    return endpoint


def _take_in(run: Run, entrant: Entrant, preview: Preview, now: datetime) -> None:
    """Make an item for each question, and give it its answer, or the reason why there is none."""
    given = preview.matched.answers
    places = [(story.pk, step, turn) for turn in range(preview.plan.repetitions) for step in run.stages for story in preview.stories]  # fmt: skip
    lacking = {place: _why(given.get(place)) for place in places if place not in given or given[place].text is None}
    rows = [(entrant.pk, sample, step, lacking.get((sample, step, turn), ""), turn) for sample, step, turn in places]
    for at in range(0, len(rows), _AT_ONCE):
        insert_rows(RunItem, ("entrant", "sample", "stage", "unusable", "repetition"), rows[at : at + _AT_ONCE])
    items = {
        (item.sample_id, item.stage, item.repetition): item
        for item in entrant.items.select_related("entrant__endpoint")
    }
    add_work(run=run, run_items=list(items.values()), now=now)
    answers = [_answer(run, str(items[place].pk), place, given[place]) for place in places if place not in lacking]
    missing = {str(items[place].pk): why for place, why in lacking.items()}
    take_in(job=run.job, endpoint=entrant.endpoint, answers=answers, missing=missing, now=now)


def _why(record: Record | None) -> str:
    """Return why a question has no answer."""
    return (record.problem if record and record.problem else NOT_IN_FILE)[:120]


def _key(run: Run, place: Place) -> str:
    """Return the key of the answer in the ledger: no question that is asked has it."""
    return hashlib.sha256(json.dumps(["imported", run.uid, *place]).encode()).hexdigest()


def _answer(run: Run, item: str, place: Place, record: Record) -> ImportedAnswer:
    messages = [{"role": message["role"], "content": storable(message["content"])} for message in record.messages]
    body = {"messages": messages} if messages else {"imported": record.where}
    return ImportedAnswer(
        item=item, key=_key(run, place), body=json.dumps(body, ensure_ascii=False), sample=place[2], answer=storable(record.text or ""),
        answered_by=storable(record.answered_by)[:200], tokens=record.tokens,
    )  # fmt: skip
