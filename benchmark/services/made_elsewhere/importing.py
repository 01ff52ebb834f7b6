"""Keeping answers that were made elsewhere as a run: first a preview of each answer, then all of them or none.

Few answers are taken in by the request that brings them. Many answers, and files too large for a request, are left in
the database for a worker. It deletes each part in the transaction that takes it in, so a process may be killed at any
moment, and no answer is lost or taken in twice.
"""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation.models import User
from annotation.services import audit
from benchmark.domain.provenance import DatasetVersion, EndpointSpec, Making, Provenance, Statements, UnreadFiles
from benchmark.models import (
    DatasetSample,
    Entrant,
    Run,
    RunItem,
    RunParcel,
    RunPreparation,
    UnmatchedReport,
    UnreadParcel,
)
from benchmark.services.made_elsewhere.files import BadFile, Made, digest_of_all, read_all
from benchmark.services.made_elsewhere.matching import (
    Index,
    ItemKey,
    Matched,
    index_of,
    match,
    read_by_ids,
    read_orders,
)
from benchmark.services.plan_checks import samples_of_import
from benchmark.services.plans import HANDLER, MOST_REPETITIONS, Plan, RunRefused, draft_of, plan_of
from benchmark.services.provenance import versions
from benchmark.services.run_items import add_work
from benchmark.suites.contract import Suite
from benchmark.suites.lettered import OPTION_ORDER, Order
from benchmark.suites.questions import Step
from benchmark.suites.reasons import NOT_IN_FILE
from core.bulk import insert_rows
from core.digests import json_digest, text_digest
from core.messages import Sentence, capitalised, gettext_noop, listed
from core.plain import Json, plain
from core.texts import storable
from workers.models import Endpoint, Job, JobState
from workers.providers.registry import IMPORTED
from workers.services.delivery import end_jobs
from workers.services.ledger import ImportedAnswer, take_back, take_in
from workers.services.notify import WORKERS

ANSWERS_AT_ONCE = 2_000
"""Answers up to which the request that brings them takes them in."""
BYTES_AT_ONCE = 500_000
"""Bytes of files up to which the request that brings them reads them."""
A_PART = 200
"""Answers that one transaction of a worker takes in."""
_STRETCH = 1_000_000
"""Bytes of a file that one row has."""
FAILED = gettext_noop(
    "The answers could not be taken in; the worker's log says why. Nothing of them was kept: import them again."
)


@dataclass(frozen=True, slots=True)
class Preview:
    """An import before it is kept."""

    plan: Plan
    """The plan of the run that it would make."""
    model: str
    made: Made
    stories: Sequence[DatasetSample]
    """The samples of the run, of as many as were `chosen`."""
    chosen: int
    matched: Matched
    orders: Mapping[ItemKey, Order]
    """Orders of options that the answers tell."""
    missing: Mapping[str, int]
    """Number of lacking answers by the key of each chosen sample that the files do not answer completely."""

    @property
    def steps(self) -> list[str]:
        """The keys of the steps that are answered, in the order of the suite."""
        answered = {item_key[1] for item_key in self.matched.answers}
        return [step for step in steps_of_import(self.plan) if step in answered]

    @property
    def summary(self) -> Json:
        """The preview as commands print it and pages show it."""
        records = self.matched.answers.values()
        unanswered = [(record.where, record.problem) for record in records if record.text is None]
        rows = {"unmatched": self.matched.unmatched, "double": self.matched.double, "unanswered": unanswered}
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
            "answers": len(records) - len(unanswered),
            "missing_answers": sum(self.missing.values()),
            "missing": list(self.missing),
            **{name: [{"where": where, "why": why} for where, why in pairs] for name, pairs in rows.items()},
        }


NOTHING_STATED = Statements()


def preview_of(files: Sequence[tuple[Path, str]], plan: Plan, declared: Statements = NOTHING_STATED) -> Preview:
    """Return the preview of an import of (path, name) of files.

    The plan has the samples and the settings by which answers are read; 0 repetitions stands for those that the files
    have. The run has the samples that the files answer, unless it is declared to be about all of them. Raises BadFile,
    RunRefused.
    """
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
    expected = len({item_key[1] for item_key in matched.answers}) * read_by.repetitions
    counts = Counter(sample for sample, _, _ in answered)
    lacking = {story.key: expected - counts[story.pk] for story in stories if counts[story.pk] < expected}
    model = storable(declared.model or made.model)[:200]
    taken = stories if declared.whole else [story for story in stories if counts[story.pk]]
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
    """Raise RunRefused for a step that has no answers to import, and BadFile for answers of a judge."""
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
    """Return the steps whose answers can be imported: those that models answer, of a suite with methods the scored
    ones."""
    asked = [step for step in suite.launched if not step.judged]
    scored = {group.scored for group in suite.groups}
    return [step for step in asked if step.key in scored] if suite.asking.program else asked


