import os
import stat

import pytest

from eventlog.projects import root
from eventlog.projects.root import git_branch, git_head, project_root
from tests.support.repositories import git, repository

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(tmp_path):
    return repository(tmp_path / "repo")


def truth(cwd):
    """What git itself says of branch and commit."""
    return git(cwd, "symbolic-ref", "--short", "HEAD"), git(cwd, "rev-parse", "HEAD")


def test_the_root_is_found_from_any_depth(repo):
    (repo / "a" / "b").mkdir(parents=True)

    assert str(repo) == project_root(str(repo / "a" / "b"))
    assert str(repo) == project_root(str(repo))


def test_a_directory_that_does_not_exist_belongs_to_the_repository_above(repo):
    assert str(repo) == project_root(str(repo / "not" / "there"))


def test_without_a_repository_the_directory_itself_is_the_project(tmp_path):
    assert (str(tmp_path), (None, None)) == (project_root(str(tmp_path)), git_head(str(tmp_path)))
    assert git_branch(str(tmp_path)) is None


def test_the_innermost_repository_counts(repo):
    inner = repository(repo / "inner")

    assert str(inner) == project_root(str(inner))


def test_a_linked_worktree_counts_as_its_main_repository(repo, tmp_path):
    git(repo, "worktree", "add", "-b", "topic", str(tmp_path / "linked"))
    (tmp_path / "linked" / "deep").mkdir()

    assert str(repo) == project_root(str(tmp_path / "linked" / "deep"))
    assert truth(tmp_path / "linked") == git_head(str(tmp_path / "linked"))
    assert "topic" == git_head(str(tmp_path / "linked"))[0] == git_branch(str(tmp_path / "linked"))


