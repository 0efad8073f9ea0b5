"""Reports: pages in files that people asked for, and the list of these files, for the erasure of texts.

A report reaches back, so it may hold what was withdrawn since. The list of them lies in the cache, and names files
only.
"""

from contextlib import suppress
from pathlib import Path

import msgspec

from eventlog.format.errors import NotStored
from eventlog.store import Store
from eventlog.store.files import read_regular, replace_file

_paths = msgspec.json.Decoder(list[str])
_ESCAPED = (("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&"), ('\\"', '"'), ("\\\\", "\\"))  # in its block of JSON


def write_report(store: Store, path: str, page: str) -> str:
    """Write a page where a person wants it, for them alone, and return its full path; raises NotStored."""
    place = str(Path(path).absolute())
    replace_file(place, page.encode())
    with suppress(NotStored):  # the page is what was asked for
        replace_file(store.cached("reports.json"), msgspec.json.encode([*written_reports(store, place), place]))
    return place


def written_reports(store: Store, but: str = "") -> list[str]:
    """List the reports that were written and are still there."""
    try:
        paths = _paths.decode(read_regular(store.cached("reports.json")))
    except (OSError, msgspec.MsgspecError):
        return []
    return [path for path in paths if path != but and Path(path).is_file()]


def report_text(path: str) -> str:
    """Read the text of a report, as events have it."""
    try:
        text = read_regular(path).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    for escaped, meant in _ESCAPED:
        text = text.replace(escaped, meant)
    return text