def steps_of_import(plan: Plan) -> list[str]:
    """Return the keys of the steps whose answers can be imported into the run of the plan."""
    return [step.key for step in importable(plan.definition) if step.key in plan.steps]


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
    """Keep the answers as a run, all or none; what the file lacks is missing. The run is finished, or preparing if a
    worker takes the answers in. Raises RunRefused if the project has a run of the same answers."""
    refuse_twice(preview)
    rows = _rows_of(preview)
    later = len(rows) > ANSWERS_AT_ONCE
    run = draft_of(preview.plan, preview.stories)
    _describe(run, preview, by=by.username if by else "", now=now)
    with transaction.atomic():
        _begin(run, by, preparing=later)
        _keep_what_was_read(run, preview, by)
        if later:
            _take_later(run, rows)
        else:
            _take_rows(run, rows, now)
            end_jobs([run.job_id], now=now)
            run.job.refresh_from_db()
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


def _describe(run: Run, preview: Preview, *, by: str, now: datetime) -> None:
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
    run.spec = _provenance_of(plan, making).as_json()


def _provenance_of(plan: Plan, making: Making) -> Provenance:
    """Return what a run of imported answers states of itself; `making` is what is known of theirs."""
    return Provenance(
        dataset=DatasetVersion(version=plan.dataset.version, digest=plan.dataset.digest),
        imported=making,
        made_by=versions(),
    )


def _begin(run: Run, by: User | None, *, preparing: bool) -> None:
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


def _keep_what_was_read(run: Run, preview: Preview, by: User | None) -> None:
    """Keep the model of a run, and what of its files is not part of it, in the caller's transaction."""
    model = preview.model  # nobody can ask it; one for each name as files have it
    endpoint = Endpoint.objects.filter(provider=IMPORTED, model=model).first()
    if endpoint is None:
        name = f"imported-{slugify(model)[:40]}-{text_digest(model)[:8]}".replace("--", "-")
        endpoint = Endpoint.objects.create(
            name=name, provider=IMPORTED, model=model, active=False, created_by=by.username if by else ""
        )
    spec = plain(EndpointSpec(name=model, provider=IMPORTED, model=model, options={}))
    Entrant.objects.create(run=run, endpoint=endpoint, position=0, name=model, spec=spec)
    left_out = {name: preview.summary[name] for name in ("unmatched", "double", "missing", "unanswered")}
    UnmatchedReport.objects.create(run=run, **left_out)
    details = {"file": preview.made.name, "model": model, "answers": len(preview.matched.answers)}
    audit.record(by=by, project=run.project, action="run.imported", target=run.uid, **details)


class AnswerRow(NamedTuple):
    """One question of an imported run and its answer; `body` is JSON of what was asked, as far as it is known."""

    sample: int
    step: str
    turn: int
    text: str | None
    why: str
    """The reason why there is no answer."""
    body: str
    answered_by: str
    tokens: Sequence[int]
    reasoning: str = ""


def _rows_of(preview: Preview) -> list[AnswerRow]:
    """Return each question of the run with its answer, or with the reason why there is none."""
    given, orders = preview.matched.answers, preview.orders
    keys = (
        (story.pk, step, turn)
        for turn in range(preview.plan.repetitions)
        for step in preview.steps
        for story in preview.stories
    )
    rows = []
    for key in keys:
        record = given.get(key)
        if record is None or record.text is None:
            why = record.problem if record and record.problem else NOT_IN_FILE
            rows.append(AnswerRow(*key, None, why, "", "", (0, 0)))
            continue
        messages = [{"role": message["role"], "content": storable(message["content"])} for message in record.messages]
        asked: dict[str, Any] = {"messages": messages} if messages else {"imported": record.where}
        if key in orders:
            asked[OPTION_ORDER] = list(orders[key])
        body = json.dumps(asked, ensure_ascii=False)
        by, reasoning = storable(record.answered_by)[:200], storable(record.reasoning)
        rows.append(AnswerRow(*key, storable(record.text), "", body, by, record.tokens, reasoning))
    return rows


def _take_later(run: Run, rows: Sequence[AnswerRow]) -> None:
    """Leave answers to the workers, in the caller's transaction."""
    parts = [rows[at : at + A_PART] for at in range(0, len(rows), A_PART)]
    RunParcel.objects.bulk_create([RunParcel(run=run, rows=part) for part in parts], batch_size=50)
    RunPreparation.objects.update_or_create(run=run, defaults={"samples": [], "of": len(rows)})
    WORKERS.notify()


@transaction.atomic
def take_next(run: Run) -> bool:
    """Take in the next part of a run's answers; returns whether there may be more. With the last one the run ends."""
    job = Job.objects.select_for_update().get(pk=run.job_id)
    if job.state != JobState.PREPARING or UnreadParcel.objects.filter(run=run).exists():
        return False
    preparation = RunPreparation.objects.get(run=run)
    if part := RunParcel.objects.filter(run=run).first():
        _take_rows(run, [AnswerRow(*row) for row in part.rows], timezone.now())
        RunPreparation.objects.filter(pk=preparation.pk).update(done=preparation.done + len(part.rows))
        part.delete()
        return True
    RunPreparation.objects.filter(pk=preparation.pk).delete()
    Job.objects.filter(pk=job.pk).prepared()
    end_jobs([job.pk], now=timezone.now())
    return False


