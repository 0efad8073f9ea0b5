"""What an agent waits for: a tool call, a turn's end with its decision, a session's end; and several at once."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import orjson

import eventlog
from bench.generate import conversation_id
from bench.measure import FLOOR, Row, Run, compare, process, processor
from eventlog.app.setup.install.install import InstallTarget
from eventlog.app.setup.live_client import make_client, server_of
from eventlog.store import Store

_SCRIPT = str(Path(eventlog.__file__).parent / "hook.py")
_PLAIN = (sys.executable, "-I", "-c", "pass")
_AT_ONCE, _PAIRS = 8, 61
_PAYLOADS = (2, 20, 200)  # kB of what a tool answered
_calls = count()


def rows(store: Path, events: int) -> Iterator[Row]:
    """The bars of hooks, in a store of that many events; a session's end comes last, as it starts more."""
    tool, turn, end = hook(store, "PostToolUse"), hook(store, "Stop"), hook(store, "SessionEnd")
    yield compare(
        f"{_AT_ONCE} hooks at once",
        lambda: _at_once(tool),
        f"{_AT_ONCE} one after the other",
        lambda: [process(tool, _tool)() for _ in range(_AT_ONCE)],
        "≤ 0.63",
    )
    floor, bare = processor(FLOOR), "python -I -S -c pass"
    name = f"tool call, in {events:,}, processor time"
    yield compare(name, processor(tool, _tool), bare, floor, "≤ 1.5", rounds=_PAIRS)
    for kilobytes in _PAYLOADS:
        run = processor(tool, partial(_tool, kilobytes))
        yield compare(f"the same, with a payload of {kilobytes} kB", run, bare, floor, "≤ 1.6", rounds=_PAIRS)
    for what, session in (("has saved", conversation_id(0)), ("is new", "a-new-conversation-")):
        name = f"turn end, the conversation {what}, in {events:,}, processor time"
        yield compare(name, processor(turn, partial(stop, session)), bare, floor, "≤ 1.8", rounds=_PAIRS)
    if make_client(InstallTarget(Store(str(store)), Path.home(), Path.cwd(), os.environ)):
        yield from _live_rows(Store(str(store)), tool, turn)
    new = process(turn, lambda: stop("a-new-conversation-"))
    yield compare("turn end", new, "python3 -I -c pass", process(_PLAIN), "", rounds=_PAIRS)
    name = f"session end, in {events:,}"
    yield compare(name, process(end, _end), bare, process(FLOOR), "≤ 1.5", rounds=_PAIRS)


def on_a_busy_day(busy: Path, quiet: Path, events: int) -> Iterator[Row]:
    """The bars of hooks in a store that has so many events of today, beside one that has few."""
    for what, event, payload in (
        ("tool call", "PostToolUse", _tool),
        ("turn end", "Stop", partial(stop, "a-new-one-")),
    ):
        runs = [processor(hook(store, event), payload) for store in (busy, quiet)]
        name = f"{what} on a day of {events:,} events, processor time"
        yield compare(name, runs[0], "the same on a quiet day", runs[1], "≤ 1.3", rounds=_PAIRS)


def _live_rows(store: Store, tool: tuple[str, ...], turn: tuple[str, ...]) -> Iterator[Row]:
    """The commands that `install` writes where the server is registered, beside those that it writes elsewhere."""
    asking, plain = _installed(tool, store), _installed(tool)
    run, reference = processor(asking, _tool), processor(plain, _tool)
    yield compare("tool call, asked live, nobody answers", run, "the plain command", reference, "≤ 1.02", rounds=_PAIRS)
    with subprocess.Popen([*tool[:4], "--live", store.root], stdin=subprocess.PIPE) as server:
        while server_of(store) != server.pid:
            time.sleep(0.01)
        for what, words, payload in (("tool call", tool, _tool), ("turn end", turn, partial(stop, "live"))):
            run, reference = processor(_installed(words, store), payload), processor(_installed(words), payload)
            name = f"{what}, answered live, client and server"
            yield compare(name, _with(server, run), "the plain command", reference, "≤ 0.25", rounds=_PAIRS)
        server.communicate()


def _installed(words: tuple[str, ...], store: Store | None = None) -> tuple[str, ...]:
    plain = shlex.join(words) + " 2>/dev/null"
    socket, client = map(shlex.quote, store.live) if store else ("", "")
    return ("sh", "-c", f"test -S {socket} && {client} {plain} || {plain} || true" if store else f"{plain} || true")


def _with(server: subprocess.Popen[bytes], run: Run) -> Run:
    """The same with the processor time of a server."""
    clock = (~server.pid << 3) | 2  # of a process: clock_getcpuclockid(3)

    def both() -> float:
        begun = time.clock_gettime(clock)
        client = run()
        assert isinstance(client, float)
        return client + time.clock_gettime(clock) - begun

    return both


def hook(store: Path, event: str) -> tuple[str, ...]:
    """The command an agent runs."""
    return (sys.executable, "-I", "-S", _SCRIPT, "--agent", "claude", "--event", event, "--store", str(store))


def stop(session: str) -> bytes:
    """The end of a turn of its own; a session that ends in `-` is another one each time."""
    number = next(_calls)
    session = f"{session}{number}" if session.endswith("-") else session
    return _payload("Stop", session_id=session, prompt_id=f"turn-{number}", stop_hook_active=False)


def _end() -> bytes:
    return _payload("SessionEnd", session_id="ended", prompt_id=f"turn-{next(_calls)}", reason="other")


def _tool(kilobytes: int = 0) -> bytes:
    said = {"tool_response": {"stdout": "src/cart/price.py: 4f6ec4c7e9f5e2b8d41c0aa7 was retried\n" * (18 * kilobytes)}}
    call = {"tool_name": "Bash", "tool_use_id": f"call-{next(_calls)}", **(said if kilobytes else {})}
    return _payload("PostToolUse", session_id="at-work", **call)


def _payload(name: str, **fields: object) -> bytes:
    common = {"transcript_path": "/nowhere/transcript.jsonl", "cwd": "/nowhere", "hook_event_name": name}
    return orjson.dumps({**common, **fields})


def _at_once(command: tuple[str, ...]) -> None:
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(_AT_ONCE)]
    for one in running:
        assert one.stdin is not None
        one.stdin.write(_tool())
        one.stdin.close()
    for one in running:
        one.wait()
