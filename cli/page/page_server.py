"""Serve the page on loopback: the log as it is now, JSON beside every view, and what people decide, as events.

Nothing answers without the token, which is new at each start and reaches the browser through a file that only its
owner can read. Requests that another page could cause are refused by Host, Origin and method, whatever they carry.
"""

import contextlib
import hmac
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import msgspec

from eventlog.app.ask.why import reasons_behind
from eventlog.app.open_store import OpenStore
from eventlog.app.page.deeds import DEEDS
from eventlog.app.page.page_model import PageModel, page_of
from eventlog.app.page.timeline import Timelines
from eventlog.cli.page.html import html_of
from eventlog.fast import fastjson
from eventlog.format.codec import to_fields
from eventlog.format.errors import EventLogError, NotStored
from eventlog.format.ids import digest
from eventlog.format.text import encodable
from eventlog.hooks import error_log
from eventlog.store import Store
from eventlog.store.files import file_stamp
from eventlog.store.index_lookup import stamps_of

ADDRESS = "127.0.0.1"
_TOKEN = 32  # bytes
_LONGEST = 1 << 16  # bytes of a body
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",
}
_HTML, _JSON = "text/html; charset=utf-8", "application/json"


class PageServer(ThreadingHTTPServer):
    """The server of a store; `open_now` opens it as it is when it is called."""

    daemon_threads = True
    allow_reuse_address = False
    request_queue_size = 128  # connections; a browser that is refused waits a second before it tries again

    def __init__(self, open_now: Callable[[], OpenStore], port: int = 0) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.token = secrets.token_urlsafe(_TOKEN)
        self._open = open_now
        self._lock = threading.Lock()  # pages are built, and decisions carried out, by one thread at a time
        self._made: tuple[str, PageModel, str] | None = None
        self._timelines = Timelines()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over connections that a browser has cut; report anything else."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def _open_now(self) -> OpenStore:
        """Open the store without a working directory."""
        opened = self._open()  # a line of the page is of a file of the store, not of one beside the server
        return opened._replace(machine=opened.machine._replace(cwd=""))

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return f"http://{self.host}/?token={self.token}"

    @property
    def host(self) -> str:
        """The only host that requests may name."""
        return f"{ADDRESS}:{self.server_port}"

    @property
    def store(self) -> Store:
        """The store, where it is now."""
        return self._open_now().store

    def state(self) -> str:
        """Return what changes whenever the log or the settings do."""
        store = self.store
        return digest(repr((stamps_of(store.log), file_stamp(store.config))), 16).hex()

    def page(self) -> tuple[PageModel, str]:
        """Build the page, unless nothing has changed since it was built; return it with its HTML."""
        with self._lock:
            state = self.state()
            if self._made is None or self._made[0] != state:
                page = page_of(self._open_now(), timelines=self._timelines)
                self._made = state, page, html_of(page, live=state)
            return self._made[1:]

    def decide(self, deed: str, request: Mapping[str, str]) -> dict[str, Any]:
        """Execute a decision of a person; raises EventLogError."""
        with self._lock:
            events, files = DEEDS[deed](self._open_now(), request)
        return {"status": "ok", "events": [to_fields(event) for event in events], "files": list(files)}

    def why(self, place: str) -> list[dict[str, Any]]:
        """Explain `FILE:LINE` or a file; raises EventLogError."""
        with self._lock:
            found = reasons_behind(self._open_now(), place)
        return [
            {"line": line.number, "text": line.text, "events": [to_fields(entry.event) for entry in line.entries or ()]}
            for line in found
        ]


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version, sys_version = "eventlog", ""
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Answer with the page, or the JSON of a view."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:  # not to be the next request
            self.close_connection = True
        if not self._is_allowed():
            return
        path, fields = self._asked()
        self._attempt(lambda: self._found(path, fields))

    do_HEAD = do_GET  # noqa: N815 - `_answer` sends it no body

    def do_POST(self) -> None:
        """Execute a decision of a person."""
        deed = self._asked()[0].removeprefix("/")
        if not self._is_allowed():
            return
        if deed not in DEEDS:
            self._answer(HTTPStatus.NOT_FOUND, {"error": "no such address"})
            return
        try:
            request = self._body()
        except ValueError as error:
            self._answer(HTTPStatus.BAD_REQUEST, {"error": str(error)})
            return
        self._attempt(lambda: (self.server.decide(deed, request), _JSON))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the class has it
        """Print nothing: a line of a request would hold the token."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that the base class refuses (its method, a line too long, no HTTP) as we answer others."""
        del message, explain  # they repeat the request
        self.request_version = self.protocol_version  # of what is no HTTP: else the answer has no headers
        self._answer(HTTPStatus(code), {"error": HTTPStatus(code).phrase})

    def _asked(self) -> tuple[str, dict[str, str]]:
        path, _, query = self.path.partition("?")
        return path, {name: values[-1] for name, values in parse_qs(query).items()}

    def _is_allowed(self) -> bool:
        """Check Host, Origin and token; refuse the request where any is wrong."""
        host, origin = self.headers.get_all("Host", []), self.headers.get("Origin")
        token = self._asked()[1].get("token", "") or self.headers.get("X-Eventlog-Token", "")
        is_own = host == [self.server.host] and origin in (None, f"http://{self.server.host}")
        if self.command == "POST":
            is_own = is_own and self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        if is_own and hmac.compare_digest(token.encode(), self.server.token.encode()):
            return True
        self._answer(HTTPStatus.FORBIDDEN, {"error": "open the address that eventlog serve has printed"})
        return False

    def _found(self, path: str, fields: Mapping[str, str]) -> tuple[object, str] | None:
        if path == "/":
            return self.server.page()[1], _HTML
        if path == "/state.json":
            return {"state": self.server.state()}, _JSON
        if path == "/why.json":
            return self.server.why(fields.get("line", "MEMORY.md")), _JSON
        page, _ = self.server.page()
        views: dict[str, object] = {
            "/page.json": page,
            "/memory.json": {"days": page.days, "files": page.files, "events": page.events},
            "/sessions.json": page.sessions,
            "/told.json": page.receipts,
        }
        return (views[path], _JSON) if path in views else None

    def _attempt(self, answer: Callable[[], tuple[object, str] | None]) -> None:
        try:
            found = answer()
        except EventLogError as error:
            status = HTTPStatus.INTERNAL_SERVER_ERROR if isinstance(error, NotStored) else HTTPStatus.BAD_REQUEST
            self._answer(status, {"error": encodable(str(error)), "hint": encodable(error.hint)})
            return
        except Exception as error:  # noqa: BLE001 - every request gets an answer
            error_log.note(self.server.store, error, b"")
            failed = {"error": "the request failed", "hint": "eventlog doctor shows the error"}
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, failed)
            return
        if found is None:
            self._answer(HTTPStatus.NOT_FOUND, {"error": "no such address"})
        else:
            self._answer(HTTPStatus.OK, *found)

    def _body(self) -> dict[str, str]:
        """Read the fields of a request, as JSON or as a form has them; raises ValueError."""
        length = ",".join(self.headers.get_all("Content-Length", []))
        if "Transfer-Encoding" in self.headers or not length.isdecimal() or int(length) > _LONGEST:
            raise ValueError(f"a body of at most {_LONGEST:,} bytes is needed, with its length")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ValueError("the body breaks off")
        if self.headers.get_content_type() == _JSON:
            fields = fastjson.loads(body)
            if not isinstance(fields, dict):
                raise ValueError("the body is no JSON object")
            return {str(name): encodable(str(value)) for name, value in fields.items() if value is not None}
        return {name: values[-1] for name, values in parse_qs(body.decode(), keep_blank_values=True).items()}

    def _answer(self, status: HTTPStatus, content: object, kind: str = _JSON) -> None:
        data = content.encode() if isinstance(content, str) else msgspec.json.encode(content)
        if status is not HTTPStatus.OK:
            self.close_connection = True
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)
