"""Hosts calling their hooks: in this process, or as they really do."""

import json
import subprocess
import sys
from pathlib import Path

from eventlog.agents.hook import respond
from eventlog.log import EventLog
from tests.builders import ROOT
from tests.payloads import data

HOOK = [sys.executable, "-I", "-S", str(ROOT / "eventlog" / "hook.py")]


def tell(store, payload, *argv, **environ):
    """The parsed answer to a payload, {} for silence, without what the hook would start afterwards."""
    answer = respond(data(payload), [*argv, "--store", str(store)], environ)
    return json.loads(answer) if answer else {}


def run(store, payload, *argv, **options):
    """The hook as a process."""
    sent = payload if isinstance(payload, bytes) else data(payload)
    return subprocess.run([*HOOK, *argv, "--store", store], input=sent, capture_output=True, check=False, **options)


def alone(store):
    """Nothing is started in the background of this store for a while: a process is said to be starting already."""
    (Path(store) / "cache").mkdir(parents=True, exist_ok=True)
    (Path(store) / "cache" / "settle.starting").touch()
    return store


def events(store, *types):
    """Of these types, or of all that a host's call can become: receipts of what a session was given are ours."""
    found = list(EventLog(store).read())
    return [event for event in found if (event.type in types if types else event.type != "context_injected")]
