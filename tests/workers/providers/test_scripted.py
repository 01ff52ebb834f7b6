import asyncio
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.providers import errors
from workers.providers.contract import Message, Request, Spec, Stop
from workers.providers.scripted.backend import FAILURES, FUNCTIONS, ScriptedBackend, instance

SCHEMA = {
    "type": "object",
    "properties": {
        "truth": {"enum": ["True", "False"]},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}, "minItems": 2},
        "pair": {"type": "array", "prefixItems": [{"const": 7}, {"type": "boolean"}]},
        "count": {"type": "integer", "minimum": 3},
        "why": {"type": "string"},
    },
    "$defs": {"row": {"type": "object", "properties": {"id": {"type": "string"}}}},
}


def scripted(**options) -> ScriptedBackend:
    return ScriptedBackend(Spec("scripted", "tiny", options=options))


def ask(backend: ScriptedBackend, prompt: str = "Who knows?", *, timeout: float = 5, call: str = "c", **fields):
    body = backend.body(Request((Message("system", "s"), Message("user", prompt)), max_tokens=10, **fields))
    return asyncio.run(backend.complete(body, timeout=timeout, call=call))


def test_the_first_rule_that_applies_to_the_last_message_answers():
    backend = scripted(script=[{"when": "moon", "text": "cheese"}, {"when": "mo", "text": "rock"}], default="air")
    assert [ask(backend, prompt).text for prompt in ("the moon", "more", "stars")] == ["cheese", "rock", "air"]
    assert backend.asked == 3
    backend = scripted(script=[{"text": "once", "times": 1}, {"text": "twice", "times": 2}])
    assert [ask(backend).text for _ in range(4)] == ["once", "twice", "twice", "A scripted answer."]
    assert ask(scripted(script=[{"when": "s", "text": "system"}], default="no"), "Wo?").text == "no"
    backend = scripted(script=[{"when": "a", "stop": "length", "text": "and"}, {"stop": "refusal", "text": "No."}])
    assert [ask(backend, prompt).stop for prompt in ("a", "b")] == [Stop.LENGTH, Stop.REFUSAL]
    assert json.loads(ask(scripted(), schema=SCHEMA).text)["why"] == "scripted", "without a script it fits the schema"
    # tokens are counted by four characters: "s" and 39 characters are 40, 10 in; "eight ch" has 8, 2 out
    usage = ask(scripted(default="eight ch"), "x" * 39).usage
    assert (usage.input, usage.output) == (10, 2)


def test_every_failure_of_the_tree_can_be_played():
    for name in FAILURES:
        with pytest.raises(FAILURES[name], match=f"^Scripted to fail: {name}.$") as caught:
            ask(scripted(script=[{"fail": name, "retry_after": 3}]))
        assert caught.value.retry_after == 3


def test_a_delay_is_waited_and_a_deadline_ends_it(monkeypatch):
    waits = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", wait)
    backend = scripted(script=[{"when": "rule", "delay": 20}, {"when": "hang", "delay": 60}], delay=30)
    for prompt in ("rule", "other"):
        ask(backend, prompt, timeout=40)
    with pytest.raises(errors.Lost, match=r"^No answer within 40 s.$"):
        ask(backend, "hang", timeout=40)
    assert waits == [20, 30, 40]  # of the rule, of the options, and until the deadline


def test_a_function_makes_the_answer_from_the_task(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "double", lambda body: str(2 * body["task"]["n"]))
    assert ask(scripted(function="double"), task={"n": 21}).text == "42"
    assert ask(scripted(function="double", script=[{"text": "rule"}]), task={"n": 21}).text == "rule"
    with pytest.raises(errors.Rejected, match=r"^No app registered the function 'nobody'.$"):
        ask(scripted(function="nobody"))


