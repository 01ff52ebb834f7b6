"""Asking a judge once more for the rows that its judgements leave out.

A judgement has one follow-up at most. It is an item of its run like any other, with a call in the ledger and a page of
its own; its answer fills the gaps of the repaired parse (services/evaluating.py), never the official one.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from annotation.models import User
from annotation.services import audit
from benchmark.domain.provenance import LaterChange
from benchmark.models import Entrant, Run, RunItem
from benchmark.services.archiving import locked_run
from benchmark.services.asking import step_request
from benchmark.services.estimates import Estimate, Line, Size, extent_of, line_of
from benchmark.services.evaluating import answers_of
from benchmark.services.judges import judged_at
from benchmark.services.launches import FOLLOWED_UP
from benchmark.services.plans import RunRefused, plan_of
from benchmark.services.provenance import versions
from benchmark.services.run_items import add_work
from benchmark.suites.judges import FollowUp
from benchmark.suites.registry import suite_named
from core.bulk import insert_rows
from core.messages import gettext_noop
from workers.domain.pricing import Extent
from workers.models import Job, JobState
from workers.services.delivery import reopen_job


def follow_up_of(run: Run) -> FollowUp | None:
    """Return how the run's judge is asked once more, None where it is not."""
    judge = suite_named(run.suite).judge
    return judge.follow_up if judge and judged_at(run) else None


def with_gaps(run: Run) -> QuerySet[RunItem]:
    """Return the judgements that a follow-up can still be asked for."""
    described = follow_up_of(run)
    if described is None:
        return RunItem.objects.none()
    same = {name: OuterRef(name) for name in ("entrant", "sample", "repetition")}
    follow_ups = RunItem.objects.filter(**same, step=described.step)
    judgements = RunItem.objects.filter(entrant__run=run, step=judged_at(run), call__isnull=False, unjudged__gt=0)
    return judgements.filter(~Q(unreadable__in=described.hopeless), ~Exists(follow_ups)).order_by(
        "entrant__position", "id"
    )


def gaps_of(run: Run) -> dict[str, int]:
    """Return {"rows", "judgements", "all_rows"}: rows to ask for, in how many judgements, and all rows not judged."""
    if follow_up_of(run) is None:
        return {"rows": 0, "judgements": 0, "all_rows": 0}
    gaps = with_gaps(run).order_by().aggregate(rows=Sum("unjudged"), judgements=Count("pk"))
    judged = RunItem.objects.filter(entrant__run=run, step=judged_at(run))
    gaps["all_rows"] = judged.aggregate(rows=Sum("unjudged"))["rows"]
    return {name: count or 0 for name, count in gaps.items()}


def estimate_of_follow_ups(run: Run) -> Estimate:
    """Estimate the cost of all follow-ups, whatever the ledger has. Raises RunRefused if there is none."""
    plan, estimate, described = plan_of(run), Estimate([]), follow_up_of(run)
    judgements = list(with_gaps(run).select_related("sample", "call", "entrant__endpoint", "entrant__run__dataset"))
    if described is None or run.judge is None or not judgements:
        raise RunRefused(NOTHING)
    texts, by_model = answers_of(judgements), dict[Entrant, dict[int, Size]]()
    for judgement in judgements:
        assert judgement.call, "it is an answer that has gaps"
        answers = {**texts[judgement.pk], judgement.step: judgement.call.answer}
        run_asking, turn = judgement.entrant.run, judgement.repetition
        question = step_request(judgement.sample, described.step, run_asking, None, answers, turn)
        extent = Extent() if isinstance(question, str) else extent_of(question)
        size = Size(extent, Extent(described.characters_a_row * judgement.unjudged))
        by_model.setdefault(judgement.entrant, {})[judgement.pk] = size
    estimate.stories.extend({judgement.sample_id: judgement.sample for judgement in judgements}.values())
    for entrant, sizes in by_model.items():
        estimate.lines.append(line_of(plan, Line(entrant.endpoint, described.step, run.judge, run.suite), sizes))
    return estimate


NOTHING = gettext_noop(
    "Every judgement that a follow-up could complete has all its rows, or had its follow-up already."
)


@transaction.atomic
def ask_missing(*, by: User | None, run: Run, now: datetime) -> int:
    """Add a follow-up to every judgement with gaps. Returns how many. Raises RunRefused."""
    job = Job.objects.select_for_update().get(pk=run.job_id)
    locked_run(run, changed=True)
    run.refresh_from_db(fields=["spec"])  # another may have noted something meanwhile
    if job.state == JobState.CANCELLED:
        raise RunRefused("The run was cancelled; run it again instead.")
    if run.judge and not run.judge.active:
        raise RunRefused("The endpoint {judge} is switched off.", judge=run.judge.name)
    described, gaps = follow_up_of(run), list(with_gaps(run).values_list("entrant_id", "sample_id", "repetition"))
    if described is None or not gaps:
        raise RunRefused(NOTHING)
    fields = ("entrant", "sample", "repetition", "step", "unreadable")
    insert_rows(RunItem, fields, [(*gap, described.step, "") for gap in gaps])
    reopen_job(job.pk)
    run.job.refresh_from_db()
    waiting = RunItem.objects.filter(entrant__run=run, step=described.step, item=None, call=None)
    add_work(run=run, run_items=waiting, now=now)
    change = LaterChange(
        did=FOLLOWED_UP, at=now.isoformat(), judgements=len(gaps), prompt=described.wording, by=versions()
    )
    run.spec = run.provenance.with_later(change).as_json()
    run.save(update_fields=["spec"])
    audit.record(by=by, project=run.project, action="run.followed_up", target=run.uid, judgements=len(gaps))
    return len(gaps)
