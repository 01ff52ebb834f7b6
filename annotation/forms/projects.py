from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, RegexValidator
from django.utils.translation import gettext, gettext_lazy

from annotation.domain.schema import Schema
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA
from annotation.forms.people import refuse_bidi_controls
from annotation.forms.values import ADDITION
from annotation.models import Project
from annotation.services.projects import SLUG_TAKEN
from annotation.services.schemas import known_schemas
from core.page_fields import LikeField, PageForm

CARD_FIELDS: dict[str, tuple[Any, Any]] = {
    "licence": (gettext_lazy("Licence of the data set"), gettext_lazy("For example CC BY 4.0, or its address.")),
    "citation": (gettext_lazy("How to cite it"), ""),
    "source": (gettext_lazy("Where the stories come from"), ""),
    "recruitment": (gettext_lazy("Who annotated, how they were found and paid"), ""),
    "demographics": (gettext_lazy("What is known about the annotators"), ""),
    "biases": (gettext_lazy("Known biases and limits"), ""),
    "personal_information": (
        gettext_lazy("Personal or sensitive information"),
        gettext_lazy("Write “none” where there is none."),
    ),
    "intended_use": (gettext_lazy("What it is meant for, and what it is not"), ""),
}

MAX_SPEED_FLOOR_MS = 60_000
LANGUAGE_TAG = RegexValidator(
    r"\A[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*\Z",
    gettext_lazy("A language is written as a short tag such as en, zh or pt-BR: 2 to 8 letters, digits and hyphens."),
)


class NewProjectForm(forms.ModelForm):  # type: ignore[type-arg]  # it takes none while the program runs
    """A new project; `cleaned_data["schema"]` is the label schema itself."""

    fields: dict[str, Any]
    schema = forms.ChoiceField(label=gettext_lazy("Label schema"))

    class Meta:
        model = Project
        fields = ("name", "slug", "description")
        labels = {"slug": gettext_lazy("Short name")}
        help_texts = {
            "slug": gettext_lazy(
                "Letters, digits, hyphens and underscores; it is part of every address. Suggested from the name."
            )
        }
        error_messages = {
            "slug": {
                "invalid": gettext_lazy(
                    "A short name of letters, digits, hyphens and underscores is expected, such as minds-2."
                ),
                "unique": SLUG_TAKEN,
            }
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].validators.append(refuse_bidi_controls)
        self.fields["name"].widget.attrs["autofocus"] = True
        self.schemas = {schema.reference: schema for schema in known_schemas()}
        text = gettext("{title}, version {version} ({count} dimensions)")
        self.fields["schema"].choices = [
            (key, text.format(title=schema.title, version=schema.version, count=len(schema.dimensions)))
            for key, schema in self.schemas.items()
        ]
        self.fields["schema"].initial = DEFAULT_SCHEMA.reference
        self.fields["schema"].help_text = gettext(
            "The dimensions and labels. Left as it is, propositions are labelled by {title}. It stays with the "
            "project; the command load_schema adds another one."
        ).format(title=DEFAULT_SCHEMA.title)

    def clean_schema(self) -> Schema:
        return self.schemas[self.cleaned_data["schema"]]


