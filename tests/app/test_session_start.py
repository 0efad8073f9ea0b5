"""The real start of a session: by the verb, and by a host's hook as a process."""

import json
import os
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from eventlog.app.ask.why import receipts_of
from eventlog.app.build.user_files import take_bootstrap
from eventlog.app.search.open_index import open_index
from eventlog.app.serve import current_lines, session_context, session_start
from eventlog.app.serve.session_context import append_receipt
from eventlog.cli.group import VerbGroup
from eventlog.format.events import ContextInjected, Fact, StageSummary
from eventlog.hooks import deadline
from eventlog.hosts.call import HookCall
from eventlog.log.event_log import EventLog
from eventlog.projections.context.request import ContextRequest
from eventlog.settings.schema import ContextSettings, Settings
from tests.support.command_line import call
from tests.support.context_scene import NOW, Scene, history
from tests.support.hook_calls import HOOK
from tests.support.tree import IMPORT_PATH
from tests.support.use_cases import opened


def verb(*args):
    return CliRunner().invoke(VerbGroup(), [*args], standalone_mode=False)


def receipts(log, session="now"):
    return [event for event in log.session(session) if isinstance(event, ContextInjected)]


# ------------------------------------------------------------------------------------------------------------ the receipt


def start(scene, **fields):
    request = ContextRequest(
        **{"now": NOW, "home": str(scene.home), "project": str(scene.project), "session_id": "now", **fields}
    )
    built = session_context.session_context(opened(scene.log, scene.settings), request)
    append_receipt(scene.log.store, built, request.source)
    return built


def test_the_receipt_says_how_much_was_told_and_what_stands_behind_it(tmp_path):
    scene = history(tmp_path).replay()
    built = start(scene, agent="cursor")
    (receipt,) = receipts(scene.log)
    told = {scene.log.find([one])[one].event.conversation_id for one in receipt.sources}

    assert (len(built.context.text), [], "cursor") == (receipt.chars, receipt.cut, receipt.agent)
    assert {"old", "mid", "yesterday", "today"} == told


def test_the_receipt_names_what_was_cut(tmp_path):
    scene = history(tmp_path).replay()
    start(scene, budget=700)
    (receipt,) = receipts(scene.log)

    assert receipt.cut
    assert receipt.chars <= 700


def test_two_registrations_of_one_start_leave_one_receipt(tmp_path):
    scene = history(tmp_path)
    for _ in range(2):
        start(scene)

    assert len(receipts(scene.log)) == 1


def test_it_tells_of_files_with_their_digest_and_of_rendered_ones_with_their_time(tmp_path):
    scene = history(tmp_path).replay()
    start(scene)
    (receipt,) = receipts(scene.log)
    times = {Path(file.path).name: file.as_of for file in receipt.files}

    assert times["SOUL.md"] is None
    assert times["MEMORY.md"] == "2026-02-21T08:00:00.000000Z"


def test_what_a_session_knew_is_known_ever_after(tmp_path):
    """Even where the memory has changed since."""
    scene = history(tmp_path).replay()
    start(scene)
    scene.tell(("21 11:00", "later", "fact", {"content": "Learned later"}))
    scene.replay()
    (one,) = receipts_of(scene.log, scene.settings, "now")
    behind = {Path(path).parent.name.split("-")[0]: entries for path, entries in one.files.items() if entries}
    said = [entry.event.content for entry in behind["shop"] if isinstance(entry.event, Fact)]

    assert "Deploys happen on Fridays" in said
    assert "Nine days old, important all the same" in said
    assert "Learned later" not in said


def test_what_was_withdrawn_before_it_began_a_session_did_not_know(tmp_path):
    scene = history(tmp_path).replay()
    target = next(event.id for event in scene.log.read() if getattr(event, "content", "").startswith("Deploys"))
    scene.tell(("21 11:00", "later", "retraction", {"target": target}))
    start(scene)
    (receipt,) = receipts_of(scene.log, scene.settings, "now")
    known = [*receipt.entries, *(one for entries in receipt.files.values() for one in entries or ())]

    assert known
    assert target not in [entry.event.id for entry in known]


def test_why_session_lists_what_it_knew(tmp_path):
    scene = history(tmp_path).replay()
    start(scene)
    lines = verb("why", "--session", "now", "--store", scene.log.store.root).output
    (told,) = (
        json.loads(line)
        for line in verb("why", "--session", "now", "--json", "--store", scene.log.store.root).output.splitlines()
    )

    assert "Prefers pytest" in lines
    assert "SOUL.md: sha256" in lines
    assert "Moved login to JWT" in [event.get("summary") for event in told["events"]]
    assert told["receipt"]["type"] == "context_injected"


