"""The state of a git repository by its own files: lately changed files, and its address; no process is started.

Changes      by git's index (`Documentation/gitformat-index.txt`) and the files: only sizes and times are compared, so a
             file that was saved without a change counts as changed. An index that is large, cut, compressed or of
             another hash yields none.
Address      one repository is one project wherever it lies. An address has many spellings: host and path count, in
             lower case, without user, port and `.git`.

Loaded while a session waits to begin: standard library only, `re` where an address is read.
"""

from _struct import Struct  # `struct` itself is looked for through the whole path

from eventlog.fast import os
from eventlog.projects.root import find_repository, git_branch, git_config, git_dir_of
from eventlog.store.files import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Entry = tuple[int, str, int]  # when it was changed, its name and its size, as they were staged

_TRUNKS = frozenset(("main", "master", "trunk", "develop", "development", "dev", "default", "HEAD"))
_FILES = 6  # changed lately, that are looked for
_LONGEST = 1 << 19  # bytes: some five thousand files
_VERSIONS = (2, 3)
_ENTRY = Struct(">8xII8xI8xI20xH")  # of a file: the seconds and nanoseconds of its change, mode, size, flags
_REGULAR = 0o100
_UNWATCHED, _EXTENDED, _NAME_LENGTH = 0x8000, 0x4000, 0xFFF  # flags: assume-valid; more follow; how long the name is
_LOOKED_AT = 120  # files: who changes one has mostly changed it before, not long ago
_AT_ONCE = 12  # changed in the same second by a checkout, not by anyone at work
_SECOND = 1_000_000_000


def branch_and_changes(where: str) -> tuple[str, list[str]]:
    """Read the branch ("" on a trunk, and where there is none) and what was changed lately in a directory."""
    branch = git_branch(where) or ""
    branch = "" if branch in _TRUNKS else branch
    return branch, changed_files(where, _FILES, committed=bool(branch))


def changed_files(cwd: str, limit: int, *, committed: bool = False) -> list[str]:
    """List so many tracked files that were changed since they were staged, the newest first; [] where nothing is known.

    With `committed` after them those that were staged, and mostly committed, last.
    """
    found = find_repository(os.path.abspath(cwd))
    if not found:
        return []
    try:
        data = read_regular(f"{git_dir_of(*found)}/index", _LONGEST)
        newest = sorted(_entries(data), reverse=True)[:_LOOKED_AT]
    except (OSError, ValueError):
        return []
    now = [(_changed_at(f"{found[0]}/{name}", staged_at, size), name) for staged_at, name, size in newest]
    by_hand = _but_together(sorted(((when, name) for when, name in now if when), reverse=True))
    staged = _but_together([(when, name) for when, name, _ in newest]) if committed else []
    return list(dict.fromkeys((*by_hand, *staged)))[:limit]


def _entries(data: bytes) -> "Iterator[Entry]":
    """Yield the regular files of an index; raises ValueError where it is cut."""
    if data[:4] != b"DIRC" or int.from_bytes(data[4:8], "big") not in _VERSIONS:
        return
    start = 12
    for _ in range(int.from_bytes(data[8:12], "big")):
        if len(data) < start + _ENTRY.size:
            raise ValueError("an index that is cut")
        seconds, nanoseconds, mode, size, flags = _ENTRY.unpack_from(data, start)
        name_at = start + _ENTRY.size + (2 if flags & _EXTENDED else 0)
        end = data.index(b"\0", name_at)
        if end - name_at != flags & _NAME_LENGTH:
            raise ValueError("a hash of another length, or a name nobody types")
        if mode >> 9 == _REGULAR and not flags & (_UNWATCHED | _EXTENDED):
            yield seconds * _SECOND + nanoseconds, data[name_at:end].decode("utf-8", "replace"), size
        start += (end - start + 8) & ~7


def _changed_at(path: str, staged_at: int, size: int) -> int:
    """Return when a file was changed or, of a deleted file, staged; 0 where it is as it was staged."""
    try:
        now = os.lstat(path)
    except OSError:
        return staged_at
    return now.st_mtime_ns if (now.st_mtime_ns, now.st_size & 0xFFFFFFFF) != (staged_at, size) else 0


def _but_together(newest: "list[tuple[int, str]]") -> list[str]:
    """Leave out what a program changed: many files in the same second."""
    seconds = [when // _SECOND for when, _ in newest]
    return [name for when, name in newest if seconds.count(when // _SECOND) <= _AT_ONCE]


# ------------------------------------------------------------------------------------------- the address

_SECTION = r'\[\s*remote\s+"((?:[^"\\\n]|\\.)*)"\s*\]'
_URL = r"\s*url\s*=\s*(.*)"
_WITH_SCHEME = r"(?:ssh|git|https?|git\+ssh|ssh\+git|git\+https?)://(?P<host>[^/]*)/(?P<path>.*)"
_AS_SSH = r"(?P<host>[^/:]+):(?P<path>.*)"
_LONGEST_ADDRESS = 300
_DRIVE = 1  # characters before the colon of `C:\repositories`


def remote_of(root: str) -> str:
    """Read the address of the repository with this root, that of `origin` where it has several; "" for none."""
    import re

    urls: dict[str, str] = {}
    name = None
    for line in git_config(root).splitlines():
        if line.lstrip().startswith("["):
            section = re.match(_SECTION, line.strip(), re.IGNORECASE)
            name = section[1] if section else None
        elif name is not None and (url := re.fullmatch(_URL, line, re.IGNORECASE)):
            urls.setdefault(name, normalised(_unquoted(url[1])))  # git fetches from the first, and pushes to each
    return urls.get("origin") or next(filter(None, urls.values()), "")


def normalised(url: str) -> str:
    """Normalise an address to `github.com/ada/shop`; "" where two machines could not share it."""
    import re

    found = re.fullmatch(_AS_SSH if "://" not in url else _WITH_SCHEME, url, re.IGNORECASE)
    if not found or len(url) > _LONGEST_ADDRESS or (len(found["host"]) == _DRIVE and "://" not in url):
        return ""
    host = found["host"].rpartition("@")[2].lower().partition(":")[0].rstrip(".")
    path = "/".join(part for part in found["path"].lower().split("/") if part)
    path = path.removesuffix(".git").rstrip("/")
    is_text = path.isprintable() and not any(char.isspace() for char in path)
    return f"{host}/{path}" if re.fullmatch(r"[a-z0-9.-]+", host) and path and is_text and ":" not in path else ""


def _unquoted(value: str) -> str:
    """Read a value as git does: without the comment behind it, and its quotes."""
    text, quoted, escaped = "", False, False
    for char in value.strip():
        if escaped:
            text, escaped = text + char, False
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            text += char
    return text.strip()
