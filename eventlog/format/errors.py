"""Every error this library raises on purpose, in one small tree; and reasons of libraries and systems in plain words.

Imported inside agents' hooks when something fails: `re` and `errno` are loaded by the functions that need them.
"""

from eventlog.fast import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any


class EventLogError(Exception):
    """Base of all: what happened, where, and what to do about it.

    `what` is one sentence without a full stop, `where` a file, line or field, `hint` an instruction.
    The library raises; only the command line prints and chooses an exit code.
    """

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.what = what
        self.where = where
        self.hint = hint


class InvalidEvent(EventLogError):
    """An event breaks the format of the log; the field and the reason are named."""


class NotStored(EventLogError):
    """A write that was not acknowledged: the disk is full, read-only or another user's, or a sync failed.

    `lost` is the event with its id and time, where it may be on disk all the same.
    """

    lost: "dict[str, object] | None" = None


class Busy(NotStored):
    """A lock whose holder does not release it in time."""


class BadRequest(EventLogError):
    """The caller asked for something that does not exist or makes no sense."""


class BadSettings(EventLogError):
    """`config.yaml` holds an unknown key or a wrong type."""


class UntrustedRemote(EventLogError):
    """A remote in a state that must not be trusted: emptied, foreign, or rolled back."""


class Offline(EventLogError):
    """A remote that cannot be reached now."""


def library(name: str, extra: str) -> "Any":
    """Import a module of an extra; raises BadRequest where it is not installed."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        hint = f"pip install 'agent-eventlog[{extra}]'"
        raise BadRequest(f"{name.partition('.')[0]} is needed for this, and not installed", hint=hint) from error


# ------------------------------------------------------------------------------------------- reasons of the system

_SANDBOXED = "in an agent's sandbox, save by the tool `remember` of eventlog or run this outside of it; else "
_OWNED = "`ls -ld` shows whose it is; give it back with chown or chmod u+rwX"
_NOT_ALLOWED = "this user has no permission"
_FULL = "the disk is full", "free some space, then do it again"
_SYSTEM = {  # by the name of the error
    "EACCES": (_NOT_ALLOWED, _OWNED),
    "EPERM": (_NOT_ALLOWED, _SANDBOXED + _OWNED),
    "ENOSPC": _FULL,
    "EDQUOT": _FULL,
    "EROFS": ("the disk is read-only", _SANDBOXED + "make it writable"),
    "ENOTDIR": ("a file is where a directory should be", "move it out of the way, or name another place"),
    "EISDIR": ("a directory is where a file should be", "move it out of the way"),
    "EEXIST": ("a file is where a directory should be", "move it out of the way, or name another place"),
    "ENOENT": ("no such file or directory", "make the directory, or name another place"),
    "ENAMETOOLONG": ("the name is too long", "choose a shorter one"),
    "EFBIG": ("the file may not grow any further", "raise `ulimit -f`"),
    "EIO": ("the disk reports an error", "see the system's log; copy what can be read to another disk"),
    "EADDRINUSE": ("another program listens on this port", "name another one, or none for any that is free"),
    "EMFILE": ("too many files are open", "close programs, or raise `ulimit -n`"),
    "ENFILE": ("too many files are open", "close programs, or raise `ulimit -n`"),
}
_LOCKS = "/cache/locks"


def system_reason(error: OSError) -> tuple[str, str]:
    """Describe what the system refused, and what to do: two ends of sentences."""
    from errno import errorcode

    plain = str(error.strerror or error)
    name = errorcode.get(error.errno or 0, "")
    return _SYSTEM.get(name, (plain[:1].lower() + plain[1:], "put it right, then do it again"))


def place_of(error: OSError, path: str = "") -> str:
    """Name the place a person knows: the one the system named, else the path; of a lock, the directory it lies in."""
    named = path if error.filename is None else os.fsdecode(error.filename)
    named = path if path and named.endswith(".tmp") else named
    return _without_locks(named)


def _without_locks(path: str) -> str:
    """Name the cache instead of a lock in it: no person has heard of the lock."""
    folder, is_lock, _ = path.partition(_LOCKS)
    return f"{folder}/cache" if is_lock else path.rpartition("/")[0] if path.endswith(".lock") else path


def record_reason(text: str) -> str:
    """Describe an exception, and where it happened, in a log of errors: `PermissionError: [Errno 13] …: '/a'`."""
    import re

    noted = re.sub(r"^(?:\w+\.)*\w*(?:Error|Exception|NotStored|Interrupt|Exit)\w*: ", "", text)
    if found := re.search(r"\[Errno (?P<number>\d+)\] (?P<reason>[^:]*)(?:: '(?P<place>.*)')?", noted):
        what, _ = system_reason(OSError(int(found["number"]), found["reason"]))
        return f"{_without_locks(found['place'])}: {what}" if found["place"] else what
    return noted


# ------------------------------------------------------------------------------------------- reasons of msgspec

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_SIGNS = {"<=": "at most", ">=": "at least"}


def value_reason(reason: str, kind: "Any" = None) -> str:
    """Translate why msgspec takes no value (``Expected `float` <= 1.0``), of the type `kind` if known.

    Of a choice, the choices are named; a reason that is not msgspec's stays as it is.
    """
    import re

    if choices := _choices(kind):
        return f"must be {'one of ' if len(choices) > 1 else ''}{', '.join(choices)}"
    if reason.endswith(r"matching regex '\\S'"):
        return "must not be blank"
    expected = re.fullmatch(r"expected `(?P<kind>[^`]+)`(?P<rest>.*)", reason, re.IGNORECASE)
    if expected is None:
        return reason[:1].lower() + reason[1:]
    name, rest = expected["kind"], expected["rest"]
    if got := re.fullmatch(r", got `(?P<kind>[^`]+)`", rest):
        return f"must be {_in_words(name)}, not {_in_words(got['kind']).replace('a number', 'a fraction')}"
    if bound := re.fullmatch(r" (?P<of>of length )?(?P<sign>[<>]=) (?P<bound>[\d.-]+)", rest):
        return _bounded(name, bound)
    return f"must be {_in_words(name)}{rest}"


def _choices(kind: "Any") -> list[str]:
    from typing import Literal, get_args, get_origin

    parts = get_args(kind)
    if get_origin(kind) is Literal:
        return [str(part) for part in parts]
    return [choice for part in parts for choice in _choices(part)]


def _in_words(name: str) -> str:
    kinds = [kind for kind in name.split(" | ") if kind != "null"] or ["null"]
    return " or ".join(_KINDS.get(kind, kind) for kind in kinds)


def _bounded(kind: str, bound: "re.Match[str]") -> str:
    number = bound["bound"].removesuffix(".0")
    if not bound["of"]:
        return f"must be {_SIGNS[bound['sign']]} {number}"
    if (bound["sign"], number) == (">=", "1"):
        return "must not be empty"
    return f"must have {_SIGNS[bound['sign']]} {number} {'characters' if kind.startswith('str') else 'items'}"