def test_query_shows_the_receipt(tmp_path):
    scene = history(tmp_path)
    start(scene)
    output = verb("query", "--session", "now", "--store", scene.log.store.root).output

    assert "context_injected" in output
    assert "characters from" in output


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--session", "nobody"], "no session 'nobody'"),
        (["--session", "today"], "received nothing"),
        ([], "give a file"),
        (["MEMORY.md", "--session", "today"], "give a file"),
    ],
)
def test_why_says_what_it_cannot_tell(tmp_path, args, said):
    result = verb("why", *args, "--store", history(tmp_path).log.store.root)

    assert said in str(result.exception)


# ----------------------------------------------------------------------------------------------- templates and BOOTSTRAP


OWN = ["AGENTS.md", "SOUL.md", "USER.md", "user/profile.md"]


def fresh(tmp_path, **context):
    """A scene without any file of the user or of the project."""
    scene = Scene(tmp_path, Settings(context=ContextSettings(**context), locale="zh"))
    for file in scene.home.rglob("*.md"):
        file.unlink()
    return scene


def own_files(scene):
    workspace = scene.home / ".config/agents"
    return sorted(str(file.relative_to(workspace)) for file in workspace.rglob("*.md"))


def test_the_first_start_creates_the_users_missing_files_and_none_in_the_project(tmp_path):
    scene = fresh(tmp_path)
    context = start(scene).context

    assert OWN == own_files(scene)
    assert OWN == sorted(
        name for name in OWN for one in context.results if one.is_default and one.file_path.endswith(name)
    )
    assert "代理的身份" in (scene.home / ".config/agents/SOUL.md").read_text()
    assert not list(scene.project.rglob("*.md"))


@pytest.mark.parametrize("umask", [0, 0o022])
def test_what_tells_of_a_user_is_their_own_whatever_the_umask_and_survives_a_power_cut(tmp_path, umask, monkeypatch):
    scene = fresh(tmp_path)
    workspace = scene.home / ".config/agents"
    shutil.rmtree(scene.home / ".config")
    synced = set()
    monkeypatch.setattr(os, "fsync", lambda fd: synced.add(os.fstat(fd).st_ino))
    before = os.umask(umask)
    try:
        start(scene)
    finally:
        os.umask(before)
    made = [scene.home / ".config", workspace, workspace / "user", *(workspace / name for name in OWN)]

    assert [0o700] * 3 + [0o600] * len(OWN) == [stat.S_IMODE(path.stat().st_mode) for path in made]
    assert {path.stat().st_ino for path in made} <= synced


def test_what_nobody_has_filled_in_is_not_told(tmp_path):
    scene = fresh(tmp_path)
    untold = [start(scene).context.text, start(scene, session_id="two").context.text]
    profile = scene.home / ".config/agents/user/profile.md"
    profile.write_text(profile.read_text() + "\n- 中文交流\n")

    assert not [text for text in untold if "偏好" in text or "# SOUL.md" in text]
    assert "# 用户记忆\n\n## 偏好\n" in start(scene, session_id="three").context.text


@pytest.mark.parametrize("name", OWN)
def test_who_deletes_a_created_file_is_not_given_it_again(tmp_path, name):
    scene = fresh(tmp_path)
    start(scene)
    (scene.home / ".config/agents" / name).unlink()
    results = [start(scene, session_id=session).context.results for session in ("two", "three")]

    assert [one for one in OWN if one != name] == own_files(scene)
    assert not [one for one in (*results[0], *results[1]) if one.is_default]


def test_who_has_files_of_their_own_gets_no_profile(tmp_path):
    scene = fresh(tmp_path)
    (scene.home / ".config/agents/user/notes.md").write_text("- mine\n")
    start(scene)

    assert "user/profile.md" not in own_files(scene)


@pytest.mark.parametrize("how", ["a look", "by the settings", "others listen"])
def test_who_did_not_ask_gets_no_files(tmp_path, how):
    scene = fresh(tmp_path, templates=how != "by the settings")
    context = (scene.ask(session_id="") if how == "a look" else start(scene, session_type="shared")).context
    missing = [one.error for one in context.results if one.file_path.endswith("agents/SOUL.md")]

    assert (["user/profile.md"] == [name for name in OWN if name not in own_files(scene)]) == (how == "others listen")
    assert [None if how == "others listen" else "is missing"] == missing


