"""The form by which answers that were made elsewhere become a run."""

import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.datastructures import MultiValueDict

from annotation.forms.corpus import FilesField
from annotation.models import Project, User
from benchmark.domain.provenance import Statements
from benchmark.forms.launch import SampleFields, setting_field
from benchmark.models import Run
from benchmark.services.launches import planned
from benchmark.services.made_elsewhere import importing
from benchmark.services.made_elsewhere.files import FORMATS
from benchmark.services.made_elsewhere.importing import Preview, import_answers, import_unread, importable, preview_of
from benchmark.services.plans import MOST_REPETITIONS, MOST_TITLE, Plan
from benchmark.services.prompt_sets import names_of
from benchmark.suites.contract import Suite
from benchmark.suites.settings import Setting
from core.catalogues.sentences import translated
from core.joints import labelled
from core.messages import gettext_noop


class AnswersForm(SampleFields):
    """Files of answers to a suite's samples. Settings that answers are read by have fields under their names, those
    that say what the ids are of have `ids_<name>`."""

    files: Any = FilesField(
        label=gettext_noop("Files"), command="import_answers",
        help_text=gettext_noop(
            "Answers by id, samples_….jsonl with results_….json, or a log of inspect_ai; of "
            "one model."
        ),
    )  # fmt: skip
    model = forms.CharField(
        required=False,
        max_length=MOST_TITLE,
        label=gettext_noop("Model"),
        help_text=gettext_noop("Where the files do not name it."),
    )
    title = forms.CharField(required=False, max_length=MOST_TITLE, label=gettext_noop("Name of the run"))
    format = forms.ChoiceField(
        required=False,
        choices=[("", gettext_noop("as the files look")), *FORMATS.items()],
        label=gettext_noop("Format"),
    )
    step = forms.ChoiceField(required=False, label=gettext_noop("What is answered"))
    repetitions = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_REPETITIONS, label=gettext_noop("Repetitions"),
        help_text=gettext_noop("Answers to each question; empty takes as many as the files have."),
    )  # fmt: skip

    whole = forms.BooleanField(
        required=False, label=gettext_noop("Count unanswered samples as missing"),
        help_text=gettext_noop("Else the run has the samples that the files answer."),
    )  # fmt: skip

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        files: MultiValueDict[str, Any] | None = None,
        *,
        project: Project,
        suite: Suite,
        initial: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(data, files, initial=initial)
        self.suite = suite
        self.set_samples(project)
        steps = [(step.key, step.label) for step in importable(suite)]
        self.fields["step"].choices = [("", gettext_noop("as the files say")), *steps]
        if len(steps) < 2:
            del self.fields["step"]
        judging = {setting.name for setting in suite.judging_settings}
        self.parse = [setting.name for setting in suite.settings if setting.name not in judging]
        for setting in suite.settings:
            if setting.name in self.parse:
                self.fields[setting.name] = setting_field(setting.for_imports, names_of(project, suite))
        for setting in self._own:
            self.fields[f"ids_{setting.name}"] = setting_field(setting)

    @property
    def _own(self) -> Sequence[Setting]:
        return self.suite.released.answer_ids.options if self.suite.released.answer_ids else ()

    @property
    def described_fields(self) -> list[BoundField]:
        """The fields of what the files may not say."""
        names = ("model", "title", *(f"ids_{setting.name}" for setting in self._own), "step", "repetitions", "format")
        return [self[name] for name in names if name in self.fields]

    @property
    def reading_fields(self) -> list[BoundField]:
        """The fields of the settings that answers are read by."""
        return [self[name] for name in self.parse]

    @property
    def sample_fields(self) -> list[BoundField]:
        """The fields that say which samples the run is about."""
        return [*super().sample_fields, self["whole"]]

    @property
    def problems(self) -> list[str]:
        """The faults of the form, each with the label of its field."""
        return [
            labelled(translated(str(self.fields[name].label or name.capitalize())), translated(str(error)))
            if name in self.fields
            else str(error)
            for name, errors in self.errors.items()
            for error in errors
        ]

    @property
    def option_fields(self) -> dict[str, str]:
        """Names of fields by the names of settings, and of the options that say what ids are of."""
        return {option.name: f"ids_{option.name}" for option in self._own} | {name: name for name in self.parse}

    def plan(self) -> Plan:
        """Return the plan of a valid form."""
        chosen, suite = self.cleaned_data, self.suite
        return planned(
            suite,
            chosen,
            dataset=chosen["dataset"],
            endpoints=[],
            steps=[step.key for step in importable(suite)],
            repetitions=chosen["repetitions"] or 0,
            options={name: chosen[name] for name in self.parse},
        )

    def declaration(self) -> Statements:
        """Return what a valid form says of the files."""
        chosen = self.cleaned_data
        ids = {setting.name: chosen[f"ids_{setting.name}"] for setting in self._own}
        return Statements(chosen["model"].strip(), chosen["format"], chosen.get("step", ""), ids, chosen["whole"])

    @property
    def is_large(self) -> bool:
        """Return whether a worker reads the files of a valid form."""
        return sum(upload.size for upload in self.cleaned_data["files"]) > importing.BYTES_AT_ONCE

    def keep(self, *, by: User, now: datetime) -> Run:
        """Keep the answers of a valid form as a run; a worker reads large files. Raises BadFile, RunRefused."""
        if self.is_large:
            files = [(upload, upload.name) for upload in self.cleaned_data["files"]]
            return import_unread(by=by, files=files, plan=self.plan(), declared=self.declaration(), now=now)
        return import_answers(by=by, preview=self.preview(), now=now)

    def preview(self) -> Preview:
        """Return what the import of a valid form's files would make. Raises BadFile, RunRefused."""
        with tempfile.TemporaryDirectory(prefix="credence-answers-") as folder:
            files = []
            for number, upload in enumerate(self.cleaned_data["files"]):
                path = Path(folder) / f"{number}{Path(upload.name).suffix}"  # a log is read by the ending of its name
                with path.open("wb") as target:
                    for chunk in upload.chunks():
                        target.write(chunk)
                files.append((path, upload.name))
            return preview_of(files, self.plan(), self.declaration())
