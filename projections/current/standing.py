"""The rules by which a statement stands: the statements that count, and what conversations came to; pure.

The one place that decides it, for the views and for the search.
Imported inside agents' hooks: standard library only.
"""

from eventlog.format import SESSION_END
from eventlog.format.ids import digest
from eventlog.format.text import joined, sentences_of, statement_line, statement_of, states_nothing
from eventlog.format.timestamps import counts_at, order
from eventlog.projections.search.words import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Protocol, TypeVar

    from eventlog.format.timestamps import Dated

    class _StatementLike(Dated, Protocol):
        """A statement: its key, if any, the `likeness` of its text, and of those that a correction made it replace."""

        @property
        def key(self) -> str | None: ...
        @property
        def same(self) -> bytes: ...
        @property
        def instead_of(self) -> Collection[bytes]: ...

    class _SaveLike(Dated, Protocol):
        """A summary, by whom and of what it is, with its open ends, and those it closes; "" for a rejected text."""

        @property
        def layer(self) -> object: ...
        @property
        def scope(self) -> str: ...
        @property
        def summary(self) -> str: ...
        @property
        def topic(self) -> str: ...
        @property
        def todos(self) -> Sequence[str]: ...
        @property
        def done(self) -> Sequence[str]: ...

    _Keyed = TypeVar("_Keyed", bound=_StatementLike)
    _Save = TypeVar("_Save", bound=_SaveLike)

WHOLE = "session"  # the scope of a summary of all its conversation
_LIKENESS = 12  # bytes
_OPPOSITES = frozenset(("not", "no", "on", "off", "up", "down", "in", "out", "before", "after"))  # not searched for
_HEX = frozenset("0123456789abcdef")


def likeness(text: str) -> bytes:
    """Digest what all wordings of a statement have in common: rows are stored by the thousand, texts are long."""
    return digest(statement_of(text), _LIKENESS)


def likenesses(digests: "Iterable[str]") -> tuple[bytes, ...]:
    """Read the likeness of statements as an event has it; what is none is left out."""
    return tuple([bytes.fromhex(text) for text in digests if len(text) == 2 * _LIKENESS and set(text) <= _HEX])


def same_todo(text: str) -> bytes:
    """Digest the words of a to-do, in any order and inflection."""  # agents seldom repeat it when they call it done
    plain = statement_of(text)
    words = {*tokens(plain), *_OPPOSITES.intersection(plain.split())}
    return digest(" ".join(sorted(words)) or plain, _LIKENESS)


def standing(in_order: "Collection[_Keyed]") -> "list[_Keyed]":
    """Leave out of the statements of a subject, oldest first, what a key or a correction has replaced since."""
    over, current = replaced(in_order), _current(in_order)
    return [
        each
        for each in in_order
        if (not each.key or current[each.key] == each.same) and not is_replaced(each.same, each, over)
    ]


def _current(in_order: "Iterable[_StatementLike]") -> dict[str, bytes]:
    return {statement.key: statement.same for statement in in_order if statement.key}


def replaced(in_order: "Collection[_Keyed]") -> "dict[bytes, _Keyed]":
    """Map each wording that none of its keys has any more, or that was corrected, to the statement in its place.

    The statements of a subject are oldest first.
    """
    last = {statement.key: statement for statement in in_order if statement.key}
    current = {statement.same for statement in last.values()}
    found: dict[bytes, _Keyed] = {}
    for statement in in_order if last else ():
        if statement.key and statement.same not in current:
            newer = last[statement.key]
            found[statement.same] = max(newer, found.get(statement.same, newer), key=order)
    for statement in in_order:
        for same in statement.instead_of:
            found[same] = max(statement, found.get(same, statement), key=order)
    return found


def is_replaced(same: bytes, event: "Dated", over: "Mapping[bytes, Dated]") -> bool:
    """Return whether a wording, corrected or without a key, was replaced after this event.

    Somebody who states it later has decided back: both stand.
    """
    return same in over and order(event) < order(over[same])


def not_replaced(texts: "Iterable[str]", event: "Dated", over: "Mapping[bytes, Dated]") -> list[str]:
    """List the texts of an event in whose place nothing stands since."""
    return [text for text in texts if not (over and is_replaced(likeness(text), event, over))]


def standing_text(text: str, event: "Dated", over: "Mapping[bytes, Dated]") -> str:
    """Leave out of a summary or a topic the sentences in whose place something stands since; "" where none is left."""
    if not over:
        return text
    if is_replaced(likeness(text), event, over):
        return ""
    sentences = sentences_of(text)
    remaining = not_replaced(sentences, event, over)
    return joined(remaining) if len(remaining) < len(sentences) else text


