"""Transcripts, read by a second process while this one writes: an import of years takes half as long.

What is found comes in the same order, whatever becomes of that process: transcripts it does not tell of are read here.
"""

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import eventlog
from eventlog.app.importing.past_conversation import found_in
from eventlog.app.importing.source import Found
from eventlog.settings.schema import Settings

_FEWEST = 500  # transcripts; fewer are read before another process has started
_AT_ONCE = 16
_AHEAD = 1 << 20  # bytes in the pipe: as much as this process writes at a time
_TELL = """import sys
sys.path.insert(0, sys.argv[1])
from eventlog.app.importing.read_ahead import tell
tell(sys.stdin.buffer, sys.stdout.buffer)"""


def read_each(agent: str, paths: Sequence[Path], settings: Settings, now: int) -> Iterator[list[Found]]:
    """Yield what is found in each transcript, in the order given."""
    done = 0
    if len(paths) >= _FEWEST:
        for found in _read_ahead(agent, paths, settings, now):
            yield found
            done += 1
    yield from (list(found_in(agent, path, settings, now)) for path in paths[done:])


def tell(asked: BinaryIO, answered: BinaryIO) -> None:
    """Read all transcripts that are asked for, and tell what is found, some of them at a time."""
    agent, paths, settings, now = pickle.load(asked)  # noqa: S301 - our own process wrote it
    for start in range(0, len(paths), _AT_ONCE):
        found = [list(found_in(agent, path, settings, now)) for path in paths[start : start + _AT_ONCE]]
        pickle.dump(found, answered)
        answered.flush()


def _read_ahead(agent: str, paths: Sequence[Path], settings: Settings, now: int) -> Iterator[list[Found]]:
    """Yield what another process finds, as long as it tells; it is as far ahead as a pipe is long."""
    command = [sys.executable, "-I", "-c", _TELL, str(Path(eventlog.__file__).parents[1])]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    try:
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=null, pipesize=_AHEAD) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            try:
                pickle.dump((agent, paths, settings, now), reader.stdin)
                reader.stdin.flush()
                while True:
                    yield from pickle.load(reader.stdout)  # noqa: S301 - our own process wrote it
            finally:
                reader.kill()
    except (OSError, EOFError, pickle.UnpicklingError):
        return
