"""What a person corrects is said once, where it belongs; what it replaces is told nowhere, and comes back by one undo."""

import json
from pathlib import Path

import pytest

from eventlog.app.build.rebuild import replay_store
from eventlog.app.search.search import SearchQuery, search
from eventlog.app.write.correct import correctable, edit, movable, move
from eventlog.app.write.forget import forget, forgettable
from eventlog.app.write.undo import restorable, undo, undoable
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, Fact, Rejected, StageSummary
from eventlog.log.event_log import EventLog
from eventlog.store import project_slug
from tests.support.command_line import call
from tests.support.golden import tree
from tests.support.use_cases import opened

pytestmark = pytest.mark.slow

SHOP, BARN = "/p/shop", "/p/barn"
OLD, NEW = "The API listens on port 8443", "The API listens on port 9443"


@pytest.fixture
def log(tmp_path):
    ticks = iter(range(10**6))
    return EventLog(tmp_path / "store", fsync=False, clock=lambda: 1_771_588_800 * 10**9 + next(ticks) * 10**9)


@pytest.fixture
def told(log, made_once):
    """A port that two sessions name and one decides, beside what else they say."""
    return made_once(_told, log)


def _told(log):
    for session in ("s1", "s2"):
        log.append(Fact(conversation_id=session, project=SHOP, agent="codex", content=OLD, category="lesson"))
    log.append(
        StageSummary(
            conversation_id="s2",
            project=SHOP,
            agent="codex",
            topic="API",
            summary="Opened it",
            decisions=[OLD, "Ship it"],
        )
    )
    log.append(Fact(conversation_id="s3", project=BARN, agent="codex", content=OLD))
    replay_store(opened(log))


def memory(log, project):
    where = f"projects/{project_slug(project)}/MEMORY.md" if project else "MEMORY.md"
    return tree(log.store.knowledge).get(where, b"").decode()


def files(log):
    return {path: data.rpartition(b"\n<!--")[0] or data for path, data in tree(log.store.knowledge).items()}


def line_of(log, text, project=SHOP):
    number = next(n for n, line in enumerate(memory(log, project).split("\n"), 1) if text in line)
    return f"{log.store.knowledge}/projects/{project_slug(project)}/MEMORY.md:{number}"


def heading_of(text, memory_text):
    lines = memory_text.split("\n")
    at = next(number for number, line in enumerate(lines) if text in line)
    return next(line for line in reversed(lines[:at]) if line.startswith("#"))


def found(log, text, project=SHOP):
    return [hit.text for hit in search(opened(log), SearchQuery(text, project, limit=20)).hits]


@pytest.mark.parametrize("named", ["line", "id", "text"])
def test_another_wording_keeps_its_heading_and_is_said_by_the_person(log, told, named):
    heading = heading_of(OLD, memory(log, SHOP))
    first = next(event.id for event in log.read() if isinstance(event, Fact))
    said = {"line": line_of(log, OLD), "id": first, "text": "listens on port"}[named]
    if named == "text":  # another project says it, too
        with pytest.raises(BadRequest, match="2 statements"):
            correctable(opened(log), said)
        forget(opened(log), forgettable(opened(log), "Ship it"))
        said = line_of(log, OLD)

    edit(opened(log), correctable(opened(log), said), NEW)

    assert heading == heading_of(NEW, memory(log, SHOP))
    assert OLD not in memory(log, SHOP)
    [new] = [event for event in log.read() if isinstance(event, Fact) and event.content == NEW]
    assert (new.agent, new.category, new.effective_scope) == (HUMAN, "decision", "project")


def test_what_was_replaced_is_told_nowhere_but_in_another_project(log, told):
    edit(opened(log), correctable(opened(log), line_of(log, OLD)), NEW)

    assert not [text for text in found(log, "port 8443") if OLD in text]
    assert any(NEW in text for text in found(log, "port 9443"))
    assert "Ship it" in memory(log, SHOP)
    assert OLD in memory(log, BARN)
    assert not [path for path, data in tree(log.store.knowledge).items() if OLD.encode() in data and "shop" in path]


