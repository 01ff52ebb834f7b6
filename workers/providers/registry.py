"""The providers by name. Each folder here that has a `provider.py` with a `PROVIDER` is one; apps may register more
when they are ready.

A description loads none of the packages that calls need: a backend does, when it is made.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from core.messages import Sentence
from workers import providers
from workers.providers.contract import Backend, BatchBackend, EngineBackend, Spec
from workers.providers.description import Provider
from workers.providers.errors import BackendError, UnknownProvider, WrongAddress

LONGEST = 20
"""Characters of a provider's name: as many as a row has room for."""
IMPORTED = "imported"
"""The provider of answers that were made elsewhere: it stands in rows and can be asked nothing, so no form and no
command offers it."""
_IMPORTED_SENTENCE = "Its answers were made elsewhere and imported; nothing can be asked of it."
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_providers: dict[str, Provider] = {}


def register(provider: Provider, *, instead: bool = False) -> None:
    """Add or replace a provider. Raises ValueError for a name that is taken or too long."""
    if not _NAME.fullmatch(provider.name) or len(provider.name) > LONGEST:
        raise ValueError(
            f"A provider's name has up to {LONGEST} small letters, digits and hyphens, unlike {provider.name!r}."
        )
    if provider.name in _providers and not instead:
        raise ValueError(f"There is a provider {provider.name!r} already.")
    _providers[provider.name] = provider


def registered() -> list[Provider]:
    """Return all providers, in the order in which lists show them."""
    return sorted(_providers.values(), key=lambda provider: (provider.position, provider.name))


def names() -> list[str]:
    """Return the names of all providers, in the order in which lists show them."""
    return [provider.name for provider in registered()]


def find(name: str) -> Provider:
    """Return a provider; for a name that is not registered one that can do nothing, and says so.

    Such an endpoint was registered with other code. Nobody knows what it costs, so it counts as hosted.
    """
    provider = _providers.get(name)
    if provider is None and name == IMPORTED:
        return Provider(name=name, label="Imported answers", sentence=_IMPORTED_SENTENCE, backend=_refuse)
    return provider or Provider(
        name=name, label=Sentence("{name} (not there)", name=name), sentence=problem_of(name), backend=_refuse
    )


def problem_of(name: str) -> str:
    """Return a sentence where no provider of this name is registered, else nothing."""
    if name in _providers:
        return ""
    if name == IMPORTED:
        return _IMPORTED_SENTENCE
    return Sentence(
        "There is no provider {name} here; there are {names}. Its models can be read, but not asked.",
        name=repr(name),
        names=", ".join(names()),
    )


def without_prompts() -> list[str]:
    """Return the names of the providers that compute their answers from data."""
    return [provider.name for provider in registered() if not provider.reads_prompts]


def make(spec: Spec) -> Backend:
    """Return the backend of an endpoint. Raises BackendError if its settings cannot work, such as a missing key."""
    return cast(Backend, find(spec.provider).backend(spec))


def make_engine(spec: Spec) -> EngineBackend:
    """Return the backend of an endpoint whose model this process holds. Raises BackendError as `make`."""
    return cast(EngineBackend, find(spec.provider).backend(spec))


def wants_address(name: str) -> bool:
    """Return whether an endpoint of the provider must say where its server is."""
    provider = find(name)
    takes_one = "base_url" not in provider.left_out and not provider.in_process
    return takes_one and _refuses_without_address(provider.backend, name)


@cache
def _refuses_without_address(backend: Callable[[Spec], Backend | EngineBackend], name: str) -> bool:
    try:
        backend(Spec(name, "model"))
    except WrongAddress:
        return True
    except BackendError:  # of the key, which lies where the worker runs
        return False
    return False


def make_batches(spec: Spec, backend: Backend, *, others: Sequence[str] = ()) -> BatchBackend | None:
    """Return the batch form of `backend`, None where its provider has none.

    `others` are the ids of the provider's known batches, which a search for a lost one leaves out.
    """
    batches = find(spec.provider).batches
    return batches(backend, others) if batches else None


def _refuse(spec: Spec) -> Backend:
    raise UnknownProvider(problem_of(spec.provider))


for _module in iter_modules(providers.__path__):
    if _module.ispkg:
        register(import_module(f"{providers.__name__}.{_module.name}.provider").PROVIDER)
