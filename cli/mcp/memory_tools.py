"""Run the tools with the use cases of the verbs; loaded at the first call."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from eventlog import hosts
from eventlog.app.ask.why import names_line, reasons_behind
from eventlog.app.naming.references import ShortIds
from eventlog.app.open_store import Machine, OpenStore, open_log, open_store
from eventlog.app.search.search import SearchQuery, search
from eventlog.app.write.current_statements import CurrentStatement, current_statements, matching
from eventlog.app.write.plan import checked, declare, entry_of
from eventlog.app.write.record_once import record_once
from eventlog.app.write.speaker import speaker_of_server
from eventlog.format import PRE_COMPACTION, STOP_FALLBACK
from eventlog.format.codec import from_fields
from eventlog.format.errors import BadRequest
from eventlog.format.events import HUMAN, Event, Redacted, Rejected, SaveRequested, TurnEnd
from eventlog.format.fence import fenced, without_tags
from eventlog.format.local_time import local_time
from eventlog.format.text import cut, last_mention, one_line
from eventlog.log.event_log import EventLog
from eventlog.projections.bases.plan_file import PlanFile
from eventlog.projects.root import project_root
from eventlog.settings.cached import off_switch

if TYPE_CHECKING:
    from eventlog.cli.mcp.tools import ToolCalls

_SHOWN, _MAX, _LONGEST = 8, 20, 400
_SALT_BYTES = 8
_SCOPES = ("project", "user")
_SECTION = ("content", "about", "heading")
_FACT = ("content", "category", "key", "entities", "about")
_SUMMARY = ("topic", "decisions", "todos", "done")


class _ToolCall(NamedTuple):
    """A tool call: its origin and its arguments."""

    calls: "ToolCalls"
    machine: Machine
    log: EventLog
    directory: str
    meta: Mapping[str, Any]
    arguments: Mapping[str, Any]

    @property
    def project(self) -> str | None:
        return project_root(self.directory) or None

    def statements(self) -> list[CurrentStatement]:
        """List what holds for who asks."""
        opened = open_store(self.calls.store, self.machine)
        return current_statements(opened.log, opened.settings, self.project, shared=self.calls.shared)

    def speaker(self) -> dict[str, Any]:
        """Build the fields of the speaker, and of the net that asked for it."""
        conversation = hosts.protocol(self.calls.agent).conversation_of_call(dict(self.meta))
        project = self.project
        speaker = speaker_of_server(self.log, project, self.machine, self.calls.agent, conversation)
        layer = _layer(self.log.session(speaker.conversation_id))
        return {**speaker._asdict(), "project": project, "layer": layer}


def _layer(events: Iterable[Event]) -> int | None:
    """Return the net that asked the agent to save in this turn; None where it saves by itself."""
    main = [event for event in events if not event.subagent]
    last = next((event for event in reversed(main) if isinstance(event, SaveRequested | TurnEnd)), None)
    if not isinstance(last, SaveRequested):
        return None
    return PRE_COMPACTION if last.trigger == "pre_compact" else STOP_FALLBACK


def use(calls: "ToolCalls", name: str, arguments: Mapping[str, Any], meta: Mapping[str, Any]) -> str:
    """Run a tool and return its text; raises EventLogError or OSError."""
    machine = Machine.here()
    places = unquote(urlsplit(calls.root).path), calls.directory, calls.project
    directory = next(filter(os.path.isdir, places), calls.directory)
    if switch := off_switch(machine.environ, directory, project_root(directory)):
        return f"Memory is switched off by {switch}: nothing is saved or recalled."
    fields = {key: value for key, value in arguments.items() if value is not None}
    text = _TOOLS[name](_ToolCall(calls, machine, open_log(calls.store, machine), directory, meta, fields))
    missing = calls.missing() if name != "remember" else ""
    return f"{text}\n({one_line(without_tags(missing))}; `eventlog doctor` tells what to do)" if missing else text


def _recall(call: _ToolCall) -> str:
    limit = int(min(max(call.arguments.get("limit", _SHOWN), 1), _MAX))
    wanted = limit if not call.calls.shared else 2 * _MAX  # a shared session skips facts about the user
    query = SearchQuery(call.arguments["query"], call.project or "", limit=wanted)
    opened = open_store(call.calls.store, call.machine)
    hits, local = search(opened, query).hits, local_time(opened.settings.timezone)
    shown = [hit for hit in hits if hit.project or not call.calls.shared][:limit]
    if not shown:
        return "No current memory has any of these words."
    short = ShortIds(call.log.store).of
    dated = (last_mention(local(hit.ts), hit.times, is_doubtful=hit.is_doubtful) for hit in shown)
    lines = [f"- {day} {hit.kind} {short(hit.id)}: {hit.text}" for day, hit in zip(dated, shown, strict=True)]
    return _fenced(lines)


def _remember(call: _ToolCall) -> str:
    kind = call.arguments.get("kind", "fact")
    named = {"fact": _FACT, "section": _SECTION}.get(kind, _SUMMARY)
    if strange := sorted(call.arguments.keys() - {*named, "content", "kind"}):
        raise BadRequest(f"a {kind} has no {', '.join(strange)}", hint=f"it has content, {', '.join(named)}")
    fields = {key: call.arguments[key] for key in named if key in call.arguments}
    if kind == "section":
        return _plan(call, fields)
    if kind == "fact":
        if (about := fields.pop("about", None)) not in (None, *_SCOPES):
            raise BadRequest(f"a fact is about {' or '.join(_SCOPES)}")
        fields |= {"type": "fact", "scope": about}
    else:
        scope = "stage" if kind == "stage" else "session"
        fields |= {"type": "stage_summary", "scope": scope, "summary": call.arguments["content"]}
    appended = record_once(call.log, from_fields(call.speaker() | fields))
    if isinstance(appended.event, Rejected):
        return "Not saved: the user asked to forget this."
    if isinstance(appended.event, Redacted):
        return "Not saved: the user had this erased."
    short = ShortIds(call.log.store).of(appended.event.id)
    return f"Saved: {short}." if appended.new else f"Already saved: {short}."


def _plan(call: _ToolCall, fields: dict[str, Any]) -> str:
    """Plan a change of a section of a knowledge base."""
    if missing := [name for name in _SECTION if name not in fields]:
        raise BadRequest(f"a section needs {', '.join(missing)}", hint="about user changes USER.md, project AGENTS.md")
    log, path = call.log, fields.pop("about")
    entries = PlanFile(version="1.0.0", entries=[entry_of({"path": path, **fields})])
    [declared] = declare(log, checked(log.store, entries, call.speaker(), call.machine))
    if isinstance(declared.event, Rejected):
        return "Not planned: the user has refused this."
    waits = f"; it waits for the user: it {declared.waits}" if declared.waits else ""
    return f"Planned: {ShortIds(log.store).of(declared.event.id)}, for the file at the end of the session{waits}."


def _why(call: _ToolCall) -> str:
    ref, statements = call.arguments["ref"].strip(), call.statements()
    opened = open_store(call.calls.store, call.machine)
    found = _behind(opened, ref, statements) if names_line(opened, ref) else matching(statements, ref)
    if not found:
        return "No current memory matches."
    short = ShortIds(call.log.store).of
    lines = [line for memory in found[-_SHOWN:] for line in (_line(memory, short), *_sayings(memory, short))]
    return _fenced([*lines, *_more(found)])


def _behind(opened: OpenStore, place: str, statements: list[CurrentStatement]) -> list[CurrentStatement]:
    """Find the current statements behind a line of a memory file."""
    ids = {entry.event.id for reason in reasons_behind(opened, place) for entry in reason.entries or ()}
    return [statement for statement in statements if ids.intersection(event.id for event in statement.events)]


def _forget(call: _ToolCall) -> str:
    found, short = matching(call.statements(), call.arguments["ref"]), ShortIds(call.log.store).of
    if not found:
        return "No current memory matches; nothing was retracted."
    if len(found) > 1:
        several = _fenced([*(_line(memory, short) for memory in found[-_SHOWN:]), *_more(found)])
        raise BadRequest(f"{len(found)} memories match; call forget again with one id:\n{several}")
    [statement] = found
    statement.withdraw(call.log, call.speaker(), call.arguments.get("reason"))
    line = _fenced([_line(statement, short)])
    return f"Retracted, until somebody records it again; the user can prevent that with `eventlog forget`.\n{line}"


def _fenced(lines: Iterable[str]) -> str:
    """Fence recorded lines, with a fresh salt."""
    return fenced("tool", without_tags("\n".join(lines)), "en", os.urandom(_SALT_BYTES).hex())


def _line(statement: CurrentStatement, short: Callable[[str], str]) -> str:
    newest = statement.newest
    kind = "fact" if newest.type == "fact" else "summary"
    return f"- {newest.ts[:10]} {kind} {short(newest.id)}: {cut(statement.text, _LONGEST)}"


def _sayings(statement: CurrentStatement, short: Callable[[str], str]) -> Iterable[str]:
    """Yield the events of a statement, and the number of replaced wordings."""
    for event in statement.events[-_SHOWN:]:
        speaker = "the user" if event.agent == HUMAN else one_line(event.agent or "an agent")
        yield f"  {event.ts[:16].replace('T', ' ')} UTC, {speaker}, session {short(event.conversation_id)}"
    if statement.replaced:
        yield f"  replaces {len(statement.replaced)} earlier wording{'s' * (len(statement.replaced) > 1)}"


def _more(found: list[CurrentStatement]) -> Iterable[str]:
    if len(found) > _SHOWN:
        yield f"({len(found) - _SHOWN} older ones are not shown)"


_TOOLS: Mapping[str, Callable[[_ToolCall], str]] = {
    "recall": _recall,
    "remember": _remember,
    "why": _why,
    "forget": _forget,
}
