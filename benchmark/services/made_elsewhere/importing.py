"""Keeping answers that were made elsewhere as a run: first what would become of each, then all of it or nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from annotation.models import User
from annotation.services import audit
from benchmark.domain.provenance import DatasetVersion, EndpointSpec, Making, Provenance, Statements
from benchmark.models import DatasetSample, Entrant, Run, UnmatchedReport
from benchmark.services.made_elsewhere import taking
from benchmark.services.made_elsewhere.matching import (
    Index,
    ItemKey,
    Matched,
    index_of,
    match,
    read_by_ids,
    read_orders,
)
from benchmark.services.made_elsewhere.reading import read_all
from benchmark.services.made_elsewhere.records import BadFile, Made, Record
from benchmark.services.made_elsewhere.taking import AnswerRow
from benchmark.services.plan_checks import samples_of_import
from benchmark.services.plans import HANDLER, MOST_REPETITIONS, Plan, RunRefused, draft_of
from benchmark.services.provenance import versions
from benchmark.suites.contract import Suite
from benchmark.suites.lettered import OPTION_ORDER, Order
from benchmark.suites.questions import Step
from benchmark.suites.reasons import NOT_IN_FILE
from core.digests import text_digest
from core.messages import Sentence, capitalised
from core.plain import Json, plain
from core.texts import storable
from workers.models import Endpoint, Job, JobState
from workers.providers.imported import IMPORTED


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of an import: `plan` is of the run that it would make, `stories` are its samples, of as many as were
    `chosen`. `matched` is what becomes of the answers, `orders` the orders of options that these tell. `missing` are
    the keys of the chosen samples of which the files do not answer all repetitions, with how many answers they lack."""

    plan: Plan
    model: str
    made: Made
    stories: Sequence[DatasetSample]
    chosen: int
    matched: Matched
    orders: Mapping[ItemKey, Order]
    missing: Mapping[str, int]

    @property
    def unanswered(self) -> list[tuple[str, str]]:
        """Return (where, why) of the records that are to a sample and hold no answer."""
        return [(record.where, record.problem) for record in self.matched.answers.values() if record.text is None]

    @property
    def steps(self) -> list[str]:
        """The keys of the steps that are answered, in the order of the suite."""
        return [
            step for step in steps_of_import(self.plan) if step in {item_key[1] for item_key in self.matched.answers}
        ]

    @property
    def summary(self) -> Json:
        """Return it as commands print it and pages show it."""
        return {
            "file": self.made.name,
            "digest": self.made.digest,
            "model": self.model,
            "format": self.made.format,
            "tool": self.made.tool,
            "version": self.made.version,
            "facts": dict(self.made.facts),
            "steps": self.steps,
            "settings": dict(self.plan.options),
            "repetitions": self.plan.repetitions,
            "samples": self.chosen,
            "taken": len(self.stories),
            "records": len(self.made.records),
            "by_id": self.matched.by_id,
            "by_text": self.matched.by_text,
            "answers": sum(record.text is not None for record in self.matched.answers.values()),
            "missing_answers": sum(self.missing.values()),
            "missing": list(self.missing),
            "unmatched": [{"where": where, "why": why} for where, why in self.matched.unmatched],
            "double": [{"where": where, "why": why} for where, why in self.matched.double],
            "unanswered": [{"where": where, "why": why} for where, why in self.unanswered],
        }


NOTHING_STATED = Statements()


def preview_of(files: Sequence[tuple[Path, str]], plan: Plan, declared: Statements = NOTHING_STATED) -> Preview:
    """Return what the import of files would make, each with the name that it is called by; `plan` says of which
    samples, and in which settings answers are read. Of 0 repetitions in it there are as many as the files have. The run
    has the samples that the files answer, unless it is declared to be about the whole of them. Nothing is written.
    Raises BadFile, RunRefused."""
    made = read_all(files, declared.format)
    if not (declared.model or made.model):
        raise RunRefused("The file does not say which model answered; name the model.", "model")
    counted = plan.repetitions == 0
    plan = as_import(replace(plan, repetitions=1) if counted else plan)
    stories, steps = samples_of_import(plan), steps_of_import(plan)
    _check_steps(plan.definition, made, declared.step, steps)
    read_by, ids = read_by_ids(plan, stories, made, declared)
    index = index_of(plan, stories, made.records, declared.step or steps[-1], ids)
    turns = MOST_REPETITIONS if counted else plan.repetitions
    matched = match(made.records, index, step=declared.step, steps=steps, turns=turns)
    orders = read_orders(plan, stories, matched, ids, made.name if len(files) == 1 else "")
    if counted:
        read_by = replace(read_by, repetitions=1 + max((item_key[2] for item_key in matched.answers), default=0))
    answered = [item_key for item_key, record in matched.answers.items() if record.text is not None]
    if not answered:
        raise BadFile(_nothing(made, matched, index, plan))
    lacking = _missing(read_by, stories, answered, {item_key[1] for item_key in matched.answers})
    model = storable(declared.model or made.model)[:200]
    there = {pk for pk, _, _ in answered}
    taken = stories if declared.whole else [story for story in stories if story.pk in there]
    return Preview(read_by, model, made, taken, len(stories), matched, orders, lacking)


