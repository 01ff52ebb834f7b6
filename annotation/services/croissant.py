"""A Croissant 1.1 description (mlcroissant) of the exported gold, with the Responsible AI fields that the project
knows."""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import mlcroissant as mlc
from django.db.models import Count, Max, Min, Sum
from django.db.models.functions import Coalesce

from annotation.domain.records import Record
from annotation.domain.shipped_schemas import version_text
from annotation.models import AnnotatorCounts, Guideline, Project
from annotation.services.agreement import agreement_report
from annotation.services.gold_export import VOTE_COLUMNS, gold_records, line_of, vote_lines
from annotation.services.progress import Progress
from core.plain import Json

FILES = ("gold.jsonl", "propositions.jsonl", "votes.csv", "croissant.json", "README.md")
CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
_JSON_LINES, _CSV = "application/jsonlines", "text/csv"
_TYPES = {
    **dict.fromkeys(("story_id", "occurrence", "position", "duration_ms"), mlc.DataType.INTEGER),
    "agreement": mlc.DataType.FLOAT,
}
_SECTIONS = {
    "licence": "Licence",
    "citation": "Citation",
    "source": "Where the stories come from",
    "recruitment": "Annotators",
    "demographics": "Who the annotators are",
    "biases": "Biases and limits",
    "personal_information": "Personal information",
    "intended_use": "Intended use",
}
_FILES = (
    "- `gold.jsonl`: one story a line with its belief table and gold labels",
    "- `propositions.jsonl`: the same, one proposition a line",
    "- `votes.csv`: one vote a row with the lineage of its gold label; annotators have pseudonyms, and a text",
    "  that a spreadsheet would run as a formula has an apostrophe before it",
    "- `croissant.json`: the machine-readable description",
)


