from __future__ import annotations

import pytest

from annotation.domain.archive_format import MANIFEST, SECTIONS, BadArchive, check_contents, digests_of, file_of

WHOLE = {MANIFEST: (100, 100), **{file_of(name): (100, 1000) for name in SECTIONS}}


def test_a_whole_archive_passes():
    check_contents(WHOLE)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "votes.jsonl/", "sub/votes.jsonl", "evil.py"])
def test_a_foreign_name_is_refused(name):
    with pytest.raises(BadArchive, match="not part of a project"):
        check_contents({**WHOLE, name: (1, 1)})


def test_a_missing_part_is_named():
    with pytest.raises(BadArchive, match=r"lacks votes\.jsonl"):
        check_contents({name: sizes for name, sizes in WHOLE.items() if name != "votes.jsonl"})


@pytest.mark.parametrize("sizes", [(1000, 3 * 1024**3), (10_000, 100 * 1024**2)])
def test_a_bomb_is_refused_before_it_is_unpacked(sizes):
    with pytest.raises(BadArchive, match="unpacks to"):
        check_contents({**WHOLE, "votes.jsonl": sizes})


FILES = {file_of(section): {"sha256": "0" * 64, "rows": 1} for section in SECTIONS}
MANIFEST_OF = {"format": "credence-project", "version": 1, "files": FILES}


def test_a_manifest_says_the_digest_of_each_file():
    assert digests_of(MANIFEST_OF) == dict.fromkeys(FILES, "0" * 64)


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        ([], "manifest.json: it is a list; expected an object with format, version, files."),
        ({}, "manifest.json: the field format is missing; expected an object with format, version, files."),
        (MANIFEST_OF | {"format": "zip"}, "manifest.json, format: it is 'zip'; expected one of credence-project."),
        (MANIFEST_OF | {"version": 2}, "manifest.json, version: it is 2; expected 1."),
        (MANIFEST_OF | {"version": True}, "manifest.json, version: it is true; expected 1."),
        (MANIFEST_OF | {"files": {}}, "manifest.json, files: the names are others; expected the files of a project."),
        (
            MANIFEST_OF | {"files": FILES | {"votes.jsonl": {}}},
            "manifest.json, files.votes.jsonl: the field sha256 is missing; expected an object with sha256.",
        ),
    ],
)
def test_another_manifest_is_refused(manifest, sentence):
    with pytest.raises(BadArchive) as caught:
        digests_of(manifest)
    assert str(caught.value) == sentence
