"""The form of an endpoint asks only for what its provider can use; everything else keeps its default."""

from __future__ import annotations

from decimal import Decimal

from django import forms

from workers.backends import PROVIDERS
from workers.backends.baseline import MODELS
from workers.backends.keys import looks_like_key
from workers.models import IN_THE_WORKER, Endpoint
from workers.services.endpoint_rules import BOUNDS, NAME_TOLD, bound_told, check_endpoint

GROUPS = (
    ("The model", "", ("name", "model", "revision", "family", "active")),
    ("Where it answers", "", ("base_url", "api_key_env", "options")),
    ("What it can do", "", ("sets_temperature", "json_schema", "batches", "context_tokens", "reasoning_tokens")),
    (
        "Prices",
        "In US dollars per million tokens.",
        ("price_input", "price_cached", "price_cache_write", "price_output", "price_batch"),
    ),
    (
        "Limits",
        "",
        (
            "max_concurrency", "requests_per_minute", "tokens_per_minute", "timeout_seconds", "max_attempts", "repeat_unknown",
            "retry_after_cap",
        ),
    ),
)  # fmt: skip
_FIELDS = [name for _, _, names in GROUPS for name in names]
_PRICES = GROUPS[3][2]
_OF_A_PROVIDER = ("requests_per_minute", "tokens_per_minute", "retry_after_cap")
LEFT_OUT: dict[str, tuple[str, ...]] = {
    "openai": (),
    "anthropic": (),
    "vllm": ("batches", "price_batch", "price_cache_write"),
    "vllm-engine": (
        "base_url", "api_key_env", "batches", "sets_temperature", "repeat_unknown", "timeout_seconds", *_OF_A_PROVIDER, *_PRICES,
    ),
    "baseline": (
        "revision", "base_url", "api_key_env", "sets_temperature", "json_schema", "batches", "context_tokens", "reasoning_tokens", "timeout_seconds",
        "max_attempts", "repeat_unknown", *_OF_A_PROVIDER, *_PRICES,
    ),
    "scripted": ("base_url", "api_key_env", "batches", "price_batch", "price_cached", "price_cache_write"),
}  # fmt: skip
"""Fields that say nothing for a provider."""
EXAMPLES: dict[str, dict[str, str]] = {
    "openai": {
        "name": "my-model", "model": "the provider’s name of it", "api_key_env": "OPENAI_API_KEY",
        "base_url": "http://127.0.0.1:11434/v1",
    },
    "anthropic": {"name": "my-model", "model": "the provider’s name of it", "api_key_env": "ANTHROPIC_API_KEY"},
    "vllm": {"name": "qwen-server", "model": "Qwen/Qwen2.5-7B-Instruct", "base_url": "http://127.0.0.1:8001/v1"},
    "vllm-engine": {"name": "qwen-gpu", "model": "Qwen/Qwen2.5-7B-Instruct"},
    "baseline": {"name": "majority-2"},
    "scripted": {"name": "dry-run", "model": "script-1"},
}  # fmt: skip
SENTENCES = {
    "openai": "OpenAI itself, and every server that speaks its chat completions: Ollama, llama.cpp, a gateway of your institution.",
    "anthropic": "Anthropic’s Messages, with its batches.",
    "vllm": "A vLLM server that you run: answers are held to a JSON schema, token by token.",
    "vllm-engine": "The model is loaded into a GPU worker of Credence; no server stands between.",
    "baseline": "Majority, random, omniscient, lexical judge: reference points that need no model, key or network.",
    "scripted": "Answers from a script, with delays and failures: to try a set-up before it costs money.",
}
UNSET_PRICE = {
    **dict.fromkeys(IN_THE_WORKER, "Empty: free."),
    "vllm": "Empty: free where the server stands on this machine or in a private network, or has no key variable; else unknown. 0: free.",
}
"""What an empty price means, where it does not just mean that nobody knows it."""
_TOO_LONG = "At most %(limit_value)d characters are expected; these are %(show_value)d."
OPTIONS_HELP = {
    "openai": "A JSON object: max_tokens_field, reasoning_effort, extra_body, batch_poll_seconds.",
    "anthropic": "A JSON object: effort, cache, batch_poll_seconds.",
    "vllm": "A JSON object: max_tokens_field, reasoning_effort, extra_body.",
    "vllm-engine": "A JSON object: dtype, quantization, tensor_parallel_size, max_model_len, gpu_memory_utilization and others.",
    "baseline": "A JSON object: seed for random, threshold for the lexical judge.",
    "scripted": "A JSON object: script, default, delay, function, log.",
}


def providers() -> list[dict[str, str]]:
    """What a model can be registered with."""
    return [{"key": key, "name": name, "sentence": SENTENCES[key]} for key, name in PROVIDERS.items()]