def test_the_history_of_a_line_stays_in_why_over_every_correction(log, told):
    edit(opened(log), correctable(opened(log), line_of(log, OLD)), NEW)
    edit(opened(log), correctable(opened(log), line_of(log, NEW)), "The API listens on port 7443")

    ran = call("why", line_of(log, "7443"), "--json", "--store", log.store.root)

    told = json.loads(ran.out)
    assert [event["content"] for event in told["events"]] == ["The API listens on port 7443"]
    said = [event.get("content") or event["decisions"][0] for event in told["replaced"]]
    assert said == [OLD, OLD, OLD, NEW]


@pytest.mark.parametrize(
    "how", [lambda o, one: edit(o, one, NEW), lambda o, one: move(o, one, BARN), lambda o, one: move(o, one, None)]
)
def test_one_undo_gives_back_every_byte(log, told, how):
    before = files(log)
    how(opened(log), correctable(opened(log), line_of(log, OLD)))
    assert before != files(log)

    undo(opened(log), undoable(opened(log)))

    assert before == files(log)


@pytest.mark.parametrize("project", [BARN, "/p/new", None])
def test_a_moved_line_is_gone_there_and_here_once(log, told, project):
    replay_store(opened(log))
    move(opened(log), correctable(opened(log), line_of(log, OLD)), project)

    assert OLD not in memory(log, SHOP)
    assert memory(log, project).count(OLD) == 1
    assert [name for name in (SHOP, BARN, "/p/new", None) if OLD in memory(log, name)] == [
        name for name in (SHOP, BARN, "/p/new", None) if name in (project, BARN)
    ]


@pytest.mark.parametrize("how", ["edit", "move"])
def test_a_correction_whose_write_was_cut_off_takes_nothing_away_and_is_done_again(log, told, how):
    def correct():
        if how == "edit":
            return edit(opened(log), correctable(opened(log), line_of(log, OLD)), NEW)
        return move(opened(log), movable(opened(log), line_of(log, OLD), None), None)

    def said():
        return [name for name in (SHOP, None) for text in (OLD, NEW) if text in memory(log, name)]

    before = tree(log.store.root)
    correct()
    whole, [day] = said(), [path for path, data in tree(log.store.log).items() if b'"batch"' in data]
    path, old = Path(log.store.log, day), before[f"log/{day}"]
    lines = path.read_bytes()[len(old) :].splitlines(keepends=True)
    assert len(lines) > 3
    for kept in range(len(lines)):
        path.write_bytes(old + b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2])
        replay_store(opened(log))

        assert said(), kept
        assert "Ship it" in memory(log, SHOP)
        if OLD in memory(log, SHOP):
            correct()
        assert (whole, 1) == (said(), "".join(memory(log, name) for name in (SHOP, None)).count("Ship it")), kept


def test_nothing_moves_to_where_it_is(log, told):
    with pytest.raises(BadRequest, match="there already"):
        move(opened(log), correctable(opened(log), line_of(log, OLD)), SHOP)


def test_nobody_is_asked_about_a_move_that_cannot_be(log, told):
    with pytest.raises(BadRequest, match="there already"):
        movable(opened(log), line_of(log, OLD), SHOP)


def test_an_older_wording_of_a_key_does_not_come_back(log):
    for content in ("port is 1", "port is 2"):
        log.append(Fact(conversation_id="s1", project=SHOP, agent="codex", content=content, key="port"))
    replay_store(opened(log))

    move(opened(log), correctable(opened(log), "port is 2"), BARN)
    assert "port is" not in memory(log, SHOP)

    edit(opened(log), correctable(opened(log), "port is 2"), "port is 3")
    log.append(Fact(conversation_id="s2", project=BARN, agent="codex", content="port is 4", key="port"))
    replay_store(opened(log))
    assert memory(log, BARN).count("port is") == 1


