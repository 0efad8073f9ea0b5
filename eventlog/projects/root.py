"""The project of a directory: the root of its git repository, else the directory itself; a home has none.

Read from git's own files, no git process: this runs inside agents' hooks.
"""

from eventlog.fast import os
from eventlog.store.files import HEX, read_regular

HOME = "~/"  # what a path below the user's home begins with, as people write it
_LONGEST_PATH = 4096  # bytes (PATH_MAX); by a longer one nothing can be found
_LONGEST_REF_FILE = 4096
_LONGEST_PACKED = 16 << 20  # bytes; beyond, a commit is not looked for
_LONGEST_CONFIG = 1 << 16
_SHORTEST_HASH = 40
_REFERENCE = "ref: "


def project_root(cwd: str) -> str:
    """Find the repository root by walking up; a linked worktree counts as its main repository.

    Outside a repository (or for a path that does not exist on this machine) the directory itself; "" for the home
    directory: what is saved there would show wherever else an agent starts from home.
    """
    cwd = os.path.abspath(cwd)
    if found := find_repository(cwd):
        return _main_repository(*found)
    return "" if _is_home(cwd) else cwd


def in_full(path: str, home: str) -> str:
    """Write a path in full; leave it as it is without `~/`, or where no home is known."""
    return os.path.join(home, path[len(HOME) :]) if home and path.startswith(HOME) else path


def _is_home(directory: str) -> bool:
    home = os.path.expanduser("~/")
    if home[:1] == "~":  # nobody knows where it is
        return False
    try:
        here, at_home = os.stat(directory), os.stat(home)
    except (OSError, ValueError):
        return False
    return (here.st_dev, here.st_ino) == (at_home.st_dev, at_home.st_ino)


def git_head(cwd: str) -> tuple[str | None, str | None]:
    """Read the branch and commit checked out at `cwd`; None where detached, unborn or not a repository."""
    found = find_repository(os.path.abspath(cwd))
    if not found:
        return None, None
    git_dir = git_dir_of(*found)
    head = _read(f"{git_dir}/HEAD")
    branch = _branch(head)
    if branch is None:
        return None, _commit_id(head)
    return branch, _commit(_common_dir(found[1], git_dir), head.removeprefix(_REFERENCE))


def git_branch(cwd: str) -> str | None:
    """Read the branch checked out at `cwd`, as `git_head` does; do not look for its commit."""
    found = find_repository(os.path.abspath(cwd))
    return _branch(_read(f"{git_dir_of(*found)}/HEAD")) if found else None


def git_config(root: str) -> str:
    """Read the configuration of the repository with this root, only the beginning of a very long file; "" for none."""
    if not root:
        return ""
    dot_git = os.path.join(root, ".git")
    if os.path.exists(dot_git):
        return _read(f"{_common_dir(dot_git, git_dir_of(root, dot_git))}/config", _LONGEST_CONFIG)
    is_bare = os.path.exists(f"{root}/HEAD") and os.path.isdir(f"{root}/objects")
    return _read(f"{root}/config", _LONGEST_CONFIG) if is_bare else ""


def find_repository(cwd: str) -> tuple[str, str] | None:
    """Find the innermost directory that holds `.git`, and that path."""
    here = cwd
    if len(here) > _LONGEST_PATH:
        here = os.path.dirname(here[:_LONGEST_PATH])
    while True:
        dot_git = os.path.join(here, ".git")
        if os.path.exists(dot_git):
            return here, dot_git
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent


def git_dir_of(root: str, dot_git: str) -> str:
    """Find `.git` itself, or where the file `.git` of a linked worktree or submodule points to."""
    if os.path.isdir(dot_git):
        return dot_git
    target = _read(dot_git).removeprefix("gitdir: ")
    return os.path.normpath(os.path.join(root, target))


def _main_repository(root: str, dot_git: str) -> str:
    git_dir = git_dir_of(root, dot_git)
    common = _common_dir(dot_git, git_dir)
    if common == git_dir:
        return root
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _common_dir(dot_git: str, git_dir: str) -> str:
    """Find what a linked worktree shares with its repository (gitrepository-layout: `commondir`).

    Believed only where that repository knows the worktree: anyone can write a `.git` that points at another's.
    """
    shared = _read(f"{git_dir}/commondir")
    if not shared:
        return git_dir
    common = os.path.normpath(os.path.join(git_dir, shared))
    listed = os.path.realpath(os.path.dirname(git_dir)) == os.path.realpath(f"{common}/worktrees")
    back = _read(f"{git_dir}/gitdir")
    # two paths are one name in one directory, wherever a link of that name leads
    first, second = (
        (os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        for path in (os.path.join(git_dir, back), dot_git)
    )
    return common if listed and back and first == second else git_dir


def _branch(head: str) -> str | None:
    return head.removeprefix(_REFERENCE).removeprefix("refs/heads/") if head.startswith(_REFERENCE) else None


def _commit(common: str, ref: str) -> str | None:
    loose = _commit_id(_read(f"{common}/{ref}"))
    if loose:
        return loose
    packed = _read(f"{common}/packed-refs", _LONGEST_PACKED).split("\n")
    return next((_commit_id(line.split()[0]) for line in packed if line.rstrip().endswith(f" {ref}")), None)


def _commit_id(text: str) -> str | None:
    """Read a reference, if its path is harmless: a hostile repository may point it at any file of this machine."""
    return text if len(text) >= _SHORTEST_HASH and HEX.issuperset(text) else None


def _read(path: str, size: int = _LONGEST_REF_FILE) -> str:
    try:
        return read_regular(path, size).decode("utf-8", "replace").strip()
    except (OSError, ValueError):  # the latter: a NUL in what a file said is a path
        return ""
