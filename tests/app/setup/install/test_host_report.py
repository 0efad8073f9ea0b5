"""doctor tells what is active, what is wrong, and what to type."""

import hashlib
import json
import shutil
import sys
import time
from pathlib import Path

import pytest

from eventlog.app.setup.install.host_report import _last_calls
from eventlog.format import timestamps
from eventlog.hosts.profile import profiles
from eventlog.log import days
from eventlog.log.event_log import EventLog
from eventlog.store.replica import make_replica, replica_of
from tests.support.command_line import call
from tests.support.host_calls import tell
from tests.support.payloads import claude, codex


def _doctor():
    ran = call("doctor", "--json")
    report = json.loads(ran.out)
    return ran.code, report, {one["agent"]: one for one in report["agents"]}


def _problems(agent):
    return {problem["what"].split(":")[0]: problem["fix"] for problem in _doctor()[2][agent]["problems"]}


def test_nothing_installed_is_nothing_wrong(home):
    code, report, agents = _doctor()

    assert (0, []) == (code, report["problems"])
    assert {"claude", "cursor", "codex", "gemini", "copilot", "vscode", "qwen", "opencode"} < set(agents)
    assert {"droid", "auggie", "cn", "kilo"} < set(agents)
    assert not any(one["found"] or one["installed"] for one in agents.values())
    assert not (home / ".eventlog").exists()


def test_a_host_that_is_there_and_not_installed_is_told_how(home):
    (home / ".claude").mkdir()

    said = call("doctor").out

    assert "claude    found, not installed\n" in said
    assert "next      no hook is installed: eventlog install claude\n" in said


def test_a_program_on_the_path_is_found(home, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").touch(0o755)

    assert _doctor()[2]["codex"]["found"]


def test_what_is_installed_is_named(home):
    call("install", "claude")
    code, _, agents = _doctor()

    assert 0 == code
    assert [str(home / ".claude" / "settings.json")] == agents["claude"]["installed"]
    assert [] == agents["claude"]["problems"]


@pytest.mark.parametrize("name", ["python", "python3", "python3.11"])
def test_whatever_name_of_the_same_python_installed_it_is_as_it_should_be(home, monkeypatch, name):
    places = [home / "env" / "bin" / name, home / "other" / "bin" / "python3", home / "env" / "bin" / "python3"]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(places[0]))
    call("install", "claude", "--no-mcp")

    monkeypatch.setattr(sys, "executable", str(places[2]))
    assert [] == _doctor()[2]["claude"]["problems"]
    monkeypatch.setattr(sys, "executable", str(places[1]))
    assert any("another installation" in problem for problem in _problems("claude"))


def test_a_host_installed_for_shared_sessions_is_as_it_should_be(home):
    call("install", "claude", "--session-type", "shared")
    code, _, agents = _doctor()

    assert (0, []) == (code, agents["claude"]["problems"])


def test_a_hook_that_an_earlier_version_registered_for_fewer_cases_is_told_to_be_installed_again(home):
    call("install", "codex")
    file = home / ".codex" / "hooks.json"
    hooks = json.loads(file.read_text())
    current = hooks["hooks"]["SessionStart"][0]
    hooks["hooks"]["SessionStart"] = [
        {"matcher": "startup", "hooks": [{"type": "command", "command": "mine"}]},
        {"matcher": "startup|resume", **current},
    ]
    file.write_text(json.dumps(hooks))
    problem = f"{file} calls us for other cases of SessionStart than this version asks for"

    assert "eventlog install codex --user" == _problems("codex")[problem]
    call("install", "codex")
    assert problem not in _problems("codex")
    assert "mine" in file.read_text()


def test_the_last_hook_is_told(home):
    call("install", "claude")
    before = _doctor()[2]["claude"]["last"]
    then = timestamps.from_ns(time.time_ns() - 50_000_000)  # files are dated by a coarser clock
    tell(home / ".eventlog", claude("Stop", prompt_id="p"))

    assert before is None
    assert then <= _doctor()[2]["claude"]["last"] < timestamps.from_ns(time.time_ns())


def test_a_fact_said_by_an_agent_is_no_hook(home):
    call("fact", "x", "--session", "s", "--agent", "claude-code")

    assert _doctor()[2]["claude"]["last"] is None


