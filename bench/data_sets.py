"""Options of programs that measure a statistic on simulated data sets."""

import argparse
import os
from collections.abc import Sequence


def data_sets_parser(description: str, *, stories: Sequence[int]) -> argparse.ArgumentParser:
    """Return a parser of how many data sets are simulated, how often the arms of each are drawn anew, on how many
    processes, and with how many stories."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data-sets", type=int, default=1000, metavar="N")
    parser.add_argument("--draws", type=int, default=999, metavar="N")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--stories", type=int, nargs="+", default=stories, metavar="N")
    return parser
