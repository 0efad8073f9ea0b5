"""Knowledge bases behind an address, against a real server."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest import mock

import pytest

from eventlog.app.build import apply as module
from eventlog.app.build import storage
from eventlog.app.write.plan import plan
from eventlog.settings.schema import KnowledgeBase, Settings
from tests.support.use_cases import apply

httpx = pytest.importorskip("httpx", reason="the extra `url` is not installed")


class Server(ThreadingHTTPServer):
    """One file with a version; `meanwhile` is what others write between a GET and the PUT after it."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.data = None
        self.meanwhile = []
        self.status = {}
        self.etags = True
        self.puts = []

    @property
    def etag(self):
        return f'"{hashlib.sha256(self.data).hexdigest()}"' if self.data is not None else None


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_):
        pass

    def do_GET(self):
        status = self.server.status.get("GET", 200 if self.server.data is not None else 404)
        self._answer(status, self.server.data if status == 200 else b"", {"ETag": self.server.etag})
        if self.server.meanwhile:
            self.server.data = self.server.meanwhile.pop(0)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.puts.append((self.headers.get("If-Match"), self.headers.get("If-None-Match")))
        fits = self.headers.get("If-Match") == self.server.etag or (
            self.server.data is None and self.headers.get("If-None-Match") == "*"
        )
        status = self.server.status.get("PUT", 204 if fits else 412)
        if status == 204:
            self.server.data = body
        self._answer(status)

    def _answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            if value and self.server.etags:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)) if status != 204 else "0")
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def server():
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join(5)


@pytest.fixture
def settings(server):
    return Settings(
        knowledge_bases={"wiki": KnowledgeBase(url=address(server), on_people_text="replace")},
        session_bootstrap=["wiki"],
    )


def address(server):
    return f"http://127.0.0.1:{server.server_port}/wiki.md"


def planned(log, content="new"):
    log.append(
        {"type": "plan_entry", "conversation_id": "s", "content": content, "key": {"path": "wiki", "heading": "S"}}
    )


@pytest.mark.slow
def test_the_section_alone_changes_and_the_version_is_the_condition(log, server, settings):
    server.data = b"# T\r\n\r\n## S\r\n\r\nold\r\n"
    before = server.etag
    planned(log)
    done = apply(log, settings)
    again = apply(log, settings)

    assert server.data == b"# T\r\n\r\n## S\r\n\r\nnew\r\n"
    assert ([(before, None)], 1, []) == (server.puts, len(done.applied), again.applied)


def test_a_file_that_is_not_there_is_created_unless_someone_was_first(log, server, settings):
    planned(log)
    apply(log, settings)

    assert ([(None, "*")], b"## S\n\nnew\n") == (server.puts, server.data)


def test_the_address_itself_names_the_base_where_it_is_configured(log, server, settings):
    log.append(
        {"type": "plan_entry", "conversation_id": "s", "content": "x", "key": {"url": address(server), "heading": "S"}}
    )
    apply(log, settings)

    assert server.data == b"## S\n\nx\n"


def test_someone_elses_change_of_another_section_is_kept(log, server, settings):
    server.data = b"## S\n\nold\n"
    server.meanwhile = [b"## S\n\nold\n\n## T\n\ntheirs\n"]
    planned(log)
    apply(log, settings)

    assert server.data == b"## S\n\nnew\n\n## T\n\ntheirs\n"


def test_someone_elses_change_of_the_section_is_a_conflict_like_any_other(log, server, settings):
    keep = Settings(knowledge_bases={"wiki": KnowledgeBase(url=address(server))}, session_bootstrap=["wiki"])
    planned(log)
    apply(log, keep)
    server.meanwhile = [b"## S\n\ntheirs\n"]
    planned(log, "newer")
    done = apply(log, keep)

    assert server.data == b"## S\n\ntheirs\n"
    assert ["would remove 1 line you wrote: theirs"] == [one.reason for one in done.staged]
    assert [one.content for one in log.read() if one.type == "knowledge_edited"][-1] == "theirs"


def test_a_server_that_refuses_every_write_leaves_the_entry_pending(log, server, settings, monkeypatch):
    monkeypatch.setattr(module, "_FIRST_WAIT", 0.01)
    server.data = b""
    server.status = {"PUT": 412}
    planned(log)
    [(file, reason)] = apply(log, settings).pending

    assert (address(server), 3) == (file, len(server.puts))
    assert "(412), 3 times; the entries stay pending" in reason


@pytest.mark.parametrize(
    ("status", "said"),
    [({"GET": 500}, "answers 500 to GET"), ({"PUT": 403}, "answers 403 to PUT"), ({"GET": 302}, "answers 302 to GET")],
)
def test_what_the_server_refuses_is_staged_with_its_answer(log, server, settings, status, said):
    server.data, server.status = b"", status
    planned(log)

    assert said in apply(log, settings).staged[0].reason


def test_a_server_without_versions_is_never_written(log, server, settings):
    server.data, server.etags = b"", False
    planned(log)

    assert "no version" in apply(log, settings).staged[0].reason
    assert server.puts == []


def test_a_server_that_is_away_leaves_the_entry_pending(log, server, settings):
    planned(log)
    server.server_close()
    server.shutdown()

    assert "cannot be reached" in apply(log, settings).pending[0][1]


def test_whom_the_system_trusts_is_loaded_once_for_all_addresses(server, monkeypatch):
    loading = mock.Mock(wraps=httpx.create_ssl_context)
    monkeypatch.setattr(httpx, "create_ssl_context", loading)
    storage._certificates.cache_clear()

    for _ in range(3):
        storage._RemoteFile(address(server)).read()

    assert loading.call_count == 1


def test_without_httpx_it_is_said_what_to_install(log, settings, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "httpx", None)
    planned(log)

    assert "httpx is needed for this, and not installed" in apply(log, settings).staged[0].reason


def test_by_default_no_address_is_a_knowledge_base(log):
    with pytest.raises(Exception, match="not a knowledge base"):
        plan(log, {"url": "https://example.com/x.md", "heading": "S", "content": "x"}, session="s")


@pytest.mark.parametrize("url", ["http://example.com/x.md", "ftp://x/y", "file://host/x", "file:///a/../b"])
def test_an_address_that_is_not_safe_cannot_be_configured(url):
    with pytest.raises(ValueError, match="url: must start with"):
        KnowledgeBase(url=url)
