"""A stream of NATS (JetStream) between machines: a relay whose messages are the files of a memory.

File      the newest message of its subject: `<replica>/head.age` is `STREAM.<replica>.head/age`, for the words of a
          subject are parted by dots. What is larger than a message lies in parts, sent before the one that names them.
Message   has an id: what is sent again because a server died before it answered is stored once. A file is replaced only
          as it was read. Every server must sync before it answers, or a power cut loses what it took.
Stream    is never the truth: where it was deleted or emptied, every machine sends again what its log has.

`nats-py` is of the extra `[nats]`. The environment says how to log in, as for the `nats` command: `NATS_CREDS`,
`NATS_NKEY`, `NATS_USER` and `NATS_PASSWORD`; or the file `sync/nats.creds` of the store; never the address.
"""

import asyncio
import base64
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from http.client import HTTPConnection, HTTPException
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from eventlog.app.sync.keyring import LARGEST
from eventlog.fast import os
from eventlog.format.errors import BadRequest, NotStored, Offline, UntrustedRemote, library, system_reason
from eventlog.store.files import read_regular

_PART = 64 << 10  # bytes of a message
_AT_ONCE = 32  # requests without an answer
_ANSWER, _PATIENCE = 3, 30  # seconds for an answer, and until what is asked again is given up
_CONNECTS, _RECONNECTS, _PAUSE = 3, 60, 0.25  # of each server at first, and where it was lost; seconds
_FORM = "write nats://HOST[:PORT][,HOST…]/STREAM[?monitor=PORT]"
_HOST = r"(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?"
_WORDS = r"[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*"
_ADDRESS = re.compile(rf"nats://({_HOST}(?:,{_HOST})*)/({_WORDS})/?(?:\?monitor=(\d{{1,5}}(?:,\d{{1,5}})*))?")
_PORT, _MONITOR = 4222, "8222"  # where a server listens by itself
_SUBJECT = str.maketrans("./", "/.")
_PARTS, _ID, _EXPECTED = "Eventlog-Parts", "Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence"
_NOT_FOUND, _NO_MESSAGE, _NO_CLUSTER, _REPLACED = 10059, 10037, 10074, 10071  # errors of JetStream
_NO_PEERS, _NO_LEADER, _OFFLINE, _UNAVAILABLE = 10005, 10009, 10118, 503  # that pass
_NOT_ENABLED = (10039, 10076)  # that do not, though unavailable
_WANTED = {
    "storage": "file", "retention": "limits", "discard": "new", "max_msgs_per_subject": 1, "max_age": 0,
    "no_ack": False, "sealed": False, "deny_purge": False, "persist_mode": "default",
}  # fmt: skip

_Done = TypeVar("_Done")


class _Address(NamedTuple):
    """The servers of an address and their monitors, the stream, and the prefix of its subjects."""

    servers: list[str]
    monitors: list[str]
    stream: str
    prefix: str


