from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from core.bulk import update_rows
from core.messages import gettext_noop
from core.stored_json import LongJSONField
from workers.domain.outcomes import Policy
from workers.domain.pricing import Prices
from workers.domain.rate_limit import RateLimit
from workers.providers import registry
from workers.providers.contract import Spec
from workers.providers.description import Provider

VARIABLE = "[A-Z_][A-Z0-9_]*"
"""The name of an environment variable, as a regular expression of the whole text."""
NO_VARIABLE = gettext_noop("The name of an environment variable is expected, in capitals, never the key itself.")


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    def usable(self) -> EndpointQuerySet:
        """Endpoints that can be chosen for new work."""
        return self.filter(active=True, provider__in=registry.names())

    def able_to(self, task: str) -> EndpointQuerySet:
        """Endpoints that can be asked a task of this kind: all but the fixed models of other kinds."""
        able = self
        for provider in registry.registered():
            if others := [name for name, model in provider.models.items() if task not in model.tasks]:
                able = able.exclude(provider=provider.name, model__in=others)
        return able


def _price(label: str, help_text: str) -> Any:
    return models.DecimalField(
        label, max_digits=12, decimal_places=6, null=True, blank=True, validators=[MinValueValidator(0)],
        help_text=help_text,
    )  # fmt: skip


