"""The form of an endpoint asks only for what its provider can use; everything else keeps its default."""

from decimal import Decimal
from functools import partial
from typing import Any

from django import forms

from core.messages import Sentence, gettext_noop, word
from core.page_fields import PageForm, ReadField
from workers.forms.amounts import AmountField
from workers.models import Endpoint
from workers.providers.description import PRICES
from workers.providers.keys import looks_like_key
from workers.providers.registry import wants_address
from workers.services.endpoint_rules import AMOUNTS, BOUNDS, NAME_SENTENCES, bound_sentence, check_endpoint

GROUPS = (
    (gettext_noop("The model"), "", ("name", "model", "revision", "family", "active")),
    (gettext_noop("Where it answers"), "", ("base_url", "api_key_env", "options")),
    (gettext_noop("What it can do"), "", ("sets_temperature", "json_schema", "no_system_role", "batches",
    "context_tokens", "reasoning_tokens")),
    (
        gettext_noop("Prices"),
        gettext_noop("In US dollars per million tokens."),
        PRICES,
    ),
    (
        gettext_noop("Limits"),
        "",
        (
            "max_concurrency", "requests_per_minute", "tokens_per_minute", "timeout_seconds", "max_attempts",
            "repeat_unknown",
            "retry_after_cap",
        ),
    ),
)  # fmt: skip
_FIELDS = [name for _, _, names in GROUPS for name in names]
_TOO_LONG = "At most %(limit_value)d characters are expected; these are %(show_value)d."


def plain(number: Decimal) -> str:
    """Return a decimal as people write it: no exponent, no zeros at the end."""
    return f"{number.normalize():f}"


class EndpointForm(forms.ModelForm):  # type: ignore[type-arg]  # it takes none while the program runs
    class Meta:
        model = Endpoint
        fields = _FIELDS
        widgets = {"options": forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"})}
        field_classes = {name: partial(AmountField, like) for name, like in AMOUNTS.items()} | {"options": ReadField}
        error_messages = {
            "name": NAME_SENTENCES,
            "options": {"invalid": gettext_noop("A JSON object is expected, such as {} for none.")},
        }

    def __init__(self, *args: Any, provider: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.provider = provider  # what the other fields may say depends on it
        about = self.instance.about
        for name in about.left_out:
            del self.fields[name]
        if about.models:
            self.fields["model"] = forms.ChoiceField(choices=[(model, model) for model in about.models])
        if about.model_label:
            self.fields["model"].label = about.model_label
        if about.unset_price and "price_input" in self.fields:
            self.fields["price_input"].help_text = about.unset_price
            self.fields["price_output"].help_text = Sentence(
                "Reasoning counts as output. {unset_price}", unset_price=about.unset_price
            )
        self.fields["options"].help_text = about.options_help
        if wants_address(provider):
            self.fields["base_url"].help_text = gettext_noop("Where its server answers.")
        for name in set(BOUNDS) & set(self.fields):
            low, high = BOUNDS[name]
            self.fields[name].widget.attrs |= {"min": low, "max": high}
            sentence = bound_sentence(name)
            self.fields[name].error_messages |= dict.fromkeys(("invalid", "min_value", "max_value"), sentence)
        for field in self.fields.values():
            field.error_messages |= {
                "required": Sentence("{field} is missing.", field=word(str(field.label))),
                "max_length": _TOO_LONG,
            }
        for name, example in about.placeholders.items():
            self.fields[name].widget.attrs["placeholder"] = example
        for name in set(PRICES) & set(self.fields):
            if isinstance(price := self.get_initial_for_field(self.fields[name], name), Decimal):
                self.initial[name] = plain(price)

    @property
    def groups(self) -> list[tuple[str, str, list[forms.BoundField]]]:
        rows = [(title, note, [self[name] for name in names if name in self.fields]) for title, note, names in GROUPS]
        only_options = [name for name in GROUPS[1][2] if name in self.fields] == ["options"]
        return [
            (gettext_noop("Its own settings") if only_options and row is rows[1] else row[0], *row[1:])
            for row in rows
            if row[2]
        ]

    def _post_clean(self) -> None:
        """Fill the instance, and add what the service would refuse: everything that is wrong is reported at once."""
        super()._post_clean()  # type: ignore[misc]
        try:
            check_endpoint(self.instance)
        except forms.ValidationError as error:
            for name, sentences in error.message_dict.items():
                if name not in self.errors and name in self.fields:
                    self.add_error(name, sentences)

    def add_error(self, field: str | None, error: Any) -> None:
        super().add_error(field, error)
        # It may be a key that was typed there: the page does not show it again.
        data: Any = self.data
        emptied = [name for name in self.errors if name == "api_key_env" or looks_like_key(data.get(name, ""))]
        if any(data.get(name) for name in emptied):
            self.data = data = data.copy()
            data.update(dict.fromkeys(emptied, ""))

    def clean_options(self) -> dict[str, Any]:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise forms.ValidationError(gettext_noop("A JSON object is expected, such as {} for none."))
        return options


class LedgerFilter(PageForm):
    text = forms.CharField(label=gettext_noop("Text or id"), required=False, max_length=200)
    endpoint = forms.CharField(required=False)
    state = forms.CharField(required=False)
    handler = forms.CharField(required=False)
    day = forms.DateField(required=False)
