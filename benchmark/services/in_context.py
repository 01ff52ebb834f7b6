"""Examples in the prompts of a run: which samples may serve, never one that the run asks about, and how many its
prompts showed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from benchmark.domain.provenance import ExamplesUsed
from benchmark.models import DatasetSample, Run
from benchmark.services.asking import DatasetResources, reads_prompts, sample_of, settings_of
from benchmark.services.judges import judge_name
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.questions import Question
from benchmark.suites.registry import suite_named
from core.messages import Sentence, clauses, listed, noted, word


def examples_used(run: Run, steps: Iterable[str], stories: Sequence[DatasetSample]) -> list[ExamplesUsed]:
    """Return the number of examples that prompts showed, by step, category and source."""
    sets = suite_named(run.suite).asking.prompting
    if sets is None:
        return []
    counts: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
    settings, resources = settings_of(run), DatasetResources(run.dataset)
    for step in steps:
        most = sets.example_count(settings, step)
        for story in stories if most else ():
            source, count = sets.example_source(Question(sample_of(story), step, settings, resources), most)
            counts[str(step), story.category, source].append(count)
    return [
        ExamplesUsed(step=step, category=category, source=source, least=min(numbers), most=max(numbers))
        for (step, category, source), numbers in sorted(counts.items())
    ]


def examples_text(run: Run, step: str) -> str:
    """Return how many examples the prompts of a step really showed, in words; empty where they were to show none."""
    suite = suite_named(run.suite)
    sources = suite.asking.prompting.sources if suite.asking.prompting else {}
    groups: dict[str, list[str]] = {}
    for row in run.provenance.examples_at(step):
        count = (
            str(row.most) if row.least == row.most else Sentence("{least} to {most}", least=row.least, most=row.most)
        )
        text = Sentence("{count} from {sources}", count=count, sources=sources.get(row.source, row.source))
        if not row.most:
            text = Sentence("none, as no {noun} can serve", noun=word(suite.noun[0]))
        groups.setdefault(text, []).append(row.category)
    if len(groups) == 1:
        return next(iter(groups))
    return clauses(*(noted(text, listed(names)) for text, names in groups.items()))


def judge_text(run: Run) -> str:
    """Return the judge in words: its name, the settings that it saw, and what tells it from its other versions."""
    if run.judge is None:
        return "–"
    if reads_prompts(run.judge):
        brief, _ = judge_sees(run)
    else:
        endpoint = run.provenance.judge
        brief = Sentence("rules {rules}", rules=(endpoint and endpoint.rules) or 1)
    judge = suite_named(run.suite).judge
    instrument: Mapping[str, Any] = {}
    with suppress(SuiteFailed):  # its sentence stands for what the judge sees
        instrument = judge.instrument(settings_of(run)) if judge else {}
    parts: list[str] = []
    if "passes" in instrument:
        parts.append(Sentence("{instrument} passes", instrument=instrument["passes"]))
    parts += ["links"] if "judge_form" in instrument else []
    if "settle" in instrument:
        parts.append(Sentence("{instrument} rows settled", instrument=instrument["settle"]))
    return listed((judge_name(run), brief, *parts))


def judge_sees(run: Run) -> tuple[str, str]:
    """Return (what the run's judge is given in brief, all of it); both are the suite's sentence if it failed."""
    judge = suite_named(run.suite).judge
    sees = judge and judge.sees
    try:
        return sees(settings_of(run)) if sees else ("", "")
    except SuiteFailed as error:
        return str(error), str(error)
