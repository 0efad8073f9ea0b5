"""Build the plugin of eventlog: `eventlog plugin build`."""

import shlex
from pathlib import Path

import click

from eventlog import __version__
from eventlog.app.setup.plugin import build_plugin, plugin_files
from eventlog.cli import options
from eventlog.cli.mcp.tools import TOOLS
from eventlog.cli.terminal import Answer, count, say
from eventlog.hosts.profile import profiles


@options.group("eventlog plugin build ~/eventlog-plugin")
def _plugin_command() -> None:
    """Build a plugin that coding agents install with commands of their own."""


@options.verb(
    "eventlog plugin build ~/eventlog-plugin",
    "eventlog plugin build plugin --json",
    of=_plugin_command,
    brief="Write the directory that plugin commands install.",
)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def _build(directory: Path) -> Answer:
    """Write hooks, tools and a skill for every host with plugins into DIR: new, empty, or an earlier build.

    Prints the commands by which each host installs it. Its hook finds an installed eventlog, a Python that has it, or
    uv; beside `eventlog install` nothing happens twice.
    """
    tools = [{name: str(tool[name]) for name in ("name", "description")} for tool in TOOLS]
    files = plugin_files(__version__, tools)
    build_plugin(directory, files)
    place = shlex.quote(str(directory.absolute()))
    plugins = {host.name: host.plugin for host in profiles().values() if host.plugin}
    commands = {name: plugin.install.format(directory=place) for name, plugin in plugins.items()}

    def show() -> None:
        say(f"{directory}: {count(len(files), 'file')}")
        for name, command in commands.items():
            say(f"{name:<20} {command}", whole=True)

    return Answer({"status": "ok", "path": str(directory), "files": sorted(files), "install": commands}, show)
