"""Whatever is registered can be registered with, tried and shown; a name that is not registered any more is read and
says so."""

import json
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.forms.models import model_to_dict
from django.urls import reverse

from tests.servers.odd import GOOD, Odd, OddServer
from tests.workers.conftest import states
from workers.forms.endpoints import EndpointForm
from workers.models import Call, Endpoint, EndpointRateLimit
from workers.providers import registry
from workers.providers.contract import Message, Request, Spec
from workers.providers.description import Provider
from workers.providers.errors import BackendError, Overloaded, Rejected, WrongAddress
from workers.providers.statuses import of_status
from workers.services.endpoints import save_endpoint, try_endpoint
from workers.services.planning import key_of

NAMES = registry.names()
GONE = f"There is no provider 'gone' here; there are {', '.join(NAMES)}. Its models can be read, but not asked."
SPOKEN = {"openai", "anthropic", "vllm", "baseline", "scripted"}
"""Those whose protocol the server of this test speaks, and those that ask no server."""


def model_of(about: Provider) -> str:
    return next(iter(about.models), "small-1")


def address_of(about: Provider) -> dict[str, str]:
    """The address that is typed for a provider without one of its own."""
    return {"base_url": "http://127.0.0.1:8000/v1"} if registry.wants_address(about.name) else {}


def typed(about: Provider) -> dict[str, str]:
    """What a person sends who fills in only what a new form of the provider leaves empty."""
    form = EndpointForm(instance=None, initial=dict(about.defaults), provider=about.name)
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    filled = {name: value for name, value in values.items() if value is not None and value is not False}
    values = {name: "on" if value is True else str(value) for name, value in filled.items()}
    return values | {"options": "{}", "name": "small", "model": model_of(about)} | address_of(about)


@pytest.mark.django_db
@pytest.mark.parametrize("name", NAMES)
def test_form_command_and_api_register_the_same_and_pages_show_it(name, admin, admins_api, page, capsys):
    about = registry.find(name)
    choosing = unescape(page("workers:new_endpoint"))
    assert about.label in choosing and about.sentence in choosing
    assert about.label in page("workers:new_endpoint", provider=name)
    sent = admin.post(f"{reverse('workers:new_endpoint')}?provider={name}", typed(about))
    assert sent.status_code == 302, sent.context["form"].errors
    made = Endpoint.objects.get()
    assert (made.provider, made.model) == (name, model_of(about))
    assert {field: getattr(made, field) for field in about.defaults} == dict(about.defaults)
    assert about.label in page("workers:endpoints") and about.label in page("workers:endpoint", "small")
    address = [f"--base-url={url}" for url in address_of(about).values()]
    call_command("add_endpoint", "by-command", f"--provider={name}", f"--model={model_of(about)}", *address)
    body = {"name": "by-api", "provider": name, "model": model_of(about)} | address_of(about)
    assert admins_api.post("/api/v1/endpoints/", body, format="json").status_code == 201
    rows = [model_to_dict(endpoint, exclude=["id", "name", "created_by"]) for endpoint in Endpoint.objects.all()]
    assert rows[0] == rows[1] == rows[2]
    assert all(endpoint.prices.are_known is not about.hosted for endpoint in Endpoint.objects.all())
    assert EndpointRateLimit.objects.count() == 3


@pytest.mark.django_db
def test_the_description_of_the_api_and_the_commands_help_list_it(admins_api, capsys):
    described = json.loads(admins_api.get("/api/v1/schema/?format=json").content)["components"]["schemas"]
    enums = [tuple(schema["enum"]) for schema in described.values() if "openai" in schema.get("enum", ())]
    assert enums == [tuple(NAMES)]
    with pytest.raises(SystemExit):
        call_command("add_endpoint", "--help")
    output = "".join(capsys.readouterr().out.split())  # lines are broken at hyphens too
    assert all(f"{provider.name}: {provider.label}".replace(" ", "") in output for provider in registry.registered())


