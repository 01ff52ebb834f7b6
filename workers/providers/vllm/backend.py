"""A vLLM server, asked through its OpenAI-compatible side.

`structured_outputs` constrains the answer: vLLM accepts the older guided fields and ignores them. Sampling settings are
always sent, because the server otherwise takes the model's own.
"""

from workers.providers.chat_completions import ChatBackend, body_of
from workers.providers.contract import Body, Request


class VllmBackend(ChatBackend):
    def body(self, request: Request) -> Body:
        body = body_of(self.spec, request)
        body.setdefault("temperature", 0.0)
        if body.pop("response_format", None):
            body["extra_body"] = body.get("extra_body", {}) | {"structured_outputs": {"json": request.schema}}
        return body
