"""Tables of single repetitions: their scores, the stories whose answers flip, and variance by prompt."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from benchmark.domain.asked_again import Flips
from benchmark.domain.tables import Cell, Cells, Column, Table
from benchmark.models import Entrant, Run, StoryScores
from benchmark.services.conditions import asking_in_words, conditions_of
from benchmark.services.reports import reports_of
from benchmark.suites.figures import columns_of, scores_by_turn
from benchmark.suites.registry import group_named, group_suite, nouns_of_group, suite_named
from benchmark.suites.reports import Repetitions
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import repetitions_of
from core.kept import kept_as
from core.messages import Sentence, gettext_noop, word
from core.plain import Json
from core.statistics.variance import CLUSTERS, CONDITIONS, REPETITIONS, variance_split
from workers.models import JobState

Score = tuple[float, int, str, int]
"""(score, number of the sample, prompts in words, repetition). Samples that count together stand under the first."""
_SHARES = {CLUSTERS: "of_samples", CONDITIONS: "of_prompts", REPETITIONS: "of_repetitions"}
"""Names of a split's shares by those of the statistic."""


def prompt_splits(run: Run, groups: Mapping[str, Sequence[EntrantResults]]) -> dict[str, list[Json]]:
    """Return, by metric group, how the variance of each model's scores splits between samples, prompts and repetitions,
    if other finished runs asked the model the same with other prompts.

    A split is {model, prompts in words, samples, n of scores, of_samples, of_prompts, of_repetitions}, if present with
    the `_interval` of each share, the names of shares `below` 0, the number of samples `left_out` without all scores,
    and the `reason` for no shares.

    Of `groups`, the run's entrants by group, those of a run that asks everything several times. The runs differ in
    nothing but their prompts; of those with the same prompts the newest counts. Samples count that have a score in
    every repetition with all of them.
    """
    if run.control or run.imported or run.parameters.repetitions < 2:
        return {}
    listed = Run.objects.listed().filter(dataset=run.dataset_id, suite=run.suite, answer_format=run.answer_format)
    finished = listed.filter(job__state=JobState.FINISHED).exclude(pk=run.pk).order_by("-pk")
    runs = finished.select_related("project", "dataset", "judge", "source", "job").prefetch_related("entrants")
    # of answers that were made elsewhere nobody knows how they were asked for
    others = [other for other in runs if not other.imported and asking_in_words(other) == asking_in_words(run)]
    if not others:
        return {}
    reports_of([run, *others])  # what is kept of them is of their answers as they are
    splits = {group: [*_of_group(run, others, group, entrants)] for group, entrants in groups.items()}
    return {group: rows for group, rows in splits.items() if rows}


def _of_group(run: Run, others: Sequence[Run], group: str, entrants: Sequence[EntrantResults]) -> Iterable[Json]:
    own = {entrant.pk: entrant for entrant in run.entrants.all()}
    conditions = {asked.pk: conditions_of(asked, group, reads=True) for asked in (run, *others)}
    alike = [other for other in others if conditions[other.pk]["judge"] == conditions[run.pk]["judge"]]
    for entrant in entrants:
        if entrant.kind != "model" or entrant.entrant not in own:
            continue
        model = own[entrant.entrant]
        same: dict[str, tuple[str, Entrant]] = {}
        for twin in (model, *(twin for other in alike for twin in other.entrants.all())):
            if twin.name == model.name and twin.asked_as.identity == model.asked_as.identity:
                prompts, digest = conditions[twin.run_id]["prompts"] or ("", "")
                same.setdefault(digest, (prompts, twin))
        if len(same) < 2:
            continue
        asked = list(same.values())
        scores = StoryScores.objects.current().filter(entrant__in=[twin for _, twin in asked])
        asked_with = sorted((twin.pk, prompts) for prompts, twin in asked)
        facts = [group, list(scores.order_by("pk").values_list("pk", flat=True)), asked_with]
        yield {"model": entrant.model, **kept_as("prompts", facts, partial(_split, asked, group))}


def _split(asked: Sequence[tuple[str, Entrant]], group: str) -> Json:
    """Return the split of the scores of (prompts in words, entrant), over the samples that have one in every repetition
    with all of the prompts."""
    stored = StoryScores.objects.current().filter(entrant__in=[entrant for _, entrant in asked])
    kept = dict(stored.values_list("entrant", "metrics"))
    by_sample: dict[int, list[Score]] = defaultdict(list)
    cells = set()
    for prompts, entrant in asked:
        columns = columns_of(kept.get(entrant.pk, {}).get(group), "repaired")
        for repetition, scores in enumerate(scores_by_turn(columns, group_named(group).score)):
            for sample, score in scores.items():
                by_sample[sample].append((score, sample, prompts, repetition))
                cells.add((prompts, repetition))
    rows = [score for scores in by_sample.values() if len(scores) == len(cells) for score in scores]
    values, samples, names, _ = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    split = variance_split(values, samples, names)
    optional: Json = {f"{_SHARES[name]}_interval": list(ends) for name, ends in split.intervals.items()}
    optional |= {"below": [_SHARES[name] for name in split.below], "left_out": split.left_out, "reason": split.reason}
    return {
        "prompts": sorted(set(names)),
        "samples": len(set(samples)) - split.left_out,
        "n": split.n,
        "of_samples": split.clusters,
        "of_prompts": split.conditions,
        "of_repetitions": split.repetitions,
    } | {name: value for name, value in optional.items() if value}


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
    rows: list[Cells] = []
    for entrant in entrants:
        repetitions = repetitions_of(entrant, parse) or Repetitions()
        same = repetitions.answers and repetitions.answers.same_answer
        rows.append({"model": entrant.model, "same_answer": same})
        if scores := repetitions.scores:
            names = ("repetitions", "mean", "spread", "lowest", "highest", "same_score")
            rows[-1] |= {name: getattr(scores, name) for name in names}
            rows[-1]["of_samples"] = Cell(scores.of_samples, scores.of_samples_interval)
            rows[-1]["of_repetitions"] = Cell(scores.of_repetitions, scores.of_repetitions_interval)
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
        rows=rows,
        notes=[REPEATED, SAME_ANSWER, COMPARED, SAME_SCORE, SPLIT],
    )


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
