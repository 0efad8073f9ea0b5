"""One call of a host in our words, whichever host it is."""

from eventlog.fast import fastjson, os
from eventlog.projects.root import project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from eventlog.format.payloads import EventType, SaveRequested, SessionEnd, SessionStart, TurnEnd

    Fields = TypeVar("Fields", bound=Mapping[str, object])

Payload = dict[str, object]


class HookCall:
    """One call of a hook, in our words.

    `type` and `fields` are those of the event it becomes. Of the rest:

    dedupe_key     whatever the host itself tells calls apart by, "" where it has nothing
    dedupe_text    what the call says, where its host sends it in several shapes and gives it no key
    may_recur      without a key, a session may soon start or end again; then `after` is the event this call came after
    may_ask        here the agent may be asked to save: at the end of a turn that is really over (not interrupted, no
                   answer to a hook, nothing running in the background), or at a prompt, where a host lets nobody
                   speak at the end of one
    owes_context   how a conversation goes on whose agent is shown no answer now: "clear", "compact"
    asked          what a person has asked just now, where the answer reaches the agent with it
    file           before a tool, where the answer reaches the agent: the file it is about to open, "" for none
    takes_context  the answer reaches the agent, so that it can be given the context it is owed
    """

    def __init__(
        self, agent: str, name: str, payload: Payload, *, session: str, dedupe_key: str = "", subagent: str = ""
    ) -> None:
        self.agent = agent
        self.name = name
        self.payload = payload
        self.session = session
        self.dedupe_key = dedupe_key
        self.subagent = subagent
        self.type: EventType = "host_event"
        self.fields: Mapping[str, object] = {}
        self.may_ask = False
        self._project: str | None = None
        self.dedupe_text: object = None
        self.may_recur = False
        self.after = ""
        self.owes_context = ""
        self.takes_context = False
        self.asked = ""
        self.file: str | None = None

    def as_session_start(
        self, *, source: str = "", model: str = "", transcript_path: str = "", dedupe_key: str = ""
    ) -> "HookCall":
        """The same call, as the start of a session."""
        fields: SessionStart = {"source": source, "model": model, "transcript_path": transcript_path}
        return self._as("session_start", present(fields), dedupe_key)

    def as_turn_end(
        self, *, turn_id: str = "", status: str = "", dedupe_key: str = "", may_ask: bool = True
    ) -> "HookCall":
        """The same call, as the end of a turn."""
        self.may_ask = may_ask
        fields: TurnEnd = {"turn_id": turn_id, "status": status}
        return self._as("turn_end", present(fields), dedupe_key)

    def as_compaction(
        self, *, context_usage_percent: "float | None" = None, message_count: "int | None" = None, dedupe_key: str = ""
    ) -> "HookCall":
        """The same call, as the request to save that a compaction is."""
        fields: SaveRequested = {
            "trigger": "pre_compact",
            "context_usage_percent": context_usage_percent,
            "message_count": message_count,
        }
        return self._as("save_requested", present(fields), dedupe_key)

    def as_session_end(
        self,
        *,
        reason: str = "",
        status: str = "",
        duration_ms: "float | None" = None,
        error: str = "",
        dedupe_key: str = "",
    ) -> "HookCall":
        """The same call, as the end of a session."""
        fields: SessionEnd = {"reason": reason, "status": status, "duration_ms": duration_ms, "error": error}
        return self._as("session_end", present(fields), dedupe_key)

    def in_shared_session(self) -> None:
        """Note that others listen to the session."""
        fields: SessionStart = {"session_type": "shared"}
        self.fields = {**self.fields, **fields}

    def _as(self, event_type: "EventType", fields: "Mapping[str, object]", dedupe_key: str) -> "HookCall":
        self.type, self.fields, self.dedupe_key = event_type, fields, dedupe_key
        return self

    @property
    def cwd(self) -> str:
        """Where the agent works; "" where the host does not say."""
        roots = self.payload.get("workspace_roots")
        first = roots[0] if isinstance(roots, list) and roots else ""
        return text(self.payload, "cwd") or (first if isinstance(first, str) else "")

    @property
    def where(self) -> str:
        """`cwd`, else the directory the hook runs in, by its last name where it is gone meanwhile."""
        if self.cwd:
            return self.cwd
        try:
            return os.getcwd()
        except OSError:
            return os.environ.get("PWD") or "/"

    @property
    def project(self) -> str:
        """The project of `where`, "" for none; the way up to its root is walked once."""
        if self._project is None:
            self._project = project_root(self.where)
        return self._project

    @property
    def transcript(self) -> str:
        """The host's own record of the conversation; "" where it names none."""
        return text(self.payload, "transcript_path", "transcriptPath")

    @property
    def key(self) -> str:
        """Identity of this call among all others, the same for every registration that delivers it.

        Hosts disagree with themselves on the case of names, and on timestamps of one and the same moment.
        """
        what = self.name.lower() if self.type == "host_event" else self.type
        return (
            f"{self.agent}\n{self.session}\n{self.subagent}\n{what}\n{self.dedupe_key or self.after + self._content()}"
        )

    def _content(self) -> str:
        if self.type != "host_event":
            said: dict[str, object] = {**self.fields, "said": text(self.payload, *_LAST_WORDS)}
        else:
            said = self.payload if self.dedupe_text is None else {"gist": self.dedupe_text}
        try:
            return fastjson.dumps(said).decode()
        except ValueError:  # a number that JSON has no word for
            return repr(said)


_LAST_WORDS = ("last_assistant_message", "prompt_response")


def text(payload: Payload, *names: str) -> str:
    """The first of these fields that is a non-empty string, else ""."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def present(fields: "Fields") -> "Fields":
    """Those fields that say something, still of their type: what it must have is never empty."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}  # type: ignore[return-value]
