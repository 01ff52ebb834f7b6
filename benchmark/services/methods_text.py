"""The making of a report, as facts and as the paragraphs that a paper's methods section needs. Every number is read
from the run."""

from django.db.models import Min

from annotation.domain.shipped_schemas import version_text
from benchmark.domain.provenance import EndpointSpec, LaterChange, Versions
from benchmark.models import AnswerFormat, Run, RunItem
from benchmark.services.asking import settings_of
from benchmark.services.conditions import settings_in_words
from benchmark.services.in_context import examples_text, judge_sees
from benchmark.services.judges import judge_name
from benchmark.services.reports import RunMetrics
from benchmark.services.watching import schema_breakers
from benchmark.suites.guards import SuiteFailed
from benchmark.suites.registry import group_named, suite_named
from benchmark.suites.reports import ASKING, PROMPTS, UNCERTAINTY, Reported
from benchmark.suites.results import EntrantsByGroup
from benchmark.suites.showing.judges import notes_of
from benchmark.suites.showing.missing import fewest_ranked
from core.statistics import caution
from workers.models import Call
from workers.providers.registry import without_prompts

Facts = list[list[str]]


def facts_of(run: Run, report: RunMetrics) -> Facts:
    """Return [name, value] of everything that made the run, in one order: PostgreSQL keeps none of a JSON object's
    keys. Of a run whose answers were made elsewhere this is what is known of their making."""
    provenance, suite, dataset = run.provenance, suite_named(run.suite), run.dataset
    title = ["Run", f"{run.title} ({run.uid}), suite {run.suite}"]
    version = ["Dataset", f"version {dataset.version}, SHA-256 {dataset.digest}"]
    steps = ["Steps", ", ".join(suite.step(step).label.lower() for step in run.steps)]
    settings, nouns = settings_in_words(run).items(), suite.noun[1]
    later = [[f"{change.did.capitalize()} {_minute(change.at)}", _later(change, nouns)] for change in provenance.later]
    code = ["Code", _code(provenance.made_by)]
    if making := run.imported:
        counted = f"{making.records:,} in the file, {making.unmatched:,} of them to no sample, {making.double:,} double"
        return [
            title,
            ["Imported", _minute(making.at) + (f" by {making.by}" if making.by else "")],
            ["File", f"{making.file}, SHA-256 {making.digest}"],
            ["Made with", making.made_with or "not said in the file"],
            *[[f"There: {name}", value] for name, value in sorted(making.facts.items())],
            ["Model as written there", making.model],
            ["Answers", counted],
            version,
            [nouns.capitalize(), f"{report.stories:,}"],
            *_data_facts(run),
            steps,
            ["Prompts, calls and price", "not known: imported"],
            *[[f"Read with {name}", value] for name, value in settings],
            code,
            *later,
        ]
    parameters = run.parameters
    chosen = [f"split {parameters.split}"] if parameters.split else []
    chosen += [f"category {parameters.category}"] if parameters.category else []
    chosen += [f"the first {parameters.limit}"] if parameters.limit else []
    times = [row.last for row in report.answers if row.last]
    labels = {step.key: step.label.lower() for step in suite.steps}
    return [
        title,
        ["Started", run.created_at.strftime("%Y-%m-%d %H:%M UTC")],
        ["Last answer", _minute(max(times)) if times else "–"],
        version,
        [nouns.capitalize(), f"{report.stories:,}" + (f" ({', '.join(chosen)})" if chosen else "")],
        *_data_facts(run),
        steps,
        ["Answer format", AnswerFormat(run.answer_format).label],
        ["Prompts", f"set {run.prompt_set}" + (f", level {run.level}" if suite.asking.prompting else "")],
        *[
            [f"Prompt of {label}", f"SHA-256 {digest}"]
            for key, label in labels.items()
            if (digest := provenance.prompts.get(key))
        ],
        *[[f"Examples of {label}", text] for key, label in labels.items() if (text := examples_text(run, key))],
        *[[name.capitalize(), value] for name, value in settings],
        *(_judge_facts(run) if run.judge or (suite.judging and not suite.asking.program) else []),
        *[[f"Model {entrant.name}", _endpoint(entrant.asked_as)] for entrant in run.entrants.all()],
        *[
            [
                f"Answers: {row.name}, {labels[row.step]}",
                f"{row.answers:,} by {row.answered_by or 'itself'}, {row.input_tokens or 0:,} tokens in, "
                f"{row.output_tokens or 0:,} out",
            ]
            for row in report.answers
        ],
        ["Longest answer", f"{parameters.max_tokens:,} tokens" if parameters.max_tokens else "–"],
        ["Seed", str(parameters.seed)],
        *[[f"Sent to {row['name']}, {row['step'].lower()}", row["sent"]] for row in sent_settings(run)],
        code,
        *later,
    ]


