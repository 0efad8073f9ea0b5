"""One directory for the plugin commands of all hosts: what is in it, and that it disturbs no host and does nothing twice."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from eventlog.app.setup.plugin import plugin_files
from eventlog.cli.mcp import server
from eventlog.cli.mcp.tools import TOOLS
from eventlog.hosts.profile import profiles
from tests.support.command_line import call
from tests.support.host_calls import alone, events, tell
from tests.support.payloads import claude
from tests.support.published_rules import BUNDLE, PLUGIN, REGISTRY_ENTRY, violations

GOLDEN = Path(__file__).with_name("plugin.golden.txt")
FILES = plugin_files("1.2.3", [{"name": "recall", "description": "Search."}])
JSON = {name: json.loads(data) for name, data in FILES.items() if name.endswith(".json")}
HOSTS = [host for host in profiles().values() if host.plugin]
SEMVER = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")


def _below(host, name):
    return str(PurePosixPath(host.plugin.folder) / name)


def _servers(host):
    return JSON[_below(host, host.plugin.servers or host.plugin.manifest)]["mcpServers"]


# ------------------------------------------------------------------------------------------------ what is in it


def _tree():
    """Every file with its text; of the bundle the names and their sizes."""
    for name, data in sorted(FILES.items()):
        with_text = data.decode() if not name.endswith(".mcpb") else f"{_members(data)}\n"
        yield f"===== {name}\n{with_text}"


def _members(data):
    return [(member.filename, member.file_size) for member in zipfile.ZipFile(io.BytesIO(data)).infolist()]


def test_the_directory_is_as_it_was_agreed():
    tree = "".join(_tree())
    if os.environ.get("EVENTLOG_SCREENS") == "write":
        GOLDEN.write_text(tree)

    assert GOLDEN.read_text() == tree


def test_the_same_version_gives_the_same_bytes_and_another_one_does_not():
    tools = [{"name": "recall", "description": "Search."}]

    assert FILES == plugin_files("1.2.3", tools)
    assert [*FILES] == [*plugin_files("1.2.4", tools)]
    assert FILES != plugin_files("1.2.4", tools)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.agent)
def test_a_host_finds_manifest_hooks_and_server_of_its_own(host):
    manifest = JSON[_below(host, host.plugin.manifest)]
    hooks = JSON[_below(host, host.plugin.hooks)]["hooks"]
    (server_entry,) = _servers(host).values()

    assert {"name", "version", "description"} <= manifest.keys()
    assert "eventlog" == manifest["name"]
    assert SEMVER.fullmatch(manifest["version"])
    assert [*host.hooks.events] == [*hooks]
    assert "sh" == server_entry["command"]
    assert ["mcp", "--agent", host.agent] == server_entry["args"][-3:]
    for path in (value for value in manifest.values() if isinstance(value, str) and value.startswith("./")):
        assert any(name.startswith(path.removeprefix("./")) for name in FILES)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.agent)
def test_hooks_are_those_of_install_but_for_the_command(host, home):
    call("install", host.agent, "--no-mcp")
    installed = json.loads((home / host.home / host.hooks.user_file).read_text())["hooks"]
    built = JSON[_below(host, host.plugin.hooks)]["hooks"]

    def without_commands(value):
        return re.sub(r'"(command|bash|powershell)": "(?:[^"\\]|\\.)*"', '"command": ""', json.dumps(value))

    assert without_commands(installed) == without_commands(built)
    for command in re.findall(r'"(?:command|bash)": "((?:[^"\\]|\\.)*)"', json.dumps(built)):
        assert command.endswith(" 2>/dev/null || true")
        assert "://" not in command
        assert f" --agent {host.agent} " in command


def test_the_formats_without_a_host_have_what_their_schemas_ask_for():
    neutral, servers, entry = JSON["plugin.json"], JSON["mcp.json"], JSON["server.json"]
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(FILES["eventlog.mcpb"])).read("manifest.json"))

    assert "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json" == neutral["$schema"]
    assert {"$schema", "name", "version", "description", "license", "keywords"} == neutral.keys()
    assert {"$schema", "mcpServers"} == servers.keys()
    assert {"type", "command", "args"} == servers["mcpServers"]["eventlog"].keys()
    assert entry["name"].count("/") == 1
    assert len(entry["description"]) <= 100
    assert [("pypi", "1.2.3", {"type": "stdio"})] == [
        (one["registryType"], one["version"], one["transport"]) for one in entry["packages"]
    ]
    assert {"manifest_version", "name", "version", "description", "author", "server"} <= manifest.keys()
    assert manifest["server"]["entry_point"] in [name for name, _ in _members(FILES["eventlog.mcpb"])]
    assert [{"name": "recall", "description": "Search."}] == manifest["tools"]


@pytest.mark.parametrize(
    "host", [host for host in HOSTS if host.plugin and host.plugin.catalog], ids=lambda host: host.agent
)
def test_a_marketplace_lists_the_plugin_of_its_host(host):
    market = JSON[host.plugin.catalog]
    (listed,) = market["plugins"]
    source = listed["source"]["path"] if isinstance(listed["source"], dict) else listed["source"]

    assert {"name", "owner", "plugins"} == market.keys()
    assert ("eventlog", "1.2.3") == (listed["name"], listed["version"])
    assert host.plugin.folder == source.removeprefix("./")


def test_the_skill_is_short_and_names_tools_first():
    skill = FILES["skills/eventlog/SKILL.md"].decode()

    assert skill.startswith("---\nname: eventlog\ndescription: ")
    assert len(skill) / 3 <= 500  # tokens, of more than three characters each in English
    assert skill.index("`remember`") < skill.index("eventlog fact")


# ------------------------------------------------------------------------------------------------ who writes it


def test_a_person_builds_it_again_and_is_shown_how_to_install_it(tmp_path):
    place = tmp_path / "it is here"
    first, again = call("plugin", "build", place), call("plugin", "build", place, "--json")

    assert (0, 0) == (first.code, again.code)
    assert all(f"'{place}" in line for line in first.out.splitlines()[1:])
    assert {host.name for host in HOSTS} == {*json.loads(again.out)["install"]}
    assert {*json.loads(again.out)["files"]} == {
        str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("make", [lambda path: path.mkdir() or (path / "mine").touch(), lambda path: path.touch()])
def test_what_a_person_has_there_is_not_written_over(tmp_path, make):
    place = tmp_path / "mine"
    make(place)
    before = sorted(tmp_path.rglob("*"))

    refused = call("plugin", "build", place)

    assert 2 == refused.code
    assert str(place) in refused.err
    assert before == sorted(tmp_path.rglob("*"))


# ------------------------------------------------------------------------------------------------ what runs eventlog


class Machine:
    """A machine with these programs and no others, on which a plugin's script runs."""

    def __init__(self, root):
        self.root, self.bin = root, root / "bin"
        self.bin.mkdir()
        self.script = root / "eventlog.sh"
        self.script.write_bytes(FILES["scripts/eventlog.sh"])
        self.has("cat", 'exec /bin/cat "$@"')

    def has(self, name, does):
        program = self.bin / name if "/" not in name else self.root / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)

    def runs(self, *words):
        environ = {"PATH": str(self.bin), "HOME": str(self.root)}
        return subprocess.run(
            ["/bin/sh", self.script, *words], input="{}", capture_output=True, text=True, env=environ, check=False
        )


