"""The files of ToMBench as they were released: what a copy is checked against."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

DIGESTS: Mapping[str, str] = {
    "Ambiguous Story Task": "c99f365b6d3d0e982228623d4328afbafe11cf9a8da3a2838ed6c846e4f154d0",
    "Completion of Failed Actions": "cb68348ef3eb53d7c6bf0e426b9279856264748b94f181ce042c91dcf56ba5af",
    "Discrepant Desires": "73093d99923efac243e3610c393613c000b5dc04f88771c39a3b641b993a6b70",
    "Discrepant Emotions": "100b7f05ba5b76aeaa8d2daf3897c90c6a4f08dc23b75a0dd87be0e82db11bf4",
    "Discrepant Intentions": "d72c8353aa5b65f35073d72808996b6f8e980f7683539e25510a251ed8f1dac2",
    "Emotion Regulation": "553d0ee61733cddfa3a9c531c3f7306c40929edc9f0e1e1dda7088ed8804c96c",
    "False Belief Task": "1a5c38362c4c883b219381e24d7b51c1f60abd959f39b6dc3e977ca11d7abff8",
    "Faux-pas Recognition Test": "374272690aedfe34529cb83fc4368a38960da288fb8d787a7bf50aba65dd349c",
    "Hidden Emotions": "57d0882eafddca8fb8d81148bf4291db0c5c6bbdd3a8ad5004c445d249b05124",
    "Hinting Task Test": "fd3a930403c7e0514e8730c48030da17d8bcd8a453e96001ca0795cbaee61afa",
    "Knowledge-Attention Links": "9ea4c7bfc2086d4ebaa2a31cc1993ea2774f72e642d7415dbb9c9c0e21ead94f",
    "Knowledge-Pretend Play Links": "67e3d451089db0a3ac4a7702f4c6c58c2909dbe338aa53bda5e00e4cf9396242",
    "Moral Emotions": "fac3eb293d2901b35274eab8244515b7e138e9cb3311037d5c4a0bda3810dd51",
    "Multiple Desires": "7a49186ab802a2a199806ca191160019ae21d9ff85db9203799fb36b8960a914",
    "Percepts-Knowledge Links": "dda5b279b926eef0e0c440cef4ef68cbebbf82fc6c7b109b213c15c2f9d94804",
    "Persuasion Story Task": "aefef5b6beb7097370cf3bc0c6503ed8caa495530297a4b184c4c31002e23169",
    "Prediction of Actions": "23c56589e459d253bafc2cdc0ea786fba1912c8bf388861a96042666f10b8a47",
    "Scalar Implicature Test": "4264d1842f556f8bcfd7fd56c5058aa8c55f6001931d27d253a85d7ecc19247e",
    "Strange Story Task": "f0a1c6e12b9d9b8b5c936ea3383b24100ef28ed6610078c1fc7bd6769d7ef914",
    "Unexpected Outcome Test": "f4ee872c98e17480272c40d5406a8eca31eed29b455f4155b9684328bf6dbf9c",
}
"""The SHA-256 of each released file, as 64 hexadecimal digits, by its name without `.jsonl`."""
_LINES = Path(__file__).with_name("released_lines.tsv")
"""A line for each file: its name without `.jsonl`, and the beginnings of the SHA-256 of its lines, one after
another."""
_BEGINNING = 6


def unlike_released(task: str, lines: Sequence[bytes]) -> str:
    """Say at which line a file of as many lines as the released one differs from it; empty where it does not, and of a
    file that is not in `DIGESTS`. How lines end does not count."""
    if task not in DIGESTS:
        return ""
    plain = [line.removesuffix(b"\r") for line in lines]
    digest = hashlib.sha256(b"".join(line + b"\n" for line in plain)).hexdigest()
    if digest == DIGESTS[task]:
        return ""
    changed = [
        at for at, (line, begins) in enumerate(zip(plain, _released(task), strict=False), 1) if _begins(line) != begins
    ]
    place = f", line {changed[0]}" if changed else ""
    more = f" ({len(changed):,} such lines)" if changed[1:] else ""
    return (
        f"{task}.jsonl{place}: it is not as released{more}; the SHA-256 of the file begins with {digest[:12]}, "
        f"expected {DIGESTS[task][:12]}."
    )


def _begins(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:_BEGINNING]


def _released(task: str) -> list[str]:
    """The beginnings of the digests of a released file's lines."""
    rows = dict(row.split("\t") for row in _LINES.read_text(encoding="ascii").splitlines())
    return [rows[task][at : at + _BEGINNING] for at in range(0, len(rows[task]), _BEGINNING)]
