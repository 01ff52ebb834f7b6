from __future__ import annotations

from decimal import Decimal

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


class EndpointQuerySet(models.QuerySet):
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


def _price(help_text: str) -> models.DecimalField:
    return models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, validators=[MinValueValidator(0)], help_text=help_text
    )


class Endpoint(models.Model):
    """A model that can be asked: where, how, at what price and how fast. The key itself lies in the worker's
    environment."""

    name = models.SlugField(max_length=60, unique=True, help_text=gettext_noop("What tables and commands call it."))
    provider = models.CharField(
        max_length=registry.LONGEST, help_text=gettext_noop("Its name in workers/providers/registry.py.")
    )
    model = models.CharField(max_length=200, help_text=gettext_noop("The name that the provider knows the model by."))
    revision = models.CharField(
        max_length=100, blank=True, help_text=gettext_noop("A commit or version of the weights, where there is one.")
    )
    base_url = models.CharField(
        max_length=300, blank=True, help_text=gettext_noop("Empty for the provider's own address.")
    )
    api_key_env = models.CharField(
        gettext_noop("key variable"),
        max_length=100,
        blank=True,
        validators=[
            RegexValidator(
                # capitals only: the keys of several providers look like a name in small letters
                rf"\A{VARIABLE}\Z",
                gettext_noop("The name of an environment variable is expected, in capitals, never the key itself."),
            )
        ],
        help_text=gettext_noop(
            "The name of the environment variable that holds the key where the worker runs. Never the key."
        ),
    )
    family = models.CharField(
        max_length=60, blank=True, help_text=gettext_noop("Who trained it, for groups in tables.")
    )
    options = models.JSONField(
        default=dict, blank=True, help_text=gettext_noop("Settings of the provider's own (docs/models.md).")
    )
    active = models.BooleanField(default=True)

    sets_temperature = models.BooleanField(gettext_noop("takes a temperature"), default=True)
    json_schema = models.BooleanField(
        gettext_noop("structured output"), default=True, help_text=gettext_noop("Answers can be held to a JSON schema.")
    )
    no_system_role = models.BooleanField(
        gettext_noop("has no system role"),
        default=False,
        help_text=gettext_noop("The system text then goes in front of the first user message."),
    )
    batches = models.BooleanField(
        gettext_noop("batch form"), default=False, help_text=gettext_noop("The provider's batch form, at half price.")
    )
    context_tokens = models.PositiveIntegerField(
        default=0, help_text=gettext_noop("Context length in tokens; 0 where it does not matter.")
    )

    reasoning_tokens = models.PositiveIntegerField(
        gettext_noop("room for reasoning"),
        default=0,
        help_text=gettext_noop("Tokens that an answer of pre-filling may take beside its text."),
    )

    price_input = _price(gettext_noop("US dollars per million tokens; empty where it is unknown."))
    price_cached = _price(gettext_noop("For tokens read from the provider's cache; empty for the price of input."))
    price_cache_write = _price(gettext_noop("For tokens put into the provider's cache; empty for the price of input."))
    price_output = _price(gettext_noop("Reasoning tokens count as output."))
    price_batch = models.DecimalField(
        max_digits=4, decimal_places=3, default=Decimal("0.5"), validators=[MinValueValidator(0)],
        help_text=gettext_noop("Factor on all prices in a batch."),
    )  # fmt: skip

    max_concurrency = models.PositiveIntegerField(
        default=16, validators=[MinValueValidator(1)], help_text=gettext_noop("Calls in flight at once.")
    )
    requests_per_minute = models.PositiveIntegerField(
        default=0, help_text=gettext_noop("0: no known limit; it is found out.")
    )
    tokens_per_minute = models.PositiveIntegerField(default=0, help_text=gettext_noop("0: no known limit."))
    timeout_seconds = models.PositiveIntegerField(default=300, validators=[MinValueValidator(1)])
    max_attempts = models.PositiveSmallIntegerField(default=6, validators=[MinValueValidator(1)])
    repeat_unknown = models.PositiveSmallIntegerField(
        default=0,
        help_text=gettext_noop("How often a call is sent again whose answer never came, and that may have been paid."),
    )
    retry_after_cap = models.PositiveIntegerField(
        default=60, help_text=gettext_noop("Seconds; a longer Retry-After is not obeyed.")
    )

    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150, blank=True)
    tried_at = models.DateTimeField(null=True, blank=True)
    tried = LongJSONField(default=dict, blank=True)

    objects = EndpointQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(max_concurrency__gte=1), name="endpoint_concurrency_positive"),
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
    def is_unbilled(self) -> bool:
        """True if nobody can send a bill for it: it is then free if no price is set, not of unknown price."""
        return not self.about.bills(self.spec)

    @property
    def prices(self) -> Prices:
        unset = Decimal(0) if self.is_unbilled else None
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
