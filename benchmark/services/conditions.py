"""The conditions under which rows are ranked together: asked with the same prompts, judged by the same judge.

What matters is what the models read (the wording, its level, its examples) and who judged them, in which version, by
which prompt: a figure under another of these is a figure of another instrument, and stands in a ranking of its own. How
long an answer might be and the seed do not matter in that sense: models need different room, and a repetition is of the
same instrument. Rows say them. The answer format and the version of the gold are chosen before. A baseline reads
no prompt and is in every ranking of its judge; people are in every one of labelling.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmark.controls.chosen import CONTROL, CONTROLS
from benchmark.domain.provenance import Making
from benchmark.models import Run
from benchmark.services.asking import chosen_of, reads_prompts, settings_of
from benchmark.services.in_context import examples_text, judge_text
from benchmark.services.judges import version_of
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.results import EntrantResults
from benchmark.suites.settings import OF_EVERY_RUN, OPTION, PARAMETER
from core.digests import json_digest
from core.messages import Sentence, listed, worded
from core.plain import Json, plain

FIELDS = ("judge", "prompts")
"""The fields of conditions in the order in which they are chosen."""

IMPORTED = "imported"
"""The stand-in for prompts of answers that were made elsewhere."""

Conditions = dict[str, list[str] | None]
"""[What it is in words, a digest of all that it is] by field; None where the field does not bear on the row."""


def conditions_of(run: Run, group: str, *, reads: bool) -> Conditions:
    """Return the conditions of a run's rows of a metric group; `reads` says whether the row's model reads prompts."""
    judge, suite, step = None, suite_named(run.suite), group_named(group).prompt
    if group_named(group).judged and run.judge:
        judging = suite.judging
        examples = examples_text(run, judging.key) if judging and reads_prompts(run.judge) else ""
        judge = [listed([judge_text(run), examples]), version_of(run)[:12]]
    if not reads:
        return {"judge": judge, "prompts": None}
    asking_run = run if step in run.provenance.prompts or run.source is None else run.source
    if asking_run.imported:  # how it was asked is not known, so that it is ranked with nothing that was asked here
        return {"judge": judge, "prompts": _IMPORTED}
    digest, sets = asking_run.provenance.prompts.get(step), suite.asking.prompting
    if sets is None:
        options = settings_in_words(asking_run)
        phrase = listed([asking_run.prompt_set, *(worded(name, value) for name, value in options.items())])
        return {"judge": judge, "prompts": [phrase, _digest([digest, options])]}
    phrase, identity = sets.condition(settings_of(asking_run), step, digest, asking_in_words(asking_run))
    return {"judge": judge, "prompts": [phrase, _digest(identity)]}


def imported_in_words(run: Run) -> dict[str, str]:
    """Return where the answers of an imported run come from, in words."""
    making = run.imported or Making()
    tool = making.made_with
    return {IMPORTED: f"{making.file}{f' of {tool}' if tool else ''}"}


def settings_in_words(run: Run) -> dict[str, str]:
    """Return, in words by name, the run's control, what was chosen of its suite's settings, repetitions and temperature
    where there are any; without the settings of its judge, of which `judge_text` tells, and without what prompt sets
    tell of themselves. Of answers made elsewhere the method is not known unless somebody chose another than the first.
    """
    suite = suite_named(run.suite)
    stored = {OPTION} if suite.asking.prompting else {OPTION, PARAMETER}
    settings = [
        setting
        for setting in suite.settings
        if setting.stored in stored and (setting.stored == OPTION or setting not in suite.judging_settings)
    ]
    control = {CONTROL: CONTROLS[run.control].title} if run.control else {}
    chosen = chosen_of(run)
    in_words = {
        setting.label.lower(): setting.in_words(chosen[setting.name])
        for setting in settings
        if not (run.imported and setting.method and chosen[setting.name] == setting.default)
    }
    return control | in_words | asking_in_words(run)


_OF_IMPORTS = ("split", "category", "limit", "repetitions", "stories")


def parameters_of(run: Run) -> Json:
    """Return what a run was launched with, by name: of its parameters those that its suite has a use for, and the
    suite's own options."""
    suite, chosen, kept = suite_named(run.suite), chosen_of(run), run.parameters.as_json()
    options = {setting.name: chosen[setting.name] for setting in suite.settings if setting.stored == OPTION}
    if run.imported:  # of how answers were asked for, a run that asked for none says nothing
        return {name: kept[name] for name in _OF_IMPORTS if name in kept} | options
    names = OF_EVERY_RUN - {
        "anew",
        "once",
        "budget",
        "options",
        *(() if suite.asking.prompting else ("example_stories",)),
    }
    control = {CONTROL: run.control} if run.control else {}
    own = {
        setting.name: chosen[setting.name] for setting in suite.settings_in(run.steps) if setting.stored == PARAMETER
    }
    return control | own | {name: value for name, value in kept.items() if name in names} | options


