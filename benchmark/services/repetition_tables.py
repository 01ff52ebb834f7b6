"""Tables of single repetitions: their scores, the stories whose answers flip, and variance by prompt."""

from collections.abc import Sequence

from benchmark.domain.flips import Flips
from benchmark.domain.tables import Cell, Cells, Column, Table
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named
from benchmark.suites.reports import Repetitions
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import repetitions_of
from core.messages import Sentence, gettext_noop, word
from core.plain import Json

MOST_STORIES = 30
"""Most stories of the table; the page of flips has all answers."""
REPEATED = gettext_noop(
    "Spread: the standard deviation of the score between repetitions; lowest and highest are those of single "
    "repetitions."
)
SAME_ANSWER = gettext_noop(
    "Same answer in all: the share to which every repetition gives the same answer; an answer that cannot be read is "
    "another than any that can. In the repaired parse."
)
SAME_SCORE = gettext_noop(
    "Same score: the share with the same score each time, of those with a score each time; two wrong answers have the "
    "same score, whatever they say."
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


def flip_columns(flipped: str, same: str) -> list[Column]:
    """Return the columns of the flips of a cluster, under these headers."""
    return [
        Column(key="compared", header=gettext_noop("Compared"), kind="count"),
        Column(key="flipped", header=flipped, kind="count"),
        Column(key="same", header=same, kind="share", unit="%"),
    ]


def _variance(key: str, header: str) -> Column:
    return Column(key=key, header=header, kind="share", group=gettext_noop("Variance (%)"))


def repetition_table(entrants: Sequence[EntrantResults], group: str, parse: str) -> Table:
    """Tabulate the scores of single repetitions, and how many answers are the same in all."""
    shares = {
        "mean": gettext_noop("Mean of one"),
        "spread": gettext_noop("Spread"),
        "lowest": gettext_noop("Lowest"),
        "highest": gettext_noop("Highest"),
        "same_answer": gettext_noop("Same answer in all"),
        "same_score": gettext_noop("Same score in all"),
    }
    return Table(
        title=Sentence(
            "{score_title} of single repetitions, {parse} parse (%)",
            score_title=group_named(group).score_title,
            parse=word(parse),
        ),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            Column(key="repetitions", header=gettext_noop("Repetitions"), kind="count"),
            *(Column(key=key, header=header, kind="share") for key, header in shares.items()),
            _variance("of_samples", Sentence("Between {group}", group=nouns_of_group(group)[1])),
            _variance("of_repetitions", gettext_noop("Between repetitions")),
        ],
        rows=[_repetition_row(entrant, parse) for entrant in entrants],
        notes=[REPEATED, SAME_ANSWER, COMPARED, SAME_SCORE, SPLIT],
    )


def _repetition_row(entrant: EntrantResults, parse: str) -> Cells:
    repetitions = repetitions_of(entrant, parse) or Repetitions()
    row: Cells = {"model": entrant.model, "same_answer": repetitions.answers and repetitions.answers.same_answer}
    if scores := repetitions.scores:
        names = ("repetitions", "mean", "spread", "lowest", "highest", "same_score")
        row |= {name: getattr(scores, name) for name in names}
        row["of_samples"] = Cell(scores.of_samples, scores.of_samples_interval)
        row["of_repetitions"] = Cell(scores.of_repetitions, scores.of_repetitions_interval)
    return row


def flips_of(entrant: EntrantResults) -> Sequence[Flips]:
    """Return the stories to which an entrant's repetitions gave different answers (repaired parse)."""
    repetitions = repetitions_of(entrant, "repaired")
    return repetitions.answers.stories if repetitions and repetitions.answers else ()


def repetition_story_table(entrants: Sequence[EntrantResults], group: str) -> Table:
    """Tabulate the stories to which repetitions gave different answers (repaired parse), those with the most first."""
    singular, many = suite_named(group_suite(group)).cluster
    rows: list[Cells] = [
        {"story": cluster, "model": entrant.model, "compared": compared, "flipped": flipped}
        | {"same": 1 - flipped / compared}
        for entrant in entrants
        for cluster, compared, flipped in flips_of(entrant)
    ]
    rows.sort(key=lambda row: (row["same"], -row["flipped"], row["story"], row["model"]))
    notes: list[str] = [SAME_ANSWER, COMPARED]
    if len(rows) > MOST_STORIES:
        notes.append(Sentence("The first {most_stories} of {rows}.", most_stories=MOST_STORIES, rows=f"{len(rows):,}"))
    return Table(
        title=Sentence(
            "{many} whose answers flip between repetitions: {score_title}",
            many=many.capitalize(),
            score_title=group_named(group).score_title,
        ),
        columns=[
            Column(key="story", header=singular.capitalize()),
            Column(key="model", header=gettext_noop("Model")),
            *flip_columns(gettext_noop("Another answer"), gettext_noop("Same answer in all")),
        ],
        rows=rows[:MOST_STORIES],
        notes=notes,
    )


def prompt_table(splits: Sequence[Json], group: str) -> Table:
    """Tabulate the variance between prompts, samples and repetitions (`prompt_splits`)."""
    many = nouns_of_group(group)[1]
    variances = {
        "of_samples": Sentence("Between {many}", many=word(many)),
        "of_prompts": gettext_noop("Between prompts"),
        "of_repetitions": gettext_noop("Between repetitions"),
    }
    names = dict.fromkeys(name for split in splits for name in split["prompts"])
    below = gettext_noop("{model}: the estimate between prompts is below 0.")
    return Table(
        title=Sentence(
            "{score_title}: variance between {many}, prompts and repetitions (%)",
            score_title=group_named(group).score_title,
            many=word(many),
        ),
        columns=[
            Column(key="model", header=gettext_noop("Model")),
            Column(key="prompts", header="Prompts", kind="count"),
            Column(key="samples", header=many.capitalize(), kind="count"),
            Column(key="n", header=gettext_noop("Scores"), kind="count"),
            *(_variance(key, header) for key, header in variances.items()),
        ],
        rows=[
            {**split, "prompts": len(split["prompts"])}
            | {key: Cell(split.get(key), split.get(f"{key}_interval")) for key in variances}
            for split in splits
        ],
        notes=[
            PROMPTS,
            f"Prompts: {'; '.join(names)}.",
            *(Sentence(below, model=split["model"]) for split in splits if "of_prompts" in split.get("below", ())),
            *(
                Sentence("{name}: {text}.", name=split["model"], text=split["reason"])
                for split in splits
                if "reason" in split
            ),
        ],
    )
