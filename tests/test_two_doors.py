"""What a page writes and what the API writes is read alike: a value that one door takes, the other takes, too. Which
fields have two doors is taken from the code: a form and a shape are two doors to one thing where their names say so
(`FlagForm`, `FlagIn`), two shapes where they become the same value of a service or have the same name."""

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from inspect import get_annotations, isclass
from itertools import product
from typing import Annotated

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from hypothesis import given, settings
from hypothesis.strategies import from_regex
from pydantic import TypeAdapter
from pydantic import ValidationError as Misfits

from annotation.forms.people import InviteForm
from annotation.forms.values import EMAIL
from annotation.forms.votes import UID_TEXT
from core.incoming.misfit import Misfit
from core.incoming.shapes import Shape
from tests.workers.test_pages import FORM
from workers.api.shapes import EndpointIn
from workers.forms.endpoints import EndpointForm
from workers.models import Endpoint
from workers.providers import registry
from workers.services.endpoint_rules import AMOUNTS, TEXTS, check_endpoint

FORMS = ("annotation.forms", "benchmark.forms", "workers.forms", "judge.forms")
SHAPES = ("annotation.api", "benchmark.api", "benchmark.services.launches", "workers.api", "judge.api")
OTHER_NAMES = {"RowForm": "TableRow", "AnswersForm": "Import"}
HOSTILE = (
    "", " ", "\t", "\n", "\u00a0", "\u3000", "\x00", "a\x00b", "a\nb", "\u202eabc", "值", "0", "-1", "+1", "1e2", "1E2",
    "NaN", "Infinity", "１２", "1_000", "0x10", ".5", "5.", "0.15", "1,5", "007", "0.1234567", "123456789",
    *("a" * count for count in (40, 41, 60, 61, 200, 201, 500, 501, 2000, 2001, 4000, 4001, 20_001)), " " * 41,
)  # fmt: skip


def classes_in(names: tuple[str, ...], base: type) -> Iterator[type]:
    for name in names:
        package = importlib.import_module(name)
        inner = pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}.")
        for module in (package, *(importlib.import_module(module.name) for module in inner)):
            for value in vars(module).values():
                if isclass(value) and issubclass(value, base) and value.__module__ == module.__name__:
                    yield value


def doubled_fields() -> Iterator[tuple[str, forms.Field, type[Shape], str]]:
    """Fields in which people type, by form and by shape; a uid names what is there, or is refused as not there."""
    shapes = {shape.__name__.removesuffix("In"): shape for shape in classes_in(SHAPES, Shape)}
    for form in classes_in(FORMS, forms.BaseForm):
        shape = shapes.get(OTHER_NAMES.get(form.__name__, form.__name__.removesuffix("Form")))
        for name, field in form.base_fields.items() if shape and shape is not EndpointIn else ():
            typed = isinstance(field, forms.CharField | forms.DecimalField)
            if typed and name in shape.model_fields and UID_TEXT not in shape.model_fields[name].metadata:
                yield f"{form.__name__}.{name}", field, shape, name


def taken(clean, text: str) -> bool:
    try:
        clean(text)
    except (ValidationError, Misfits):
        return False
    return True


def test_a_form_and_the_api_take_the_same_texts():
    doubled = set()
    for told, field, shape, name in doubled_fields():
        doubled.add(told)
        about = shape.model_fields[name]
        fits = TypeAdapter(Annotated[about.annotation, *about.metadata]).validate_python
        texts = [text for text in HOSTILE if text.strip() or field.required]
        differing = [text[:20] for text in texts if taken(field.clean, text) != taken(fits, text)]
        assert not differing, (told, differing)
    assert doubled >= {
        "CommentForm.text", "FlagForm.remark", "OutcomeForm.text", "ReplyForm.text", "DecisionForm.reason",
        "AlikeForm.reason", "GuidelineForm.text_zh", "RowForm.belief", "LaunchForm.title", "LaunchForm.budget",
        "AnswersForm.model",
    }, doubled  # fmt: skip


def _values_of_services() -> dict[str, list[type[Shape]]]:
    doors: dict[str, list[type[Shape]]] = defaultdict(list)
    for shape in classes_in(("annotation.forms", "annotation.api"), Shape):
        doors[shape.__name__].append(shape)
        for value in vars(shape).values():
            if isinstance(value, property):
                made = get_annotations(value.fget)["return"]
                doors[getattr(made, "__name__", str(made))].append(shape)
    return {key: shapes for key, shapes in doors.items() if len(shapes) > 1 and key != "dict"}


