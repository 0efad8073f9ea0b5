"""The hook, called in this process (fast) or as hosts call it (real), and what it left behind."""

import json
import subprocess
import sys
from pathlib import Path

from eventlog.hooks.hook_main import handle, hints_in, start_context
from eventlog.log.event_log import EventLog
from tests.support.payloads import data
from tests.support.tree import IMPORT_PATH


def patient(*steps):
    """The hook as a command, without haste in these steps; `STEP=2.5` for so many seconds."""
    script = Path(__file__).with_name("patient_hook.py")
    return [sys.executable, "-I", "-S", str(script), IMPORT_PATH, ",".join(steps)]


STEPS = ("STDIN", "READ", "APPEND", "ANSWER", "LAST", "LOCK", "LOCK_AGAIN")
HOOK = patient(*STEPS)


def respond(sent, argv, environ):
    """The answer to these bytes, in this process."""
    return handle(sent, hints_in(argv), environ, start_context)[0]


def tell(store, payload, *argv, **environ):
    """The answer to a payload, an object or bytes, in this process."""
    sent = payload if isinstance(payload, bytes) else data(payload)
    return respond(sent, [*argv, "--store", str(store)], environ)


def run(store, payload, *argv, hook=HOOK, **options):
    """The same as a process, as hosts do it."""
    sent = payload if isinstance(payload, bytes) else data(payload)
    return subprocess.run([*hook, *argv, "--store", store], input=sent, capture_output=True, check=False, **options)


def events_of(store):
    """What was recorded of the calls; the receipt of a start's context is the answer's."""
    return [event for event in EventLog(store).read() if event.type != "context_injected"]


def errors_of(store):
    file = Path(store, "cache", "hook-errors.log")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
