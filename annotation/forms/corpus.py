from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, Q
from django.utils.translation import gettext_lazy

from annotation.domain.drafts import LONGEST
from annotation.domain.formats import IMPORTED, WHAT_IT_SEEMS
from annotation.domain.stories import MAX_CATEGORY_LENGTH, MAX_SPLIT_LENGTH, MAX_STORY_LENGTH
from annotation.domain.tables import BadTable, TableRow, read_rows
from annotation.forms.filters import PartsFilter
from annotation.forms.values import text_of, words
from annotation.models import Category, Project, Story
from core.incoming.encodings import ENCODINGS
from core.messages import labelled
from core.page_fields import LikeField, PageForm

TABLES = {
    "none": gettext_lazy("Not written yet"),
    "drafts": gettext_lazy("Being written"),
    "ready": gettext_lazy("Ready to reconcile"),
    "done": gettext_lazy("Written"),
}


class StoryFilter(PartsFilter):
    table = forms.ChoiceField(
        required=False, label=gettext_lazy("Belief table"), choices=[("", gettext_lazy("All")), *TABLES.items()]
    )
    use = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Use"),
        choices=[("", gettext_lazy("All")), ("used", gettext_lazy("In use")), ("withdrawn", gettext_lazy("Withdrawn"))],
    )
    text = forms.CharField(required=False, max_length=100, label=gettext_lazy("Number or words"))


SPLIT_ERRORS = {
    "invalid": gettext_lazy(
        "A name of letters, digits, hyphens and underscores is expected for the split, such as calibration."
    )
}


class ChosenForm(PageForm):
    """Stories ticked in the list, and the split that they go to."""

    stories = forms.ModelMultipleChoiceField(
        Story.objects.none(), to_field_name="uid", error_messages={"required": gettext_lazy("Tick at least one story.")}
    )
    split = forms.SlugField(
        required=False,
        max_length=MAX_SPLIT_LENGTH,
        label=gettext_lazy("Put ticked stories into the split"),
        error_messages=SPLIT_ERRORS,
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, project: Project) -> None:
        super().__init__(data)
        self.fields["stories"].queryset = project.stories.all()


class WithdrawForm(PageForm):
    """Stories ticked in the list, or a whole category, to be withdrawn or taken back."""

    stories = forms.ModelMultipleChoiceField(Story.objects.none(), to_field_name="uid", required=False)
    whole = forms.ModelChoiceField(
        Category.objects.none(),
        required=False,
        to_field_name="name",
        empty_label=gettext_lazy("the ticked stories"),
        label=gettext_lazy("Which"),
    )
    withdraw = forms.ChoiceField(
        choices=[("set", gettext_lazy("Withdraw stories")), ("back", gettext_lazy("Take back"))]
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, project: Project) -> None:
        super().__init__(data)
        self.fields["stories"].queryset = project.stories.all()
        self.fields["whole"].queryset = project.categories.all()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not cleaned.get("whole") and not cleaned.get("stories"):
            raise forms.ValidationError(gettext_lazy("Tick at least one story, or choose a category."))
        return cleaned


