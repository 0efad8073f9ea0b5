"""Check each host: where our hooks and server are registered, what is wrong, and the fix; changes nothing."""

import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.app.setup.install import hook_entries, host_file
from eventlog.app.setup.install.install import Installation, InstallTarget
from eventlog.app.setup.install.json_edit import JsonText
from eventlog.app.setup.install.parts import Saving, gone_files, parsed, starts_server
from eventlog.app.setup.live_client import server_of
from eventlog.fast import os
from eventlog.format import timestamps
from eventlog.format.codec import dig
from eventlog.format.errors import BadRequest, EventLogError, record_reason
from eventlog.format.events import SessionStart
from eventlog.hooks import error_log
from eventlog.hooks.command import HookCommand, command
from eventlog.hosts import agent_name, protocol
from eventlog.hosts.profile import BOTH_SCOPES, HostProfile, Scope, profiles
from eventlog.log import days
from eventlog.store import Store
from eventlog.store.replica import replica_of


class Problem(NamedTuple):
    """A problem and its fix; `pending` where only the user can take the step."""

    what: str
    fix: str
    serious: bool = True
    pending: bool = False


class Report(NamedTuple):
    """A host: whether it is installed, the files with our hooks, the last call of a hook, and the problems."""

    agent: str
    name: str
    found: bool
    installed: tuple[str, ...]
    last: str | None
    problems: tuple[Problem, ...]
    saving: Saving | None = None  # where our hooks are registered
    servers: tuple[str, ...] = ()  # the files that start our MCP server
    live: int | None = None  # where hooks ask it first: the process that answers them now, 0 for none


class _HookFile(NamedTuple):
    scope: Scope
    path: Path
    value: Any
    commands: tuple[tuple[str, HookCommand], ...]  # ours, as (event, command)


def examine(target: InstallTarget) -> list[Report]:
    """Report on every host with a room; an unreadable log has no calls of hooks."""
    failed = error_log.failures(target.store)
    hosts = profiles()
    calls: dict[str, str] = {}
    with suppress(OSError):
        calls = _last_calls(target.store, [agent_name(agent) for agent in hosts])
    installations = {agent: Installation(target, host) for agent, host in hosts.items()}
    files = {agent: list(_files(found)) for agent, found in installations.items()}
    reports = [_report(found, files, calls.get(agent_name(agent))) for agent, found in installations.items()]
    return [
        report._replace(problems=(*report.problems, *_failures(target, report.agent, failed))) for report in reports
    ]


def is_registered(installation: Installation, scope: Scope) -> bool:
    """Return whether our hooks are registered in a host's file of that scope."""
    return any(isinstance(file, _HookFile) and file.scope == scope for file in _files(installation))


def _report(installation: Installation, files: dict[str, list[_HookFile | Problem]], last: str | None) -> Report:
    target, host = installation
    own = [file for file in files[host.agent] if isinstance(file, _HookFile)]
    problems = [problem for problem in files[host.agent] if isinstance(problem, Problem)]
    problems += [problem for file in own for problem in _problems(installation, file)]
    problems += [problem for file in own for problem in _distrust(installation, file, last)]
    problems += _switches(installation) if own else ()
    problems += _doubles(host, own)
    problems += _crossings(host, own, files)
    with suppress(EventLogError):  # an invalid file is a problem already
        for path in installation.unsafe_rules():  # of an earlier release
            what = f"{path} lets its agent run more than eventlog unasked: what a saved text has in backticks or $(…)"
            problems.append(Problem(what, f"eventlog install {host.agent} --allow"))
    servers, wrong = _servers(installation)
    reported = {problem.what for problem in problems}  # a file may hold hooks and servers
    problems += [problem for problem in wrong if problem.what not in reported]
    has_traces = any(os.path.isdir(target.home / trace) for trace in host.traces or (host.home,))
    found = has_traces or any(map(shutil.which, host.programs or (host.agent,)))
    paths = tuple(str(file.path) for file in own)
    verdict = None
    with suppress(EventLogError):
        verdict = installation.saving() if own else None
    live = (server_of(target.store) or 0) if any(text.is_live for file in own for _, text in file.commands) else None
    return Report(host.agent, host.name, found, paths, last, tuple(problems), verdict, servers, live)


