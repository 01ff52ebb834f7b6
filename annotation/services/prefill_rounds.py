"""The two kinds of rounds of suggestions: labels of propositions, and drafts of belief tables. What a round may still
ask for, its requests, one call a story, and what its answers become."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation.domain import drafting
from annotation.domain.labelling import LabelledRows, labelling_request, prompts_of, read_labels
from annotation.domain.sample_corpus import SCHEMA, sample_records
from annotation.domain.schema import Schema
from annotation.domain.tasks import EXTRACT, LABEL, Row
from annotation.models import (
    DraftRow,
    Prefill,
    Project,
    Proposition,
    RoundKind,
    Story,
    SuggestedRow,
    Suggestion,
    VoteEvent,
)
from core.catalogues.sentences import translated
from core.joints import listed, noted
from core.messages import Sentence, gettext_noop
from workers.models import NOT_PARSED, Call, Endpoint, Item, ItemState
from workers.providers.contract import Request
from workers.services.handlers import JobHandler, Received

Cell = tuple[int, str]
EXAMPLE_ROWS = 5
CLOSED_MEANWHILE = gettext_noop("Not asked: every cell of this story has a vote or a suggestion by now.")


class PrefillRefused(ValueError):
    """The round is refused; the message is one sentence."""


class RoundHandler(JobHandler):
    """The job handler of a kind of round; `name` is that of its jobs."""

    name: str
    title: str
    task: str
    cannot: str
    nothing_open: Any  # a lazy text
    gone = gettext_noop("The story is gone.")
    locks = False
    """Whether stories are locked while an answer is written, so that nobody begins a table meanwhile."""

    def prompt(self, project: Project) -> str:
        """Return the version of the prompt."""
        raise NotImplementedError

    def open_in(self, stories: Collection[Story]) -> dict[int, set[Cell]]:
        """Return the ids of stories that may be asked for, with their open cells if the round is about cells."""
        raise NotImplementedError

    def load(self, stories: Collection[Story]) -> Any:
        """Return what `request` and `keep` need about these stories."""
        raise NotImplementedError

    def request(self, story: Story, loaded: Any, level: int | None, room: int) -> Request | str:
        """Return the request for a story, or one sentence about why it cannot be asked. `room` is the number of tokens
        for reasoning."""
        raise NotImplementedError

    def keep(self, call: Call, story: Story, loaded: Any, source: str) -> Received:
        """Keep what can be read of an answer."""
        raise NotImplementedError

    def _stories(self, items: Collection[Item], *, lock: bool = False) -> dict[str, Story]:
        rows = Story.objects.filter(uid__in=[item.key for item in items]).select_related("category", "project")
        return {story.uid: story for story in (rows.select_for_update(of=("self",)).order_by("pk") if lock else rows)}

    def ask(self, items: Sequence[Item]) -> Mapping[int, Request | str]:
        stories, requests = self._stories(items), dict[int, Request | str]()
        loaded = self.load(stories.values())
        for item in items:
            story, params = stories.get(item.key), item.job.params
            asked = story and self.request(story, loaded, params["level"], params["reasoning_tokens"])
            requests[item.pk] = asked or self.gone
        return requests

    def receive(self, answered: Sequence[tuple[Item, Call]]) -> Mapping[int, Received]:
        stories = self._stories([item for item, _ in answered], lock=self.locks)
        loaded, received = self.load(stories.values()), dict[int, Received]()
        for item, call in answered:
            if item.key not in stories:
                received[item.pk] = Received(ItemState.FAILED, gettext_noop("The story is gone."))
            elif call.state in NOT_PARSED:
                refused = call.problem or gettext_noop("The model refused to answer.")
                received[item.pk] = Received(ItemState.UNREADABLE, refused)
            else:
                source = f"{item.endpoint.name} ({call.answered_by or call.model})"[:200]
                received[item.pk] = self.keep(call, stories[item.key], loaded, source)
        return received


class LabelRound(RoundHandler):
    name = gettext_noop("prefill")
    title = gettext_noop("Pre-fill {project} with {endpoint}")
    task = LABEL
    cannot = gettext_noop("{endpoint} cannot label: {model} is a baseline for another task; {able} can.")
    nothing_open = gettext_lazy(
        "Every cell of these stories has a vote or a suggestion already, or they have no propositions."
    )
    gone = gettext_noop("The story is gone, or it has no propositions.")

    def prompt(self, project: Project) -> str:
        return prompts_of(project.schema)

    def open_in(self, stories: Collection[Story]) -> dict[int, set[Cell]]:
        """Return the cells that may get a suggestion: nobody ever voted on them, and they have none."""
        live = Proposition.objects.live_gold().filter(table__story__in=[story.pk for story in stories])
        voted = VoteEvent.objects.filter(proposition__in=live)
        taken = set(voted.values_list("proposition_id", "dimension").distinct())
        taken |= set(Suggestion.objects.filter(proposition__in=live).values_list("proposition_id", "dimension"))
        keys = {story.pk: story.project.schema.keys for story in stories}
        cells: dict[int, set[Cell]] = defaultdict(set)
        for pk, story in live.values_list("pk", "table__story"):
            cells[story] |= {(pk, key) for key in keys[story]} - taken
        return {story: open_ for story, open_ in cells.items() if open_}

    def load(self, stories: Collection[Story]) -> tuple[dict[int, list[Proposition]], dict[int, set[Cell]]]:
        """Return by story id the propositions of the gold table in order, and the open cells."""
        rows: dict[int, list[Proposition]] = defaultdict(list)
        live = Proposition.objects.live_gold().filter(table__story__in=[story.pk for story in stories])
        for row in live.select_related("table").order_by("position"):
            rows[row.table.story_id].append(row)
        return rows, self.open_in(stories)

    def request(self, story: Story, loaded: Any, level: int | None, room: int) -> Request | str:
        rows, open_ = loaded[0][story.pk], loaded[1]
        if not rows or story.pk not in open_:
            return CLOSED_MEANWHILE if rows else self.gone
        category, schema = story.category.name, story.project.schema
        assert level is not None, "labels are asked for at a level"
        example = example_of(category, schema, story.text) if level == 4 else None
        return labelling_request(
            story=story.text, category=category, rows=_numbered(rows), schema=schema, level=level, example=example,
            counts=sample_counts(schema), reasoning_tokens=room,
        )  # fmt: skip

    def keep(self, call: Call, story: Story, loaded: Any, source: str) -> Received:
        rows, left = loaded[0][story.pk], loaded[1].get(story.pk, set())
        read, problem = read_labels(call.answer, _numbered(rows), story.project.schema)
        if not any(read.values()):
            return Received(ItemState.UNREADABLE, f"{call.problem} {problem}".strip())
        now, before = timezone.now(), len(left)
        labels = {(row, key): label for at, row in enumerate(rows, 1) for key, label in read[at].items()}
        suggestions = [
            Suggestion(proposition=row, dimension=key, label=label, source=source, call=call, created_at=now)
            for (row, key), label in labels.items()
            if (row.pk, key) in left
        ]
        left -= {(suggestion.proposition_id, suggestion.dimension) for suggestion in suggestions}
        Suggestion.objects.bulk_create(suggestions, ignore_conflicts=True)
        cells, closed = len(rows) * len(story.project.schema.keys), ""
        if before < cells:
            closed = Sentence(
                "{open} of {cells} cells were still open; the others keep the vote or suggestion that they have.",
                open=before, cells=cells,
            )  # fmt: skip
        state = ItemState.DONE if suggestions else ItemState.UNREADABLE
        return Received(state, " ".join(filter(None, [problem, closed])))


class TableRound(RoundHandler):
    name = gettext_noop("prefill-tables")
    title = gettext_noop("Draft tables of {project} with {endpoint}")
    task = EXTRACT
    cannot = gettext_noop("{endpoint} cannot write belief tables: {model} is a baseline for another task; {able} can.")
    nothing_open = gettext_lazy("Every one of these stories has a table already, or somebody has begun or drafted one.")
    locks = True

    def prompt(self, project: Project) -> str:
        return drafting.PROMPT

    def open_in(self, stories: Collection[Story]) -> dict[int, set[Cell]]:
        """Return the stories of which a model may draft the table: there is none, no expert has begun one, and no model
        has drafted one."""
        ids = {story.pk for story in stories}
        for rows, story in (
            (Proposition.objects.live_gold(), "table__story"),
            (DraftRow.objects.all(), "table__story"),
            (SuggestedRow.objects.filter(number=1), "story"),
        ):
            ids -= set(rows.filter(**{f"{story}__in": ids}).order_by().values_list(story, flat=True).distinct())
        return {pk: set() for pk in ids}

    def load(self, stories: Collection[Story]) -> dict[int, set[Cell]]:
        return self.open_in(stories)

    def request(self, story: Story, loaded: Any, level: int | None, room: int) -> Request | str:
        if story.pk not in loaded:
            return gettext_noop("Not asked: this story has a table by now, or somebody has begun or drafted one.")
        return drafting.drafting_request(story=story.text, orders=story.project.schema.orders, reasoning_tokens=room)

    def keep(self, call: Call, story: Story, loaded: Any, source: str) -> Received:
        drafted, problem = drafting.read_draft(call.answer, story.text, story.project.schema.orders)
        if not drafted:
            return Received(ItemState.UNREADABLE, f"{call.problem} {problem}".strip())
        if loaded.pop(story.pk, None) is None:
            taken = gettext_noop(
                "The draft is not used: this story has a table by now, or somebody has begun or drafted one."
            )
            return Received(ItemState.UNREADABLE, taken)
        about = {"story": story, "source": source, "call": call, "created_at": timezone.now()}
        SuggestedRow.objects.bulk_create(
            SuggestedRow(number=number, actor=row.actor, belief=row.belief, order_text=row.order, **about)
            for number, row in enumerate(drafted, 1)
        )
        return Received(ItemState.DONE, problem)


HANDLERS: Mapping[str, RoundHandler] = {RoundKind.LABELS: LabelRound(), RoundKind.TABLES: TableRound()}


def _numbered(rows: Sequence[Proposition]) -> list[Row]:
    return [Row(at, row.actor, row.belief) for at, row in enumerate(rows, 1)]


@lru_cache(64)
def example_of(category: str, schema: Schema, not_this: str) -> tuple[str, LabelledRows] | None:
    """Return a worked example from the sample corpus, of the same category and never the story that is asked about.
    Returns None for a schema that the sample is not labelled by."""
    for record in sample_records() if schema == SCHEMA else ():
        if record.story_category == category and record.story != not_this:
            chosen = enumerate(record.beliefs[:EXAMPLE_ROWS], 1)
            return record.story, tuple((Row(at, belief.actor, belief.belief), belief.labels) for at, belief in chosen)
    return None


@lru_cache(8)
def sample_counts(schema: Schema) -> dict[str, dict[str, int]]:
    """Return the number of times that each label occurs in the sample corpus, by dimension, for the majority baseline.
    Empty for a schema that the sample is not labelled by."""
    if schema != SCHEMA:
        return {}
    counts: dict[str, dict[str, int]] = {key: defaultdict(int) for key in schema.keys}
    for record in sample_records():
        for belief in record.beliefs:
            for key, label in belief.labels.items():
                counts[key][label] += 1
    return {key: dict(by_label) for key, by_label in counts.items()}


@dataclass(frozen=True, slots=True)
class Scope:
    """Stories with open cells, or without a table, that no other round asks for; `cells` by story id, empty sets where
    tables are asked for. `covered` counts by round those that one asks for."""

    stories: list[Story]
    cells: dict[int, set[Cell]]
    covered: dict[Prefill, int] = field(default_factory=dict)

    @property
    def left_out(self) -> str:
        """One sentence about the stories that rounds cover. Empty if there are none."""
        count = sum(self.covered.values())
        if not count:
            return ""
        which = listed(
            noted(prefill.uid, listed((prefill.endpoint.name, translated(prefill.job.standing))))
            for prefill in self.covered
        )
        sentence = ngettext(
            "{count} story is left out until this has ended with it: {which}.",
            "{count} stories are left out until this has ended with them: {which}.",
            count,
        )
        return sentence.format(count=count, which=which)


def scope_of(*, project: Project, stories: Sequence[Story], kind: str = RoundKind.LABELS) -> Scope:
    """Return what a new round may ask for, in the order of `stories`. A round asks for a story until its item has
    ended, also while the round is paused."""
    open_ = HANDLERS[kind].open_in(stories)
    prefills = project.prefills.filter(kind=kind).select_related("endpoint", "job")
    rounds = {prefill.job_id: prefill for prefill in prefills}
    items = Item.objects.still_open().filter(job__in=rounds)
    asking = {uid: rounds[job] for uid, job in items.values_list("key", "job_id")}
    chosen: list[Story] = []
    covered: dict[Prefill, int] = defaultdict(int)
    for story in stories:
        if story.withdrawn_at or story.pk not in open_:
            continue
        if story.uid in asking:
            covered[asking[story.uid]] += 1
        else:
            chosen.append(story)
    return Scope(chosen, open_, dict(covered))


def endpoints_for(kind: str) -> QuerySet[Endpoint]:
    """Return the endpoints in use that can do what a round of this kind asks: all except baselines for another task."""
    return Endpoint.objects.usable().able_to(HANDLERS[kind].task)


def check_able(endpoint: Endpoint, kind: str) -> None:
    """Raise PrefillRefused for a baseline of another task than a round of this kind asks."""
    task = HANDLERS[kind].task
    if endpoint.tasks is not None and task not in endpoint.tasks:
        able = gettext(" and ").join(name for name, model in endpoint.about.models.items() if task in model.tasks)
        sentence = gettext(HANDLERS[kind].cannot)
        raise PrefillRefused(sentence.format(endpoint=endpoint.name, model=endpoint.model, able=able))
