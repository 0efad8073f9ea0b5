"""A call of a hook, in the same terms for every host; and the protocol by which a host calls and is answered."""

from eventlog.fast import fastjson, os
from eventlog.projects.root import project_root
from eventlog.store.files import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from typing_extensions import Unpack

    from eventlog.format.payloads import EventType, SaveRequested, SessionEnd, SessionStart, StageSummary, TurnEnd

    Fields = TypeVar("Fields", bound=Mapping[str, object])
    _Groups = tuple[tuple[str, ...], ...]
    MemoryFiles = tuple[_Groups, _Groups, bool]  # below the project, below the home; whether `@path` imports others

Payload = dict[str, object]


class HookCall:
    """A call of a hook, in the same terms for every host."""

    type: "EventType" = "host_event"  # of the event it becomes
    dedupe_text: object = None  # the text of the call, where its host sends it in several shapes and without a key
    may_recur = False  # without a key, a session may soon start or end again
    after = ""  # then: the event before this call
    # the agent may be asked to save: at the end of a turn that is really over (not interrupted, no answer to a hook,
    # nothing running in the background), or at a prompt, where a host shows its agent no answer at the end of a turn
    may_ask = False
    owes_context = ""  # how the conversation continues whose agent is not shown an answer now: "clear", "compact"
    takes_context = False  # the answer reaches the agent, and may contain an owed context
    asked = ""  # the user's prompt, where the answer reaches the agent with it
    file: "str | None" = None  # before a tool, where the answer reaches the agent: the file it opens, "" for none
    failed: "tuple[str, str] | None" = None  # a command that failed and its output, where the answer reaches the agent
    shared = False  # others than the user read the session
    starts_helper = False  # a subagent starts, and the answer reaches it
    by_machine = False  # a prompt that the host made: a notification, a wake-up
    process = ""  # the host's process, as the start of the conversation noted it
    is_retry = False  # the process that took this call died, recorded or not, before it had answered
    _project: "str | None" = None

    def __init__(
        self, agent: str, name: str, payload: Payload, *, session: str, dedupe_key: str = "", subagent: str = ""
    ) -> None:
        self.agent = agent
        self.name = name
        self.payload = payload
        self.session = session
        self.dedupe_key = dedupe_key  # the host's own key of the call, "" for none
        self.subagent = subagent
        self.fields: Mapping[str, object] = {}  # of the event it becomes

    def as_session_start(self, *, dedupe_key: str = "", **fields: "Unpack[SessionStart]") -> "HookCall":
        """Make the call the start of a session: these fields, and all others as most hosts name them."""
        source, model = text(self.payload, "source"), text(self.payload, "model")
        found: SessionStart = {"source": source, "model": model, "transcript_path": self.transcript, **fields}
        return self._as("session_start", found, dedupe_key)

    def as_turn_end(self, *, dedupe_key: str = "", may_ask: bool = True, **fields: "Unpack[TurnEnd]") -> "HookCall":
        """Make the call the end of a turn."""
        self.may_ask = may_ask
        return self._as("turn_end", fields, dedupe_key)

    def as_compaction(
        self, *, context_usage_percent: "float | None" = None, message_count: "int | None" = None, dedupe_key: str = ""
    ) -> "HookCall":
        """Make the call a request to save, before a compaction."""
        fields: SaveRequested = {
            "trigger": "pre_compact",
            "context_usage_percent": context_usage_percent,
            "message_count": message_count,
        }
        return self._as("save_requested", fields, dedupe_key)

    def as_session_end(self, *, dedupe_key: str = "", **fields: "Unpack[SessionEnd]") -> "HookCall":
        """Make the call the end of a session."""
        return self._as("session_end", fields, dedupe_key)

    def as_prompt(self, prompt: str, *, source: str = "", dedupe_key: str = "") -> "HookCall":
        """Make the call a prompt of the user, or of a machine: that is no turn of the user's, and no question."""
        prompt = typed(prompt)
        self.by_machine = source not in _PEOPLE or not_the_user(prompt)
        self.name, self.asked = (MACHINE_PROMPT, "") if self.by_machine else (self.name, prompt)
        self.dedupe_key = dedupe_key
        return self

    def as_stage(self, summary: str) -> "HookCall":
        """Make the call a summary of the stage that a compaction ended."""
        fields: StageSummary = {"scope": "stage", "summary": summary}
        return self._as("stage_summary", fields, "")

    def as_failure(self, output: str) -> "HookCall":
        """Make the call the failure of a command, if its tool runs commands."""
        arguments = self.payload.get("tool_input")
        command = arguments.get("command") if isinstance(arguments, dict) else None
        self.failed = (command, output) if isinstance(command, str) else None
        return self

    def as_host_event(self) -> "HookCall":
        """Make the call an event of the host without a meaning of its own."""
        self.may_ask = False
        return self._as("host_event", {}, self.dedupe_key)

    def begun_in(self, project: str) -> None:
        """Set the project in which the conversation began: its agent may work elsewhere by now."""
        self._project = project

    def in_shared_session(self) -> None:
        """Mark the session as shared, in the log with its start, and with a call that takes a context."""
        self.shared = True
        if self.type == "session_start" or self.takes_context:
            fields: SessionStart = {"session_type": "shared"}
            self.fields = {**self.fields, **fields}

    def _as(self, event_type: "EventType", fields: "Mapping[str, object]", dedupe_key: str) -> "HookCall":
        self.type, self.fields, self.dedupe_key = event_type, present(fields), dedupe_key
        return self

    @property
    def cwd(self) -> str:
        """Return the agent's working directory; "" where the host does not name it."""
        roots = self.payload.get("workspace_roots")
        first = roots[0] if isinstance(roots, list) and roots else ""
        return text(self.payload, "cwd") or (first if isinstance(first, str) else "")

    @property
    def where(self) -> str:
        """Return `cwd`, else the directory the hook runs in, by its last name if it was removed."""
        if self.cwd:
            return self.cwd
        try:
            return os.getcwd()
        except OSError:
            return os.environ.get("PWD") or "/"

    @property
    def project(self) -> str:
        """Return the project of `where`, "" for none; cached."""
        if self._project is None:
            self._project = project_root(self.where)
        return self._project

    @property
    def transcript(self) -> str:
        """Return the host's transcript of the conversation; "" for none."""
        return text(self.payload, "transcript_path", "transcriptPath")

    @property
    def is_settled(self) -> bool:
        """Return whether the turn is over: it answers no hook's request, and nothing runs in the background."""
        return not self.payload.get("stop_hook_active") and not self.payload.get("background_tasks")

    @property
    def key(self) -> str:
        """Return the key of this call, equal for all registrations that deliver it.

        A host may send the same event under names of different case, and with different timestamps.
        """
        what = self.name.lower() if self.type == "host_event" else self.type
        return (
            f"{self.agent}\n{self.session}\n{self.subagent}\n{what}\n{self.dedupe_key or self.after + self._content()}"
        )

    def _content(self) -> str:
        if self.type != "host_event":
            content: dict[str, object] = {**self.fields, "said": text(self.payload, *_CLOSING)}
        else:
            content = self.payload if self.dedupe_text is None else {"gist": self.dedupe_text}
        try:
            return fastjson.dumps(content).decode()
        except ValueError:  # a number that JSON cannot write
            return repr(content)


