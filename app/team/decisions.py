"""The decisions of a team: `.eventlog/team/<id>-<digest>.md` of a repository, one each, and their facts in the log.

A file has a front matter of plain `name: value` lines, which nothing evaluates, the decision, and the reason under
`## Why`. Files of any other shape are refused with the reason, and nothing of them is used.

Git has nothing to merge: a file is written once and removed, and its name follows from its content, so two clones never
write different bytes under one name. It ends in digits that no other file has, more than the text has characters: git
takes a file that is half the same for a renamed one, and where both clones have removed the old one, for a conflict.

What a person agreed to are facts of the log by the people who share them. The log follows the checkouts: a file that is
gone, or has other bytes, is a withdrawal, and its return a fact of its own. A keyed decision has a key of its author's,
so that what two people say differently stands side by side.
"""

import os
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from eventlog.fast.sha import sha256
from eventlog.format import ids, timestamps
from eventlog.format.errors import system_reason
from eventlog.format.events import HUMAN, Fact
from eventlog.format.text import one_line, statement_of
from eventlog.hosts import agent_name, rooms
from eventlog.log.event_log import EventLog
from eventlog.projects.approvals import LONGEST_DECISION, Approvals
from eventlog.projects.repository import remote_of
from eventlog.projects.root import git_branch, project_root
from eventlog.secrets import scrub_text
from eventlog.store import files, project_slug
from eventlog.store.replica import make_replica
from eventlog.store.shared_files import NotConfined, read_below, real_path

if TYPE_CHECKING:
    from eventlog.projects.approvals import TeamApproval

PLACE = ".eventlog/team"
_WHY = "## Why"
_ENDS = "---"
_DIGITS = "<!-- so that git takes no other file for this one:"
_CONFLICT = ("<<<<<<< ", ">>>>>>> ")  # how git marks the sides
_NAMES = ("id", "who", "when", "kind", "key")
_NEEDED = ("id", "who", "when")
_DIGITS_IN_LINE = 64
_MORE_LINES = 4  # of digits than the text has: what else is the same; git takes one line in 100,000 for any other
_MAX_FIELDS = 20  # lines
_MAX_FILES = 10_000
_PLAIN = ("", "fact")  # kinds of a decision without a category
_LONGEST_TEXT, _LONGEST_FIELD = 4000, 120  # characters
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AHEAD_NS = 24 * 3600 * 10**9  # by which a colleague's clock may be wrong