class NatsRemote:
    """A stream, or the part of one below a name, by its address."""

    def __init__(self, address: str, credentials: str, environ: Mapping[str, str]) -> None:
        self._text, self._address = address, _parsed(address)
        self._login = _login(credentials, environ)
        self._parts: dict[str, set[str]] = {}  # name of a file -> its versions that lie in parts
        self._sequences: dict[str, int] = {}  # name of a file -> its message, where it was read
        self.stream: str | None = ""

    @staticmethod
    def in_full(text: str) -> str:
        """Write an address with all its ports; raises BadRequest where it names no stream, or has a password."""
        address = _parsed(text)
        monitors = "" if "?" not in text else f"?monitor={text.partition('=')[2]}"
        return f"nats://{','.join(address.servers)}/{address.prefix.replace('.', '/')}{monitors}"

    def names(self) -> set[str]:
        """List the files of the stream; none where there is no stream.

        Raises Offline, or UntrustedRemote where the servers or the stream may lose what they took.
        """
        is_safe = self._sync_always()
        self._parts, self._sequences = self._connected(self._list), {}
        if not is_safe and not self._sync_always():  # asked again, for servers may have begun meanwhile
            hint = "set http_port of nats-server, and give it as ?monitor=PORT"
            raise UntrustedRemote("does not say whether it syncs always", where=self._text, hint=hint)
        return set(self._parts)

    def read(self, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Read files; those that are gone are left out. Raises Offline."""

        async def files(stream: "_Stream") -> list[bytes | None]:
            return await asyncio.gather(*(self._read(stream, name) for name in names))

        found = self._connected(files) if names else []
        yield from ((name, data) for name, data in zip(names, found, strict=True) if data is not None)

    def publish(self, files: Mapping[str, bytes], removed: Collection[str]) -> bool:
        """Send the first file, then all others, then the last, and remove files; create the stream where it is missing.

        Returns False where a file was replaced since it was read. Raises Offline, UntrustedRemote, or NotStored.
        """

        async def sent(stream: "_Stream") -> bool:
            if not self.stream:
                await stream.create()
            ordered = list(files)
            for names in (ordered[:1], ordered[1:-1], ordered[1:][-1:]):  # a head counts when its segments are there
                if not all(await asyncio.gather(*(self._send(stream, name, files[name]) for name in names))):
                    return False
            old = [f"{self._subject(name)}.~{version}.>" for name in files for version in self._parts.get(name, ())]
            old += [f"{self._subject(name)}.>" for name in removed if self._parts.get(name)]
            await asyncio.gather(*map(stream.purge, [*old, *map(self._subject, removed)]))
            return True

        return self._connected(sent)

    # ------------------------------------------------------------------------------------------ files as messages

    def _subject(self, name: str) -> str:
        return f"{self._address.prefix}.{name.translate(_SUBJECT)}"

    async def _list(self, stream: "_Stream") -> dict[str, set[str]]:
        found = await stream.info()
        self.stream = found.get("created", "")
        if not found:
            return {}
        self._check(found["config"])
        listed: dict[str, set[str]] = {}
        for subject in await stream.subjects(f"{self._address.prefix}.>"):
            file, _, part = subject.removeprefix(f"{self._address.prefix}.").partition(".~")
            versions = listed.setdefault(file.translate(_SUBJECT), set())
            if part:
                versions.add(part.partition(".")[0])
        return listed

    def _check(self, config: Mapping[str, Any]) -> None:
        """Check that a stream loses nothing by itself; raises UntrustedRemote."""
        stream = self._address.stream
        wrong = {key: config[key] for key, value in _WANTED.items() if config.get(key, value) != value}
        if f"{stream}.>" not in config.get("subjects", ()):
            what = f"its stream has other subjects than {stream}.>"
            raise UntrustedRemote(what, where=self._text, hint="name a stream of its own")
        for key, value in wrong.items():
            hint = f"set it to {json.dumps(_WANTED[key])}, or let `eventlog sync start` create another stream"
            raise UntrustedRemote(f"its stream has {key}: {json.dumps(value)}", where=self._text, hint=hint)

    async def _read(self, stream: "_Stream", name: str) -> bytes | None:
        message = await stream.get(self._subject(name))
        if message is None:
            return None
        self._sequences[name] = message.sequence
        version, _, number = message.headers.get(_PARTS, "").partition(" ")
        if not version:
            return message.data
        if not number.isdecimal() or int(number) > LARGEST // _PART:
            return b""
        subjects = (f"{self._subject(name)}.~{version}.{part}" for part in range(int(number)))
        parts = await asyncio.gather(*map(stream.get, subjects))
        return b"".join(part.data for part in parts if part)  # what is missing shows by the digest

    async def _send(self, stream: "_Stream", name: str, data: bytes) -> bool:
        subject = self._subject(name)
        expected = self._sequences.get(name, None if name in self._parts else 0)
        headers = {} if expected is None else {_EXPECTED: str(expected)}
        if len(data) > _PART:
            version, starts = os.urandom(4).hex(), range(0, len(data), _PART)
            parts = (
                stream.put(f"{subject}.~{version}.{part}", data[start : start + _PART], {})
                for part, start in enumerate(starts)
            )
            if not all(await asyncio.gather(*parts)):
                return False
            headers[_PARTS], data = f"{version} {len(starts)}", b""
        return await stream.put(subject, data, headers)

    # ----------------------------------------------------------------------------------------------- its servers

    def _sync_always(self) -> bool:
        """Ask the servers whether they sync always; False where none can be asked. Raises UntrustedRemote."""
        answers = {self._syncs_always(monitor) for monitor in self._address.monitors}
        if answers == {False}:
            hint = "add jetstream {} to the servers' settings"
            raise UntrustedRemote("runs no JetStream", where=self._text, hint=hint)
        return True in answers

    def _syncs_always(self, monitor: str) -> bool | None:
        """Ask a server whether it syncs always; None where it cannot be asked, False where it has no JetStream."""
        host, _, port = monitor.rpartition(":")
        connection = HTTPConnection(host.strip("[]"), int(port), timeout=_ANSWER)
        try:
            connection.request("GET", "/varz")
            found = json.loads(connection.getresponse().read())
            config = found.get("jetstream", {}).get("config")
        except (OSError, HTTPException, ValueError, AttributeError):
            return None
        finally:
            connection.close()
        if not config:
            return False
        if not config.get("sync_always"):
            hint = "set `jetstream { sync_interval: always }` for nats-server: else a power cut loses what it took"
            raise UntrustedRemote("does not sync always", where=monitor, hint=hint)
        return True

    def _connected(self, work: "Callable[[_Stream], Awaitable[_Done]]") -> _Done:
        """Run some work by a connection of its own; raises Offline, or UntrustedRemote where the servers refuse us."""
        client = _client()
        noted: list[str] = []

        async def note(error: Exception) -> None:
            noted.append(str(error).removeprefix("nats: ").strip("'"))

        async def connected() -> _Done:
            connection = client.NATS()
            try:
                async with asyncio.timeout(_PATIENCE):
                    await connection.connect(
                        servers=[f"nats://{server}" for server in self._address.servers],
                        error_cb=note,
                        connect_timeout=_ANSWER,
                        max_reconnect_attempts=_CONNECTS,
                        reconnect_time_wait=_PAUSE,
                        **self._login,
                    )
                connection.options["max_reconnect_attempts"] = _RECONNECTS
                return await work(_Stream(connection, client, self._address, self._text, noted))
            except (client.errors.Error, TimeoutError, OSError) as error:
                raise self._unreachable(error, noted) from error
            finally:
                await connection.close()

        logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns whenever a connection by TLS ends
        return asyncio.run(connected())

    def _unreachable(self, error: Exception, noted: list[str]) -> Offline | UntrustedRemote:
        for what in noted:
            if "certificate" in what.lower():
                hint = "SSL_CERT_FILE names the certificates of an authority of your own"
                return UntrustedRemote("has a certificate that is not trusted here", where=self._text, hint=hint)
            if "authorization" in what.lower() or "permissions" in what.lower():
                hint = "give your credentials by NATS_CREDS, NATS_NKEY, or NATS_USER and NATS_PASSWORD"
                return UntrustedRemote(f"refuses this machine: {what}", where=self._text, hint=hint)
        is_silent = isinstance(error, TimeoutError | _client().errors.NoServersError)
        what = "no server answers" if is_silent else str(error).removeprefix("nats: ")
        return Offline(f"NATS: {what}", where=self._text, hint="it is tried again at the next sync")


class _Message(NamedTuple):
    """A message of a stream."""

    sequence: int
    headers: dict[str, str]
    data: bytes


class _Stream:
    """A stream by a connection; what got no answer is asked again until patience ends."""

    def __init__(self, connection: Any, client: Any, address: _Address, text: str, noted: list[str]) -> None:
        self._connection, self._client, self._noted = connection, client, noted
        self._name, self._text = address.stream, text
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def info(self) -> dict[str, Any]:
        """Describe the stream; returns nothing where there is no such stream."""
        answer = await self._api("STREAM.INFO", {}, _NOT_FOUND)
        return {} if "error" in answer else answer

    async def create(self) -> None:
        """Create the stream, on three servers where there are several; raises UntrustedRemote."""
        wanted = {key: value for key, value in _WANTED.items() if value}
        del wanted["persist_mode"]  # which older servers do not know, and is the default
        wanted |= {"name": self._name, "subjects": [f"{self._name}.>"], "num_replicas": 3}
        answer = await self._api("STREAM.CREATE", wanted, _NO_CLUSTER)
        if "error" in answer:
            await self._api("STREAM.CREATE", {**wanted, "num_replicas": 1})

    async def subjects(self, below: str) -> list[str]:
        """List the subjects that have a message."""
        found: list[str] = []
        while True:
            answer = await self._api("STREAM.INFO", {"subjects_filter": below, "offset": len(found)}, _NOT_FOUND)
            page = answer.get("state", {}).get("subjects") or {}
            found += page
            if not page or len(found) >= answer.get("total", 0):
                return found

    async def get(self, subject: str) -> _Message | None:
        """Read the message of a subject; None where there is none."""
        answer = await self._api("STREAM.MSG.GET", {"last_by_subj": subject}, _NO_MESSAGE, _NOT_FOUND)
        if "error" in answer:
            return None
        message = answer["message"]
        lines = base64.b64decode(message.get("hdrs", "")).decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if ": " in line)
        return _Message(message["seq"], headers, base64.b64decode(message.get("data", "")))

    async def put(self, subject: str, data: bytes, headers: Mapping[str, str]) -> bool:
        """Store a message; return False where others replaced it, or deleted the stream. Raises NotStored."""
        own = os.urandom(12).hex()
        answer = await self._asked(subject, data, {**headers, _ID: own})
        code = answer.get("error", {}).get("err_code")
        if code == _REPLACED:  # also by this message, where its first answer was lost
            stored = await self.get(subject)
            return stored is not None and stored.headers.get(_ID) == own
        if code and code != _NOT_FOUND:
            raise NotStored(f"not stored: NATS: {answer['error'].get('description')}", where=self._text)
        return not code

    async def purge(self, subject: str) -> None:
        """Remove the messages of a subject."""
        await self._api("STREAM.PURGE", {"filter": subject}, _NOT_FOUND)

    async def _api(self, call: str, sent: Mapping[str, Any], *expected: int) -> dict[str, Any]:
        """Call JetStream; raises UntrustedRemote for every error but the expected."""
        answer = await self._asked(f"$JS.API.{call}.{self._name}", json.dumps(sent).encode())
        error = answer.get("error", {})
        if error and error.get("err_code") not in expected:
            raise UntrustedRemote(f"NATS: {error.get('description')}", where=self._text)
        return answer

    async def _asked(self, subject: str, data: bytes, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Send a request until it is answered; raises what the client raises once patience ends."""
        errors, ends = self._client.errors, monotonic() + _PATIENCE
        while True:
            try:
                async with self._room:
                    reply = await self._connection.request(subject, data, timeout=_ANSWER, headers=headers)
                answer: dict[str, Any] = json.loads(reply.data)
                error = answer.get("error", {})
                if not _passes(error):
                    return answer
                failure: Exception = errors.Error(str(error.get("description")))
            except (errors.TimeoutError, errors.NoRespondersError, errors.OutboundBufferLimitError) as lost:
                failure = lost
            if headers is not None and isinstance(failure, errors.NoRespondersError) and not await self.info():
                return {"error": {"err_code": _NOT_FOUND}}
            if monotonic() > ends or self._connection.is_closed or any("ermissions" in what for what in self._noted):
                raise failure
            await asyncio.sleep(_PAUSE)


def _passes(error: Mapping[str, Any]) -> bool:
    """Return whether an error passes by itself: the servers have no leader at this moment, or too few are up."""
    if error.get("err_code") in _NOT_ENABLED or "exceeded" in error.get("description", ""):
        return False
    return error.get("code") == _UNAVAILABLE or error.get("err_code") in (_NO_PEERS, _NO_LEADER, _OFFLINE)


def _parsed(text: str) -> _Address:
    """Read an address; raises BadRequest."""
    shown = re.sub(r"//.*@", "//…@", text)
    if shown != text:
        hint = "leave it out, and set NATS_CREDS, NATS_NKEY, or NATS_USER and NATS_PASSWORD"
        raise BadRequest("holds a password or a token, which others would read", where=shown, hint=hint)
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise BadRequest("is no address of a stream", where=text, hint=_FORM)
    hosts, words, monitors = found[1].lower().split(","), found[2], (found[3] or _MONITOR).split(",")
    if len(monitors) not in (1, len(hosts)):
        raise BadRequest("names other numbers of servers and of monitor ports", where=text, hint=_FORM)
    names = [re.sub(r":\d+$", "", host) if not host.endswith("]") else host for host in hosts]
    servers = [host if host != name else f"{host}:{_PORT}" for host, name in zip(hosts, names, strict=True)]
    ports = monitors * (len(hosts) // len(monitors))
    shown_at = [f"{name}:{port}" for name, port in zip(names, ports, strict=True)]
    return _Address(servers, shown_at, words.partition("/")[0], words.replace("/", "."))


def _login(credentials: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Choose how to log in, by what the `nats` command reads, or the file of the store; raises BadRequest."""
    user, password = environ.get("NATS_USER", ""), environ.get("NATS_PASSWORD", "")
    if file := environ.get("NATS_CREDS"):
        return {"user_credentials": _file_with("NKEY SEED", file)}
    if file := environ.get("NATS_NKEY"):
        return {"nkeys_seed": _file_with("SU", file)}
    if user:
        return {"user": user, "password": password} if password else {"token": user}
    return {"user_credentials": _file_with("NKEY SEED", credentials)} if os.path.exists(credentials) else {}


def _file_with(mark: str, path: str) -> str:
    """Check that a file is of the kind that NATS writes; raises BadRequest."""
    try:
        is_right = mark.encode() in read_regular(path)
    except OSError as error:
        raise BadRequest(system_reason(error)[0], where=path, hint="does NATS_CREDS or NATS_NKEY name it?") from error
    if not is_right:
        raise BadRequest("holds no credentials of NATS", where=path, hint=f"it should have a line with {mark}…")
    return path


def _client() -> Any:
    library("nats.errors", "nats")
    return library("nats", "nats")
