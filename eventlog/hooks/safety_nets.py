"""Four safety nets, cheapest first, so that important statements are saved and no agent is asked twice.

1  the context of a session's start explains how to save, in the turn that finishes a task;
2  before a compaction the agent is asked to save a stage, where the host shows it the answer, else right after it;
3  at the end of a session without a summary, one is extracted from the transcript (`eventlog settle`, detached);
4  at the end of a turn, or with the prompt after it, the agent is asked to save, once per conversation without saves.
"""

from eventlog.fast import os
from eventlog.hooks.record import envelope
from eventlog.hosts.call import HookCall
from eventlog.settings import cached
from eventlog.store import Store, conversation_name
from eventlog.store.append_once import append_once
from eventlog.store.files import read_regular, write_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from eventlog.format.payloads import SaveRequested
    from eventlog.hosts.call import HostProtocol

    StartContext = Callable[[Store, HookCall], str]  # builds the text a session starts with


def answer(
    store: Store,
    call: HookCall,
    dialect: "HostProtocol",
    start_context: "StartContext",
    *,
    new: "bool | None",
) -> bytes:
    """Answer the host after recording an event: `new`, False for a duplicate, None where it waits in the spool.

    A spooled event gets no request: the agent could not save either.
    """
    if new is False:
        from eventlog.hooks import duplicate_log

        duplicate_log.count_duplicate(store, "event")
    if call.subagent:
        given_context = start_context(store, call) if call.starts_helper and new else ""
        return dialect.start(given_context, call.name) if given_context else dialect.silent
    if new is not False and (call.type == "session_start" or call.owes_context or call.takes_context):
        context = _give_context(store, call, dialect, start_context)
        if context != dialect.silent:
            return context
    if call.type == "save_requested":
        from eventlog.hooks import prompts

        return dialect.flush(prompts.flush(store, call, cached.preferences(store)["locale"]))
    asks = call.asked or (call.failed and cached.wants_recall(store, "failure"))
    recalled = start_context(store, call) if asks and new else ""
    request = _request(store, call, dialect) if call.may_ask and new is not None else ""
    if recalled:
        return dialect.start("\n".join(filter(None, (recalled, request))), call.name)
    return dialect.ask(request) if request else dialect.silent


def _give_context(store: Store, call: HookCall, dialect: "HostProtocol", start_context: "StartContext") -> bytes:
    """Give the agent its context, now or at the first call whose answer it sees.

    A note says how the conversation went on until then. Whoever takes it away tells, so two registrations tell it once.
    """
    if call.type == "session_start" and not call.owes_context:
        return dialect.start(start_context(store, call))
    note = store.cached("late", conversation_name(call.session))
    if call.owes_context:
        write_note(note, call.owes_context.encode())
    elif source := _taken_away(note):
        call.payload, call.asked = {**call.payload, "source": source}, ""
        return dialect.start(start_context(store, call), call.name)
    return dialect.silent


def _taken_away(note: str) -> str:
    """Read and remove a note; "" where there is none, or another was faster."""
    try:
        noted = read_regular(note).decode(errors="replace")
        os.unlink(note)
    except OSError:
        return ""
    return noted


def note_and_start(store: Store, call: HookCall) -> None:
    """Note an open conversation, and start `eventlog settle` if it is due; costs a millisecond at most."""
    if call.subagent or call.type not in ("session_start", "turn_end", "session_end"):
        return
    from eventlog.hooks import background

    due = call.type == "session_end" or (call.type == "session_start" and _has_work(store))
    background.mark_open(store, call)
    if due:
        background.start_finalize(store)


def _has_work(store: Store) -> bool:
    """Return whether conversations ended, settings are not cached yet, or session hooks do more than log."""
    from eventlog.hooks import background

    hooks = cached.settings(store).get("session_hooks")
    enabled = [name for name, chosen in hooks.items() if _is_on(chosen)] if isinstance(hooks, dict) else []
    return background.has_open(store) or not cached.are_current(store) or any(name != "logging" for name in enabled)


def _is_on(chosen: object) -> bool:
    return bool(chosen.get("enabled", True) if isinstance(chosen, dict) else chosen)


def _request(store: Store, call: HookCall, dialect: "HostProtocol") -> str:
    """Build the request to save if all conditions hold; `append_once` decides between several hooks."""
    chosen = cached.preferences(store)
    if chosen["stop_fallback"] != "once" or dialect.ask("") == dialect.silent:
        return ""
    from eventlog.hooks.conversation import TooMuch, turns_unsaved

    try:
        turns = turns_unsaved(store, call.session)
    except TooMuch:
        return ""
    if turns is None or turns < chosen["min_turns"]:
        return ""
    fields: SaveRequested = {"trigger": "stop"}
    if not append_once(
        store, {**envelope(call, "save_requested"), **fields}, f"{call.agent}\n{call.session}\nsave_requested\nstop"
    ):
        return ""
    from eventlog.hooks import prompts  # most turns end without a request

    return prompts.ask(store, call, chosen["locale"])