def test_a_base_elsewhere_is_not_created_from_a_template(tmp_path):
    scene = fresh(tmp_path, workspace="~/fresh")
    start(scene)

    assert [] == own_files(scene)
    assert ["profile.md"] == [file.name for file in (scene.home / "fresh").rglob("*.md")]


def test_where_no_home_is_known_nothing_is_created_in_the_directory_at_hand(tmp_path, monkeypatch):
    scene = fresh(tmp_path)
    monkeypatch.chdir(scene.project)
    start(scene, home="~")

    assert not list(scene.project.rglob("*.md"))


def test_init_offers_the_same_files_and_creates_them_when_told_to(at_home, tmp_path):
    home = at_home.home
    for file in home.rglob("*.md"):
        file.unlink()
    told = call("init", "--store", tmp_path / "store")
    offered = [line.split()[0] for line in told.out.splitlines()]
    created = call("init", "--yes", "--store", tmp_path / "store")
    again = call("init", "--store", tmp_path / "store")

    assert (1, ["missing"] * 4, 0, 0) == (told.code, offered, created.code, again.code)
    assert len(offered) == created.out.count("created")
    assert [] == [name for name in OWN if not (home / ".config/agents" / name).exists()]
    assert "nothing is missing\n" == again.out


def test_init_overwrites_nothing(at_home, tmp_path):
    own = at_home.home / ".config/agents/USER.md"
    own.write_text("mine\n")
    call("init", "--yes", "--store", tmp_path / "store")

    assert "mine\n" == own.read_text()


def test_config_shows_where_the_users_own_files_are(at_home, tmp_path):
    told = json.loads(call("config", "--json", "--store", tmp_path).out)

    assert {"value": f"{at_home.home}/.config/agents/user/*.md", "from": "context.workspace"} == told["user_files"]


@pytest.mark.parametrize(("name", "other"), [("SOUL.md", "SPIRIT.md"), ("USER.md", "OWNER.md")])
def test_files_are_found_under_their_other_name(tmp_path, name, other):
    scene = Scene(tmp_path)
    there = scene.home / ".config/agents" / name
    there.rename(there.with_name(other))
    context = scene.ask().context

    assert str(there.with_name(other)) in context.loaded_files


@pytest.mark.parametrize(("name", "other"), [("SOUL.md", "SPIRIT.md"), ("USER.md", "OWNER.md")])
def test_a_file_stays_told_when_one_of_its_usual_name_comes_to_stand_beside_it(tmp_path, name, other):
    scene = Scene(tmp_path)
    there = scene.home / ".config/agents" / name
    there.rename(there.with_name(other))
    before = there.with_name(other).read_text().strip()
    there.write_text("## Planned\n\n- a planned line\n")  # as `apply` makes a base that is not there
    context = scene.ask().context

    assert before in context.text
    assert "- a planned line" in context.text


def bootstrap(scene):
    path = scene.home / ".config/agents/BOOTSTRAP.md"
    path.write_text("Introduce yourself.\n")
    return path


def test_bootstrap_is_told_once(tmp_path):
    scene = Scene(tmp_path)
    bootstrap(scene)
    first, second = (start(scene, session_id=session).context.text for session in ("one", "two"))

    assert "# First session here\n\nIntroduce yourself." in first
    assert "Introduce yourself." not in second
    assert (scene.home / ".config/agents/BOOTSTRAP.used-2026-02-21T120000.md").read_text() == "Introduce yourself.\n"


def test_a_session_others_listen_to_leaves_bootstrap_to_the_user(tmp_path):
    scene = Scene(tmp_path)
    path = bootstrap(scene)
    asked = start(scene, session_id="shared", session_type="shared").context.text
    scene.tell(("21 11:00", "as the log says", "session_start", {"session_type": "shared"}))
    logged = start(scene, session_id="as the log says").context.text

    assert not [text for text in (asked, logged) if "Introduce yourself." in text]
    assert path.exists()
    assert "Introduce yourself." in start(scene, session_id="mine").context.text


def test_a_second_one_on_the_same_day_overwrites_nothing(tmp_path):
    scene = Scene(tmp_path)
    bootstrap(scene)
    start(scene, session_id="one")
    bootstrap(scene).write_text("Once more.\n")
    start(scene, session_id="two", now="2026-02-21T12:00:01.000000Z")
    kept = sorted((scene.home / ".config/agents").glob("BOOTSTRAP*"))

    assert ["Introduce yourself.\n", "Once more.\n"] == [path.read_text() for path in kept]


def test_of_many_sessions_at_once_one_is_told(tmp_path):
    scene = Scene(tmp_path)
    bootstrap(scene)
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: take_bootstrap(Settings(), str(scene.home), NOW), range(32)))

    assert ["Introduce yourself.\n"] == [text for text in texts if text]


