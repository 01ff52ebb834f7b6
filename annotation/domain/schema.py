"""The label schema: seven dimensions with closed label sets, versioned.

Source: OmniToM, section 3 and appendix A.2. The definitions are this project's own words. `SCHEMA` is what annotators
see; a changed definition or label set is a new `Schema` with a new version, and old gold keeps the version it was made
under.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WORLD = "world"
"""The reserved actor that holds what the narrator states as fact."""


@dataclass(frozen=True, slots=True)
class Label:
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Dimension:
    """One column of the grid. `key` is the record format's name; `labels` is in display order, digits count from 1."""

    key: str
    name: str
    short: str
    question: str
    labels: tuple[Label, ...]
    first_digit: int = 1
    values: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(label.value for label in self.labels))

    def digit(self, value: str) -> int:
        return self.values.index(value) + self.first_digit


@dataclass(frozen=True, slots=True)
class Schema:
    version: str
    dimensions: tuple[Dimension, ...]
    _by_key: dict[str, Dimension] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {dimension.key: dimension for dimension in self.dimensions})

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self._by_key)

    def __getitem__(self, key: str) -> Dimension:
        return self._by_key[key]

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def is_legal(self, key: str, value: str) -> bool:
        return key in self._by_key and value in self._by_key[key].values


SCHEMA = Schema(
    version="1",
    dimensions=(
        Dimension(
            "order",
            "Order",
            "Order",
            "How many minds deep is this proposition?",
            (
                Label("0", "A fact of the story world, told by the narrator. Nobody's belief."),
                Label("1", "What one actor takes to be so about the world."),
                Label("2", "What one actor takes another actor to think, know, want or feel to be so."),
                Label("3", "One level deeper: A about what B thinks that C thinks."),
            ),
            first_digit=0,
        ),
        Dimension(
            "truth_status",
            "Truth status",
            "Truth",
            "Does the story bear the proposition out? Judge by the story, not by how sure the actor is.",
            (
                Label("True", "The story supports it."),
                Label("False", "The story contradicts it."),
                Label("Unknown", "The story leaves it open. Choose this rather than guess."),
            ),
        ),
        Dimension(
            "knowledge_access",
            "Knowledge access",
            "Access",
            "Who among the actors has this information?",
            (
                Label("Private", "One actor's own; not passed on, even if the event behind it was seen by all."),
                Label("Shared", "Some actors have it together: told, seen together, or plainly mutual."),
                Label("Public", "Common ground of every actor who matters in the story."),
            ),
        ),
        Dimension(
            "representation",
            "Representation",
            "Repr.",
            "Is it said, or must a reader infer it?",
            (
                Label("Explicit", "Told by the narrator, spoken by someone, or named as a thought or feeling."),
                Label("Implicit", "Follows from behaviour, perception, tone or situation."),
            ),
        ),
        Dimension(
            "content_type",
            "Content type",
            "Content",
            "What is the proposition about?",
            (
                Label("Location", "Where someone or something is or was."),
                Label("Contents/Physical State", "What a thing holds, or what physical condition it is in."),
                Label("Identity/Relation", "Who someone is, or how people are related."),
                Label("Epistemic", "Knowing, noticing, believing, being unaware."),
                Label("Desire/Intention", "Wants, goals, plans, what is meant to come of something."),
                Label("Emotion", "Feelings and moods."),
                Label("Trait/Value", "Likings, character, judgements of worth."),
                Label("Action/Event", "What somebody does or what happens."),
            ),
        ),
        Dimension(
            "mental_source",
            "Mental source",
            "Source",
            "How did the actor come by it?",
            (
                Label("Narration", "The narrator says so. For world facts only."),
                Label("Perception", "Saw, heard or otherwise sensed it."),
                Label("Memory", "Kept from an earlier experience."),
                Label("Testimony", "Somebody told them."),
                Label("Inference", "Worked out from behaviour, cues or context."),
                Label("Imagination", "Supposed, pretended or dreamed."),
                Label("Unknown", "The story does not let us tell."),
            ),
        ),
        Dimension(
            "context",
            "Context",
            "Context",
            "Does a special frame change how it must be read?",
            (
                Label("Deceptive", "Shaped by a lie, a cover-up or a false trail."),
                Label("Temporal", "About an earlier state, recalled or out of date, true or not."),
                Label("Counterfactual", "Hypothetical, pretended, not actual."),
                Label("Neutral", "None of these."),
            ),
        ),
    ),
)

SCHEMAS: Mapping[str, Schema] = {SCHEMA.version: SCHEMA}


@dataclass(frozen=True, slots=True)
class SchemaWarning:
    """A label that sits oddly with another one: shown beside the row, never a reason to refuse a vote."""

    dimension: str
    message: str


def cross_check(actor: str, labels: Mapping[str, str]) -> list[SchemaWarning]:
    """What looks inconsistent between an actor and the labels given so far (missing or empty labels are not judged)."""
    found: list[SchemaWarning] = []
    order, source = labels.get("order", ""), labels.get("mental_source", "")
    is_world = actor.strip().lower() == WORLD
    if order == "0" and not is_world:
        found.append(SchemaWarning("order", f"Order 0 is for world facts, but the actor is {actor}."))
    if is_world and order not in {"", "0"}:
        found.append(SchemaWarning("order", "World facts have order 0."))
    if is_world and source not in {"", "Narration"}:
        found.append(SchemaWarning("mental_source", "World facts have the source Narration."))
    if not is_world and source == "Narration":
        found.append(SchemaWarning("mental_source", "Narration is for world facts; an actor learns it in some way."))
    if order in {"2", "3"} and labels.get("content_type", "") in {"Location", "Contents/Physical State"}:
        found.append(SchemaWarning("content_type", "A belief about a belief is usually Epistemic."))
    if source == "Imagination" and labels.get("context", "") == "Neutral":
        found.append(SchemaWarning("context", "Imagined content is usually Counterfactual."))
    return found
