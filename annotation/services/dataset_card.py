"""Facts about a project, shared by the Croissant description and the data set card."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Sum
from django.db.models.functions import Coalesce

from annotation.domain.agreement.report import AgreementReport
from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import version_text
from annotation.models import AnnotatorCounts, Guideline, Project
from annotation.services.agreement import agreement_report
from annotation.services.progress import Progress

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


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts and figures of one state of a project; times are those of the first and the last standing vote."""

    project: Project
    schema: Schema
    stories: int
    propositions: int
    unsettled: int
    votes: int
    annotators: int
    first: datetime | None
    last: datetime | None
    agreement: AgreementReport

    @property
    def cells(self) -> int:
        return self.propositions * len(self.schema.dimensions)

    @property
    def protocol(self) -> list[str]:
        project = self.project
        lines = [
            f"Each proposition is labelled on {len(self.schema.dimensions)} dimensions ({', '.join(self.schema.keys)}; "
            f"schema version {version_text(self.schema)}) by {project.overlap} annotators who do not see "
            f"each other's votes.",
            f"A label with more than half of the votes is gold; experts adjudicate the rest (rule version "
            f"{project.rule_version}).",
        ]
        if project.unanimity_dimensions:
            lines.append(f"Anything short of unanimity is adjudicated for {', '.join(project.unanimity_dimensions)}.")
        if names := list(
            Guideline.objects.filter(project=project).exclude(text="", text_zh="").values_list("dimension", flat=True)
        ):
            lines.append(f"The project adds guidelines of its own for {', '.join(sorted(names))}.")
        return lines

    @property
    def agreement_lines(self) -> list[str]:
        lines = []
        for name, row in {**self.agreement.dimensions, "overall": self.agreement.overall}.items():
            strict, alpha = row.values["strict"], row.values["krippendorff_alpha"]
            if strict is not None:
                alpha_text = "undefined" if alpha is None else f"{alpha:.4f}"
                lines.append(f"{name}: strict agreement {strict:.4f}, alpha {alpha_text}, {row.cells} cells")
        return lines or ["No cell has all its votes yet."]


def facts_of(project: Project, *, stories: int, propositions: int) -> Facts:
    totals = Progress(project).totals()
    counts = AnnotatorCounts.objects.filter(story__project=project, story__withdrawn_at__isnull=True).aggregate(
        votes=Coalesce(Sum("cells"), 0),
        annotators=Count("annotator", distinct=True),
        first=Min("first"),
        last=Max("last"),
    )
    return Facts(
        project=project,
        schema=project.schema,
        stories=stories,
        propositions=propositions,
        unsettled=totals.unlabelled,
        agreement=agreement_report(project=project),
        **counts,
    )


def card_of(facts: Facts) -> str:
    """Return the card in Markdown; sections that the project left empty say so."""
    project, answers = facts.project, facts.project.dataset_card
    lines = [f"# {project.name}", "", project.description or "The project has no description.", ""]
    lines.append(
        f"{facts.stories} stories, {facts.propositions} propositions, {facts.votes} votes of {facts.annotators} "
        f"annotators; {facts.unsettled} of {facts.cells} cells have no label yet."
    )
    lines += ["", "## Files", "", "- `gold.jsonl`: one story a line with its belief table and gold labels"]
    lines += ["- `propositions.jsonl`: the same, one proposition a line"]
    lines += [
        "- `votes.csv`: one vote a row with the lineage of its gold label; annotators have pseudonyms, and a text"
    ]
    lines += ["  that a spreadsheet would run as a formula has an apostrophe before it"]
    lines += ["- `croissant.json`: the machine-readable description", "", "## How it was annotated", ""]
    lines += [f"- {line}" for line in facts.protocol]
    lines += ["", "## Labels", ""]
    lines += [f"- `{dimension.key}`: {', '.join(dimension.values)}" for dimension in facts.schema.dimensions]
    lines += ["", "## Agreement", ""] + [f"- {line}" for line in facts.agreement_lines]
    for name, title in _SECTIONS.items():
        lines += ["", f"## {title}", "", answers.get(name) or "The project does not say."]
    return "\n".join(lines) + "\n"
