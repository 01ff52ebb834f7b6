from __future__ import annotations

import pytest

from annotation.domain.archive_format import MANIFEST, SECTIONS, BadArchive, check_contents, check_manifest, file_of

WHOLE = {MANIFEST: (100, 100), **{file_of(name): (100, 1000) for name in SECTIONS}}


def test_a_whole_archive_passes():
    check_contents(WHOLE)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "votes.jsonl/", "sub/votes.jsonl", "evil.py"])
def test_a_foreign_name_is_refused(name):
    with pytest.raises(BadArchive, match="no part of a project"):
        check_contents({**WHOLE, name: (1, 1)})


def test_a_missing_part_is_named():
    with pytest.raises(BadArchive, match=r"lacks votes\.jsonl"):
        check_contents({name: sizes for name, sizes in WHOLE.items() if name != "votes.jsonl"})


@pytest.mark.parametrize("sizes", [(1000, 3 * 1024**3), (10_000, 100 * 1024**2)])
def test_a_bomb_is_refused_before_it_is_unpacked(sizes):
    with pytest.raises(BadArchive, match="unpacks to"):
        check_contents({**WHOLE, "votes.jsonl": sizes})


@pytest.mark.parametrize(
    "manifest",
    [[], {}, {"format": "credence-project", "version": 2}, {"format": "credence-project", "version": 1, "files": {}}],
)
def test_another_manifest_is_refused(manifest):
    with pytest.raises(BadArchive):
        check_manifest(manifest)
