"""install and uninstall, as a user runs them: what is in the files, and that it all comes back."""

import json
import shutil
from pathlib import Path

import pytest

from eventlog.app.setup.install.hook_entries import commands_in
from eventlog.hooks.command import HookCommand
from eventlog.hosts.profile import profiles
from tests.support.command_line import call

FILES = {
    "claude": ".claude/settings.json",
    "cursor": ".cursor/hooks.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "copilot": ".copilot/hooks/eventlog.json",
    "vscode": ".copilot/hooks/eventlog-vscode.json",
    "qwen": ".qwen/settings.json",
    "droid": ".factory/settings.json",
    "auggie": ".augment/settings.json",
    "cn": ".continue/settings.json",
}
CONTENTS = {
    "missing": None,
    "empty": b"",
    "blank": b" \n\n",
    "hooks before and after": b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}], "Z": []}, "z": 1}',
    "empty lists": b'{\n  "version": 1,\n  "hooks": {"Stop": [ ], "stop": [], "agentStop": [\n]}\n}\n',
    "comments": b'// mine\n{\n  "model": "x", // why\n  "hooks": {\n    /* none */\n  }\n}\n// end',
    "CRLF and tabs": b'{\r\n\t"hooks": {\r\n\t\t"Other": []\r\n\t}\r\n}',
    "odd indentation": b'{\n     "hooks":\n  {\n "Stop" : [ ]   }\n ,"z":1}  ',
    "a byte order mark": b'\xef\xbb\xbf{\n  "a": 1\n}\n',
}


def _put(home, agent, content):
    path = home / FILES[agent]
    if content is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return path


def _bytes(path):
    return path.read_bytes() if path.exists() else None


@pytest.mark.slow
@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("agent", FILES)
def test_installing_and_uninstalling_gives_back_every_byte(home, agent, content):
    path = _put(home, agent, content)
    installed = call("install", agent)
    there = _bytes(path)
    again = call("install", agent)
    removed = call("uninstall", agent)

    assert (0, 0, 0) == (installed.code, again.code, removed.code)
    assert b"hook.py" in there
    assert "unchanged" in again.out
    assert content == _bytes(path)


@pytest.mark.slow
@pytest.mark.parametrize("agent", FILES)
def test_every_event_is_registered_with_the_fastest_command(home, agent):
    call("install", agent)
    value = json.loads((home / FILES[agent]).read_text())
    commands = dict(commands_in(value))

    assert set(profiles()[agent].hooks.events) == set(commands)
    for event, command in commands.items():
        python, *flags, script = command.split(" --agent ")[0].split(" ")
        assert Path(python).is_absolute()
        assert Path(script).is_absolute()
        assert ["-I", "-S"] == flags
        assert command.endswith(f" --agent {agent} --event {event} 2>/dev/null || true")
        assert "://" not in command


@pytest.mark.slow
@pytest.mark.parametrize("agent", FILES)
def test_every_start_of_a_session_is_heard_of_however_it_began(home, agent):
    call("install", agent)
    starts = {key.lower(): value for key, value in json.loads((home / FILES[agent]).read_text())["hooks"].items()}

    assert not any(entry.get("matcher") for entry in starts["sessionstart"])


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_who_wants_recall_before_files_gets_the_event_for_it_and_loses_it_again(home, agent):
    settings = home / ".eventlog" / "config.yaml"
    settings.parent.mkdir()
    registered: dict[str, dict[str, str]] = {}
    for wanted in ("false", "true", "false"):
        settings.write_text(f"recall: {{file: {wanted}}}\n")
        assert ("PreToolUse" in call("doctor").out) == bool(registered)
        call("install", agent)
        registered[wanted] = dict(commands_in(json.loads((home / FILES[agent]).read_text())))

    assert registered["true"].keys() - registered["false"].keys() == {"PreToolUse"}


def _timeouts(home, agent):
    handlers = json.loads((home / FILES[agent]).read_text())["hooks"]
    entries = {event: entries[0] for event, entries in handlers.items()}
    handler = {event: one["hooks"][0] if "hooks" in one else one for event, one in entries.items()}
    return {event: one.get("timeout") or one.get("timeoutSec") for event, one in handler.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "usual", "special"),
    [
        ("claude", 10, {"SessionEnd": 5}),
        ("codex", 10, {"SessionEnd": 3}),
        ("gemini", 10_000, {}),
        ("cursor", 10, {}),
        ("copilot", 10, {}),
        ("vscode", 10, {}),
        ("qwen", 10, {}),
        ("droid", 10, {}),
        ("auggie", 10_000, {}),
        ("cn", 10, {}),
    ],
)
def test_timeouts_are_in_the_hosts_unit(home, agent, usual, special):
    call("install", agent)
    timeouts = _timeouts(home, agent)

    assert {event: special.get(event, usual) for event in timeouts} == timeouts


def test_a_stop_of_cursor_may_loop_once(home):
    call("install", "cursor")

    assert 1 == json.loads((home / FILES["cursor"]).read_text())["hooks"]["stop"][0]["loop_limit"]


