"""Every script, imported ones too, is asked for by the hash of what is in it: what a browser kept is never stale."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage

from config.static_files import HashedFiles

OWN = Path(settings.BASE_DIR, "static")
IMPORT = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](\.[^"']*)["']""")


def test_every_import_names_a_collected_file_by_its_hash(prepared, tmp_path):
    collected = prepared(tmp_path / "var") / "static"
    hashed = json.loads((collected / "staticfiles.json").read_text("utf-8"))["paths"]
    scripts = [collected / hashed[one.relative_to(OWN).as_posix()] for one in OWN.rglob("*.js")]
    imported = [(one.parent / name).resolve() for one in scripts for name in IMPORT.findall(one.read_text("utf-8"))]
    assert len(imported) >= 7
    assert [one for one in imported if not one.is_file()] == []
    assert {one.relative_to(collected.resolve()).as_posix() for one in imported} <= set(hashed.values())


def stored(folder: Path, made: Path) -> dict[str, str]:
    shutil.copytree(folder, made)
    source = FileSystemStorage(folder)
    storage = HashedFiles(location=made, base_url="/static/")
    paths = {one.name: (source, one.name) for one in folder.iterdir()}
    return {name: hashed for name, hashed, _ in storage.post_process(paths) if hashed and name in paths}


def test_a_changed_module_renames_whatever_imports_it_at_first_or_second_hand(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "page.js").write_text('import { two } from "./module.js";\n')
    (folder / "module.js").write_text('import { one } from "./deep.js";\nexport const two = one + 1;\n')
    (folder / "deep.js").write_text("export const one = 1;\n")
    (folder / "other.js").write_text("const nothing = 0;\n")
    before = stored(folder, tmp_path / "before")
    (folder / "deep.js").write_text("export const one = 11;\n")
    after = stored(folder, tmp_path / "after")
    assert {name for name in before if before[name] != after[name]} == {"page.js", "module.js", "deep.js"}
    assert f'"./{after["deep.js"]}"' in (tmp_path / "after" / after["module.js"]).read_text()
