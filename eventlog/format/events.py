"""The format of the log: every type of event, its fields, their types, ranges and defaults.

One line of a day file is one JSON object: the common fields of `Event`, then those of its `type`. A field that has
its default is not written; defaults never change their meaning. Types and fields not named here are kept by every
part of the program and ignored by projections, so that a newer writer never breaks an older reader.

Total order everywhere: `(after or ts, id)`. Two lines with the same `id` are one event.
"""

from typing import Annotated, Any, ClassVar, Literal, get_args

from msgspec import Meta, Struct, field

from eventlog.format import effective_scope
from eventlog.format.ids import digest

HUMAN = "human"  # agent of what a person does by hand, and conversation of what a person decides

_ALL_BUT_ONE_OF_FOUR = 3

NonBlank = Annotated[str, Meta(pattern=r"\S")]
Salt = Annotated[str, Meta(pattern=r"^[0-9a-f]*\Z")]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
NonEmpty = Annotated[str, Meta(min_length=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
BlankLines = Annotated[int, Meta(ge=0, le=999)]
HeadingLevel = Annotated[int, Meta(ge=1, le=6)]
Operation = Literal["no-op", "update", "clear", "delete"]


class Event(
    Struct, kw_only=True, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type", gc=False
):
    """The fields of every event.

    `ts` and `id` are empty until the log has taken the event: the time of a live event is taken under the lock.
    Lines with unknown fields are read by the codec, which keeps them in `extra`; a plain decoder must not drop them.
    """

    by_envelope: ClassVar[bool] = False  # folds only count such events, by the fields below
    comes_from: ClassVar[str] = ""  # the verb that alone appends them: they tell of a person's decision, or of a file
    is_known: ClassVar[bool] = True  # this program knows the type in that version, and so what its fields mean

    v: Annotated[int, Meta(ge=1)] = 1  # version of this type's schema
    id: str = ""  # UUIDv7, lower-case canonical
    ts: str = ""  # when it happened: UTC, 2026-02-21T08:35:44.123456Z
    after: str | None = None  # the log was more than a minute ahead of the clock: the time whose place it takes
    conversation_id: NonEmpty  # the agent's own session id
    project: str | None = None  # absolute path of the repository root, else of the working directory
    agent: str | None = None  # host program: claude-code, cursor, codex, gemini, copilot, cli, human, …
    subagent: str | None = None  # set when a helper was the source: audits only, never in knowledge files
    layer: Annotated[int, Meta(ge=1, le=4)] | None = None  # 1 agent, 2 pre-compaction, 3 session end, 4 stop fallback
    replica: str | None = None  # the store whose machine it tells of: whose files, whose paths
    speaker: Literal["guessed"] | None = None  # guessed: nobody named the conversation; it was the one at work
    redacted: Digest | None = None  # texts of it were erased: a keyed digest of the line that was here before
    extra: dict[str, Any] = {}  # fields this version does not know; on the wire they stand beside the others

    @property
    def type(self) -> str:
        """The name of the type on disk."""
        return str(self.__struct_config__.tag)


def persons_conversation(ts: str, replica: str, project: str | None) -> str:
    """Name the conversation of a person's events: one per UTC day, store and project."""
    return "-".join(filter(None, (HUMAN, ts[:10], replica, project and digest(project, 3).hex())))


# ------------------------------------------------------------------------------------------------ the five core types


class SessionStart(Event, tag="session_start", frozen=True, kw_only=True):
    """A conversation began, or came back."""

    by_envelope = True

    source: str | None = None  # startup, resume, clear, compact, …
    session_type: Literal["main", "shared"] = "main"
    model: str | None = None
    git_branch: str | None = None
    git_commit: str | None = None
    transcript_path: str | None = None


class Fact(Event, tag="fact", frozen=True, kw_only=True):
    """A fact worth knowing later."""

    content: NonBlank
    memory_type: Literal["W", "B", "O"] = "W"  # world, biographical, opinion
    entities: list[str] = []
    confidence: Share = 0.9
    importance: Annotated[int, Meta(ge=1, le=5)] = 3
    category: str | None = None  # decision, lesson, preference, insight, …
    key: str | None = None  # a later fact with the same key replaces this one; `db_port` and `DB port` are the same
    scope: Literal["project", "user"] | None = None  # None: user for B, O or without a project, else project
    replaces: list[str] = []  # events whose statement this one took the place of, each withdrawn with it
    instead_of: list[str] = []  # digests of the statements it took the place of: who said them before is outdated
    batch: str | None = None  # common to what one correction recorded
    reason: str | None = None  # why, where a team shares the decision

    @property
    def effective_scope(self) -> str:
        """The scope in force: `user` or `project`."""
        return effective_scope(self.project, self.scope, self.memory_type)

    @property
    def subject(self) -> str:
        """The project it is about; "" for the user."""
        return self.project or "" if self.effective_scope == "project" else ""


class StageSummary(Event, tag="stage_summary", frozen=True, kw_only=True):
    """A summary of the work done, in a stage of the conversation or in all of it."""

    scope: Literal["stage", "session"] = "stage"
    topic: str = ""
    summary: NonBlank
    decisions: list[str] = []
    todos: list[str] = []
    done: list[str] = []  # to-dos of earlier saves that are done
    of_user: list[str] = []  # of the decisions that a program drew from a transcript, those that the user said or chose
    batch: str | None = None  # common to what one correction recorded: here, what is left of a summary


class SectionKey(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The section of a plan entry or of a person's edit: either `path` or `url`.

    `under` names headings above it, outermost first; what a person's edit was about is told with all of them.
    """

    heading: NonBlank
    path: str | None = None
    url: str | None = None
    level: HeadingLevel = 2
    under: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if (self.path is None) == (self.url is None):
            raise ValueError("exactly one of path and url must be given")


class PlanMeta(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """The confidence of an agent in a plan entry, and its reason; when and where, in files other programs wrote."""

    confidence: Share = 0.9
    reason: str | None = None
    created_at: str | None = None
    session_id: str | None = None


class PlanEntry(Event, tag="plan_entry", frozen=True, kw_only=True):
    """A declared change of one section of a knowledge base.

    `operation` None: `update` for text, `clear` for "", `no-op` for null.
    """

    key: SectionKey
    operation: Operation | None = None
    content: str | None = None
    meta: PlanMeta = PlanMeta()
    batch: str | None = None


class SessionEnd(Event, tag="session_end", frozen=True, kw_only=True):
    """A conversation ended; it may come back."""

    reason: str | None = None
    status: str | None = None
    duration_ms: float | None = None
    error: str | None = None
    turns: int | None = None  # finished until then, where no `turn_end` tells of each


# ------------------------------------------------------------------------------------------------ supporting types


class TurnEnd(Event, tag="turn_end", frozen=True, kw_only=True):
    """The agent finished a turn."""

    by_envelope = True

    turn_id: str | None = None
    status: str | None = None


class SaveRequested(Event, tag="save_requested", frozen=True, kw_only=True):
    """The agent was asked to save."""

    trigger: Literal["stop", "pre_compact"]
    context_usage_percent: float | None = None  # before a compaction, as far as the host says
    message_count: int | None = None


class Retraction(Event, tag="retraction", frozen=True, kw_only=True):
    """An event (`target`) or all of a conversation (`conversation`) leaves the knowledge files."""

    target: str | None = None
    conversation: str | None = None
    reason: str | None = None
    batch: str | None = None  # common to what one correction recorded

    def __post_init__(self) -> None:
        if (self.target is None) == (self.conversation is None):
            raise ValueError("exactly one of target and conversation must be given")


class Rejected(Event, tag="rejected", frozen=True, kw_only=True):
    """A person rejects an event (`target`), all statements of a conversation, or a statement (`digest`).

    A rejected statement stays out of every view, whoever makes it and whenever, until the rejection is taken back; of
    an event or a conversation just what that says does. So that the log does not say the words once more, `digest` has
    the statement's HMAC-SHA256 in hexadecimal digits, keyed by the characters of `salt`; `source` is an event that
    makes it. Logs of earlier releases have its text in `statement`. `batch` is common to what was rejected together.
    """

    comes_from = "`eventlog forget`"

    target: str | None = None
    statement: NonBlank | None = None
    conversation: str | None = None
    batch: str | None = None
    salt: Salt | None = None
    digest: Digest | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        if [self.target, self.statement, self.conversation, self.digest].count(None) != _ALL_BUT_ONE_OF_FOUR:
            raise ValueError("exactly one of target, statement, conversation and digest must be given")
        if (self.salt is None) != (self.digest is None):
            raise ValueError("a digest has a salt, and nothing else has one")


class Restored(Event, tag="restored", frozen=True, kw_only=True):
    """A person takes back what another event did: a retraction, a rejection, an entry, an edit, a decision.

    `batch` is common to what was taken back together. `deed` where that is something a person did for itself: a file
    was made what it was, or something was taken back that was not the last thing done. Else it is one step back.
    """

    comes_from = "`eventlog undo`"

    target: NonEmpty
    batch: str | None = None
    deed: bool = False


class EntryApplied(Event, tag="entry_applied", frozen=True, kw_only=True):
    """A plan entry reached its file.

    `under` has all headings above the section, None in logs of before there was such a field. `content` is what was
    written where that is not the entry's own text, because a person's lines were kept. Where nothing was written,
    because the very text was there, come with a copy, `found` is the event that tells of it on the other machine.
    `previous` has the heading before the section on the page and those above that, () where the section came first:
    there it comes back. `blank` counts the blank lines that ended the file before, where it
    was the last section or became it: they come back.
    """

    comes_from = "`eventlog apply`"

    target: NonEmpty
    path: str
    heading: str
    level: HeadingLevel
    digest: str
    under: tuple[str, ...] | None = None
    content: str | None = None
    found: str | None = None
    previous: tuple[str, ...] | None = None
    blank: BlankLines = 0


class EntryResolved(Event, tag="entry_resolved", frozen=True, kw_only=True):
    """A person decided about a staged plan entry.

    `under` names headings above the section that is meant, where the entry left that open.
    """

    comes_from = "`eventlog resolve`"

    target: NonEmpty
    choice: Literal["apply", "discard", "edited"]
    content: str | None = None
    under: tuple[str, ...] | None = None


class KnowledgeEdited(Event, tag="knowledge_edited", frozen=True, kw_only=True):
    """The text of a section of a knowledge base that is a person's: from before any entry, or changed by hand.

    `below` has its subsections as they are written, where an entry was about to delete them with it. `previous` and
    `blank` have what they have in `entry_applied`; of a section that is gone, as the file was last seen.
    """

    comes_from = "an edit of the file, which `eventlog apply` records"

    key: SectionKey
    operation: Operation = "update"
    content: str | None = None
    below: str | None = None
    previous: tuple[str, ...] | None = None
    blank: BlankLines = 0


class ProjectSeen(Event, tag="project_seen", frozen=True, kw_only=True):
    """The address of the repository that was at a path on a machine, that of its store `replica`.

    `remote` has host and path in lower case, without user, port and `.git`; None: it has none any more. `known_as` is
    what the project was called before, where its files had a directory by then: they keep that.
    """

    comes_from = "`eventlog replay`, which looks at the repositories"

    path: NonEmpty
    remote: str | None = None
    known_as: str | None = None


class ProjectJoined(Event, tag="project_joined", frozen=True, kw_only=True):
    """Two projects are joined, by a person or in a copy of a store; each is an address, `replica:path`, or a path."""

    comes_from = "`eventlog project join`"

    projects: Annotated[list[NonEmpty], Meta(min_length=2, max_length=2)]


class KnownFile(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A file a session was given, or the beginning of it; `as_of` is the time a rendered one carries."""

    path: str
    digest: str  # SHA-256 of its text
    as_of: str | None = None


class Fix(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """A command that passed after another one had failed, with nothing edited in between."""

    failure: str  # the signature of the failure
    passed: str  # the command, one that any agent may repeat


class ContextInjected(Event, tag="context_injected", frozen=True, kw_only=True):
    """The receipt of what a session was given: at its start, with a prompt, or before a file is read or changed."""

    by_envelope = True  # at a start; what was recalled is read whole

    digest: str  # SHA-256 of the text
    chars: Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
    sources: list[str] = []  # events it tells of
    cut: list[str] = []  # titles of what did not fit
    files: list[KnownFile] = []
    lines: str = ""  # marks of the lines it was told, six hexadecimal digits each
    session_type: Literal["main", "shared"] = "main"
    trigger: Literal["start", "prompt", "file"] = "start"  # with a failed command: "prompt"
    about: list[str] = []  # for each line told with a prompt or before a file: marks of what it names
    file: str = ""  # before which it was told, below the project
    failure: str = ""  # the signature of the failed command after which it was told


class ConversationText(Event, tag="conversation_text", frozen=True, kw_only=True):
    """The words of a conversation, drawn from its transcript at its end: to be searched, never rendered."""

    by_envelope = True

    title: str = ""
    prompts: list[str] = []  # what the user asked
    closing: str = ""  # what the agent said last
    files: list[str] = []  # what was changed, below the project where it lies there
    fixes: list[Fix] = []  # commands that passed after another one had failed


class Redacted(Event, tag="redacted", frozen=True, kw_only=True):
    """The content of an event of type `was` is erased; its id, time and conversation stay."""

    by_envelope = True
    comes_from = "`eventlog redact`"

    was: NonEmpty


class HostEvent(Event, tag="host_event", frozen=True, kw_only=True):
    """The payload of any other call of a host, bounded and scrubbed."""

    by_envelope = True

    name: str
    payload: dict[str, Any] = {}


class UnknownEvent(Event, tag="?", frozen=True, kw_only=True):
    """An event of a type, or of a version, that this program does not know: stored and shown, never interpreted."""

    is_known = False

    name: str = field(name="?")  # the type on disk

    @property
    def type(self) -> str:
        """The name of the type on disk."""
        return self.name


AnyEvent = (
    SessionStart | Fact | StageSummary | PlanEntry | SessionEnd | TurnEnd | SaveRequested | Retraction | Rejected
    | Restored | EntryApplied | EntryResolved | KnowledgeEdited | ProjectSeen | ProjectJoined | ContextInjected
    | ConversationText | Redacted | HostEvent | UnknownEvent
)  # fmt: skip
KNOWN: tuple[type[Event], ...] = get_args(AnyEvent)[:-1]
Withdrawal = Retraction | Rejected | Restored
TYPES: dict[str, type[Event]] = {str(cls.__struct_config__.tag): cls for cls in KNOWN}
VERSIONS: dict[str, int] = dict.fromkeys(TYPES, 1)
COMMON: tuple[str, ...] = (
    "v", "id", "ts", "after", "type", "conversation_id", "project", "agent", "subagent", "layer", "replica", "speaker",
    "redacted",
)  # fmt: skip
