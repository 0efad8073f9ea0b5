"""Every unsafe condition in a real repository: nothing is touched, and the warning says why."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from eventlog.app.setup.session_hooks import HookContext, HookStatus
from eventlog.app.setup.session_hooks.built_in import GitCleanup
from tests.support.repositories import git

pytestmark = pytest.mark.slow


class Repository:
    """A repository with one commit on `main`, and a branch `work` that is checked out and merged."""

    def __init__(self, path):
        self.path = path

    def made(self):
        self.path.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        for key, value in (("user.name", "Ada"), ("user.email", "ada@a.example"), ("protocol.file.allow", "always")):
            self.git("config", key, value)
        self.commit("first.txt")
        self.git("switch", "--quiet", "-c", "work")
        self.commit("work.txt")
        self.git("branch", "--force", "main", "work")
        return self

    def git(self, *args, cwd=None):
        return git(cwd or self.path, *args)

    def commit(self, name, text="text"):
        (self.path / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name)

    def state(self):
        """All that must not change when nothing may be touched."""
        references = self.git("for-each-ref", "--format=%(refname) %(objectname)")
        files = {
            str(path): path.read_bytes() for path in self.path.rglob("*") if path.is_file() and ".git" not in path.parts
        }
        return (self.path / ".git" / "HEAD").read_text(), references, self.git("status", "--porcelain"), files

    def branches(self):
        return self.git("branch", "--format=%(refname:short)").split()


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    return Repository(tmp_path_factory.mktemp("template") / "repository").made()


@pytest.fixture
def repository(tmp_path, template):
    """A copy: to make one takes ten processes."""
    return Repository(Path(shutil.copytree(template.path, tmp_path / "repository")))


def cleaned(repository, *, options=None, cwd=None, **context):
    where = str(cwd or repository.path)
    return GitCleanup(options or GitCleanup.CleanupOptions()).on_session_end(
        HookContext(session_id="s", cwd=where, **context)
    )


# ------------------------------------------------------------------------------------------------- where it is safe


def test_a_tag_of_the_same_name_changes_nothing(repository):
    repository.git("tag", "work")
    result = cleaned(repository)

    assert result.status is HookStatus.SUCCESS
    assert ["main"] == repository.branches()


def test_where_git_refuses_half_way_the_result_says_what_was_done(repository):
    (repository.path / ".git/refs/heads/work.lock").touch()
    result = cleaned(repository)

    assert result.status is HookStatus.FAILURE
    assert "switched from work to main, then git refuses" in result.message


def test_a_merged_branch_is_left_for_the_trunk_and_deleted(repository):
    result = cleaned(repository)

    assert result.status is HookStatus.SUCCESS
    assert ["main"] == repository.branches()
    assert repository.git("branch", "--show-current") == "main"


def test_the_deleted_branch_can_be_brought_back_as_the_message_says(repository):
    tip = repository.git("rev-parse", "work")
    message = cleaned(repository).message
    command = message.split("`")[1].split()
    repository.git(*command[1:])

    assert tip == repository.git("rev-parse", "work")


def test_the_settings_of_a_deleted_branch_go_with_it(repository):
    repository.git("config", "branch.work.description", "done")
    cleaned(repository)

    assert "branch.work" not in repository.git("config", "--list", "--local")


def test_a_branch_the_session_started_on_and_left_itself_is_deleted_too(repository):
    repository.git("switch", "--quiet", "main")
    result = cleaned(repository, start_branch="work")

    assert result.status is HookStatus.SUCCESS
    assert ["main"] == repository.branches()


def test_where_there_is_no_main_the_trunk_is_master(repository):
    repository.git("branch", "--move", "main", "master")
    cleaned(repository)

    assert ["master"] == repository.branches()


def test_the_trunk_may_have_any_name(repository):
    repository.git("branch", "trunk", "work")
    cleaned(repository, options=GitCleanup.CleanupOptions(main_branch="trunk"))

    assert ["main", "trunk"] == repository.branches()
    assert repository.git("branch", "--show-current") == "trunk"


@pytest.mark.parametrize(
    ("options", "branches", "current"),
    [
        (GitCleanup.CleanupOptions(auto_delete_merged_branches=False), ["main", "work"], "main"),
        (GitCleanup.CleanupOptions(keep=("wo*",)), ["main", "work"], "main"),
        (GitCleanup.CleanupOptions(auto_switch_to_main=False), ["main", "work"], "work"),
    ],
    ids=["deletes nothing", "keeps the branch", "switches nowhere"],
)
def test_each_half_can_be_turned_off(repository, options, branches, current):
    cleaned(repository, options=options)

    assert (branches, current) == (repository.branches(), repository.git("branch", "--show-current"))


def test_a_dirty_tree_is_no_obstacle_where_the_settings_say_so(repository):
    (repository.path / "untracked.txt").write_text("kept")
    result = cleaned(repository, options=GitCleanup.CleanupOptions(require_clean_worktree=False))

    assert result.status is HookStatus.SUCCESS
    assert (repository.path / "untracked.txt").read_text() == "kept"


def test_variables_of_another_repository_lead_nowhere(repository, tmp_path, monkeypatch):
    other = Repository(tmp_path / "other").made()
    before = other.state()
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    cleaned(repository)
    monkeypatch.undo()

    assert before == other.state()
    assert ["main"] == repository.branches()


# ------------------------------------------------------------------------------------------ where nothing is touched


def _untracked(repository):
    (repository.path / "new.txt").write_text("new")


def _modified(repository):
    (repository.path / "first.txt").write_text("changed")


def _staged(repository):
    (repository.path / "first.txt").write_text("changed")
    repository.git("add", "first.txt")


def _unmerged(repository):
    repository.commit("more.txt")


def _fresh(repository):
    repository.git("switch", "--quiet", "-c", "fresh", "main")


def _fresh_of_long_ago(repository):
    """The trunk has gone on since."""
    _fresh(repository)
    repository.git("switch", "--quiet", "main")
    repository.commit("later.txt")
    repository.git("switch", "--quiet", "fresh")


def _fresh_without_reflog(repository):
    _fresh_of_long_ago(repository)
    (repository.path / ".git/logs/refs/heads/fresh").unlink()


def _squashed(repository):
    repository.git("switch", "--quiet", "-c", "squashed", "main~1")
    repository.commit("a.txt")
    repository.git("switch", "--quiet", "main")
    repository.git("merge", "--quiet", "--squash", "squashed")
    repository.git("commit", "--quiet", "--message", "squashed")
    repository.git("switch", "--quiet", "squashed")


def _squashed_and_gone_on(repository):
    _squashed(repository)
    repository.commit("b.txt")


def _squashed_and_changed(repository):
    _squashed(repository)
    repository.git("switch", "--quiet", "main")
    repository.commit("a.txt", "of the trunk")
    repository.git("switch", "--quiet", "squashed")


def _detached(repository):
    repository.git("switch", "--quiet", "--detach", "work")


def _no_trunk(repository):
    repository.git("branch", "--delete", "--force", "main")


def _unborn(repository):
    repository.git("branch", "--delete", "--force", "main")
    repository.git("switch", "--quiet", "--orphan", "fresh")


def _trunk_elsewhere(repository):
    repository.git("worktree", "add", "--quiet", str(repository.path.parent / "second"), "main")


def _branch_elsewhere(repository):
    repository.git("worktree", "add", "--quiet", "--force", str(repository.path.parent / "second"), "work")


def _rebased_elsewhere(repository):
    """Its HEAD is detached meanwhile; git remembers where it came from."""
    second = repository.path.parent / "second"
    repository.git("switch", "--quiet", "main")
    repository.git("worktree", "add", "--quiet", str(second), "work")
    with suppress(subprocess.CalledProcessError):
        repository.git("rebase", "--quiet", "--exec", "false", "HEAD~1", cwd=second)


def _merging(repository):
    repository.git("switch", "--quiet", "-c", "other", "main~1")
    repository.commit("other.txt")
    repository.git("switch", "--quiet", "work")
    repository.git("merge", "--quiet", "--no-commit", "--no-ff", "other")


def _bisecting(repository):
    repository.git("bisect", "start")


def _another_git(repository):
    (repository.path / ".git" / "index.lock").touch()


def _hidden(repository):
    repository.git("update-index", "--assume-unchanged", "first.txt")
    (repository.path / "first.txt").write_text("changed where git does not look")


def _submodule(repository, *, on="work"):
    library = Repository(repository.path.parent / "library").made()
    repository.git("submodule", "--quiet", "add", str(library.path), "library")
    repository.git("commit", "--quiet", "--message", "library")
    repository.git("branch", "--force", "main", "work")
    return library


def _dirty_submodule(repository):
    _submodule(repository)
    (repository.path / "library" / "new.txt").write_text("new")


def _submodule_ahead(repository):
    """Merged, but the trunk has gone on to another commit of the submodule."""
    _submodule(repository)
    inside = repository.path / "library"
    repository.git("switch", "--quiet", "main")
    repository.git(
        "-C",
        "library",
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@a.example",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "on",
        cwd=repository.path,
    )
    repository.git("commit", "--quiet", "--all", "--message", "library goes on")
    repository.git("switch", "--quiet", "work")
    repository.git("submodule", "--quiet", "update", "--no-fetch", cwd=inside.parent)


def _ignored_in_the_way(repository):
    """The trunk has a file under version control that is here, ignored, with another text."""
    repository.git("switch", "--quiet", "main")
    repository.commit("secret.env", "of the trunk")
    repository.git("switch", "--quiet", "work")
    (repository.path / ".git" / "info").mkdir(exist_ok=True)
    (repository.path / ".git" / "info" / "exclude").write_text("secret.env\n")
    (repository.path / "secret.env").write_text("mine alone")


def _another_name(repository):
    repository.git("symbolic-ref", "refs/heads/alias", "refs/heads/work")


UNSAFE = {
    "untracked file": (_untracked, "1 uncommitted change;"),
    "modified file": (_modified, "1 uncommitted change;"),
    "staged change": (_staged, "1 uncommitted change;"),
    "detached head": (_detached, "HEAD is detached"),
    "no trunk": (_no_trunk, "there is no branch main or master"),
    "unborn branch": (_unborn, "there is no branch main or master"),
    "trunk in another worktree": (_trunk_elsewhere, "main is checked out in another working tree"),
    "merge under way": (_merging, "a merge is under way"),
    "bisection under way": (_bisecting, "a bisection is under way"),
    "git at work": (_another_git, "another git process is under way"),
    "hidden changes": (_hidden, "assume-unchanged"),
    "dirty submodule": (_dirty_submodule, "1 uncommitted change;"),
    "submodule at another commit": (_submodule_ahead, "submodules at other commits"),
    "ignored file in the way": (_ignored_in_the_way, "git refuses"),
}
KEPT = {
    "unmerged branch": (_unmerged, "work", "it is not merged into main"),
    "branch that went on after a squash merge": (_squashed_and_gone_on, "squashed", "it is not merged into main"),
    "branch whose file the trunk has otherwise": (_squashed_and_changed, "squashed", "it is not merged into main"),
    "branch without a commit": (_fresh, "fresh", "nothing was committed on it yet"),
    "branch without a commit, of long ago": (_fresh_of_long_ago, "fresh", "nothing was committed on it yet"),
    "branch without a commit nor a reflog": (_fresh_without_reflog, "fresh", "nothing was committed on it yet"),
    "branch in another worktree": (_branch_elsewhere, "work", "it is checked out in another working tree"),
    "another name of the branch": (_another_name, "work", "alias is the same branch by another name"),
}


@pytest.mark.parametrize(("spoil", "branch", "reason"), KEPT.values(), ids=KEPT)
def test_a_branch_that_must_stay_is_left_for_the_trunk_and_kept(repository, spoil, branch, reason):
    spoil(repository)
    tip = repository.git("rev-parse", branch)
    result = cleaned(repository)

    assert result.status is HookStatus.SUCCESS
    assert f"switched to main; {branch} is kept: {reason}" in result.message
    assert "main" == repository.git("branch", "--show-current")
    assert tip == repository.git("rev-parse", branch)


def test_a_merged_branch_without_a_reflog_is_known_by_its_merge(repository):
    repository.git("switch", "--quiet", "-c", "topic", "main")
    repository.commit("topic.txt")
    repository.git("switch", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "topic", "--message", "merged")
    repository.git("switch", "--quiet", "topic")
    (repository.path / ".git/logs/refs/heads/topic").unlink()

    assert "deleted topic" in cleaned(repository).message


def test_a_branch_that_was_squash_merged_is_merged(repository):
    _squashed(repository)

    assert "deleted squashed" in cleaned(repository).message
    assert "main" == repository.git("branch", "--show-current")


@pytest.mark.parametrize("state", ["open", "closed", None])
def test_a_merged_branch_stays_while_its_issue_is_open(repository, state):
    result = cleaned(repository, issue="9", issue_state=state)

    assert ("issue 9 is open" in result.message) == (state == "open")
    assert ("deleted work" in result.message) == (state != "open")


@pytest.mark.parametrize(("spoil", "reason"), UNSAFE.values(), ids=UNSAFE)
def test_nothing_is_touched_where_anything_is_unsafe(repository, spoil, reason):
    spoil(repository)
    before = repository.state()
    result = cleaned(repository)

    assert result.status is HookStatus.WARNING
    assert reason in result.message
    assert before == repository.state()


def test_a_branch_that_is_rebased_in_another_worktree_is_left_alone(repository):
    _rebased_elsewhere(repository)
    before = repository.state()
    result = cleaned(repository, start_branch="work")

    assert result.status is HookStatus.SKIPPED
    assert "it is checked out in another working tree" in result.message
    assert before == repository.state()


def test_a_linked_worktree_is_left_alone_where_the_trunk_is_checked_out_beside_it(repository, tmp_path):
    repository.git("switch", "--quiet", "main")
    linked = tmp_path / "linked"
    repository.git("worktree", "add", "--quiet", str(linked), "work")
    before = repository.state()
    result = cleaned(repository, cwd=linked)

    assert result.status is HookStatus.WARNING
    assert "main is checked out in another working tree" in result.message
    assert before == repository.state()


def test_a_submodule_itself_is_left_alone(repository):
    _submodule(repository)
    inside = repository.path / "library"
    repository.git("switch", "--quiet", "-c", "main", "origin/main", cwd=inside)
    repository.git("switch", "--quiet", "-c", "inner", cwd=inside)
    result = cleaned(repository, cwd=inside)

    assert result.status is HookStatus.WARNING
    assert "is a submodule" in result.message
    assert repository.git("branch", "--show-current", cwd=inside) == "inner"


def test_nothing_is_touched_while_another_session_works_there(repository):
    before = repository.state()
    result = cleaned(repository, others=("other-session",))

    assert result.status is HookStatus.WARNING
    assert "other-session" in result.message
    assert before == repository.state()


def test_all_reasons_are_told_at_once(repository):
    _hidden(repository)
    _untracked(repository)

    assert len(cleaned(repository).details["doubts"]) == 2


def test_on_the_trunk_there_is_nothing_to_do(repository):
    repository.git("switch", "--quiet", "main")

    assert cleaned(repository, start_branch="main").status is HookStatus.SKIPPED
    assert ["main", "work"] == repository.branches()


@pytest.mark.parametrize("cwd", [".", "missing"])
def test_outside_of_a_repository_there_is_nothing_to_do(tmp_path, cwd):
    assert cleaned(None, cwd=tmp_path / cwd).status is HookStatus.SKIPPED


def test_a_start_changes_nothing(repository):
    before = repository.state()
    result = GitCleanup().on_session_start(HookContext(session_id="s", cwd=str(repository.path)))

    assert result.status is HookStatus.SKIPPED
    assert before == repository.state()


# ------------------------------------------------------------------------------------- no code of the repository runs


def _planted(repository, name, config=(), attributes=""):
    """A program that leaves a trace where it runs, and what would make git run it."""
    program = repository.path.parent / name
    program.write_text(f"#!/bin/sh\ntouch {repository.path.parent}/{name}.ran\ncat\n")
    program.chmod(0o755)
    for key in config:
        repository.git("config", key, str(program))
    if attributes:
        (repository.path / ".git" / "info").mkdir(exist_ok=True)
        (repository.path / ".git" / "info" / "attributes").write_text(attributes)
    return program


def _ran(repository):
    return sorted(path.name for path in repository.path.parent.glob("*.ran"))


def _touched(repository):
    """Files whose time has changed have to be compared, which is when filters run."""
    for path in repository.path.glob("*.txt"):
        path.write_text(path.read_text())


@pytest.mark.parametrize("key", ["core.fsmonitor", "core.sshCommand", "diff.external", "core.pager", "core.askPass"])
def test_no_program_the_repository_names_is_run(repository, key):
    _planted(repository, "program", [key])
    _touched(repository)
    result = cleaned(repository)

    assert [] == _ran(repository)
    assert result.status is HookStatus.SUCCESS


def test_no_hook_of_the_repository_is_run(repository):
    program = _planted(repository, "hook")
    for place in (repository.path / ".git" / "hooks", repository.path.parent / "planted"):
        place.mkdir(exist_ok=True)
        for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
            (place / name).unlink(missing_ok=True)
            (place / name).symlink_to(program)
    repository.git("config", "core.hooksPath", str(repository.path.parent / "planted"))
    for ran in repository.path.parent.glob("*.ran"):
        ran.unlink()
    result = cleaned(repository)

    assert [] == _ran(repository)
    assert result.status is HookStatus.SUCCESS


@pytest.mark.parametrize("kind", ["clean", "smudge", "process"])
@pytest.mark.parametrize("place", ["config", "included", "worktree"])
def test_a_repository_that_brings_a_filter_is_not_looked_at(repository, kind, place):
    program = _planted(repository, "filter", attributes="* filter=evil\n")
    setting = f'[filter "evil"]\n\t{kind} = {program}\n'
    target = repository.path / ".git" / {"config": "config", "included": "more", "worktree": "config.worktree"}[place]
    if place == "included":
        repository.git("config", "include.path", "more")
    if place == "worktree":
        repository.git("config", "extensions.worktreeConfig", "true")
    with target.open("a") as opened:
        opened.write(setting)
    head = (repository.path / ".git" / "HEAD").read_text()
    _touched(repository)
    context = HookContext(session_id="s", cwd=str(repository.path))
    result = GitCleanup().on_session_end(context)

    assert result.status is HookStatus.WARNING
    assert f"filter.evil.{kind} of this repository would run a program" in result.message
    assert head == (repository.path / ".git" / "HEAD").read_text()
    assert context.git
    assert context.git.dirty
    assert [] == _ran(repository)


def test_a_submodule_that_brings_a_filter_is_not_looked_at(repository):
    _submodule(repository)
    program = _planted(repository, "filter")
    repository.git("config", "filter.evil.clean", str(program), cwd=repository.path / "library")
    result = cleaned(repository)

    assert "filter.evil.clean" in result.message
    assert [] == _ran(repository)


def test_a_repository_that_says_its_files_are_elsewhere_is_left_alone(repository, tmp_path):
    """A switch would write into that directory."""
    home = tmp_path / "home-of-ada"
    (home / "clone").mkdir(parents=True)
    repository.path.joinpath(".git").rename(home / "clone" / ".git")
    git(home / "clone", "config", "core.worktree", str(home))
    before = sorted(home.rglob("*.txt"))
    result = cleaned(None, cwd=home / "clone")

    assert result.status is HookStatus.WARNING
    assert "elsewhere" in result.message
    assert before == sorted(home.rglob("*.txt"))