def test_what_was_imported_appended_or_told_by_another_machine_is_no_hook(home):
    call("install", "claude")
    store = home / ".eventlog"
    past = [
        {"type": "session_start", "source": "import"},
        {"type": "session_start", "replica": "another-0a1b2c"},
        {"type": "turn_end"},
        {"type": "session_end"},
        {"type": "host_event", "name": "UserPromptSubmit"},
    ]
    EventLog(store).append_many([{"conversation_id": "c", "agent": "claude-code", **one} for one in past])

    assert _doctor()[2]["claude"]["last"] is None
    assert "claude    installed; no hook has arrived yet" in call("doctor").out
    tell(store, claude("Stop", prompt_id="p"))
    assert "hooks work: the last" in call("doctor").out


def test_without_the_cache_a_start_that_names_the_store_tells_that_hooks_work(home):
    store = home / ".eventlog"
    tell(store, claude("SessionStart", source="startup"))
    shutil.rmtree(store / "cache")

    assert _doctor()[2]["claude"]["last"]


def test_an_agent_no_room_is_known_of_leaves_no_file(home):
    tell(home / ".eventlog", {"hook_event_name": "Stop", "session_id": "s"}, "--agent", "../../escape")

    assert [] == list((home / ".eventlog" / "cache").glob("heard/*"))
    assert not list(home.rglob("escape"))


def test_the_last_hook_is_found_behind_damage(log):
    make_replica(log.store)
    log.append({"type": "session_start", "conversation_id": "c", "agent": "codex", "replica": replica_of(log.store)})
    with open(log.days()[0].files[0], "ab") as opened:  # noqa: PTH123
        opened.write(b'{"agent":"codex"\n"agent":"codex"')

    assert {"codex"} == set(_last_calls(log.store, ["codex", "cursor"]))


def test_agents_that_never_called_cost_one_look_at_each_day(log, monkeypatch):
    make_replica(log.store)
    for hour in range(3):
        log.append({"type": "turn_end", "conversation_id": "c", "agent": "codex", "ts": f"2026-02-20T0{hour}:00:00Z"})
    files: list[str] = []
    decoded: list[bytes] = []

    def noting(file):
        files.append(file)
        return Path(file).read_bytes()

    def undecoded(data, _):
        decoded.append(data)
        return []

    monkeypatch.setattr(days, "read", noting)
    monkeypatch.setattr(days, "decode_whole", undecoded)

    assert not _last_calls(log.store, ["codex", "cursor", "gemini"])
    assert 1 == len(files)
    assert [b""] == decoded


def _trust_all(home):
    """What Codex writes when its user trusts every hook of the file as it is."""
    path = home / ".codex" / "hooks.json"
    lines = []
    for event, (group,) in json.loads(path.read_text())["hooks"].items():
        label = "".join(f"_{char.lower()}" if char.isupper() else char for char in event)[1:]
        (handler,) = group["hooks"]
        identity = {"event_name": label, **group, "hooks": [{**handler, "async": False}]}
        compact = json.dumps(identity, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(compact.encode()).hexdigest()
        lines += [f'[hooks.state."{path}:{label}:0:0"]', f'trusted_hash = "sha256:{digest}"']
    (home / ".codex" / "config.toml").write_text("\n".join(lines))


def test_codex_has_to_trust_each_hook(home):
    call("install", "codex")
    untrusted = _problems("codex")
    _trust_all(home)

    assert ["run /hooks in Codex"] == list(untrusted.values())
    assert {} == _problems("codex")


def test_codex_is_told_to_trust_only_what_it_does_not(home):
    first = call("install", "codex").out
    _trust_all(home)
    second = call("install", "codex").out

    assert [True, False] == ["run /hooks" in said for said in (first, second)]


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", 'model = "x"\n', "[hooks.state]\n\n", "[tools]\nweb = true\n\n[hooks.state]\n"])
@pytest.mark.parametrize("after", ["", "\n# mine\n[z]\na = 1\n"])
def test_what_codex_noted_of_our_hooks_goes_with_them(home, before, after):
    call("install", "codex")
    _trust_all(home)
    config = home / ".codex" / "config.toml"
    config.write_text(before + "\n" * bool(before) + config.read_text().replace("\n[", "\n\n[") + "\n" + after)
    call("uninstall", "codex")
    left = config.read_text()

    assert "hooks.state" not in left
    assert "# mine\n[z]\na = 1\n" in left or not after
    assert before.partition("[hooks")[0].strip() in left
    assert "\n\n\n" not in left


def test_trust_in_hooks_of_others_stays(home):
    call("install", "codex")
    _trust_all(home)
    config = home / ".codex" / "config.toml"
    theirs = '\n\n[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    config.write_text(config.read_text() + theirs)
    call("uninstall", "codex")

    assert theirs.strip() == config.read_text().strip()


def test_codex_skips_a_command_it_did_not_trust(home, monkeypatch):
    call("install", "codex")
    _trust_all(home)
    monkeypatch.setattr("sys.executable", "/another/python")
    call("install", "codex")
    problems = [one for one in _doctor()[2]["codex"]["problems"] if "trust" in one["what"]]

    assert ["run /hooks in Codex"] == [one["fix"] for one in problems]


def test_a_trusted_hook_that_codex_was_told_to_skip_is_named(home):
    call("install", "codex")
    _trust_all(home)
    config = home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace(':stop:0:0"]\n', ':stop:0:0"]\nenabled = false\n'))

    assert {"Codex was told to skip the hooks for Stop": "run /hooks in Codex"} == _problems("codex")


