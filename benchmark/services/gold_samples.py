"""Stories with settled gold as the samples that a version holds of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotation.domain.shipped_schemas import version_text
from annotation.models import GoldEvent, GoldLabel, Project, Proposition, Story, TableKind, User, Vote
from annotation.services.arms import Provenance, provenance_of
from annotation.services.decisions import Decisions, decisions_in
from benchmark.models import DatasetSample
from core.digests import json_digest, text_digest
from core.kept import keep_each, kept_each

IMPORTED = "imported"
_NAME = "gold-digests"
AT_ONCE = 200

ByPerson = dict[str, list[list[str]]]
"""{user name: [[label of each dimension, "" without one] of each proposition]}."""


def samples_of(project: Project, stories: Sequence[int]) -> Iterator[tuple[int, DatasetSample | None]]:
    """Yield each story with its sample, which is not saved; None where a cell of it is unsettled."""
    keys = project.schema.keys
    for at in range(0, len(stories), AT_ONCE):
        selected = Story.objects.filter(pk__in=stories[at : at + AT_ONCE]).select_related("category", "split")
        batch = list(selected.order_by("id"))
        tables: dict[int, list[Proposition]] = defaultdict(list)
        live = Proposition.objects.live_gold().filter(table__story__in=batch).select_related("table")
        for row in live.order_by("position"):
            tables[row.table.story_id].append(row)
        gold: dict[int, dict[str, tuple[str, str]]] = defaultdict(dict)
        labels = GoldLabel.objects.filter(proposition__table__story__in=batch, proposition__removed_at__isnull=True)
        for pk, key, label, method in labels.values_list("proposition_id", "dimension", "label", "method"):
            gold[pk][key] = (label, method)
        votes: Decisions = defaultdict(lambda: defaultdict(dict))
        cast = Vote.objects.cast().filter(proposition__table__story__in=batch)
        for pk, key, name, label in cast.values_list("proposition_id", "dimension", "annotator__username", "label"):
            votes[pk][name][key] = label
        decisions = decisions_in(GoldEvent.objects.filter(proposition__table__story__in=batch))
        provenance = provenance_of(batch)
        for story in batch:
            yield story.pk, _row(story, tables[story.pk], gold, votes, decisions, provenance, keys)


def _row(
    story: Story,
    table: list[Proposition],
    settled: Mapping[int, Mapping[str, tuple[str, str]]],
    votes: Decisions,
    decisions: Decisions,
    provenance: Provenance,
    keys: tuple[str, ...],
) -> DatasetSample | None:
    """Return the sample of a story; what was said of its `table` is by proposition id."""
    beliefs, methods = [], []
    for row in table:
        imported = row.imported_labels or {}
        cells = [settled[row.pk].get(key, (imported.get(key, ""), IMPORTED)) for key in keys]
        if not all(label for label, _ in cells):
            return None
        labels = {key: label for key, (label, _) in zip(keys, cells, strict=True)}
        beliefs.append({"actor": row.actor, "belief": row.belief, "labels": labels})
        methods.append([method for _, method in cells])
    if not beliefs:
        return None
    content = {
        "number": story.number,
        "category": story.category.name,
        "split": story.split.name if story.split else "",
        "text": story.text,
        "beliefs": beliefs,
        "methods": methods,
        "votes": _by_person(table, votes, keys),
        "adjudications": _by_person(table, decisions, keys),
    }
    gold: dict[str, Any] = {"beliefs": beliefs}
    if content["votes"]:  # no part of the digest: it follows from the votes
        suggested, blind, unknown = provenance
        shown = [[suggested[row.pk].get(key, "") for key in keys] for row in table]
        gold["provenance"] = {
            "suggested": shown if any(map(any, shown)) else [],
            "blind": _by_person(table, blind, keys),
            "unknown": _by_person(table, unknown, keys),
        }
    digest = json_digest(content, sort_keys=True, ensure_ascii=False)
    values = {name: content[name] for name in ("number", "category", "split", "methods", "votes", "adjudications")}
    identity = {"key": str(story.number), "cluster": str(story.number), "digest": digest}
    return DatasetSample(story=story, content={"story": story.text}, gold=gold, **identity, **values)


def _by_person(table: list[Proposition], labels: dict[int, dict[str, dict[str, str]]], keys: Sequence[str]) -> ByPerson:
    names = sorted({name for row in table for name in labels[row.pk]})
    return {name: [[labels[row.pk][name].get(key, "") for key in keys] for row in table] for name in names}


Samples = Mapping[int, DatasetSample | None]


def present_digest(project: Project) -> str | None:
    """Return the digest that a version published now would have; None where no story is settled."""
    return present(project)[0]


def present(project: Project, most: int | None = None) -> tuple[str | None, int, int]:
    """Return (digest that a version published now would have, stories read, all stories); of stories that changed, at
    most so many are read. The digest is None if no story is settled, and while stories are left to read."""
    stories = states(project)

    def read(parts: Sequence[int]) -> dict[int, str]:
        return {story: _value(sample) for story, sample in samples_of(project, parts)}

    values, left = kept_each(_NAME, project.pk, stories, read, most)
    # digests are made of names, and nothing else tells of one that changed: no account has it any more
    names = {name for value in set(values.values()) for name in value.split("\n")[1:]}
    unknown = names - set(User.objects.filter(username__in=names).values_list("username", flat=True)) if names else ()
    renamed = [pk for pk, value in values.items() if unknown and not unknown.isdisjoint(value.split("\n")[1:])]
    if renamed:
        keep_each(_NAME, project.pk, stories, {pk: value for pk, value in values.items() if pk not in renamed})
        values, left = kept_each(_NAME, project.pk, stories, read, most)
    settled = [digest for value in values.values() if (digest := value.partition("\n")[0])]
    return digest_of(project, settled) if settled and not left else None, len(values), len(stories)


def states(project: Project) -> dict[int, str]:
    """Return the state of each story in use with a gold table, in the corpus's order."""
    rows = Story.objects.filter(project=project, tables__kind=TableKind.GOLD).in_use().order_by("id")
    columns = ("counts__version", "number", "split__name", "category__name")
    return {story: " ".join(map(str, of_story)) for story, *of_story in rows.values_list("id", *columns)}


def keep(project: Project, stories: Mapping[int, str], samples: Samples) -> None:
    """Keep the digests of samples that were made of stories in these states."""
    keep_each(_NAME, project.pk, stories, {story: _value(sample) for story, sample in samples.items()})


def digest_of(project: Project, stories: Iterable[str]) -> str:
    """Return the digest of a version of settled stories, from theirs in the corpus's order."""
    return text_digest("\n".join([version_text(project.schema), project.rule_version, *stories]))


def _value(sample: DatasetSample | None) -> str:
    """Return a line with the digest, empty where a cell is unsettled, and one for each name that it is made of."""
    return "\n".join([sample.digest, *sorted({*sample.votes, *sample.adjudications})]) if sample else ""
