"""Run git: queries first, the two changes last.

The caller's own `GIT_*` variables are not passed on: a session that ends inside another repository's git hook would
otherwise query, and change, that repository.

No code of the repository runs: no hooks, no file system monitor, no transport. Filters run whenever files are compared
or checked out and cannot be switched off, so a repository with filters of its own is left alone.
"""

import os
import subprocess
from functools import cached_property
from pathlib import Path

_SECONDS = 10  # for one git process
_COMMITS = 2000  # that are looked at for what they deleted
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
    "sequencer": "a sequence of picks",
    "index.lock": "another git process",
}
_LEFT_FOR_NOW = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")  # hold the branch to return to
_SUBMODULE = "160000"  # its mode in a tree
_NO_CODE = (
    "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "protocol.allow=never", "submodule.recurse=false",
)  # fmt: skip
_FILTERS = r"^filter\..*\.(clean|smudge|process)$"


class GitError(Exception):
    """Raised where git fails; the message is its first line."""


class Git:
    """A working tree."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd

    @cached_property
    def root(self) -> str | None:
        """Find the top of the working tree; None without a repository or a working tree."""
        return self._ask("rev-parse", "--show-toplevel")

    def user_name(self) -> str:
        """Read the name of the person here; "" where git does not know it."""
        return self._ask("config", "user.name") or ""

    def ignores(self, path: str) -> bool:
        """Return whether git leaves a file alone that it does not track."""
        return bool(self._ask("check-ignore", "--", path))

    def filters(self) -> list[str]:
        """List the filters the repository or a submodule runs on its files, by the names of their settings."""
        common = self._common_dir
        configs = [common / "config", *sorted(common.glob("worktrees/*/config.worktree")), common / "config.worktree"]
        configs += sorted(common.glob("modules/**/config"))
        found = (
            self._ask("config", "--includes", "--file", str(file), "--name-only", "--get-regexp", _FILTERS)
            for file in configs
            if file.is_file()
        )
        return [name for names in found for name in (names or "").splitlines()]

    def superproject(self) -> str | None:
        """Find the working tree that has this one as a submodule."""
        return self._ask("rev-parse", "--show-superproject-working-tree")

    def branch(self) -> str | None:
        """Find the branch checked out, which may have no commit yet; None where HEAD is detached."""
        head = self._ask("symbolic-ref", "--quiet", "HEAD")  # --short would spell it otherwise beside a tag of its name
        return head.removeprefix("refs/heads/") if head else None

    def trunk(self, wanted: str | None = None) -> str | None:
        """Find the local branch of that name, or the first of `main` and `master` that exists."""
        return next((name for name in ([wanted] if wanted else ["main", "master"]) if self.tip(name)), None)

    def tip(self, branch: str) -> str | None:
        """Find the commit of a local branch; None for none."""
        return self._ask("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")

    def changes(self) -> list[str]:
        """List what is not committed, files not under version control and insides of submodules included.

        Raises GitError where this would run a program of the repository.
        """
        if filters := self.filters():
            raise GitError(f"{filters[0]} of this repository would run a program")
        return self._run("status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none").splitlines()

    def hidden_changes(self) -> bool:
        """Return whether git ignores changes of some files (`update-index --assume-unchanged`)."""
        return any(line[:1].islower() for line in self._run("ls-files", "-v").splitlines())

    def under_way(self) -> str | None:
        """Find an unfinished operation in this working tree."""
        git_dir = Path(self._run("rev-parse", "--absolute-git-dir"))
        return next((what for name, what in _UNDER_WAY.items() if (git_dir / name).exists()), None)

    def elsewhere(self, branch: str) -> str | None:
        """Find another working tree of the repository that has the branch checked out, or will return to it."""
        here = self.root
        trees = self._run("worktree", "list", "--porcelain").split("\n\n")
        for found in (dict(line.partition(" ")[::2] for line in lines.splitlines()) for lines in trees):
            if found.get("branch") == f"refs/heads/{branch}" and not _same(found["worktree"], here):
                return found["worktree"]
        common = self._common_dir
        for place in (common, *sorted(common.glob("worktrees/*"))):
            tree = _text(place / "gitdir").removesuffix("/.git") or str(common.parent)
            returns = any(_text(place / name).removeprefix("refs/heads/") == branch for name in _LEFT_FOR_NOW)
            if returns and not _same(tree, here):
                return tree
        return None

    def alias(self, branch: str) -> str | None:
        """Find a symbolic branch for this branch, or the target of this symbolic branch."""
        listed = self._run("for-each-ref", "--format=%(refname) %(symref)", "refs/heads").splitlines()
        for name, _, target in (line.replace("refs/heads/", "").partition(" ") for line in listed):
            if target and branch in (name, target):
                return name if target == branch else target
        return None

    def has_own_commits(self, branch: str, trunk: str) -> bool:
        """Return whether the branch ever had commits of its own, as far as known.

        Decided by its reflog, else by whether the trunk contains it by a merge and not in its first-parent line.
        """
        past = self._run("reflog", "show", "--format=%H", f"refs/heads/{branch}", "--").splitlines()
        if past:
            return past[-1] != self.tip(branch)
        line = self._run("rev-list", "--first-parent", "--parents", f"refs/heads/{trunk}", f"^refs/heads/{branch}")
        return bool(line) and self.tip(branch) not in line.splitlines()[-1].split()[1:2]

    def is_merged(self, branch: str, trunk: str) -> bool:
        """Return whether the trunk contains all commits of the branch."""
        return self._ask("merge-base", "--is-ancestor", f"refs/heads/{branch}", f"refs/heads/{trunk}") is not None

    def is_contained(self, branch: str, trunk: str) -> bool:
        """Return whether the trunk has all changes of the branch, squashed or rebased."""
        source, target = f"refs/heads/{branch}", f"refs/heads/{trunk}"
        base = self._ask("merge-base", source, target)
        return bool(base) and self._differing(str(base), source).isdisjoint(self._differing(target, source))

    def _differing(self, first: str, second: str) -> set[str]:
        return set(self._run("diff-tree", "-r", "-z", "--name-only", first, second).split("\0")) - {""}

    def submodules_differ(self, branch: str, trunk: str) -> bool:
        """Return whether a switch would leave submodules at commits other than the trunk's."""
        raw = self._run("diff-tree", "-r", f"refs/heads/{branch}", f"refs/heads/{trunk}")
        return any(_SUBMODULE in line.split("\t")[0] for line in raw.splitlines())

    def switch(self, branch: str) -> None:
        """Check the branch out, unless that would overwrite a file, also an ignored file."""
        self._run("switch", "--quiet", "--no-guess", "--no-overwrite-ignore", branch, writes=True)

    def delete(self, branch: str, tip: str) -> None:
        """Delete the branch if it is still at that commit."""
        self._run("update-ref", "-d", f"refs/heads/{branch}", tip, writes=True)
        self._ask("config", "--remove-section", f"branch.{branch}")

    @cached_property
    def _common_dir(self) -> Path:
        return Path(self._run("rev-parse", "--path-format=absolute", "--git-common-dir"))

    def deleted(self, limit: int) -> list[tuple[str, str]]:
        """List the files that commits have deleted with the day, the newest first, each once; [] where git fails."""
        log = ("log", "--diff-filter=D", "--name-only", "--no-renames", "--no-show-signature", "--format=%x00%cs")
        found: dict[str, str] = {}
        day = ""
        for line in (self._ask("-c", "core.quotePath=false", *log, f"--max-count={_COMMITS}") or "").splitlines():
            if line.startswith("\0"):
                day = line[1:]
            elif line and len(found) < limit:
                found.setdefault(line, day)
        return list(found.items())

    def _ask(self, *args: str) -> str | None:
        """Run git; None where it fails."""
        try:
            return self._run(*args) or (None if args[0] in ("rev-parse", "symbolic-ref") else "")
        except GitError:
            return None

    def _run(self, *args: str, writes: bool = False) -> str:
        """Run git; raises GitError."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environ |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": str(int(writes))}
        safely = [word for setting in _NO_CODE for word in ("-c", setting)]
        try:
            done = subprocess.run(
                ["git", *safely, *args],
                cwd=self._cwd,
                env=environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="surrogateescape",
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitError(str(error)) from error
        if done.returncode:
            errors = done.stderr.strip().splitlines()
            raise GitError(errors[0] if errors else f"git {args[0]} exits with {done.returncode}")
        return done.stdout.rstrip("\n")


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return ""


def _same(first: str, second: str | None) -> bool:
    return second is not None and os.path.realpath(first) == os.path.realpath(second)