class SettingsForm(forms.ModelForm):  # type: ignore[type-arg]  # it takes none while the program runs
    fields: dict[str, Any]
    table_experts = forms.TypedChoiceField(
        required=False,
        coerce=int,
        empty_value=None,
        choices=[
            (2, gettext_lazy("Two, apart, who then reconcile")),
            (1, gettext_lazy("One: what is handed in is the table")),
        ],
        label=gettext_lazy("Experts a belief table"),
        help_text=gettext_lazy("One where a single person writes the tables; labels take at least two annotators."),
    )
    unanimity_dimensions = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Dimensions that need unanimity"),
        help_text=gettext_lazy("Below unanimity their cells go to an expert, even where a majority agrees."),
    )

    class Meta:
        model = Project
        fields = (
            "name", "description", "language", "overlap", "speed_floor_ms", "blind_share", "reveal_share", "arms_unit",
            "arms_seed", "table_blind_share",
            "table_experts", "tables_agreed",
            "unanimity_dimensions", "decides_and_goes_on",
        )  # fmt: skip
        labels = {
            "overlap": gettext_lazy("Overlap"),
            "speed_floor_ms": gettext_lazy("Ask about votes faster than (ms)"),
            "blind_share": gettext_lazy("Blind share (%)"),
            "reveal_share": gettext_lazy("Commit-then-reveal share (%)"),
            "arms_unit": gettext_lazy("Drawn for"),
            "tables_agreed": gettext_lazy("Both experts must agree to a reconciled table"),
            "decides_and_goes_on": gettext_lazy(
                "In adjudication the digit of a label decides and goes on to the next open cell"
            ),
            "arms_seed": gettext_lazy("Seed of the draw"),
            "table_blind_share": gettext_lazy("Tables written blind (%)"),
        }
        help_texts = {
            "overlap": gettext_lazy("How many annotators label every story: 2 to 9."),
            "blind_share": (
                gettext_lazy(
                    "Of the cells with a suggestion, how many hide it from an annotator. Stories that were "
                    "opened keep their draw."
                )
            ),
            "table_blind_share": (
                gettext_lazy(
                    "Of the belief tables that a model has drafted, how many an expert writes without seeing "
                    "the draft: drawn for each story and expert when the table is first opened, and kept."
                )
            ),
            "reveal_share": gettext_lazy(
                "Of the cells with a suggestion, how many show it only after the annotator’s own vote."
            ),
            "arms_unit": (
                gettext_lazy(
                    "Who sees a suggestion beside a blind cell may be led by it: drawn for a proposition or "
                    "a story, all its cells hide or show alike. Fewer draws find less."
                )
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        schema = self.instance.schema
        self.fields["name"].validators.append(refuse_bidi_controls)
        self.fields["language"].validators.append(LANGUAGE_TAG)
        self.fields["table_blind_share"].required = False
        speed = self.fields["speed_floor_ms"]
        speed.validators.append(
            MaxValueValidator(
                MAX_SPEED_FLOOR_MS,
                gettext_lazy("At most {max_speed_floor_ms} milliseconds: a minute.").format(
                    max_speed_floor_ms=MAX_SPEED_FLOOR_MS
                ),
            )
        )
        speed.widget.attrs["max"] = MAX_SPEED_FLOOR_MS
        self.fields["unanimity_dimensions"].choices = [
            (dimension.key, dimension.name) for dimension in schema.dimensions
        ]

    def clean_table_blind_share(self) -> int:
        share = self.cleaned_data["table_blind_share"]
        return self.instance.table_blind_share if share is None else share

    def clean_table_experts(self) -> int:
        return self.cleaned_data["table_experts"] or self.instance.table_experts

    def clean(self) -> dict[str, Any]:
        super().clean()
        cleaned = self.cleaned_data
        if cleaned.get("blind_share", 0) + cleaned.get("reveal_share", 0) > 100:
            self.add_error("reveal_share", gettext_lazy("The blind share and this one are more than 100 % together."))
        return cleaned


class CardForm(PageForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, (label, help_text) in CARD_FIELDS.items():
            self.fields[name] = forms.CharField(
                required=False, label=label, help_text=help_text, max_length=4000, widget=forms.Textarea({"rows": 2})
            )


class GuidelineForm(PageForm):
    text = LikeField(
        ADDITION,
        required=False,
        widget=forms.Textarea({"rows": 6, "lang": "en"}),
        label=gettext_lazy("Addition"),
        help_text=gettext_lazy("In English. Where one language has no text, its readers are shown the other."),
    )
    text_zh = LikeField(
        ADDITION,
        required=False,
        widget=forms.Textarea({"rows": 6, "lang": "zh-Hans"}),
        label=gettext_lazy("Addition in Chinese"),
    )