def test_worktrees_of_a_bare_repository_are_one_project(repo, tmp_path):
    git(tmp_path, "clone", "--bare", str(repo), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-b", "one", str(tmp_path / "one"))
    git(tmp_path / "bare.git", "worktree", "add", "-b", "two", str(tmp_path / "two"))

    assert {str(tmp_path / "bare.git")} == {project_root(str(tmp_path / name)) for name in ("one", "two")}
    assert truth(tmp_path / "two") == git_head(str(tmp_path / "two"))


def test_a_submodule_is_its_own_project(repo, tmp_path):
    outer = repository(tmp_path / "outer")
    git(outer, "submodule", "add", str(repo), "sub")

    assert str(outer / "sub") == project_root(str(outer / "sub"))
    assert truth(outer / "sub") == git_head(str(outer / "sub"))


def test_a_repository_kept_elsewhere_is_where_its_files_are(tmp_path):
    git(tmp_path, "init", "--separate-git-dir", str(tmp_path / "elsewhere"), "files")
    git(tmp_path / "files", "commit", "--allow-empty", "-m", "first")

    assert str(tmp_path / "files") == project_root(str(tmp_path / "files"))
    assert truth(tmp_path / "files") == git_head(str(tmp_path / "files"))


@pytest.mark.parametrize("branch", ["main", "feature/with-slash", "ünïcode"])
@pytest.mark.parametrize("packed", [False, True])
def test_branch_and_commit_are_those_git_names(repo, branch, packed):
    git(repo, "checkout", "-B", branch)
    git(repo, "tag", f"tag-{branch}")
    git(repo, "branch", f"x/{branch}")
    if packed:
        git(repo, "pack-refs", "--all")

    assert truth(repo) == git_head(str(repo))


def test_a_detached_head_has_a_commit_and_no_branch(repo):
    git(repo, "checkout", "--detach")

    assert (None, git(repo, "rev-parse", "HEAD")) == git_head(str(repo))
    assert git_branch(str(repo)) is None


def test_for_the_branch_alone_no_commit_is_looked_for(repo, monkeypatch):
    monkeypatch.setattr(root, "_commit", lambda *_: pytest.fail("the references were read"))

    assert "main" == git_branch(str(repo))


def test_an_unborn_branch_has_no_commit(tmp_path):
    git(tmp_path, "init")

    assert ("main", None) == git_head(str(tmp_path))


@pytest.mark.parametrize("head", [b"", b"\xff\xfe", b"ref: ", b"ref: refs/heads/\xff"])
def test_a_broken_repository_is_no_error(repo, head):
    (repo / ".git" / "HEAD").write_bytes(head)

    assert git_head(str(repo))[1] is None
    assert str(repo) == project_root(str(repo))


def test_a_reference_to_a_foreign_file_tells_nothing_of_it(repo, tmp_path):
    (tmp_path / "secret").write_text("the secret")
    (repo / ".git" / "HEAD").write_text("ref: ../../secret\n")

    assert git_head(str(repo))[1] is None


@pytest.mark.parametrize("text", ["", "gitdir: ", "gitdir: /nowhere", "nonsense"])
def test_a_broken_link_to_a_repository_is_no_error(tmp_path, text):
    (tmp_path / ".git").write_text(text)

    assert str(tmp_path) == project_root(str(tmp_path))
    assert (None, None) == git_head(str(tmp_path))


# ------------------------------------------------------------------------------------------- repositories that lie


def _victim(tmp_path):
    """A repository with a linked worktree."""
    shop = repository(tmp_path / "shop")
    git(shop, "worktree", "add", "-b", "topic", str(tmp_path / "feature"))
    return shop


def _made_up(clone, shop):
    """A git directory of its own that claims to share the shop's."""
    (clone / "x").mkdir()
    (clone / "x" / "HEAD").write_text("ref: refs/heads/main\n")
    (clone / "x" / "commondir").write_text(f"{shop}/.git\n")
    (clone / "x" / "gitdir").write_text(f"{clone}/.git\n")
    (clone / ".git").write_text("gitdir: x\n")


def _own_directory(clone, shop):
    """A true `.git` directory with a `commondir` in it."""
    git(clone, "init")
    (clone / ".git" / "commondir").write_text(f"{shop}/.git\n")
    (clone / ".git" / "gitdir").write_text(f"{clone}/.git\n")


def _worktree_of_another(clone, shop):
    """It names a worktree the shop really has, elsewhere."""
    (clone / ".git").write_text(f"gitdir: {shop}/.git/worktrees/feature\n")


def _link_to_a_worktree(clone, shop):
    (clone / ".git").symlink_to(shop.parent / "feature" / ".git")


def _link_into_a_repository(clone, shop):
    (clone / ".git").symlink_to(shop / ".git" / "worktrees" / "feature")


def _link_to_a_repository(clone, shop):
    (clone / ".git").symlink_to(shop / ".git")


def _named_outright(clone, shop):
    (clone / ".git").write_text(f"gitdir: {shop}/.git\n")


LIES = [
    _made_up, _own_directory, _worktree_of_another, _link_to_a_worktree, _link_into_a_repository,
    _link_to_a_repository, _named_outright,
]  # fmt: skip


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_repository_cannot_pose_as_another_project(tmp_path, lie):
    shop, clone = _victim(tmp_path), tmp_path / "clone"
    clone.mkdir()
    lie(clone, shop)
    (clone / "src").mkdir()

    assert str(shop) == project_root(str(tmp_path / "feature"))
    assert str(clone) == project_root(str(clone / "src"))


def test_a_worktree_reached_through_a_link_counts_as_its_main_repository(tmp_path):
    shop = _victim(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)

    assert str(shop) == project_root(str(tmp_path / "link" / "feature"))


def test_a_worktree_that_names_its_place_relatively_counts_as_its_main_repository(tmp_path):
    shop = _victim(tmp_path)
    (shop / ".git" / "worktrees" / "feature" / "gitdir").write_text("../../../../feature/.git\n")
    (tmp_path / "feature" / ".git").write_text("gitdir: ../shop/.git/worktrees/feature\n")

    assert str(shop) == project_root(str(tmp_path / "feature"))


# ------------------------------------------------------------------------------------- what is under .git and no file

PLACES = [".git", ".git/HEAD", ".git/commondir", ".git/config", ".git/packed-refs", ".git/refs/heads/main"]
STRANGE = {
    "a FIFO": os.mkfifo,
    "a device without end": lambda path: path.symlink_to("/dev/zero"),
    "a socket": lambda path: os.mknod(path, 0o600 | stat.S_IFSOCK),
    "a link to itself": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("make", STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file_under_git_is_passed_over_at_once(tmp_path, place, make):
    path = tmp_path / "repo" / place
    path.parent.mkdir(parents=True)
    if place not in (".git", ".git/HEAD"):
        (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    make(path)

    assert project_root(str(tmp_path / "repo")) == str(tmp_path / "repo")
    assert None is git_head(str(tmp_path / "repo"))[1]


def test_a_path_in_git_with_a_nul_in_it_leads_nowhere(tmp_path):
    (tmp_path / ".git").write_bytes(b"gitdir: x\0y\n")

    assert (str(tmp_path), (None, None)) == (project_root(str(tmp_path)), git_head(str(tmp_path)))


@pytest.mark.parametrize("part", ["/a", "/" + "b" * 300])
def test_a_directory_whose_name_is_very_long_is_walked_up_in_no_time(repo, part):
    deep = str(repo) + part * (1_000_000 // len(part))

    assert str(repo) == project_root(deep)
    assert "main" == git_head(deep)[0]


def test_a_home_directory_is_nobodys_project_unless_it_is_a_repository(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    for named in (home, tmp_path / "link", f"{home}/"):
        monkeypatch.setenv("HOME", str(named))

        assert ["", "", str(home / "notes")] == [
            project_root(str(at)) for at in (home, tmp_path / "link", home / "notes")
        ]
    (home / ".git").mkdir()

    assert [str(home)] * 2 == [project_root(str(at)) for at in (home, home / "notes")]
