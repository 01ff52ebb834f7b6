"""ToMBench's tasks, which suites on its stories have as categories, as tables order and head them: those with a short
name first, then the others by name."""

from benchmark.domain.tables import ShortNames

TASKS: ShortNames = {
    "Ambiguous Story Task": "AST",
    "False Belief Task": "FBT",
    "Faux-pas Recognition Test": "FPT",
    "Hinting Task Test": "HT",
    "Persuasion Story Task": "PST",
    "Scalar Implicature Test": "SIT",
    "Strange Story Task": "SST",
}
