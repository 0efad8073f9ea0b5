import pytest

from eventlog.projects.repository import normalised, remote_of
from tests.support.repositories import git, repository

pytestmark = pytest.mark.slow

SHOP = "github.com/ada/shop"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/ada/shop.git",
        "https://github.com/Ada/Shop",
        "https://token:" + "x@GitHub.com:443/ada/shop/",
        "git@github.com:ada/shop.git",
        "github.com:/ada/shop",
        "ssh://git@github.com:22/ada/shop.git",
        "git+ssh://git@github.com//ada/shop.git/",
        "git://github.com./ada/shop",
    ],
)
def test_one_address_in_all_its_spellings_is_one(url):
    assert SHOP == normalised(url)


@pytest.mark.parametrize(
    "url",
    [
        "", "/srv/git/shop.git", "../shop", "file:///srv/shop.git", "C:\\git\\shop", "C:/git/shop", "https://github.com", "https://github.com/",
        "ssh://[::1]/ada/shop", "https://exa mple.org/a", "https://github.com/a\x1b[1m", "https://github.com/a b", "x:" + "a" * 400, "ext::sh -c id",
    ],
)  # fmt: skip
def test_what_two_machines_cannot_share_is_no_address(url):
    assert "" == normalised(url)


@pytest.fixture
def root(tmp_path):
    return repository(tmp_path / "shop")


def test_the_address_is_that_of_origin_else_of_another(root):
    assert "" == remote_of(str(root))
    git(root, "remote", "add", "fork", "git@github.com:bob/shop.git")
    assert "github.com/bob/shop" == remote_of(str(root))
    git(root, "remote", "add", "origin", "git@github.com:ada/shop.git")
    assert SHOP == remote_of(str(root))


def test_the_address_is_read_as_git_reads_it(root):
    config = '[core]\n\turl = no\n[Remote "origin"]\n\tURL = "https://github.com/ada/shop" ; mine\n[branch "x"]\n\turl = no\n'
    (root / ".git" / "config").write_text(config)

    assert SHOP == remote_of(str(root))


def test_a_linked_worktree_and_a_bare_repository_have_the_address_of_theirs(root, tmp_path):
    git(root, "remote", "add", "origin", "https://github.com/ada/shop")
    git(root, "worktree", "add", "-q", tmp_path / "linked")
    git(tmp_path, "clone", "-q", "--bare", root, "bare.git")

    assert SHOP == remote_of(str(tmp_path / "linked"))
    git(tmp_path / "bare.git", "remote", "set-url", "origin", "https://github.com/ada/shop")
    assert SHOP == remote_of(str(tmp_path / "bare.git"))


def test_of_several_addresses_of_origin_the_one_that_git_fetches_from_counts(root):
    git(root, "remote", "add", "origin", "https://github.com/ada/shop")
    git(root, "remote", "set-url", "--add", "origin", "https://mirror.example/backup/shop")

    assert SHOP == remote_of(str(root))


@pytest.mark.parametrize("config", [b"\xff\xfe", b'[remote "origin"\nurl = x:y', b"[" * 70_000, b'[remote "\\"]\nurl='])
def test_a_damaged_configuration_has_no_address(root, config):
    (root / ".git" / "config").write_bytes(config)

    assert "" == remote_of(str(root))
    (root / ".git" / "config").unlink()
    (root / ".git" / "config").mkdir()
    assert "" == remote_of(str(root))