def stated_in(text: str) -> "set[bytes]":
    """Collect the likeness of a text, and of each of its sentences."""
    return {likeness(text), *map(likeness, sentences_of(text))}


def held_back(in_order: "Collection[_Keyed]", same: bytes) -> "list[_Keyed]":
    """List what would hold again of a subject's statements, oldest first, without those of a likeness.

    These are the earlier wordings of the keys under which it is the last, what says the same without a key, and what it
    was a correction of.
    """
    current = _current(in_order)
    wordings = {each.same for each in in_order if each.key and current[each.key] == same != each.same}
    wordings.update(*(each.instead_of for each in in_order if each.same == same))
    if not wordings:
        return []
    over = replaced(in_order)

    def is_held(each: "_Keyed") -> bool:
        by = current.get(each.key or "", each.same)
        return is_replaced(each.same, each, over) if by == each.same else by == same

    return [each for each in in_order if each.same in wordings and is_held(each)]


def by_event(statements: "Iterable[_Keyed]") -> dict[str, set[bytes]]:
    """Map the events behind statements to the likeness of what each states."""
    found: dict[str, set[bytes]] = {}
    for statement in statements:
        found.setdefault(statement.id, set()).add(statement.same)
    return found


def agents_own(saves: "Iterable[_Save]") -> "list[_Save]":
    """List the summaries an agent wrote, in the order given."""
    return [save for save in saves if save.layer != SESSION_END]


def counting_saves(in_order: "Iterable[_Save]") -> "list[_Save]":
    """Leave out the summaries drawn from the transcript in whose place a later one was drawn."""
    saves = list(in_order)
    newest = next((save for save in reversed(saves) if save.layer == SESSION_END), None)
    return [save for save in saves if save.layer != SESSION_END or save is newest]


def only_names(save: "_SaveLike") -> bool:
    """Return whether a summary was drawn for its topic alone: the conversation came to nothing else."""
    return save.layer == SESSION_END and save.summary == save.topic


def current_saves(worded: "Sequence[_Save]") -> "list[_Save]":
    """Choose, oldest first, those whose topic and text stand.

    The newest of the whole session that an agent wrote; else its stages; else the newest drawn from the transcript.
    """
    own = agents_own(worded)
    return [save for save in own if save.scope == WHOLE][-1:] or own or list(worded[-1:])


def open_todos(saves: "Sequence[_Save]") -> "tuple[_Save | None, set[bytes]]":
    """Find the save whose list of to-dos counts, oldest first, and digests of those that no later one calls done.

    A list drawn from the transcript counts where no agent made one.
    """
    naming = [save for save in saves if any(map(statement_line, save.todos))]
    lists = agents_own(naming) or naming
    if not lists:
        return None, set()
    remaining = {same_todo(text) for text in map(statement_line, lists[-1].todos) if not states_nothing(text)}
    later = saves[saves.index(lists[-1]) + 1 :]
    return lists[-1], remaining - {same_todo(text) for save in later for text in save.done}


def called_done(saves: "Iterable[_Save]") -> dict[bytes, str]:
    """Map the to-dos that saves call done, of whichever conversation, to when one last did."""
    done: dict[bytes, str] = {}
    for save in saves:
        for same in map(same_todo, save.done):
            done[same] = max(done.get(same, ""), counts_at(save))
    return done


def not_done(todos: "Iterable[str]", event: "Dated", done: "Mapping[bytes, str]") -> list[str]:
    """List the to-dos of an event that no save has called done since."""
    return [text for text in todos if done.get(same_todo(text), "") <= counts_at(event)]


def standing_saves(in_order: "Sequence[_Save]") -> "Iterator[tuple[_Save, str, str, list[str]]]":
    """Yield each summary of a conversation, oldest first, with what stands of its topic, its text and its to-dos.

    Its decisions stand, whatever came later; without its text under the topic of the summary that took its place.
    """
    in_order = counting_saves(in_order)
    worded = [save for save in in_order if save.summary and not only_names(save)]
    current = current_saves(worded)
    stages = (save for save in agents_own(worded) if save.scope != WHOLE)
    texts = {id(save) for save in (*current, *stages)}
    counting, remaining = open_todos(in_order)
    topic = current[-1].topic if current else ""
    for save in in_order:
        todos = [text for text in save.todos if same_todo(text) in remaining] if save is counting else []
        if id(save) in texts:
            yield save, save.topic, save.summary, todos
        else:
            yield save, topic, "", todos