def test_a_look_does_not_use_it_up(tmp_path):
    scene = Scene(tmp_path)
    path = bootstrap(scene)

    assert "Introduce yourself." not in scene.text(session_id="")
    assert path.exists()


# ----------------------------------------------------------------------------------------------------------------- the verb


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    scene = Scene(tmp_path)
    monkeypatch.setenv("HOME", str(scene.home))
    monkeypatch.chdir(scene.project)
    return scene


def test_without_a_session_the_verb_only_looks(at_home):
    output = verb("context", "--store", at_home.log.store.root).output

    assert output.startswith("Recorded earlier")
    assert "eventlog fact" not in output
    assert not Path(at_home.log.store.log).exists()


def test_with_a_session_it_tells_how_to_save_and_leaves_a_receipt(at_home):
    output = verb("context", "--session", "now", "--store", at_home.log.store.root).output

    assert "--session now" in output.partition("# AGENTS.md")[0]
    assert len(output) == receipts(EventLog(at_home.log.store))[0].chars


def test_a_session_told_as_shared_stays_shared_where_nobody_says_so_again(at_home):
    at_home.log.append({"type": "fact", "conversation_id": "before", "content": "Likes tea", "memory_type": "O"})
    where = ["context", "--session", "group", "--store", at_home.log.store.root]
    verb(*where, "--session-type", "shared")

    assert "Likes tea" not in verb(*where, "--source", "compact").output
    assert "Likes tea" in verb(*where, "--session-type", "main").output


@pytest.mark.slow
def test_every_command_that_shows_the_rest_shows_it(at_home):
    at_home.log.append_many(
        [at_home.event("21 08:00", "s", "fact", content=f"Fact number {number}", ts=None) for number in range(9)]
    )
    where = ["context", "--session", "s", "--source", "compact", "--store", at_home.log.store.root]
    output = verb(*where, "--budget", "2800").output
    commands = [line.split("`")[1] for line in output.splitlines() if line.startswith("[") and "`" in line]
    shown = "".join(_run(one) for one in commands)

    assert "Fact number 0" not in output
    assert not [number for number in range(9) if f"Fact number {number}" not in shown + output]


def _run(command):
    environ = {**os.environ, "PYTHONPATH": IMPORT_PATH, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=True, env=environ).stdout


def test_after_a_compaction_it_asks_to_save(at_home):
    output = verb("context", "--session", "now", "--source", "compact", "--store", at_home.log.store.root).output

    assert "being compacted" in output.partition("# AGENTS.md")[0]


def test_a_context_says_how_long_it_took_to_load(at_home, monkeypatch):
    ticks = iter((7.0, 7.25))
    monkeypatch.setattr(session_context, "monotonic", lambda: next(ticks))

    assert 250 == json.loads(verb("context", "--json", "--store", at_home.log.store.root).output)["load_time_ms"]


def test_as_json_it_is_the_whole_context(at_home):
    told = json.loads(verb("context", "--json", "--budget", "500", "--store", at_home.log.store.root).output)
    fields = ("session_id", "session_type", "created_at", "agents_content", "spirit_content", "owner_content",
              "memory_content", "tools_content", "daily_memories", "loaded_files", "load_time_ms", "version")  # fmt: skip

    assert not [name for name in fields if name not in told]
    assert len(told["text"]) <= 500
    assert told["cut"]
    assert {"file_path", "success", "content", "error", "loaded_at", "from_cache", "is_default"} == set(
        told["results"][0]
    )


# ------------------------------------------------------------------------------------------------------------- the hook


def hook(scene, agent="claude", *argv, **payload):
    """The context a host's session is answered with, by a real process."""
    sent = {"session_id": "hooked", "cwd": str(scene.project), "hook_event_name": "SessionStart", **payload}
    done = subprocess.run(
        [*HOOK, "--agent", agent, "--store", scene.log.store.root, *argv],
        input=json.dumps(sent).encode(), capture_output=True, check=True, env={"HOME": str(scene.home)},
    )  # fmt: skip
    assert done.stderr == b""
    assert not Path(scene.log.store.cache, "hook-errors.log").exists()
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.slow
def test_a_hosts_hook_answers_with_the_whole_context(tmp_path):
    scene = Scene(tmp_path)
    scene.log.append(
        {"type": "fact", "conversation_id": "before", "project": str(scene.project), "content": "Fresh from the log"}
    )
    text = hook(scene, source="startup")

    assert "--session hooked" in text.partition("# AGENTS.md")[0]
    assert "Fresh from the log" in text
    assert "Calm, brief." in text
    assert len(text) == receipts(scene.log, "hooked")[0].chars


