"""The version key of the databases: what the program is, wherever and whenever it was installed.

Two installations of one version share their databases.
"""

import os
import unicodedata
import zlib
from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from pathlib import Path

import eventlog
from eventlog.app import search
from eventlog.fast.sha import sha256
from eventlog.projections import base

_SEARCH = "eventlog/app/search/"
_SHELLS = ("eventlog/app/", "eventlog/cli/")  # but for the search, what databases hold does not depend on them


@lru_cache
def program_key() -> str:
    """Return the version of Unicode data, and a digest of the contents of our modules."""
    log, views, finds = (os.path.dirname(str(module.__file__)) for module in (eventlog, base, search))  # noqa: PTH120
    modules = _recorded(log) or {
        **dict(_digests(log, "eventlog")),
        **dict(_digests(views, "eventlog/projections")),
        **dict(_digests(finds, _SEARCH.rstrip("/"))),
    }
    counting = ((name, of) for name, of in modules.items() if name.startswith(_SEARCH) or not name.startswith(_SHELLS))
    return f"{unicodedata.unidata_version} {zlib.crc32(repr(sorted(counting)).encode())}"


def _recorded(package: str) -> dict[str, str]:
    """Read the digests that the installer recorded for our modules; none where they were not copied from a wheel."""
    found: dict[str, str] = {}
    for record in Path(package).parent.glob("agent_eventlog-*.dist-info/RECORD"):
        rows = (line.split(",") for line in record.read_text("utf-8").splitlines())
        found |= {row[0]: row[1] for row in rows if row[0].startswith("eventlog/") and row[0].endswith(".py")}
    return found


def _digests(package: str, name: str) -> Iterator[tuple[str, str]]:
    """Digest the modules below a directory as an installer records them; links are not followed."""
    from base64 import urlsafe_b64encode  # only where no installer has

    with os.scandir(package) as entries:
        for entry in sorted(entries, key=attrgetter("name")):
            if entry.is_dir(follow_symlinks=False):
                yield from _digests(entry.path, f"{name}/{entry.name}")
            elif entry.name.endswith(".py"):
                with open(entry.path, "rb") as module:  # noqa: PTH123 - hundreds of files
                    of_module = urlsafe_b64encode(bytes.fromhex(sha256(module.read()))).rstrip(b"=").decode()
                yield f"{name}/{entry.name}", f"sha256={of_module}"
