"""What every host's payload comes down to."""

import os

from eventlog import fastjson
from eventlog.project import project_root

Payload = dict[str, object]


class HookCall:
    """One call of a hook, in our words.

    `type` and `fields` are those of the event it becomes. Of the rest:

    dedupe_key     whatever the host itself tells calls apart by, "" where it has nothing
    dedupe_text    what the call says, where its host sends it in several shapes and gives it no key
    may_recur      without a key, a session may soon start or end again; then `after` is the event this call came after
    is_final       of a turn's end, whether the agent is really done: it was not interrupted, is not answering a hook,
                   and has nothing running in the background
    owes_context   how a conversation goes on whose agent is shown no answer now: "clear", "compact"
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
        self.type = "host_event"
        self.fields: dict[str, object] = {}
        self.is_final = True
        self._project = ""
        self.dedupe_text: object = None
        self.may_recur = False
        self.after = ""
        self.owes_context = ""
        self.takes_context = False

    def as_event(
        self, event_type: str, fields: dict[str, object], *, dedupe_key: str = "", is_final: bool = True
    ) -> "HookCall":
        """The same call, as an event with a meaning of its own."""
        self.type, self.fields, self.dedupe_key, self.is_final = event_type, fields, dedupe_key, is_final
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
        """The project of `where`; the way up to its root is walked once."""
        self._project = self._project or project_root(self.where)
        return self._project

    @property
    def transcript(self) -> str:
        """The host's own record of the conversation; "" where it names none."""
        return text(self.payload, "transcript_path", "transcriptPath")

    @property
    def key(self) -> str:
        """What tells this call from all others, also when several registrations deliver it.

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


def present(**fields: object) -> dict[str, object]:
    """Those fields that say something."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}