class Endpoint(models.Model):
    """A model that can be asked: where, how, at what price and how fast. The key itself lies in the worker's
    environment. Labels and helps of the fields are those of the page, the API and the command."""

    name = models.SlugField(max_length=60, unique=True, help_text=gettext_noop("What tables and commands call it."))
    provider = models.CharField(
        max_length=registry.LONGEST, help_text=gettext_noop("Its name in workers/providers/registry.py.")
    )
    model = models.CharField(max_length=200, help_text=gettext_noop("The name that the provider knows the model by."))
    revision = models.CharField(
        max_length=100, blank=True, help_text=gettext_noop("A commit or version of the weights, where there is one.")
    )
    family = models.CharField(
        gettext_noop("Family"),
        max_length=60,
        blank=True,
        help_text=gettext_noop("Who trained it, for groups in tables."),
    )
    base_url = models.CharField(
        gettext_noop("Base URL"), max_length=300, blank=True,
        help_text=gettext_noop("Empty for the provider’s own address."),
    )  # fmt: skip
    api_key_env = models.CharField(
        gettext_noop("Key variable"), max_length=100, blank=True,
        # capitals only: the keys of several providers look like a name in small letters
        validators=[RegexValidator(rf"\A{VARIABLE}\Z", NO_VARIABLE)],
        help_text=gettext_noop(
            "The name of the environment variable that holds the key where the workers run, such as SMALL_API_KEY. "
            "Never the key."
        ),
    )  # fmt: skip
    options = models.JSONField(
        default=dict, blank=True, help_text=gettext_noop("Settings of the provider's own (docs/models.md).")
    )
    active = models.BooleanField(gettext_noop("Can be chosen for new work"), default=True)

    sets_temperature = models.BooleanField(gettext_noop("takes a temperature"), default=True)
    json_schema = models.BooleanField(
        gettext_noop("structured output"), default=True, help_text=gettext_noop("Answers can be held to a JSON schema.")
    )
    no_system_role = models.BooleanField(
        gettext_noop("has no system role"), default=False,
        help_text=gettext_noop("The system text then goes in front of the first user message."),
    )  # fmt: skip
    batches = models.BooleanField(
        gettext_noop("Batch form"), default=False, help_text=gettext_noop("The provider's batch form, at half price.")
    )
    context_tokens = models.PositiveIntegerField(
        gettext_noop("Context length, in tokens"), default=0, help_text=gettext_noop("0: it does not matter.")
    )
    reasoning_tokens = models.PositiveIntegerField(
        gettext_noop("Room for reasoning, in tokens"), default=0,
        help_text=gettext_noop(
            "Beside the text of an answer of pre-filling. 0: it does not reason; else some thousands."
        ),
    )  # fmt: skip

    price_input = _price(gettext_noop("Input"), gettext_noop("Empty: unknown. 0: free."))
    price_cached = _price(gettext_noop("Input read from the cache"), gettext_noop("Empty: as input."))
    price_cache_write = _price(gettext_noop("Input written to the cache"), gettext_noop("Empty: as input."))
    price_output = _price(gettext_noop("Output"), gettext_noop("Reasoning counts as output. Empty: unknown. 0: free."))
    price_batch = models.DecimalField(
        gettext_noop("Factor in a batch"), max_digits=4, decimal_places=3, default=Decimal("0.5"),
        validators=[MinValueValidator(0)], help_text=gettext_noop("0.5: half of all prices."),
    )  # fmt: skip

    max_concurrency = models.PositiveIntegerField(
        gettext_noop("Calls in flight at most"), default=16, validators=[MinValueValidator(1)],
        help_text=gettext_noop("Of all workers together."),
    )  # fmt: skip
    requests_per_minute = models.PositiveIntegerField(
        gettext_noop("Requests a minute at most"), default=0,
        help_text=gettext_noop("0: no known limit; it is found out."),
    )  # fmt: skip
    tokens_per_minute = models.PositiveIntegerField(
        gettext_noop("Tokens a minute at most"), default=0, help_text=gettext_noop("0: no known limit.")
    )
    timeout_seconds = models.PositiveIntegerField(
        gettext_noop("Timeout of a call, in seconds"), default=300, validators=[MinValueValidator(1)],
        help_text=gettext_noop("Then the answer counts as lost."),
    )  # fmt: skip
    max_attempts = models.PositiveSmallIntegerField(
        gettext_noop("Attempts a call at most"), default=6, validators=[MinValueValidator(1)],
        help_text=gettext_noop("After refusals and failures that can pass."),
    )  # fmt: skip
    repeat_unknown = models.PositiveSmallIntegerField(
        gettext_noop("Repeats after a lost answer"), default=0,
        help_text=gettext_noop(
            "Such a call may have been paid, and is paid again then. 0: it is listed, and you decide."
        ),
    )  # fmt: skip
    retry_after_cap = models.PositiveIntegerField(
        gettext_noop("Longest wait obeyed, in seconds"), default=60,
        help_text=gettext_noop("Of a provider’s Retry-After."),
    )  # fmt: skip

    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150, blank=True)
    tried_at = models.DateTimeField(null=True, blank=True)
    tried = LongJSONField(default=dict, blank=True)

    objects = EndpointQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(max_concurrency__gte=1), name="endpoint_concurrency_positive")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def about(self) -> Provider:
        """The description of its provider; for one that is not registered any more, a placeholder that says so."""
        return registry.find(self.provider)

    @property
    def provider_problem(self) -> str:
        """A sentence where its provider is not registered any more."""
        return registry.problem_of(self.provider)

    @property
    def tasks(self) -> tuple[str, ...] | None:
        """The kinds of task that it answers, None where it may be asked anything."""
        return self.about.tasks_of(self.model)

    @property
    def spec(self) -> Spec:
        return Spec(
            provider=self.provider,
            model=self.model,
            revision=self.revision,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            sets_temperature=self.sets_temperature,
            json_schema=self.json_schema,
            no_system_role=self.no_system_role,
            max_concurrency=self.max_concurrency,
            options=self.options,
            answer_bytes=settings.ANSWER_MAX_BYTES,
            hosts=settings.ENDPOINT_HOSTS,
            proxied=settings.ENDPOINT_PROXY,
        )

    @property
    def prices(self) -> Prices:
        unset = None if self.about.bills(self.spec) else Decimal(0)  # where nobody can send a bill it is free
        input_, output = (unset if price is None else price for price in (self.price_input, self.price_output))
        return Prices(input_, self.price_cached, self.price_cache_write, output, self.price_batch)

    @property
    def policy(self) -> Policy:
        return Policy(self.max_attempts, self.repeat_unknown, float(self.retry_after_cap))

    @property
    def most(self) -> float:
        """The endpoint's own limit in calls a second, 0 for none."""
        return self.requests_per_minute / 60

    @property
    def token_rate(self) -> float:
        """Tokens a second, 0 for no limit."""
        return self.tokens_per_minute / 60


class EndpointRateLimit(models.Model):
    """The shared rate of an endpoint (workers/domain/rate_limit.py). Its row is the lock under which work is
    claimed."""

    endpoint = models.OneToOneField(Endpoint, models.CASCADE, primary_key=True, related_name="rate_limit")
    state = models.JSONField(default=dict)

    @classmethod
    def locked(cls, endpoint: int) -> EndpointRateLimit:
        """Return the row of an endpoint, by its id, and lock it until the caller's transaction ends."""
        return cls.objects.select_for_update().get(endpoint=endpoint)

    @property
    def rate_limit(self) -> RateLimit:
        return RateLimit.from_json(self.state)

    def keep(self, rate_limit: RateLimit) -> None:
        """Write the rate down, in the transaction that locked the row."""
        self.state = rate_limit.as_json()
        update_rows(type(self), ["state"], [(self.state, self.pk)])
