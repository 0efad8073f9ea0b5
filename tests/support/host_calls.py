"""Hosts calling their hooks: in this process, or as they really do."""

import json
import os
import time
from pathlib import Path

from eventlog.log.event_log import EventLog
from tests.support.hook_calls import respond, run
from tests.support.payloads import claude, data
from tests.support.use_cases import finalize


def tell(store, payload, *argv, **environ):
    """The parsed answer to a payload, {} for silence, without what the hook would start afterwards."""
    answer = respond(data(payload), [*argv, "--store", str(store)], environ)
    return json.loads(answer) if answer else {}


def alone(store):
    """Nothing is started in the background of this store for hours: a process is said to be starting already."""
    starting = Path(store) / "cache" / "settle.starting"
    starting.parent.mkdir(parents=True, exist_ok=True)
    starting.touch()
    os.utime(starting, (time.time() + 9 * 3600,) * 2)
    return store


def events(store, *types):
    """Of these types, or of all that a host's call can become: receipts of what a session was given are ours."""
    found = list(EventLog(store).read())
    return [event for event in found if (event.type in types if types else event.type != "context_injected")]


def request(answer):
    """What Claude Code is asked at the end of a turn; "" for nothing."""
    return answer.get("hookSpecificOutput", {}).get("additionalContext", "")


class Session:
    """One conversation of Claude Code, told by its hooks."""

    def __init__(self, store, session="s-1", transcript=None):
        self.store = alone(store)
        self.session = session
        self.transcript = str(transcript or "/nowhere.jsonl")
        self.requests = 0
        self._turn = 0

    def hook(self, name, **fields):
        told = claude(name, session_id=self.session, transcript_path=self.transcript, **fields)
        return tell(self.store, told, "--agent", "claude")

    def turn(self, **fields):
        self._turn += 1
        answer = self.hook("Stop", prompt_id=f"p-{self._turn}", **fields)
        self.requests += bool(request(answer))
        return answer

    def turns(self, count):
        return [self.turn() for _ in range(count)]

    def save(self, kind="stage_summary", layer=None, **fields):
        said = {"summary": "Done."} if kind == "stage_summary" else {"content": "Prices are in cents"}
        EventLog(self.store).append({"type": kind, "conversation_id": self.session, "layer": layer, **said, **fields})

    def end(self):
        """The end, and what `eventlog settle` does after it."""
        ended = claude("SessionEnd", session_id=self.session, transcript_path=self.transcript)
        assert 0 == run(self.store, ended).returncode
        finalize(EventLog(self.store))

    @property
    def fired(self):
        """The nets that held or asked, by layer."""
        found = events(self.store)
        saved = {one.layer or 1 for one in found if one.type in ("fact", "stage_summary")}
        asked = {2 if one.trigger == "pre_compact" else 4 for one in found if one.type == "save_requested"}
        return saved | asked
