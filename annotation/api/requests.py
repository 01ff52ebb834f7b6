"""What requests carry: bodies and filters."""

from __future__ import annotations

from collections.abc import Sequence

from rest_framework import serializers

from annotation.api.description import UID
from annotation.api.dimensions import AnyLabel, DimensionKey, dimensions_of, labels_of
from annotation.domain.formats import GOLD, VOTES
from annotation.domain.schema import Schema
from annotation.models import ErrorTag, Method
from annotation.services.votes import MAX_CHANGES
from core.api.fields import Choice, Matching, Moment, Pattern, Strict, Text, Truth, Whole

KEY = r"^[A-Za-z0-9._:-]{1,64}$"
VERSION = r"^([0-9a-f]{20})?$"
BUDGET = r"^[0-9]{1,8}(\.[0-9]{1,4})?$"
NO_NUL = r"^[^\u0000]*$"
MAX_REASON = 2000
MAX_DURATION_MS = 2**31 - 1


class StoryFilter(Strict):
    split = Pattern(r"^[-\w]+$", max_length=40, required=False, help_text="Only stories of this split.")
    category = Matching(
        r"^[^\u0000]+$",
        max_length=120,
        required=False,
        trim_whitespace=False,
        help_text="Only stories of this category, spelt as it is there.",
    )


class GoldFilter(StoryFilter):
    story = Pattern(UID, required=False, help_text="Only cells of this story.")
    dimension = DimensionKey(required=False)
    method = Choice(Method.choices, required=False, help_text="How the cell was settled; open waits for an expert.")


class ExportOptions(Strict):
    complete = Choice(["true"], required=False, help_text=f"{GOLD.key}: only stories without an unlabelled cell.")
    pseudonyms = Choice(
        ["true"], required=False, help_text=f"{VOTES.key}: annotators as A1, A2, … instead of user names."
    )


class ActionIn(Strict):
    budget = Pattern(
        BUDGET,
        required=False,
        trim_whitespace=False,
        help_text="resume: a new hard cap in US dollars, as a string; without it the round keeps the one that it has.",
    )


class ChangeIn(Strict):
    proposition = Pattern(UID)
    dimension = DimensionKey()
    label = Text(max_length=40, allow_blank=True)
    changed_at = Moment()
    client_key = Pattern(KEY)
    duration_ms = Whole(required=False, allow_null=True, min_value=0, max_value=MAX_DURATION_MS)
    undoes = Pattern(KEY, required=False, allow_blank=True)

    def validate(self, change: dict) -> dict:
        dimension, label, schema = change["dimension"], change["label"], self.context["schema"]
        if label and not schema.is_legal(dimension, label):
            expected = ", ".join(schema[dimension].values)
            message = f"{label!r} is no label of {dimension}; expected one of {expected}, or nothing to withdraw."
            raise serializers.ValidationError({"label": [message]})
        return change


class Described(Strict):
    """A body that `described` puts as JSON Schema, for the label schemas of whoever reads it."""

    @staticmethod
    def described(schemas: Sequence[Schema]) -> dict:
        raise NotImplementedError


class ChangesIn(Described):
    changes = serializers.ListField(child=ChangeIn(), min_length=1, max_length=MAX_CHANGES)

    @staticmethod
    def described(schemas: Sequence[Schema]) -> dict:
        """One alternative a dimension, each with its own labels."""
        items = {"oneOf": [_change_schema(key, *told) for key, told in dimensions_of(schemas).items()]}
        return _strict_object({"changes": {"type": "array", "minItems": 1, "maxItems": MAX_CHANGES, "items": items}})


class DecisionIn(Described):
    label = AnyLabel()
    version = Pattern(VERSION, allow_blank=True)
    reason = Text(max_length=MAX_REASON, required=False, allow_blank=True)
    error_tag = Choice(ErrorTag.choices, required=False, allow_blank=True)
    guideline_flag = Truth(required=False)

    @staticmethod
    def described(schemas: Sequence[Schema]) -> dict:
        return _decision_schema(labels_of(schemas))


def _change_schema(dimension: str, name: str, labels: Sequence[str]) -> dict:
    """A change of a cell of one dimension as JSON Schema."""
    common = {
        "proposition": {"type": "string", "pattern": UID, "description": "uid of a proposition of the story"},
        "changed_at": {
            "type": "string",
            "format": "date-time",
            "description": "Your own clock, with its zone. Of two changes of a cell the later one stands, in whatever order they arrive.",
        },
        "client_key": {
            "type": "string",
            "pattern": KEY,
            "description": "Made by you, unique to the change (a UUID will do): sent again, it counts once.",
        },
        "duration_ms": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MAX_DURATION_MS,
            "description": "From looking at the cell to choosing.",
        },
        "undoes": {
            "type": "string",
            "pattern": r"^[A-Za-z0-9._:-]{0,64}$",
            "description": "client_key of your earlier change that this one takes back.",
        },
    }
    own = {
        "dimension": {"type": "string", "const": dimension},
        "label": {"type": "string", "enum": ["", *labels]},
    }
    return _strict_object(own | common, optional=("duration_ms", "undoes"), title=name)


def _decision_schema(labels: Sequence[str]) -> dict:
    tags = ["", *ErrorTag.values]
    return _strict_object(
        {
            "label": {"type": "string", "enum": list(labels), "description": "One of the labels of the dimension."},
            "version": {
                "type": "string",
                "pattern": VERSION,
                "description": "version of the gold label that you saw; empty where there was none.",
            },
            "reason": {"type": "string", "maxLength": MAX_REASON, "pattern": NO_NUL},
            "error_tag": {"type": "string", "enum": tags},
            "guideline_flag": {"type": "boolean", "description": "Puts the case on the guideline's list."},
        },
        optional=("reason", "error_tag", "guideline_flag"),
    )


def _strict_object(properties: dict, *, optional: tuple[str, ...] = (), title: str = "") -> dict:
    required = [name for name in properties if name not in optional]
    made = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return made | ({"title": title} if title else {})
