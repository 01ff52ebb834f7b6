"""The paragraphs on OmniToM that a paper's methods section needs, and what its judge is given."""

from benchmark.suites.omnitom.data import EXTRACT, JUDGE, LABEL, STAGE1, STAGE2
from benchmark.suites.omnitom.judgements import EXACT, NOTHING, Judging
from benchmark.suites.omnitom.labels import Scheme
from benchmark.suites.omnitom.official import no_official_parse
from benchmark.suites.omnitom.steps import STEPS, STRUCTURED
from benchmark.suites.reports import ASKING, UNCERTAINTY, Reported, Sections
from benchmark.suites.settings import Settings
from core.messages import Sentence, gettext_noop, listed
from judge.domain.lexical import BLIND

_UNCALIBRATED = (
    "This judge is uncalibrated: nobody compared its matches with human alignments here, so its error is unknown and "
    "the stage 1 figures hold for this judge only."
)


def methods(scheme: Scheme, reported: Reported) -> Sections:
    """Return (heading, text) in the order of a methods section; how often and how freely was asked only where that was
    chosen."""
    chosen = reported.settings.repetitions > 1 or reported.settings.temperature is not None
    return [
        ("Prompts", _prompts(reported)),
        (ASKING, reported.asking if chosen else ""),
        ("Judge", _judge(reported) if reported.judge and scheme.group(STAGE1) in reported.groups else ""),
        ("Scoring", _scoring(scheme, reported)),
        (UNCERTAINTY, reported.uncertainty),
        ("Reference rows", _references(reported)),
    ]


def judge_sees(settings: Settings) -> tuple[str, str]:
    """Return (what of its settings, in brief; all that it is given): a baseline sees neither prompt nor story."""
    if not settings.judge_reads_prompts:
        return "", "both tables, no prompt and no story"
    level, with_story = settings.options.get("judge_level"), settings.options.get("with_story")
    given = "the story and both tables" if with_story else "both tables, not the story"
    story = gettext_noop("with the story") if with_story else gettext_noop("without the story")
    return listed([Sentence("level {level}", level=level), story]), f"{given}, at prompt level {level}"


def _prompts(reported: Reported) -> str:
    settings = reported.settings
    answers = (
        "Answers were asked for under a JSON schema with the closed label sets; one in another form is unreadable."
        if settings.answer_format == STRUCTURED
        else "Answers were free text with a table, as published."
    )
    if not reported.prompted:
        return f"No prompt was read: baselines compute their answers from the data. {answers}"
    name = settings.options["prompt_set"]
    source = "wording of Credence's own" if name.startswith("omnitom-") else "the team's own wording"
    steps = [step for step in STEPS if step.key in (EXTRACT, LABEL) and reported.examples.get(step.key)]
    examples = "".join(f" Examples of {step.label.lower()}: {reported.examples[step.key]}." for step in steps)
    return (
        f"Prompts were set {name} ({source}) at level {settings.options['level']} of the TELeR taxonomy; their hashes "
        f"are listed below.{examples} {answers}"
    )


def _judge(reported: Reported) -> str:
    settings, how = reported.settings, Judging.of(reported.settings)
    story = "the story and both tables" if settings.options.get("with_story") else "both tables but no story"
    judge_examples = reported.examples.get(JUDGE)
    examples = f"in-context examples: {judge_examples}" if judge_examples else "no in-context example"
    saw = f"which saw {story} in a prompt of level {settings.options.get('judge_level')}, with {examples}."
    if not settings.judge_reads_prompts:
        saw = (
            f"a baseline that reads no prompt and no story: within an actor it assigns propositions one to one by the "
            f"similarity of their wording, none to one that denies, counts or names something else. {BLIND}"
        )
    parts = [f"Extracted propositions were matched with gold by the judge {reported.judge}, {saw}"]
    if how.links:
        parts.append("It answered with links between numbered rows, and might say that it could not tell.")
    if how.passes > 1:
        parts.append(
            f"It was asked in {how.passes} passes, from the second on with the rows in another order; the majority of "
            "passes decided each row, and a row without one has no count."
        )
    if how.settle != NOTHING:
        alike = "in the same words" if how.settle == EXACT else "in the same words but for case, quotes and stops"
        parts.append(f"Rows {alike} in both tables were matched by rule, and the judge was not asked about them.")
    return " ".join([*parts, _UNCALIBRATED, " ".join(reported.judge_notes)])


def _scoring(scheme: Scheme, reported: Reported) -> str:
    parts = []
    if scheme.group(STAGE1) in reported.groups:
        parts.append(
            "Extraction: precision is the share of predicted propositions that match at least one gold proposition, "
            "recall the share of gold propositions that are matched, F1 their harmonic mean, by story; we report the "
            "mean over stories and, as the published table does, the unweighted mean of the story categories' means."
        )
    if scheme.group(STAGE2) in reported.groups:
        parts.append(
            "Labelling: accuracy by dimension is the share of a story's gold propositions with the right label, "
            "averaged over stories; overall is the mean of the dimensions."
        )
    structured = reported.settings.answer_format == STRUCTURED
    if none := no_official_parse(scheme):
        parts.append(f"{none} All figures are of the repaired one.")
    elif structured:
        parts.append("Structured output has no official parse; all figures are of the repaired one.")
    if structured:
        parts.append(reported.schema)
    elif not none:
        parts.append(
            "Every answer was read twice. The official parse parses and scores as the benchmark's released code "
            "does and counts what it cannot parse as 0."
        )
    parts.append(
        "The repaired parse treats an answer that holds nothing usable as missing: the story is left out of the "
        "estimate, and bounds state the score if every such story were worth 0, or 1."
    )
    return " ".join(parts)


def _references(reported: Reported) -> str:
    parts = []
    if "baseline" in reported.kinds:
        parts.append(
            "Baselines are not models: majority says the commonest label of this very dataset, random draws among the "
            "legal labels, and omniscient lets every actor believe every narrated fact, the score of having no "
            "theory of mind."
        )
    if "person" in reported.kinds:
        parts.append(
            "People are scored on the cells that they labelled, against gold without their own vote or decision: the "
            "record's label, another expert's decision, or what the other votes settle by the resolution rule with "
            "one vote fewer; a cell that stays open does not count. Figures against gold that contains a person's "
            "own votes are marked as such and flatter."
        )
    return " ".join(parts)
