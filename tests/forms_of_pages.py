"""The forms of a page as a browser would send them: filled as they stand, emptied, and filled with nonsense."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.domain.formats import IMPORTED, example, example_name
from annotation.domain.shipped_schemas import DEFAULT_SCHEMA

KEPT = {"hidden", "submit", "file"}
"""Kinds of fields that are sent as they stand."""
NONSENSE = "?|"


@dataclass
class Form:
    """A form that posts: `fields` are (name, kind, value), `buttons` (name, value) of those that are named."""

    action: str
    fields: list[tuple[str, str, str]] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    @property
    def key(self) -> tuple:
        """What tells it from another form; two lines of a table have the same one."""
        return (*sorted({name for name, _, _ in self.fields}), *sorted({name for name, _ in self.buttons}))

    def fillings(self) -> Iterator[dict[str, Any]]:
        """Yield what is posted: as it stands, without any text, with nonsense, by each button; each with every file."""
        files = [name for name, kind, _ in self.fields if kind == "file"]
        for change in (lambda value: value, lambda value: "", lambda value: NONSENSE):
            said: dict[str, Any] = {}
            for name, kind, value in self.fields:
                if kind != "file":
                    said.setdefault(name, []).append(value if kind in KEPT else change(value))
            for name, value in self.buttons or [("", "")]:
                pressed = said | ({name: value} if name else {})
                yield pressed
                yield from (pressed | {one: sent} for one in files for sent in files_to_send())


def files_to_send() -> Iterator[SimpleUploadedFile]:
    """Every file that pages offer as an example, with a line that is broken, and files that are of no kind."""
    for chosen in IMPORTED.values():
        text = example(chosen, schema=DEFAULT_SCHEMA, annotator="bob")
        broken = "x,y,z,?\n" if chosen.in_sheet else '{"story_id": "x"}\n{\n'
        yield SimpleUploadedFile(example_name(chosen), (text + broken).encode())
    yield SimpleUploadedFile("empty.jsonl", b"")
    yield SimpleUploadedFile("bytes.csv", b"story\n\xff\xfe\xfd")
    yield SimpleUploadedFile("nothing.zip", b"PK\x03\x04 no archive")


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.forms: list[Form] = []
        self.now: Form | None = None
        self.select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form" and said.get("method", "").lower() == "post":
            self.now = Form(said.get("action") or self.address)
            self.forms.append(self.now)
        elif self.now is not None:
            self._field(tag, said)

    def _field(self, tag: str, said: dict[str, str]) -> None:
        assert self.now is not None
        name, kind = said.get("name", ""), said.get("type", "text")
        if tag == "button" and name:
            self.now.buttons.append((name, said.get("value", "")))
        elif tag == "select" and name:
            self.select = name
            self.now.fields.append((name, "select", ""))
        elif tag == "option" and self.select and "selected" in said:
            self.now.fields[-1] = (self.select, "select", said.get("value", ""))
        elif tag == "textarea" and name:
            self.now.fields.append((name, "text", ""))
        elif tag == "input" and name and (kind not in ("checkbox", "radio") or "checked" in said):
            self.now.fields.append((name, kind, said.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.now = None
        elif tag == "select":
            self.select = ""


def forms_of(html: str, address: str) -> list[Form]:
    """Return the forms of the page at that address that post, each kind once."""
    reader = _Reader(address)
    reader.feed(html)
    return list({form.key: form for form in reader.forms}.values())
