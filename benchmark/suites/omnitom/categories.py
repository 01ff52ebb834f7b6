"""Story categories as the paper's tables order and head them."""

from __future__ import annotations

from benchmark.domain.tables.categories import ShortNames

CATEGORIES: ShortNames = {
    "Ambiguous Story Task": "AST",
    "False Belief Task": "FBT",
    "Faux-pas Recognition Test": "FPT",
    "Hinting Task Test": "HT",
    "Persuasion Story Task": "PST",
    "Scalar Implicature Test": "SIT",
    "Strange Story Task": "SST",
}
