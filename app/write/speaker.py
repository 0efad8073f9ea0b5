"""Find the speaker of an event: the conversation an agent's command runs in, or the person."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from eventlog.app.naming.references import session_named
from eventlog.app.open_store import Machine
from eventlog.format import timestamps
from eventlog.format.events import HUMAN, Event, HostEvent, SaveRequested, SessionEnd, TurnEnd, persons_conversation
from eventlog.hooks import background
from eventlog.hosts import named_conversations
from eventlog.hosts.call import MACHINE_PROMPT
from eventlog.log.event_log import EventLog
from eventlog.log.raw_lines import named_in
from eventlog.store import Store
from eventlog.store.index_lookup import lines_at
from eventlog.store.replica import make_replica, own_replica_of, replica_of

_CLI = "cli"  # who speaks in a conversation no host is known of

_LONGEST_SILENCE_NS = 3600 * 10**9  # a turn no hook has told anything of for so long is over
_TURN_ENDS = ("afteragent", "agentstop", "stop")  # kept as calls where they answer a request of a hook


class Speaker(NamedTuple):
    """A conversation, and the program that speaks in it; whether that was guessed, as the log has it."""

    conversation_id: str
    agent: str
    speaker: Literal["guessed"] | None = None


class SpeakerOptions(NamedTuple):
    """The speaker as named by the caller: conversation, project, agent and layer; None is left to be found out."""

    session: str | None
    project: str | None
    agent: str | None
    layer: int | None


def speaker_of(log: EventLog, options: SpeakerOptions, machine: Machine, *, writes: bool = True) -> dict[str, Any]:
    """Build the fields of an event that name its speaker; find what was not given.

    What the command of an agent says is never the person's, whatever it names. With `writes`, a store that has no name
    yet gets one. Raises NotStored.
    """
    if options.agent and speaking_agent(options.agent, machine) != options.agent:
        options = options._replace(agent=None)
    if options.session is not None:
        session = session_named(log, options.session, options.project)
        speaker = Speaker(session, options.agent or _agent_of(log, session, machine.environ) or _CLI)
    else:
        name_of = make_replica if writes else replica_of
        speaker = _current_speaker(log, options.project, machine, options.agent or "", name_of)
    speaker = speaker._replace(agent=speaking_agent(speaker.agent, machine))  # of the person's, if it is named
    return {**speaker._asdict(), "project": options.project, "layer": options.layer}


def speaking_agent(agent: str, machine: Machine) -> str:
    """Return the agent whose words a command records: those of an agent's command are never the person's."""
    programs = {} if agent != HUMAN or machine.is_typed() else named_conversations(machine.environ)
    return next(iter(programs), agent)


def _current_speaker(
    log: EventLog, project: str | None, machine: Machine, agent: str = "", name_of: Callable[[Store], str] = replica_of
) -> Speaker:
    """Find the conversation a command belongs to; `agent` "" where any may be meant.

    The one the host's environment names; else, unless a person types it, the newest of the project within its turn, by
    the log: that is a guess, and marked as one; else the person's of the UTC day, by store and project.
    """
    if named := _of_agent(named_conversations(machine.environ), agent):
        return _last_heard_of(log, named)
    now_ns = machine.clock()
    found = next(reversed(_working(log, project, now_ns, agent)), None)
    if found and not machine.is_typed():
        return found._replace(speaker="guessed")
    conversation_id = persons_conversation(timestamps.from_ns(now_ns), name_of(log.store), project)
    return Speaker(conversation_id, agent or HUMAN)


def speaker_of_server(log: EventLog, project: str | None, machine: Machine, agent: str, session: str = "") -> Speaker:
    """Find who speaks through a server a host has started: it lives on while conversations come and go.

    The conversation the host has named with the call; else the one of its environment, or of the host's process,
    unless another one is at work since; else the newest at work; else the person's, where a program speaks as well.
    """
    agent = "" if agent == HUMAN else agent
    if session:
        return Speaker(session, agent or _agent_of(log, session, machine.environ) or _CLI)
    named = set(_of_agent(named_conversations(machine.environ), agent).values())
    working = _working(log, project, machine.clock(), agent)
    if found := [speaker for speaker in working if speaker.conversation_id in named]:
        return found[-1]
    here = background.conversations_of_host(log.store)
    if found := [speaker for speaker in working if speaker.conversation_id in here]:
        return found[-1] if len(found) == 1 else found[-1]._replace(speaker="guessed")
    if agent and len(here) == 1:  # its host tells of no prompt, as droid without a terminal
        return Speaker(here.pop(), agent)
    if working:
        return working[-1]._replace(speaker="guessed")
    speaker = _current_speaker(log, project, machine, agent, make_replica)
    return speaker._replace(agent=_CLI) if speaker.agent == HUMAN else speaker


def _agent_of(log: EventLog, conversation_id: str, environ: Mapping[str, str]) -> str:
    """Find the host program of a conversation; "" where neither environment nor log names it."""
    for agent, named in named_conversations(environ).items():
        if named == conversation_id:
            return agent
    return _first_named(log, conversation_id, "agent")


def _first_named(log: EventLog, conversation_id: str, what: str) -> str:
    with suppress(OSError):
        places = groupby(log.index.positions(conversation_id), key=itemgetter(0))
        lines = (line for file, of_file in places for line in lines_at(file, [offset for _, offset in of_file]))
        return named_in(lines, conversation_id, what)
    return ""


def _of_agent(named: dict[str, str], agent: str) -> dict[str, str]:
    return {name: named[name] for name in named if agent in ("", name)}


def _last_heard_of(log: EventLog, named: dict[str, str]) -> Speaker:
    """Choose, of hosts started by each other, the host whose hooks were last heard."""
    speakers = [Speaker(conversation_id, agent) for agent, conversation_id in named.items()]
    if len(speakers) == 1:
        return speakers[0]
    return max(speakers, key=lambda speaker: _last_heard(log, speaker.conversation_id))


def _last_heard(log: EventLog, conversation_id: str) -> str:
    with suppress(OSError):  # of a log that cannot be read, nothing was heard
        return max((event.ts for event in log.session(conversation_id)[-1:]), default="")
    return ""


def _working(log: EventLog, project: str | None, now_ns: int, agent: str) -> list[Speaker]:
    """List the conversations at work in a project on this machine, by the log; the last one heard of stands last."""
    since, now = timestamps.from_ns(now_ns - _LONGEST_SILENCE_NS), timestamps.from_ns(now_ns)
    working: dict[str, Speaker] = {}
    events: list[Event] = []
    with suppress(OSError):  # what cannot be read stops no event from being appended
        events = list(log.read(since, now))
    for event in events:
        if not event.agent or event.project != project or event.subagent or agent not in ("", event.agent):
            continue
        works, speaker = _works_after(event), working.pop(event.conversation_id, None)
        if works or (speaker and works is None):
            working[event.conversation_id] = speaker or Speaker(event.conversation_id, event.agent)
    here = "", own_replica_of(log.store)
    return [speaker for speaker in working.values() if _first_named(log, speaker.conversation_id, "replica") in here]


def _works_after(event: Event) -> bool | None:
    """Return whether the agent is at work after a call of its host; None where the call leaves it open."""
    from eventlog.hosts.transcripts.read import PROMPTS  # has patterns to compile, which a named session spares

    match event:
        case TurnEnd() | SessionEnd():
            return False
        case SaveRequested(trigger="stop"):
            return True
        case HostEvent(name=name) if name.casefold() in PROMPTS or name == MACHINE_PROMPT:
            return True
        case HostEvent(name=name) if name.casefold() in _TURN_ENDS:
            return False
        case _:
            return None