def test_a_store_elsewhere_is_named_in_the_command(home, tmp_path):
    call("install", "claude", "--store", tmp_path / "my store")
    commands = dict(commands_in(json.loads((home / FILES["claude"]).read_text())))

    assert f"--store '{tmp_path / 'my store'}' 2>" in commands["Stop"]


def test_the_host_may_have_moved_its_directory(home, tmp_path, monkeypatch):
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    call("install", "codex")

    assert (tmp_path / "elsewhere" / "hooks.json").exists()
    assert not (home / ".codex").exists()


@pytest.mark.slow
@pytest.mark.parametrize("agent", FILES)
def test_a_link_in_a_project_leads_no_installation_out_of_it(home, tmp_path, agent):
    outside, file = tmp_path / "outside", profiles()[agent].hooks.project_file
    outside.mkdir()
    path = tmp_path / "project" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    for link, target in ((path, outside / path.name), (path.parent, outside)):
        if link == path.parent and path.parent == tmp_path / "project":
            continue
        path.unlink(missing_ok=True)
        if link == path.parent:
            shutil.rmtree(link)
        link.symlink_to(target)

        done = call("install", agent, "--project")

        assert (2, True) == (done.code, "leads out of" in done.err), done
        assert [] == list(outside.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("agent", FILES)
def test_a_project_has_files_of_its_own(home, tmp_path, agent):
    call("install", agent, "--project")
    path = tmp_path / "project" / profiles()[agent].hooks.project_file
    there = path.exists()
    call("uninstall", agent, "--project")

    assert there
    assert not path.exists()
    assert [tmp_path / "project" / ".git"] == list((tmp_path / "project").iterdir())
    assert not (home / FILES[agent]).exists()


# ------------------------------------------------------------------------------------------------ others at work


def test_what_another_tool_changed_since_stays(home):
    path = _put(home, "claude", b'{\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"command": "a"}]}\n    ]\n  }\n}\n')
    call("install", "claude")
    path.write_bytes(path.read_bytes().replace(b'{\n  "hooks"', b'{\n  "model": "opus",\n  "hooks"'))
    call("uninstall", "claude")

    expected = (
        b'{\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n      {"hooks": [{"command": "a"}]}\n    ]\n  }\n}\n'
    )
    assert expected == path.read_bytes()


def test_a_file_of_ours_that_others_use_now_stays(home):
    call("install", "codex")
    path = home / FILES["codex"]
    value = json.loads(path.read_text())
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "b"}]})
    path.write_text(json.dumps(value))
    call("uninstall", "codex")

    assert {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}} == json.loads(path.read_text())


def test_an_upgrade_in_between_still_gives_back_every_byte(home, monkeypatch):
    content = CONTENTS["comments"]
    path = _put(home, "claude", content)
    call("install", "claude")
    monkeypatch.setattr("sys.executable", "/another/python")
    call("install", "claude")
    there = path.read_text()
    call("uninstall", "claude")

    assert "/another/python" in there
    assert 10 == there.count("hook.py")
    assert content == path.read_bytes()


def test_without_the_backup_exactly_our_entries_go(home):
    path = _put(home, "claude", b'{\n  "model": "x",\n  "hooks": {\n    "Other": []\n  }\n}\n')
    call("install", "claude")
    for backup in (home / ".eventlog" / "backups").iterdir():
        backup.unlink()
    call("uninstall", "claude")

    assert b'{\n  "model": "x",\n  "hooks": {\n    "Other": []\n  }\n}\n' == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "where"),
    [("install", "found here"), ("install --dry-run", "found here"), ("uninstall", "installed here")],
)
def test_who_names_no_agent_is_told_which_could_be(home, verb, where):
    said = call(*verb.split())
    call("install", "claude", "codex")

    assert (2, True) == (said.code, f"none is {where}" in said.err)
    assert f"{where}: eventlog {verb} claude codex\n" in call(*verb.split()).err


def test_all_agents_are_uninstalled_at_once(home):
    call("install", "claude", "codex")
    said = call("uninstall", "--all")

    assert [] == [*home.glob(".claude"), *home.glob(".codex")]
    assert "Claude Code" in said.out
    assert "nothing to remove" in call("uninstall", "--all").out


def test_uninstalling_what_is_not_there_changes_nothing(home):
    path = _put(home, "claude", b'{"hooks": {} }')

    assert "absent" in call("uninstall", "claude").out
    assert b'{"hooks": {} }' == path.read_bytes()


def test_the_log_is_never_touched(home):
    call("install", "claude")
    call("fact", "Prices are in cents", "--session", "s")
    before = {path: path.read_bytes() for path in (home / ".eventlog" / "log").iterdir()}
    call("uninstall", "claude")

    assert before == {path: path.read_bytes() for path in (home / ".eventlog" / "log").iterdir()}


# ------------------------------------------------------------------------------------------------ files as they are


