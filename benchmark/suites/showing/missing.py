"""Missing parts of models' figures, and the notes on them that are to be read first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmark.suites.registry import group_named, nouns_of_group, units_of_group
from benchmark.suites.results import EntrantResults
from benchmark.suites.showing.entrants import models_of, parses_in, unjudged
from core.messages import Sentence, as_sentence, clauses, gettext_noop, listed, quantity, sentences, word
from core.statistics import caution

UNMARKED = gettext_noop("Nothing is marked as best: {why}.")
LOST_OF_ONE = gettext_noop(
    "Judges or providers lost answers, or rows of them, in {stories} of {names}: that shows no difference against it."
)
LOST_OF_SEVERAL = gettext_noop(
    "Judges or providers lost answers, or rows of them, in {stories} of {names}: that shows no difference against them."
)
AT_THEIR_WORST = gettext_noop("Order, bold and letters count them at their worst.")
METRICS_WITHOUT = gettext_noop("Order counts them at their worst; the figures of this table leave them out.")
LEFT_OUT = gettext_noop("Rows pooled over stories leave them out.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What is missing of an entrant's figures: of so many `stories` that were asked for, those without a score are
    `unreadable`, of which judges or providers `lost` some; the score with all of them at their worst and at their best
    is `low` and `high`, None without a story."""

    stories: int
    unreadable: int
    lost: int
    low: float | None
    high: float | None

    @property
    def bounds(self) -> list[float] | None:
        """The two scores where they differ."""
        if self.low is None or self.high is None or self.low == self.high:
            return None
        return [self.low, self.high]

    @property
    def left_out(self) -> float | None:
        """The share of the stories that have no score."""
        return self.unreadable / self.stories if self.stories else None


def missing_of(entrant: EntrantResults, group: str) -> Missing:
    if ranking := entrant.ranking.get("repaired"):
        return Missing(
            stories=ranking.n, unreadable=ranking.missing, lost=ranking.lost, low=ranking.value, high=ranking.best
        )
    overall = entrant.parses.overall("repaired")
    low, high = overall.bounds_of(group_named(group).score) or (None, None)
    return Missing(stories=overall.asked, unreadable=overall.unreadable or 0, lost=0, low=low, high=high)


def leads(entrants: Sequence[EntrantResults], group: str) -> list[str]:
    """Return what has to be known before the ranking is read: missing answers that differ, models without a rank, no
    letters."""
    models = models_of(entrants)
    differing = differing_sentences((missing_text(models, group), unjudged_text(models)))
    told = [*differing, *_lost(models, group), *_incomplete_sets(models)]
    no_letters: Mapping[str, str] = next((entrant.no_letters for entrant in models if entrant.no_letters), {})
    read = [name for name in parses_in(models) if no_letters.get(name)]
    whys = {no_letters[name] for name in read}
    if len(whys) == 1 and len(read) == len(parses_in(models)):
        told.append(Sentence("No letters: {pop}.", pop=whys.pop()))
    else:
        told += [
            Sentence("No letters in the {name} parse: {no_letters}.", name=name, no_letters=no_letters[name])
            for name in read
        ]
    lettered = [entrant for entrant in models if any(entrant.group.values())]
    why = caution(fewest_ranked(lettered), units_of_group(group)) if lettered else ""
    return [*told, *([as_sentence(why)] if why else [])]


def unlike_missing(
    groups: Mapping[str, Sequence[EntrantResults]], *, titled: bool = True, counted: str = AT_THEIR_WORST
) -> list[str]:
    """Say, for tables without a ranking, in which metric groups missing answers differ between models, and by how much;
    `counted` says what becomes of them."""
    head = {group: f"{group_named(group).title}. " if titled else "" for group in groups}
    return [
        f"{head[group]}{sentence}"
        for group, counts in groups.items()
        for sentence in differing_sentences((missing_text(counts, group), unjudged_text(counts)), counted)
    ]


def fewest_ranked(entrants: Sequence[EntrantResults]) -> int:
    """Return on how many clusters the ranking of any of the entrants rests at least; without a ranking on how many
    samples their figures do."""
    rankings = [ranking for entrant in entrants for ranking in entrant.ranking.values() if ranking]
    if rankings:
        return min(ranking.n if ranking.clusters is None else ranking.clusters for ranking in rankings)
    return min((entrant.metrics.parses.overall("repaired").stories or 0 for entrant in entrants), default=0)


def missing_text(entrants: Sequence[EntrantResults], group: str) -> str:
    """Between which shares the missing answers of models lie; empty where all left out equally much."""
    shares = {entrant.model: missing_of(entrant, group).left_out or 0.0 for entrant in models_of(entrants)}
    return shares_text(shares, nouns_of_group(group)[1])