def _described(shape: type[Shape]) -> dict[str, object]:
    described = shape.model_json_schema()
    inner = described.get("$defs", {})

    def plain(part):
        if isinstance(part, dict):
            if "$ref" in part:
                return plain(inner[part["$ref"].rpartition("/")[2]])
            return {key: plain(value) for key, value in part.items() if key not in {"description", "default", "title"}}
        return [plain(value) for value in part] if isinstance(part, list) else part

    return {name: plain(part) for name, part in described["properties"].items()}


def test_shapes_of_one_thing_describe_its_fields_alike():
    compared: set[str] = set()
    for key, shapes in _values_of_services().items():
        of_pages = [shape for shape in shapes if ".forms." in shape.__module__]
        for first, second in product(of_pages, [shape for shape in shapes if shape not in of_pages]):
            a, b = _described(first), _described(second)
            assert {name: a[name] for name in a if name in b} == {name: b[name] for name in b if name in a}, key
            compared |= {f"{key}.{name}" for name in a.keys() & b.keys()}
    assert compared >= {"Change.row", "Change.idempotency_key", "DecisionIn.reason", "LinkIn.other"}


EMAILS = (
    "a@b.org", "ada@localhost", "a@例子.中国", "A.b+c@Ex-ample.co.uk", "a@x.xn--p1ai", "a..b@x.org", "a@-x.org",
    "a@x-.org", ".a@x.org", "a.@x.org", "a@x..org", "a@b", "a@b.c", "a\x01@x.org", "a@\u202ex.org",
    "a" * 250 + "@x.org", "a@b@c.org", "a\u00a0b@x.org",
)  # fmt: skip


@pytest.mark.django_db
def test_the_page_of_people_and_the_api_take_the_same_addresses(cast):
    for address in EMAILS:
        form = InviteForm({"role": "annotator", "people": address})
        by_page = form.is_valid() and not form.cleaned_data["usernames"]  # a blank ends a name
        assert by_page == (not EMAIL.sentence_on(address)), address


@settings(max_examples=30, database=None, deadline=None, derandomize=True)
@given(from_regex(EMAIL.pattern, fullmatch=True).filter(lambda address: 0 < len(address) <= 254))
def test_an_address_of_the_description_is_one_for_django(address):
    assert not EMAIL.sentence_on(address)
    validate_email(address)


ADDRESSES = (
    "http://gpu-box:8000/v1", "HTTP://gpu-box:8000/v1", "hTTps://gpu-box/v1", "ftp://gpu-box/", "//gpu-box/v1",
    "gpu-box", "http://", "http:/gpu-box", "http://gpu\tbox/", "http://gpu box/", "http://gpu-böx/", "http://u:p@gpu-box/",
    "http://gpu-box/?a", "http://gpu-box:x/", "http://" + "a" * 294,
)  # fmt: skip
VARIABLES = ("SMALL_API_KEY", "SMALL_KEY\n", "small_key", "2_KEY", "_KEY", "ÄHM_KEY", "SECRET_KEY", "SMALL")


def _registered(field: str, text: str, *, by_api: bool) -> bool:
    """Whether the API or the command takes it."""
    values = {"name": "small", "provider": "openai", "model": "m"} | {field: text}
    try:
        values = EndpointIn.of(values).given if by_api else values
        check_endpoint(Endpoint(**registry.find("openai").defaults | values))
    except Misfit:
        return False
    except ValidationError as error:
        return field not in error.message_dict
    return True


@pytest.mark.django_db
def test_a_model_is_registered_alike_on_the_page_by_the_api_and_by_the_command():
    """Spaces around a text are the page's: it takes them away, as of everything that is typed."""
    texts = [text for text in (*HOSTILE, *ADDRESSES, *VARIABLES) if text == text.strip() and text]
    for field in [*TEXTS, *AMOUNTS]:
        answers = set()
        for text in texts:
            by_page = field not in EndpointForm(FORM | {field: text}, provider="openai").errors
            doors = {by_page, *(_registered(field, text, by_api=by_api) for by_api in (True, False))}
            assert len(doors) == 1, (field, text[:40])
            answers |= doors
        assert answers == {True, False}, field