def write_croissant(project: Project, folder: Path, *, site_url: str, now: datetime) -> dict[str, int]:
    """Write FILES into `folder`, over files of the same names; return counts.

    Raises ValueError where the description does not validate.
    """
    folder.mkdir(parents=True, exist_ok=True)
    gold, propositions, votes, description, readme = (folder / name for name in FILES)
    # dimensions whose labels are whole numbers
    keys = project.schema.keys
    counting = [dimension.key for dimension in project.schema.dimensions if dimension.counts]
    counts = {"stories": 0, "propositions": 0}
    with gold.open("w", encoding="utf-8", newline="") as records, propositions.open("w", encoding="utf-8") as lines:
        for record in gold_records(project):
            records.write(line_of(record.as_json()))
            lines.writelines(map(line_of, _proposition_rows(record, keys, counting)))
            counts = {"stories": counts["stories"] + 1, "propositions": counts["propositions"] + len(record.beliefs)}
    with votes.open("w", encoding="utf-8", newline="") as handle:
        handle.writelines(vote_lines(project, pseudonyms=True))
    facts = counts | _facts(project)
    facts["cells"] = facts["propositions"] * len(keys)
    columns = [name for name in VOTE_COLUMNS if not name.endswith("_version")]
    tables = [
        (gold, _JSON_LINES, "stories", ("story_id", "story_category", "story")),
        (propositions, _JSON_LINES, "propositions", ("story_id", "position", "actor", "belief", *keys)),
        (votes, _CSV, "votes", columns),
    ]
    types = _TYPES | dict.fromkeys(counting, mlc.DataType.INTEGER)
    document = _metadata(project, facts, tables, types, site_url=site_url, now=now).to_json()
    description.write_text(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n", encoding="utf-8")
    logging.getLogger("absl").setLevel(logging.ERROR)
    mlc.Dataset(str(description))
    readme.write_text(_card(project, facts), encoding="utf-8")
    return counts


def _proposition_rows(record: Record, keys: Sequence[str], counting: Sequence[str]) -> Iterator[Json]:
    for position, belief in enumerate(record.beliefs, 1):
        row = {"story_id": record.story_id, "position": position, "actor": belief.actor, "belief": belief.belief}
        labels = {key: belief.labels.get(key) or None for key in keys}
        # Readers of JSON lines guess types: a number that is sometimes missing must not come out as the text "0.0".
        numbers = {key: int(label) if (label := labels[key] or "").isdecimal() else None for key in counting}
        yield {**row, **labels, **numbers}


def _facts(project: Project) -> Json:
    """Return counts and figures of a project as it is: {unsettled, votes, annotators, first, last, protocol,
    agreement}; `first` and `last` are the times of the first and the last standing vote."""
    counts = AnnotatorCounts.objects.filter(story__project=project, story__withdrawn_at__isnull=True).aggregate(
        votes=Coalesce(Sum("cells"), 0), annotators=Count("annotator", distinct=True), first=Min("first"),
        last=Max("last"),
    )  # fmt: skip
    schema, agreement, lines = project.schema, agreement_report(project=project), []
    for name, row in {**agreement.dimensions, "overall": agreement.overall}.items():
        strict, alpha = row.estimates["strict"].value, row.estimates["krippendorff_alpha"].value
        if strict is not None:
            alpha_text = "undefined" if alpha is None else f"{alpha:.4f}"
            lines.append(f"{name}: strict agreement {strict:.4f}, alpha {alpha_text}, {row.cells} cells")
    protocol = [
        f"Each proposition is labelled on {len(schema.dimensions)} dimensions ({', '.join(schema.keys)}; "
        f"schema version {version_text(schema)}) by {project.overlap} annotators who do not see each other's votes.",
        f"A label with more than half of the votes is gold; experts adjudicate the rest (rule version "
        f"{project.rule_version}).",
    ]
    if project.unanimity_dimensions:
        protocol.append(f"Anything short of unanimity is adjudicated for {', '.join(project.unanimity_dimensions)}.")
    guidelines = Guideline.objects.filter(project=project).exclude(text="", text_zh="")
    if names := sorted(guidelines.values_list("dimension", flat=True)):
        protocol.append(f"The project adds guidelines of its own for {', '.join(names)}.")
    lines = lines or ["No cell has all its votes yet."]
    unsettled = Progress(project).totals().unlabelled
    return {"unsettled": unsettled, "protocol": protocol, "agreement": lines, **counts}


def _metadata(
    project: Project, facts: Json, tables: Sequence[tuple[Any, ...]], types: Json, *, site_url: str, now: datetime
) -> mlc.Metadata:
    """Return the description with the Croissant RAI 1.0 fields; one that the project left empty stays out."""
    card = project.dataset_card

    def card_lines(*names: str) -> list[str] | None:
        return [card[name] for name in names if card.get(name)] or None

    return mlc.Metadata(
        name=project.slug,
        conforms_to=CONFORMS_TO,
        description=project.description or f"Gold belief tables of the project {project.name}.",
        url=f"{site_url}/p/{project.slug}/",
        license=[card.get("licence") or "not stated"],
        cite_as=card.get("citation") or f"{project.name}, gold belief tables made with Credence, {now.year}.",
        version="1.0.0",
        date_published=now,
        in_language=[project.language],
        distribution=[_file(path, kind) for path, kind, _, _ in tables],
        record_sets=[_record_set(path, name, columns, types) for path, _, name, columns in tables],
        data_collection=card.get("source") or None,
        data_collection_type=["Manual Human Curator"],
        data_collection_missing_data=(
            f"{facts['unsettled']} of {facts['cells']} cells have no settled label; they are empty."
        ),
        data_collection_raw_data="Every vote, with its time, is in votes.csv; annotators have pseudonyms.",
        data_collection_timeframe=[facts["first"], facts["last"]] if facts["first"] else None,
        data_preprocessing_protocol=["Stories and propositions are kept as they were imported or written."],
        data_annotation_protocol=facts["protocol"],
        data_annotation_platform=["Credence"],
        data_annotation_analysis=facts["agreement"],
        annotations_per_item=f"{project.overlap} votes a proposition and dimension",
        annotator_demographics=card_lines("recruitment", "demographics"),
        data_biases=card_lines("biases"),
        data_limitations=card_lines("biases"),
        data_use_cases=card_lines("intended_use"),
        personal_sensitive_information=card_lines("personal_information"),
    )


def _file(path: Path, encoding: str) -> mlc.FileObject:
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    names = dict.fromkeys(("id", "name", "content_url"), path.name)
    return mlc.FileObject(**names, content_size=f"{path.stat().st_size} B", encoding_formats=[encoding], sha256=digest)


def _record_set(path: Path, name: str, columns: Sequence[str], types: Json) -> mlc.RecordSet:
    fields = [
        mlc.Field(
            id=f"{name}/{column}",
            name=column,
            data_types=[types.get(column, mlc.DataType.TEXT)],
            source=mlc.Source(file_object=path.name, extract=mlc.Extract(column=column)),
        )
        for column in columns
    ]
    return mlc.RecordSet(id=name, name=name, fields=fields)


def _card(project: Project, facts: Json) -> str:
    """Return the card in Markdown; sections that the project left empty say so."""
    answers = project.dataset_card
    sections = {
        "Files": _FILES,
        "How it was annotated": [f"- {line}" for line in facts["protocol"]],
        "Labels": [f"- `{dimension.key}`: {', '.join(dimension.values)}" for dimension in project.schema.dimensions],
        "Agreement": [f"- {line}" for line in facts["agreement"]],
        **{title: [answers.get(name) or "The project does not say."] for name, title in _SECTIONS.items()},
    }
    lines = [f"# {project.name}", "", project.description or "The project has no description.", ""]
    lines.append(
        "{stories} stories, {propositions} propositions, {votes} votes of {annotators} annotators; {unsettled} of "
        "{cells} cells have no label yet.".format(**facts)
    )
    for title, texts in sections.items():
        lines += ["", f"## {title}", "", *texts]
    return "\n".join(lines) + "\n"
