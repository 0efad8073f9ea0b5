"""The real start of a session, as against a look at its context: what is used once is used, and a receipt is kept."""

from pathlib import Path

from msgspec.structs import replace

from eventlog.context.build import Built, build
from eventlog.context.gather import Request
from eventlog.context.loader import Unreadable, read
from eventlog.context.plan import bootstrap_file, used_name
from eventlog.log import EventLog
from eventlog.settings import Settings


def begin(log: EventLog, settings: Settings, request: Request) -> Built:
    """The context of a session that starts now; `receipt.acknowledge` is the caller's, once it has been told."""
    return build(log, settings, replace(request, bootstrap=take_bootstrap(settings, request.home, request.now)))


def take_bootstrap(settings: Settings, home: str, now: str) -> str:
    """The text of BOOTSTRAP.md, to whoever renames it first; "" for everyone else, and where it cannot be renamed."""
    file = bootstrap_file(settings, home)
    path = Path(file.path)
    try:
        text = read(path, Path(file.root))
        path.rename(used_name(file.path, now))
    except (OSError, Unreadable):
        return ""
    return text
