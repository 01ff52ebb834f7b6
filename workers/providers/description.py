"""The description of a provider. Forms, commands, the API, prices and workers read it, and know no provider by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.messages import Sentence, gettext_noop
from workers.providers.contract import Backend, BatchBackend, EngineBackend, Spec, Task
from workers.providers.headers import NO_LIMITS, RateHeaders, RequestLimits, kept
from workers.providers.options import KnownOptions

PRICES = ("price_input", "price_cached", "price_cache_write", "price_output", "price_batch")
RATES = ("requests_per_minute", "tokens_per_minute", "retry_after_cap")
"""Fields of an endpoint that a provider may leave out together."""


@dataclass(frozen=True, slots=True)
class FixedModel:
    """A model of a provider that has no others.

    `tasks` are the kinds of `Request.task` that it answers, and `sample` is one to try it with. `rules` is the version
    of what it computes by, None where there is only one.
    """

    tasks: tuple[str, ...]
    sample: Task
    rules: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider of models. Only the first four fields are needed; docs/developers.md shows how one is added.

    What it is:
    - `name`: stands in rows, commands and the keys of the ledger, so it stays for good: up to 20 small letters, digits
      and hyphens.
    - `label`, `sentence`: what pages call it, and what they say of it.
    - `backend`: makes the backend of an endpoint, and imports what that needs. Raises a BackendError where settings
      cannot work.
    - `batches`: makes the batch form from a backend and the ids of batches that are known; None where there is none.
    - `position`: where lists show it, the lowest first; equal ones by name.

    How it works:
    - `hosted`: others run it and send bills, so that a model without a price is of unknown price. What is not hosted is
      free then. `hosted_at` says it of an endpoint where some are hosted and some are one's own.
    - `in_process`: its backend holds the model itself, in a worker of its own (EngineBackend).
    - `reads_prompts`: false where it computes its answers from `Request.task` alone.
    - `fits_schemas`: its answers fit a JSON schema, whatever the endpoint says of structured output.
    - `refuses_at`: the field of the form beside which is shown what its backend refuses; empty where making one needs a
      key, a server or a GPU, so that it is not made when an endpoint is saved.
    - `models`: the only ones that it has, by name; empty where any name may be right. `samples`: models by name of
      endpoint that a new site has.
    - `packages`: distributions whose versions a run records.
    - `rate_headers`: the headers in which its answers say how much it may be asked; None where they do not.

    What its form asks:
    - `defaults`, `left_out`, `placeholders`: fields of an endpoint that begin with another value, that say nothing
      here, and what empty ones show. `model_label`: what the field for the model is called.
    - `options`: the endpoint's options with their types; `options_sentence` a sentence about them in place of their
      names.
    - `unset_price`: what an empty price means, where it does not just mean unknown.
    """

    name: str
    label: str
    sentence: str
    backend: Callable[[Spec], Backend | EngineBackend]
    batches: Callable[[Any, Sequence[str]], BatchBackend] | None = None
    position: int = 100
    hosted: bool = True
    hosted_at: Callable[[Spec], bool] | None = None
    in_process: bool = False
    reads_prompts: bool = True
    fits_schemas: bool = False
    refuses_at: str = ""
    models: Mapping[str, FixedModel] = field(default_factory=dict)
    samples: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    rate_headers: RateHeaders | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    placeholders: Mapping[str, str] = field(default_factory=dict)
    model_label: str = ""
    options: KnownOptions = field(default_factory=dict)
    options_sentence: str = ""
    unset_price: str = ""

    def bills(self, spec: Spec) -> bool:
        """Return whether somebody else runs the server of this endpoint and can send a bill."""
        return self.hosted_at(spec) if self.hosted_at else self.hosted

    def kept_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return what a ledger keeps of an answer's headers: no cookie, no key."""
        return kept(headers, self.rate_headers)

    def request_limits(self, headers: Mapping[str, str]) -> RequestLimits:
        """Return the limits that kept headers tell: requests a minute, requests left, seconds until they reset."""
        return self.rate_headers.request_limits(headers) if self.rate_headers else NO_LIMITS

    @property
    def options_help(self) -> str:
        """A sentence that says which options there are."""
        if self.options_sentence:
            return self.options_sentence
        return (
            Sentence("A JSON object: {options}.", options=", ".join(self.options))
            if self.options
            else gettext_noop("A JSON object: {}, as there are none.")
        )

    def tasks_of(self, model: str) -> tuple[str, ...] | None:
        """Return the kinds of task that a model answers, None where it may be asked anything."""
        if not self.models:
            return None
        return self.models[model].tasks if model in self.models else ()
