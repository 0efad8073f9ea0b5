"""Projects by name: the one that is meant, or an error with what there is; never another one."""

import pytest

from eventlog import Memory
from eventlog.app.naming import known_projects, projects
from eventlog.app.naming.projects import project_meant
from eventlog.format.errors import BadRequest
from eventlog.format.events import Fact, ProjectSeen
from eventlog.log.index import ConversationIndex
from eventlog.store.replica import make_replica
from tests.support import builders
from tests.support.command_line import call

KNOWN = ("/home/ada/src/shop", "/home/ada/src/notes-api", "/home/ada/work/知识库", "/srv/a/tool", "/srv/b/tool")


@pytest.fixture
def known(log):
    path = log.store.log
    builders.write(path, b"".join(builders.line(n, project=one) + b"\n" for n, one in enumerate(KNOWN)))
    return log


@pytest.fixture
def here(tmp_path):
    """A repository the log knows nothing of, where the command runs."""
    (tmp_path / "here" / ".git").mkdir(parents=True)
    return str(tmp_path / "here")


def _meant(known, said, here):
    return project_meant(known, said, cwd=here, home="/home/ada")


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("shop", "/home/ada/src/shop"),
        ("SHOP", "/home/ada/src/shop"),
        ("notes", "/home/ada/src/notes-api"),
        ("知识", "/home/ada/work/知识库"),
        ("a/tool", "/srv/a/tool"),
        ("/srv/b/tool", "/srv/b/tool"),
        ("/srv/b/tool/", "/srv/b/tool"),
        ("~/src/shop", "/home/ada/src/shop"),
    ],
)
def test_a_project_is_found_by_its_name_or_a_unique_part_of_its_path(known, here, said, path):
    assert path == _meant(known, said, here)


def test_a_path_the_log_knows_is_found_without_decoding_every_event(known, here, monkeypatch):
    monkeypatch.setattr(ConversationIndex, "projects", None)

    assert "/srv/b/tool" == _meant(known, "/srv/b/tool", here)


def test_the_project_of_the_current_directory_is_known_before_its_first_event(known, here):
    assert here == _meant(known, "here", here) == _meant(known, ".", here)


@pytest.mark.parametrize(
    ("said", "near"),
    [("shpo", "did you mean shop?"), ("zzz", "known: shop, notes-api"), ("/home/ada/src/shpo", "shop")],
)
def test_an_unknown_project_is_an_error_with_suggestions(known, here, said, near):
    with pytest.raises(BadRequest, match="no project") as caught:
        _meant(known, said, here)

    assert near in caught.value.hint


def test_the_projects_of_an_indexed_log_are_known_without_decoding_it(known, here, monkeypatch):
    said = known.append(Fact(conversation_id="late", project="/srv/z/last", content="x"))
    before = projects.all_projects(known)
    assert known.index.catch_up()
    monkeypatch.setattr("eventlog.log.index._scan", None)

    assert said.project == known.index.projects()[-1]
    assert before == projects.all_projects(known)
    with pytest.raises(BadRequest, match="no project"):
        _meant(known, "zzz", here)


def test_a_name_of_several_projects_lists_them(known, here):
    with pytest.raises(BadRequest, match="may be 2 projects") as caught:
        _meant(known, "tool", here)

    assert "/srv/a/tool\n/srv/b/tool" == caught.value.hint


def test_a_name_the_log_knows_goes_before_a_directory_of_that_name(known, here, tmp_path):
    for name in ("shop", "drafts"):
        (tmp_path / "here" / name).mkdir()

    assert "/home/ada/src/shop" == _meant(known, "shop", here)
    assert here == _meant(known, "drafts", here) == _meant(known, "./shop", here)


def test_a_project_is_found_by_the_name_its_files_have_which_may_be_that_of_two(log, here):
    replica = make_replica(log.store)
    for path, remote in [("/srv/checkout-2", "github.com/ada/shop"), ("/srv/lib", "github.com/ada/lib")]:
        log.append(Fact(conversation_id="c", project=path, content=f"of {path}"))
        log.put([ProjectSeen(conversation_id="m", project=path, path=path, remote=remote, replica=replica)])
    Memory(log.store).replay()

    assert "/srv/checkout-2" == _meant(log, "shop", here) == _meant(log, "Shop", here) == _meant(log, "checkout", here)
    with pytest.raises(BadRequest) as misspelt:
        _meant(log, "shpo", here)
    assert "did you mean shop?" == misspelt.value.hint

    log.append(Fact(conversation_id="c", project="/srv/a/shop", content="of a directory of that name"))
    with pytest.raises(BadRequest, match="may be 2 projects"):  # each screen calls both so
        _meant(log, "shop", here)


def test_a_query_never_answers_for_another_project(known, here, monkeypatch):
    monkeypatch.chdir(here)
    for verb in ("query", "sessions"):
        ran = call(verb, "--project", "zzz-nonsense", "--store", known.store.root)

        assert (2, "") == (ran.code, ran.out)
        assert "no project 'zzz-nonsense'" in ran.err


@pytest.mark.parametrize("verb", [("fact", "x"), ("append", "fact", "content=x")])
def test_a_memory_is_filed_under_the_project_named_or_not_at_all(known, here, monkeypatch, verb):
    monkeypatch.chdir(here)
    before = list(known.read())
    missed = call(*verb, "--session", "s", "--project", "notes-apo", "--store", known.store.root)
    filed = call(*verb, "--session", "s", "--project", "notes", "--store", known.store.root)
    [new] = [event for event in known.read() if event not in before]

    assert (2, 0) == (missed.code, filed.code)
    assert "did you mean notes-api?" in missed.err
    assert "/home/ada/src/notes-api" == new.project


def test_a_path_that_a_replay_knows_is_found_without_reading_the_log(log, here, monkeypatch):
    log.append({"type": "fact", "conversation_id": "c", "project": "/srv/b/tool", "content": "prices are in cents"})
    Memory(log.store).replay()
    monkeypatch.setattr(known_projects, "look_up", None)

    assert "/srv/b/tool" == _meant(log, "/srv/b/tool", here)