def shares_text(shares: Mapping[str, float], nouns: str = "stories") -> str:
    """Return what `missing_text` says, from the share of each model's samples, which `nouns` names."""
    if len(set(shares.values())) < 2:
        return ""
    most = max(shares, key=shares.__getitem__)
    return Sentence(
        "missing answers differ: {least} to {most_missing} % of the {nouns}, most of {most}",
        least=f"{100 * min(shares.values()):.1f}",
        most_missing=f"{100 * shares[most]:.1f}",
        nouns=word(nouns),
        most=most,
    )


def unjudged_text(entrants: Sequence[EntrantResults]) -> str:
    """Between which numbers the rows lie that judges left out; empty where they left out equally many of all models."""
    return rows_text({entrant.model: unjudged(entrant) for entrant in models_of(entrants)})


def rows_text(counts: Mapping[str, int]) -> str:
    """Return what `unjudged_text` says, from the number of each model's rows."""
    if len(set(counts.values())) < 2:
        return ""
    most = max(counts, key=counts.__getitem__)
    return Sentence(
        "rows not judged differ: {least} to {most_rows}, most of {most}",
        least=f"{min(counts.values()):,}",
        most_rows=f"{counts[most]:,}",
        most=most,
    )


def differing_sentences(parts: Iterable[str], counted: str = AT_THEIR_WORST) -> list[str]:
    """Return what differs, as a sentence, and after it what becomes of it; nothing where nothing differs."""
    text = clauses(*parts)
    return [sentences(as_sentence(text), counted)] if text else []


_LOST_SENTENCES = 2
"""So many different numbers of lost stories have a sentence each; of twenty models they would be a page of them."""


def _lost(models: Sequence[EntrantResults], group: str) -> list[str]:
    """Return what is not the models' doing: why some have no rank, then of how many stories others lack something."""
    sentences: list[str] = []
    alike: dict[int, list[str]] = {}
    for entrant in models:
        ranking = entrant.ranking.get("repaired")
        if not ranking or not ranking.lost:
            continue
        if ranking.reason:
            sentences.append(Sentence("{name}: {text}.", name=entrant.model, text=ranking.reason))
        else:
            alike.setdefault(ranking.lost, []).append(entrant.model)
    if len(alike) > _LOST_SENTENCES:
        low, high = min(alike), max(alike)
        many = Sentence(
            "Judges or providers lost answers, or rows of them, in {low} to {high} {group} of {len} "
            "models, most of {most}: that shows no difference against them.",
            low=f"{low:,}",
            high=f"{high:,}",
            group=nouns_of_group(group)[1],
            len=f"{sum(map(len, alike.values())):,}",
            most=alike[high][0],
        )
        return [*sentences, many]
    for lost, names in alike.items():
        stories = quantity(lost, *nouns_of_group(group))
        sentences.append(
            (LOST_OF_ONE if len(names) == 1 else LOST_OF_SEVERAL).format(stories=stories, names=listed(names))
        )
    return sentences


def _incomplete_sets(models: Sequence[EntrantResults]) -> list[str]:
    """Return how many sets have no figure because not all their samples were asked, models with as many in one
    sentence."""
    alike: dict[int, list[str]] = {}
    for entrant in models:
        if (analysis := entrant.metrics.analysed("repaired")) and (sets := analysis.incomplete):
            alike.setdefault(sets, []).append(entrant.model)
    return [
        Sentence(
            "{sets} sets, of which not all questions were asked, have no figure, of {names}.",
            sets=f"{sets:,}",
            names=listed(names),
        )
        if sets > 1
        else Sentence("1 set, of which not all questions were asked, has no figure, of {names}.", names=listed(names))
        for sets, names in alike.items()
    ]


def complete(entrants: Sequence[EntrantResults], parse: str) -> bool:
    """Return whether the models' figures are of the same stories and of all rows, so that the highest can be marked as
    best."""
    return not incomplete(entrants, parse)


def incomplete(entrants: Sequence[EntrantResults], parse: str) -> str:
    """Return why the highest figure cannot be marked as best; official figures count as 0 what is missing."""
    models = models_of(entrants) if parse == "repaired" else []
    whys = {
        gettext_noop("the models answered different stories"): any(
            entrant.parses.overall("repaired").unreadable for entrant in models
        ),
        gettext_noop("judges left out rows"): any(map(unjudged, models)),
    }
    return clauses(*(why for why, holds in whys.items() if holds))


def unmarked(entrants: Sequence[EntrantResults], parse: str) -> list[str]:
    """The note of a table without marks; none where the best can be marked."""
    why = incomplete(entrants, parse)
    return [UNMARKED.format(why=why)] if why else []
