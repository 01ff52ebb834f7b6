"""The label schemas that come with the program: one JSON file each in `schemas/`.

OmniToM's dimensions and labels are those of the paper (section 3 and appendix A.2); the definitions are this project's
own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from annotation.domain.schema import Schema
from annotation.domain.schema_files import read_schema
from core.messages import gettext_noop

SCHEMA_TEXTS = (
    gettext_noop("Order"),
    gettext_noop("How many minds deep is this proposition?"),
    gettext_noop("A fact of the story world, told by the narrator. Nobody's belief."),
    gettext_noop("What one actor takes to be so about the world."),
    gettext_noop("What one actor takes another actor to think, know, want or feel to be so."),
    gettext_noop("One level deeper: A about what B thinks that C thinks."),
    gettext_noop("Truth status"),
    gettext_noop("Truth"),
    gettext_noop("Does the story bear the proposition out? Judge by the story, not by how sure the actor is."),
    gettext_noop("The story supports it."),
    gettext_noop("The story contradicts it."),
    gettext_noop("The story leaves it open. Choose this rather than guess."),
    gettext_noop("Knowledge access"),
    gettext_noop("Access"),
    gettext_noop("Who among the actors has this information?"),
    gettext_noop("One actor's own; not passed on, even if the event behind it was seen by all."),
    gettext_noop("Some actors have it together: told, seen together, or plainly mutual."),
    gettext_noop("Common ground of every actor who matters in the story."),
    gettext_noop("Representation"),
    gettext_noop("Repr."),
    gettext_noop("Is it said, or must a reader infer it?"),
    gettext_noop("Told by the narrator, spoken by someone, or named as a thought or feeling."),
    gettext_noop("Follows from behaviour, perception, tone or situation."),
    gettext_noop("Content type"),
    gettext_noop("Content"),
    gettext_noop("What is the proposition about?"),
    gettext_noop("Where someone or something is or was."),
    gettext_noop("What a thing holds, or what physical condition it is in."),
    gettext_noop("Who someone is, or how people are related."),
    gettext_noop("Knowing, noticing, believing, being unaware."),
    gettext_noop("Wants, goals, plans, what is meant to come of something."),
    gettext_noop("Feelings and moods."),
    gettext_noop("Likings, character, judgements of worth."),
    gettext_noop("What somebody does or what happens."),
    gettext_noop("Mental source"),
    gettext_noop("Source"),
    gettext_noop("How did the actor come by it?"),
    gettext_noop("The narrator says so. For world facts only."),
    gettext_noop("Saw, heard or otherwise sensed it."),
    gettext_noop("Kept from an earlier experience."),
    gettext_noop("Somebody told them."),
    gettext_noop("Worked out from behaviour, cues or context."),
    gettext_noop("Supposed, pretended or dreamed."),
    gettext_noop("The story does not let us tell."),
    gettext_noop("Context"),
    gettext_noop("Does a special frame change how it must be read?"),
    gettext_noop("Shaped by a lie, a cover-up or a false trail."),
    gettext_noop("About an earlier state, recalled or out of date, true or not."),
    gettext_noop("Hypothetical, pretended, not actual."),
    gettext_noop("None of these."),
    gettext_noop("Order 0 is for world facts, but the actor is {actor}."),
    gettext_noop("World facts have order 0."),
    gettext_noop("World facts have the source Narration."),
    gettext_noop("Narration is for world facts; an actor learns it in some way."),
    gettext_noop("A belief about a belief is usually Epistemic."),
    gettext_noop("Imagined content is usually Counterfactual."),
)
"""The names, questions, meanings and cross-checks of all shipped schemas."""


SHIPPED: Mapping[tuple[str, str], Schema] = {
    (schema.name, schema.version): schema
    for schema in (
        read_schema(file.read_bytes(), file.name) for file in sorted((Path(__file__).parent / "schemas").glob("*.json"))
    )
}
"""Shipped schemas by name and version."""

OMNITOM = SHIPPED["omnitom", "1"]
"""The paper's schema: what the sample corpus is labelled by, and what texts and layouts of their own were made for. It
stays itself, whatever the default becomes."""

DEFAULT_SCHEMA = OMNITOM
"""The schema of a new project that does not choose one. Nothing that is here already is read by it."""


def schema_details(schema: Schema) -> dict[str, str]:
    """Return what an audit entry says of a project's schema: nothing of OmniToM's."""
    return {} if schema == OMNITOM else {"schema": schema.reference}


def version_text(schema: Schema) -> str:
    """Return how texts and digests name a schema: OmniToM's by its version alone."""
    return schema.version if schema.name == OMNITOM.name else schema.reference
