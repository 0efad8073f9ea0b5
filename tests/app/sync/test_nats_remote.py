"""A stream as a remote: each file is a message, stored once and replaced as it was read; no server that may lose it."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from eventlog.app.sync import nats_remote
from eventlog.app.sync.nats_remote import NatsRemote
from eventlog.format.errors import BadRequest, NotStored, Offline, UntrustedRemote
from tests.support.relays import MISSING, Relay, call

pytestmark = pytest.mark.slow
streams = (f"R{number}" for number in itertools.count(1))


@pytest.fixture
def address(relay):
    return relay.address(next(streams))


@pytest.fixture
def own(tmp_path):
    """Start servers of this test only."""
    if MISSING:
        pytest.skip(MISSING)
    started: list[Relay] = []

    def start(**chosen):
        started.append(Relay(tmp_path / f"relay{len(started)}", **chosen))
        return started[-1]

    yield start
    for servers in started:
        servers.close()


def remote(address, **environ):
    return NatsRemote(address, "/nowhere/nats.creds", environ)


def name_of(address):
    return address.rpartition("/")[2].partition("?")[0]


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("nats://Relay.Example.org/MEMORY", "nats://relay.example.org:4222/MEMORY"),
        ("nats://a,b:5000/TEAM/ada/?monitor=80", "nats://a:4222,b:5000/TEAM/ada?monitor=80"),
        ("nats://a,b/M?monitor=80,81", "nats://a:4222,b:4222/M?monitor=80,81"),
        ("nats://[::1]/M", "nats://[::1]:4222/M"),
        ("nats://[::1]:5000/M", "nats://[::1]:5000/M"),
    ],
)
def test_an_address_is_written_in_full(text, full):
    assert full == NatsRemote.in_full(text) == NatsRemote.in_full(full)


@pytest.mark.parametrize(
    "text",
    ["nats://host", "nats:///M", "nats://host/a.b", "nats://host/M?x=1", "nats://a,b,c/M?monitor=1,2", "nats://"],
)
def test_what_is_no_address_says_the_form(text):
    with pytest.raises(BadRequest) as refused:
        NatsRemote.in_full(text)
    assert "nats://HOST" in refused.value.hint


def test_a_password_in_an_address_is_refused_and_not_printed():
    with pytest.raises(BadRequest) as refused:
        NatsRemote.in_full("nats://ada:sesame@host/M")
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize(
    ("environ", "login"),
    [
        ({}, {}),
        ({"NATS_USER": "ada", "NATS_PASSWORD": "x"}, {"user": "ada", "password": "x"}),
        ({"NATS_USER": "token"}, {"token": "token"}),
    ],
)
def test_the_environment_says_how_to_log_in(environ, login):
    assert login == nats_remote._login("/nowhere/nats.creds", environ)


def test_files_say_how_to_log_in_and_what_is_no_such_file_is_refused(tmp_path):
    creds, seed, other = (str(tmp_path / name) for name in ("nats.creds", "user.nk", "other"))
    Path(creds).write_text("-----BEGIN USER NKEY SEED-----")
    Path(seed).write_text("SUAM")
    Path(other).write_text("nonsense")

    assert {"user_credentials": creds} == nats_remote._login(creds, {})
    assert {"user_credentials": creds} == nats_remote._login("", {"NATS_CREDS": creds, "NATS_USER": "ada"})
    assert {"nkeys_seed": seed} == nats_remote._login(creds, {"NATS_NKEY": seed})
    for environ in ({"NATS_CREDS": other}, {"NATS_NKEY": other}, {"NATS_CREDS": f"{other}.gone"}):
        with pytest.raises(BadRequest, match="other"):
            nats_remote._login(creds, environ)


def test_without_the_package_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nats.errors", None)
    with pytest.raises(BadRequest) as refused:
        remote("nats://127.0.0.1:1/M").names()
    assert "agent-eventlog[nats]" in refused.value.hint


def test_files_come_back_as_they_were_written(address):
    one, other = remote(address), remote(address)
    files = {"a/1.age": b"\0\n\xff" * 100_000, "b": b"", "eventlog-sync.json": b"\n"}
    assert set() == one.names()
    assert one.publish(files, ())

    assert set(files) == other.names()
    assert files == dict(other.read(sorted(files)))
    assert {} == dict(other.read(["gone"]))


def test_a_stream_may_hold_several_memories_by_name(address):
    ada, eve = (remote(address.replace("?", f"/{name}?")) for name in ("ada", "eve"))
    for one in (ada, eve):
        one.names()
        assert one.publish({"a": one._text.encode()}, ())

    assert {"a"} == eve.names()
    assert b"/eve" in dict(eve.read(["a"]))["a"]


def test_of_two_that_replace_a_file_the_second_reads_again(address):
    one, other = remote(address), remote(address)
    one.names(), other.names()
    assert one.publish({"a": b"1"}, ())
    assert not other.publish({"a": b"2"}, ())
    for each in (one, other):
        each.names(), list(each.read(["a"]))
    assert other.publish({"a": b"2"}, ())
    assert not one.publish({"b": b"", "a": b"1"}, ())
    assert b"2" == dict(one.read(["a"]))["a"]


def test_nothing_stays_of_what_is_removed_or_replaced(relay, address):
    one = remote(address)
    one.names()
    one.publish({"a": bytes(200_000), "b": bytes(100_000), "c": b"x"}, ())
    one.names(), list(one.read(["b"]))
    assert one.publish({"b": b"short"}, ["a", "c"])

    assert {"b"} == one.names()
    info = call(relay, f"$JS.API.STREAM.INFO.{name_of(address)}", {"subjects_filter": ">"})
    assert [f"{name_of(address)}.b"] == list(info["state"]["subjects"])


@pytest.mark.parametrize("size", [1, 200_000])
def test_what_is_sent_again_because_no_answer_came_is_stored_once(relay, address, size, monkeypatch):
    nats = pytest.importorskip("nats")
    real, lost = nats.NATS.request, []

    async def request(self, subject, *args, **options):
        answer = await real(self, subject, *args, **options)
        if not subject.startswith("$JS") and subject not in lost:
            lost.append(subject)
            raise nats.errors.TimeoutError
        return answer

    monkeypatch.setattr(nats_remote, "_PAUSE", 0)
    monkeypatch.setattr(nats.NATS, "request", request)
    one = remote(address)
    one.names()
    assert one.publish({"a": bytes(size)}, ())

    assert lost
    assert {"a": bytes(size)} == dict(one.read(["a"]))
    assert len(lost) == call(relay, f"$JS.API.STREAM.INFO.{name_of(address)}", {})["state"]["last_seq"]


def test_a_stream_that_is_deleted_meanwhile_is_read_again(relay, address):
    one = remote(address)
    one.names()
    one.publish({"a": b"1"}, ())
    one.names()
    before = one.stream
    call(relay, f"$JS.API.STREAM.DELETE.{name_of(address)}", {})

    assert not one.publish({"b": b"2"}, ())
    assert (set(), "") == (one.names(), one.stream)
    assert {} == dict(one.read(["a"]))
    assert one.publish({"b": b"2"}, ())
    assert {"b"} == one.names()
    assert one.stream not in ("", before)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("storage", "memory"),
        ("max_age", 10**12),
        ("max_msgs_per_subject", 2),
        ("discard", "old"),
        ("retention", "interest"),
    ],
)
def test_a_stream_that_loses_messages_by_itself_is_refused(relay, address, key, value):
    name = name_of(address)
    wanted = {"name": name, "subjects": [f"{name}.>"], "storage": "file", "retention": "limits", "discard": "new"}
    call(relay, f"$JS.API.STREAM.CREATE.{name}", {**wanted, "max_msgs_per_subject": 1, key: value})

    with pytest.raises(UntrustedRemote, match=key) as refused:
        remote(address).names()
    assert json.dumps(nats_remote._WANTED[key]) in refused.value.hint


def test_a_stream_of_other_subjects_is_refused(relay, address):
    call(
        relay,
        f"$JS.API.STREAM.CREATE.{name_of(address)}",
        {"name": name_of(address), "subjects": [f"{name_of(address)}-orders"]},
    )
    with pytest.raises(UntrustedRemote, match="other subjects"):
        remote(address).names()


def test_a_stream_that_is_full_takes_nothing_and_says_so(relay, address):
    name = name_of(address)
    wanted = {"name": name, "subjects": [f"{name}.>"], "storage": "file", "discard": "new", "max_bytes": 1000}
    call(relay, f"$JS.API.STREAM.CREATE.{name}", {**wanted, "max_msgs_per_subject": 1})
    one = remote(address)
    one.names()
    with pytest.raises(NotStored, match="maximum bytes"):
        one.publish({"a": bytes(5000)}, ())


def test_a_server_that_does_not_sync_always_is_refused_before_anything_is_written(own):
    servers = own(sync="2m")
    one = remote(servers.address("M"))
    with pytest.raises(UntrustedRemote, match="does not sync always") as refused:
        one.names()
    assert "sync_interval: always" in refused.value.hint
    assert "error" in call(servers, "$JS.API.STREAM.INFO.M", {})


def test_a_server_without_jetstream_is_refused(own):
    servers = own(sync="")
    with pytest.raises(UntrustedRemote, match="runs no JetStream"):
        remote(servers.address("M")).names()


def test_servers_that_begin_meanwhile_are_asked_again(address, monkeypatch):
    answers = iter([None, True])
    monkeypatch.setattr(NatsRemote, "_syncs_always", lambda *_: next(answers))
    assert set() == remote(address).names()


def test_servers_that_do_not_say_how_they_sync_are_refused(address):
    with pytest.raises(UntrustedRemote, match="does not say") as refused:
        remote(f"{address.partition('?')[0]}?monitor=1").names()
    assert "http_port" in refused.value.hint


def test_who_may_not_log_in_is_refused_and_credentials_open(own):
    address = own(more='authorization { user: ada, password: "sesame" }').address("M")
    with pytest.raises(UntrustedRemote, match="refuses this machine") as refused:
        remote(address, NATS_USER="ada", NATS_PASSWORD="wrong-word").names()
    assert "wrong-word" not in str(refused.value)
    one = remote(address, NATS_USER="ada", NATS_PASSWORD="sesame")
    assert set() == one.names()
    assert one.publish({"a": b"1"}, ())


def test_who_may_only_read_is_refused_when_it_publishes(own, monkeypatch):
    users = """authorization { users: [ {user: ada, password: a}
        {user: eve, password: e, permissions: {publish: ["$JS.API.STREAM.INFO.M", "$JS.API.STREAM.MSG.GET.M"]}} ] }"""
    address = own(more=users).address("M")
    ada, eve = (remote(address, NATS_USER=name, NATS_PASSWORD=name[0]) for name in ("ada", "eve"))
    ada.names()
    ada.publish({"a": b"1"}, ())
    assert {"a"} == eve.names()
    assert {"a": b"1"} == dict(eve.read(["a"]))
    monkeypatch.setattr(nats_remote, "_ANSWER", 0.3)
    with pytest.raises(UntrustedRemote, match="permissions violation"):
        eve.publish({"b": b"2"}, ())


def test_a_certificate_that_is_not_trusted_is_refused_and_one_by_its_authority_is_taken(own, tmp_path, monkeypatch):
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        "key",
        "-out",
        "cert",
        "-days",
        "2",
        "-subj",
        "/CN=relay",
        "-addext",
    ]
    try:
        made = subprocess.run([*command, "subjectAltName=IP:127.0.0.1"], cwd=tmp_path, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs openssl")
    assert not made.returncode, made.stderr
    address = own(more=f'tls {{ cert_file: "{tmp_path}/cert", key_file: "{tmp_path}/key" }}').address("M")
    monkeypatch.setattr(nats_remote, "_PAUSE", 0)

    with pytest.raises(UntrustedRemote, match="not trusted"):
        remote(address).names()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert"))
    assert set() == remote(address).names()


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_what_cannot_be_reached_is_offline():
    with pytest.raises(Offline):
        remote("nats://127.0.0.1:1/M?monitor=1").names()
