"""Models on the pages of the site admin, and the command that registers them."""

import json
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.models import Prefill
from benchmark.models import Dataset, Run
from workers.models import Call, Endpoint, EndpointRateLimit, Job
from workers.services import endpoints as service
from workers.services.endpoints import add_samples, save_endpoint

pytestmark = pytest.mark.django_db
HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
FORM = {
    "provider": "openai", "name": "small", "model": "small-1", "base_url": "", "api_key_env": "", "options": "{}",
    "active": "on", "json_schema": "on", "context_tokens": "0", "reasoning_tokens": "0", "price_input": "0.15",
    "price_cached": "0",
    "price_cache_write": "0", "price_output": "0.6", "price_batch": "0.5", "max_concurrency": "16",
    "requests_per_minute": "0", "tokens_per_minute": "0", "timeout_seconds": "300", "max_attempts": "6",
    "repeat_unknown": "1", "retry_after_cap": "60",
}  # fmt: skip


def escaped(text: str) -> bool:
    return "<script>alert" not in text and "<img src=x" not in text and "&lt;script&gt;alert(1)" in text


@pytest.fixture
def sent(admin):
    """The answer to the form of a new model, or of the model `to`, with these fields changed."""

    def post(to: str = "", **changed: str):
        new = reverse("workers:new_endpoint") + "?provider=openai"
        return admin.post(reverse("workers:endpoint", args=[to]) if to else new, FORM | changed)

    return post


def test_a_model_is_registered_and_changed_with_the_form(sent, page, make_call):
    response = sent(base_url="http://gpu-box:8000/v1", options='{"reasoning_effort": "low"}')
    assert (response.status_code, response["Location"]) == (302, reverse("workers:endpoint", args=["small"]))
    made = Endpoint.objects.get()
    assert (made.price_input, made.created_by, made.sets_temperature) == (Decimal("0.15"), "charlie", False)
    assert EndpointRateLimit.objects.filter(endpoint=made).exists()
    listed, text = page("workers:endpoints"), page("workers:endpoint", "small")
    assert "small-1" in listed and "$0.15" in listed
    assert "http://gpu-box:8000/v1" in text and "reasoning_effort" in text, "it keeps what was said"
    assert sent("small", base_url="http://gpu-box:8000/v1", price_output="7").status_code == 302
    assert Endpoint.objects.get().price_output == 7
    make_call(made)
    assert "has answered already" in sent("small", model="another").content.decode()
    assert Endpoint.objects.get().model == "small-1"


def test_no_page_shows_a_key(sent, page, make_call, monkeypatch):
    monkeypatch.setenv("SMALL_KEY", "sk-very-secret")
    sent(api_key_env="SMALL_KEY", base_url="http://127.0.0.1:1/v1")
    endpoint = Endpoint.objects.get()
    assert service.try_endpoint(endpoint=endpoint)["kind"] == "Unreachable"
    pages = [page("workers:endpoint", "small"), page("workers:tried", "small"), page("workers:endpoints")]
    pages += [page("workers:ledger"), page("workers:call", make_call(endpoint).uid), page("workers:work")]
    assert "SMALL_KEY" in pages[0] and not any("sk-very-secret" in text for text in pages)


def test_trying_asks_a_worker_and_what_it_brought_is_shown(admin, page, make_endpoint, monkeypatch):
    asked = []
    for heard in (True, False):
        endpoint = make_endpoint(name=f"heard-{heard}")
        monkeypatch.setattr("workers.tasks.ask_to_try", lambda endpoint, heard=heard: asked.append(endpoint) or heard)
        address = reverse("workers:try_endpoint", args=[endpoint.name])
        text = admin.post(address).content.decode()
        assert asked.pop() == endpoint
        assert ("A worker asks it" in text) is heard and ("No worker has answered" in text) is not heard
        endpoint.refresh_from_db()
        assert endpoint.tried_at is not None and endpoint.tried == {}
        assert admin.get(address).status_code == 405
    for name, options in (("good", {"default": HOSTILE}), ("bad", {"script": [{"fail": "forbidden"}]})):
        service.try_endpoint(endpoint=make_endpoint(name=name, options=options))
    assert escaped(page("workers:tried", "good")) and "answers" in page("workers:tried", "good")
    assert "Scripted to fail: forbidden." in page("workers:tried", "bad")
    assert not Call.objects.exists()


