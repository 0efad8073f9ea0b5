import pytest

from eventlog.project import git_head, project_root
from tests.repositories import git, repository


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


def test_the_innermost_repository_counts(repo):
    inner = repository(repo / "inner")

    assert str(inner) == project_root(str(inner))


def test_a_linked_worktree_counts_as_its_main_repository(repo, tmp_path):
    git(repo, "worktree", "add", "-b", "topic", str(tmp_path / "linked"))
    (tmp_path / "linked" / "deep").mkdir()

    assert str(repo) == project_root(str(tmp_path / "linked" / "deep"))
    assert truth(tmp_path / "linked") == git_head(str(tmp_path / "linked"))
    assert "topic" == git_head(str(tmp_path / "linked"))[0]


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
