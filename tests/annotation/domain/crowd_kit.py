"""Prints what crowd-kit makes of `simulated_votes`, for test_agreement.py.

In an environment of its own, as it brings half a gigabyte: `uv run --no-project --with crowd-kit==1.4.2 python
tests/annotation/domain/crowd_kit.py`. Its MACE takes labels in order of appearance in one place and sorted in another,
so that its rows come sorted here.
"""

import numpy as np

SKILLS = (0.95, 0.9, 0.8, 0.6, 0.3)
LABELS = 4


def simulated_votes() -> tuple[np.ndarray, np.ndarray]:
    """Three of five annotators on each of 300 cells: rows (cell, annotator, label), shape (3, 900), and the truth,
    shape (300,)."""
    rng = np.random.default_rng(1)
    truth = rng.choice(LABELS, 300, p=(0.4, 0.3, 0.2, 0.1))
    rows = [
        (cell, one, right if rng.random() < SKILLS[one] else rng.integers(LABELS))
        for cell, right in enumerate(truth)
        for one in rng.permutation(len(SKILLS))[:3]
    ]
    return np.array(rows).T, truth


def main() -> None:
    import pandas as pd
    from crowdkit.aggregation import MACE, DawidSkene

    (cell, annotator, label), _ = simulated_votes()
    frame = pd.DataFrame({"task": cell, "worker": annotator, "label": label}).sort_values(["worker", "label"])
    skene = DawidSkene(n_iter=500, tol=1e-10).fit(frame)
    diagonals = [[float(skene.errors_.loc[(one, at), at]) for at in range(LABELS)] for one in range(len(SKILLS))]
    print("Dawid–Skene, diagonals:", [[round(value, 4) for value in one] for one in diagonals])
    print("Dawid–Skene, cell 7:", skene.probas_.sort_index().sort_index(axis=1).loc[7].round(4).tolist())
    mace = MACE(n_restarts=1, n_iter=500, random_state=1).fit(frame)
    print("MACE:", (mace.spamming_[:, 1] / mace.spamming_.sum(axis=1)).round(4).tolist())


if __name__ == "__main__":
    main()
