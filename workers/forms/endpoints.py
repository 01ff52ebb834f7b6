"""The form of an endpoint asks only for what its provider can use; everything else keeps its default."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from django import forms

from core.messages import Sentence, gettext_noop, word
from core.page_fields import ReadField
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


class EndpointForm(forms.ModelForm):
    class Meta:
        model = Endpoint
        fields = _FIELDS
        widgets = {"options": forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"})}
        labels = {
            "active": gettext_noop("Can be chosen for new work"),
            "base_url": gettext_noop("Base URL"),
            "api_key_env": gettext_noop("Key variable"),
            "family": gettext_noop("Family"),
            "batches": gettext_noop("Batch form"),
            "context_tokens": gettext_noop("Context length, in tokens"),
            "reasoning_tokens": gettext_noop("Room for reasoning, in tokens"),
            "price_input": gettext_noop("Input"),
            "price_cached": gettext_noop("Input read from the cache"),
            "price_cache_write": gettext_noop("Input written to the cache"),
            "price_output": gettext_noop("Output"),
            "price_batch": gettext_noop("Factor in a batch"),
            "max_concurrency": gettext_noop("Calls in flight at most"),
            "requests_per_minute": gettext_noop("Requests a minute at most"),
            "tokens_per_minute": gettext_noop("Tokens a minute at most"),
            "timeout_seconds": gettext_noop("Timeout of a call, in seconds"),
            "max_attempts": gettext_noop("Attempts a call at most"),
            "repeat_unknown": gettext_noop("Repeats after a lost answer"),
            "retry_after_cap": gettext_noop("Longest wait obeyed, in seconds"),
        }
        help_texts = {
            "base_url": gettext_noop("Empty for the provider’s own address."),
            "api_key_env": (
                gettext_noop(
                    "The name of the environment variable that holds the key where the workers run, such as "
                    "SMALL_API_KEY. Never the key."
                )
            ),
            "context_tokens": gettext_noop("0: it does not matter."),
            "reasoning_tokens": (
                gettext_noop("Beside the text of an answer of pre-filling. 0: it does not reason; else some thousands.")
            ),
            "price_input": gettext_noop("Empty: unknown. 0: free."),
            "price_cached": gettext_noop("Empty: as input."),
            "price_cache_write": gettext_noop("Empty: as input."),
            "price_output": gettext_noop("Reasoning counts as output. Empty: unknown. 0: free."),
            "price_batch": gettext_noop("0.5: half of all prices."),
            "max_concurrency": gettext_noop("Of all workers together."),
            "requests_per_minute": gettext_noop("0: no known limit; it is found out."),
            "timeout_seconds": gettext_noop("Then the answer counts as lost."),
            "max_attempts": gettext_noop("After refusals and failures that can pass."),
            "repeat_unknown": (
                gettext_noop("Such a call may have been paid, and is paid again then. 0: it is listed, and you decide.")
            ),
            "retry_after_cap": gettext_noop("Of a provider’s Retry-After."),
        }
        field_classes = {name: partial(AmountField, like) for name, like in AMOUNTS.items()} | {"options": ReadField}
        error_messages = {
            "name": NAME_SENTENCES,
            "options": {"invalid": gettext_noop("A JSON object is expected, such as {} for none.")},
        }

    def __init__(self, *args, provider: str, **kwargs) -> None:
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
                "required": Sentence("{field} is missing.", field=word(field.label)),
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
        super()._post_clean()
        try:
            check_endpoint(self.instance)
        except forms.ValidationError as error:
            for name, sentences in error.message_dict.items():
                if name not in self._errors and name in self.fields:
                    self.add_error(name, sentences)

    def add_error(self, field: str | None, error) -> None:
        super().add_error(field, error)
        # It may be a key that was typed there: the page does not show it again.
        emptied = [name for name in self._errors if name == "api_key_env" or looks_like_key(self.data.get(name, ""))]
        if any(self.data.get(name) for name in emptied):
            self.data = self.data.copy()
            self.data.update(dict.fromkeys(emptied, ""))

    def clean_options(self) -> dict:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise forms.ValidationError(gettext_noop("A JSON object is expected, such as {} for none."))
        return options


class LedgerFilter(forms.Form):
    text = forms.CharField(label=gettext_noop("Text or id"), required=False, max_length=200)
    endpoint = forms.CharField(required=False)
    state = forms.CharField(required=False)
    handler = forms.CharField(required=False)
    day = forms.DateField(required=False)