def test_models_are_listed_in_few_statements(statements, make_endpoint, make_call):
    make_call()
    few = statements("workers:endpoints")
    for _ in range(10):
        make_call(make_endpoint())
    assert statements("workers:endpoints") == few <= 6


KEY = "sk-ant-a1B2c3D4e5F6"
OBJECT, LOOKS = "A JSON object is expected, such as {} for none.", "This looks like a key."
WRONG = [
    ("base_url", "ftp://a.example/", "An address that begins with http:// or https:// is expected."),
    ("options", '{"a": NaN}', "NaN and Infinity are not valid JSON."),
    *(("options", text, OBJECT) for text in ("[1]", "{", '{"a": 1, "a": 2}', "[" * 9000)),
    ("price_input", "1e2", "A number in digits is expected, with a point before its decimals, such as 0.15."),
    *(("price_input", price, "A number from 0 to 100,000 is expected.") for price in ("-1", "cheap")),
    ("name", "two words", "A name of letters, digits, hyphens and underscores is expected, such as small-2."),
    ("name", "", "Name is missing."),
    ("name", "n" * 61, "At most 60 characters are expected; these are 61."),
    ("api_key_env", "sk-proj-a1B2c3D4", "never the key itself"),
    *((field, KEY, LOOKS) for field in ("name", "model", "revision", "family")),
    ("options", f'{{"extra_body": {{"k": "{KEY}"}}}}', LOOKS),
]


def test_what_is_wrong_is_said_and_nothing_is_saved_or_repeats_a_key(sent):
    for field, value, sentence in WRONG:
        for others in ({}, {"price_output": "-1"}):
            response = sent(**{field: value}, **others)
            text = response.content.decode()
            assert response.status_code == 200 and sentence in text and "a1B2" not in text, (field, value)
            assert response.context["form"].errors[field]
    wrong = {"name": "two words", "base_url": "ftp://a.example/", "options": '{"top_p": 1}', "timeout_seconds": "86401"}
    response = sent(**wrong, price_input="-1")
    assert set(response.context["form"].errors) == {*wrong, "price_input"}, "all that is wrong is said at once"
    assert "A number from 1 to 86,400 is expected." in response.content.decode()
    assert not Endpoint.objects.exists()


def test_a_used_model_stays_and_an_unused_one_is_deleted(admin, page, cast, make_endpoint, make_call, start):
    used = {name: make_endpoint(name=name) for name in ("call", "item", "prefill", "run")}
    make_call(used["call"])
    job = start(used["item"], ["a"])
    Prefill.objects.create(project=cast.project, job=job, endpoint=used["prefill"], level=3, prompt="p")
    versions = {"version": 1, "digest": "0" * 64, "schema_version": "1", "rule_version": "1"}
    dataset = Dataset.objects.create(project=cast.project, **versions, stories_count=0, propositions_count=0)
    judging = {"dataset": dataset, "judge": used["run"], "steps": ["judge"], "level": 1, "answer_format": "text"}
    Run.objects.create(project=cast.project, job=Job.objects.create(handler="benchmark", title="Run"), **judging)
    for name in used:
        assert "It has been used" in page("workers:endpoint", name)
        response = admin.post(reverse("workers:endpoint", args=[name]), {"delete": "1"}, follow=True)
        assert f"{name} has been used, so it stays" in response.content.decode()
        assert Endpoint.objects.filter(name=name).exists()
    make_endpoint("openai", name="small")
    assert "data-confirm" in page("workers:endpoint", "small")
    response = admin.post(reverse("workers:endpoint", args=["small"]), {"delete": "1"})
    assert (response.status_code, response["Location"]) == (302, reverse("workers:endpoints"))
    assert not Endpoint.objects.filter(name="small").exists()
    assert not EndpointRateLimit.objects.filter(endpoint__name="small").exists()


# --- the command; what it refuses, the page and the API refuse too


def add(name: str = "small", *options: str, provider: str = "openai", model: str = "small-1") -> None:
    call_command("add_endpoint", name, f"--provider={provider}", f"--model={model}", *options)


