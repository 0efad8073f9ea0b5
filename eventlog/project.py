"""Which project a directory belongs to: the root of its git repository, else the directory itself.

Read from git's own files, no git process: this runs inside agents' hooks.
"""

import os

_LONGEST_REF_FILE = 4096
_SHORTEST_HASH = 40
_HEX = frozenset("0123456789abcdef")


def project_root(cwd: str) -> str:
    """The repository root found by walking up; a linked worktree counts as its main repository.

    Where there is none (or the path does not exist on this machine) the directory itself.
    """
    cwd = os.path.abspath(cwd)
    found = _find(cwd)
    return _main_repository(*found) if found else cwd


def git_head(cwd: str) -> tuple[str | None, str | None]:
    """The branch and commit checked out at `cwd`; None where detached, unborn or not a repository."""
    found = _find(os.path.abspath(cwd))
    if not found:
        return None, None
    git_dir = _git_dir(*found)
    head = _read(f"{git_dir}/HEAD")
    if not head.startswith("ref: "):
        return None, _commit_id(head)
    ref = head.removeprefix("ref: ")
    return ref.removeprefix("refs/heads/"), _commit(_common_dir(git_dir), ref)


def _find(cwd: str) -> tuple[str, str] | None:
    """The innermost directory that holds `.git`, and that path."""
    here = cwd
    while True:
        dot_git = os.path.join(here, ".git")
        if os.path.exists(dot_git):
            return here, dot_git
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def _git_dir(root: str, dot_git: str) -> str:
    """`.git` itself, or where the file `.git` of a linked worktree or submodule points to."""
    if os.path.isdir(dot_git):
        return dot_git
    target = _read(dot_git).removeprefix("gitdir: ")
    return os.path.normpath(os.path.join(root, target))


def _main_repository(root: str, dot_git: str) -> str:
    git_dir = _git_dir(root, dot_git)
    common = _common_dir(git_dir)
    if common == git_dir:
        return root
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _common_dir(git_dir: str) -> str:
    """What a linked worktree shares with its repository (gitrepository-layout: `commondir`)."""
    shared = _read(f"{git_dir}/commondir")
    return os.path.normpath(os.path.join(git_dir, shared)) if shared else git_dir


def _commit(common: str, ref: str) -> str | None:
    loose = _commit_id(_read(f"{common}/{ref}"))
    if loose:
        return loose
    try:
        with open(f"{common}/packed-refs", encoding="utf-8", errors="replace") as packed:
            return next((line.split()[0] for line in packed if line.rstrip().endswith(f" {ref}")), None)
    except OSError:
        return None


def _commit_id(text: str) -> str | None:
    """A hostile repository may point its references at any file of this machine."""
    return text if len(text) >= _SHORTEST_HASH and _HEX.issuperset(text) else None


def _read(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(fd, _LONGEST_REF_FILE).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    finally:
        os.close(fd)
