"""The model server: HTTP on the loopback, one dialect per address, every request kept."""

import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol, cast

from tests.realhosts.model import anthropic, chat, gemini, responses
from tests.realhosts.model.script import Answer, Refuse, Script
from tests.realhosts.model.talk import JSON, Talk

_SHELLS = {"Bash", "bash", "run_shell_command", "exec_command", "shell_command", "exec", "shell", "tool_search"}
_UNPACK: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "deflate": zlib.decompress}


class Dialect(Protocol):
    """A module that reads requests and writes answers; a list is a stream of events."""

    def read(self, body: JSON) -> Talk:
        """The conversation of a request."""

    def write(self, body: JSON, talk: Talk, answer: Answer, tokens: int) -> Any:
        """An answer that says to have used so many tokens."""


_DIALECTS: dict[str, Dialect] = {
    "/messages": anthropic,
    "/responses": responses,
    "/chat/completions": chat,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
}


class Call(NamedTuple):
    """One request a host made: when (`time.monotonic`), where, and the conversation it held."""

    at: float
    path: str
    talk: Talk

    @property
    def is_main(self) -> bool:
        """Tell a turn of the conversation from what hosts ask beside it: titles, routes, summaries."""
        return any(name in _SHELLS or "eventlog" in name for name in self.talk.tools)


class Model:
    """A running server; `script` decides what it says, `calls` is what it was asked."""

    def __init__(self) -> None:
        self.script = Script()
        self.tokens = 110  # what an answer says to have used: hosts compact by it
        self.calls: list[Call] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def main(self) -> list[Call]:
        """The turns of conversations, without what hosts ask beside them."""
        return [call for call in self.calls if call.is_main]

    def respond(self, path: str, body: JSON) -> Any:
        """The answer to a request: an object, a list of events to stream, or a refusal."""
        dialect = next((found for end, found in _DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:  # a count of tokens, or something we are not
            return {"input_tokens": self.tokens, "totalTokens": self.tokens}
        talk = dialect.read(body)
        self.calls.append(Call(time.monotonic(), path, talk))
        said = self.script.answer(talk)
        if isinstance(said, Refuse):
            return said
        answer = dialect.write(body, talk, said, self.tokens)
        return answer[0] if path.endswith(":generateContent") else answer  # there the address says what streams


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: Model


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        answer = cast("_Server", self.server).model.respond(self.path.partition("?")[0], self._body())
        if isinstance(answer, Refuse):
            told = {
                "code": 400,
                "type": "invalid_request_error",
                "status": "INVALID_ARGUMENT",
                "message": answer.message,
            }
            self._reply({"type": "error", "error": told}, 400)
        else:
            self._stream(answer) if isinstance(answer, list) else self._reply(answer)

    def do_GET(self) -> None:
        self._reply({"object": "list", "data": [{"id": "fake", "object": "model"}], "models": []})

    def do_HEAD(self) -> None:
        self._reply({})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet: the calls are kept."""

    def _body(self) -> JSON:
        chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        data = b"".join(self._chunks()) if chunked else self.rfile.read(self._length())
        data = _UNPACK.get(self.headers.get("content-encoding", ""), bytes)(data)
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _length(self) -> int:
        return int(self.headers.get("content-length") or 0)

    def _chunks(self) -> Iterable[bytes]:
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _reply(self, answer: JSON, status: int = 200) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: list[Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {data}\n\n".encode())
        self.close_connection = True