REFUSED = {
    "two commas": (b'{"a": 1,,}', "line 1, column 9"),
    "no JSON": (b"model = opus", "line 1, column 1"),
    "no object": (b"[]", "not a JSON object"),
    "a list of hooks": (b'{"hooks": []}', "hooks is not a JSON object"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8, at byte 7"),
}


@pytest.mark.parametrize(("content", "why"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_cannot_be_understood_is_refused_and_left_alone(home, content, why):
    path = _put(home, "gemini", content)
    ran = call("install", "gemini", "--no-mcp")

    assert 2 == ran.code
    assert why in ran.err
    assert str(path) in ran.err
    assert content == path.read_bytes()


@pytest.mark.slow
def test_a_file_that_cannot_be_changed_stops_no_other(home):
    broken = _put(home, "gemini", b"model = opus")
    commented = home / ".config" / "opencode" / "opencode.json"
    commented.parent.mkdir(parents=True)
    commented.write_text('{\n  "theme": "dark", // mine\n}\n')
    ran = call("install", "claude", "gemini", "opencode", "cursor", "--with-rules")
    agents = {agent["agent"]: agent for agent in json.loads(call("doctor", "--json").out)["agents"]}
    call("install", "claude", "--project")
    left = call("uninstall", "claude", "gemini", "opencode", "cursor")
    call("install", "cursor")
    all_of_mine = call("uninstall", "--all")

    assert [2, 2, 0] == [ran.code, left.code, all_of_mine.code]
    assert ["claude", "opencode", "cursor"] == [
        agent for agent in ("claude", "gemini", "opencode", "cursor") if agents[agent]["installed"]
    ]
    assert all(agents[agent]["servers"] for agent in ("claude", "opencode", "cursor"))
    assert 1 == ran.err.count(str(broken)) == left.err.count(str(broken))
    assert "also installed: eventlog uninstall claude --project" in all_of_mine.out
    assert '{\n  "theme": "dark", // mine\n}\n' == commented.read_text()
    assert b"model = opus" == broken.read_bytes()


def test_an_unknown_agent_is_a_mistake(home):
    ran = call("install", "eliza")

    assert 2 == ran.code
    assert "claude" in ran.err


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("/usr/bin/python3 -I -S /opt/eventlog/hook.py --agent claude --event Stop", True),
        ("'/my python' -I -S '/my site/eventlog/hook.py' --agent cursor --event stop --store /x", True),
        (r'"C:\py\python.exe" -I -S C:\site\eventlog\hook.py --agent codex --event Stop', True),
        ("eventlog hook --agent claude", False),
        ("/opt/other/hook.py --agent claude --event Stop", False),
        (7, False),
    ],
)
def test_ours_is_what_install_wrote(command, ours):
    assert ours == HookCommand(command).is_own


def test_sessions_others_listen_to_are_told_so_by_every_hook_until_it_is_installed_otherwise(home):
    kinds = ("main", "shared", "shared", "main")
    texts = []
    for kind in kinds:
        call("install", "claude", "--session-type", kind)
        texts.append((home / ".claude" / "settings.json").read_text())
    hooks = len(profiles()["claude"].hooks.events)

    assert [0, hooks, hooks, 0] == [text.count("--session-type shared") for text in texts]
    assert [hooks] * 4 == [text.count("--event") for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["claude", "codex", "cursor"])
def test_a_dry_run_names_the_files_and_writes_none(home, agent):
    options = (agent, "--allow", "--with-rules", "--mcp")
    before = sorted(home.rglob("*"))

    dry = call("install", *options, "--dry-run")

    assert dry.code == 0, dry
    assert before == sorted(home.rglob("*"))
    real = call("install", *options)
    named = [line.split(": ")[-1] for line in dry.out.splitlines() if line.startswith("would add")]
    assert named == [line.split(": ")[-1] for line in real.out.splitlines() if line.startswith("installed")]
    again = call("install", *options, "--dry-run")
    assert "would add" not in again.out


@pytest.mark.parametrize(
    ("zone", "written"),
    [
        ("Asia/Shanghai", "timezone: Asia/Shanghai\n"),
        (":/usr/share/zoneinfo/Pacific/Pago_Pago", "timezone: Pacific/Pago_Pago\n"),
        ("Etc/UTC", None),
        ("CST-8", None),
        ("../../etc/passwd", None),
    ],
)
def test_the_days_of_a_new_store_are_those_of_the_system(home, monkeypatch, zone, written):
    monkeypatch.setenv("TZ", zone)
    settings = home / ".eventlog" / "config.yaml"
    before, was_there = call("install", "claude", "--dry-run"), settings.exists()
    told = call("install", "claude")
    line = f" timezone {written.split()[1]}: {settings}\n" if written else ""

    assert ([bool(line)] * 2, False) == (["timezone" in ran.out for ran in (before, told)], was_there)
    assert line in told.out
    assert written == (settings.read_text() if settings.exists() else None)


def test_settings_that_exist_stay_as_they_are(home, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    settings = home / ".eventlog" / "config.yaml"
    settings.parent.mkdir()
    settings.write_text("{locale: zh}")
    call("install", "claude")

    assert "{locale: zh}" == settings.read_text()
