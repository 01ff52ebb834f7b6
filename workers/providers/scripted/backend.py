"""Answers from a script instead of a model: for tests, and for users who try their set-up before it costs money.

Options: `script`, a list of rules or the path of a JSON file with one; `function`, the name of a registered function
that makes the answer from the body; `delay` in seconds; `log`, a file that gets one line for every call that was
answered or begun. Files lie in one folder alone (SCRIPTED_DIR, which the settings choose), and paths count from there.
A rule is tried in order: `when` (a part of the last message, absent: always), `text`, `stop` (end, length, refusal),
`delay`, `fail` (a name of FAILURES), `times` (how often it applies), `retry_after`, `answered_by` and `fingerprint`
(what is said to have answered: by default the endpoint's model, and nothing). Without a matching rule the answer is
`default`, or an instance of the schema.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from core.digests import json_digest, text_digest
from core.incoming.misfit import Misfit
from core.incoming.shapes import Among, Expected, Shape, may_lack
from core.incoming.text import NotJson, json_of
from workers.providers import errors
from workers.providers.contract import Body, Completion, Request, Spec, Stop, Usage
from workers.providers.scripted.functions import FUNCTIONS

FAILURES: dict[str, type[errors.BackendError]] = {
    "rejected": errors.Rejected,
    "forbidden": errors.Forbidden,
    "quota": errors.OutOfQuota,
    "unknown-model": errors.UnknownModel,
    "wrong-address": errors.WrongAddress,
    "filtered": errors.Filtered,
    "throttled": errors.Throttled,
    "overloaded": errors.Overloaded,
    "unreachable": errors.Unreachable,
    "lost": errors.Lost,
    "unreadable": errors.Unreadable,
}


class ScriptedBackend:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.rules = rules_of(spec.options.get("script", []))
        self.log = own_file(spec.options["log"]) if spec.options.get("log") else None
        delay = spec.options.get("delay", 0)
        if isinstance(delay, bool) or not isinstance(delay, (int, float)) or not 0 <= delay < float("inf"):
            raise errors.Rejected("The option delay is a number of seconds.")
        self.asked = 0
        self._used: dict[int, int] = {}
        self._lock = threading.Lock()

    def body(self, request: Request) -> Body:
        return {
            "model": self.spec.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "schema": request.schema,
            "task": dict(request.task),
        }

    async def complete(self, body: Body, *, timeout: float, call: str) -> Completion:
        rule = self._rule(str(body["messages"][-1]["content"]) if body["messages"] else "")
        if self.log:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
            try:  # one write: whole after a kill -9
                os.write(descriptor, f"{json.dumps({'call': call, 'sha': _digest(body)})}\n".encode())
            finally:
                os.close(descriptor)
        delay = float(self.spec.options.get("delay", 0) if rule.delay is None else rule.delay)
        if delay > timeout:
            await asyncio.sleep(timeout)
            raise errors.Lost(f"No answer within {timeout:g} s.")
        if delay:
            await asyncio.sleep(delay)
        if rule.fail:
            raise FAILURES[rule.fail](f"Scripted to fail: {rule.fail}.", retry_after=rule.retry_after)
        text = self._answer(body) if rule.text is None else rule.text
        input_tokens = sum(len(str(message["content"])) for message in body["messages"]) // 4
        usage = Usage(input=input_tokens, output=len(text) // 4)
        model = rule.answered_by or self.spec.model
        return Completion(text=text, stop=Stop(rule.stop), usage=usage, model=model, fingerprint=rule.fingerprint)

    async def aclose(self) -> None:
        pass

    def _rule(self, prompt: str) -> Rule:
        with self._lock:
            self.asked += 1
            for at, rule in enumerate(self.rules):
                if rule.when in prompt and self._used.get(at, 0) < rule.times:
                    self._used[at] = self._used.get(at, 0) + 1
                    return rule
        return Rule()

    def _answer(self, body: Body) -> str:
        if name := self.spec.options.get("function"):
            if name not in FUNCTIONS:
                raise errors.Rejected(f"No app registered the function {name!r}.")
            return FUNCTIONS[name](body)
        if "default" in self.spec.options:
            return str(self.spec.options["default"])
        return json.dumps(instance(body["schema"], _digest(body))) if body["schema"] else "A scripted answer."


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False), Expected("a number of seconds")]
Times = Annotated[float, Field(ge=0, allow_inf_nan=False), Expected("a number")]
Ending = Annotated[str, Among([*Stop])]
Failure = Annotated[str, Among([*FAILURES])]


class Rule(Shape):
    """Fields of a rule; none of them must be there. Without a text the answer is that of no rule, without a delay the
    endpoint's is waited."""

    when: str = ""
    text: str = may_lack()
    stop: Ending = Stop.END
    delay: Seconds = may_lack()
    fail: Failure = ""
    times: Times = float("inf")
    retry_after: Seconds = may_lack()
    answered_by: str = ""
    fingerprint: str = ""


def rules_of(script: list[Any] | str) -> list[Rule]:
    """The rules of a script. Raises Rejected with a sentence where one cannot be read."""
    if isinstance(script, str):
        try:
            script = json_of(own_file(script).read_bytes())
        except OSError as error:
            raise errors.Rejected(f"The script {script} could not be read: {error}.") from error
        except NotJson as error:
            raise errors.Rejected(error.message_for(f"The script {script}")) from error
    if not isinstance(script, list):
        raise errors.Rejected("A script is a list of rules.")
    rules = []
    for at, rule in enumerate(script, 1):
        try:
            rules.append(Rule.of(rule))
        except Misfit as error:
            raise errors.Rejected(error.message_for(f"Rule {at} of the script")) from error
    return rules


def own_file(path: str) -> Path:
    """`path` in the folder of scripts and logs, links resolved. Raises Rejected where it leads anywhere else."""
    folder = Path(os.environ.get("SCRIPTED_DIR", "")).resolve()
    try:
        target = (folder / path).resolve()
        inside = bool(os.environ.get("SCRIPTED_DIR")) and target != folder and target.is_relative_to(folder)
    except (ValueError, OSError, RuntimeError):  # a NUL, links in a circle
        inside = False
    if not inside:
        raise errors.Rejected("The files of scripted answers lie in the folder scripts of CREDENCE_VAR, nowhere else.")
    return target


def instance(schema: Mapping[str, Any], digest: str, root: Mapping[str, Any] | None = None) -> Any:
    """A valid instance of a JSON schema, chosen by `digest`: the same for the same request."""
    root = root or schema
    if "$ref" in schema:
        return instance(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], digest, root)
    pick = int(text_digest(f"{digest}{json.dumps(schema, sort_keys=True)}")[:8], 16)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][pick % len(schema["enum"])]
    kind = schema.get("type")
    if kind == "object":
        return {name: instance(part, digest + name, root) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        if "prefixItems" in schema:
            return [instance(part, f"{digest}{at}", root) for at, part in enumerate(schema["prefixItems"])]
        return [instance(schema.get("items", {}), f"{digest}{at}", root) for at in range(schema.get("minItems", 1))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return False if kind == "boolean" else "scripted"


def _digest(body: Body) -> str:
    return json_digest(body, sort_keys=True, default=str)
