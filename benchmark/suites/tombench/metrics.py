"""Votes over the tries of an item, and accuracy per task, per ability and overall.

The official and the repaired way differ in three things. Officially every answer is a vote, an item is right where the
majority equals the answer cell to the character, and abilities are the raw strings. Repaired, an answer that names no
option is not a vote, the cell's letter counts, and abilities are trimmed. In both a group without a right item has the
accuracy 0, which the released code leaves out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.domain.estimating import StoryScore
from benchmark.suites.answers import BadAnswers, ParsedScores, answer_scores, read_answers
from benchmark.suites.groups import ANSWERS, GUESSED, MetricGroup, Parts
from benchmark.suites.measuring import measured_samples
from benchmark.suites.questions import PARSES, Entered, Outcome, Resources, Sample
from benchmark.suites.reasons import tries_unanswered
from benchmark.suites.reports import GroupMetrics
from benchmark.suites.tombench.data import (
    LETTERS,
    NO_OPTION,
    TRIES,
    load,
    options_of,
    question_id,
    released_orders,
    show,
)
from benchmark.suites.tombench.parsing import extract_official, parse_official, parse_repaired
from benchmark.suites.tombench.steps import ANSWER, COUNTED, STEPS, commonest, count_letters
from core.incoming.thoughts import without_thoughts
from core.messages import gettext_noop
from core.plain import Json


@dataclass(frozen=True, slots=True)
class VotedItem:
    """One item and the votes of its tries, in the order of the tries.

    `gold` is the answer cell as it stands in the data, `ability` its raw string. A vote is an original letter;
    officially also the empty string (a letter that was not shown), repaired also that letter itself, which is never
    right, and None (no option chosen).
    """

    task: str
    ability: str
    gold: str
    votes: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The number of a group's items that are right. `unparsed` items have no vote at all: `value` leaves them out, and
    `bounds` take them as wrong and as right."""

    items: int
    correct: int
    unparsed: int

    @property
    def value(self) -> float | None:
        """The share of right items among those with a vote, from 0 to 1. None where there is none."""
        voted = self.items - self.unparsed
        return self.correct / voted if voted else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The shares among all items, from 0 to 1, with the unparsed ones as wrong and as right."""
        return self.correct / self.items, (self.correct + self.unparsed) / self.items


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Accuracy overall, by task and by ability; tasks and abilities are in the order of their first item.

    `overall` pools all items; None where there is none.
    """

    overall: Accuracy | None
    tasks: Mapping[str, Accuracy]
    abilities: Mapping[str, Accuracy]


def majority(votes: Iterable[str | None]) -> str | None:
    """Return the most frequent vote of the tries that chose an option; of equally frequent ones that which was cast
    first. None without a vote."""
    counts = Counter(vote for vote in votes if vote is not None)
    return max(counts.items(), key=lambda item: item[1], default=(None, 0))[0]


def is_correct_officially(item: VotedItem) -> bool:
    """Return whether the majority equals the answer cell to the character: never for a cell such as `A. `."""
    return majority(item.votes) == item.gold


def is_correct(item: VotedItem) -> bool:
    """Return whether the majority is the letter of the answer cell; false where no try chose an option."""
    return majority(item.votes) == item.gold.strip()[:1]


def official_accuracies(items: Sequence[VotedItem]) -> Accuracies:
    """Return the accuracies as the released code computes them, with groups of accuracy 0 and an overall figure
    added."""
    return _accuracies(items, is_correct_officially, lambda ability: ability)


def repaired_accuracies(items: Sequence[VotedItem]) -> Accuracies:
    """Return the repaired accuracies; abilities that differ only in outer space are one."""
    return _accuracies(items, is_correct, str.strip)


def _accuracies(
    items: Sequence[VotedItem], is_right: Callable[[VotedItem], bool], named: Callable[[str], str]
) -> Accuracies:
    def by(name_of: Callable[[VotedItem], str]) -> dict[str, Accuracy]:
        groups: dict[str, list[VotedItem]] = {}
        for item in items:
            groups.setdefault(name_of(item), []).append(item)
        unparsed = {name: sum(majority(item.votes) is None for item in group) for name, group in groups.items()}
        return {name: Accuracy(len(group), sum(map(is_right, group)), unparsed[name]) for name, group in groups.items()}

    return Accuracies(by(lambda item: "").get(""), by(lambda item: item.task), by(lambda item: named(item.ability)))


_PLACES = 10
"""Decimals of an accuracy."""


def score_answers(data: Path, answers: Path, *, language: str = "en") -> ParsedScores:
    """Return the scores of a file of answers by `<task>/<line from 0>/<try from 0>` to the copy in the folder
    `data`, with accuracies from 0 to 1; only questions with an answer are scored.

    An official answer is [the letter that is taken, the original one], a repaired one the original letter, that which
    was chosen without being offered, or None where no option is chosen. Official metrics leave out what is 0, as the
    released code does; repaired ones have `overall` and say what was `unparsed`. Raises ValueError.
    """
    samples = load(data, languages=language).samples
    orders, texts = released_orders(samples), read_answers(answers)
    tries = {question_id(sample, attempt): (sample, attempt) for sample in samples for attempt in range(TRIES)}
    official, repaired = {}, {}
    for name in texts:
        if name not in tries:
            raise BadAnswers(
                f"{answers.name}: there is no question {name!r:.80}; expected <task>/<line from 0>/<try from 0 to "
                f"{TRIES - 1}>."
            )
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadAnswers(f"{answers.name}: the answer {name!r:.80} is not a text; expected what the model said.")
        sample, attempt = tries[name]
        displayed = show(options_of(sample), orders[sample.key][attempt])
        official[name] = [extract_official(text), parse_official(text, displayed)]
        repaired[name] = parse_repaired(without_thoughts(text), displayed)

    def voted(choices: Mapping[str, str | None]) -> list[VotedItem]:
        """The items, with the votes of those tries that have an answer, in their order."""
        votes: dict[str, dict[int, str | None]] = {}
        asked = {tries[name][0].key: tries[name][0] for name in texts}
        for name in texts:
            sample, attempt = tries[name]
            votes.setdefault(sample.key, {})[attempt] = choices[name]
        return [_voted(asked[key], tuple(of_try[at] for at in sorted(of_try))) for key, of_try in votes.items()]

    return ParsedScores(
        answer_scores(official, _above_nought(official_accuracies(voted({name: official[name][1] for name in texts})))),
        answer_scores(repaired, _whole(repaired_accuracies(voted(repaired)))),
    )


