"""The page on loopback: nothing without the token, nothing for other hosts and origins, and decisions are events."""

import http.client
import json
import queue
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eventlog.app.ask.history import replay_at
from eventlog.app.page.deeds import DEEDS
from eventlog.cli.page import page_server
from eventlog.cli.page.html import html_of
from eventlog.cli.page.page_server import PageServer
from tests.support.builders import fact
from tests.support.command_line import call, command, surroundings
from tests.support.repositories import git, repository
from tests.support.use_cases import by_path, opened

VIEWS = ("/", "/page.json", "/memory.json", "/sessions.json", "/told.json", "/why.json", "/state.json")
SECRET_WORD = "pemmican"
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
BROWSER = """
import re, sys, urllib.request
from pathlib import Path

[url] = re.findall('url=(.*)"', Path(sys.argv[1].removeprefix("file://")).read_text())
urllib.request.urlopen(url, timeout=60).read()
print("loaded", flush=True)
"""


@pytest.fixture
def store(log):
    log.append_many([fact(1, content=f"Lunch is {SECRET_WORD}"), fact(2, content="Tea at five")])
    return opened(log)


@pytest.fixture
def server(store):
    with PageServer(lambda: store) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(server, path, method="GET", body=None, *, token=True, **headers):
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=120)
    token = server.token if token is True else token
    path = f"{path}{'&' if '?' in path else '?'}token={token}" if token else path
    sent = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(
        method, path, body, {**sent, **{name.replace("_", "-"): value for name, value in headers.items()}}
    )
    answer = connection.getresponse()
    data = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, data


@pytest.mark.parametrize("path", VIEWS)
def test_every_view_answers_with_the_token_and_headers_that_keep_it_private(server, path):
    status, headers, body = ask(server, path if path != "/why.json" else "/why.json?line=MEMORY.md")

    assert status == (200 if path != "/why.json" else 400)  # nothing was replayed into the store
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert body


@pytest.mark.slow
def test_many_who_ask_at_once_are_given_the_page_that_was_built_for_the_first(server, monkeypatch):
    built: list[object] = []

    def build(page, **live):
        built.append(page)
        return html_of(page, **live)

    monkeypatch.setattr(page_server, "html_of", build)
    with ThreadPoolExecutor(80) as browsers:
        answers = {answer[::2] for answer in browsers.map(lambda _: ask(server, "/"), range(80))}

    assert 1 == len(built) == len(answers)