class Decision(NamedTuple):
    """A decision: the event that states it, who shares it, when it was stated, and why."""

    id: str
    who: str
    when: str
    text: str
    why: str = ""
    kind: str = "decision"
    key: str = ""

    @classmethod
    def of(cls, **fields: str) -> "Decision":
        """Make a decision of texts, each on one line, without secrets; raises ValueError for what no reader takes."""
        decision = cls(**{name: one_line(scrub_text(text)) for name, text in fields.items()})
        body = decision.data.decode().partition(_DIGITS)[0]
        if scrub_text(body) != body:
            raise ValueError("would hold a secret")
        return cls.read(decision.data, decision.file_name, "~")

    @classmethod
    def read(cls, data: bytes, name: str, until: str) -> "Decision":
        """Read the content of a file; raises ValueError with the reason where that is no decision of before `until`."""
        if len(data) > LONGEST_DECISION:
            raise ValueError(f"is longer than {LONGEST_DECISION:,} bytes")
        try:
            lines = data.decode().replace("\r\n", "\n").split("\n")
        except UnicodeDecodeError as error:
            raise ValueError("is not UTF-8") from error
        if any(line.startswith(_CONFLICT) for line in lines):
            raise ValueError("holds both sides of a merge that nobody has finished")
        fields, body = _front_matter(lines)
        text, why = _parts(body)
        found = cls(**fields, text=text, why=why)
        if not _ID.fullmatch(found.id):
            raise ValueError("has an id that is no event's")
        if not name.startswith(found.id):
            raise ValueError(f"is not named after its id, {found.id}")
        if not text:
            raise ValueError("says nothing below its front matter")
        if max(len(text), len(why)) > _LONGEST_TEXT:
            raise ValueError(f"has a text of more than {_LONGEST_TEXT:,} characters")
        try:
            when = timestamps.read(found.when)
        except ValueError as error:
            raise ValueError(f"has a time that is none: {found.when}") from error
        if when > until:
            raise ValueError(f"is of a time to come: {found.when}")
        return found._replace(when=when)

    @property
    def statement(self) -> str:
        """The statement, equal in all wordings."""
        return statement_of(self.text)

    @property
    def data(self) -> bytes:
        """The bytes of its file."""
        fields = ((name, getattr(self, name)) for name in _NAMES)
        lines = [_ENDS, *(f"{name}: {value}" for name, value in fields if value), _ENDS, "", self.text]
        lines += ["", _WHY, "", self.why] if self.why else []
        body = ("\n".join(lines) + "\n").encode()
        digits = [sha256(b"%d\n%s" % (number, body)) for number in range(_MORE_LINES + len(body) // _DIGITS_IN_LINE)]
        return body + "\n".join(["", _DIGITS, *digits, "-->", ""]).encode()

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return f"{self.id}-{sha256(self.data)[:6]}.md"


class TeamFile(NamedTuple):
    """A file of a checkout, its bytes and its decision, or the reason why it is `refused`."""

    path: str
    data: bytes = b""
    decision: Decision | None = None
    refused: str = ""

    @property
    def holds_secret(self) -> bool:
        """A credential in the file, or none."""
        text = self.data.decode("utf-8", "replace").partition(_DIGITS)[0]
        return scrub_text(text) != text


def read_files(root: str, now: str) -> list[TeamFile]:
    """Read the decisions in a checkout, by name; none where it has no such directory."""
    folder = Path(root, PLACE)
    if not os.path.lexists(folder):
        return []
    try:
        place = real_path(folder, root)
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in islice(entries, 10 * _MAX_FILES) if entry.name.endswith(".md"))
    except NotConfined as error:
        return [TeamFile(str(folder), refused=str(error))]
    except OSError as error:
        return [TeamFile(str(folder), refused=system_reason(error)[0])]
    found = [_read(root, str(folder / name), now) for name in names[:_MAX_FILES] if name != "README.md"]
    if len(names) > _MAX_FILES:
        found.append(TeamFile(str(folder), refused=f"has more than {_MAX_FILES:,} files; the others are not read"))
    return found


def _read(root: str, path: str, now: str) -> TeamFile:
    if os.path.islink(path):  # noqa: PTH114 - Path.is_symlink raises where a parent may not be looked at
        return TeamFile(path, refused="is a symbolic link")
    data = b""
    try:
        data = read_below(root, path, LONGEST_DECISION + 1)
        until = timestamps.from_ns(timestamps.to_ns(now) + _AHEAD_NS)
        return TeamFile(path, data, Decision.read(data, os.path.basename(path), until))  # noqa: PTH119 - a text
    except OSError as error:
        return TeamFile(path, refused=system_reason(error)[0])
    except (ValueError, NotConfined) as error:
        return TeamFile(path, data, refused=str(error))


def _front_matter(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split the fields from the lines below them."""
    ends = [number for number, line in enumerate(lines[: _MAX_FIELDS + 2]) if line.rstrip() == _ENDS]
    if ends[:1] != [0] or len(ends) == 1:
        raise ValueError(f"does not begin with a front matter of at most {_MAX_FIELDS} lines between `---`")
    fields: dict[str, str] = {}
    for line in lines[1 : ends[1]]:
        name, colon, value = (part.strip() for part in line.partition(":"))
        if name in fields:
            raise ValueError(f"has two fields {name!r}")
        if colon and name in _NAMES:
            fields[name] = one_line(value)
    if missing := [name for name in _NEEDED if not fields.get(name)]:
        raise ValueError(f"has no field {missing[0]!r}")
    if too_long := [name for name, value in fields.items() if len(value) > _LONGEST_FIELD]:
        raise ValueError(f"has a field {too_long[0]!r} of more than {_LONGEST_FIELD} characters")
    return fields, lines[ends[1] + 1 :]


def _parts(body: list[str]) -> tuple[str, str]:
    """Split the lines below the front matter into the decision and its reason."""
    body = body[: body.index(_DIGITS)] if _DIGITS in body else body
    at = body.index(_WHY) if _WHY in body else len(body)
    return one_line(" ".join(body[:at])), one_line(" ".join(body[at + 1 :]))


# ------------------------------------------------------------------------------------------------ facts of the log


def settle(log: EventLog) -> None:
    """Bring the log to what checkouts have of the decisions a person agreed to; raises NotStored."""
    Approvals(log.store).withdraw_gone()
    withdrawn = {path: entry for path, entry in Approvals(log.store).of_teams().items() if entry.get("gone")}
    read = {path: files.read(path, LONGEST_DECISION + 1) for path in withdrawn}
    back = {
        path: data for path, data in read.items() if data and Approvals.compared(withdrawn[path], data) == "trusted"
    }
    _put(log, {path: (Decision.read(data, Path(path).name, "~"), withdrawn[path]) for path, data in back.items()})


def agree(log: EventLog, files: Sequence[TeamFile], *, only_own: bool = False) -> None:
    """Store a person's agreement to files of one checkout, and their decisions as facts; raises NotStored.

    With `only_own` no more than which files state what the log has of this person, maybe from another machine.
    """
    before = Approvals(log.store).of_teams()
    had = {path: entry["digest"] for path, entry in before.items() if not entry.get("gone")}
    new = {file.path: file for file in files if file.decision and had.get(file.path) != sha256(file.data)}
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
        stated = own[decision.id].event if decision.id in own else None
        texts = (stated.content if isinstance(stated, Fact) else "", *getattr(stated, "decisions", ()))
        if stated and decision.statement in map(statement_of, texts):
            agreed[path][1].update(event=decision.id, branch=branch)
    if mine := {path: entry for path, (_, entry) in agreed.items() if entry["event"]}:
        Approvals(log.store).add(mine)
    if not only_own:
        _put(log, {path: found for path, found in agreed.items() if path not in mine})


def disagree(log: EventLog, paths: Iterable[str]) -> int:
    """Take back the agreement to files, and withdraw their decisions; return how many there were."""
    approvals = Approvals(log.store)
    found = approvals.revoke(paths)
    approvals.withdraw_gone()
    return found


def _speaker(who: str, origin: str) -> dict[str, str]:
    """Name who a colleague's decisions are of, and their conversation: never a host, nor the person here."""
    name = who.casefold()
    agent = f"{who} (team)" if name in (HUMAN, "cli") or agent_name(name) in rooms() else who
    return {"who": agent, "conversation": f"team-{project_slug(f'{origin}/{agent}')}"}


def _put(log: EventLog, found: "dict[str, tuple[Decision, TeamApproval]]") -> None:
    """Append decisions as facts, and store which event each is."""
    if not found:
        return
    replica = make_replica(log.store)
    events = {path: _fact(path, replica, *of) for path, of in found.items()}
    log.put(events.values())
    entries = {path: {**entry, "event": events[path].id, "gone": False} for path, (_, entry) in found.items()}
    Approvals(log.store).add(entries)


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
