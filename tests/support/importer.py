"""`python importer.py STORE HOME NUMBER`: import Claude Code's past, killed before the day file of that number is written."""

import os
import signal
import sys
from itertools import count
from pathlib import Path
from unittest import mock

from eventlog import EventLog
from eventlog.store.dayfile import DayFile
from tests.support.pasts import bring_in


def main(store, home, number):
    written, append = count(), DayFile.append

    def append_or_die(self, lines):
        if next(written) == int(number):
            append(self, lines[: len(lines) // 2])  # a torn line is what a kill leaves
            os.kill(os.getpid(), signal.SIGKILL)
        append(self, lines)

    with mock.patch.object(DayFile, "append", append_or_die):
        bring_in(EventLog(store, fsync=False), "claude", Path(home))


if __name__ == "__main__":
    main(*sys.argv[1:])