def refused(*options: str, **more: str) -> str:
    with pytest.raises(CommandError) as caught:
        add("small", *options, **more)
    assert not Endpoint.objects.filter(model="small-1").exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_provider_without_an_address_of_its_own_is_given_one(admin):
    told = "It has no address: say where its server answers."
    assert refused(provider="vllm") == f"base_url: {told}"
    typed = {"name": "small", "provider": "vllm", "model": "small-1", "active": "on"}
    page = admin.post(reverse("workers:new_endpoint"), typed)
    assert page.status_code == 200 and page.context["form"].errors["base_url"] == [told]
    sent = admin.post("/api/v1/endpoints/", typed | {"active": True}, "application/json")
    assert sent.status_code == 422 and sent.json()["error"]["fields"]["base_url"] == [told]
    assert not Endpoint.objects.exists()
    before = Endpoint.objects.create(name="before", provider="vllm", model="m")
    save_endpoint(by="", endpoint=before, values={"active": False})  # can still be switched off
    with pytest.raises(ValidationError, match=told):
        save_endpoint(by="", endpoint=before, values={"active": True})


def test_everything_can_be_said_and_providers_have_their_own_defaults():
    add(
        "box", "--base-url=http://gpu-box:8000/v1", "--api-key-env=BOX_KEY", "--family=Tiny", "--revision=main",
        '--options={"reasoning_effort": "low"}', "--price-input=0.15", "--price-cached=0.075", "--price-output=0.6",
        "--price-batch=0.5", "--max-concurrency=64", "--requests-per-minute=500", "--timeout-seconds=30",
        "--sets-temperature=no", "--json-schema=yes", "--batches=no", "--context-tokens=8192",
    )  # fmt: skip
    made = Endpoint.objects.get()
    where = (made.base_url, made.api_key_env, made.family, made.revision)
    assert where == ("http://gpu-box:8000/v1", "BOX_KEY", "Tiny", "main")
    assert (made.options, made.sets_temperature, made.batches) == ({"reasoning_effort": "low"}, False, False)
    prices = [made.price_input, made.price_cached, made.price_output]
    assert prices == [Decimal("0.15"), Decimal("0.075"), Decimal("0.6")]
    assert (made.most, made.timeout_seconds, made.context_tokens) == (500 / 60, 30, 8192)
    add("box", "--update", "--price-output=unknown")
    made = Endpoint.objects.get()
    assert (made.price_input, made.price_output, made.prices.are_known) == (Decimal("0.15"), None, False)
    made.delete()
    for provider in ("openai", "anthropic", "vllm-engine"):
        add(provider, provider=provider)
    rows = Endpoint.objects.order_by("name").values_list("name", "sets_temperature", "batches", "max_concurrency")
    assert list(rows) == [("anthropic", False, True, 16), ("openai", True, True, 16), ("vllm-engine", True, False, 512)]
    # the samples need nothing and are made once
    Endpoint.objects.all().delete()
    add_samples()
    add_samples()
    names = list(Endpoint.objects.values_list("name", flat=True))
    assert names == ["first-option", "lexical-judge", "majority", "omniscient", "random", "scripted", "tracker"]


