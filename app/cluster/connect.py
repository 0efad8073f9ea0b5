"""A connection to a Dask cluster, or to workers started here; its libraries are those of the extra `cluster`."""

import logging
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from eventlog.format.errors import BadRequest

_LOCAL = re.compile(r"local(?::([1-9]\d*))?", re.ASCII)
_PATIENCE = "10s"


def library(name: str) -> Any:
    """Import a module of the extra; raises BadRequest where it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        hint = "pip install 'agent-eventlog[cluster]'"
        raise BadRequest(f"{name} is needed for this, and not installed", hint=hint) from error


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to `tcp://host:8786`, or start `local` or `local:4` processes; raises BadRequest without an answer.

    A local worker has one thread, and no limit of memory: nothing of a log is spilled to the disk. Processes started
    here know each other by keys of their own: nobody else on the machine gives them work.
    """
    distributed = library("distributed")
    if local := _LOCAL.fullmatch(address):
        with _started(distributed, int(local[1]) if local[1] else None) as client:
            yield client
        return
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        hint = "give the address `dask scheduler` prints, or local[:N]"
        raise BadRequest("no Dask scheduler answers", where=address, hint=hint) from error
    with client:
        yield client


@contextmanager
def _started(distributed: Any, count: int | None) -> Iterator[Any]:
    library("cryptography")  # makes the keys
    with (
        tempfile.TemporaryDirectory(prefix="eventlog-") as scratch,
        library("dask.config").set({"temporary-directory": scratch}),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=None,
            dashboard_address="127.0.0.1:0",
            security=distributed.Security.temporary(),
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
