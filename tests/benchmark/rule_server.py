"""A local server that speaks as much of chat completions as is asked, and answers by a function, in this process."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.servers.threads import serving


@contextmanager
def answering(answer: Callable[[dict[str, Any]], str]) -> Iterator[str]:
    """Serve `answer(body)` to every request, and yield the address for an endpoint."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            choice = {"index": 0, "message": {"role": "assistant", "content": answer(body)}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            told = {"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}
            sent = json.dumps(told).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

    with serving(Handler) as address:
        yield f"{address}/v1"