class SplitForm(PageForm):
    """The names of two parts, and the categories to draw from: so many stories of each, or a number of its own."""

    name = forms.SlugField(
        max_length=MAX_SPLIT_LENGTH,
        initial="calibration",
        label=gettext_lazy("Name of the split"),
        error_messages=SPLIT_ERRORS,
    )
    rest = forms.SlugField(
        max_length=MAX_SPLIT_LENGTH, initial="main", label=gettext_lazy("Name of the rest"), error_messages=SPLIT_ERRORS
    )
    per_category = forms.IntegerField(min_value=1, max_value=10000, initial=3, label=gettext_lazy("Stories a category"))
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=1)

    def __init__(self, data: Mapping[str, Any] | None = None, *, project: Project) -> None:
        super().__init__(data)
        rows = project.categories.annotate(
            count=Count("stories", filter=Q(stories__withdrawn_at__isnull=True))
        ).values_list("id", "name", "count")
        self._categories = list(rows)
        for pk, name, count in self._categories:
            self.fields[f"take_{pk}"] = forms.BooleanField(
                required=False, initial=count >= self.fields["per_category"].initial, label=name
            )
            own = {"aria-label": gettext_lazy("Stories of {name}, where not as above").format(name=name)}
            self.fields[f"number_{pk}"] = forms.IntegerField(
                required=False, min_value=1, max_value=10000, widget=forms.NumberInput(own)
            )

    @property
    def shared(self) -> list[forms.BoundField]:
        """The fields that are for all categories."""
        return [self[name] for name in ("name", "rest", "per_category", "seed")]

    @property
    def categories(self) -> list[dict[str, Any]]:
        """Each category with its number of stories and its two fields."""
        return [
            {"name": name, "count": count, "take": self[f"take_{pk}"], "number": self[f"number_{pk}"]}
            for pk, name, count in self._categories
        ]

    @property
    def chosen(self) -> dict[str, Any]:
        """The stories to draw, as `make_split` takes them."""
        cleaned = self.cleaned_data
        numbers = {
            name: cleaned[f"number_{pk}"] or cleaned["per_category"]
            for pk, name, _ in self._categories
            if cleaned[f"take_{pk}"]
        }
        return {"name": cleaned["name"], "rest": cleaned["rest"], "seed": cleaned["seed"], "numbers": numbers}


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files; `command` is what takes those that are too large for a page."""

    widget = ManyFiles

    def __init__(self, *, command: str = "import_corpus", **options: Any) -> None:
        super().__init__(**options)
        self.command = command

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = [super(FilesField, self).clean(file, initial) for file in (data or [None])]
        size = sum(file.size for file in files)
        if size > settings.IMPORT_MAX_BYTES:
            limit = settings.IMPORT_MAX_BYTES // 1024 // 1024
            raise forms.ValidationError(
                gettext_lazy("The files are larger than {limit} MB together; use the command {command}.").format(
                    limit=limit, command=self.command
                )
            )
        return files


class ImportForm(PageForm):
    files: Any = FilesField(label="Files (.jsonl, .json, .csv, .xlsx)")
    format = forms.ChoiceField(
        choices=[
            (WHAT_IT_SEEMS, gettext_lazy("What the files seem to be")),
            *((form.key, labelled(form.title, form.becomes)) for form in IMPORTED.values()),
        ],
        initial=WHAT_IT_SEEMS,
    )
    language = forms.ChoiceField(
        choices=[("en", gettext_lazy("English")), ("zh", gettext_lazy("Chinese"))],
        help_text=gettext_lazy("Of stories; of ToMBench's two the one to label."),
    )
    encoding = forms.ChoiceField(
        choices=list(ENCODINGS.items()), required=False, help_text=gettext_lazy("Of text files.")
    )
    replace = forms.BooleanField(
        label=gettext_lazy("Replace belief tables"),
        required=False,
        help_text=gettext_lazy("Rows with the same actor and text keep their votes."),
    )


class TypedStoryForm(PageForm):
    """One story that is typed or pasted."""

    text = forms.CharField(
        strip=False,
        max_length=MAX_STORY_LENGTH,
        label=gettext_lazy("Text of the story"),
        widget=forms.Textarea({"rows": 5}),
    )
    category = forms.CharField(
        max_length=MAX_CATEGORY_LENGTH,
        label=gettext_lazy("Category"),
        help_text=gettext_lazy("Such as the task that the story is of; stories are split and counted by it."),
    )
    spoken = forms.ChoiceField(
        choices=[("en", gettext_lazy("English")), ("zh", gettext_lazy("Chinese"))],
        label=gettext_lazy("Language of the story"),
    )

    def clean_text(self) -> str:
        text = self.cleaned_data["text"].replace("\r\n", "\n")
        if not text.strip():
            raise forms.ValidationError(gettext_lazy("The story is empty."))
        return text


class RowForm(PageForm):
    actor = LikeField(words(LONGEST["actor"]), widget=forms.TextInput({"list": "actors", "autocomplete": "off"}))
    belief = LikeField(words(LONGEST["belief"]), widget=forms.TextInput({"autocomplete": "off"}))
    order = LikeField(text_of(LONGEST["order"]), required=False, widget=forms.TextInput({"autocomplete": "off"}))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["order"].widget.attrs["maxlength"]  # a sentence is refused, not cut


class RowsForm(PageForm):
    rows = forms.CharField(
        widget=forms.Textarea(
            {"rows": 6, "placeholder": "world | The key is in the drawer\nInes | The key is in the bag | 1"}
        ),
        label=gettext_lazy("Rows to add"),
        help_text=(
            gettext_lazy(
                "One a line: actor, belief and, if you like, order, with | or a tab between; paste from a spreadsheet."
            )
        ),
        max_length=200_000,
    )

    def clean_rows(self) -> list[TableRow]:
        try:
            rows = read_rows(self.cleaned_data["rows"])
        except BadTable as error:
            raise forms.ValidationError(str(error)) from error
        if not rows:
            raise forms.ValidationError(gettext_lazy("There is no row to add."))
        return rows


class RewordForm(PageForm):
    actor = LikeField(words(LONGEST["actor"]))
    belief = LikeField(words(LONGEST["belief"]), widget=forms.Textarea({"rows": 3}))
    confirmed = forms.BooleanField(
        label=gettext_lazy("Put a new row in its place"),
        error_messages={"required": gettext_lazy("Tick this to reword a row that has votes.")},
    )

    def __init__(self, *args: Any, must_confirm: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not must_confirm:
            del self.fields["confirmed"]


class ArchiveForm(PageForm):
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

    def clean_file(self) -> UploadedFile[Any]:
        file = self.cleaned_data["file"]
        if file.size > settings.IMPORT_MAX_BYTES:
            limit = settings.IMPORT_MAX_BYTES // 1024 // 1024
            raise forms.ValidationError(
                gettext_lazy("The file is larger than {limit} MB; use the command import_archive.").format(limit=limit)
            )
        return file
