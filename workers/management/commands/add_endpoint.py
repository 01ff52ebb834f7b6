from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser

from core.incoming.text import NotJson, json_of
from core.management.json_command import JsonCommand
from workers.domain.pricing import UNKNOWN
from workers.models import Endpoint
from workers.providers import registry
from workers.services.endpoint_rules import AMOUNTS, BOUNDS, SWITCHES
from workers.services.endpoints import save_endpoint, try_endpoint

_PRICES = ("price_input", "price_cached", "price_cache_write", "price_output")
_PLAIN = ("name", "provider", "model", "revision", "base_url", "api_key_env", "family", "options", "price_batch")
_WHOLE = [name for name in BOUNDS if name not in AMOUNTS]
_SWITCHES = [name for name in SWITCHES if name != "active"]


def _json(text: str) -> object:
    try:
        return json_of(text.encode("utf-8", "surrogatepass"), nan=True)  # on which the rules have a sentence
    except NotJson as error:
        raise ArgumentTypeError(f"JSON is expected, such as '{{\"seed\": 1}}': {error}") from error


class Command(JsonCommand):
    help = "Registers a model that can be asked; with --update changes what is given of one that is there."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        labels = "; ".join(f"{provider.name}: {provider.label}" for provider in registry.registered())
        parser.add_argument("--provider", choices=registry.names(), help=f"of a new endpoint, who answers. {labels}")
        parser.add_argument("--model", help="of a new endpoint: what the provider calls it")
        parser.add_argument("--revision")
        parser.add_argument("--base-url", metavar="URL")
        parser.add_argument(
            "--api-key-env",
            metavar="VAR",
            help="the name of the variable that holds the key: it ends in _API_KEY, _KEY or _TOKEN",
        )
        parser.add_argument("--family")
        parser.add_argument("--options", type=_json, metavar="JSON")
        for name in (*_WHOLE, "price_batch"):
            kind = int if name in _WHOLE else str
            parser.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="N")
        for name in _PRICES:
            note = "US dollars per million tokens; unknown takes a price back"
            parser.add_argument(f"--{name.replace('_', '-')}", metavar="USD", help=note)
        for name in _SWITCHES:
            parser.add_argument(f"--{name.replace('_', '-')}", choices=["yes", "no"])
        parser.add_argument("--update", action="store_true", help="change what else is given of one that is there")
        parser.add_argument(
            "--try", action="store_true", help="then ask it one short question, and say what it supports"
        )

    def work(self, **options: Any) -> dict[str, Any]:
        existing = Endpoint.objects.filter(name=options["name"]).first()
        if existing and not options["update"]:
            raise ValueError(f"There is an endpoint {options['name']!r} already; add --update to change it.")
        if options["update"] and not existing:
            raise ValueError(f"There is no endpoint {options['name']!r} to change; leave --update out to register it.")
        missing = [f"--{name}" for name in ("provider", "model") if options[name] is None]
        if missing and not existing:
            raise ValueError(f"A new endpoint needs {' and '.join(missing)}; --help says what can be given.")
        values = {} if existing else dict(registry.find(options["provider"]).defaults)
        values |= {name: options[name] for name in (*_PLAIN, *_WHOLE) if options[name] is not None}
        prices = {name: options[name] for name in _PRICES if options[name] is not None}
        values |= {name: None if price == UNKNOWN else price for name, price in prices.items()}
        values |= {name: options[name] == "yes" for name in _SWITCHES if options[name]}
        endpoint = save_endpoint(by="", values=values, endpoint=existing)
        tried = try_endpoint(endpoint=endpoint) if options["try"] else None
        return {"endpoint": endpoint.name} | ({"tried": tried} if tried else {})