class HostProtocol:
    """Reads the payloads of a host and answers it: here as most hosts do it, for hosts without a room.

    A room derives its own. Every answer is the whole of stdout; how a host without a room wants it is not known.
    """

    silent = b""  # the answer that asks for nothing
    prompt: "str | None" = None  # the event of a prompt whose hook may add context
    session_variable = ""  # of the environment: where the agent's shell commands find their conversation's id
    most_at_start = "utf-8", 0  # of the text a session starts with, as so many bytes in that encoding; 0: any
    memory: "MemoryFiles" = (), (), False  # the files it gives its agent by itself: of each group, the first there
    servers = "", "", "", ""  # of MCP: a variable for their directory, its default, the user's file, the project's
    runs_servers_of_plugins_too = False  # beside a server of the same name in its own files

    def __init__(self, agent: str) -> None:
        self.agent = agent  # its name in the log

    def read(self, payload: Payload, name: str) -> HookCall:
        """Make a call of a payload."""
        session = text(payload, "session_id", "sessionId", "trajectory_id", "conversation_id", "conversationId")
        subagent, tool = text(payload, "agent_id", "agentId"), text(payload, "tool_use_id", "tool_call_id")
        call = HookCall(self.agent, name, payload, session=session, dedupe_key=tool, subagent=subagent)
        turn = text(payload, "turn_id", "execution_id")
        match name[:1].lower() + name[1:]:
            case "sessionStart" | "session_start" | "agentSpawn":
                return call.as_session_start()
            case "stop" | "agentStop" | "afterAgent" | "post_cascade_response":
                return call.as_turn_end(turn_id=turn, status="completed", dedupe_key=turn)
            case "sessionEnd" | "session_end":
                return call.as_session_end(reason=text(payload, "reason"))
        return call

    def start(self, context: str, event: str = "SessionStart") -> bytes:
        """Give a session its context, at its start or at another event whose answer reaches the agent."""
        del context, event
        return self.silent

    def ask(self, request: str) -> bytes:
        """Make the agent continue with a request at the end of a turn, or add it to the next prompt."""
        del request
        return self.silent

    def flush(self, request: str) -> bytes:
        """Answer before a compaction; `silent` where no model reads the answer."""
        del request
        return self.silent

    def for_others(self) -> "HostProtocol":
        """Return the protocol for hosts that run the hooks of this one's settings."""
        return self

    def conversation_of_call(self, meta: Payload) -> str:
        """Find the conversation the host names with a call of an MCP tool, in its `_meta`; "" for none."""
        del meta
        return ""

    def newest_transcript(self, where: str, environ: "Mapping[str, str]") -> str:
        """Find the transcript the host wrote last of its sessions in a directory; "" where it keeps none."""
        del where, environ
        return ""

    @staticmethod
    def newest_file(directory: str) -> str:
        """Find the `.jsonl` file of a directory that was written last, as a resumed conversation is; "" for none."""
        try:
            with os.scandir(directory) as entries:
                files = [(entry.stat().st_mtime_ns, entry.path) for entry in entries if entry.name.endswith(".jsonl")]
        except OSError:
            return ""
        return max(files, default=(0, ""))[1]

    def server_files(self, home: str, project: str, environ: "Mapping[str, str]") -> tuple[str, str]:
        """Find the files of the user's and of the project's MCP servers; "" where the host reads none."""
        variable, directory, of_user, of_project = self.servers
        place = environ.get(variable) or os.path.join(home, directory)
        return of_user and os.path.join(place, of_user), of_project and os.path.join(project, of_project)

    def has_tools(self, project: str) -> bool:
        """Return whether the host starts our MCP server in a project, so that its agent has our tools.

        A plugin brings its server along with its hooks, and says so in the environment.
        """
        return _PLUGIN in os.environ or self._registers_server(project)

    def has_second_server(self, project: str) -> bool:
        """Return whether a plugin's server runs beside the server of the host's own files.

        Most hosts start a single server of a name.
        """
        return self.runs_servers_of_plugins_too and _PLUGIN in os.environ and self._registers_server(project)

    def _registers_server(self, project: str) -> bool:
        """Return whether the host's own files register our MCP server in a project.

        A person may take the server out of them. They are searched, not parsed, because a session waits.
        """
        paths = filter(None, self.server_files(os.path.expanduser("~"), project or "/", os.environ))
        registered = (read(path) or b"" for path in paths)
        return any(script in data for data in registered for script in _SERVER_SCRIPTS)


