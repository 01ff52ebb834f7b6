"""The order in which the options of a question were shown to the model that chose among them by letter elsewhere.

A letter means nothing without it, and the order that a run here would draw is not the one that another tool showed. So
it is read from the record of each answer, it goes with the ids of the released code, or the importer states it. Where
none of these tells it, the file is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from benchmark.models import DatasetSample
from benchmark.services.asking import sample_of
from benchmark.services.made_elsewhere.matching import ItemKey, Matched
from benchmark.services.made_elsewhere.records import BadFile, Record
from benchmark.services.plans import Plan
from benchmark.suites.asked import Sample
from benchmark.suites.contract import Suite
from benchmark.suites.lettered import Order, order_in, order_of, order_of_appearance
from benchmark.suites.settings import Setting
from core.messages import Sentence, gettext_noop

UNTOLD = gettext_noop("the file does not show them")
UNLETTERED = gettext_noop("the prompt does not show each of them behind its letter, in one order")
OTHERS = gettext_noop("shows other options than the question has here")


def order_shown(record: Record, options: Sequence[str]) -> Order | str:
    """Return the order in which a record shows options, in its prompt or as its choices, or why it is not known."""
    if order := order_in(record.prompt, options):
        return order
    appearing = order_of_appearance(record.prompt, options)
    if not record.choices:
        return UNLETTERED if appearing else UNTOLD
    order = order_of(record.choices, options)
    if order is None:
        return OTHERS
    return order if appearing in (None, order) else UNLETTERED


def read_orders(
    plan: Plan, stories: Sequence[DatasetSample], matched: Matched, ids: Collection[str], name: str
) -> dict[ItemKey, Order]:
    """Return the order of the options of each answer by letter whose record tells it. The answers to other options
    become unmatched. The others have the order of the suite's setting, which the plan states, or which goes with these
    `ids`. Raises BadFile, which calls the file by `name`, for an answer without any."""
    lettered, orders = plan.definition.lettered, dict[ItemKey, Order]()
    if lettered is None:
        return orders
    setting = setting_of(plan.definition)
    stated = setting is not None and plan.options[setting.name] != setting.for_imports.default
    samples = {story.pk: sample_of(story) for story in stories}
    others: list[ItemKey] = []
    for item_key, record in matched.answers.items():
        sample = samples[item_key[0]]
        options = sample.content.get(lettered.options)
        if item_key[1] != lettered.step or record.text is None or not options:
            continue
        order = order_shown(record, options)
        if not isinstance(order, str):
            orders[item_key] = order
        elif order == OTHERS:
            others.append(item_key)
        elif not (stated or not set(record.ids).isdisjoint(ids) or (order == UNTOLD and not setting)):
            raise BadFile(_refusal(setting, record, sample, order, name))
    for item_key in others:
        matched.unmatched.append((matched.answers.pop(item_key).where, OTHERS))
    return orders


def setting_of(suite: Suite) -> Setting | None:
    """Return the setting for the order in which a run of the suite shows options; None without one."""
    return next(
        (setting for setting in suite.settings if suite.lettered and setting.name == suite.lettered.setting), None
    )


def _refusal(setting: Setting | None, record: Record, sample: Sample, why: str, name: str) -> str:
    where = f"{name}, {record.where}" if name else record.where
    values = [f"{setting.name}={value}" for value, _ in setting.for_imports.choices[1:]] if setting else []
    stated = Sentence(", or that you state it ({values})", values=" or ".join(values)) if values else ""
    return Sentence(
        "{where}: the order in which the options of {sample} were shown is not known: {why}. "
        "Expected are options behind their letters in the prompt, or a list of choices{stated}.",
        where=where,
        sample=sample.key,
        why=why,
        stated=stated,
    )
