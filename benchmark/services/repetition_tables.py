"""Tables of single repetitions: what they came to, the stories whose answers flip, and variance by prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmark.domain.flips import Flips
from benchmark.domain.tables import Cells, Column, Table
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named
from benchmark.suites.reports import Repetitions
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import repetitions_of
from core.messages import Sentence, gettext_noop, word
from core.plain import Json

REPEATED = gettext_noop(
    "Spread: the standard deviation of the score between repetitions; lowest and highest are those of single "
    "repetitions."
)

SAME_ANSWER = gettext_noop(
    "Same answer in all: the share to which every repetition gives the same answer; an answer that cannot be read is "
    "another than any that can. In the repaired parse."
)
SAME_SCORE = gettext_noop(
    "Same score in all: the share with the same score in every repetition, of those with a score in all; two wrong "
    "answers have the same score, whatever they say."
)
COMPARED = gettext_noop(
    "Answers are compared by what they say, whatever names stand in it. Of a set: all of its answers; of labels: all "
    "of a table; of judged rows, which are worded differently each time: the gold rows that they match, and how "
    "many match none. Facts in free words are compared by their score."
)
SPLIT = gettext_noop(
    "Variance: of single scores, by a mixed model with a random intercept for each, without the noise of means; "
    "brackets: 95 % intervals by a parametric bootstrap. None where it cannot be split."
)


PROMPTS = gettext_noop(
    "Variance: of single scores in the repaired parse, by the same model with a fixed effect of each prompt and a "
    "random one within each sample, over finished runs that differ in their prompts alone; of samples with a score "
    "in every repetition with all of them. Estimates below 0 stand as 0."
)


def repetition_table(entrants: Sequence[EntrantResults], group: str, parse: str) -> Table:
    """Tabulate what single repetitions came to, beside the score over all of them."""
    described = group_named(group)
    share = partial(Column, kind="share")
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        Column(key="repetitions", header=gettext_noop("Repetitions"), kind="count"),
        share(key="mean", header=gettext_noop("Mean of one")),
        share(key="spread", header=gettext_noop("Spread")),
        share(key="lowest", header=gettext_noop("Lowest")),
        share(key="highest", header=gettext_noop("Highest")),
        share(key="same_answer", header=gettext_noop("Same answer in all")),
        share(key="same_score", header=gettext_noop("Same score in all")),
        share(
            key="of_samples",
            header=Sentence("Between {group}", group=nouns_of_group(group)[1]),
            group=gettext_noop("Variance (%)"),
            interval="of_samples_interval",
        ),
        share(
            key="of_repetitions",
            header=gettext_noop("Between repetitions"),
            group=gettext_noop("Variance (%)"),
            interval="of_repetitions_interval",
        ),
    ]
    rows = [_repetition_row(entrant, parse) for entrant in entrants]
    title = Sentence(
        "{score_title} of single repetitions, {parse} parse (%)", score_title=described.score_title, parse=word(parse)
    )
    notes = [REPEATED, SAME_ANSWER, COMPARED, SAME_SCORE, SPLIT]
    return Table(title=title, columns=columns, rows=rows, notes=notes)


def _repetition_row(entrant: EntrantResults, parse: str) -> Cells:
    repetitions = repetitions_of(entrant, parse) or Repetitions()
    row: Cells = {"model": entrant.model, "same_answer": repetitions.answers and repetitions.answers.same_answer}
    if scores := repetitions.scores:
        row |= {"repetitions": scores.repetitions, "mean": scores.mean, "spread": scores.spread}
        row |= {"same_score": scores.same_score}
        row |= {"lowest": scores.lowest, "highest": scores.highest}
        row |= {"of_samples": scores.of_samples, "of_repetitions": scores.of_repetitions}
        row |= {"of_samples_interval": scores.of_samples_interval}
        row |= {"of_repetitions_interval": scores.of_repetitions_interval}
    return row


MOST_STORIES = 30
"""Most stories of the table; the page of flips has all answers."""


def flips_of(entrant: EntrantResults) -> Sequence[Flips]:
    """Return the stories to which an entrant's repetitions gave different answers (repaired parse)."""
    repetitions = repetitions_of(entrant, "repaired")
    return repetitions.answers.stories if repetitions and repetitions.answers else ()


def repetition_story_table(entrants: Sequence[EntrantResults], group: str) -> Table:
    """Tabulate the stories to which repetitions gave different answers (repaired parse), those with the most first."""
    singular, many = suite_named(group_suite(group)).cluster
    rows = [
        {"story": cluster, "model": entrant.model, "compared": compared, "flipped": flipped}
        | {"same": 1 - flipped / compared}
        for entrant in entrants
        for cluster, compared, flipped in flips_of(entrant)
    ]
    rows.sort(key=lambda row: (row["same"], -row["flipped"], row["story"], row["model"]))
    columns = [
        Column(key="story", header=singular.capitalize()),
        Column(key="model", header=gettext_noop("Model")),
        Column(key="compared", header=gettext_noop("Compared"), kind="count"),
        Column(key="flipped", header=gettext_noop("Another answer"), kind="count"),
        Column(key="same", header=gettext_noop("Same answer in all"), kind="share", unit="%"),
    ]
    more = (
        [Sentence("The first {most_stories} of {rows}.", most_stories=MOST_STORIES, rows=f"{len(rows):,}")]
        if len(rows) > MOST_STORIES
        else []
    )
    return Table(
        title=Sentence(
            "{many} whose answers flip between repetitions: {score_title}",
            many=many.capitalize(),
            score_title=group_named(group).score_title,
        ),
        columns=columns,
        rows=rows[:MOST_STORIES],
        notes=[SAME_ANSWER, COMPARED, *more],
    )


def prompt_table(splits: Sequence[Json], group: str) -> Table:
    """Tabulate `prompt_splits` of a metric group: what lies between prompts, beside what lies between samples and
    between repetitions."""
    many = nouns_of_group(group)[1]
    share = partial(Column, kind="share", group=gettext_noop("Variance (%)"))
    columns = [
        Column(key="model", header=gettext_noop("Model")),
        Column(key="prompts", header="Prompts", kind="count"),
        Column(key="samples", header=many.capitalize(), kind="count"),
        Column(key="n", header=gettext_noop("Scores"), kind="count"),
        share(key="of_samples", header=Sentence("Between {many}", many=word(many)), interval="of_samples_interval"),
        share(key="of_prompts", header=gettext_noop("Between prompts"), interval="of_prompts_interval"),
        share(key="of_repetitions", header=gettext_noop("Between repetitions"), interval="of_repetitions_interval"),
    ]
    rows = [{**split, "prompts": len(split["prompts"])} for split in splits]
    names = dict.fromkeys(name for split in splits for name in split["prompts"])
    reasons = [
        Sentence("{name}: {text}.", name=split["model"], text=split["reason"]) for split in splits if "reason" in split
    ]
    below = [
        Sentence("{model}: the estimate between prompts is below 0.", model=split["model"])
        for split in splits
        if "of_prompts" in split.get("below", ())
    ]
    notes = [PROMPTS, f"Prompts: {'; '.join(names)}.", *below, *reasons]
    return Table(
        title=Sentence(
            "{score_title}: variance between {many}, prompts and repetitions (%)",
            score_title=group_named(group).score_title,
            many=word(many),
        ),
        columns=columns,
        rows=rows,
        notes=notes,
    )
