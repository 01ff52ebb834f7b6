"""Measure how long the proposals of two large tables take, and how many are right.

One table is the other in other words and another order, all rows of few actors: what is hardest to pair.

    python bench/aligning.py
    python bench/aligning.py --rows 200 --actors 1
"""

import argparse
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from judge.domain.proposing import propose
from judge.domain.rewording import paraphrased

PLACES = ("bag", "drawer", "box", "cupboard", "cellar", "basket", "garden", "kitchen")
VERBS = ("wants to find", "knows where he left", "believes that he saw", "thinks that somebody took", "asks for")
THINGS = ("key", "letter", "ladder", "lamp", "coin", "scarf", "book", "whistle", "map", "cup", "rope", "ring")


def tables(rows: int, actors: int, seed: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return a gold table and its rows in other words, shuffled with it so that equal places belong together."""
    rng = Random(seed)
    gold: dict[tuple[str, str], None] = {}
    while len(gold) < rows:
        belief = (
            f"He {rng.choice(VERBS)} the {rng.choice(THINGS)} in the {rng.choice(PLACES)} of house {rng.randint(1, 99)}"
        )
        gold[f"Actor {rng.randrange(actors)}", belief] = None
    return list(gold), [(actor, paraphrased(belief) or belief) for actor, belief in gold]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[25, 100, 200])
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 5])
    chosen = parser.parse_args()
    propose([("a", "b c")], [("a", "b d")])  # the libraries are loaded once a process
    print("| rows | actors | seconds | pairs right |\n|---:|---:|---:|---:|")
    for rows in chosen.rows:
        for actors in chosen.actors:
            gold, said = tables(rows, actors, 1)
            order = Random(2).sample(range(rows), rows)
            begin = time.perf_counter()
            found = propose([said[at] for at in order], gold)
            seconds = time.perf_counter() - begin
            right = sum(order[at] == other for at, other, _exact in found)
            print(f"| {rows} | {actors} | {seconds:.3f} | {right / rows:.1%} |")


if __name__ == "__main__":
    main()
