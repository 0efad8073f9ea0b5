"""Replace a day file by another under its lock: the one exception to "no line is ever changed", for erasing and repair.

Writers that wait for the lock find another file at the path, and open that; readers see the old file or the new one.
Where the log is sealed, `rewritten.jsonl` lists first which lines are going to be put in and taken out: those are no
alterations. A list of a rewrite that was killed before it replaced the file does no harm.
"""

import base64
from collections.abc import Callable, Sequence
from stat import S_IMODE

from eventlog.fast import fastjson, os
from eventlog.fast.fastjson import BOM
from eventlog.store import Store
from eventlog.store.dayfile import open_locked
from eventlog.store.files import append_bounded, not_stored, open_regular, read_regular, replace_file, sync_file


def rewrite(path: str, make: Callable[[bytes], bytes | None], patience: float | None = None) -> bool:
    """Give a file of the log the bytes made of its own; None leaves it as it is. Tells whether it was replaced.

    Raises NotStored, or Busy where a writer holds the lock for so many seconds.
    """
    target = os.path.realpath(path)
    try:
        with os.fdopen(open_locked(target, patience, open_regular), "rb") as opened:
            before = opened.read()
            data = make(before)
            if data is None:
                return False
            _list_changes(path, before.split(b"\n")[:-1], data.split(b"\n")[:-1])
            replace_file(target, data, mode=S_IMODE(os.fstat(opened.fileno()).st_mode))
            return True
    except OSError as error:
        raise not_stored(error, target) from error


def _list_changes(path: str, before: Sequence[bytes], now: Sequence[bytes]) -> None:
    """List what a rewrite changes in a log that is sealed, durably; raises OSError."""
    store = Store(os.path.dirname(os.path.dirname(path)))
    if not os.path.exists(store.seals):
        return
    put_in = [line for old, line in zip(before, now, strict=False) if old != line]
    taken_out: list[bytes] = []
    if len(now) < len(before):  # lines went, and those that stayed are as they were, but for a mark before the first
        put_in, position = [], 0
        for old in before:
            if position < len(now) and old in (now[position], BOM + now[position]):
                put_in += [now[position]] if old != now[position] else []
                position += 1
            else:
                taken_out.append(old)
    listed = fastjson.dumps({"file": os.path.basename(path), "in": _leaves(put_in), "out": _leaves(taken_out)})
    is_torn = os.path.exists(store.rewritten) and read_regular(store.rewritten, start=-1) != b"\n"
    append_bounded(store.rewritten, b"\n" + listed if is_torn else listed)
    sync_file(store.rewritten)


def _leaves(lines: Sequence[bytes]) -> list[str]:
    from eventlog.log.seals import leaf_of  # loads OpenSSL, for sealed logs only

    return [base64.b64encode(leaf_of(line)).decode() for line in lines]