NUMBERS = """
    price-input=-1 price-cached=-0.5 price-output=-1 price-batch=-1 price-input=NaN price-input=cheap price-input=1e2
    price-batch=1_0 max-concurrency=0 timeout-seconds=0 max-attempts=-1
    timeout-seconds=86401 retry-after-cap=86401 max-attempts=101 repeat-unknown=101 max-concurrency=10001
    requests-per-minute=10000001 tokens-per-minute=2000000001 context-tokens=100000001 price-output=100001
    price-batch=1.001
"""
"""That cannot be; of those with a highest value one more than it."""
FINITE = "options: NaN and Infinity are not valid JSON."
STORED = "options: NUL characters and halves of surrogate pairs cannot be stored."
OPTIONS = [
    ("[1]", "openai", "options: A JSON object is expected."),
    ("{", "openai", "JSON is expected, such as"),
    ('{"a": 1, "a": 2}', "openai", "occurs twice in one object"),
    ("[" * 100_000, "openai", "nested too deeply"),
    ('{"a": NaN}', "openai", FINITE),
    ('{"a": 1e999}', "openai", FINITE),
    ('{"a": "\\ud800"}', "openai", STORED),
    ('{"a": "\\u0000"}', "openai", STORED),
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


def test_numbers_and_options_that_cannot_be():
    for number in NUMBERS.split():
        assert refused(f"--{number}").startswith(f"{number.partition('=')[0].replace('-', '_')}: "), number
    for options, provider, sentence in OPTIONS:
        model = "lexical-judge" if provider == "baseline" else "small-1"
        assert sentence in refused(f"--options={options}", provider=provider, model=model)
    add("one", r'--options={"extra_body": {"stop": "\\u0000"}}')  # a text may write of what no text may hold
    assert Endpoint.objects.get().options == {"extra_body": {"stop": r"\u0000"}}


SECRET = "sk-ant-a1B2c3D4e5F6g7H8"


def test_a_key_is_named_by_its_variable_refused_anywhere_else_and_not_repeated(capsys):
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
    for option in (
        f"--family={SECRET}",
        f"--revision={SECRET}",
        f"--base-url=http://{SECRET}@models.example/v1",
        f"--base-url=http://models.example/v1?key={SECRET}",
        f"--base-url=http://models.example/{SECRET}/v1",
        "--options=" + json.dumps({"extra_body": {"deep": [{"key": SECRET}]}}),
        "--options=" + json.dumps({SECRET: 1}),
    ):
        refusal, field = refused(option), option[2:].partition("=")[0].replace("-", "_")
        assert refusal.startswith(f"{field}: This looks like a key.") and "a1B2" not in refusal
    for name, model in ((SECRET, "m"), ("small", SECRET)):
        with pytest.raises(CommandError, match="This looks like a key") as caught:
            add(name, model=model, provider="baseline")
        assert "a1B2" not in str(caught.value)
    assert not Endpoint.objects.exists() and "a1B2c3D4" not in "".join(capsys.readouterr())
    for variable in ("OPENAI_API_KEY", "MY_KEY", "HF_TOKEN"):
        add(variable, f"--api-key-env={variable}")
        assert Endpoint.objects.get(name=variable).api_key_env == variable


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
    for field in ("model", "revision", "family"):  # what is one line to the API is one to all
        given = {"provider": "openai", "model": "m"} | {field: "a\tb"}
        with pytest.raises(ValidationError) as caught:
            save_endpoint(by="", values={"name": "new", **given})
        told = ["One line is expected, without tabs and other control characters."]
        assert caught.value.message_dict == {field: told}
        before = Endpoint.objects.create(name=f"old-{field}", **given)
        save_endpoint(by="", endpoint=before, values={"active": False})


def test_an_update_changes_what_is_given_and_leaves_the_rest(make_call):
    kept = ["--base-url=http://gpu-box/v1", "--api-key-env=SMALL_KEY", "--options={}", "--batches=no"]
    add("small", *kept, "--price-input=1")
    for update in (add, lambda *options: call_command("add_endpoint", *options)):  # with provider and model, or without
        update("small", "--update", "--price-input=2")
        endpoint = Endpoint.objects.get()
        assert (endpoint.provider, endpoint.model, endpoint.price_input) == ("openai", "small-1", 2)
        assert (endpoint.base_url, endpoint.api_key_env) == ("http://gpu-box/v1", "SMALL_KEY")
        assert not endpoint.batches
        Endpoint.objects.update(price_input=1)
    make_call(endpoint)
    with pytest.raises(CommandError, match="has answered already"):
        add("small", "--update", model="another")
    add("small", "--update", "--max-concurrency=3")
    assert Endpoint.objects.get().max_concurrency == 3


def test_an_address_that_is_refused(settings):
    metadata = "A link-local or metadata address is not a model server."
    scheme = "An address that begins with http:// or https:// is expected."
    wrong = ["file:///etc/passwd", "ftp://models.example/", "javascript:alert(1)", "models.example", "http://"]
    wrong += ["http://models.example:99999/", "http://[::1", "http://a b/", "http://models.example/\nx"]
    for url in wrong:
        assert refused(f"--base-url={url}") == f"base_url: {scheme}"
    hosts = ("169.254.169.254", "2852039166", "0xa9fea9fe", "[fe80::1]", "[::ffff:169.254.169.254]", "[fd00:ec2::254]")
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