def take_back_answers(run: Run) -> None:
    """Delete the answers of an import that does not come to its end, so that its file can be imported again."""
    RunItem.objects.filter(entrant__run=run).delete()
    RunParcel.objects.filter(run=run).delete()
    UnreadParcel.objects.filter(run=run).delete()
    take_back(run.job)
    RunPreparation.objects.filter(run=run).update(done=0, kept=0)


def _take_rows(run: Run, rows: Sequence[AnswerRow], now: datetime) -> None:
    """Make an item for each question, and give it its answer, or the reason why there is none."""
    entrant = Entrant.objects.select_related("endpoint").get(run=run)
    before = RunItem.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    fields = ("entrant", "sample", "step", "unreadable", "repetition")
    values = [(entrant.pk, row.sample, row.step, NOT_IN_FILE if row.text is None else "", row.turn) for row in rows]
    insert_rows(RunItem, fields, values)
    added = entrant.items.filter(pk__gt=before)
    add_work(run=run, run_items=added, now=now)
    items = {
        (sample, step, turn): str(pk)
        for pk, sample, step, turn in added.values_list("pk", "sample", "step", "repetition")
    }
    answers = [
        ImportedAnswer(
            item=items[row[:3]],
            key=json_digest(["imported", run.uid, *row[:3]]),  # no question asked has it
            body=row.body,
            sample=row.turn,
            answer=row.text,
            answered_by=row.answered_by,
            tokens=(row.tokens[0], row.tokens[1]),
            reasoning=row.reasoning,
        )
        for row in rows
        if row.text is not None
    ]
    missing = {items[row[:3]]: row.why for row in rows if row.text is None}
    take_in(job=run.job, endpoint=entrant.endpoint, answers=answers, missing=missing, now=now)


def import_unread(
    *, by: User | None, files: Sequence[tuple[IO[bytes], str]], plan: Plan, declared: Statements, now: datetime
) -> Run:
    """Return a run whose files, (content, name), a worker reads and takes in later. Raises RunRefused."""
    checked = as_import(replace(plan, repetitions=plan.repetitions or 1))
    run = draft_of(checked, samples_of_import(checked))
    names = listed((name for _, name in files))
    run.title = (plan.title or Sentence("Imported from {names}", names=names))[:200]
    run.steps = steps_of_import(plan)
    making = Making(by=by.username if by else "", at=now.isoformat(), file=names, model=declared.model)
    unread = UnreadFiles(declared=declared, repetitions=plan.repetitions, title=plan.title)
    with transaction.atomic():
        _begin(run, by, preparing=True)
        kept = []
        for position, (file, name) in enumerate(files):
            digest = hashlib.sha256()
            file.seek(0)
            while content := file.read(_STRETCH):
                digest.update(content)
                UnreadParcel.objects.create(run=run, position=position, name=name[:255], content=content)
            kept.append((digest.hexdigest(), name))
        whole = replace(making, digest=digest_of_all(kept))
        run.spec = replace(_provenance_of(plan, whole), unread=unread).as_json()
        run.save(update_fields=["spec"])
        RunPreparation.objects.create(run=run, samples=[], of=0)
    WORKERS.notify()
    return run


def read_files(run: Run) -> None:
    """Read and match the files of a run and leave its answers to be taken in. Raises BadFile, RunRefused."""
    if not UnreadParcel.objects.filter(run=run).exists():
        return
    unread = run.provenance.unread
    if unread is None:
        raise LookupError(f"Run {run.uid} keeps files, and not how they are to be read.")
    plan = replace(plan_of(run), repetitions=unread.repetitions, title=unread.title)
    with tempfile.TemporaryDirectory(prefix="credence-answers-") as folder:
        names: dict[Path, str] = {}
        for stretch in UnreadParcel.objects.filter(run=run).order_by("position", "pk").iterator(chunk_size=1):
            path = Path(folder) / f"{stretch.position}{Path(stretch.name).suffix}"  # a log is read by its ending
            names[path] = stretch.name
            with path.open("ab") as target:
                target.write(stretch.content)
        preview = preview_of(list(names.items()), plan, unread.declared)
    refuse_twice(preview, but=run.pk)
    _fill(run, preview)


@transaction.atomic
def _fill(run: Run, preview: Preview) -> None:
    """Keep what was read, unless somebody has, or the run was cancelled meanwhile."""
    job = Job.objects.select_for_update().get(pk=run.job_id)
    if job.state != JobState.PREPARING or not UnreadParcel.objects.filter(run=run).exists():
        return
    asked = draft_of(preview.plan, preview.stories)
    for field in ("params", "answer_format", "level", "prompt_set"):
        setattr(run, field, getattr(asked, field))
    _describe(run, preview, by=run.imported.by if run.imported else "", now=timezone.now())
    run.save()
    job.title = run.title
    job.save(update_fields=["title"])
    _keep_what_was_read(run, preview, run.created_by)
    _take_later(run, _rows_of(preview))
    UnreadParcel.objects.filter(run=run).delete()