def _minute(at: str) -> str:
    """Return a time in ISO format as pages print it."""
    return f"{at[:16].replace('T', ' ')} UTC"


def _data_facts(run: Run) -> Facts:
    dataset = run.dataset
    if dataset.suite:
        files = dataset.origin.get("files", {})
        return [
            ["Imported", dataset.title],
            *[[f"File {name}", f"SHA-256 {digest}"] for name, digest in sorted(files.items())],
        ]
    return [
        ["Label schema", f"{version_text(dataset.schema)}, rules {dataset.rule_version}"],
        ["Gold settled by", ", ".join(f"{name} {count:,}" for name, count in sorted(dataset.methods.items())) or "–"],
    ]


def _code(versions: Versions) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in sorted(versions.packages.items()))
    return f"Credence {versions.code}, Python {versions.python}; {packages}"


def _later(change: LaterChange, many: str) -> str:
    """Return what was done to a run later, in words."""
    parts = [f"models {', '.join(change.models)}"] if change.models else []
    parts += [f"{change.stories:,} {many}"] if change.stories else []
    parts += [f"{change.parses:,} parses changed"] if change.parses is not None else []
    parts += [f"{change.judgements:,} judgements, prompt SHA-256 {change.prompt}"] if change.judgements else []
    parts += [f"with settings changed since the launch: {', '.join(change.settings)}"] if change.settings else []
    return "; ".join([*parts, _code(change.by)])


def _judge_facts(run: Run) -> Facts:
    judge = run.provenance.judge
    if judge is None:
        return [["Judge", "none"]]
    _, sees = judge_sees(run)
    return [["Judge", _endpoint(judge)], *([["Judge sees", sees]] if sees else [])]


_NO_SETTINGS = ("messages", "system", "task", "model")


def sent_settings(run: Run) -> list[dict[str, str]]:
    """Return [{name, step, sent}]: what was sent beside the messages in the first call of each model and step.
    Baselines are sent nothing."""
    if run.imported:
        return []
    rows = RunItem.objects.filter(entrant__run=run, call__isnull=False).order_by()
    first = rows.values("entrant__name", "entrant__position", "step").annotate(call=Min("call"))
    calls = (
        Call.objects.filter(pk__in=[row["call"] for row in first]).exclude(provider__in=without_prompts()).only("body")
    )
    bodies = {call.pk: call.request for call in calls}
    settings_sent = []
    for row in sorted(first, key=lambda row: (row["entrant__position"], row["step"])):
        if body := bodies.get(row["call"]):
            settings = {name: "a JSON schema" if isinstance(value, dict) else value for name, value in body.items()}
            sent = ", ".join(f"{name}: {value}" for name, value in settings.items() if name not in _NO_SETTINGS)
            settings_sent.append(
                {
                    "name": row["entrant__name"],
                    "step": suite_named(run.suite).step(row["step"]).label,
                    "sent": sent or "–",
                }
            )
    return settings_sent


def _endpoint(spec: EndpointSpec) -> str:
    parts = [f"{spec.provider}: {spec.model}"]
    parts += [f"revision {spec.revision}"] if spec.revision else []
    parts += [f"at {spec.base_url}"] if spec.base_url else []
    parts += [f"{name} {value}" for name, value in (spec.options or {}).items() if name != "script"]
    parts += [f"rules {spec.rules}"] if spec.rules else []
    parts += [] if spec.sets_temperature is not False else ["the temperature is the provider's own"]
    parts += ["the system text in front of the first message"] if spec.no_system_role else []
    return ", ".join(parts)


