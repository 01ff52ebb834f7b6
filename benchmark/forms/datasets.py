from typing import Any

from django import forms
from django.conf import settings

from benchmark.forms.launch import setting_field
from benchmark.models import Audience
from benchmark.suites.contract import Suite
from core.messages import Sentence, gettext_noop
from core.page_fields import PageForm


class PublishForm(PageForm):
    note = forms.CharField(
        required=False, max_length=200, label=gettext_noop("Note"), help_text=gettext_noop("What this version is for.")
    )


class AudienceForm(PageForm):
    audience = forms.ChoiceField(
        choices=Audience.choices,
        label=gettext_noop("Who sees results of models"),
        help_text=gettext_noop("Results can bias those who still label. Admins always see them."),
    )
    once_published = forms.BooleanField(
        required=False,
        label=gettext_noop("Experts and annotators only while gold is published"),
        help_text=(
            gettext_noop(
                "While every story is settled and the present gold is a published version; any later change hides the "
                "results again."
            )
        ),
    )


class CopyForm(PageForm):
    """A user's copy of a benchmark; the suite's options have fields named `set_<name>`."""

    file = forms.FileField(label=gettext_noop("Zip of its folder"), widget=forms.FileInput(attrs={"accept": ".zip"}))
    note = forms.CharField(
        required=False, max_length=200, label=gettext_noop("Note"), help_text=gettext_noop("What this copy is for.")
    )

    def __init__(self, data: Any = None, files: Any = None, *, suite: Suite) -> None:
        super().__init__(data, files)
        self.suite = suite
        for setting in suite.copied.options:
            self.fields[f"set_{setting.name}"] = setting_field(setting)
        if suite.copied.archive:
            self.fields["file"].label = Sentence("{archive}, or a zip of its folder", archive=suite.copied.archive)
            self.fields["file"].widget.attrs["accept"] = ".zip,.gz,.tgz"

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > settings.IMPORT_MAX_BYTES:
            raise forms.ValidationError(
                Sentence(
                    "The file is larger than {import_max_bytes} MB.",
                    import_max_bytes=settings.IMPORT_MAX_BYTES // 2**20,
                )
            )
        return file

    @property
    def options(self) -> dict[str, Any]:
        return {setting.name: self.cleaned_data[f"set_{setting.name}"] for setting in self.suite.copied.options}
