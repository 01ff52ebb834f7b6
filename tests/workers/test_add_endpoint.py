"""The command that registers models; what it refuses, the page and the API refuse too."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.urls import reverse

from workers.models import Endpoint
from workers.services.endpoints import add_samples, save_endpoint

pytestmark = pytest.mark.django_db
MODELS = {"baseline": "lexical-judge"}


def add(name: str = "small", *options: str, provider: str = "openai", model: str = "small-1") -> None:
    call_command("add_endpoint", name, f"--provider={provider}", f"--model={model}", *options)


def refused(*options: str, **more: str) -> str:
    with pytest.raises(CommandError) as caught:
        add("small", *options, **more)
    assert not Endpoint.objects.filter(model="small-1").exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_provider_without_an_address_of_its_own_is_given_one(client, cast):
    told = "It has no address: say where its server answers."
    assert refused(provider="vllm") == f"base_url: {told}"
    cast.alice.is_superuser = True
    cast.alice.save()
    client.force_login(cast.alice)
    typed = {"name": "small", "provider": "vllm", "model": "small-1", "active": "on"}
    page = client.post(reverse("workers:new_endpoint"), typed)
    assert page.status_code == 200 and page.context["form"].errors["base_url"] == [told]
    sent = client.post("/api/v1/endpoints/", typed | {"active": True}, "application/json")
    assert sent.status_code == 422 and sent.json()["error"]["fields"]["base_url"] == [told]
    assert not Endpoint.objects.exists()
    before = Endpoint.objects.create(name="before", provider="vllm", model="m")
    save_endpoint(by="", endpoint=before, values={"active": False})  # can still be switched off
    with pytest.raises(ValidationError, match=told):
        save_endpoint(by="", endpoint=before, values={"active": True})


def test_where_providers_differ_they_have_their_own_defaults():
    for provider in ("openai", "anthropic", "vllm-engine"):
        add(provider, provider=provider)
    rows = Endpoint.objects.order_by("name").values_list("name", "sets_temperature", "batches", "max_concurrency")
    assert list(rows) == [("anthropic", False, True, 16), ("openai", True, True, 16), ("vllm-engine", True, False, 512)]


def test_everything_can_be_said():
    add(
        "box", "--base-url=http://gpu-box:8000/v1", "--api-key-env=BOX_KEY", "--family=Tiny", "--revision=main",
        '--options={"reasoning_effort": "low"}', "--price-input=0.15", "--price-cached=0.075", "--price-output=0.6",
        "--price-batch=0.5", "--max-concurrency=64", "--requests-per-minute=500", "--timeout-seconds=30",
        "--sets-temperature=no", "--json-schema=yes", "--batches=no", "--context-tokens=8192",
    )  # fmt: skip
    made = Endpoint.objects.get()
    assert (made.base_url, made.api_key_env, made.family, made.revision) == (
        "http://gpu-box:8000/v1", "BOX_KEY", "Tiny", "main",
    )  # fmt: skip
    assert (made.options, made.sets_temperature, made.batches) == ({"reasoning_effort": "low"}, False, False)
    assert (made.price_input, made.price_cached, made.price_output) == (
        Decimal("0.15"), Decimal("0.075"), Decimal("0.6"),
    )  # fmt: skip
    assert (made.most, made.timeout_seconds, made.context_tokens) == (500 / 60, 30, 8192)


def test_numbers_that_cannot_be():
    for option, field in [
        ("--price-input=-1", "price_input"),
        ("--price-cached=-0.5", "price_cached"),
        ("--price-output=-1", "price_output"),
        ("--price-batch=-1", "price_batch"),
        ("--price-input=NaN", "price_input"),
        ("--price-input=cheap", "price_input"),
        ("--price-input=1e2", "price_input"),
        ("--price-batch=1_0", "price_batch"),
        ("--max-concurrency=0", "max_concurrency"),
        ("--timeout-seconds=0", "timeout_seconds"),
        ("--max-attempts=-1", "max_attempts"),
        # one more than the most
        ("--timeout-seconds=86401", "timeout_seconds"),
        ("--retry-after-cap=86401", "retry_after_cap"),
        ("--max-attempts=101", "max_attempts"),
        ("--repeat-unknown=101", "repeat_unknown"),
        ("--max-concurrency=10001", "max_concurrency"),
        ("--requests-per-minute=10000001", "requests_per_minute"),
        ("--tokens-per-minute=2000000001", "tokens_per_minute"),
        ("--context-tokens=100000001", "context_tokens"),
        ("--price-output=100001", "price_output"),
        ("--price-batch=1.001", "price_batch"),
    ]:
        assert refused(option).startswith(f"{field}: ")


def test_options_that_cannot_work():
    for options, provider, sentence in OPTIONS:
        assert sentence in refused(f"--options={options}", provider=provider, model=MODELS.get(provider, "small-1"))
    add("one", r'--options={"extra_body": {"stop": "\\u0000"}}')  # a text may write of what no text may hold
    assert Endpoint.objects.get().options == {"extra_body": {"stop": r"\u0000"}}


def test_a_variable_that_holds_no_key_of_a_model(capsys):
    own = "This variable belongs to the site itself; choose another name for the key."
    ending = "The name of a key variable ends in _API_KEY, _KEY or _TOKEN, such as OPENAI_API_KEY."
    key = "The name of an environment variable is expected, in capitals, never the key itself."
    for sentence, variables in (
        (own, ("SECRET_KEY", "CREDENCE_API_KEY", "REDIS_TOKEN", "DATABASE_URL")),
        (ending, ("PATH", "AKIAIOSFODNN7EXAMPLE")),
        (key, ("sk-proj-a1B2c3D4", "gsk_a1B2c3D4", "hf_a1B2c3D4", "$OPENAI_API_KEY", "KEY\n")),
    ):
        for variable in variables:
            assert refused(f"--api-key-env={variable}") == f"api_key_env: {sentence}"
    assert "a1B2c3D4" not in "".join(capsys.readouterr())
    for variable in ("OPENAI_API_KEY", "MY_KEY", "HF_TOKEN"):
        add(variable, f"--api-key-env={variable}")
        assert Endpoint.objects.get(name=variable).api_key_env == variable


OPTIONS = [
    ("[1]", "openai", "options: A JSON object is expected."),
    ("{", "openai", "JSON is expected, such as"),
    ('{"a": 1, "a": 2}', "openai", "occurs twice in one object"),
    ("[" * 100_000, "openai", "nested too deeply"),
    ('{"a": NaN}', "openai", "options: NaN and Infinity are not valid JSON."),
    ('{"a": 1e999}', "openai", "options: NaN and Infinity are not valid JSON."),
    ('{"a": "\\ud800"}', "openai", "options: NUL characters and halves of surrogate pairs cannot be stored."),
    ('{"a": "\\u0000"}', "openai", "options: NUL characters and halves of surrogate pairs cannot be stored."),
    ('{"script": [{"fail": []}]}', "scripted", "options: Rule 1 of the script, fail: it is a list; expected one of"),
    ('{"gpus": 2}', "vllm-engine", "options: There is no option 'gpus'"),
    ('{"reasoning_efort": "low"}', "openai", "Other fields of a request go into extra_body."),
    ('{"extra_body": {"n": 8}}', "openai", "options: extra_body cannot set 'n': a call could cost more"),
    ('{"extra_body": {"max_completion_tokens": 9}}', "openai", "extra_body cannot set 'max_completion_tokens'"),
    ('{"extra_body": {"stream": true}}', "vllm", "options: extra_body cannot set 'stream': each call says that"),
    ('{"max_tokens_field": "n"}', "openai", "options: The option max_tokens_field is 'n'; expected max_tokens,"),
    ('{"top_p": 1}', "vllm", "options: There is no option 'top_p'; there are max_tokens_field,"),
    ('{"cached": true}', "anthropic", "There is no option 'cached'; there are effort, cache, batch_poll_seconds."),
    ('{"cache": "yes"}', "anthropic", "options: The option cache wants bool, not 'yes'."),
    ('{"defualt": "yes"}', "scripted", "options: There is no option 'defualt'; there are script, default,"),
    ('{"sed": 1}', "baseline", "options: There is no option 'sed'; there are seed, threshold."),
]


SECRET = "sk-ant-a1B2c3D4e5F6g7H8"


def test_a_key_in_any_other_place_is_refused_and_not_repeated():
    for field, option in (
        ("family", f"--family={SECRET}"),
        ("revision", f"--revision={SECRET}"),
        ("base_url", f"--base-url=http://{SECRET}@models.example/v1"),
        ("base_url", f"--base-url=http://models.example/v1?key={SECRET}"),
        ("base_url", f"--base-url=http://models.example/{SECRET}/v1"),
        ("options", "--options=" + json.dumps({"extra_body": {"deep": [{"key": SECRET}]}})),
        ("options", "--options=" + json.dumps({SECRET: 1})),
    ):
        refusal = refused(option)
        assert refusal.startswith(f"{field}: This looks like a key.") and "a1B2" not in refusal
    for name, model in ((SECRET, "m"), ("small", SECRET)):
        with pytest.raises(CommandError, match="This looks like a key") as caught:
            add(name, model=model, provider="baseline")
        assert "a1B2" not in str(caught.value)
    assert not Endpoint.objects.exists()


def test_what_is_named_wrongly_is_one_sentence():
    assert refused("--update") == "There is no endpoint 'small' to change; leave --update out to register it."
    refusal = refused("--base-url=ftp://a.example/", "--api-key-env=sk-1", "--price-input=-1")
    named = [problem.split(":")[0] for problem in refusal.split("; ")]
    assert named == ["api_key_env", "price_input", "base_url"], "every wrong field at once"
    for arguments, sentence in (
        ((), r"^A new endpoint needs --provider and --model; --help says what can be given\.$"),
        (("--provider=openai",), r"^A new endpoint needs --model; "),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("add_endpoint", "small", *arguments)
    add("small", model="first")
    assert refused() == "There is an endpoint 'small' already; add --update to change it."
    assert Endpoint.objects.get().model == "first"


def test_what_is_one_line_to_the_api_is_one_to_all():
    for field in ["model", "revision", "family"]:
        given = {"model": "m"} | {field: "a\tb"}
        with pytest.raises(ValidationError) as caught:
            save_endpoint(by="", values={"name": "small", "provider": "openai", **given})
        assert caught.value.message_dict == {
            field: ["One line is expected, without tabs and other control characters."]
        }
        before = Endpoint.objects.create(name=f"old-{field}", provider="openai", **given)
        save_endpoint(by="", endpoint=before, values={"active": False})


def test_an_update_changes_what_is_given_and_leaves_the_rest():
    kept = ["--base-url=http://gpu-box/v1", "--api-key-env=SMALL_KEY", "--options={}", "--batches=no"]
    add("small", *kept, "--price-input=1")
    for update in (add, lambda *options: call_command("add_endpoint", *options)):  # with provider and model, or without
        update("small", "--update", "--price-input=2")
        endpoint = Endpoint.objects.get()
        assert (endpoint.provider, endpoint.model, endpoint.price_input) == ("openai", "small-1", 2)
        assert (endpoint.base_url, endpoint.api_key_env) == ("http://gpu-box/v1", "SMALL_KEY")
        assert not endpoint.batches
        Endpoint.objects.update(price_input=1)


def test_an_endpoint_that_has_answered_keeps_its_model(make_call):
    call = make_call()
    with pytest.raises(CommandError, match="has answered already"):
        add(call.endpoint.name, "--update", provider="scripted", model="another")
    add(call.endpoint.name, "--update", "--max-concurrency=3", provider="scripted", model="tiny")
    assert Endpoint.objects.get().max_concurrency == 3


def test_the_samples_need_nothing_and_are_made_once():
    add_samples()
    add_samples()
    names = list(Endpoint.objects.values_list("name", flat=True))
    assert names == ["first-option", "lexical-judge", "majority", "omniscient", "random", "scripted", "tracker"]


def test_an_address_that_is_refused(settings):
    metadata = "A link-local or metadata address is not a model server."
    scheme = "An address that begins with http:// or https:// is expected."
    hosts = ("169.254.169.254", "2852039166", "0xa9fea9fe", "[fe80::1]", "[::ffff:169.254.169.254]", "[fd00:ec2::254]")
    for url in (
        "file:///etc/passwd", "ftp://models.example/", "javascript:alert(1)", "models.example", "http://",
        "http://models.example:99999/", "http://[::1", "http://a b/", "http://models.example/\nx",
    ):  # fmt: skip
        assert refused(f"--base-url={url}") == f"base_url: {scheme}"
    for host in hosts:
        assert refused(f"--base-url=http://{host}/") == f"base_url: {metadata}"
    for url in ("http://me:hunter2@a.example/", "http://a.example/?key=hunter2", "http://@a.example/"):
        refusal = refused(f"--base-url={url}")
        assert refusal.startswith("base_url: An address without a user, password or query") and "hunter2" not in refusal
    settings.ENDPOINT_HOSTS = ["models.example", "127.0.0.1:8000"]
    sentence = "base_url: This site allows only models.example, 127.0.0.1:8000 (ENDPOINT_HOSTS)."
    for url in ("http://other.example/", "http://127.0.0.1:8001/", "http://models.example.evil.example/"):
        assert refused(f"--base-url={url}") == sentence
    add("a", "--base-url=https://models.example/v1")
    add("b", "--base-url=http://127.0.0.1:8000/v1")
    add("c")  # the provider's own address