def as_import(plan: Plan) -> Plan:
    """Return the plan with what is not known of answers made elsewhere in place of what a run here takes by default."""
    unsaid = {
        setting.name: setting.for_imports.default
        for setting in plan.definition.settings
        if plan.options[setting.name] == setting.default
    }
    return replace(plan, options={**plan.options, **unsaid})


def _check_steps(suite: Suite, made: Made, declared_step: str, steps: Sequence[str]) -> None:
    """Raise RunRefused for a step that has no answers to import, and BadFile where answers are those of a judge: what
    it judged is not in the file, nor which judge it was."""
    judged = {step.key: step.label for step in suite.steps if step.judged}
    for record in made.records:
        if (key := record.step or declared_step) in judged:
            places = record.where if record.where.startswith(made.name) else f"{made.name}, {record.where}"
            taken = " or ".join(f"{step.label} ({step.key})" for step in importable(suite))
            raise BadFile(
                "{places} is the answer of a judge, at {judged} ({key}); taken are answers of the models "
                "that are evaluated, at {taken}, which a judge can judge here once they are a run.",
                places=places,
                judged=judged[key],
                key=key,
                taken=taken,
            )
    if declared_step and declared_step not in steps:
        raise RunRefused(
            "There is no step {declared_step} to import answers of; expected {steps}.",
            "step",
            declared_step=repr(declared_step),
            steps=" or ".join(steps),
        )


def importable(suite: Suite) -> list[Step]:
    """Return the steps whose answers can be imported: those that models answer, of a suite with methods those that are
    scored."""
    asked = [step for step in suite.launched if not step.judged]
    scored = {group.scored for group in suite.groups}
    return [step for step in asked if step.key in scored] if suite.program else asked


def steps_of_import(plan: Plan) -> list[str]:
    """Return the keys of the steps whose answers can be imported into the run of the plan."""
    return [step.key for step in importable(plan.definition) if step.key in plan.steps]


def _missing(
    plan: Plan, stories: Sequence[DatasetSample], answered: Sequence[ItemKey], steps: set[str]
) -> dict[str, int]:
    expected = len(steps) * plan.repetitions
    there = Counter(sample for sample, _, _ in answered)
    return {story.key: expected - there[story.pk] for story in stories if there[story.pk] < expected}


def _nothing(made: Made, matched: Matched, index: Index, plan: Plan) -> str:
    if not matched.unmatched:
        return Sentence(
            "{made} holds no answers: {problem}.",
            made=made.name,
            problem=made.records[0].problem or "every one is missing or double",
        )
    where, why = matched.unmatched[0]
    example = (
        Sentence("; samples are called like {keys}", keys=repr(next(iter(index.keys.values())))) if index.keys else ""
    )
    count = len(made.records)
    return Sentence(
        "{made}: none of its {count} answers is to a sample of {dataset}. {where}: {why}{example}.",
        made=made.name,
        count=f"{count:,}",
        dataset=plan.dataset,
        where=capitalised(where),
        why=why,
        example=example,
    )


def import_answers(*, by: User | None, preview: Preview, now: datetime) -> Run:
    """Keep the answers as a run, all or none. They are read and scored as answers of a model are; what the file lacks
    is missing. The run is finished, or preparing where there are more than `taking.AT_ONCE`: a worker takes them in.

    Raises RunRefused where the project has a run of the same answers.
    """
    refuse_twice(preview)
    rows = rows_of(preview)
    later = len(rows) > taking.AT_ONCE
    run = draft_of(preview.plan, preview.stories)
    describe(run, preview, by=by.username if by else "", now=now)
    with transaction.atomic():
        begin(run, by, preparing=later)
        keep_what_was_read(run, preview, by)
        if later:
            taking.take_later(run, rows)
        else:
            taking.take_all(run, rows, now)
    return run