def _above_nought(accuracies: Accuracies) -> dict[str, dict[str, float]]:
    return {
        kind: {name: round(accuracy.value or 0.0, _PLACES) for name, accuracy in groups.items() if accuracy.correct}
        for kind, groups in (("tasks", accuracies.tasks), ("abilities", accuracies.abilities))
    }


def _whole(accuracies: Accuracies) -> Json:
    """Return accuracies from 0 to 1 by task, by ability and overall, with the number of `unparsed` items, and the
    bounds of the overall accuracy if there are any."""
    groups = {"tasks": accuracies.tasks, "abilities": accuracies.abilities}
    shares: Json = {
        kind: {name: accuracy.value for name, accuracy in by_name.items()} for kind, by_name in groups.items()
    }
    overall = accuracies.overall
    if overall is None:
        return shares | {"overall": None, "unparsed": None}
    bounds = {"bounds": list(overall.bounds)} if overall.unparsed else {}
    return shares | {"overall": overall.value, "unparsed": overall.unparsed} | bounds


ACCURACY = "accuracy"


def by_chance(sample: Sample) -> float:
    """Return how likely the majority of tries, each a draw among the options, is right: all options are as likely to
    win it."""
    return 1 / len(sample.content["options"])


def by_majority(sample: Sample, resources: Resources) -> float:
    """Return whether the option is right whose letter is right most often in all questions."""
    letters = LETTERS[: len(sample.content["options"])]
    return float(commonest(letters, resources.derived(COUNTED, count_letters)) == sample.gold["answer"])


ABILITIES = ("Emotion", "Desire", "Intention", "Knowledge", "Belief", "Non-literal communication")
"""The six abilities of the paper, in its order; those of the data are kinds of them."""


def ability_of(kind: str) -> str:
    """Return which of ABILITIES a kind is one of, such as "Belief: Location false beliefs"."""
    return kind.partition(":")[0].strip().capitalize()


GROUP = MetricGroup(
    key="tombench",
    title=gettext_noop("Multiple choice"),
    noun=gettext_noop("multiple choice"),
    shares=(ACCURACY,),
    headers={ACCURACY: gettext_noop("Accuracy")},
    score=ACCURACY,
    score_title=gettext_noop("Accuracy"),
    prompt=ANSWER,
    rests_on=tuple(step.key for step in STEPS),
    scored=ANSWER,
    facets={"ability": gettext_noop("Ability"), "language": gettext_noop("Language")},
    notes=(
        (
            gettext_noop(
                "A question counts as right where the majority of its tries choose the right option; a tie goes to "
                "the option chosen first."
            )
        ),
    ),
    tells=ANSWERS,
    unreadable_as=GUESSED,
    right_or_wrong=True,
    chance=by_chance,
    majority=by_majority,
    says=lambda sample, repaired: str(repaired.get("choice")),
    parts=Parts(
        gettext_noop("Ability"),
        facet="ability",
        values=ABILITIES,
        short={"Non-literal communication": "Non-literal"},
        part_of=ability_of,
    ),
)


def measure(entered: Entered) -> dict[str, GroupMetrics | None]:
    """The accuracy of one model."""
    return {GROUP.key: measured_samples(entered, GROUP, scored)}


def scored(sample: Sample, outcomes: Sequence[Outcome]) -> StoryScore:
    """Right or wrong by the majority of the tries; bounds take missing tries as votes against and for the right
    option."""
    answered = sorted((outcome for outcome in outcomes if not outcome.without), key=lambda outcome: outcome.repetition)
    missing = len(outcomes) - len(answered)
    votes = {
        parse: tuple(
            None if parse == "repaired" and outcome.unreadable else (outcome.read(parse) or {}).get("choice")
            for outcome in answered
        )
        for parse in PARSES
    }
    official = None if missing else {ACCURACY: float(is_correct_officially(_voted(sample, votes["official"])))}
    right, counts = sample.gold["answer"], Counter(vote for vote in votes["repaired"] if vote is not None)
    others = max((count for letter, count in counts.items() if letter != right), default=0)
    estimate = {ACCURACY: float(is_correct(_voted(sample, votes["repaired"])))}
    if not counts:
        without = [outcome.without for outcome in outcomes if outcome.without]
        why = [*without, *(outcome.unreadable for outcome in outcomes if outcome.unreadable), NO_OPTION][0]
        score = StoryScore(sample.category, {ACCURACY: 0.0}, {ACCURACY: 1.0}, None, why)
    elif missing:
        worst, best = counts[right] > others + missing, counts[right] + missing >= others
        score = StoryScore(sample.category, {ACCURACY: float(worst)}, {ACCURACY: float(best)}, estimate)
    else:
        score = StoryScore(sample.category, estimate, estimate, estimate)
    return replace(score, official=official, reason=tries_unanswered(missing, len(outcomes)))


def _voted(sample: Sample, votes: tuple[str | None, ...]) -> VotedItem:
    return VotedItem(sample.category, sample.gold["ability"], sample.gold["cell"], votes)
