"""A person's agreement to files of a checkout: their digests by path, in `trusted.json` of the store.

It holds for exactly the bytes that were shown. A project's own session hooks have a digest alone; a decision of a team
has an object, with the event that brought it into the log: once its file is gone or has other bytes, that event is
withdrawn before anything else is answered.

Imported inside agents' hooks where a person has agreed to a file: standard library only.
"""

from eventlog.fast import fastjson, os
from eventlog.fast.sha import sha256
from eventlog.projects.root import git_branch
from eventlog.store.files import read, read_regular, replace_file, stamp_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any, Literal

    from eventlog.store import Store

    Approval = Literal["trusted", "not trusted", "changed since it was trusted"]
    TeamApproval = dict[str, Any]  # digest, project, conversation, who, event, round; branch of a person's own; gone

LONGEST_DECISION = 1 << 16  # bytes
_REASON = "its file is not in the repository any more, or says something else"


class Approvals:
    """The agreements of a store."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def of(self, path: str, data: bytes) -> "Approval":
        """Look up the agreement to exactly these bytes at a path."""
        return self.compared(self._all().get(path), data)

    @staticmethod
    def compared(found: object, data: bytes) -> "Approval":
        """Compare an agreement, or None, with the bytes there are now."""
        agreed = _digest(found)
        if not agreed:
            return "not trusted"
        return "trusted" if agreed == sha256(data) else "changed since it was trusted"

    def of_teams(self) -> "dict[str, TeamApproval]":
        """Read the agreements to decisions of teams, by path."""
        return {path: found for path, found in self._all().items() if _is_complete(found)}

    def add(self, agreed: "Mapping[str, str | TeamApproval]") -> None:
        """Store agreements by path, each a digest or an object that holds a digest; raises NotStored or Busy."""
        with self._locked():
            self._write({**self._all(), **agreed})

    def revoke(self, paths: "Iterable[str]") -> int:
        """Take back the agreements to files; return how many there were. Raises NotStored or Busy."""
        with self._locked():
            agreed = self._all()
            found = [path for path in paths if _digest(agreed.get(path))]
            for path in found:
                if _is_complete(agreed[path]):
                    agreed[path]["digest"] = ""  # its event is still to be withdrawn
                else:
                    del agreed[path]
            if found:
                self._write(agreed)
        return len(found)

    def withdraw_gone(self, project: str | None = None) -> bool:
        """Withdraw decisions of a project, or of all, whose files are gone or changed; return whether there were any.

        A person's own decision stays where another branch is checked out than its file was last seen on. Raises
        NotStored.
        """
        pending = {
            path: entry
            for path, entry in self.of_teams().items()
            if not entry.get("gone") and project in (None, entry["project"])
        }
        before = {path: dict(entry) for path, entry in pending.items()}
        missing = [path for path, entry in pending.items() if not _stands(path, entry)]
        standing = {entry["event"] for path, entry in pending.items() if path not in missing}
        for path in missing:
            pending[path]["gone"] = True
            if pending[path]["event"] not in standing:  # one decision may have several files
                _withdraw(self._store, path, pending[path])
        if changed := {path: entry for path, entry in pending.items() if entry != before[path]}:
            with self._locked():
                now = self._all()  # a person may have agreed, or not any more, while the files were looked at
                same = {path: entry for path, entry in changed.items() if now.get(path) == before[path]}
                self._write({**now, **same})
        return bool(missing)

    @staticmethod
    def has_content(path: str, entry: "TeamApproval") -> bool:
        """Return whether a file has the bytes a person agreed to; note its size and times for the next look."""
        try:
            stamp = list(stamp_from(os.lstat(path)))
            if entry["digest"] and entry.get("stamp") == stamp:
                return True
            data = read_regular(path, LONGEST_DECISION + 1)
        except (OSError, ValueError):
            return False
        if sha256(data) != entry["digest"]:
            return False
        entry["stamp"] = stamp
        return True

    def _all(self) -> "dict[str, Any]":
        """Read all agreements; none where the file cannot be read."""
        return fastjson.object_in(read(self._store.trusted) or b"")

    def _locked(self) -> "AbstractContextManager[object]":
        """Keep other processes from writing agreements meanwhile; a hook waits no longer than its deadline."""
        from eventlog.store.locks import locked

        return locked(self._store, self._store.lock("trust"))

    def _write(self, agreed: "Mapping[str, Any]") -> None:
        replace_file(self._store.trusted, fastjson.dumps(dict(agreed)) + b"\n")


def _stands(path: str, entry: "TeamApproval") -> bool:
    """Return whether a decision is still shared by its file; note the branch its own file was last seen on."""
    is_own = "branch" in entry
    branch = git_branch(os.path.dirname(path)) if is_own else None
    if Approvals.has_content(path, entry):
        if is_own:
            entry["branch"] = branch
        return True
    return is_own and entry["branch"] != branch and bool(entry["digest"])


def _withdraw(store: "Store", path: str, entry: "TeamApproval") -> None:
    """Append the withdrawal of the event of a decision; raises NotStored."""
    from eventlog.store.append_once import append_once

    of_person = {"conversation_id": "human", "agent": "human"}  # who took back a decision of their own
    by = of_person if "branch" in entry else {"conversation_id": entry["conversation"], "agent": entry["who"]}
    fields = {**by, "project": entry["project"]}
    withdrawal = {"type": "retraction", **fields, "target": entry["event"], "reason": _REASON}
    append_once(store, withdrawal, f"team\n{path}\n{entry['event']}\nwithdrawn")


def _digest(found: object) -> object:
    """Return the digest of an agreement; None or "" where there is none any more."""
    return found.get("digest") if isinstance(found, dict) else found


def _is_complete(found: object) -> bool:
    """Return whether an agreement is about a decision, as this program writes it."""
    needed = ("digest", "project", "conversation", "who", "event")
    return isinstance(found, dict) and all(isinstance(found.get(name), str) for name in needed)
