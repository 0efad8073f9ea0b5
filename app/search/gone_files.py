"""Files that are gone: git has known them, and none of that name is there.

Of a name that git has never known nothing is said: it may be a file of elsewhere, or no file at all. A file that git
still lists, and that is not there, was deleted a moment ago; of what was deleted by commits a replay leaves a note with
the days. Whoever tells a line reads git's index and that note only where the line names what is not there.

Imported inside agents' hooks, and only then: standard library only, and no process is started.
"""

from eventlog.fast import fastjson, os
from eventlog.format.ids import digest
from eventlog.projects.root import find_repository, git_dir_of, git_head
from eventlog.store.files import make_dirs, read, replace_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eventlog.store import Store

    Gone = tuple[str, str]  # as it was named, and the day since when, "" where that is not known

_LONGEST_INDEX = 4 << 20  # bytes: some forty thousand files
_VERSIONS = (b"\0\0\0\2", b"\0\0\0\3")
_MAX_DELETED = 1000  # files whose day is noted, the newest
_MAX_NAMED = 4  # of one line
_KEY_BYTES = 8
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WORDS = {
    "en": ("`{name}` is gone", "`{name}` is gone since {date}", "; "),
    "zh": ("`{name}` 已不存在", "`{name}` 自 {date} 起已不存在", "；"),
}


def gone(store: "Store", project: str, names: "Sequence[str]") -> "list[Gone]":
    """Find those of these names, of files that are not below the project, which git has known and which are gone."""
    found = find_repository(project) if os.path.exists(project) else None  # of another machine
    if not found:
        return []
    root, dot_git = found
    index = read(f"{git_dir_of(root, dot_git)}/index", _LONGEST_INDEX) or b""
    noted = _noted(store, root) if index[4:8] in _VERSIONS and len(index) < _LONGEST_INDEX else None
    since = ((name, _since(root, index, noted, name)) for name in names[:_MAX_NAMED]) if noted is not None else ()
    return [(name, day) for name, day in since if day is not None]


def worded(files: "Iterable[Gone]", locale: str, year: str) -> str:
    """Write in brackets which files are gone, and since when: `(`pay.py` is gone since 3 Nov)`; "" for none."""
    plain, dated, between = _WORDS.get(locale, _WORDS["en"])
    words = [(dated if day else plain).format(name=name, date=_date(day, locale, year)) for name, day in files]
    return f" ({between.join(words)})" if words else ""


def note_deleted(store: "Store", projects: "Iterable[str]") -> None:
    """Note which files commits have deleted, of the projects that are repositories whose HEAD is another than it was.

    Whatever git cannot tell is not noted. Raises NotStored.
    """
    for project in projects:
        _, head = git_head(project) if os.path.exists(f"{project}/.git") else (None, None)
        before = _read(store, project) if head else {}
        if head and before.get("head") != head:
            from eventlog.app.setup.session_hooks.git import Git

            files = dict(Git(project).deleted(_MAX_DELETED))
            make_dirs(os.path.dirname(_path(store, project)), durable=False)
            replace_file(_path(store, project), fastjson.dumps({"head": head, "files": files}), durable=False)


def _date(day: str, locale: str, year: str) -> str:
    if not day or locale == "zh":
        return day
    return f"{int(day[8:])} {_MONTHS[int(day[5:7]) - 1]}" + ("" if day.startswith(year) else f" {day[:4]}")


def _since(root: str, index: bytes, noted: "dict[str, object]", name: str) -> str | None:
    """Find since when a file is gone, "" where that is not known; None for a file that exists, or never did."""
    tracked = _tracked(index, name)
    if tracked is None or any(os.path.exists(f"{root}/{path}") for path in tracked):
        return None
    if tracked:
        return ""
    days = [str(day) for path, day in noted.items() if path == name or path.endswith(f"/{name}")]
    return max(days, default=None)


def _tracked(index: bytes, name: str) -> list[str] | None:
    """List the files of git's index with this name or end of a path; None where git's index cannot be read.

    An entry has, before its path, the length of that in one byte, and before it a zero (`gitformat-index`): but for a
    path of 256 bytes and more, one that a sparse checkout leaves out, and one that is being merged.
    """
    end_of_it = name.encode("utf-8", "replace") + b"\0"
    found: list[str] = []
    at = index.find(end_of_it)
    while at >= 0:
        end = at + len(end_of_it) - 1
        start = index.rfind(b"\0", 0, end) + 2
        if start == at or index[at - 1 : at] == b"/":
            if index[start - 1] != end - start:
                return None
            found.append(index[start:end].decode("utf-8", "replace"))
        at = index.find(end_of_it, end)
    return found


def _noted(store: "Store", root: str) -> "dict[str, object]":
    files = _read(store, root).get("files")
    return files if isinstance(files, dict) else {}


def _read(store: "Store", root: str) -> "dict[str, object]":
    return fastjson.object_in(read(_path(store, root)) or b"")


def _path(store: "Store", root: str) -> str:
    return store.cached("deleted", f"{digest(root, _KEY_BYTES).hex()}.json")