def methods_of(run: Run, report: RunMetrics, groups: EntrantsByGroup) -> list[dict[str, str]]:
    """Return [{heading, text}] in the order of a methods section: what was asked about, then the suite's own
    paragraphs."""
    suite, reported = suite_named(run.suite), _reported(run, groups)
    try:
        own = list(suite.results.methods(reported)) if suite.results.methods else []
    except SuiteFailed as error:
        own = [(suite.title, str(error))]
    placed = {heading for heading, _ in own}
    common = [(UNCERTAINTY, reported.uncertainty)]
    if making := (run.source or run).imported:
        by = f"with {making.made_with}" if making.made_with else "by means that their file does not name"
        text = (
            f"The answers of {making.model} were made elsewhere, {by}, and imported from {making.file} (SHA-256 "
            f"{making.digest[:12]}…); how they were asked for is not known here. They are read and scored as all "
            "answers are."
        )
        own = [("Answers", text), *(paragraph for paragraph in own if paragraph[0] not in (PROMPTS, ASKING))]
    else:
        common.insert(0, (ASKING, reported.asking))
    dataset = run.dataset
    counted = f"We evaluated on {report.stories:,} of the {dataset.stories_count:,} {suite.noun[1]}"
    data = f"{counted} of {dataset.title or suite.title}, kept with SHA-256 {dataset.digest[:12]}… (in full below)."
    if not dataset.suite:
        data = (
            f"{counted} ({dataset.propositions_count:,} gold propositions) of version {dataset.version} of the dataset "
            f"{dataset.project.name}, published with SHA-256 {dataset.digest[:12]}… (in full below). Each proposition "
            f"has {len(dataset.schema.keys)} labels of schema {version_text(dataset.schema)}."
        )
    paragraphs = [("Data", data), *own, *(part for part in common if part[0] not in placed)]
    return [{"heading": heading, "text": text} for heading, text in paragraphs if text]


def _reported(run: Run, groups: EntrantsByGroup) -> Reported:
    """Return what of the run its suite's paragraphs are made from; `groups` are the rows by metric group."""
    judged = [entrant for key, entrants in groups.items() if group_named(key).judged for entrant in entrants]
    parameters, turns, temperature = run.parameters, run.parameters.repetitions, run.parameters.temperature
    often = f"Each was asked {turns} times" if turns > 1 else "Each was asked once"
    freely = f"at temperature {temperature:g}" if temperature is not None else "at the suite's temperature"
    seeds = " and the numbers after it." if turns > 1 else "."
    schema = ""
    if run.answer_format == AnswerFormat.STRUCTURED:
        breaches = "; ".join(
            f"{breaker['endpoint']} in {breaker['broken']:,} of {breaker['answers']:,} "
            f"answer{'' if breaker['answers'] == 1 else 's'} of {breaker['step_name'].lower()}"
            for breaker in schema_breakers(run)
        )
        ignored = f"The schema was ignored by {breaches}. These answers are unreadable, whatever they say."
        schema = ignored if breaches else "No endpoint ignored the schema."
    return Reported(
        settings=settings_of(run),
        groups=frozenset(key for key, entrants in groups.items() if entrants),
        kinds=frozenset(entrant.kind for entrants in groups.values() for entrant in entrants),
        prompted=any(entrant.asked_as.provider not in without_prompts() for entrant in run.entrants.all()),
        judge=judge_name(run) if run.judge else "",
        asking=f"{often}, {freely}, with seed {parameters.seed}{seeds}",
        uncertainty=_uncertainty(run, groups),
        judge_notes=notes_of(judged),
        examples={step.key: examples_text(run, step.key) for step in suite_named(run.suite).steps},
        schema=schema,
    )


def _uncertainty(run: Run, groups: EntrantsByGroup) -> str:
    shown_entrants = [entrant for entrants in groups.values() for entrant in entrants]
    if not shown_entrants:
        return ""
    suite, rows = suite_named(run.suite), shown_entrants[0].metrics.parses.repaired
    method = rows.method if rows else ""
    (_, many), (cluster, clusters) = suite.noun, suite.cluster
    dependent = suite.results.dependent or f"{many} about one {cluster}"
    ranked = {group_named(group).title: entrants for group, entrants in groups.items() if entrants}
    few = [title for title, entrants in ranked.items() if caution(fewest_ranked(entrants), clusters)]
    why = caution(0, clusters) if few else ""
    sentence = f"{', '.join(few)}: {why}" if len(few) < len(ranked) else f"{why[:1].upper()}{why[1:]}"
    return (
        f"Intervals: {method}; {dependent} are not independent, so {clusters} are resampled whole. Models are ranked "
        f"by the mean over all {many} with missing answers at their worst, and compared in pairs on the same scores "
        f"by a two-sided sign-flip test of the mean difference by {cluster}, with Holm's correction over all pairs of "
        f"a metric group and parse, over all {many} and in each category; models without a common letter are shown to "
        "differ at the 5 % level, and a common letter does not mean that they are equal."
    ) + (f" {sentence}." if few else "")