@pytest.mark.django_db(transaction=True)
def test_it_is_tried_and_says_what_came_back(make_endpoint, page):
    """Where no model answers, as none does that a worker would have to hold itself, a sentence says so."""
    for name in NAMES:
        about = registry.find(name)
        with OddServer(Odd(body=GOOD)) as server:
            address = {} if "base_url" in about.left_out else {"base_url": server.url}
            endpoint = make_endpoint(name, name=name, model=model_of(about), json_schema=False, **address)
            tried = try_endpoint(endpoint=endpoint)
            assert (server.asked > 0) is bool(address), name
        assert tried["ok"] is (name in SPOKEN) or name not in {*SPOKEN, "vllm-engine"}, tried
        assert tried["said"] and tried["said"] in unescape(page("workers:tried", name))
        assert ("answers" if tried["ok"] else "fails") in page("workers:endpoints")
        endpoint.delete()


def test_what_it_says_of_fields_is_about_fields():
    for name in NAMES:
        about, there = registry.find(name), {field.name for field in Endpoint._meta.get_fields()}
        assert {*about.defaults, *about.left_out, *about.placeholders} <= there
        assert about.refuses_at in {"", *there}
        assert set(about.samples.values()) <= set(about.models or about.samples.values())


KEYS = {
    "openai": "18a8047c6f6fef975413600cb33b6be63b1f70c64f7647745490f0123544e3d4",
    "anthropic": "e8a1cbb4a19f377afec8351c4d7a9d0a7485d8a8ee282cdd7949a5fd4f642668",
    "vllm": "dea4b877b059dd590a1508714202f752284b8326286b47d9b7d54e1647108184",
    "scripted": "9500abcbe72c189bdca2adc5053454ba64f34bad4655d5269c565476b5e9bda1",
    "majority": "0053090e2107703debc36bc350577abb54ab7b8d0a70541e26cd47097c7041da",
    "random": "2ec742b7bce5acf2ecc81fb581216bb29c454f1a54fccbb404d78157ae1b108e",
    "omniscient": "ae56a651460b0843496333f624f8845896978cbab31c56789e3b5292b148a321",
    "lexical-judge": "6ba9c70554903c842d4fb8610a9838929b1e1c64610d05897ff106c24e1ebba4",
}
"""Made before providers were folders: another key would pay for every answer of a ledger again."""
SETTINGS = {
    "vllm": {"base_url": "http://h/v1"},
    "anthropic": {"sets_temperature": False, "options": {"cache": True, "effort": "low"}},
}
ROW = {"id": 1, "actor": "Ines", "belief": "It is here"}
LABEL = {"kind": "label", "rows": [ROW], "dimensions": {"truth": ["True", "False"]}, "counts": {}}
TASKS = {
    "majority": LABEL,
    "random": LABEL,
    "omniscient": {"kind": "extract", "story": "Ines counts."},
    "lexical-judge": {"kind": "judge", "predictions": [["Ines", "a"]], "gold": [["Ines", "a"]]},
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def test_answers_of_a_ledger_are_found_again():
    for name in KEYS:
        if name in TASKS:
            endpoint = Endpoint(provider="baseline", model=name)
            request = Request((), max_tokens=1, task=TASKS[name], sample=1)
        else:
            endpoint = Endpoint(provider=name, model="m", **SETTINGS.get(name, {}))
            messages = (Message("system", "Be brief."), Message("user", "Why?"))
            request = Request(messages, max_tokens=50, temperature=0.0, seed=1, schema=SCHEMA, sample=2)
        body = registry.make(endpoint.spec).body(request)
        assert key_of(endpoint, body, request.sample) == KEYS[name], name


def test_what_cannot_be_registered_or_made():
    for name in ("openai", "Capital", "with space", "n" * 21, ""):  # taken, or no row could hold it
        with pytest.raises(ValueError, match="provider"):
            registry.register(Provider(name=name, label="A", sentence="B.", backend=registry.make))
    with pytest.raises(WrongAddress, match=r"^tiny has no address: say where its server answers\.$"):
        registry.make(Spec("vllm", "tiny"))
    # a description loads no package that calls need
    loaded = "print({'openai', 'anthropic', 'vllm', 'django'} & set(sys.modules))"
    command = [sys.executable, "-c", f"import sys, workers.providers.registry\n{loaded}"]
    assert subprocess.check_output(command, cwd=Path(__file__).parents[3], text=True).strip() == "set()"


# --- of a provider that is not there any more


@pytest.fixture
def gone(make_endpoint):
    return make_endpoint("gone", name="old", model="old-1", batches=True)


def test_its_pages_open_and_say_so_and_it_can_be_switched_off_or_deleted(gone, admin, page, admins_api):
    assert GONE in unescape(page("workers:endpoint", "old")) and "gone (not there)" in page("workers:endpoints")
    for name in ("workers:ledger", "workers:work", "workers:spending"):
        page(name)
    assert [row["provider"] for row in admins_api.get("/api/v1/endpoints/").json()["results"]] == ["gone"]
    assert admins_api.get("/api/v1/endpoints/old/").json()["price_input"] is None  # not free: nobody knows
    assert not Endpoint.objects.usable().exists(), "it is not offered for new work"
    assert try_endpoint(endpoint=gone) == {"ok": False, "said": GONE, "kind": "UnknownProvider"}
    address = reverse("workers:endpoint", args=["old"])
    values = typed(registry.find("openai")) | {"name": "old", "model": "old-1"}
    refused = admin.post(address, values)
    assert refused.status_code == 200 and GONE in unescape(refused.content.decode())
    assert admin.post(address, {name: value for name, value in values.items() if name != "active"}).status_code == 302
    assert Endpoint.objects.get().active is False
    assert admin.post(address, {"delete": "1"}).status_code == 302
    assert not Endpoint.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_job_that_waits_for_it_pauses_with_the_reason(gone, worked):
    for batch in (False, True):
        job = worked(gone, ["a", "b"], batch=batch)
        assert job.state == "paused" and GONE.rstrip(".") in job.note
        assert states(job) == {"held": 2} and not Call.objects.exists()


@pytest.mark.django_db
def test_nothing_is_registered_with_it(admins_api):
    with pytest.raises(CommandError, match="invalid choice: 'gone'"):
        call_command("add_endpoint", "new", "--provider=gone", "--model=m")
    sent = admins_api.post("/api/v1/endpoints/", {"name": "new", "provider": "gone", "model": "m"}, format="json")
    assert sent.status_code == 400 and "provider" in sent.json()["error"]["fields"]
    with pytest.raises(ValidationError) as refused:
        save_endpoint(by="", values={"name": "new", "provider": "gone", "model": "m", "active": False})
    assert refused.value.message_dict["provider"] == [GONE]
    assert not Endpoint.objects.exists()


# --- what refusals say


def refusal(status: int, body: object) -> BackendError:
    return of_status(status, None, body, {}) if isinstance(body, str) else of_status(status, body, json.dumps(body), {})


def test_refusals_and_passing_failures_are_told_apart():
    for body in ({"error": {"message": "Unsupported value: 'temperature'."}}, {"detail": [{"loc": ["body"]}]}, "no"):
        assert type(refusal(400, body)) is type(refusal(422, body)) is Rejected
    assert str(refusal(400, [{"error": {"message": "Listed."}}])) == "HTTP 400: Listed."
    passing = {"error": {"message": "The service is unavailable; max_tokens and temperature failed."}}
    for status in (429, 500, 502, 503, 504):
        assert not isinstance(refusal(status, passing), Rejected)
    assert isinstance(refusal(500, {"error": {"message": "Internal error."}}), Overloaded)


def test_options_of_a_model_are_in_what_it_is_asked():
    options = {"reasoning_effort": "low", "extra_body": {"top_k": 4}, "max_tokens_field": "max_completion_tokens"}
    backend = registry.make(Spec("openai", "tiny", base_url="http://127.0.0.1:9/v1", options=options))
    body = backend.body(Request((), max_tokens=5, seed=7))
    assert (body["reasoning_effort"], body["extra_body"], body["seed"]) == ("low", {"top_k": 4}, 7)
    assert body["max_completion_tokens"] == 5 and "max_tokens" not in body
