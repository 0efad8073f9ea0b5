"""The hand-written history of fixtures/, and its files as they should be."""

import shutil
from pathlib import Path

from eventlog.log.event_log import EventLog
from eventlog.settings.schema import Settings
from tests.support.builders import replay
from tests.support.tree import ROOT

HISTORY = ROOT / "fixtures" / "history"
DAMAGED = ROOT / "fixtures" / "damaged"
LOCALES = ("en", "zh")
DEFAULTS = Settings()


def copied(source, tmp_path):
    """A log of its own with the bytes of a fixture."""
    shutil.copytree(source / "log", Path(tmp_path) / "store" / "log")
    return EventLog(Path(tmp_path) / "store", fsync=False)


def rendered(log, settings=DEFAULTS, **options):
    """Path -> bytes of every document."""
    return {document.path: document.data for document in replay(log, settings, **options).documents}


def tree(directory):
    """Path -> bytes of every file below a directory."""
    found = (path for path in Path(directory).rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in sorted(found)}
