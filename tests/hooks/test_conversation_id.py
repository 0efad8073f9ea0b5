"""Which conversation a call belongs to, where the host does not say: by its own session store, else one id that stays."""

import os

import pytest

from eventlog.hosts.claude.protocol import slug
from tests.support.host_calls import events, tell
from tests.support.payloads import claude, codex, data

UUID = "019c32d0-ad7a-70b2-b378-c2b94a4ce4a3"


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def work(tmp_path):
    (tmp_path / "my.app").mkdir()
    return tmp_path / "my.app"


def _told(store, payload, **environ):
    payload = {name: value for name, value in payload.items() if name not in ("session_id", "transcript_path")}
    tell(store, payload, "--agent", "claude", **environ)
    return events(store)[-1].conversation_id


def _files(directory, *names):
    """Session files, each written later than the one before."""
    directory.mkdir(parents=True, exist_ok=True)
    for age, name in enumerate(names):
        (directory / f"{name}.jsonl").touch()
        os.utime(directory / f"{name}.jsonl", (1_000_000 + age, 1_000_000 + age))


def test_the_slug_of_a_directory_is_that_of_claude_code():
    assert "-Users-me-my-app" == slug("/Users/me/my.app")
    assert "E--dev-myagents" == slug("E:\\dev\\myagents")


def test_the_id_in_the_payload_comes_first(store, work, tmp_path):
    _files(tmp_path / "config" / "projects" / slug(str(work)), "other")
    tell(store, claude("Stop", cwd=str(work), session_id="mine"), CLAUDE_CONFIG_DIR=str(tmp_path / "config"))

    assert ["mine"] == [event.conversation_id for event in events(store)]


def test_the_transcript_names_the_conversation(store):
    payload = {**codex("Stop", turn_id="t"), "transcript_path": f"/x/rollout-2026-02-06T19-57-42-{UUID}.jsonl"}
    del payload["session_id"]
    tell(store, payload)

    assert [UUID] == [event.conversation_id for event in events(store)]


def test_the_newest_file_of_the_project_is_the_conversation(store, work, tmp_path):
    _files(tmp_path / "config" / "projects" / slug(str(work)), "old", "new")
    _files(tmp_path / "config" / "projects" / "-somewhere-else", "newer")

    assert "new" == _told(store, claude("Stop", cwd=str(work)), CLAUDE_CONFIG_DIR=str(tmp_path / "config"))


def test_a_resumed_conversation_is_the_newest_again(store, work, tmp_path):
    directory = tmp_path / "config" / "projects" / slug(str(work))
    _files(directory, "old", "new")
    os.utime(directory / "old.jsonl", (2_000_000, 2_000_000))

    assert "old" == _told(store, claude("Stop", cwd=str(work)), CLAUDE_CONFIG_DIR=str(tmp_path / "config"))


def test_a_rewind_stays_in_its_conversation(store, work, tmp_path):
    directory = tmp_path / "config" / "projects" / slug(str(work))
    _files(directory, "one")
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "config")}
    before = _told(store, claude("Stop", cwd=str(work), prompt_id="p1"), **environ)
    (directory / "one.jsonl").write_text("rewound")

    assert before == _told(store, claude("Stop", cwd=str(work), prompt_id="p2"), **environ)


def test_codex_goes_on_in_the_rollout_of_its_first_day(store, tmp_path):
    _files(tmp_path / "codex" / "sessions" / "2026" / "02" / "07", "rollout-2026-02-07T10-00-00-" + UUID[:-1] + "0")
    _files(tmp_path / "codex" / "sessions" / "2026" / "02" / "06", "older", f"rollout-2026-02-06T19-57-42-{UUID}")
    payload = codex("Stop", turn_id="t")
    for name in ("session_id", "transcript_path"):
        del payload[name]
    tell(store, payload, CODEX_HOME=str(tmp_path / "codex"))

    assert [UUID] == [event.conversation_id for event in events(store)]


def test_without_any_store_one_is_made_up_and_kept(store, work):
    first = _told(store, claude("SessionStart", cwd=str(work), source="startup"))
    rest = {_told(store, claude("Stop", cwd=str(work), prompt_id=f"p{turn}")) for turn in range(3)}

    assert {first} == rest


@pytest.mark.parametrize(
    ("source", "same"), [("resume", True), ("compact", True), ("startup", False), ("clear", False)]
)
def test_a_new_start_is_a_new_conversation_and_a_return_is_not(store, work, source, same):
    first = _told(store, claude("SessionStart", cwd=str(work), source="startup", model="a"))
    again = _told(store, claude("SessionStart", cwd=str(work), source=source, model="b"))

    assert same == (first == again)


def test_two_projects_never_share_a_conversation(store, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one, other = (_told(store, claude("Stop", cwd=str(tmp_path / name))) for name in ("a", "b"))

    assert one != other


def test_what_names_no_session_is_still_json(store):
    assert {} == tell(store, {"hook_event_name": "Odd"})
    assert data({}) == b"{}"