@pytest.mark.parametrize("other", ["the api LISTENS on port 8443.", "The  API listens on Port 8443!"])
def test_a_spelling_can_be_corrected(log, told, other):
    edit(opened(log), correctable(opened(log), line_of(log, OLD)), other)

    assert " ".join(other.split()) in memory(log, SHOP)
    assert OLD not in memory(log, SHOP)


def test_what_a_person_says_again_is_no_longer_forgotten(log, told):
    forget(opened(log), forgettable(opened(log), "Ship it"))
    before = files(log)

    edit(opened(log), correctable(opened(log), line_of(log, OLD)), "Ship it")
    assert "Ship it" in memory(log, SHOP)

    undo(opened(log), undoable(opened(log)))
    assert before == files(log)
    assert [event for event in log.read() if isinstance(event, Rejected)]


def test_a_file_from_before_a_correction_can_be_restored(log, told):
    before, then = memory(log, SHOP), max(event.ts for event in log.read())
    edit(opened(log), correctable(opened(log), line_of(log, OLD)), NEW)

    undo(opened(log), restorable(opened(log), line_of(log, NEW).rpartition(":")[0], then))

    assert before.rpartition("<!--")[0] == memory(log, SHOP).rpartition("<!--")[0]


@pytest.mark.parametrize(
    ("said", "why"),
    [("", "no memory says"), ("unicorns", "no memory says"), ("deadbeef", "no memory says"), ("Ship it", None)],
)
def test_nothing_is_guessed(log, told, said, why):
    if why:
        with pytest.raises(BadRequest, match=why):
            correctable(opened(log), said)
    else:
        assert correctable(opened(log), said).text == "Ship it"


@pytest.mark.parametrize("reference", ["", " ", "。"])
def test_a_reference_without_words_means_no_statement_not_even_the_only_one(log, reference):
    log.append(Fact(conversation_id="s1", project=SHOP, agent="codex", content=OLD))
    replay_store(opened(log))

    with pytest.raises(BadRequest, match="no memory says"):
        correctable(opened(log), reference)
    assert call("fact", NEW, "--replaces", reference, "--store", log.store.root).code == 2
    assert OLD in memory(log, SHOP)
    assert len(list(log.read())) == 1


@pytest.mark.parametrize("content", ["", "  \n", OLD, f" {OLD}\n"])
def test_an_empty_or_equal_text_replaces_nothing(log, told, content):
    known = len(list(log.read()))
    one = correctable(opened(log), line_of(log, OLD))

    with pytest.raises(BadRequest):
        edit(opened(log), one, content)

    assert known == len(list(log.read()))


def test_an_agent_replaces_a_line_and_says_it_itself(log, told):
    at = line_of(log, OLD)
    ran = call("fact", NEW, "--replaces", at, "--session", "s9", "--agent", "codex", "--store", log.store.root)
    assert json.loads(ran.out)["status"] == "ok", ran
    replay_store(opened(log))

    assert OLD not in memory(log, SHOP)
    [new] = [event for event in log.read() if isinstance(event, Fact) and event.content == NEW]
    assert (new.agent, new.conversation_id, new.project, new.category) == ("codex", "s9", SHOP, "decision")


def test_an_agent_does_not_bring_back_what_a_person_has_forgotten(log, told):
    forget(opened(log), forgettable(opened(log), "Ship it"))

    ran = call("fact", "ship it", "--replaces", line_of(log, OLD), "--session", "s9", "--store", log.store.root)

    assert json.loads(ran.out)["reason"] == "rejected"
    assert OLD in memory(log, SHOP)


def test_edit_and_move_on_the_command_line(log, told, tmp_path, monkeypatch):
    edited = call("edit", line_of(log, OLD), "--content", NEW, "--store", log.store.root)
    assert edited.code == 0, edited
    assert "replaced; " in edited.out
    assert "undo: eventlog undo " in edited.out

    moved = call("move", line_of(log, NEW), "user", "--json", "--store", log.store.root)
    assert json.loads(moved.out)["events"][0]["scope"] == "user"
    assert NEW in memory(log, None)

    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'Another wording\\n' > \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    assert call("edit", NEW, "--store", log.store.root).code == 0
    assert "Another wording" in memory(log, None)