def plain(number: Decimal) -> str:
    """A decimal as people write it: no exponent, no zeros at the end."""
    return f"{number.normalize():f}"


class EndpointForm(forms.ModelForm):
    class Meta:
        model = Endpoint
        fields = _FIELDS
        widgets = {"options": forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"})}
        labels = {
            "active": "Can be chosen for new work",
            "base_url": "Base URL",
            "context_tokens": "Context length, in tokens",
            "reasoning_tokens": "Room for reasoning, in tokens",
            "price_input": "Input",
            "price_cached": "Input read from the cache",
            "price_cache_write": "Input written to the cache",
            "price_output": "Output",
            "price_batch": "Factor in a batch",
            "max_concurrency": "Calls in flight at most",
            "requests_per_minute": "Requests a minute at most",
            "tokens_per_minute": "Tokens a minute at most",
            "timeout_seconds": "Timeout of a call, in seconds",
            "max_attempts": "Attempts a call at most",
            "repeat_unknown": "Repeats after a lost answer",
            "retry_after_cap": "Longest wait obeyed, in seconds",
        }
        help_texts = {
            "base_url": "Empty for the provider’s own address.",
            "api_key_env": "The name of the environment variable that holds the key where the workers run, such as SMALL_API_KEY. Never the key.",
            "context_tokens": "0: it does not matter.",
            "reasoning_tokens": "Beside the text of an answer of pre-filling. 0: it does not reason; else some thousands.",
            "price_input": "Empty: unknown. 0: free.",
            "price_cached": "Empty: as input.",
            "price_cache_write": "Empty: as input.",
            "price_output": "Reasoning counts as output. Empty: unknown. 0: free.",
            "price_batch": "0.5: half of all prices.",
            "max_concurrency": "Of all workers together.",
            "requests_per_minute": "0: no known limit; it is found out.",
            "timeout_seconds": "Then the answer counts as lost.",
            "max_attempts": "After refusals and failures that can pass.",
            "repeat_unknown": "Such a call may have been paid, and is paid again then. 0: it is listed, and you decide.",
            "retry_after_cap": "Of a provider’s Retry-After.",
        }
        error_messages = {"name": NAME_TOLD, "options": {"invalid": "A JSON object is expected, such as {} for none."}}

    def __init__(self, *args, provider: str, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        for name in LEFT_OUT[provider]:
            del self.fields[name]
        if provider == "baseline":
            self.fields["model"] = forms.ChoiceField(choices=[(one, one) for one in MODELS], label="Baseline")
        self.instance.provider = provider  # what the other fields may say depends on it
        if (unset := UNSET_PRICE.get(provider)) and "price_input" in self.fields:
            self.fields["price_input"].help_text = unset
            self.fields["price_output"].help_text = f"Reasoning counts as output. {unset}"
        self.fields["options"].help_text = OPTIONS_HELP[provider]
        for name in set(BOUNDS) & set(self.fields):
            low, high = BOUNDS[name]
            self.fields[name].widget.attrs |= {"min": low, "max": high}
            told = bound_told(name)
            self.fields[name].error_messages |= {"invalid": told, "min_value": told, "max_value": told}
        for field in self.fields.values():
            field.error_messages |= {"required": f"{field.label} is missing.", "max_length": _TOO_LONG}
        for name, example in EXAMPLES[provider].items():
            self.fields[name].widget.attrs["placeholder"] = example
        for name in set(_PRICES) & set(self.fields):
            if isinstance(held := self.get_initial_for_field(self.fields[name], name), Decimal):
                self.initial[name] = plain(held)

    @property
    def groups(self) -> list[tuple[str, str, list[forms.BoundField]]]:
        rows = [(title, note, [self[name] for name in names if name in self.fields]) for title, note, names in GROUPS]
        lone = [name for name in GROUPS[1][2] if name in self.fields] == ["options"]
        return [("Its own settings" if lone and row is rows[1] else row[0], *row[1:]) for row in rows if row[2]]

    def _post_clean(self) -> None:
        """Fills the instance, and adds what the service would refuse: all that is wrong is said at once."""
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
        shown = [name for name in self._errors if name == "api_key_env" or looks_like_key(self.data.get(name, ""))]
        if any(self.data.get(name) for name in shown):
            self.data = self.data.copy()
            self.data.update(dict.fromkeys(shown, ""))

    def clean_options(self) -> dict:
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise forms.ValidationError("A JSON object is expected, such as {} for none.")
        return options


class LedgerFilter(forms.Form):
    text = forms.CharField(label="Text or id", required=False, max_length=200)
    endpoint = forms.CharField(required=False)
    state = forms.CharField(required=False)
    purpose = forms.CharField(required=False)
    day = forms.DateField(required=False)