@given(st.text())
def test_without_a_script_the_answer_fits_the_schema_and_follows_the_question(digest):
    answer = instance(SCHEMA, digest)
    assert answer == instance(SCHEMA, digest) == json.loads(json.dumps(answer))
    assert answer["truth"] in ("True", "False") and len(answer["rows"]) == 2
    assert answer["pair"] == [7, False] and answer["count"] == 3 and answer["why"] == "scripted"
    assert instance({"enum": [5]}, digest) == 5
    assert len({instance({"enum": ["True", "False"]}, str(at)) for at in range(20)}) == 2


def test_the_log_has_a_line_for_every_call(tmp_path):
    path = tmp_path / "asked"
    backend = scripted(log=str(path), script=[{"when": "bad", "fail": "lost"}])
    ask(backend, call="one")
    with pytest.raises(errors.Lost):
        ask(backend, "bad", call="two")
    ask(backend, call="three")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["call"] for line in lines] == ["one", "two", "three"]
    assert lines[0]["sha"] == lines[2]["sha"] != lines[1]["sha"]


def test_files_lie_in_the_folder_of_scripts_and_nowhere_else(settings, tmp_path, monkeypatch):
    script = tmp_path / "mine.json"
    script.write_text('[{"text": "found"}]', "utf-8")
    for name in ("mine.json", str(script)):
        assert ask(scripted(script=name, log="logs/asked")).text == "found"
    assert len((tmp_path / "logs" / "asked").read_text().splitlines()) == 2
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "outside")
    monkeypatch.setenv("SCRIPTED_DIR", str(folder))
    sentence = r"^The files of scripted answers lie in the folder scripts of CREDENCE_VAR"
    for path in ("/etc/hostname", "../credence.sqlite3", "out/of/it/../../../../x", ".", "link", "a\0b"):
        for option in ("script", "log"):
            with pytest.raises(errors.Rejected, match=sentence):
                scripted(**{option: path})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "mine.json", "scripts"]
    monkeypatch.delenv("SCRIPTED_DIR")
    with pytest.raises(errors.Rejected, match="nowhere else"):
        scripted(log="asked")
    command = [sys.executable, "-c", "import config.settings, os; print(os.environ['SCRIPTED_DIR'])"]
    environment = os.environ | {"CREDENCE_VAR": str(tmp_path), "SCRIPTED_DIR": "/"}
    told = subprocess.check_output(command, cwd=settings.BASE_DIR, env=environment, text=True)
    assert told.strip() == str(folder), "the settings choose the folder"


def test_what_is_no_script_is_refused_in_one_sentence_when_it_is_read(tmp_path):
    path = tmp_path / "script.json"
    for content, sentence in [
        (None, "could not be read: [Errno 2] No such file or directory"),
        (b"{", "script.json, line 1, column 2: it is not JSON (Expecting property name"),
        (b"\xff", "script.json: byte 0 is not UTF-8; expected JSON in UTF-8."),
        (b'{"text": "a"}', "A script is a list of rules."),
    ]:
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(errors.Rejected) as caught:
            scripted(script=str(path))
        assert sentence in str(caught.value) and "\n" not in str(caught.value)
    for rule, sentence in [
        ("text", ": it is 'text'; expected an object with when, text, stop, delay, fail, times"),
        ({"fail": "sometimes"}, ", fail: it is 'sometimes'; expected one of rejected, forbidden"),
        ({"fail": []}, ", fail: it is a list; expected one of rejected, forbidden"),
        ({"stop": "never"}, ", stop: it is 'never'; expected one of end, length, refusal, filter, other."),
        ({"delay": "long"}, ", delay: it is 'long'; expected a number of seconds."),
        ({"text": 5}, ", text: it is 5; expected a text."),
        ({"wehn": "a"}, ": there is no field 'wehn'; expected only when, text, stop"),
    ]:
        with pytest.raises(errors.Rejected) as caught:
            scripted(script=[{"text": "fine"}, rule])
        assert str(caught.value).startswith(f"Rule 2 of the script{sentence}")
    for delay in ("long", -1, True):
        with pytest.raises(errors.Rejected, match=r"^The option delay is a number of seconds.$"):
            scripted(delay=delay)