def asking_in_words(run: Run) -> dict[str, str]:
    """Return how often everything was asked, and at which temperature, where that is not once and the suite's own."""
    chosen: dict[str, str] = {}
    parameters = run.parameters
    if parameters.repetitions > 1:
        chosen["repetitions"] = str(parameters.repetitions)
    if parameters.temperature is not None:
        chosen["temperature"] = f"{parameters.temperature:g}"
    return chosen


def _digest(value: Any) -> str:
    return json_digest(value, sort_keys=True, default=str)[:12]


_IMPORTED = [IMPORTED, _digest(IMPORTED)]
"""The condition of answers that were made elsewhere."""


@dataclass(frozen=True, slots=True)
class OtherRanking:
    """Entrants that are ranked under other conditions: their names, empty where one is not asked for, how many `rows`
    there are, and the names of their `models`, one for each row."""

    judge: str
    prompts: str
    rows: int
    models: Sequence[str]

    @property
    def within(self) -> dict[str, str]:
        """The names of its conditions by field, without empty ones."""
        return {field: name for field in FIELDS if (name := getattr(self, field))}


@dataclass(frozen=True, slots=True)
class Ranking:
    """The conditions of one metric group's ranking. `options` are the names of each field, the commonest among models
    first, `chosen` the one that was taken, empty where the group has none. `others` are those of what
    is left out, none of it lost."""

    options: Mapping[str, list[str]]
    chosen: Mapping[str, str]
    others: Sequence[OtherRanking]

    def as_json(self) -> Json:
        """{FIELD: the name that was taken…, others}."""
        return {**self.chosen, "others": plain(self.others)}


def named(entrants: Sequence[EntrantResults]) -> list[EntrantResults]:
    """Return the entrants with `within`: the name of each of their conditions. One digest has one name, whatever words
    its runs have for it (an endpoint may have another name, a category another number of examples), and no two digests
    share one."""
    within: list[dict[str, str | None]] = [{} for _ in entrants]
    for field in FIELDS:
        words: dict[str, str] = {}
        for phrase, digest in filter(None, (entrant.conditions[field] for entrant in entrants)):
            words[digest] = min(phrase, words.get(digest, phrase))
        shared = Counter(words.values())
        for entrant, names in zip(entrants, within, strict=True):
            _, digest = entrant.conditions[field] or ("", "")
            name = words.get(digest)
            version = Sentence("version {digest}", digest=digest[:6]) if name and shared[name] > 1 else ""
            names[field] = name and listed([name, version])
    return [replace(entrant, within=names) for entrant, names in zip(entrants, within, strict=True)]


def ranked_together(
    entrants: Sequence[EntrantResults],
    asked: Mapping[str, str],
    names_by_field: Mapping[str, Iterable[str]],
    *,
    judges: Sequence[str] = (),
) -> tuple[list[EntrantResults], Ranking]:
    """The entrants of one ranking: of the conditions that were asked for, or of those that most models have, those of
    answers made here before any that only answers made elsewhere have. What is asked for counts where it is one of
    `names_by_field`, even if this group has no model under it. Of judges the first of the names in `judges` comes
    first."""
    chosen: dict[str, str] = {}
    options: dict[str, list[str]] = {}
    ranked = list(entrants)
    for field in FIELDS:
        names = [(name, entrant.kind) for entrant in ranked if (name := entrant.within[field])]
        counts = Counter(name for name, kind in names if kind == "model")
        counts.update(dict.fromkeys((name for name, _ in names), 0))
        first = [name for name in judges if name in counts] if field == "judge" else []
        here = {entrant.within[field] for entrant in ranked if entrant.conditions["prompts"] != _IMPORTED}
        in_order = [*first, *(name for name, _ in counts.most_common())]
        options[field] = list(dict.fromkeys([*filter(here.__contains__, in_order), *in_order]))
        asked_for = (name for name in names_by_field[field] if name == asked.get(field))
        chosen[field] = next(asked_for, next(iter(options[field]), ""))
        ranked = [entrant for entrant in ranked if entrant.within[field] in (None, chosen[field])]
    return ranked, Ranking(options, chosen, _others(entrants, ranked))


def _others(entrants: Sequence[EntrantResults], kept: Sequence[EntrantResults]) -> list[OtherRanking]:
    """Return what is left out, by conditions, with the names of its models; baselines are counted to the largest
    ranking of their judge."""
    inside = {entrant.key for entrant in kept}
    left = [entrant for entrant in entrants if entrant.key not in inside]
    groups: dict[tuple[str, str], list[str]] = {}
    for entrant in left:
        if prompts := entrant.within["prompts"]:
            groups.setdefault((entrant.within["judge"] or "", prompts), []).append(entrant.name)
    largest = sorted(groups, key=lambda conditions: -len(groups[conditions]))
    for entrant in left:
        if not entrant.within["prompts"]:
            judge = entrant.within["judge"] or ""
            groups.setdefault(
                next((conditions for conditions in largest if conditions[0] == judge), (judge, "")), []
            ).append(entrant.name)
    return [
        OtherRanking(judge, prompts, len(names), names)
        for (judge, prompts), names in sorted(groups.items(), key=lambda group: -len(group[1]))
    ]