_PLUGIN = "EVENTLOG_PLUGIN"  # in the environment of what a plugin starts
_SERVER_SCRIPTS = b"/eventlog/cli/mcp/start.py", rb"\\eventlog\\cli\\mcp\\start.py"  # in JSON and TOML

MACHINE_PROMPT = "MachinePrompt"  # the name, in the log, of a prompt that a host made
_PEOPLE = (
    "",
    "user",
    "sdk",
)  # a prompt's source, as Claude Code names it; editors send their users' prompts by the sdk
_NOT_THE_USER = ("<task-notification>", "<local-command", "<command-name>", "<command-message>", "<system-reminder>",
                 "<agent-notification>", "<bash-notification>", "<bash-input>", "<bash-stdout>",
                 "Operation stopped by hook", "This session is being continued from a previous conversation",
                 "Caveat: The messages below", "[Request interrupted", "Stop hook feedback:",
                 "System: Please continue.")  # fmt: skip


def not_the_user(prompt: str) -> bool:
    """Return whether a host made what stands in the place of a user's prompt, in a hook's call or in a transcript."""
    return prompt.lstrip().startswith(_NOT_THE_USER)


_INIT = ("an AI agent that brings the power of", "an interactive CLI agent. Analyze the current directory",
         "Generate a file named AGENTS.md that serves as a contributor guide",
         "file, which will be given to future instances of",
         "Please analyze this codebase and create an AGENTS.md file containing",
         "Create or update `AGENTS.md` for this repository")  # fmt: skip
