from __future__ import annotations

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy


class ArchiveForm(forms.Form):
    slug = forms.SlugField(
        max_length=60,
        label=gettext_lazy("Short name of the new project"),
        help_text=gettext_lazy("Letters, digits and hyphens."),
        error_messages={
            "invalid": gettext_lazy(
                "A short name of letters, digits, hyphens and underscores is expected, such as minds-2."
            )
        },
    )
    file = forms.FileField(label="Archive (.zip)")

    people = forms.CharField(
        required=False,
        max_length=2000,
        label=gettext_lazy("People who are the same here"),
        help_text=(
            gettext_lazy(
                "User names with commas. They become members; everybody else in the archive becomes an "
                "imported annotator."
            )
        ),
    )

    def clean_people(self) -> list[str]:
        return [name.strip() for name in self.cleaned_data["people"].split(",") if name.strip()]

    def clean_file(self):
        file = self.cleaned_data["file"]
        if file.size > settings.IMPORT_MAX_BYTES:
            limit = settings.IMPORT_MAX_BYTES // 1024 // 1024
            raise forms.ValidationError(
                gettext_lazy("The file is larger than {limit} MB; use the command import_archive.").format(limit=limit)
            )
        return file
