"""`cache/hook-errors.log`: what hooks could not do, one JSON line each; imported only when one fails."""

import os
import time

from eventlog import timestamps, wire
from eventlog.agents.scrub import without_secrets
from eventlog.files import make_dirs
from eventlog.store import Store

_LARGEST = 1 << 20  # bytes; then the file is started anew and the old one kept as `.1`
_KEPT_OF_PAYLOAD = 4096


def path_of(store: Store) -> str:
    """Where failures are noted."""
    return f"{store.cache}/hook-errors.log"


def note(store: Store, error: Exception, data: bytes) -> None:
    """Add a failure and the beginning of the payload it lost; raises OSError."""
    path = path_of(store)
    make_dirs(store.cache)
    line = wire.dumps(
        {
            "ts": timestamps.from_ns(time.time_ns()),
            "error": f"{type(error).__name__}: {error}",
            "payload": without_secrets(data[:_KEPT_OF_PAYLOAD].decode("utf-8", "replace")),
        }
    )
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        if os.fstat(fd).st_size > _LARGEST:
            os.replace(path, f"{path}.1")
        os.write(fd, line + b"\n")
    finally:
        os.close(fd)
