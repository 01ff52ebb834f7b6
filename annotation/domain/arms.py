"""Arms in which an annotator meets suggestions, or an expert a draft: drawn by a hash, the same on every machine."""

import hashlib
import json
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Arm(StrEnum):
    """The way in which an annotator meets the suggestion of a cell; NONE where no arm was drawn."""

    NONE = ""
    SHOWN = "shown"  # before voting
    BLIND = "blind"  # never
    REVEAL = "reveal"  # after a first vote, which may then be changed


class DrawUnit(StrEnum):
    """The unit that an arm is drawn for, separately for each annotator: all cells of one unit share their arm."""

    CELL = "cell"
    PROPOSITION = "proposition"
    STORY = "story"


def untouched(arm: Arm | str, label: T, *, first: T, nothing: T) -> T:
    """Return the label that no suggestion can have touched: `label` of a blind vote, the `first` one of a reveal, else
    `nothing`. For cells with a suggestion."""
    if arm == Arm.REVEAL:
        return first
    return label if arm == Arm.BLIND else nothing


def draw_arm(
    *,
    seed: int,
    blind: int,
    reveal: int,
    proposition: str,
    dimension: str,
    annotator: int,
    unit: DrawUnit = DrawUnit.CELL,
    story: str = "",
) -> Arm:
    """Return the arm of one cell × annotator.

    `blind` and `reveal` are shares in per cent; the rest is shown. Blind is cut from one end of the scale and reveal
    from the other, so changing a share moves cells between that arm and the shown one only. Raises ValueError for a
    share below 0 or a sum above 100.
    """
    if min(blind, reveal) < 0 or blind + reveal > 100:
        raise ValueError(f"The shares are {blind} % blind and {reveal} % reveal; expected 0 to 100 together.")
    drawn_for = {DrawUnit.CELL: [proposition, dimension], DrawUnit.PROPOSITION: [proposition], DrawUnit.STORY: [story]}[
        DrawUnit(unit)
    ]
    parts = json.dumps([seed, *drawn_for, annotator], separators=(",", ":"))
    digest = hashlib.sha256(parts.encode("ascii")).digest()
    percent = int.from_bytes(digest[:8], "big") * 100 >> 64
    if percent < blind:
        return Arm.BLIND
    return Arm.REVEAL if percent >= 100 - reveal else Arm.SHOWN


def is_drawn_blind(*, seed: int, blind: int, story: str, expert: int) -> bool:
    """Return whether an expert writes the belief table of a story without the model's draft in sight. `blind` is a
    share in per cent. The draw is another one than that for the labels of the same story."""
    arm = draw_arm(
        seed=seed, blind=blind, reveal=0, proposition="", dimension="", annotator=expert, unit=DrawUnit.STORY,
        story=f"table of {story}",
    )  # fmt: skip
    return arm is Arm.BLIND
