"""Decisions that a person agreed to, as facts of the log by the people who share them.

The log follows the checkouts: a file that is gone, or has other bytes, is a withdrawal, and its return a fact of its
own. A keyed decision has a key of its author's, so that what two people say differently stands side by side.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eventlog.app.team.decisions import Decision, TeamFile, read_decision
from eventlog.fast.sha import sha256
from eventlog.format import ids, timestamps
from eventlog.format.events import HUMAN, Event, Fact
from eventlog.format.text import statement_of
from eventlog.hosts import agent_name, rooms
from eventlog.log.event_log import EventLog
from eventlog.projects.approvals import approve, has_content, revoke, team_approvals, withdraw_gone
from eventlog.projects.repository import remote_of
from eventlog.projects.root import git_branch, project_root
from eventlog.store import project_slug
from eventlog.store.replica import make_replica

if TYPE_CHECKING:
    from eventlog.projects.approvals import TeamApproval

_PLAIN = ("", "fact")  # kinds of a decision without a category


def settle(log: EventLog) -> None:
    """Bring the log to what checkouts have of the decisions a person agreed to; raises NotStored."""
    withdraw_gone(log.store)
    back = {
        path: entry
        for path, entry in team_approvals(log.store).items()
        if entry.get("gone") and has_content(path, entry)
    }
    read = {path: read_decision(Path(path).read_bytes(), Path(path).name, "~") for path in back}
    _put(log, {path: (read[path], entry) for path, entry in back.items()})


def agree(log: EventLog, files: Sequence[TeamFile]) -> None:
    """Store a person's agreement to files of one checkout, and their decisions as facts; raises NotStored."""
    before = team_approvals(log.store)
    new = {file.path: file for file in files if file.decision and not _holds(before.get(file.path), file)}
    if not new:
        return
    folder = str(Path(files[0].path).parent)
    project = project_root(folder)
    origin, branch = remote_of(project) or project, git_branch(folder)
    withdrawn = {entry["event"] for entry in before.values() if entry.get("gone")}
    own = log.find({file.decision.id for file in new.values() if file.decision} - withdrawn)
    agreed: dict[str, tuple[Decision, TeamApproval]] = {}
    for path, file in new.items():
        decision = file.decision
        assert decision
        entry = {"digest": sha256(file.data), "project": project, "event": "", **_speaker(decision.who, origin)}
        agreed[path] = decision, {**entry, "round": int(before.get(path, {}).get("round", -1)) + 1}
        if decision.id in own and _states(own[decision.id].event, decision):
            agreed[path][1].update(event=decision.id, branch=branch)
    if mine := {path: entry for path, (_, entry) in agreed.items() if entry["event"]}:
        approve(log.store, mine)
    _put(log, {path: found for path, found in agreed.items() if path not in mine})


def disagree(log: EventLog, paths: Iterable[str]) -> int:
    """Take back the agreement to files, and withdraw their decisions; return how many there were."""
    found = revoke(log.store, paths)
    withdraw_gone(log.store)
    return found


def _speaker(who: str, origin: str) -> dict[str, str]:
    """Name who a colleague's decisions are of, and their conversation: never a host, nor the person here."""
    name = who.casefold()
    agent = f"{who} (team)" if name in (HUMAN, "cli") or agent_name(name) in rooms() else who
    return {"who": agent, "conversation": f"team-{project_slug(f'{origin}/{agent}')}"}


def _states(event: Event, decision: Decision) -> bool:
    """Return whether an event states a decision."""
    stated = event.content if isinstance(event, Fact) else ""
    return decision.statement in map(statement_of, (stated, *getattr(event, "decisions", ())))


def _holds(entry: "TeamApproval | None", file: TeamFile) -> bool:
    """Return whether a person agreed to exactly this file, and the log has its decision."""
    return bool(entry and not entry.get("gone") and entry["digest"] == sha256(file.data))


def _put(log: EventLog, found: "dict[str, tuple[Decision, TeamApproval]]") -> None:
    """Append decisions as facts, and store which event each is."""
    if not found:
        return
    replica = make_replica(log.store)
    events = {path: _fact(path, replica, *of) for path, of in found.items()}
    log.put(events.values())
    entries = {path: {**entry, "event": events[path].id, "gone": False} for path, (_, entry) in found.items()}
    approve(log.store, entries)


def _fact(path: str, replica: str, decision: Decision, entry: "TeamApproval") -> Fact:
    times = int(entry.get("round", 0)) + bool(entry["event"])  # an agreement that has an event comes back
    entry["round"] = times
    source = f"team\n{replica}\n{path}\n{entry['digest']}\n{times}"
    return Fact(
        id=ids.derived(timestamps.to_ms(decision.when), source),
        ts=decision.when,
        conversation_id=entry["conversation"],
        project=entry["project"],
        agent=entry["who"],
        replica=replica,
        content=decision.text,
        category=None if decision.kind in _PLAIN else decision.kind,
        key=f"{decision.key}@{entry['who']}" if decision.key else None,
        scope="project",
        reason=decision.why or None,
    )
