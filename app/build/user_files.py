"""Create and use up the files of a user at a session's start; the knowledge bases have their own `storage`.

Imported while a session waits to begin: standard library only.
"""

from eventlog.fast import os
from eventlog.format.errors import NotStored
from eventlog.projections.context import context_files
from eventlog.projections.context.context_files import Unreadable, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from eventlog.settings.schema import Settings


def create(path: "Path | str", text: str) -> None:
    """Write a new file, readable by its owner only, durably; raises NotStored, also where the file exists."""
    from eventlog.store.shared_files import ChangedMeanwhile, replace_if_unchanged  # most starts create nothing

    try:
        replace_if_unchanged(str(path), text.encode(), None)
    except ChangedMeanwhile as error:
        raise NotStored("cannot be created: there is one", where=str(path)) from error
    except NotStored as error:
        raise NotStored(f"cannot be created: {error.what.removeprefix('not stored: ')}", where=str(path)) from error


def take_bootstrap(settings: "Settings", home: str, now: str) -> str:
    """Read BOOTSTRAP.md and rename it, so that a single session reads it; "" where that fails or it is missing."""
    file, used = context_files.bootstrap_file(settings, home, now)
    try:
        text = read(file.path, file.root)
        os.rename(file.path, used)  # of two sessions that start at once, only the first can rename it
    except (OSError, Unreadable):
        return ""
    return text