@pytest.mark.slow
def test_after_a_compaction_the_hook_asks_to_save(tmp_path):
    assert "being compacted" in hook(Scene(tmp_path), source="compact")


@pytest.mark.slow
def test_a_hook_installed_for_shared_sessions_tells_nothing_about_the_user(tmp_path):
    scene = Scene(tmp_path)
    scene.log.append({"type": "fact", "conversation_id": "before", "content": "Likes tea", "memory_type": "O"})
    main = hook(scene, source="startup", session_id="one")
    shared = hook(scene, "claude", "--session-type", "shared", source="startup", session_id="two")

    assert "Likes tea" in main
    assert "Likes tea" not in shared
    assert "Likes tea" not in hook(scene, source="resume", session_id="two")


@pytest.mark.slow
def test_the_hook_obeys_the_settings(tmp_path):
    scene = Scene(tmp_path)
    Path(scene.log.store.root).mkdir()
    Path(scene.log.store.config).write_text("context: {budget_chars: 1300}\nlocale: zh\n")
    text = hook(scene, source="startup")

    assert len(text) <= 1300
    assert "还有" in text


@pytest.mark.slow
def test_a_mistake_in_the_settings_costs_a_session_nothing(tmp_path):
    scene = Scene(tmp_path)
    Path(scene.log.store.root).mkdir()
    Path(scene.log.store.config).write_text("contxt: {}\n")

    assert "Calm, brief." in hook(scene, source="startup")


@pytest.mark.slow
@pytest.mark.parametrize("error", [deadline.OutOfTime, OSError, ValueError])
def test_where_time_is_short_or_rows_cannot_be_read_the_agent_is_told_what_is_certain(tmp_path, monkeypatch, error):
    def fails(*_args):
        raise error

    scene = history(tmp_path).replay()
    monkeypatch.setenv("HOME", str(scene.home))
    monkeypatch.setattr(current_lines, "_open", fails)
    payload: dict[str, object] = {"cwd": str(scene.project), "source": "startup"}
    text = session_start.start_context(scene.log.store, HookCall("codex", "SessionStart", payload, session="s"))

    assert "--session s" in text
    assert "Calm, brief." in text
    assert "Nine days old, important all the same" in text
    assert "Moved login to JWT" in text
    assert [len(text)] == [receipt.chars for receipt in receipts(scene.log, "s")]


def test_where_libraries_are_missing_the_agent_is_told_all_the_same(tmp_path, monkeypatch):
    scene = history(tmp_path).replay()
    monkeypatch.setitem(sys.modules, "msgspec", None)
    monkeypatch.setenv("HOME", str(scene.home))
    payload: dict[str, object] = {"cwd": str(scene.project), "source": "startup"}
    text = session_start.start_context(scene.log.store, HookCall("codex", "SessionStart", payload, session="s"))

    assert "--session s" in text
    assert "Nine days old, important all the same" in text
    assert not Path(scene.log.store.cached("hook-errors.log")).exists()


def test_what_a_summary_taken_from_its_file_stands_for_is_known_too(tmp_path, monkeypatch):
    """A large log without an index tells of no session before the last days."""
    scene = history(tmp_path).replay()
    monkeypatch.setattr(current_lines, "_SMALL_LOG", 0)
    start(scene)
    (one,) = receipts_of(scene.log, scene.settings, "now")
    (behind,) = (entries for path, entries in one.files.items() if path.endswith("sessions/old.md"))

    assert behind
    assert ["Rewrote the cart"] == [entry.event.summary for entry in behind if isinstance(entry.event, StageSummary)]


@pytest.mark.slow
@pytest.mark.parametrize("hour", ["00:30", "23:30"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_an_old_decision_is_found_by_its_day_wherever_the_user_lives(tmp_path, monkeypatch, zone, hour):
    """Of what files say, what stands is looked for among the summaries of those days; to read all takes its time."""
    asked = []
    summaries = current_lines._Rows.summaries

    def listed(rows, subject, days):
        asked.append(days)
        return summaries(rows, subject, days)

    monkeypatch.setattr(current_lines._Rows, "summaries", listed)
    scene = Scene(tmp_path, Settings(timezone=zone))
    scene.tell((f"10 {hour}", "old", "stage_summary", {"summary": "Did it", "decisions": ["No floats"]})).replay()
    open_index(scene.log.store).close()

    assert "] No floats" in scene.ask().context.text
    assert asked
    assert None not in asked
