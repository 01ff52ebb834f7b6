"""Parts that every provider's package needs to make calls: the key, the address, the HTTP client, and the wire's
errors."""

import os

import httpx2

from core.messages import Sentence
from workers.providers.addresses import host_of
from workers.providers.contract import Spec
from workers.providers.errors import BackendError, Forbidden, Lost, Rejected, WrongAddress
from workers.providers.keys import variable_problem
from workers.providers.redaction import Redactor
from workers.providers.wire import Wire


def http_client(spec: Spec, own: str) -> httpx2.AsyncClient:
    """Return the HTTP client of a provider's package: it follows no redirect, asks no forbidden address, and reads
    through the wire.

    `own` is the provider's address where the endpoint names none.
    """
    redact = Redactor([api_key(spec)] if spec.api_key_env else [])
    hosts = spec.hosts if spec.base_url else (host_of(address_of(spec, own)),)
    wire = Wire(limit=spec.answer_bytes, redact=redact, hosts=hosts, proxied=spec.proxied)
    return httpx2.AsyncClient(transport=wire, timeout=None, follow_redirects=False)


def address_of(spec: Spec, own: str) -> str:
    """Return the endpoint's address, or `own`: without one a package would take what the worker's environment names.

    Raises WrongAddress where there is neither.
    """
    if not (spec.base_url or own):
        raise WrongAddress(Sentence("{model} has no address: say where its server answers.", model=spec.model))
    return spec.base_url or own


def api_key(spec: Spec) -> str:
    """Return the key, or a word that stands for none. Raises Forbidden if the named variable holds no key."""
    if not spec.api_key_env:
        return "none"  # the package wants one; servers without keys ignore it
    if problem := variable_problem(spec.api_key_env):
        raise Forbidden(problem)
    key = os.environ.get(spec.api_key_env, "")
    if not key:
        raise Forbidden(
            Sentence(
                "The environment variable {api_key_env} is not set where the worker runs.", api_key_env=spec.api_key_env
            )
        )
    if not (key.isascii() and key.isprintable()):
        raise Forbidden(
            Sentence(
                "The environment variable {api_key_env} holds a line break or a character that no key has.",
                api_key_env=spec.api_key_env,
            )
        )
    return key


def of_chain(error: Exception) -> BackendError:
    """Return what the wire raised, where the package wrapped it into an error of its own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BackendError):
            return cause
        if isinstance(cause, httpx2.TransportError):
            return Lost(
                Sentence("The connection broke before the answer was whole ({cause}).", cause=str(cause).rstrip("."))
            )
        cause = cause.__cause__ or cause.__context__
    return Rejected(Sentence("The request could not be made: {error}", error=error))