def _servers(installation: Installation) -> tuple[tuple[str, ...], list[Problem]]:
    """List the files that start our MCP server, and their problems."""
    found, problems = [], []
    for scope in BOTH_SCOPES:
        path = installation.server_file(scope)
        try:
            entry = installation.server_entry(scope)
        except EventLogError as error:
            if path != installation.file(scope):  # `_files` reports the hook file
                problems.append(Problem(str(error), error.hint or "correct the file by hand", serious=False))
            continue
        if path is None or str(path) in found or not starts_server(entry):
            continue
        found.append(str(path))
        if missing := gone_files(entry):
            again = f"eventlog install {installation.host.agent} --{scope} --mcp"
            problems.append(Problem(f"{path} starts {' and '.join(missing)}, which is gone", again))
    return tuple(found), problems


def _files(installation: Installation) -> Iterator[_HookFile | Problem]:
    """Find the host's files with our hooks; an invalid file is a problem."""
    places = {installation.file(scope): scope for scope in BOTH_SCOPES[::-1]}  # one file, where the project is the home
    for path, scope in reversed(places.items()):
        try:
            value = _value(path, is_script=installation.host.hooks.script is not None)
        except EventLogError as error:
            yield Problem(str(error), error.hint or "correct the file by hand")
            continue
        commands = tuple((event, text) for event, text in hook_entries.commands_in(value) if text.calls_us)
        if commands:
            yield _HookFile(scope, path, value, commands)


def _value(path: Path, *, is_script: bool) -> Any:
    text = host_file.read_text(path)
    try:
        value = hook_entries.value_of(text, is_script=is_script)
    except BadRequest as error:
        raise BadRequest(error.what, where=str(path)) from error
    if value is not None and not isinstance(value, dict):
        raise BadRequest("not a JSON object", where=str(path))
    return value


def _problems(installation: Installation, file: _HookFile) -> Iterator[Problem]:
    target, host = installation
    again = f"eventlog install {host.agent} --{file.scope}"
    gone = sorted({path for _, text in file.commands for path in text.missing_files})
    if gone:
        yield Problem(f"{file.path} calls {' and '.join(gone)}, which is gone", again)
    if strange := JsonText(host_file.read_text(file.path)).beyond_json.intersection(host.hooks.refuses):
        what = " and a ".join(sorted(strange)).replace("_", " ")
        yield Problem(f"{file.path} has a {what}: {host.name} cannot read it, and runs no hook", "take it out by hand")
    installed = {event: text for event, text in file.commands if text.is_own}
    shared, home = any(text.is_shared for text in installed.values()), str(target.home)
    again += " --session-type shared" if shared else ""
    events = installation.wanted_events
    wanted = {event: command(host.agent, event, target.store, home, shared=shared) for event in events}
    if missing := [event for event in wanted if event not in dict(file.commands)]:
        yield Problem(f"{file.path} lacks {', '.join(missing)}", again)
    if unwanted := [event for event in installed if event not in wanted]:
        yield Problem(f"{file.path} calls us for {', '.join(unwanted)}, which no setting asks for", again)
    if changed := [event for event in wanted if hook_entries.has_other_matcher(file.value, event, host.hooks)]:
        yield Problem(f"{file.path} calls us for other cases of {', '.join(changed)} than this version asks for", again)
    if not gone and any(not installed[event].is_as(wanted[event]) for event in installed if event in wanted):
        yield Problem(f"{file.path} calls another installation or store than this one", again)
    client = target.store.live[1] if any(text.is_live for text in installed.values()) else ""
    if client and not Path(client).exists():
        yield Problem(f"{client} is gone: each hook starts Python, as it does without", again, serious=False)


def _switches(installation: Installation) -> Iterator[Problem]:
    """Report the settings that switch a host's hooks off, in files of the user, the project and the organisation."""
    host, project = installation.host, installation.target.project
    users = installation.directory / (host.trust_file or host.hooks.user_file)
    places = [users, installation.file("project"), *(project / name for name in host.settings_files)]
    for path in dict.fromkeys(found for place in places for found in place.parent.glob(place.name)):
        with suppress(EventLogError):  # the host cannot read it either
            value = parsed(host_file.read_text(path), path.name)
            for switch, off in host.switches.items():
                found = dig(value, *switch.split("."))
                if found == off or (isinstance(found, list) and off in found):
                    yield Problem(f"{path} switches hooks off: {switch}", f"take {switch} out of {path}")


