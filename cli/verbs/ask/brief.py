"""Print the brief of `eventlog` without a verb: last session, open to-dos, hooks, and the next command."""

from pathlib import PurePath

from eventlog.app.ask.brief import AgentPulse, Brief, brief
from eventlog.app.importing.transcripts import readable_hosts
from eventlog.app.open_store import Machine, OpenStore, open_log
from eventlog.cli import options
from eventlog.cli.show.display import Display
from eventlog.cli.terminal import count, fit, hang, marked, print_lines
from eventlog.format import timestamps
from eventlog.format.errors import BadSettings
from eventlog.format.text import one_line, project_name
from eventlog.settings import load
from eventlog.settings.schema import Settings
from eventlog.store import Store

_SHOWN, _BROKEN = 3, 2
_ROOM = 68  # cells beside the word in front


def show(store: Store) -> int:
    """Print the brief in at most twelve lines; a mistake in the settings takes a line."""
    machine = Machine.here()
    try:
        settings, mistake = load.load(store).settings, ""
    except BadSettings as error:
        settings, mistake = Settings(), f"config.yaml: {error.what}"
    found = brief(OpenStore(open_log(store, machine), settings, machine), options.install_target(store))
    display = Display(store, machine.now())
    lines = [*_first_steps(found), *_lost(found, display)] if found.is_empty else _standing(found, display)
    switch = one_line(PurePath(found.switch).name)
    off = f"{marked('!')} memory is off here, by {switch}: hooks record nothing and add nothing"
    wrong = _under("config", [f"{marked('!')} {fit(one_line(mistake), _ROOM)}"] if mistake else [])
    print_lines([*([off] if found.switch else []), *lines, *wrong])
    return 0


def _first_steps(found: Brief) -> list[str]:
    ready = [pulse for pulse in found.agents if pulse.installed]
    names = " ".join(pulse.agent for pulse in found.agents)
    first = f"eventlog install {names or 'AGENT'}  ({'found here' if names else 'eventlog help hosts lists them'})"
    if ready:
        first = f"{marked('✓')} hooks are installed: {', '.join(pulse.agent for pulse in ready)}"
    past = " ".join(pulse.agent for pulse in found.agents if pulse.agent in readable_hosts())
    return [
        *hang("", f"no memory yet in {one_line(found.store)}"),
        f"1  {first}",
        *(f"   {_needs(pulse)}" for pulse in ready if pulse.fix),
        f"2  eventlog import {past.partition(' ')[0] or 'AGENT'}  (past conversations, each under its own date)",
        "3  work as usual: hooks record what happens, agents save what is worth knowing",
        "4  eventlog  shows where you stand; eventlog --help lists all verbs",
    ]


def _standing(found: Brief, display: Display) -> list[str]:
    unread = count(found.unreadable, "file cannot be read", "files cannot be read")
    totals = f"{count(found.events, 'event')}, {count(found.sessions, 'session')} in all projects"
    return [
        f"{one_line(project_name(found.project))}  {totals}",
        *_of_project(found, display),
        *_under("log", [f"{marked('✗')} {unread}: eventlog doctor"] if found.unreadable else []),
        *_under("hooks", [*_hooks(found.agents, display), *_lost(found, display)]),
        *_under("sync", _sync(found, display)),
        *_under("you", _yours(found)),
        *_under("next", ["eventlog memory · search TEXT · sessions · --help"]),
    ]


def _under(word: str, lines: list[str]) -> list[str]:
    return [f"{word if number == 0 else '':<7}{line}" for number, line in enumerate(lines)]


def _of_project(found: Brief, display: Display) -> list[str]:
    if found.last is None:
        return _under("last", ["no memory of this project yet: work in it, or eventlog fact TEXT"])
    who = f" – {one_line(found.last.agent or 'unknown')}, {display.ago(found.last.timestamp)}"
    lines = _under("last", [fit(one_line(found.last.topic), _ROOM - len(who)) + who])
    if found.todos:
        shown = " · ".join(map(one_line, found.todos[:_SHOWN]))
        more = f" · {len(found.todos) - _SHOWN} more" if len(found.todos) > _SHOWN else ""
        lines += _under("open", [fit(shown, _ROOM - len(more)) + more])
    if found.recent:
        kinds = [count(number, kind) for kind, number in list(found.recent.items())[:_SHOWN]]
        lines += _under("new", [fit(f"{', '.join(kinds)} this week", _ROOM)])
    return lines


def _hooks(agents: list[AgentPulse], display: Display) -> list[str]:
    working = [pulse for pulse in agents if pulse.installed and not pulse.fix]
    broken = [pulse for pulse in agents if pulse.installed and pulse.fix]
    heard = [f"{pulse.agent} {display.ago(pulse.last) if pulse.last else 'installed'}" for pulse in working]
    lines = ["   ".join(f"{marked('✓')} {text}" for text in heard[:_SHOWN])] if heard else []
    lines += [_needs(pulse) for pulse in broken[:_BROKEN]]
    if len(broken) > _BROKEN:
        lines.append(f"{marked('!')} {len(broken) - _BROKEN} more: eventlog doctor")
    names = " ".join(pulse.agent for pulse in agents) or "AGENT"
    return lines or [f"{marked('!')} none installed: eventlog install {names}"]


def _lost(found: Brief, display: Display) -> list[str]:
    if found.lost is None:
        return []
    last = display.ago(timestamps.from_ns(found.lost.last_ns))
    many = count(found.lost.events, "hook event was lost", "hook events were lost")
    return [f"{marked('✗')} {many}, the last {last}: eventlog doctor"]


def _sync(found: Brief, display: Display) -> list[str]:
    if found.sync is None:
        return []
    seen = [
        f"{one_line(machine.name)} {display.ago(machine.last_seen)}"
        for machine in found.sync.machines
        if not machine.left
    ][:_SHOWN]
    waiting = [f"{found.sync.waiting:,} waiting"] if found.sync.waiting else []
    stopped = (
        [f"{marked('!')} {found.sync.blocked:,} look like secrets: eventlog sync status"] if found.sync.blocked else []
    )
    return [" · ".join([*(seen or ["no other machine yet"]), *waiting, *stopped])]


def _needs(pulse: AgentPulse) -> str:
    return f"{marked('!')} {pulse.agent}: {fit(one_line(pulse.fix), _ROOM - len(pulse.agent))}"


def _yours(found: Brief) -> list[str]:
    lines = []
    if found.staged:
        files = sorted({one_line(staged.file) for staged in found.staged})
        where = fit(files[0], _ROOM // 2) + (f" and {len(files) - 1} more" if len(files) > 1 else "")
        what = count(len(found.staged), "change of", "changes of")
        lines.append(f"{what} {where} {'wait' if len(found.staged) > 1 else 'waits'}: eventlog resolve")
    if found.edited:
        lines.append(f"{count(found.edited, 'section')} edited by you: eventlog apply records them")
    if found.team:
        wait = "waits" if found.team == 1 else "wait"
        lines.append(f"{count(found.team, 'decision')} of your team {wait} for your consent: eventlog team trust")
    return lines