SAYS = 'echo "{}: $* plugin=$EVENTLOG_PLUGIN"'
HOOK = ("hook", "--agent", "claude", "--event", "SessionStart")
PROGRAMS = {
    "on the path": {"eventlog": SAYS.format("first"), "python3": SAYS.format("python")},
    "of the user": {".local/bin/eventlog": SAYS.format("first"), "uv": SAYS.format("uv")},
    "of a python": {"python3": f'[ "$2" = -c ] || {SAYS.format("first")}', "uv": SAYS.format("uv")},
    "by uv": {"python3": "exit 1", "uv": SAYS.format("first")},
    "by the user's uv": {".cargo/bin/uv": SAYS.format("first")},
}


@pytest.mark.slow
@pytest.mark.parametrize("programs", PROGRAMS.values(), ids=PROGRAMS)
def test_the_hook_finds_an_eventlog_a_python_that_has_it_or_uv(tmp_path, programs):
    machine = Machine(tmp_path)
    for name, does in programs.items():
        machine.has(name, does)

    ended = machine.runs(*HOOK)

    assert (0, "") == (ended.returncode, ended.stderr)
    assert ended.stdout.startswith("first: ")
    assert ended.stdout.endswith(f"{' '.join(HOOK)} plugin=1\n")


@pytest.mark.slow
def test_a_hook_lets_uv_download_nothing_and_the_server_may(tmp_path):
    machine = Machine(tmp_path)
    machine.has("uv", SAYS.format("uv"))

    assert "--offline" in machine.runs(*HOOK).stdout
    assert "--offline" not in machine.runs("mcp", "--agent", "claude").stdout
    assert "agent-eventlog==1.2.3" in machine.runs("mcp").stdout


