from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from benchmark.management.commands._runs import say_metrics, say_scores
from benchmark.suites.registry import suite_named, suites
from benchmark.suites.settings import Option
from core.management.json_command import JsonCommand


class Command(JsonCommand):
    help = "Scores answers that were made elsewhere, in the official and in the repaired parse."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("suite", choices=sorted(name for name, suite in suites().items() if suite.released.score))
        parser.add_argument("--data", required=True, type=Path, metavar="PATH", help="what the suite's importer takes")
        parser.add_argument("--answers", required=True, type=Path, metavar="FILE", help="JSON: answers by id")
        for option in _options():
            flag = f"--{option.name.replace('_', '-')}"
            if option.default is False:
                parser.add_argument(flag, action="store_const", const=True, help=option.help)
            else:
                parser.add_argument(flag, type=type(option.default), choices=option.choices, help=option.help)

    def work(self, **options: Any) -> dict[str, Any]:
        suite = suite_named(options["suite"])
        defaults = {option.name: option.default for option in suite.released.options}
        given = {option.name: options[option.name] for option in _options() if options.get(option.name) is not None}
        if foreign := sorted(given.keys() - defaults.keys()):
            raise ValueError(f"{suite.name} has no option --{foreign[0].replace('_', '-')}.")
        for path in (options["data"], options["answers"]):
            if not path.exists():
                raise ValueError(f"There is no file {path}.")
        if options["answers"].is_dir():
            raise ValueError(f"{options['answers']} is a folder; expected a file.")
        assert suite.released.score, "only suites that score outputs are offered"
        return suite.released.score(options["data"], options["answers"], **defaults | given).as_json()

    def say(self, result: dict[str, Any]) -> None:
        say = say_metrics if "metrics" in result["official"] else say_scores
        say(self, result)


def _options() -> list[Option]:
    """The options of all suites, one of a name that several have."""
    return list({option.name: option for suite in suites().values() for option in suite.released.options}.values())