_WITHIN = 200  # characters
_BEFORE = "# Context from my IDE setup:", "# Files mentioned by the user:", "<in-app-browser-context"  # Codex
_REQUEST = "\n## My request for "
PLANS = ("Implement the following plan:", "PLEASE IMPLEMENT THIS PLAN:")  # how Claude Code and Codex hand one back
_HANDED_OVER = "A previous agent produced the plan below"  # Codex, into a new conversation
_OF_BMAD = "must fully embody this agent's persona", "IT IS CRITICAL THAT YOU FOLLOW THESE STEPS - while staying in"
_INPUT, _OBEYED = "## User Input\n\n```text\n", "\n```\n\nYou **MUST** consider the user input before proceeding"
_NO_INPUT = ("", "$ARGUMENTS", "{{args}}")
_FOR_AT = "\n--- Content from referenced files ---\n"  # for `@file`, in Gemini CLI and Qwen Code
_BELOW = ("\nCurrent File Path:\n```", "\nUser Selected Files:\n- ", "\n PRIOR CHAT HISTORY: ", _FOR_AT)


def typed(prompt: str) -> str:
    """Return what the user typed: the name of a command for the text it stands for, nothing an editor or host adds."""
    begins = prompt[:_WITHIN]
    if any(words in begins for words in _INIT):
        return "/init"
    if any(words in begins for words in _OF_BMAD):
        return "/bmad"
    if begins.lstrip().startswith(_INPUT):  # a command of Spec Kit
        given, obeyed, _ = prompt.lstrip().removeprefix(_INPUT).partition(_OBEYED)
        given = given.strip()
        return prompt if not obeyed else "/speckit" if given in _NO_INPUT else given
    if prompt.startswith(_HANDED_OVER):
        return "\n\n".join((PLANS[0], prompt.partition("\n\n")[2]))
    lines = f"\n{prompt}"
    ends = [at for words in _BELOW if (at := lines.find(words)) >= 0]
    before = lines[1 : min(ends)] if ends else ""
    prompt = before if before.strip() else prompt
    if prompt.lstrip().startswith(_BEFORE):
        return prompt.partition(_REQUEST)[2].partition(":")[2].strip() or prompt
    while prompt.startswith("<ide_"):  # a file that was opened, a selection
        _, closed, rest = prompt.partition(f"</{prompt[1:].partition('>')[0]}>")
        if not closed:
            break
        prompt = rest.lstrip()
    return prompt


_CLOSING = ("last_assistant_message", "prompt_response")


def text(payload: Payload, *names: str) -> str:
    """Return the first of these fields that is a non-empty string, else ""."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def present(fields: "Fields") -> "Fields":
    """Return the fields that are not empty, with their type: required fields never are."""
    return {name: value for name, value in fields.items() if value is not None and value != ""}  # type: ignore[return-value]
