"""Files that a session changed, by its calls of tools and its commands of git, and which of them count; pure."""

import re
from collections import Counter
from pathlib import PurePath, PureWindowsPath

from eventlog.format.text import one_line
from eventlog.hosts.transcripts.steps import programs_run

_REMOVES = re.compile(r"^(?:\S*/)?(?:rm|git rm|git clean|unlink)\b")
_GIVES_BACK = re.compile(  # makes these files, or all, what they were at the last commit
    r"^git (?:-C \S+ )?(?:(?P<verb>checkout|restore)(?! --staged| -S)|(?P<all>reset(?= --hard)"
    r"|stash(?! (?:pop|apply|list|show|drop|clear|branch))))\b(?P<words>.*)$"
)
_GIVES_AGAIN = re.compile(r"^git (?:-C \S+ )?stash (?:pop|apply)\b")
_MAY_TAKE_AWAY = re.compile(r"\b(?:rm|unlink|clean|checkout|restore|reset|stash)\b")
_ADDS = re.compile(r"\bgit (?:-C \S+ )?add ([^\n|;&]+)")
_ADDS_ALL = frozenset(("-A", "--all", ".", "*"))
_OF_PLANS = "/.claude/plans/"  # of the agent to itself
_OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\|[^/\\]+\\[^/]+$")
_COMMITS = re.compile(r"\bgit (?:-C \S+ )?commit\b")


class ChangedFiles:
    """The files a session changed: those the repository has, and those that only served the work."""

    def __init__(self, roots: list[str]) -> None:
        self._roots = roots
        self._changed: dict[str, bool] = {}  # whether the repository has it
        self._times: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._staged: set[str] = set()
        self._committed: set[str] = set()
        self._stashed: dict[str, bool] = {}

    def add(self, kind: str, path: str) -> None:
        """Take in that a file was looked at, written whole, or changed."""
        path = self._below_project(one_line(path))
        if _OF_PLANS in path:
            return
        if kind == "file":
            self._times[path] += 1
            self._changed.setdefault(path, True)
        elif kind == "created" and path not in self._changed:
            self._changed[path] = path in self._seen
        self._seen.add(path)

    def undo(self, path: str) -> None:
        """Take back a change that was announced, but not made."""
        path = self._below_project(one_line(path))
        self._times[path] -= 1
        if self._times[path] < 1:
            self._changed.pop(path, None)

    def run(self, command: str) -> None:
        """Take in that files were committed, or removed."""
        added = {word for words in _ADDS.findall(command) for word in words.split()}
        everything = bool(added & _ADDS_ALL)
        self._staged |= {path for path in self._changed if everything or any(_names(word, path) for word in added)}
        if _COMMITS.search(command):
            self._changed |= dict.fromkeys(self._staged & self._changed.keys(), True)
            self._committed |= self._changed.keys()
        pieces = [*programs_run(command)] if _MAY_TAKE_AWAY.search(command) else []
        for piece in pieces:
            self._give_back(piece)
        removed = {word for piece in pieces if _REMOVES.match(piece) for word in piece.split()[1:]}
        for path in [path for path, is_known in self._changed.items() if not is_known]:
            if any(_names(word, path) for word in removed):
                del self._changed[path]
                self._seen.discard(path)

    def _give_back(self, piece: str) -> None:
        """Take in that git made files what they were, or brought their changes back."""
        if _GIVES_AGAIN.match(piece):
            self._changed |= self._stashed
        elif found := _GIVES_BACK.match(piece):
            words = found["words"].split()
            is_named = "--" in words or found["verb"] == "restore"  # else a word may be a branch
            everything = "." in words or (found["all"] and not is_named)
            reverted = {
                path: is_known
                for path, is_known in self._changed.items()
                if path not in self._committed
                and (everything or any(_names(word, path) and (is_named or path.endswith(word)) for word in words))
            }
            self._stashed = reverted if found["all"] == "stash" else self._stashed
            for path in reverted:
                del self._changed[path]
                self._times[path] = 0

    @property
    def changed(self) -> list[str]:
        """List all, in the order of their first changes."""
        return list(self._changed)

    @property
    def known(self) -> list[str]:
        """List those that the repository has."""
        return [path for path, is_known in self._changed.items() if is_known]

    @property
    def others(self) -> list[str]:
        """List those that only served the work."""
        return [path for path, is_known in self._changed.items() if not is_known]

    @property
    def scratch(self) -> list[str]:
        """Name the files of no account, where there are others."""
        return [PurePath(path).name for path in self.others] if self.known else []

    def _below_project(self, path: str) -> str:
        called = PureWindowsPath(path) if _OF_WINDOWS.match(path) else PurePath(path)
        root = next((root for root in self._roots if called.is_relative_to(root)), "")
        return (called.relative_to(root) if root else called).as_posix()


def _names(word: str, path: str) -> bool:
    """Check whether a word of a command names a file, or a folder above it."""
    word = word.strip("'\"").rstrip("/").removeprefix("./")
    return bool(word) and (path == word or path.endswith(f"/{word}") or f"/{word}/" in f"/{path}")