@pytest.mark.slow
@pytest.mark.parametrize("programs", [{}, {"uv": "exit 2", "python3": "exit 1"}], ids=["nothing", "no package"])
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.agent)
def test_where_there_is_no_eventlog_only_the_start_says_so_and_nothing_fails(tmp_path, host, programs):
    machine = Machine(tmp_path)
    for name, does in programs.items():
        machine.has(name, does)
    answers = {event: machine.runs("hook", "--agent", host.agent, "--event", event) for event in host.hooks.events}

    assert {(0, "")} == {(ended.returncode, ended.stderr) for ended in answers.values()}
    spoke = {event: ended.stdout for event, ended in answers.items() if ended.stdout}
    assert ["sessionstart"] == [event.lower() for event in spoke]
    assert "not installed" in json.loads(*spoke.values())["systemMessage"]


@pytest.mark.slow
def test_a_project_cannot_pass_for_eventlog(tmp_path, monkeypatch):
    (tmp_path / "project" / "eventlog").mkdir(parents=True)
    (tmp_path / "project" / "eventlog" / "hook.py").write_text("open('ran', 'w')\n")
    (tmp_path / "project" / "eventlog" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path / "project")
    machine = Machine(tmp_path)
    machine.has("python3", f'exec {sys.executable} "$@"')

    machine.runs(*HOOK)

    assert not (tmp_path / "project" / "ran").exists()


# ------------------------------------------------------------------------------------------------ beside install


def test_beside_install_a_start_is_one_event_and_one_context(tmp_path):
    store = alone(tmp_path / "store")
    start = claude("SessionStart", source="startup")

    installed = tell(store, start, "--agent", "claude")
    by_plugin = tell(store, start, "--agent", "claude", "--event", "SessionStart")

    assert installed
    assert not by_plugin
    assert 1 == len(events(store, "session_start"))
    assert 1 == len(events(store, "context_injected"))


def test_an_agent_of_a_plugin_is_told_of_its_tools(tmp_path, monkeypatch):
    start = claude("SessionStart", source="startup")
    without = json.dumps(tell(alone(tmp_path / "one"), start, "--agent", "claude"))
    monkeypatch.setenv("EVENTLOG_PLUGIN", "1")
    with_plugin = json.dumps(tell(alone(tmp_path / "two"), start, "--agent", "claude"))

    assert "`remember`" not in without
    assert "`remember`" in with_plugin


def _listed(monkeypatch, tmp_path):
    """Ask a server that a host starts for its tools, in both eras."""
    source, sink = os.pipe(), os.pipe()
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    os.write(source[1], (json.dumps(asked) + "\n").encode())
    os.close(source[1])
    monkeypatch.setattr(server, "_private", {0: source[0], 1: sink[1], 2: -1}.__getitem__)
    server.main(["--store", str(tmp_path / "store"), "--agent", "claude"])
    os.close(sink[1])
    answer = json.loads(os.read(sink[0], 1 << 20))
    return [tool["name"] for tool in answer["result"]["tools"]]


def test_beside_install_an_agent_has_each_tool_once(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    alone_here = _listed(monkeypatch, tmp_path)
    monkeypatch.setenv("EVENTLOG_PLUGIN", "1")
    only_plugin = _listed(monkeypatch, tmp_path)
    call("install", "claude")
    second = _listed(monkeypatch, tmp_path)
    monkeypatch.delenv("EVENTLOG_PLUGIN")
    installed = _listed(monkeypatch, tmp_path)

    names = [tool["name"] for tool in TOOLS]
    assert [names, names, [], names] == [alone_here, only_plugin, second, installed]


def test_manifests_keep_the_published_rules_of_their_formats():
    bundle = json.loads(zipfile.ZipFile(io.BytesIO(FILES["eventlog.mcpb"])).read("manifest.json"))
    plugins = [JSON[name] for name in JSON if name.endswith(("plugin.json", "extension.json"))]
    pairs = [(BUNDLE, bundle), (REGISTRY_ENTRY, JSON["server.json"]), *((PLUGIN, found) for found in plugins)]

    assert len(plugins) >= 5
    assert [broken for rule, found in pairs for broken in violations(rule, found)] == []
    assert [*violations(BUNDLE, {**bundle, "server": {"type": "shell"}})]
