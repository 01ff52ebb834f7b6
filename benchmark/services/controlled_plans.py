"""The plans of what is asked once more under controls, as runs of their own beside the one that asks as published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from benchmark.controls.chosen import CONTROLS, controls_of, refused, senseless
from benchmark.models import DatasetSample, Run
from benchmark.services.asking import sample_asked
from benchmark.services.method_plans import method_of, methods_of
from benchmark.services.plans import MOST_TITLE, Plan, RunRefused, own_steps, part_of
from benchmark.services.stored_plans import draft_of
from benchmark.suites.contract import Suite
from core.messages import Sentence, gettext_noop, labelled, listed, sentences, uncapitalised, word

NOT_AGAIN = gettext_noop("{control}: {about}{counted}, and are not asked again. {same}")
ONE_NOT_AGAIN = gettext_noop("{control}: {about}{counted}, and is not asked again. {same}")


@dataclass(frozen=True, slots=True)
class UnderControl:
    """A plan under one control: `samples` are those that it changes, `same` those that stay as they are, which are not
    asked again. `notes` say what it makes no sense for; None for `plan` where nobody is asked anything."""

    name: str
    plan: Plan | None
    samples: Sequence[DatasetSample]
    same: Sequence[DatasetSample]
    notes: Sequence[str]

    @property
    def title(self) -> str:
        return CONTROLS[self.name].title


def check_controls(plan: Plan) -> None:
    """Raise RunRefused for a control that there is not, or that makes no sense for anything of the plan."""
    for name in plan.controls:
        if why := _no_control(plan, name):
            raise RunRefused(why, "controls")


def _no_control(plan: Plan, name: str) -> str:
    """Return why the plan cannot be asked under a control; empty where it can."""
    suite = plan.definition
    if name not in CONTROLS:
        offered = listed(control.name for control in controls_of(suite.controls)) or "none"
        return Sentence(
            "There is no control {name}; {suite} has: {offered}.", name=repr(name), suite=suite.title, offered=offered
        )
    if why := senseless(suite.controls, name).get(""):
        return Sentence(
            "{suite} has no control “{controls}”: {why}",
            suite=suite.title,
            controls=CONTROLS[name].title,
            why=_within(why),
        )
    if why := refused(suite.controls, name, method_of(plan)):
        method = methods_of(suite)[method_of(plan)]
        return Sentence(
            "{suite} has no control “{controls}” with the method {method}: {why}",
            suite=suite.title,
            controls=CONTROLS[name].title,
            method=method,
            why=_within(why),
        )
    if not _steps_under(plan, name):
        return Sentence(
            "Under the control “{controls}” nothing is left to be asked. {plan}",
            controls=CONTROLS[name].title,
            plan=sentences(*_notes(plan, name)),
        )
    return ""


def under_controls(plan: Plan, samples: Sequence[DatasetSample]) -> Iterator[UnderControl]:
    """Yield what is asked under each control of the plan, whose own samples these are."""
    for name in plan.controls:
        yield under_control(plan, name, samples)


def under_control(plan: Plan, name: str, samples: Sequence[DatasetSample], total: int = 0) -> UnderControl:
    """Return what is asked of these samples under a control; where they are a part of as many as `total`, notes say
    what that tells of all."""
    source = plan.source and plan.source.controls.filter(control=name).first()
    notes = _notes(plan, name)
    if plan.source and source is None:
        return UnderControl(
            name,
            None,
            [],
            [],
            [
                *notes,
                Sentence(
                    "{source} was not asked under the control “{controls}”.",
                    source=plan.source.title,
                    controls=CONTROLS[name].title,
                ),
            ],
        )
    asked = asked_under(plan, name, source)
    if not asked.endpoints:
        return UnderControl(
            name,
            None,
            [],
            [],
            [
                *notes,
                Sentence(
                    "Under the control “{controls}” no model has anything to answer.", controls=CONTROLS[name].title
                ),
            ],
        )
    draft = draft_of(asked, samples)
    changed = {
        sample.pk for sample in DatasetSample.in_full(samples) if sample_asked(draft, sample).published is not None
    }
    kept, same = ([sample for sample in samples if (sample.pk in changed) is there] for there in (True, False))
    notes += _same_sentences(plan.definition, name, len(same), len(samples), total) if same else []
    notes += _part_sentences(plan.definition, name, len(samples), total) if len(samples) < total else []
    return UnderControl(name, asked if kept else None, kept, same, notes)


def asked_under(plan: Plan, name: str, source: Run | None = None) -> Plan:
    """Return the plan of what is asked under a control; without endpoints where no model has anything to answer."""
    title = labelled(plan.title, CONTROLS[name].title)[:MOST_TITLE] if plan.title else ""
    asked = replace(
        plan.without_test(),
        controls=(),
        control=name,
        steps=_steps_under(plan, name),
        title=title,
        source=source,
        budget=budget_of_each(plan),
    )
    return replace(
        asked,
        judge=asked.judge if asked.judges else None,
        endpoints=[endpoint for endpoint in asked.endpoints if own_steps(asked, endpoint)],
    )


def budget_of_each(plan: Plan) -> Decimal | None:
    """The budget of the run as published and of each under a control: equal parts, of which no sum is above the
    whole."""
    return part_of(plan.budget, 1 + len(plan.controls))


def _steps_under(plan: Plan, name: str) -> list[str]:
    left_out = senseless(plan.definition.controls, name)
    return [step for step in plan.steps if step not in left_out]


def _notes(plan: Plan, name: str) -> list[str]:
    left_out = senseless(plan.definition.controls, name)
    return [
        (
            Sentence(
                "{controls}: {step} is left out. {left_out}",
                controls=CONTROLS[name].title.capitalize(),
                step=plan.definition.step(step).label.lower(),
                left_out=left_out[step],
            )
        )
        for step in plan.steps
        if step in left_out
    ]


def _same_sentences(suite: Suite, name: str, same: int, looked: int, total: int) -> list[str]:
    """Say how many of the samples stay as they are, about how many of all where only a part was looked at."""
    singular, many = suite.noun
    about, count, total = ("about ", round(same * total / looked), total) if looked < total else ("", same, looked)
    counted = (
        Sentence("{count} of {total} {many} stay as they are", count=f"{count:,}", total=f"{total:,}", many=word(many))
        if count > 1
        else Sentence("1 {singular} stays as it is", singular=word(singular))
    )
    return [
        (NOT_AGAIN if count > 1 else ONE_NOT_AGAIN).format(
            control=CONTROLS[name].title.capitalize(), about=about, counted=counted, same=CONTROLS[name].same
        )
    ]


def _part_sentences(suite: Suite, name: str, looked: int, total: int) -> list[str]:
    return [
        (
            Sentence(
                "{controls}: estimated from {looked} of the {total} {noun}, drawn by whole {cluster}.",
                controls=CONTROLS[name].title.capitalize(),
                looked=f"{looked:,}",
                total=f"{total:,}",
                noun=word(suite.noun[1]),
                cluster=word(suite.cluster[1]),
            )
        )
    ]


def _within(sentence: str) -> str:
    return uncapitalised(sentence)
