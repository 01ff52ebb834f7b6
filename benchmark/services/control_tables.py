"""Tables and pictures of what models come to under controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from benchmark.controls.chosen import CONTROLS, STORYLESS
from benchmark.domain.beside import ControlResults, ControlRow, Left
from benchmark.domain.drawn import Plot
from benchmark.domain.plots import control_differences, without_story
from benchmark.domain.tables import OF, Cells, Column, Items, Source, Table, with_items
from benchmark.services.comparison_tables import TEST_COLUMNS, difference_cells, side_columns
from benchmark.services.repetition_tables import COMPARED
from benchmark.suites.registry import (
    group_named,
    group_suite,
    nouns_of_group,
    ordered_keys,
    suite_named,
    units_of_group,
)
from benchmark.suites.results import Section, ShownPicture, ShownTable
from core.messages import Sentence, gettext_noop, listed, word
from core.statistics import MISSING_RULE

OF_ONE = gettext_noop("{row}: nothing changes of what {groups} counts, so no difference is shown.")
OF_SEVERAL = gettext_noop("{row}: nothing changes of what {groups} count, so no difference is shown.")

MOST_STORIES = 100
"""Most stories of a table of flips; the page of flips has all."""
SAME_ANSWER = gettext_noop(
    "Same answer: the share of what a model answered both ways to which it gave the same answer; an answer that cannot "
    "be read is another than any that can."
)
SAME_SCORE = gettext_noop(
    "Same score: the share with the same score, of what has one both ways; two wrong answers have the same score, "
    "whatever they say."
)
NO_BASELINE = gettext_noop(
    "No baseline was asked: with “random” among the models, the table has what guessing gives beside what cues give."
)
OF_SETS = gettext_noop(
    "A set of which a control changes some questions counts under it with its other answers as published: they "
    "are to the same questions."
)
AT_CHANCE = gettext_noop(
    "The score without the story is what cues in question and options give by themselves, or memory; rows of "
    "baselines say what guessing gives."
)


def control_sections(keys: Sequence[str]) -> list[Section]:
    """Return the parts of a page that controls have."""
    return [
        Section(
            "Controls",
            (*(f"controls-{key}" for key in keys), *(f"cues-{key}" for key in keys)),
            (*(f"controls-{key}" for key in keys), "controls-left", *(f"flips-{key}" for key in keys)),
        )
    ]


def control_tables(controls: ControlResults, parse: str) -> Iterator[tuple[str, ShownTable]]:
    """Yield the tables of one parse by name, without the parse."""
    for group in ordered_keys(controls.rows):
        rows = controls.rows[group][parse]
        if rows:
            yield (
                f"controls-{group}",
                ShownTable(partial(difference_table, rows, controls, group, parse)),
            )
            if any(row.stories for row in rows):
                yield f"flips-{group}", ShownTable(partial(flip_table, rows, group, parse))
    yield "controls-left", ShownTable(partial(left_table, controls.left))


def difference_table(rows: Sequence[ControlRow], controls: ControlResults, group: str, parse: str) -> Table:
    """Tabulate each model under each control, beside what it comes to as published."""
    share = partial(Column, kind="share", unit="%")
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        share(key="published", header=gettext_noop("As published")),
        share(key="controlled", header=gettext_noop("Under the control")),
        Column(
            key="value",
            header=gettext_noop("Difference"),
            unit="points",
            kind="share",
        ),
        *TEST_COLUMNS,
        *side_columns(group, gettext_noop("As published"), gettext_noop("Under the control")),
        share(key="same_answer", header=gettext_noop("Same answer"), group=gettext_noop("Both ways")),
        share(key="same_score", header=gettext_noop("Same score"), group=gettext_noop("Both ways")),
        Column(key="flipped", header=_another(rows), group=gettext_noop("Both ways"), kind="count"),
    ]
    title = Sentence(
        "{score_title} under controls, {parse} parse", score_title=group_named(group).score_title, parse=word(parse)
    )
    lead = [
        Sentence("{name}: {text}.", name=CONTROLS[name].title.capitalize(), text=CONTROLS[name].interpretation)
        for name in dict.fromkeys(row.control for row in rows)
    ]
    if controls.unfinished:
        lead.append(
            Sentence(
                "Not finished: {unfinished}. What has no answer yet counts as missing.",
                unfinished=listed(controls.unfinished),
            )
        )
    notes = [
        controls.methods[group][parse],
        MISSING_RULE,
        *([] if _by_score(rows) else [SAME_ANSWER, COMPARED]),
        SAME_SCORE,
    ]
    if group_named(group).counts and any(row.same for row in controls.left):
        notes.append(OF_SETS)
    if any(row.control == STORYLESS.name for row in rows):
        notes.append(AT_CHANCE if any(row.kind == "baseline" for row in rows) else NO_BASELINE)
    return Table(
        title=title,
        columns=columns,
        rows=[_cells(row, group) for row in rows],
        section="control",
        lead=lead,
        notes=notes,
    )


def _by_score(rows: Sequence[ControlRow]) -> bool:
    """Return whether flips are of scores, as it is not known what answers say."""
    return all(row.by_score for row in rows)


def _another(rows: Sequence[ControlRow]) -> str:
    return gettext_noop("Another score") if _by_score(rows) else gettext_noop("Another answer")


def _cells(row: ControlRow, group: str) -> Cells:
    cells = {
        "model": row.model, "control": row.title.capitalize(), "published": row.published,
        "controlled": row.controlled, **difference_cells(row), "same_answer": row.same_answer,
        "same_score": row.same_score, "flipped": len(row.flips),
    }  # fmt: skip
    beside = Items(run=row.beside or "", entrant=row.beside_entrant)
    where = {"controlled": beside, "second_missing": beside} if row.beside_entrant else {}
    source = Source(key=row.key, kind=row.kind, run=row.run, entrant=row.entrant, group=group, unranked=True)
    return {**with_items(cells, where), OF: source}


def left_table(left: Sequence[Left]) -> Table:
    """Tabulate what each control leaves as it is, and why."""
    many = left[0].noun[1] if left else "samples"
    columns = [
        Column(key="title", header=gettext_noop("Control")),
        Column(key="samples", header=many.capitalize(), kind="count"),
        Column(key="same", header=gettext_noop("Left as they are"), kind="count"),
        Column(key="why", header=gettext_noop("Why")),
        Column(key="numbers", header=gettext_noop("Their numbers")),
        Column(key="steps", header=gettext_noop("Steps left out")),
    ]
    rows = [
        {
            "title": row.title.capitalize(), "samples": row.samples, "same": row.same,
            "why": row.why or None, "numbers": row.numbers or None, "steps": row.steps or None,
        }
        for row in left
    ]  # fmt: skip
    notes = [
        gettext_noop(
            "What stays as it is was not asked again, and is in no difference but those of sets of "
            "which something changes."
        )
    ]
    notes += [
        (OF_SEVERAL if row.still[1:] else OF_ONE).format(row=row.title.capitalize(), groups=listed(row.still))
        for row in left
        if row.still
    ]
    notes += [
        Sentence("{row}: no figures. {unread}", row=row.title.capitalize(), unread=row.unread)
        for row in left
        if row.unread
    ]
    return Table(title=gettext_noop("What controls leave as it is"), columns=columns, rows=rows, notes=notes)


def flip_table(rows: Sequence[ControlRow], group: str, parse: str) -> Table:
    """Tabulate the stories in which answers flip, those with the most first."""
    singular, many = suite_named(group_suite(group)).cluster
    compared: dict[str, list[int]] = {}
    models: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        for cluster, count, flipped in row.stories:
            total = compared.setdefault(cluster, [0, 0])
            total[0], total[1] = total[0] + count, total[1] + flipped
            models.setdefault(cluster, set()).add((row.key, row.control))
    flips = sorted(compared.items(), key=lambda pair: (-pair[1][1] / pair[1][0], -pair[1][1], pair[0]))
    same = gettext_noop("Same score") if _by_score(rows) else gettext_noop("Same answer")
    columns = [
        Column(key="story", header=singular.capitalize()),
        Column(key="compared", header=gettext_noop("Compared"), kind="count"),
        Column(key="flipped", header=_another(rows), kind="count"),
        Column(key="same", header=same, kind="share", unit="%"),
        Column(key="whose", header=gettext_noop("Models and controls"), kind="count"),
    ]
    listed = [
        {
            "story": cluster,
            "compared": total,
            "flipped": flipped,
            "same": 1 - flipped / total,
            "whose": len(models[cluster]),
        }
        for cluster, (total, flipped) in flips[:MOST_STORIES]
    ]
    notes = [
        (
            Sentence(
                "Compared: {group} answered as published and under a control, of the models and controls "
                "(counted in the last column) under which one of the {singular} flips.",
                group=nouns_of_group(group)[1],
                singular=word(singular),
            )
        )
    ]
    if len(flips) > MOST_STORIES:
        notes.append(
            Sentence(
                "The first {most_stories} of {flips} {many}.",
                most_stories=MOST_STORIES,
                flips=f"{len(flips):,}",
                many=word(many),
            )
        )
    title = Sentence(
        "{many} whose answers flip: {score_title}, {parse} parse",
        many=many.capitalize(),
        score_title=group_named(group).score_title,
        parse=word(parse),
    )
    return Table(title=title, columns=columns, rows=listed, notes=notes)


def control_pictures(controls: ControlResults, parse: str) -> Iterator[tuple[str, ShownPicture]]:
    """Yield the pictures of one parse by name, without the parse."""
    for group in ordered_keys(controls.rows):
        rows = controls.rows[group][parse]
        score = group_named(group).score_title
        models = [row for row in rows if row.kind == "model"]
        if models:
            title = Sentence("{score}: published less controlled", score=word(score))
            yield f"controls-{group}", ShownPicture(title, partial(_differences, models, group, parse))
        cues = [row for row in rows if row.control == STORYLESS.name]
        if cues:
            title = Sentence("{score} without the story", score=word(score))
            yield f"cues-{group}", ShownPicture(title, partial(_cues, cues, score, parse))


def _differences(rows: Sequence[ControlRow], group: str, parse: str) -> Plot:
    drawn = control_differences(rows, score=group_named(group).score_title, parse=parse)
    return drawn.about(over=units_of_group(group))


def _cues(rows: Sequence[ControlRow], score: str, parse: str) -> Plot:
    return without_story(rows, score=score, parse=parse)
