"""Remarks of annotators beside their votes: comments on cells and flags on propositions."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from annotation.models import CellComment, FlagKind, GoldLabel, Method, Project, Proposition, PropositionFlag, User
from annotation.services import audit


class RemarkRefused(ValueError):
    """The remark is refused; the message is one sentence for the person who wrote it."""


def add_comment(*, by: User, proposition: Proposition, dimension: str, text: str, thread_of: User) -> CellComment:
    """Add a message to the thread between an annotator and the experts about one cell."""
    text = text.strip()
    if not text:
        raise RemarkRefused(gettext("The comment is empty."))
    return CellComment.objects.create(
        proposition=proposition, dimension=dimension, text=text, author=by, thread_of=thread_of
    )


@dataclass(frozen=True, slots=True)
class Thread:
    """Thread of an annotator and the experts about one cell; `uid` is that of its first message."""

    uid: str
    annotator: User
    messages: list[CellComment] = field(default_factory=list)

    def speaker(self, message: CellComment, *, named: bool) -> User | None:
        """Return who wrote a message; None for the annotator, unless annotators may be named."""
        return message.author if named or message.author != self.annotator else None


def annotators_named(gold: GoldLabel | None, *, voted: bool) -> bool:
    """Return whether an expert may be told which annotators speak about a cell. While it is open, and to who voted on
    it, that would tell whose vote is whose."""
    return gold is not None and gold.method != Method.OPEN and not voted


def threads_of(proposition: Proposition, dimension: str) -> list[Thread]:
    """Return the threads about a cell in the order in which they began."""
    threads: dict[int, Thread] = {}
    comments = CellComment.objects.filter(proposition=proposition, dimension=dimension)
    for comment in comments.select_related("author", "thread_of").order_by("created_at", "id"):
        threads.setdefault(comment.thread_of_id, Thread(comment.uid, comment.thread_of)).messages.append(comment)
    return list(threads.values())


def flags_of(project: Project, *, unfinished: Collection[int]) -> QuerySet[PropositionFlag]:
    """Return the flags on propositions of a project without those in the stories `unfinished`: those that wait first,
    then the newest first."""
    rows = PropositionFlag.objects.filter(proposition__table__story__project=project)
    others = rows.exclude(proposition__table__story__in=unfinished)
    named = others.select_related("proposition__table__story__project", "author", "outcome_by")
    return named.order_by("outcome", "-created_at", "-id")


def flag(*, by: User, proposition: Proposition, kind: FlagKind, remark: str) -> PropositionFlag:
    """Report that the proposition itself is wrong; one open flag of a kind for each annotator and proposition."""
    remark = remark.strip()
    if not remark:
        raise RemarkRefused(gettext("Say in a few words what is wrong."))
    try:
        with transaction.atomic():
            return PropositionFlag.objects.create(proposition=proposition, author=by, kind=kind, remark=remark)
    except IntegrityError as error:
        raise RemarkRefused(gettext("You have flagged this proposition in this way already.")) from error


@transaction.atomic
def decide_flag(*, by: User, flag: PropositionFlag, outcome: str, text: str, now: datetime) -> bool:
    """Accept or decline a flag; False where somebody decided it before."""
    decided = PropositionFlag.objects.filter(pk=flag.pk, outcome="").update(
        outcome=outcome, outcome_by=by, outcome_at=now, outcome_text=text
    )
    if decided:
        project = flag.proposition.table.story.project
        audit.record(by=by, project=project, action=f"flag.{outcome}", target=str(flag.proposition)[:200], reason=text)
    return bool(decided)
