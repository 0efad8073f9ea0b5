"""Reasons in plain words: what a library refuses, and what the system does, told to whoever has to put it right."""

import errno
import os
import re

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_EXPECTED = re.compile(r"expected `(?P<kind>[^`]+)`(?P<rest>.*)", re.IGNORECASE)
_GOT = re.compile(r", got `(?P<kind>[^`]+)`")
_BOUND = re.compile(r" (?P<of>of length )?(?P<sign>[<>]=) (?P<bound>[\d.-]+)")
_SIGNS = {"<=": "at most", ">=": "at least"}


def of_value(reason: str) -> str:
    """Translate why msgspec takes no value (``Expected `float` <= 1.0``); any other reason stays as it is."""
    expected = _EXPECTED.fullmatch(reason)
    if expected is None:
        return reason[:1].lower() + reason[1:]
    kind, rest = expected["kind"], expected["rest"]
    if got := _GOT.fullmatch(rest):
        return f"must be {_kind(kind)}, not {_kind(got['kind']).replace('a number', 'a fraction')}"
    if bound := _BOUND.fullmatch(rest):
        return _bounded(kind, bound)
    return f"must be {_kind(kind)}{rest}"


def _kind(name: str) -> str:
    kinds = [one for one in name.split(" | ") if one != "null"] or ["null"]
    return " or ".join(_KINDS.get(one, one) for one in kinds)


def _bounded(kind: str, bound: re.Match[str]) -> str:
    number = bound["bound"].removesuffix(".0")
    if not bound["of"]:
        return f"must be {_SIGNS[bound['sign']]} {number}"
    if (bound["sign"], number) == (">=", "1"):
        return "must not be empty"
    return f"must have {_SIGNS[bound['sign']]} {number} {'characters' if kind.startswith('str') else 'items'}"


_NOT_ALLOWED = "this user has no permission", "`ls -ld` shows whose it is; give it back with chown or chmod u+rwX"
_FULL = "the disk is full", "free some space, then do it again"
_SYSTEM = {
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: ("the disk is read-only", "name another store with --store, or EVENTLOG_HOME"),
    errno.ENOTDIR: ("a file is where a directory should be", "move it out of the way, or name another place"),
    errno.EISDIR: ("a directory is where a file should be", "move it out of the way"),
    errno.EEXIST: ("a file is where a directory should be", "move it out of the way, or name another place"),
    errno.ENOENT: ("there is no such place", "make the directory, or name another place"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.EFBIG: ("the file may not grow any further", "raise `ulimit -f`"),
    errno.EIO: ("the disk reports an error", "see the system's log; copy what can be read to another disk"),
    errno.EMFILE: ("too many files are open", "close programs, or raise `ulimit -n`"),
    errno.ENFILE: ("too many files are open", "close programs, or raise `ulimit -n`"),
}


def of_system(error: OSError) -> tuple[str, str]:
    """Tell what the system refused, and what to do: two ends of sentences."""
    plain = str(error.strerror or error)
    return _SYSTEM.get(error.errno or 0, (plain[:1].lower() + plain[1:], "put it right, then do it again"))


def place_of(error: OSError, path: str = "") -> str:
    """Name the place a person knows: the one the system named, else the path; of a lock, the directory it lies in."""
    named = path if error.filename is None else os.fsdecode(error.filename)
    named = path if path and named.endswith(".tmp") else named
    return without_locks(named)


def without_locks(path: str) -> str:
    """Name the cache instead of a lock in it, of which nobody has heard."""
    folder, is_lock, _ = path.partition(_LOCKS)
    return f"{folder}/cache" if is_lock else path.rpartition("/")[0] if path.endswith(".lock") else path


def of_record(text: str) -> str:
    """Tell what happened, and where, of an exception that was noted: `PermissionError: [Errno 13] …: '/a'`."""
    noted = _NOTED.sub("", text)
    if found := _ERRNO.search(noted):
        what, _ = of_system(OSError(int(found["number"]), found["reason"]))
        return f"{without_locks(found['place'])}: {what}" if found["place"] else what
    return noted


_LOCKS = "/cache/locks"
_NOTED = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|NotStored|Interrupt|Exit)\w*: ")
_ERRNO = re.compile(r"\[Errno (?P<number>\d+)\] (?P<reason>[^:]*)(?:: '(?P<place>.*)')?")


def of_json(error: Exception) -> str:
    """Tell why a text is no JSON."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte 0x{error.object[error.start]:02x} at offset {error.start} is not UTF-8"
    if isinstance(error, RecursionError):
        return "lists or objects lie too deep in each other"
    return str(error).removeprefix("JSON is malformed: ").replace("Input data was truncated", "it breaks off")


def of_yaml(problem: str) -> str:
    """Translate what YAML's own reader says is wrong."""
    for pattern, words in _YAML:
        if found := pattern.fullmatch(problem):
            return found.expand(words)
    return "it cannot be understood from here on"


_YAML = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"expected ',' or '(.)', but got .*", r"a \1 is missing"),
        (r"mapping values are not allowed here", "a second colon: put the text in quotes"),
        (r"found character '\\t' that cannot start any token", "a tab: indent with spaces"),
        (r"found character '(.+)' that cannot start any token", r"no value begins with \1: put the text in quotes"),
        (r"could not find expected ':'", "a colon is missing"),
        (r"expected <block end>, but found .*", "it is not indented like the lines above"),
        (r"found unexpected end of stream", "a quotation mark is missing at the end of a text"),
        (r"found unknown escape character .*", "a backslash where none can be: put the text in single quotes"),
        (r"found undefined alias.*", "no value begins with *: put the text in quotes"),
        (r"could not determine a constructor for the tag .*", "no value begins with !: put the text in quotes"),
        (r"special characters are not allowed", "a character that cannot be seen"),
    )
]