def test_a_hook_that_arrives_is_trusted_whatever_its_digest(home, monkeypatch):
    call("install", "codex")
    _trust_all(home)
    monkeypatch.setattr("sys.executable", "/another/python")
    call("install", "codex")
    tell(home / ".eventlog", codex("Stop", turn_id="u-1"), "--agent", "codex")

    assert not [one for one in _doctor()[2]["codex"]["problems"] if "trust" in one["what"]]


def test_a_hook_that_is_gone_is_a_problem(home):
    call("install", "claude")
    path = home / ".claude" / "settings.json"
    path.write_text(path.read_text().replace("/eventlog/hook.py", "/gone/eventlog/hook.py"))
    problems = _problems("claude")

    assert [fix for what, fix in problems.items() if "which is gone" in what] == ["eventlog install claude --user"]


def test_a_missing_event_is_a_problem(home):
    call("install", "cursor")
    path = home / ".cursor" / "hooks.json"
    value = json.loads(path.read_text())
    del value["hooks"]["stop"]
    path.write_text(json.dumps(value))

    assert {f"{path} lacks stop": "eventlog install cursor --user"} == _problems("cursor")


def test_two_registrations_are_a_problem(home):
    call("install", "claude")
    call("install", "claude", "--project")

    assert ["eventlog uninstall claude --project"] == list(_problems("claude").values())


def test_a_copy_written_by_hand_is_a_problem(home):
    call("install", "cursor")
    path = home / ".cursor" / "hooks.json"
    value = json.loads(path.read_text())
    value["hooks"]["stop"].append({"command": "eventlog hook --agent cursor"})
    path.write_text(json.dumps(value))

    assert f"{path} registers stop twice" in _problems("cursor")


def test_cursor_running_the_hooks_of_claude_code_is_told_and_is_no_failure(home):
    call("install", "claude", "cursor")
    code, _, agents = _doctor()
    (problem,) = agents["cursor"]["problems"]

    assert "also runs the hooks in" in problem["what"]
    assert not problem["serious"]
    assert problem["fix"].endswith("eventlog uninstall cursor --user")
    assert 0 == code


def test_the_fix_of_a_double_in_the_project_is_of_the_project(home):
    call("install", "claude", "cursor", "--project")
    (problem,) = _doctor()[2]["cursor"]["problems"]

    assert problem["fix"].endswith("eventlog uninstall cursor --project")


def test_copilot_runs_the_hooks_of_claude_code_in_projects_only(home):
    call("install", "claude", "copilot")
    for_the_user = _problems("copilot")
    call("install", "claude", "--project")

    assert {} == for_the_user
    assert 1 == len(_problems("copilot"))


def test_a_registration_that_serves_other_projects_is_not_told_to_leave(home):
    call("install", "cursor")
    call("install", "claude", "--project")

    assert ["none needed: it is harmless"] == list(_problems("cursor").values())


def test_hosts_that_lack_each_others_events_are_not_told_to_leave(home):
    call("install", "copilot", "vscode")

    assert ["none needed: it is harmless"] == list(_problems("copilot").values())
    assert ["none needed: it is harmless"] == list(_problems("vscode").values())


