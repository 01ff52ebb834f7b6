"""The command that registers models; what it refuses, the page and the API refuse too."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.urls import reverse

from workers.models import Endpoint, EndpointRateLimit
from workers.providers import registry
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


@pytest.mark.parametrize("provider", registry.names())
def test_every_provider_can_be_registered(provider, capsys):
    address = ["--base-url=http://127.0.0.1:8000/v1"] if registry.wants_address(provider) else []
    add("one", "--json", *address, provider=provider, model=MODELS.get(provider, "m"))
    assert json.loads(capsys.readouterr().out) == {"endpoint": "one"}
    endpoint = Endpoint.objects.get()
    assert (endpoint.provider, endpoint.active, endpoint.spec.provider) == (provider, True, provider)
    assert EndpointRateLimit.objects.filter(endpoint=endpoint).exists()


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


def test_options_may_write_of_a_character_that_none_may_hold():
    add("one", r'--options={"extra_body": {"stop": "\\u0000"}}')
    assert Endpoint.objects.get().options == {"extra_body": {"stop": r"\u0000"}}


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


def test_an_address_that_is_no_web_address():
    for url in [
        "file:///etc/passwd",
        "ftp://models.example/",
        "javascript:alert(1)",
        "models.example",
        "http://",
        "http://models.example:99999/",
        "http://[::1",
        "http://a b/",
        "http://models.example/\nx",
    ]:
        assert refused(f"--base-url={url}") == "base_url: An address that begins with http:// or https:// is expected."


def test_an_address_where_clouds_keep_their_secrets():
    for host in [
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "[fe80::1]",
        "[::ffff:169.254.169.254]",
        "[fd00:ec2::254]",
    ]:
        assert (
            refused(f"--base-url=http://{host}/") == "base_url: A link-local or metadata address is not a model server."
        )


def test_an_address_with_a_secret_in_it():
    for url in ["http://me:hunter2@a.example/", "http://a.example/?key=hunter2", "http://@a.example/"]:
        refusal = refused(f"--base-url={url}")
        assert refusal.startswith("base_url: An address without a user, password or query") and "hunter2" not in refusal


def test_only_the_hosts_of_the_allow_list(settings):
    settings.ENDPOINT_HOSTS = ["models.example", "127.0.0.1:8000"]
    sentence = "base_url: This site allows only models.example, 127.0.0.1:8000 (ENDPOINT_HOSTS)."
    for url in ("http://other.example/", "http://127.0.0.1:8001/", "http://models.example.evil.example/"):
        assert refused(f"--base-url={url}") == sentence
    add("a", "--base-url=https://models.example/v1")
    add("b", "--base-url=http://127.0.0.1:8000/v1")
    add("c")  # the provider's own address


@pytest.mark.parametrize("key", ["sk-proj-a1B2c3D4", "gsk_a1B2c3D4", "hf_a1B2c3D4", "$OPENAI_API_KEY", "KEY\n"])
def test_a_key_in_the_place_of_its_variable_is_refused_and_not_repeated(key, capsys):
    refusal = refused(f"--api-key-env={key}")
    assert refusal == (
        "api_key_env: The name of an environment variable is expected, in capitals, never the key itself."
    )
    assert "a1B2c3D4" not in "".join(capsys.readouterr())


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
    for options, provider, sentence in [
        ("[1]", "openai", "options: A JSON object is expected."),
        ("{", "openai", "JSON is expected, such as"),
        ('{"a": 1, "a": 2}', "openai", "occurs twice in one object"),
        ("[" * 100_000, "openai", "nested too deeply"),
        ('{"a": NaN}', "openai", "options: NaN and Infinity are not valid JSON."),
        ('{"a": 1e999}', "openai", "options: NaN and Infinity are not valid JSON."),
        ('{"a": "\\ud800"}', "openai", "options: NUL characters and halves of surrogate pairs cannot be stored."),
        ('{"a": "\\u0000"}', "openai", "options: NUL characters and halves of surrogate pairs cannot be stored."),
        (
            '{"script": [{"fail": []}]}',
            "scripted",
            "options: Rule 1 of the script, fail: it is a list; expected one of rejected, ",
        ),
        ('{"gpus": 2}', "vllm-engine", "options: There is no option 'gpus'"),
        (
            '{"reasoning_efort": "low"}',
            "openai",
            "options: There is no option 'reasoning_efort'; there are max_tokens_field, reasoning_effort, seed, "
            "extra_body, batch_poll_seconds. Other fields of a request go into extra_body.",
        ),
        (
            '{"extra_body": {"n": 8}}',
            "openai",
            "options: extra_body cannot set 'n': a call could cost more than is reserved",
        ),
        (
            '{"extra_body": {"max_completion_tokens": 9}}',
            "openai",
            "options: extra_body cannot set 'max_completion_tokens'",
        ),
        (
            '{"extra_body": {"stream": true}}',
            "vllm",
            "options: extra_body cannot set 'stream': each call says that itself.",
        ),
        ('{"max_tokens_field": "n"}', "openai", "options: The option max_tokens_field is 'n'; expected max_tokens,"),
        ('{"top_p": 1}', "vllm", "options: There is no option 'top_p'; there are max_tokens_field,"),
        (
            '{"cached": true}',
            "anthropic",
            "options: There is no option 'cached'; there are effort, cache, batch_poll_seconds.",
        ),
        ('{"cache": "yes"}', "anthropic", "options: The option cache wants bool, not 'yes'."),
        ('{"defualt": "yes"}', "scripted", "options: There is no option 'defualt'; there are script, default,"),
        ('{"sed": 1}', "baseline", "options: There is no option 'sed'; there are seed, threshold."),
    ]:
        assert sentence in refused(f"--options={options}", provider=provider, model=MODELS.get(provider, "small-1"))


def test_a_variable_that_holds_no_key_of_a_model():
    for variable, sentence in [
        ("SECRET_KEY", "This variable belongs to the site itself; choose another name for the key."),
        ("CREDENCE_API_KEY", "This variable belongs to the site itself; choose another name for the key."),
        ("REDIS_TOKEN", "This variable belongs to the site itself; choose another name for the key."),
        ("DATABASE_URL", "This variable belongs to the site itself; choose another name for the key."),
        ("PATH", "The name of a key variable ends in _API_KEY, _KEY or _TOKEN, such as OPENAI_API_KEY."),
        (
            "AKIAIOSFODNN7EXAMPLE",
            "The name of a key variable ends in _API_KEY, _KEY or _TOKEN, such as OPENAI_API_KEY.",
        ),
    ]:
        assert refused(f"--api-key-env={variable}") == f"api_key_env: {sentence}"


def test_a_variable_that_holds_a_key():
    for variable in ["OPENAI_API_KEY", "MY_KEY", "HF_TOKEN"]:
        add(variable, f"--api-key-env={variable}")
        assert Endpoint.objects.get(name=variable).api_key_env == variable


SECRET = "sk-ant-a1B2c3D4e5F6g7H8"


def test_a_key_in_any_other_place_is_refused_and_not_repeated():
    for field, option in [
        ("family", f"--family={SECRET}"),
        ("revision", f"--revision={SECRET}"),
        ("base_url", f"--base-url=http://{SECRET}@models.example/v1"),
        ("base_url", f"--base-url=http://models.example/v1?key={SECRET}"),
        ("base_url", f"--base-url=http://models.example/{SECRET}/v1"),
        ("options", json.dumps({"extra_body": {"deep": [{"key": SECRET}]}})),
        ("options", json.dumps({SECRET: 1})),
    ]:
        refusal = refused(option if option.startswith("--") else f"--options={option}")
        assert refusal.startswith(f"{field}: This looks like a key.") and "a1B2" not in refusal


def test_a_key_as_name_or_model():
    for name, model in ((SECRET, "m"), ("small", SECRET)):
        with pytest.raises(CommandError, match="This looks like a key") as caught:
            add(name, model=model, provider="baseline")
        assert "a1B2" not in str(caught.value)
    assert not Endpoint.objects.exists()


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


def test_an_update_of_a_name_that_there_is_not():
    assert refused("--update") == "There is no endpoint 'small' to change; leave --update out to register it."


def test_every_wrong_field_is_named_at_once():
    refusal = refused("--base-url=ftp://a.example/", "--api-key-env=sk-1", "--price-input=-1")
    assert [problem.split(":")[0] for problem in refusal.split("; ")] == ["api_key_env", "price_input", "base_url"]


def test_a_name_can_be_taken_once():
    add("small", model="first")
    assert refused() == "There is an endpoint 'small' already; add --update to change it."
    assert Endpoint.objects.get().model == "first"


def test_an_update_changes_what_is_given_and_leaves_the_rest():
    add(
        "small",
        "--base-url=http://gpu-box/v1",
        "--api-key-env=SMALL_KEY",
        "--options={}",
        "--price-input=1",
        "--batches=no",
    )
    add("small", "--update", "--price-input=2")
    endpoint = Endpoint.objects.get()
    assert (endpoint.base_url, endpoint.api_key_env, endpoint.price_input, endpoint.batches) == (
        "http://gpu-box/v1", "SMALL_KEY", 2, False,
    )  # fmt: skip


def test_an_update_names_neither_provider_nor_model():
    add("small", model="first", provider="openai")
    call_command("add_endpoint", "small", "--update", "--price-input", "3")
    endpoint = Endpoint.objects.get()
    assert (endpoint.provider, endpoint.model, endpoint.price_input) == ("openai", "first", 3)


def test_a_new_endpoint_needs_provider_and_model():
    sentence = "A new endpoint needs --provider and --model; --help says what can be given."
    with pytest.raises(CommandError, match=f"^{sentence}$"):
        call_command("add_endpoint", "small")
    with pytest.raises(CommandError, match=r"^A new endpoint needs --model; "):
        call_command("add_endpoint", "small", "--provider=openai")


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
