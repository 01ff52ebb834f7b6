"""What a style sheet or script speaks of stands somewhere: a rule that nothing can match is deleted with what it
styled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
STATIC = ROOT / "static"
SWAGGER = "css/api_docs.css"  # it styles a page that another package draws
NOT_A_RULE = re.compile(r"/\*.*?\*/|url\(.*?\)", re.S)
SELECTORS = re.compile(r"([^{}]+)\{")
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
CLASSES_OF_AN_ELEMENT = re.compile(
    r'class="((?:{%.*?%}|{{.*?}}|[^"])*)"|{% block main_class %}(.*?){% endblock %}', re.S
)
TAG = re.compile(r"{[%#].*?[%#]}")
SCRIPT_STRING = re.compile(r"""(["'`])(.*?)\1""")
BY_HTMX = {"htmx-request"}
BY_DJANGO = {"select", "textarea"}
BY_MARKDOWN = {"blockquote", "h3", "h4", "hr", "li", "ol", "pre", "table", "td", "th", "ul"}
BUILT = {
    "badge-{{ gold.method }}": ("open", "unanimous", "majority", "adjudicated"),
    'callout-{% firstof message.level_tag "info" %}': ("success", "info", "warning", "error"),
    "cell-{{ cell.state }}": ("adjudicated", "disturbed", "imported", "majority", "open", "unanimous"),
    "fill-{{ part.method }}": ("adjudicated", "imported", "majority", "unanimous"),
    "heat-{{ cell.shade }}": tuple(map(str, range(11))),
    "icon-{{ icon }}": ("adjudicated", "imported", "majority", "open", "unanimous"),
    "is-{{ cell.mark }}": ("best", "second"),
    "plot-{{ chart.heads|length }}": ("1", "2", "3", "4", "5"),
    "settled-{{ cell.state }}": ("imported", "majority", "unanimous"),
    "state-{{ segment.part.state }}": ("cancelled", "done", "failed", "flight", "unreadable"),
}
"""Classes whose ends a template writes, as it writes them."""


def texts(*patterns: str) -> dict[str, str]:
    files = (one for pattern in patterns for one in ROOT.glob(pattern))
    return {one.relative_to(ROOT).as_posix(): one.read_text("utf-8") for one in files}


@pytest.fixture(scope="module")
def templates() -> str:
    return "\n".join(texts("templates/**/*.html", "benchmark/suites/**/*.html").values())


@pytest.fixture(scope="module")
def scripts() -> str:
    return "\n".join(texts("static/**/*.js").values())


@pytest.fixture(scope="module")
def sheets() -> dict[str, str]:
    return {name: NOT_A_RULE.sub("", sheet) for name, sheet in texts("static/**/*.css").items()}


def styled(sheet: str) -> set[str]:
    return {name for one in SELECTORS.findall(sheet) if not one.lstrip().startswith("@") for name in CLASS.findall(one)}


def given(templates: str, scripts: str) -> set[str]:
    """The classes that a template or a script can give to an element."""
    written = (one for pair in CLASSES_OF_AN_ELEMENT.findall(templates) for one in pair)
    whole = {name for one in written for name in TAG.sub(" ", one).split()}
    built = {one.partition("{{")[0] + end for one, ends in BUILT.items() for end in ends}
    strings = (re.sub(r"\$\{.*?\}", " ", one) for _, one in SCRIPT_STRING.findall(scripts))
    return whole | built | {name for one in strings for name in re.findall(r"[\w-]+", one)} | BY_HTMX


def test_every_class_of_a_style_sheet_can_be_given_to_an_element(templates, scripts, sheets):
    names = given(templates, scripts)
    dead = {name: sorted(styled(sheet) - names) for name, sheet in sheets.items() if not name.endswith(SWAGGER)}
    assert {name: classes for name, classes in dead.items() if classes} == {}


def test_every_element_of_a_style_sheet_is_written_somewhere(templates, scripts, sheets):
    own = (sheet for name, sheet in sheets.items() if not name.endswith(SWAGGER))
    names = {one for sheet in own for rule in SELECTORS.findall(sheet) for one in elements(rule)}
    written = set(re.findall(r"<([a-z][a-z0-9]*)", templates + scripts))
    written |= set(re.findall(r"""createElement\(["']([a-z0-9]+)""", scripts)) | BY_DJANGO | BY_MARKDOWN
    assert len(names) > 40
    assert sorted(names - written) == []


def elements(rule: str) -> set[str]:
    """The elements that a rule's selectors name: without what brackets of attributes and of pseudo-classes hold that
    are no selectors."""
    rule = re.sub(r"\[[^\]]*\]|::?(?!is|not|has|where)[\w-]+(\([^()]*\))?", "", rule.strip())
    if rule.startswith("@") or re.fullmatch(r"from|to|[\d.%, ]+", rule):
        return set()
    return set(re.findall(r"(?<![\w.#:-])([a-z][a-z0-9]*)(?![\w-])", rule))


def test_every_class_of_the_api_page_is_swaggers(sheets):
    from drf_spectacular_sidecar import __file__ as package

    theirs = Path(package).with_name("static") / "drf_spectacular_sidecar" / "swagger-ui-dist"
    names = set(re.findall(r"[\w-]+", (theirs / "swagger-ui-bundle.js").read_text("utf-8")))
    names |= styled((theirs / "swagger-ui.css").read_text("utf-8"))
    assert styled(sheets[f"static/{SWAGGER}"]) <= names


def test_every_class_that_a_template_finishes_is_finished_there(templates):
    assert [one for one in BUILT if one not in templates] == []


def test_every_variable_of_a_style_sheet_is_used(templates, sheets):
    every = "\n".join(texts("static/**/*.css").values())
    set_, used = set(re.findall(r"(--[\w-]+)\s*:", every)), set(re.findall(r"var\((--[\w-]+)", every))
    python = "\n".join(texts("benchmark/**/*.py", "annotation/**/*.py", "core/**/*.py").values())
    assert sorted(one for one in set_ ^ used if one not in templates + python) == []


def test_every_data_attribute_that_is_sought_is_set(templates, scripts, sheets):
    sought = set(re.findall(r"\[(data-[\w-]+)", scripts + "".join(sheets.values())))
    written = templates + re.sub(r"\[data-[\w-]+", "", scripts)
    assert len(sought) > 20
    assert sorted(one for one in sought if one not in written and not _in_dataset(one, scripts)) == []


def _in_dataset(attribute: str, scripts: str) -> bool:
    name = re.sub(r"-(\w)", lambda found: found[1].upper(), attribute.removeprefix("data-"))
    return re.search(rf"\bdataset(\.|, {{.*\b){name}\b", scripts) is not None
