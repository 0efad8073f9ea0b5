"""Build one directory that the plugin commands of all hosts install: hooks, tools and a skill, from the hosts' rooms.

Events, matchers and time limits are those that `install` writes; what differs is the command, which finds eventlog by
itself (`plugin.sh`). A host that refuses another's manifest has a folder of its own. Beside the hosts' formats lie
Agent Plugins 1.0 (agent-plugins.org), a bundle for desktop programs (MCPB 0.3), and the entry for the MCP registry
(schema of 2025-12-11). The same version gives the same bytes.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from eventlog.app.setup.install.hook_entries import entry
from eventlog.app.setup.install.parts import ServerEntry, rule_text
from eventlog.format.errors import BadRequest
from eventlog.hosts.profile import HostProfile, PluginFormat, profiles
from eventlog.store.files import make_dirs, replace_file

_NAME, _PACKAGE = "eventlog", "agent-eventlog"
_ABOUT = "Memory of coding agents: what earlier sessions found, decided and did, as an append-only log."
_FIELDS = {"license": "MIT", "keywords": ["memory", "hooks", "agents"]}
_MAKER = {"name": _NAME}
_SCRIPT, _SKILL = "scripts/eventlog.sh", "skills/eventlog/SKILL.md"
_MODE = 0o644
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)

_AGENT_PLUGINS = "https://agent-plugins.org/schemas/1.0.0"
_REGISTRY = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_REGISTERED = "io.github.agent-eventlog/eventlog"  # README.md says it too: the registry looks for it in the package


def plugin_files(version: str, tools: Sequence[Mapping[str, str]]) -> dict[str, bytes]:
    """Make the files of the directory by their paths; `version` as Python writes it, of a tool name and description."""
    release = re.sub(r"\.dev(\d+)$", r"-dev.\1", version)
    script = Path(__file__).with_name("plugin.sh").read_text("utf-8").replace("@VERSION@", version)
    hosts = [host for host in profiles().values() if host.plugin]
    documents: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for host in hosts:
        assert host.plugin
        folder = PurePosixPath(host.plugin.folder)
        texts[str(folder / _SCRIPT)] = script
        texts[str(folder / _SKILL)] = _skill(hosts)
        documents |= {str(folder / path): value for path, value in _documents(host, host.plugin, release, script)}
        if host.plugin.catalog:  # a marketplace of this plugin alone
            plugin = {"name": _NAME, "description": _ABOUT, "version": release, **host.plugin.listing}
            documents[host.plugin.catalog] = {"name": _NAME, "owner": _MAKER, "plugins": [plugin]}
    documents |= _agent_plugins(release)
    documents["server.json"] = _registry_entry(version)
    texts |= {path: json.dumps(value, indent=2, ensure_ascii=False) + "\n" for path, value in documents.items()}
    found = {path: text.encode() for path, text in texts.items()}
    return {**found, f"{_NAME}.mcpb": _bundle(release, script, tools)}


def build_plugin(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into a new or empty directory, or that of an earlier build; raises BadRequest or NotStored."""
    present: list[str] = []
    try:
        present = sorted(path.name for path in directory.iterdir())
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        raise BadRequest("there is a file of that name", where=str(directory), hint="name a new directory") from None
    if present and "server.json" not in present:
        what = f"the directory holds {present[0]}, which is none of a plugin's files"
        raise BadRequest(what, where=str(directory), hint="name a new directory, or an empty one")
    for name, data in files.items():
        path = directory / name
        make_dirs(str(path.parent), durable=False)
        replace_file(str(path), data, durable=False, mode=_MODE)


def _documents(host: HostProfile, form: PluginFormat, release: str, script: str) -> Iterator[tuple[str, Any]]:
    """Yield the JSON files of a host, with their paths below its folder."""
    assert host.servers
    # where a server cannot name the root, the script itself
    place = [f"{form.root}/{_SCRIPT}"] if form.names_root_to_servers else ["-c", script, _NAME]
    server = ServerEntry(host.servers, ["sh", *place, "mcp", "--agent", host.agent]).value
    manifest = {"name": _NAME, "version": release, "description": _ABOUT, **form.fields}
    servers = {"mcpServers": {_NAME: server}}
    yield form.manifest, manifest | ({} if form.servers else servers)
    run = f'sh "{form.root}/{_SCRIPT}" hook --agent {host.agent} --event'  # it cannot fail, as that of `install`
    hooks = {event: [entry(host.hooks, event, f"{run} {event} 2>/dev/null || true")] for event in host.hooks.events}
    yield form.hooks, {**host.hooks.document, "hooks": hooks}
    if form.servers:
        yield form.servers, servers


def _skill(hosts: Sequence[HostProfile]) -> str:
    """Make the skill of the one host that has skills for rules; `eventlog` by its name alone, and no store."""
    head = next(host.rules.head for host in hosts if host.rules.project_file.endswith(_SKILL))
    return head + rule_text("en", _NAME, store="", has_tools=True)


def _agent_plugins(release: str) -> dict[str, Any]:
    """Make the manifest of Agent Plugins 1.0, and its servers; hooks are no part of it."""
    server = {"type": "stdio", "command": "sh", "args": [f"${{PLUGIN_ROOT}}/{_SCRIPT}", "mcp"]}
    manifest = {"$schema": f"{_AGENT_PLUGINS}/plugin.schema.json", "name": _NAME, "version": release}
    return {
        "plugin.json": {**manifest, "description": _ABOUT, **_FIELDS},
        "mcp.json": {"$schema": f"{_AGENT_PLUGINS}/mcp.schema.json", "mcpServers": {_NAME: server}},
    }


def _registry_entry(version: str) -> dict[str, Any]:
    """Make the entry for the MCP registry: the package on PyPI, run by uvx."""
    package = {
        "registryType": "pypi",
        "identifier": _PACKAGE,
        "version": version,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "mcp"}],
    }
    entry = {"name": _REGISTERED, "title": _NAME, "description": _ABOUT, "version": version}
    return {"$schema": _REGISTRY, **entry, "packages": [package]}


def _bundle(release: str, script: str, tools: Sequence[Mapping[str, str]]) -> bytes:
    """Make the bundle for desktop programs: the script and its manifest; nothing compressed, nothing dated."""
    start = {"command": "sh", "args": ["${__dirname}/" + _SCRIPT, "mcp"], "env": {}}
    manifest = {
        "manifest_version": "0.3",
        "name": _NAME,
        "version": release,
        "description": _ABOUT,
        "author": _MAKER,
        "server": {"type": "binary", "entry_point": _SCRIPT, "mcp_config": start},
        "tools": tools,
        "compatibility": {"platforms": ["darwin", "linux"]},
        **_FIELDS,
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in (("manifest.json", json.dumps(manifest, indent=2) + "\n"), (_SCRIPT, script)):
            member = zipfile.ZipInfo(name, _ZIP_EPOCH)
            member.create_system, member.external_attr = 3, (0o100000 | _MODE) << 16  # as Unix writes it, everywhere
            archive.writestr(member, text)
    return packed.getvalue()
