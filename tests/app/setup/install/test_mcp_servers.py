"""Our MCP server in hosts' files: registered where it is wished for or needed, and taken out to the byte."""

import json
import tomllib

import pytest

from eventlog.hooks.command import server_command
from eventlog.store import Store
from tests.support.command_line import call

FILES = {
    "claude": (".claude.json", "mcpServers"),
    "codex": (".codex/config.toml", "mcp_servers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "copilot": (".copilot/mcp-config.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "qwen": (".qwen/settings.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "mcp"),
    "droid": (".factory/mcp.json", "mcpServers"),
    "auggie": (".augment/settings.json", "mcpServers"),
    "kilo": (".config/kilo/kilo.json", "mcp"),
}
IN_PROJECT = {
    "claude": ".mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "qwen": ".qwen/settings.json",
    "opencode": "opencode.json",
    "droid": ".factory/mcp.json",
    "auggie": ".augment/settings.json",
    "kilo": "kilo.json",
}
JSON = {
    "state of the host": '{\n    "numStartups": 7,\n    "projects": {\n        "/p": {}\n    }\n}\n',
    "servers of others": '{"mcpServers": {"other": {"command": "x"}}, "z": 1}',
    "comments": '// mine\n{\n  "mcpServers": {\n    /* none */\n  }\n}\n',
    "CRLF and tabs": '{\r\n\t"a": {\r\n\t\t"b": []\r\n\t}\r\n}',
}
TOML = {
    "another table": '# mine\nmodel = "x"\n\n[tools]\nweb = true\n',
    "no newline at the end": 'model = "x"',
    "servers of others": '[mcp_servers.other]\ncommand = "x"\n\n# of what follows\n[tools]\nweb = true\n',
    "CRLF": 'model = "x"\r\n[tools]\r\nweb = true\r\n',
    "a text about us": 'a = "# \'\'\'"\nnotes = """\n[mcp_servers.eventlog] \\"""\n[x]\n"""\n[tools]\nb = \'\'\'\n[mcp_servers.eventlog]\n\'\'\'\n',
}


def _parsed(path):
    return (tomllib if path.suffix == ".toml" else json).loads(path.read_text())


def _words(entry):
    return [entry["command"], *entry["args"]] if isinstance(entry["command"], str) else entry["command"]


def _server(home, agent):
    file, key = FILES[agent]
    return _parsed(home / file).get(key, {}).get("eventlog") if (home / file).exists() else None


def _put(home, agent, text):
    path = home / FILES[agent][0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.slow
@pytest.mark.parametrize("agent", FILES)
def test_every_host_is_told_and_its_files_go_with_us(home, agent):
    installed = call("install", agent, "--mcp")
    words = _words(_server(home, agent))
    again = call("install", agent, "--mcp")
    doctor = call("doctor").out
    removed = call("uninstall", agent)

    assert (0, 0, 0) == (installed.code, again.code, removed.code)
    assert server_command(agent, Store(str(home / ".eventlog")), str(home)) == words
    assert "installed" not in again.out
    assert f"MCP server in {home / FILES[agent][0]}\n" in doctor
    assert not (home / FILES[agent][0]).exists()


@pytest.mark.slow
@pytest.mark.parametrize("agent", IN_PROJECT)
def test_a_project_has_a_file_of_its_own(home, agent):
    path = home.parent / "project" / IN_PROJECT[agent]
    call("install", agent, "--project", "--mcp")
    there = path.read_text()
    call("uninstall", agent, "--project")

    assert "start.py" in there
    assert not path.exists()


@pytest.mark.parametrize(("agent", "scope"), [("vscode", "--user"), ("copilot", "--project")])
def test_a_host_without_such_a_file_is_passed_over_and_it_is_said(home, agent, scope):
    ran = call("install", agent, scope, "--mcp")

    assert 0 == ran.code
    assert "skipped" in ran.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "text"),
    [*(("claude", text) for text in JSON.values()), *(("codex", text) for text in TOML.values())],
    ids=[*JSON, *TOML],
)
def test_every_byte_comes_back(home, agent, text):
    path = _put(home, agent, text)
    call("install", agent, "--mcp")
    there = path.read_bytes()
    call("uninstall", agent)

    assert text.encode() != there
    assert text.encode() == path.read_bytes()


@pytest.mark.parametrize(("agent", "text"), [("claude", JSON["state of the host"]), ("codex", TOML["another table"])])
def test_what_others_wrote_meanwhile_stays(home, agent, text):
    path = _put(home, agent, text)
    call("install", agent, "--mcp")
    if agent == "codex":
        told = '\n[mcp_servers.eventlog.tools.remember]\napproval_mode = "approve"\n\n# theirs\n[hooks]\nx = 1\n'
        path.write_text(path.read_text() + told)
    else:
        path.write_text(path.read_text().replace('"numStartups": 7', '"numStartups": 8'))
    call("uninstall", agent)
    left = path.read_text()

    if agent == "codex":  # with all that was added below our table, and but for empty lines
        assert f"{text}# theirs\n[hooks]\nx = 1\n" == text + left.removeprefix(text).lstrip("\n")
    else:
        assert text == left.replace("8", "7")


@pytest.mark.parametrize("agent", ["gemini", "codex"])
def test_it_goes_alone_where_other_things_of_ours_stand_in_the_file(home, agent):
    call("install", agent, "--mcp", "--allow")
    call("install", agent, "--no-mcp")
    file = home / FILES[agent][0]

    assert _server(home, agent) is None
    assert "eventlog" in file.read_text()
    call("uninstall", agent)
    assert not file.exists()


def test_a_permission_goes_alone_where_the_server_stands_in_the_file(home):
    call("install", "codex", "--mcp", "--allow")
    call("install", "codex", "--mcp", "--no-allow")

    assert ["mcp_servers"] == [*_parsed(home / ".codex/config.toml")]


@pytest.mark.slow
def test_it_is_registered_wherever_a_host_takes_one_unless_it_is_left_out(home):
    installed = [call("install", agent) for agent in (*FILES, "vscode")]
    registered = [agent for agent in FILES if _server(home, agent)]
    left_out = [call("install", agent, "--no-mcp") for agent in FILES]

    assert {0} == {ran.code for ran in (*installed, *left_out)}
    assert [*FILES] == registered
    assert not [agent for agent in FILES if _server(home, agent)]


def test_what_was_wished_for_is_kept_and_brought_up_to_date(home):
    call("install", "claude", "--mcp")
    path = home / ".claude.json"
    path.write_text(path.read_text().replace('"-S",', '"-S", "-s",').replace('"stdio"', '"stdio", "timeout": 9'))
    call("install", "claude", "--session-type", "shared")
    entry = _server(home, "claude")

    assert ["--session-type", "shared"] == entry["args"][-2:]
    assert ("-s" in entry["args"], entry["timeout"]) == (False, 9)


def test_a_server_of_somebody_else_with_our_name_is_left_alone(home):
    text = '{"mcpServers": {"eventlog": {"command": "theirs"}}}'
    path = _put(home, "claude", text)
    ran = call("install", "claude", "--mcp")
    call("uninstall", "claude")

    assert 2 == ran.code
    assert "mcpServers.eventlog is another server than ours" in ran.err
    assert text == path.read_text()


def test_the_doctor_tells_that_the_server_is_gone(home):
    call("install", "claude", "--mcp")
    path = home / ".claude.json"
    path.write_text(path.read_text().replace("start.py", "start.py.gone/eventlog/cli/mcp/start.py"))
    ran = call("doctor")

    assert "which is gone" in ran.out
    assert "eventlog install claude --user --mcp" in ran.out


def test_claudes_file_moves_with_its_directory(home, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "moved"))
    call("install", "claude", "--mcp")

    assert (home / "moved" / ".claude.json").exists()
    assert not (home / ".claude.json").exists()