@pytest.mark.parametrize(
    ("agent", "path", "text", "switch"),
    [
        ("claude", "home/.claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude", "shop/.claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude", "shop/.claude/settings.local.json", '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude", "etc/managed-settings.json", '{"allowManagedHooksOnly": true}', "allowManagedHooksOnly"),
        ("codex", "home/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks"),
        ("codex", "shop/.codex/config.toml", "features = {codex_hooks = false}\n", "features.codex_hooks"),
        ("codex", "etc/requirements.toml", "allow_managed_hooks_only = true\n", "allow_managed_hooks_only"),
        ("gemini", "home/.gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("gemini", "shop/.gemini/settings.json", '{"hooksConfig": {"disabled": ["eventlog"]}}', "hooksConfig.disabled"),
        ("gemini", "etc/settings.json", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("qwen", "shop/.qwen/settings.json", '{"disableAllHooks": true}', "disableAllHooks"),
    ],
)
def test_hooks_switched_off_by_the_host_are_a_problem(home, tmp_path, monkeypatch, agent, path, text, switch):
    profile = profiles()[agent]
    names = tuple(
        str(tmp_path / "etc" / Path(name).name) if name[0] == "/" else name for name in profile.settings_files
    )
    monkeypatch.setattr(f"eventlog.hosts.{agent}.profile.PROFILE", profile._replace(settings_files=names))
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    monkeypatch.chdir(tmp_path)
    call("install", agent)
    elsewhere = [one["fix"] for one in _doctor()[2][agent]["problems"] if switch in one["fix"]]
    (tmp_path / "shop").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / "shop")

    assert f"take {switch} out of {file}" in _problems(agent).values()
    assert bool(elsewhere) == (not path.startswith("shop"))


@pytest.mark.parametrize(
    ("agent", "path", "refused"),
    [
        ("claude", ".claude/settings.json", {"comment", "trailing comma"}),
        ("codex", ".codex/hooks.json", {"comment", "trailing comma", "byte order mark"}),
        ("gemini", ".gemini/settings.json", {"trailing comma", "byte order mark"}),
        ("qwen", ".qwen/settings.json", {"trailing comma"}),
        ("cursor", ".cursor/hooks.json", set()),
    ],
)
def test_a_file_that_the_host_cannot_read_is_named(home, agent, path, refused):
    file = home / path
    file.parent.mkdir()
    found = set()
    for what, text in (
        ("comment", '// {\n{"theme": "a, ]"}'),
        ("trailing comma", '{"theme": ["//", "/* x"],\n }'),
        ("byte order mark", '\ufeff{"theme": ",]"}'),
    ):
        file.write_text(text)
        call("install", agent)
        found |= {what} if f"{file} has a {what}" in _problems(agent) else set()

    assert refused == found


def test_a_setting_that_switches_no_hook_off_is_no_problem(home):
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.local.json").write_text('{"disableAllHooks": true}')  # read in projects only
    call("install", "claude")
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text('{"hooks": {"enabled": false}, "hooksConfig": {"disabled": ["x"]}}')
    call("install", "gemini")

    assert [{}, {}] == [_problems("claude"), _problems("gemini")]


def test_a_file_that_cannot_be_read_is_a_problem(home):
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{,}")
    code, _, agents = _doctor()
    (problem,) = agents["gemini"]["problems"]

    assert 1 == code
    assert "line 1, column 2" in problem["what"]


def test_the_off_switches_are_told(home, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENTLOG_DISABLED", "1")
    (tmp_path / "project" / ".eventlog-disable").touch()
    code, report, _ = _doctor()

    assert 1 == code
    assert ["unset EVENTLOG_DISABLED", f"rm {tmp_path / 'project' / '.eventlog-disable'}"] == [
        problem["fix"] for problem in report["problems"]
    ]


def test_failures_of_hooks_are_told(home):
    tell(home / ".eventlog", ["no object"])
    code, report, _ = _doctor()

    assert 1 == code
    assert 1 == report["failures_in_all"]
    assert "not a JSON object" in report["failures"][0]["error"]
    assert "not a JSON object" in call("doctor").out


def test_strangers_in_the_log_are_told(home):
    (home / ".eventlog" / "log").mkdir(parents=True)
    (home / ".eventlog" / "log" / "notes.txt").touch()

    assert any("is no day file" in problem["what"] for problem in _doctor()[1]["problems"])


def test_a_failure_is_told_with_the_host_that_called(home):
    tell(home / ".eventlog", ["no object"], "--agent", "gemini")
    agents = _doctor()[2]
    (problem,) = agents["gemini"]["problems"]

    assert "1 of its hooks failed" in problem["what"]
    assert "not a JSON object" in problem["what"]
    assert [] == agents["claude"]["problems"]


@pytest.mark.parametrize("flag", ["--user", "--project"])
def test_events_that_hooks_json_hides_from_droid_are_named_by_install_and_doctor(home, tmp_path, monkeypatch, flag):
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    place = (home if flag == "--user" else tmp_path / "shop") / ".factory"
    place.mkdir()
    mine = place / "hooks.json"
    mine.write_text('{"SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}], "PreToolUse": []}')
    installed = call("install", "droid", flag).out

    assert "droid skips those that hooks.json has, too" in installed
    assert f"droid runs the hooks of {mine} for SessionStart, and skips ours" in str(_problems("droid"))
    mine.write_text('{"hooks": {}, "PreToolUse": []}')
    assert {} == _problems("droid")
    assert "skips those" not in call("install", "droid", flag).out
