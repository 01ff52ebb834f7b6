from __future__ import annotations

from collections.abc import Sequence

from django import forms

from annotation.domain.reconciliation import DraftRow, Lane, Pair
from annotation.models import Remark
from annotation.services.reconciliation import Consensus

_CHOICES = {
    Lane.SAME: [("a", "Keep"), ("none", "Leave out")],
    Lane.REWORDED: [("a", "A’s words"), ("b", "B’s words"), ("both", "Both rows"), ("none", "Leave out")],
    Lane.ONLY_A: [("a", "Keep"), ("none", "Leave out")],
    Lane.ONLY_B: [("b", "Keep"), ("none", "Leave out")],
}


class LanesForm(forms.Form):
    """The decision on each pair of the lanes: whose words, other words, and a remark. Fields are numbered like the
    pairs."""

    def __init__(self, data=None, *, pairs: Sequence[Pair]) -> None:
        super().__init__(data)
        self.pairs = pairs
        for at, pair in enumerate(pairs):
            choices = _CHOICES[pair.lane]
            self.fields[f"choice-{at}"] = forms.ChoiceField(
                choices=choices, initial=choices[0][0], widget=forms.RadioSelect, label="What goes into gold"
            )
            self.fields[f"words-{at}"] = forms.CharField(
                required=False, max_length=2000, label="Other words", widget=forms.TextInput({"autocomplete": "off"})
            )
            self.fields[f"remark-{at}"] = forms.CharField(
                required=False, max_length=500, label="Remark", widget=forms.TextInput({"autocomplete": "off"})
            )

    def rows(self) -> list[dict]:
        return [
            {"pair": pair, **{name: self[f"{name}-{at}"] for name in ("choice", "words", "remark")}}
            for at, pair in enumerate(self.pairs)
        ]

    def consensus(self) -> list[Consensus]:
        """Return the settled rows. A row of both tables needs no remark; one table's is added, other words are
        revised."""
        decisions: list[Consensus] = []
        for at, pair in enumerate(self.pairs):
            choice, words, text = (self.cleaned_data[f"{name}-{at}"] for name in ("choice", "words", "remark"))
            first, second = pair.a or pair.b, pair.b or pair.a
            if choice == "none":
                decisions.append(_settled(first, Remark.REMOVED, text))
            elif choice == "both":
                decisions += [_settled(first, Remark.ADDED, text), _settled(second, Remark.ADDED, text)]
            else:
                row = second if choice == "b" else first
                decisions.append(_settled(row, _remark(pair, bool(words)), text, words))
        return decisions


def _remark(pair: Pair, reworded: bool) -> Remark:
    if reworded or pair.lane == Lane.REWORDED:
        return Remark.REVISED
    return Remark.NONE if pair.lane == Lane.SAME else Remark.ADDED


def _settled(row: DraftRow, remark: Remark, text: str, words: str = "") -> Consensus:
    return Consensus(row.actor, words or row.belief, row.order, remark, text)
