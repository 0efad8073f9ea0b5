"""A day with all hosts: each call twice at once, by a real process and by this one, compared with what it should come to.

`fixtures/hooks/day.jsonl` is what hosts send, and under which registration; `expected.jsonl` what each call adds to
the log (without ids and times) and is answered.
"""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from eventlog.format.codec import to_fields
from eventlog.hooks.command import command
from eventlog.log.event_log import EventLog
from eventlog.store import Store
from tests.support import hook_calls, host_calls, payloads
from tests.support.effort import stride
from tests.support.host_calls import alone
from tests.support.payloads import claude, data
from tests.support.tree import ROOT

pytestmark = pytest.mark.slow

DAY = ROOT / "fixtures" / "hooks" / "day.jsonl"
EXPECTED = ROOT / "fixtures" / "hooks" / "expected.jsonl"
TWICE = 2


def _lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def _plain(value):
    """What of an answer is fixed: of a text the beginning, for its commands tell of this machine."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return re.split("[\n`]", value)[0] if isinstance(value, str) else value


def _happened(log, known):
    """The events that are new, without what differs every time; receipts of contexts have tests of their own."""
    found = [to_fields(event) for event in log.read() if event.id not in known]
    known |= {one["id"] for one in found}
    kept = ({name: value for name, value in one.items() if name not in ("id", "ts", "v", "replica")} for one in found)
    return [one for one in kept if one["type"] != "context_injected"]


def _played(store):
    """What became of each call."""
    log = EventLog(store)
    known: set[str] = set()
    outcomes = []
    with ThreadPoolExecutor(1) as beside:
        for call in _lines(DAY):
            alone(store)
            said = ("--agent", call["host"], "--event", call["event"])
            process = beside.submit(hook_calls.run, store, call["payload"], *said)
            answer = hook_calls.tell(store, call["payload"], *said)
            ended = process.result()
            spoken = max(ended.stdout, answer, key=len)
            outcomes.append(
                {
                    "code": ended.returncode,
                    "stderr": ended.stderr.decode(),
                    "answer": _plain(json.loads(spoken)) if spoken else None,
                    "events": _happened(log, known),
                }
            )
    return outcomes


def test_each_call_comes_to_what_it_should(tmp_path, monkeypatch):
    """One test, so that the day is played once however many processes share the tests."""
    monkeypatch.chdir("/")
    store = tmp_path / "store"
    outcomes = _played(store)
    names = [f"{number} {call['host']} {call['event']}" for number, call in enumerate(_lines(DAY))]
    came_to = {
        name: {"answer": one["answer"], "events": one["events"]} for name, one in zip(names, outcomes, strict=True)
    }

    assert [] == [one for one in outcomes if (0, "") != (one["code"], one["stderr"])]
    assert dict(zip(names, _lines(EXPECTED), strict=True)) == came_to
    assert not (store / "cache" / "hook-errors.log").exists()
    assert b"ada@example.org" not in b"".join(path.read_bytes() for path in store.rglob("*") if path.is_file())


@pytest.mark.fuzz
@pytest.mark.skipif(not payloads.captured(), reason=payloads.NONE_CAPTURED)
def test_every_captured_payload_twice_at_once_is_one_event_and_answered_by_silence_or_json(tmp_path):
    store, captured = alone(tmp_path / "store"), payloads.captured()[:: stride(3)]
    for file in captured:
        agent, event, _ = file.name.split("-")
        with ThreadPoolExecutor(TWICE) as pool:
            sent = file.read_bytes()
            ended = list(
                pool.map(
                    lambda _, a=agent, e=event, s=sent: hook_calls.run(store, s, "--agent", a, "--event", e),
                    range(TWICE),
                )
            )

        assert [(0, b"")] * TWICE == [(one.returncode, one.stderr) for one in ended]
        assert all(not one.stdout or isinstance(json.loads(one.stdout), dict) for one in ended)
    assert len(captured) == len(host_calls.events(store))
    assert not (store / "cache" / "hook-errors.log").exists()


def test_the_installed_command_for_a_turns_end_imports_the_standard_library_only(tmp_path):
    store = alone(tmp_path / "store")
    for turn in range(2):
        hook_calls.respond(data(claude("Stop", prompt_id=f"p-{turn}")), ["--store", str(store)], {})
    installed = command("claude", "Stop", Store(str(store)), str(tmp_path)).partition(" 2>")[0]
    installed = installed.replace(" -I -S ", " -X importtime -I -S ")
    ended = subprocess.run(
        ["sh", "-c", installed], input=data(claude("Stop", prompt_id="p-2")), capture_output=True, check=True
    )
    modules = {line.rpartition("|")[2].strip() for line in ended.stderr.decode().splitlines()[1:]}
    foreign = {name for name in modules if name.split(".")[0] not in {*sys.stdlib_module_names, "eventlog"}}

    assert b'"additionalContext":"[eventlog]' in ended.stdout
    assert "eventlog.hooks.conversation" in modules
    assert set() == foreign
    assert not {"re", "json", "typing", "pathlib", "subprocess", "dataclasses", "enum", "collections"} & modules
