from __future__ import annotations

import pytest

from annotation.domain.archive_format import MANIFEST, BadArchive, check_contents, digests_of

FILES = ["people.jsonl", "project.jsonl", "votes.jsonl"]
WHOLE = {MANIFEST: (100, 100), **dict.fromkeys(FILES, (100, 1000))}


def test_names_and_sizes_are_checked_before_anything_is_unpacked():
    check_contents(WHOLE, FILES)
    for name in ("../../etc/passwd", "/etc/passwd", "votes.jsonl/", "sub/votes.jsonl", "evil.py"):
        with pytest.raises(BadArchive, match="not part of a project"):
            check_contents({**WHOLE, name: (1, 1)}, FILES)
    with pytest.raises(BadArchive, match=r"lacks votes\.jsonl"):
        check_contents({name: sizes for name, sizes in WHOLE.items() if name != "votes.jsonl"}, FILES)
    for bomb in ((1000, 3 * 1024**3), (10_000, 100 * 1024**2)):
        with pytest.raises(BadArchive, match="unpacks to"):
            check_contents({**WHOLE, "votes.jsonl": bomb}, FILES)


def test_a_manifest_names_each_file_with_its_digest():
    files = {name: {"sha256": "0" * 64, "rows": 1} for name in FILES}
    manifest = {"format": "credence-project", "version": 1, "files": files}
    assert digests_of(manifest, FILES) == dict.fromkeys(FILES, "0" * 64)
    for wrong, sentence in (
        ([], "manifest.json: it is a list; expected an object with format, version, files."),
        ({}, "manifest.json: the field format is missing; expected an object with format, version, files."),
        (manifest | {"format": "zip"}, "manifest.json, format: it is 'zip'; expected one of credence-project."),
        (manifest | {"version": 2}, "manifest.json, version: it is 2; expected 1."),
        (manifest | {"version": True}, "manifest.json, version: it is true; expected 1."),
        (manifest | {"files": {}}, "The manifest names other files than those of a project."),
        (
            manifest | {"files": files | {"votes.jsonl": {}}},
            "manifest.json, files.votes.jsonl: the field sha256 is missing; expected an object with sha256.",
        ),
    ):
        with pytest.raises(BadArchive) as caught:
            digests_of(wrong, FILES)
        assert str(caught.value) == sentence
