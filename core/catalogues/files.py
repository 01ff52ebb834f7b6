"""Catalogues: a folder an app, `locale/LANGUAGE/LC_MESSAGES/`, `django.po` for pages and `djangojs.po` for scripts.

They hold neither lines of code nor dates and are sorted, so that changes of different people merge. What Django reads
is compiled from them when a process begins (`compile_all`), and nobody keeps it.
"""

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import polib
from django.apps import apps
from django.conf import settings

from core.catalogues.extraction import Text, python_texts, schema_texts, script_texts, template_texts

LOCALES = {"zh_Hans": "nplurals=1; plural=0;"}
"""The folder of each language that is translated into, with its rule for plurals."""
DOMAINS = {"django": "pages", "djangojs": "scripts"}
_NOT_OURS = {"api", "locale", "management", "migrations"}
"""Folders without texts for readers of pages: the API and commands speak English."""


def sources(base: Path, apps: Iterable[str], frame: str) -> Iterator[tuple[str, Path]]:
    """Return the files that have texts, each with the app whose catalogue they belong to.

    What stands in `templates/APP/` and `static/APP/` is the app's; all other templates and scripts are those of the app
    `frame`.
    """
    names = set(apps)
    for app in sorted(names):
        for path in sorted((base / app).rglob("*.*")):
            has_texts = path.suffix in (".py", ".html") or path.parent.name == "schemas"
            if has_texts and not _NOT_OURS & {*path.relative_to(base).parts}:
                yield app, path
    for path in [*sorted((base / "templates").rglob("*.*")), *sorted((base / "static").rglob("*.js"))]:
        folder = path.relative_to(base).parts[1]
        yield folder if folder in names else frame, path


_READERS: dict[str, Callable[[str], set[Text]]] = {
    ".py": python_texts, ".html": template_texts, ".js": script_texts, ".json": schema_texts,
}  # fmt: skip


def texts_by_catalogue(source_files: Iterable[tuple[str, Path]]) -> dict[tuple[str, str], set[Text]]:
    """Return the texts of each catalogue, which is an app and a domain."""
    texts: dict[tuple[str, str], set[Text]] = {}
    for app, path in source_files:
        if reader := _READERS.get(path.suffix):
            domain = "djangojs" if path.suffix == ".js" else "django"
            if read := reader(path.read_text("utf-8")):
                texts.setdefault((app, domain), set()).update(read)
    return texts


def path_of(base: Path, app: str, locale: str, domain: str) -> Path:
    return base / app / "locale" / locale / "LC_MESSAGES" / f"{domain}.po"


def entries(path: Path) -> dict[Text, polib.POEntry]:
    """Return the entries of a catalogue; none where there is no file."""
    if not path.exists():
        return {}
    return {
        Text(entry.msgid, entry.msgid_plural or "", entry.msgctxt or ""): entry for entry in polib.pofile(str(path))
    }


def translated(entry: polib.POEntry) -> list[str]:
    """Return the translations of an entry: one, or one for each form that goes with a number."""
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


def update(path: Path, locale: str, texts: Iterable[Text], translations: Mapping[Text, list[str]]) -> int:
    """Write the catalogue of these texts, with what was translated, here or elsewhere (`translations`). Return how
    many have no translation."""
    before = entries(path)
    catalogue = polib.POFile(wrapwidth=0)
    catalogue.metadata = {
        "Language": locale,
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": LOCALES[locale],
    }
    for text in sorted(texts):
        kept = before.get(text)
        words = translated(kept) if kept and any(translated(kept)) else translations.get(text, [""])
        plural = {str(number): word for number, word in enumerate(words)} if text.plural else {}
        catalogue.append(
            polib.POEntry(
                msgid=text.singular,
                msgid_plural=text.plural,
                msgctxt=text.context or None,
                msgstr="" if text.plural else words[0],
                msgstr_plural=plural,
            )
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(str(catalogue) + "\n", encoding="utf-8")
    return sum(not all(translated(entry)) for entry in catalogue)


def compile_all(base: Path, apps: Iterable[str], to: Path) -> None:
    """Compile the catalogues of all apps into `to`, one file a language and domain, unless it is there already.

    What is compiled names the digest of what it was made of. Raises OSError where it cannot be written.
    """
    for locale, plurals in LOCALES.items():
        for domain in DOMAINS:
            made_of = [path for app in apps if (path := path_of(base, app, locale, domain)).exists()]
            digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in made_of)).hexdigest()
            made = to / locale / "LC_MESSAGES" / f"{domain}.mo"
            if made.exists() and digest.encode() in made.read_bytes():
                continue
            whole = polib.MOFile()
            whole.metadata = {
                "Language": locale,
                "Content-Type": "text/plain; charset=UTF-8",
                "Plural-Forms": plurals,
                "X-Made-Of": digest,
            }
            read = [pair for path in made_of for pair in entries(path).items() if all(translated(pair[1]))]
            whole.extend(dict(read).values())
            made.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=made.parent, delete=False) as file:
                file.write(whole.to_binary())
            os.replace(file.name, made)  # another process that begins now reads all of it or what was there before


FRAME = "config"
"""The app whose catalogue has the frame of all pages, which names what all apps have: base, menus, errors, log-in."""


def own_apps() -> list[str]:
    """Return the labels of the apps that are folders of this code."""
    return [app.label for app in apps.get_app_configs() if Path(app.path).parent == settings.BASE_DIR]


def compile_ours() -> None:
    """Compile the catalogues for Django to read. Where that cannot be written, pages are as they were written: in
    English."""
    try:
        compile_all(settings.BASE_DIR, own_apps(), Path(settings.LOCALE_PATHS[0]))
    except OSError as error:
        logging.getLogger(__name__).warning("The translated texts could not be written: %s", error)
