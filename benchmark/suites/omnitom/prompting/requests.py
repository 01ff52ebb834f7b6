"""Requests for the three steps, made from a prompt set.

What is the same for many stories comes first (directive, format, examples of the category), the story after it, so that
providers can reuse what they have read. Free text carries no schema. `Request.task` says the same as data for
baselines and scripted functions (workers/providers/baseline/baseline.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from annotation.domain.schema import Schema
from annotation.domain.tasks import EXTRACT, LABEL, ExtractionTask, LabelTask, Row
from benchmark.suites.omnitom.labels import SCHEMA, Scheme, scheme_of
from benchmark.suites.omnitom.prompting.answer_schemas import extraction_schema, judging_schema, labelling_schema
from benchmark.suites.omnitom.prompting.examples import Example, check_count
from benchmark.suites.omnitom.prompting.rendering import (
    columns,
    definitions,
    example_blocks,
    example_data,
    fence,
    gold_table,
    label_lists,
    order_cell,
    order_definition,
    plain,
    predictions_table,
    propositions,
)
from benchmark.suites.omnitom.prompting.sets import PromptSet, built_in_for
from benchmark.suites.omnitom.records import GoldRow
from benchmark.suites.omnitom.serialisers import extraction_header, label_header
from benchmark.suites.omnitom.step_keys import JUDGE
from benchmark.suites.prompt_sets import BadPromptSet
from judge.domain.text import normalise_space
from workers.providers.contract import Message, Request

MAX_TOKENS = 6000
"""The most tokens of an answer, as published."""
TEMPERATURE = 0.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """The parameters of a request at any step."""

    step: str
    category: str
    level: int
    answer_format: str
    schema: Schema
    prompt_set: PromptSet | None
    examples: Sequence[Example]

    def messages(self, **data: str | None) -> tuple[Message, ...]:
        """The data by placeholder, None for what is not to be shown. Raises BadPromptSet, ValueError."""
        check_count(len(self.examples))
        prompts = self.prompt_set or built_in_for(self.schema)
        template = prompts.template(self.step, self.level, self.answer_format)
        self._refuse_unplaced(prompts, with_story=data["story"] is not None)
        messages = template.filled(self._values(prompts, data))
        parts = (("system", messages.system), ("user", messages.user))
        return tuple(Message(role, text) for role, text in parts if text)

    def _refuse_unplaced(self, prompts: PromptSet, *, with_story: bool) -> None:
        """Refuse what was asked for and would not be shown: it is never left out in silence."""
        for needed, place, what in ((self.examples, "examples", "examples"), (with_story, "story", "the story")):
            if needed and not prompts.has_place(self.step, self.level, place, self.answer_format):
                raise BadPromptSet(
                    f"The prompt {self.step}-level{self.level} of {prompts.name} has no place for {what}."
                )

    def _values(self, prompts: PromptSet, data: Mapping[str, str | None]) -> dict[str, str | None]:
        blocks = [example_data(example, self.step, self.answer_format) for example in self.examples]
        if data["story"] is None:
            blocks = [block | {"story": None} for block in blocks]
        mark = fence(text for values in (data, *blocks) for text in values.values() if text)
        return {
            **data,
            "fence": mark,
            "columns": columns(self.step, self.answer_format, self.schema),
            "labels": label_lists(self.schema, self.answer_format),
            "definitions": definitions(self.schema, self.answer_format),
            "order": order_cell(self.schema, self.answer_format),
            "order_definition": order_definition(self.schema, self.answer_format),
            "category_block": prompts.category_block(self.step, self.category),
            "examples": example_blocks(prompts.examples[self.step], blocks, mark),
        }


def extraction_request(
    *,
    story: str,
    category: str,
    level: int,
    answer_format: str = "text",
    schema: Schema = SCHEMA,
    prompt_set: PromptSet | None = None,
    examples: Sequence[Example] = (),
    max_tokens: int = MAX_TOKENS,
    seed: int | None = None,
) -> Request:
    """Return the request for the propositions of a story. Without a `prompt_set` it is the built-in one. Raises
    BadPromptSet, ValueError."""
    prompt = _Asked(EXTRACT, category, level, answer_format, schema, prompt_set, examples)
    return Request(
        messages=prompt.messages(story=story.strip()),
        max_tokens=max_tokens,
        temperature=TEMPERATURE,
        seed=seed,
        schema=extraction_schema(schema) if answer_format == "structured" else None,
        task=ExtractionTask(
            story=story, answer_format=answer_format, header=_head(schema, extraction_header)
        ).as_task(),
    )


def labelling_request(
    *,
    story: str,
    category: str,
    rows: Sequence[GoldRow],
    level: int,
    answer_format: str = "text",
    schema: Schema = SCHEMA,
    prompt_set: PromptSet | None = None,
    examples: Sequence[Example] = (),
    counts: Mapping[str, Mapping[str, int]] | None = None,
    max_tokens: int = MAX_TOKENS,
    seed: int | None = None,
) -> Request:
    """Return the request for a label in each dimension of each gold row; rows without an actor or a belief are not
    shown and have no id.

    `counts` are label counts by dimension, for the majority baseline. Raises BadPromptSet, ValueError.
    """
    prompt = _Asked(LABEL, category, level, answer_format, schema, prompt_set, examples)
    plain_rows = plain(rows)
    return Request(
        messages=prompt.messages(story=story.strip(), belief_table=propositions(rows, answer_format)),
        max_tokens=max_tokens,
        temperature=TEMPERATURE,
        seed=seed,
        schema=labelling_schema(len(plain_rows), schema) if answer_format == "structured" else None,
        task=LabelTask(
            answer_format=answer_format,
            rows=[Row(at, row[0], row[1]) for at, row in enumerate(plain_rows, 1)],
            dimensions=schema.labels,
            columns=schema.keys,
            counts=counts or {},
            header=_head(schema, label_header),
        ).as_task(),
    )


def judging_request(
    *,
    story: str,
    category: str,
    predictions: Sequence[Sequence[str]],
    gold: Sequence[GoldRow],
    level: int,
    answer_format: str = "text",
    schema: Schema = SCHEMA,
    prompt_set: PromptSet | None = None,
    examples: Sequence[Example] = (),
    with_story: bool = True,
    max_tokens: int = MAX_TOKENS,
    seed: int | None = None,
) -> Request:
    """Return the request for how many rows of the other table each row matches.

    `predictions` are rows that begin with actor and belief: those of official parsing, empty ones included, or those of
    the repaired parse; ids name their places. Raises BadPromptSet, ValueError.
    """
    prompt = _Asked(JUDGE, category, level, answer_format, schema, prompt_set, examples)
    predicted = [[normalise_space(row[0]), normalise_space(row[1])] for row in predictions]
    gold_rows = plain(gold)
    return Request(
        messages=prompt.messages(
            story=story.strip() if with_story else None,
            predictions=predictions_table(predictions, answer_format),
            gold=gold_table(gold, answer_format),
        ),
        max_tokens=max_tokens,
        temperature=TEMPERATURE,
        seed=seed,
        schema=judging_schema(len(predicted), len(gold_rows)) if answer_format == "structured" else None,
        task={"kind": JUDGE, "answer_format": answer_format, "predictions": predicted, "gold": gold_rows},
    )


def _head(schema: Schema, header: Callable[[Scheme], tuple[str, ...]]) -> tuple[str, ...]:
    """Return what baselines head their tables with, where that is not as OmniToM has it, else nothing."""
    scheme = scheme_of(schema)
    return () if scheme.official else header(scheme)


REQUESTS: Mapping[str, Callable[..., Request]] = {
    EXTRACT: extraction_request,
    LABEL: labelling_request,
    JUDGE: judging_request,
}