@pytest.mark.slow
@pytest.mark.parametrize("path", [*VIEWS, "/nothing"])
@pytest.mark.parametrize("token", ["", "x", "wrong" * 9])
def test_without_the_token_nothing_is_readable(server, path, token):
    status, _, body = ask(server, path, token=token)

    assert status == 403
    assert SECRET_WORD not in body
    assert server.token not in body


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
    ],
)
def test_other_hosts_and_origins_are_refused_with_the_token(server, store, headers):
    status, _, body = ask(server, "/undo", "POST", "{}", **headers)

    assert status == 403
    assert SECRET_WORD not in body
    assert len(list(store.log.read())) == 2


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_other_methods_are_refused(server, method):
    status, headers, body = ask(server, "/", method)

    assert status == 501
    assert SECRET_WORD not in body
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1 and more\r\n\r\n", b"400"),
        (b"GET /%s HTTP/1.1\r\n\r\n" % (b"x" * 70_000), b"414"),
        (b"GET / HTTP/1.1\r\nA: %s\r\n\r\n" % (b"x" * 70_000), b"431"),
        (b"BREW /<b>tea</b> HTTP/1.1\r\n\r\n", b"501"),
    ],
)
def test_what_is_no_request_is_answered_as_private_as_any(server, sent, status):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=120) as client:
        client.sendall(sent)
        head, body = client.makefile("rb").read().split(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 " + status)
    assert all(f"{name}: {value}".encode() in head for name, value in page_server._HEADERS.items())
    assert b"<" not in body


def test_a_get_changes_nothing(server, store):
    assert ask(server, "/forget?target=Tea%20at%20five")[0] == 404
    assert len(list(store.log.read())) == 2


def test_to_forget_here_is_to_forget_there(server, store):
    event = next(store.log.read())
    status, _, body = ask(server, "/forget", "POST", json.dumps({"target": event.id}))
    done = json.loads(body)

    assert (status, done["status"], done["events"][0]["type"]) == (200, "ok", "rejected")
    assert SECRET_WORD not in by_path(replay_at(store))["MEMORY.md"].data.decode()

    status, _, _ = ask(server, "/undo", "POST", json.dumps({"target": done["events"][0]["id"]}))

    assert status == 200
    assert SECRET_WORD in by_path(replay_at(store))["MEMORY.md"].data.decode()


def test_a_form_is_understood_as_well(server, store):
    status, _, _ = ask(
        server, "/forget", "POST", "target=Tea+at+five", Content_Type="application/x-www-form-urlencoded"
    )

    assert status == 200
    assert "Tea" not in by_path(replay_at(store))["MEMORY.md"].data.decode()


@pytest.mark.slow
def test_a_decision_is_shared_by_its_id_and_its_file_is_named(server, store, tmp_path):
    checkout = repository(tmp_path / "shop")
    git(checkout, "config", "user.name", "Ada")
    event = store.log.append(fact(3, content="Prices are integers in cents", project=str(checkout)))
    status, _, body = ask(server, "/share", "POST", json.dumps({"target": event.id, "content": "Floats lost a cent"}))
    done = json.loads(body)

    assert (status, done["events"][0]["id"]) == (200, event.id)
    assert [str(path) for path in (checkout / ".eventlog/team").iterdir()] == done["files"]
    assert ask(server, "/share", "POST", json.dumps({"target": event.id}), token="x")[0] == 403


@pytest.mark.parametrize("path", ["//[", "/why.json?line=MEMORY.md%00", f"/why.json?line=MEMORY.md:{'9' * 5000}"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_address_breaks_off_the_answer(server, path, method, capfd):
    assert ask(server, path, method, "{}")[0] in (400, 404)
    assert capfd.readouterr().err == ""


def test_a_failure_of_ours_is_answered_and_noted(server, store, monkeypatch, capfd):
    monkeypatch.setattr(page_server, "page_of", lambda *_, **__: 1 // 0)

    assert ask(server, "/")[0] == 500
    assert capfd.readouterr().err == ""
    assert "ZeroDivisionError" in Path(store.store.cached("hook-errors.log")).read_text()


@pytest.mark.parametrize("body", ["", "[]", "{", "[" * 30_000, '{"target": "nobody has said this"}', "x" * 100_000])
def test_a_wrong_request_is_answered_in_words_and_changes_nothing(server, store, body):
    status, _, answer = ask(server, "/forget", "POST", body)

    assert status == 400
    assert json.loads(answer)["error"]
    assert len(list(store.log.read())) == 2


@pytest.mark.parametrize("deed", DEEDS)
def test_half_a_character_is_answered_by_every_deed(server, deed, capfd):
    request = {"target": "\ud800", "choice": "edited", "content": "\udfff"}

    assert ask(server, f"/{deed}", "POST", json.dumps(request))[0] == 400
    assert capfd.readouterr().err == ""


def test_a_decision_that_breaks_off_changes_nothing(server, store):
    sent = f"target={next(store.log.read()).id}&content=Lunch is pem"
    head = f"POST /edit?token={server.token} HTTP/1.1\r\nHost: {server.host}\r\nContent-Length: {len(sent) + 5}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as client:
        client.sendall(f"{head}{sent}".encode())
        client.shutdown(socket.SHUT_WR)
        answer = client.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert len(list(store.log.read())) == 2


@pytest.mark.parametrize(
    ("start", "length", "status"),
    [
        ("POST /forget", "Content-Length: 18\r\nTransfer-Encoding: chunked", b"400"),
        ("POST /forget", "Content-Length: 18\r\nContent-Length: 9", b"400"),
        ("GET /state.json", "Content-Length: 9", b"200"),
        ("HEAD /state.json", "Transfer-Encoding: chunked", b"200"),
    ],
)
def test_a_body_is_never_read_as_the_next_request(server, store, start, length, status):
    body = "target=Tea+at+five"
    ask_for = f"?token={server.token} HTTP/1.1\r\nHost: {server.host}\r\n"
    second = f"POST /forget{ask_for}Content-Length: {len(body)}\r\n\r\n{body}"
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=120) as client:
        client.sendall(f"{start}{ask_for}{length}\r\n\r\n{second if start[0] != 'P' else body}".encode())
        answers = re.findall(rb"HTTP/1\.1 (\d+)", client.makefile("rb").read())

    assert answers == [status]
    assert len(list(store.log.read())) == 2


def test_loaded_again_it_is_the_log_of_now(server, store):
    before = json.loads(ask(server, "/state.json")[2])
    assert "Biscuits" not in ask(server, "/")[2]

    store.log.append(fact(3, content="Biscuits at six"))

    assert json.loads(ask(server, "/state.json")[2]) != before
    assert "Biscuits" in ask(server, "/")[2]
    assert "Biscuits" in ask(server, "/memory.json")[2]


def test_the_token_is_long_and_new_at_each_start(store):
    with PageServer(lambda: store) as one, PageServer(lambda: store) as other:
        assert one.token != other.token
        assert len(one.token) * 6 >= 128
        assert one.socket.getsockname()[0] == "127.0.0.1"


def test_why_is_answered_for_a_line_of_the_store_whatever_lies_here(server, store, tmp_path, monkeypatch):
    call("replay", "--store", store.store.root)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "MEMORY.md").write_text("my own\n" * 9)
    _, _, body = ask(server, "/why.json?line=MEMORY.md:5")

    [line] = json.loads(body)
    assert line["line"] == 5
    assert line["events"][0]["content"] in line["text"]


def serving(store, *arguments, **environ):
    return subprocess.Popen(
        command("serve", *arguments, "--store", store.store.root),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=surroundings(**environ),
        preexec_fn=lambda: [signal.signal(end, signal.SIG_DFL) for end in ENDS],  # noqa: PLW1509 - a job may ignore them
    )


class TestTheVerb:
    @pytest.fixture
    def running(self, store):
        started = serving(store, "--no-open")
        yield started
        started.kill()
        started.communicate()

    @pytest.mark.slow
    def test_prints_the_address_and_ends_by_ctrl_c(self, running):
        url = running.stdout.readline().decode().strip()
        [(port, token)] = re.findall(r"^http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)$", url)
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=120)
        connection.request("GET", f"/?token={token}")

        assert SECRET_WORD in connection.getresponse().read().decode()
        connection.close()

        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=120)

        assert (running.returncode, errors) == (0, b"")

    @pytest.mark.slow
    def test_keeps_the_token_off_the_command_line(self, running):
        token = running.stdout.readline().decode().strip().partition("token=")[2]

        assert token
        assert token.encode() not in Path(f"/proc/{running.pid}/cmdline").read_bytes()

    @pytest.mark.slow
    @pytest.mark.parametrize("end", ENDS)
    def test_a_browser_that_stays_loads_the_page_and_its_file_is_removed_in_the_end(self, store, tmp_path, end):
        browser = tmp_path / "browser.py"
        browser.write_text(BROWSER)
        with serving(store, BROWSER=f"{sys.executable} {browser} %s") as running:
            running.stdout.readline()
            loaded = running.stdout.readline()
            files = list(Path(store.store.cached("serve")).iterdir())
            running.send_signal(end)

        assert (loaded, running.returncode) == (b"loaded\n", 0)
        assert len(files) == 1
        assert list(Path(store.store.cached("serve")).iterdir()) == []


def test_a_port_that_is_taken_is_an_error_that_says_what_to_do(server, store):
    ran = call("serve", "--no-open", "--port", str(server.server_port), "--store", store.store.root)

    assert ran.code == 3
    assert "another program listens on this port\n  name another one" in ran.err


def test_the_browser_gets_the_address_through_a_private_file(store, monkeypatch):
    from eventlog.cli.verbs.ask import page as verb

    seen: queue.Queue[tuple[int, str, str]] = queue.Queue()

    def look(address):
        path = Path(address.removeprefix("file://"))
        seen.put((stat.S_IMODE(path.stat().st_mode), path.read_text(), address))

    monkeypatch.setattr("webbrowser.open", look)
    with PageServer(lambda: store) as server:
        verb._open_browser(server, store.store.cached("serve", "1.html"))

    mode, text, address = seen.get(timeout=120)
    assert mode == 0o600
    assert server.url in text
    assert server.token not in address