def _distrust(installation: Installation, file: _HookFile, last: str | None) -> Iterator[Problem]:
    """Report the hooks the host may skip; a guess is dropped where a hook has called since the file was written."""
    distrust = installation.host.distrust
    for found in distrust(installation.directory, file.path, file.value) if distrust else ():
        if not found.is_guess or (last or "") < timestamps.from_ns(file.path.stat().st_mtime_ns):
            serious = not found.is_guess and _has_run_since(installation, file.path)
            yield Problem(found.what, found.fix, serious, pending=not found.is_guess)


def _has_run_since(installation: Installation, file: Path) -> bool:
    """Return whether the host wrote a session since our hooks are in its file: it may lack events."""
    target, host = installation
    try:
        newest = protocol(agent_name(host.agent)).newest_transcript(str(target.project), target.environ)
        return bool(newest) and Path(newest).stat().st_mtime_ns > file.stat().st_mtime_ns
    except OSError:
        return False


def _doubles(host: HostProfile, own: list[_HookFile]) -> Iterator[Problem]:
    """Report duplicate registrations: they cost time, but a call recorded twice is a single event."""
    if len(own) > 1:
        yield Problem(
            "registered for the user and for this project: every hook runs twice",
            f"eventlog uninstall {host.agent} --project",
        )
    for event in sorted({event for file in own for event, _ in file.commands}):
        for file in own:
            if sum(event == other for other, _ in file.commands) > 1:
                yield Problem(
                    f"{file.path} registers {event} twice",
                    f"eventlog install {host.agent} --{file.scope}, and remove the copy written by hand",
                )


def _crossings(
    host: HostProfile, own: list[_HookFile], files: dict[str, list[_HookFile | Problem]]
) -> Iterator[Problem]:
    """Report the hook files of other hosts that this host runs, too."""
    for foreign in host.also_runs if own else ():
        for file in files[foreign.agent]:
            if isinstance(file, _HookFile) and file.scope in foreign.scopes:
                spare = [server for server in own if foreign.is_enough and file.scope in ("user", server.scope)]
                commands = " and ".join(f"eventlog uninstall {host.agent} --{server.scope}" for server in spare)
                yield Problem(
                    f"{host.name} also runs the hooks in {file.path}: every hook runs twice",
                    f"harmless; to save the time: {commands}" if spare else "none needed: it is harmless",
                    serious=False,
                )


def _failures(target: InstallTarget, agent: str, failed: list[dict[str, object]]) -> Iterator[Problem]:
    """Report the failures of hooks that this host called."""
    own = [failure for failure in failed if failure.get("agent") == agent_name(agent)]
    if own:
        log = target.store.cached("hook-errors.log")
        last = f"the last at {str(own[-1].get('ts'))[:19]}: {record_reason(str(own[-1].get('error')))}"
        yield Problem(f"{len(own):,} of its hooks failed, {last}", f"see {log}; remove that file when it is dealt with")


# ------------------------------------------------------------------------------------------------ calls of hooks

_DAYS = 60  # to search back
_START = b'"type":"session_start"'


def _last_calls(store: Store, agents: Collection[str]) -> dict[str, str]:
    """Map agents to the time their hooks last called on this machine; agents without a call are missing."""
    noted: dict[str, str] = {}
    for agent in agents:
        with suppress(OSError):
            noted[agent] = timestamps.from_ns(Path(store.cached("heard", agent)).stat().st_mtime_ns)
    return _last_starts(store, [agent for agent in agents if agent not in noted]) | noted


def _last_starts(store: Store, agents: Collection[str]) -> dict[str, str]:
    """Find the newest start of a session that a hook recorded into this store, by the store's name in it."""
    replica = replica_of(store)
    found: dict[str, str] = {}
    for day in reversed(days.list_days(store.log)[-_DAYS:] if replica and agents else []):
        for event in day.load_mentioning([_START]):
            agent = event.agent or ""
            if isinstance(event, SessionStart) and event.replica == replica and agent in agents:
                found[agent] = max(found.get(agent, ""), event.ts)
        if all(agent in found for agent in agents):
            break
    return found
