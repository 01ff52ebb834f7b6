"""Answers from a script: for tests, and for users who try their set-up before it costs money."""

from core.messages import gettext_noop
from workers.providers.contract import Backend, Spec
from workers.providers.description import Provider


def _backend(spec: Spec) -> Backend:
    from workers.providers.scripted.backend import ScriptedBackend

    return ScriptedBackend(spec)


PROVIDER = Provider(
    name="scripted",
    label=gettext_noop("Scripted answers"),
    sentence=gettext_noop("Answers from a script, with delays and failures: to try a set-up before it costs money."),
    backend=_backend,
    hosted=False,
    unset_price=gettext_noop("Empty: free."),
    position=60,
    fits_schemas=True,
    refuses_at="options",
    samples={"scripted": "scripted-answers"},
    defaults={"max_concurrency": 64, "repeat_unknown": 1},
    left_out=("base_url", "api_key_env", "batches", "price_batch", "price_cached", "price_cache_write"),
    placeholders={"name": "dry-run", "model": "script-1"},
    options={"script": (list, str), "default": (str,), "delay": (float, int), "function": (str,), "log": (str,)},
)