def refuse_twice(preview: Preview, *, but: int | None = None) -> None:
    """Raise RunRefused where the project has a run of the same answers, other than the one with the id `but`."""
    plan, made = preview.plan, (preview.made.digest, preview.model)
    runs = Run.objects.filter(project=plan.dataset.project, dataset=plan.dataset, suite=plan.suite)
    others = runs.exclude(job__state=JobState.CANCELLED).exclude(pk=but).select_related("job")
    for other in others.exclude(job__state=JobState.FINISHED, preparation__isnull=False):  # those could not be taken in
        making = other.imported
        same = making is not None and (making.digest, making.model) == made
        if same and other.parameters == draft_of(plan, preview.stories).parameters:
            raise RunRefused(
                "The answers of this file are a run already: {run} ({uid}).", run=other.title, uid=other.uid
            )


def describe(run: Run, preview: Preview, *, by: str, now: datetime) -> None:
    """Say on a run that is not saved what was read: its steps, its name, and what is known of the making."""
    plan, made = preview.plan, preview.made
    run.steps = preview.steps
    run.title = (plan.title or Sentence("{model}: imported from {made}", model=preview.model, made=made.name))[:200]
    making = Making(
        format=made.format,
        tool=made.tool,
        version=made.version,
        facts=made.facts,
        records=len(made.records),
        unmatched=len(preview.matched.unmatched),
        double=len(preview.matched.double),
        by=by,
        at=now.isoformat(),
        file=made.name,
        digest=made.digest,
        model=preview.model,
        samples=preview.chosen,
        taken=len(preview.stories),
    )
    run.spec = provenance_of(plan, making).as_json()


def provenance_of(plan: Plan, making: Making) -> Provenance:
    """Return what a run of imported answers states of itself; `making` is what is known of theirs."""
    return Provenance(
        dataset=DatasetVersion(version=plan.dataset.version, digest=plan.dataset.digest),
        imported=making,
        made_by=versions(),
    )


def begin(run: Run, by: User | None, *, preparing: bool) -> None:
    """Save a run with a job of its own, in the caller's transaction."""
    run.created_by = by
    run.job = Job.objects.begin(
        preparing=preparing,
        handler=HANDLER,
        title=run.title,
        params={"project": run.project.slug},
        created_by=by.username if by else "",
    )
    run.save()


def keep_what_was_read(run: Run, preview: Preview, by: User | None) -> None:
    """Keep the model of a run, and what of its files is not part of it, in the caller's transaction."""
    Entrant.objects.create(
        run=run, endpoint=_endpoint(preview.model, by), position=0, name=preview.model,
        spec=plain(EndpointSpec(name=preview.model, provider=IMPORTED, model=preview.model, options={})),
    )  # fmt: skip
    left_out = {name: preview.summary[name] for name in ("unmatched", "double", "missing", "unanswered")}
    UnmatchedReport.objects.create(run=run, **left_out)
    details = {"file": preview.made.name, "model": preview.model, "answers": len(preview.matched.answers)}
    audit.record(by=by, project=run.project, action="run.imported", target=run.uid, **details)


def _endpoint(model: str, by: User | None) -> Endpoint:
    """Return the model that nobody can ask, one for each name as files have it."""
    endpoint = Endpoint.objects.filter(provider=IMPORTED, model=model).first()
    if endpoint is None:
        digest = text_digest(model)[:8]
        name = f"imported-{slugify(model)[:40]}-{digest}".replace("--", "-")
        endpoint = Endpoint.objects.create(
            name=name, provider=IMPORTED, model=model, active=False, created_by=by.username if by else ""
        )
    return endpoint


def rows_of(preview: Preview) -> list[AnswerRow]:
    """Return each question of the run with its answer, or with the reason why there is none."""
    given, orders = preview.matched.answers, preview.orders
    keys = (
        (story.pk, step, turn)
        for turn in range(preview.plan.repetitions)
        for step in preview.steps
        for story in preview.stories
    )
    return [_row(key, given.get(key), orders.get(key)) for key in keys]


def _row(item_key: ItemKey, record: Record | None, order: Order | None) -> AnswerRow:
    if record is None or record.text is None:
        why = record.problem if record and record.problem else NOT_IN_FILE
        return AnswerRow(*item_key, None, why, "", "", (0, 0))
    messages = [{"role": message["role"], "content": storable(message["content"])} for message in record.messages]
    body: dict[str, Any] = {"messages": messages} if messages else {"imported": record.where}
    if order is not None:
        body[OPTION_ORDER] = list(order)
    text = json.dumps(body, ensure_ascii=False)
    return AnswerRow(
        *item_key, storable(record.text), "", text, storable(record.answered_by)[:200], record.tokens,
        storable(record.reasoning),
    )  # fmt: skip
