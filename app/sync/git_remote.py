"""A git repository between machines: a branch whose files are segments, in a private clone without a work tree.

Nothing of the user's repositories is touched, and no code of theirs runs: no hooks, no filters, no submodules. The
global configuration of git counts, because it knows how to log in. A push names the commit it builds on, so that of
two machines the second is refused, reads again, and pushes again. Where files were removed, the branch begins anew
with a commit without a parent: what was removed leaves the history, too.
"""

import random
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from errno import ENOSPC
from shutil import rmtree

from eventlog.app.sync.keyring import LARGEST
from eventlog.fast import os
from eventlog.format.errors import NotStored, Offline, UntrustedRemote, system_reason
from eventlog.store.files import make_dirs, remove

_BRANCH = "refs/heads/eventlog"
_TIP, _NEXT = "refs/eventlog/tip", "refs/eventlog/next"
_FETCH = ("fetch", "--quiet", "--no-tags", "--depth=1", "--")
_SECONDS = 600  # for one git process: a first push may be large
_SETTINGS = (
    f"core.hooksPath={os.devnull}", "core.fsmonitor=false", "core.sharedRepository=0600", "gc.auto=0",
    "maintenance.auto=false", "protocol.ext.allow=never", "submodule.recurse=false", "transfer.fsckObjects=false",
)  # fmt: skip
_WHO = {f"GIT_{role}_{field}": "eventlog" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
_RACE = ("stale info", "fetch first", "non-fast-forward", "failed to lock", "cannot lock", "incorrect old value",
         "reference already exists", "failed to update ref")  # fmt: skip
_LOCKED, _PATIENCE = ".lock': File exists", 10  # and so many pushes
_FULL = b"No space left on device"
_DAMAGED = ("corrupt", "not our ref")
_FORBIDDEN = ("non-fast-forward", "denied", "protected", "hook declined")


class GitRemote:
    """The branch `eventlog` of a repository, by its address."""

    stream: str | None = None

    def __init__(self, address: str, clone: str, environ: Mapping[str, str]) -> None:
        self._address, self._clone = address, clone
        self._environ = {name: value for name, value in environ.items() if not name.startswith("GIT_") or "SSH" in name}
        self._environ |= {**_WHO, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        self._objects: dict[str, str] = {}  # name of a file -> its object
        self._unread: set[str] = set()  # names of what is no file, or too long
        self._tip = ""
        self._locked = 0  # pushes that found a lock there

    def names(self) -> set[str]:
        """Fetch the branch and list its files; raises Offline, or UntrustedRemote: damaged, or only other branches."""
        lines = self._online("ls-remote", "--", self._address).splitlines()
        listed = {name: commit for commit, _, name in (line.partition("\t") for line in lines)}
        self._tip, self._objects = listed.get(_BRANCH, ""), {}
        self._unread = set()
        if not self._tip:
            if any(name.startswith("refs/heads/") for name in listed):
                hint = "name an empty repository"
                raise UntrustedRemote("has branches of something else", where=self._address, hint=hint)
            return set()
        with suppress(NotStored):
            self._prepare()
        if self._run(*_FETCH, self._address, f"+{_BRANCH}:{_TIP}").returncode:  # git cannot use the clone of before
            self._clone_anew()
        self._tip = self._git("rev-parse", _TIP).strip()
        for entry in filter(None, self._git("ls-tree", "-r", "-l", "-z", _TIP).split("\0")):
            info, _, name = entry.partition("\t")
            _, kind, self._objects[name], size = info.split()
            if kind != "blob" or (size.isdecimal() and int(size) > LARGEST):  # a damaged one has no size
                self._unread.add(name)
        return set(self._objects)

    def read(self, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Read files of the commit that was listed; from a new clone where a power cut has damaged that of before.

        What is no file, or too long to be one of ours, is as good as empty.
        """
        yield from ((name, b"") for name in names if name in self._unread)
        wanted = [name for name in names if name in self._objects and name not in self._unread]
        found = self._blobs(wanted)
        if len(found) < len(wanted):
            self._clone_anew()
            found = self._blobs(wanted)
        yield from found.items()

    def _blobs(self, wanted: Collection[str]) -> dict[str, bytes]:
        """Read files as far as the clone has them whole."""
        request = "".join(f"{self._objects[name]}\n" for name in wanted).encode()
        data = self._run("cat-file", "--batch", sent=request).stdout if wanted else b""
        found: dict[str, bytes] = {}
        start = 0
        for name in wanted:
            end = data.find(b"\n", start) + 1
            header = data[start:end].split()  # name, type, size; or why there is none
            if header[1:2] == [b"blob"]:
                found[name] = data[end : end + int(header[2])]
                end += int(header[2]) + 1
            start = end or len(data)
        return found

    def publish(self, files: Mapping[str, bytes], removed: Collection[str]) -> bool:
        """Publish a commit that adds files and removes others; return False where another machine was faster.

        Raises Offline, NotStored where a commit cannot be made or the branch stays locked, or UntrustedRemote where the
        repository takes none.
        """
        self._prepare()
        begins_anew = bool(removed) or not self._tip
        self._commit(files, removed, begins_anew=begins_anew)
        refused = self._push()
        if refused and begins_anew and self._tip and any(word in refused for word in _FORBIDDEN):
            self._commit(files, removed, begins_anew=False)  # a repository that lets no history go
            refused = self._push()
        if not refused and removed:
            with suppress(NotStored):  # all is sent
                self._run("gc", "--quiet", "--prune=now")
        self._locked += _LOCKED in refused
        if self._locked > _PATIENCE:
            hint = "was a git process killed there? Then remove that file, where the repository lies"
            raise NotStored(f"git: {_last_line(refused)}", where=self._address, hint=hint)
        if refused and not any(word in refused for word in _RACE):
            hint = "may this machine push there?"
            raise UntrustedRemote(f"git: {_last_line(refused)}", where=self._address, hint=hint)
        if refused:
            time.sleep(random.uniform(0.02, 0.2))  # noqa: S311 - several that were refused do not try again at once
        return not refused

    def _prepare(self) -> None:
        """Make the clone, unless it is there; what locks it was left by a git process that was killed."""
        if not os.path.exists(f"{self._clone}/HEAD"):
            make_dirs(self._clone)
            self._git("init", "--quiet", "--bare", "--template=", self._clone)
        for place in ("", "/refs", "/refs/eventlog"):
            with suppress(FileNotFoundError), os.scandir(f"{self._clone}{place}") as entries:
                for entry in entries:
                    if entry.name.endswith(".lock"):
                        remove(entry.path)

    def _clone_anew(self) -> None:
        broken, self._clone = self._clone, f"{self._clone}.new"
        _clear(self._clone)
        self._prepare()
        self._online(*_FETCH, self._address, f"+{_BRANCH}:{_TIP}")
        _clear(broken)
        os.rename(self._clone, broken)
        self._clone = broken

    def _commit(self, files: Mapping[str, bytes], removed: Collection[str], *, begins_anew: bool) -> None:
        """Make the commit by one `fast-import`; with `begins_anew` it has no parent."""
        reset = f"reset {_NEXT}\n\n" if begins_anew else ""
        parts = [f"{reset}commit {_NEXT}\ncommitter eventlog <eventlog> now\ndata 4\nsync\n".encode()]
        if self._tip and begins_anew:
            parts += [f'M 040000 {self._git("rev-parse", f"{self._tip}^{{tree}}").strip()} ""\n'.encode()]
        elif self._tip:
            parts += [f"from {self._tip}\n".encode()]
        parts += [f"D {name}\n".encode() for name in removed if name in self._objects]
        for name, data in files.items():
            parts += [f"M 100644 inline {name}\ndata {len(data)}\n".encode(), data, b"\n"]
        sent = b"".join((*parts, b"\ndone\n"))
        self._git("fast-import", "--quiet", "--force", "--done", "--date-format=now", sent=sent)

    def _push(self) -> str:
        """Send the commit where the branch is as it was listed; return why it was refused. Raises Offline."""
        lease = f"--force-with-lease={_BRANCH}:{self._tip}"
        done = self._run("push", "--porcelain", "--no-verify", lease, "--", self._address, f"{_NEXT}:{_BRANCH}")
        output = f"{done.stdout.decode(errors='replace')}\n{done.stderr.decode(errors='replace')}"
        if done.returncode and "\n!" not in f"\n{output}" and not any(word in output for word in _RACE):
            raise self._failure(output)
        return output if done.returncode else ""

    def _online(self, *words: str) -> str:
        done = self._run(*words)
        if done.returncode:
            raise self._failure(done.stderr.decode(errors="replace"))
        return done.stdout.decode(errors="surrogateescape")

    def _failure(self, output: str) -> Offline | UntrustedRemote:
        """Explain a failure: the repository is damaged, or it was not reached."""
        what, where = f"git: {_last_line(output)}", self._address
        if any(word in output for word in _DAMAGED):
            hint = f"mend it there (git fsck), or put an empty one in its place and: eventlog sync start {where}"
            return UntrustedRemote(f"is damaged: {what}", where=where, hint=f"{hint}; nothing is deleted here")
        return Offline(what, where=where, hint="it is tried again at the next sync")

    def _git(self, *words: str, sent: bytes = b"") -> str:
        """Run git in the clone; raises NotStored."""
        done = self._run(*words, sent=sent)
        if done.returncode:
            raise NotStored(f"git: {_last_line(done.stderr.decode(errors='replace'))}", where=self._clone)
        return done.stdout.decode(errors="surrogateescape")

    def _run(self, *words: str, sent: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        """Run git; raises Offline, or NotStored where the disk is full: what is fetched again makes room for others."""
        here = [f"--git-dir={self._clone}"] if words[0] not in ("init", "ls-remote") else []
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        command = ["git", *settings, *here, *words]
        try:
            done = subprocess.run(
                command,
                input=sent,
                capture_output=True,
                env=self._environ,
                cwd=os.sep,  # in no repository of the user
                check=False,
                timeout=_SECONDS,
                umask=0o077,
            )
        except FileNotFoundError as error:
            raise Offline("git is not installed", hint="install git, or sync through dir:PATH") from error
        except subprocess.TimeoutExpired as error:
            raise Offline(f"git gave no answer in {_SECONDS} seconds", where=self._address) from error
        output_lines = done.stderr.splitlines() if done.returncode else ()
        if any(_FULL in line and not line.startswith(b"remote:") for line in output_lines):
            _clear(self._clone)
            what, hint = system_reason(OSError(ENOSPC, ""))
            raise NotStored(f"not stored: {what}", where=self._clone, hint=hint)
        return done


def _clear(clone: str) -> None:
    """Remove a clone, or the file in its place."""
    rmtree(clone, ignore_errors=True)
    remove(clone)


def _last_line(output: str) -> str:
    """Return the line of git's words that has the reason."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "! ", "remote:", "ssh:"))]
    return (telling or lines or ["failed"])[0].removeprefix("fatal: ").removeprefix("error: ")
