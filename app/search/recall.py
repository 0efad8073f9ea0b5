"""Recall: lines that bear on a prompt, added to it; on most prompts nothing.

Before a file is opened, the facts that name it, and the decisions of sessions that changed it. After a command failed,
the command that passed after the same failure in another session.

At most a few lines, of this project or about the user, past the gate (`projections/search/ranking.py`), never what the
conversation was told or said itself, with a receipt. Whatever fails, the prompt is told nothing, and the failure is
noted.

Imported inside agents' hooks: standard library only, and the database only where a prompt is about something.
"""

from eventlog.fast import os
from eventlog.format import SESSION_END
from eventlog.format.fence import fenced, without_tags
from eventlog.format.marks import line_marks
from eventlog.format.text import cut, last_mention, one_line
from eventlog.hooks.deadline import OutOfTime
from eventlog.projections.search.findable import (
    CONVERSATION,
    files_in,
    names_of,
    speaks_of,
    text_in,
    texts_in,
    things_named,
)
from eventlog.projections.search.ranking import NEAR, Gate, asks_of_us, subjects
from eventlog.projections.search.words import tokens
from eventlog.settings import cached
from eventlog.store.append_once import SAME_CALL_MS, append_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Literal

    from eventlog.app.search.search_index import Hit, SearchIndex
    from eventlog.format.local_time import Local
    from eventlog.format.payloads import ContextInjected, Envelope
    from eventlog.hosts.call import HookCall
    from eventlog.store import Store

    Trigger = Literal["prompt", "file", "failure"]
    Verdict = Literal["told", "said already", "too little weight", "far below the first"]
    Recall = Callable[[Store, "RecallRequest", int], list[Hit]]
    Find = Callable[[SearchIndex, tuple[str, ...]], Iterable[Hit]]  # of the user and the project, by their subjects

_READ_OF_PROMPT = 4000  # characters; who pastes a log asks at its beginning
_LOOKED_AT, _OF_A_FILE, _ALIKE = 12, 24, 4  # hits
_FACTS, _STATING, _DONE = ("fact",), ("fact", "stage_summary"), ("conversation_text",)
_OF_FEW = 50  # texts that have a word by which a fact may oppose another
_MANY_SHARED = 3  # of these words: two are shared by chance, where no word of the prompt is
_MAX_ROWS = 500  # of the index; a prompt waits for so many to be ranked, and for those that decide
_LINE = 300  # characters
_PATIENCE = 0.2  # seconds another writer of the index is waited for
_MAX = 4 << 20  # bytes of the log that are read while a person waits


class RecallRequest:
    """A prompt, or the path of a file; in which project and conversation it was asked; others may listen, too."""

    def __init__(self, prompt: str, project: str, conversation: str, agent: str = "", *, shared: bool = False) -> None:
        self.prompt = prompt
        self.project = project
        self.conversation = conversation
        self.agent = agent
        self.shared = shared


def at_prompt(store: "Store", call: "HookCall") -> str:
    """Build the lines for a prompt, and put their receipt into the log; "" for nothing. Never raises.

    Before a file is opened, or after a command failed, the same of that.
    """
    if call.file:
        return _tell(store, call, _below(call.file, call.project), about_file, "file")
    if call.failed:
        from eventlog.hosts.transcripts.failures import signature

        return _tell(store, call, signature(*call.failed) if call.project else "", _fix_of, "failure")
    return _tell(store, call, call.asked if cached.wants_recall(store, "prompt") else "", recall, "prompt")


def _tell(store: "Store", call: "HookCall", prompt: str, find: "Recall", trigger: "Trigger") -> str:
    """Word what is found, and put its receipt into the log; "" for nothing. Never raises."""
    if not prompt:
        return ""
    request = RecallRequest(prompt, call.project, call.session, call.agent, shared=call.shared)
    try:
        hits = find(store, request, chosen_lines(store))
        chosen = cached.preferences(store)
        text = recall_text(hits, chosen["locale"], request.conversation, _clock(store, chosen["timezone"]))
        return text if text and append_receipt(store, request, hits, text, trigger) else ""
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - an agent without memory is better than none
        from eventlog.hooks.record import note

        note(store, error, b"", call.agent)
        return ""


def chosen_lines(store: "Store") -> int:
    """Read how many lines the user wants at most."""
    chosen = cached.settings(store).get("recall")
    return int(str(chosen.get("lines", 3))) if isinstance(chosen, dict) else 3


def recall(store: "Store", request: RecallRequest, lines: int) -> "list[Hit]":
    """Find what bears on a prompt and was not shown yet, the newest first; raises OSError or DatabaseError."""
    subject = subject_of(request.prompt)
    if not subject:
        return []
    hits = _search_for(store, request, lines, lambda index, projects: _bearing(index, request.prompt, projects))
    figures = frozenset(token for token in subject if token.isdecimal())  # who asks for a number wants that one
    hits.sort(key=lambda hit: (len(figures.intersection(tokens(hit.found.words))), hit.last_at), reverse=True)
    return hits


def _search_for(store: "Store", request: RecallRequest, lines: int, find: "Find") -> "list[Hit]":
    """Find what the conversation does not know, among things of the user and of the project."""
    from eventlog.app.search.open_index import open_index

    try:
        index = open_index(store, patience=_PATIENCE, limit=_MAX)
    except ValueError:  # more than a person waits for; the end of a session catches up
        return []
    hits: list[Hit] = []
    seen = None
    try:
        for hit in find(index, index.names.subjects_at(request.project)):
            from eventlog.app.search.already_known import AlreadyKnown  # for most prompts nothing is found

            seen = seen or AlreadyKnown(store, request.conversation, index.log_files(), shared=request.shared)
            hits += [hit] if seen.lacks(hit) else []
            if len(hits) >= lines:  # what is behind is not looked at further
                break
    finally:
        index.close()
    for hit in hits:
        word(store, request.project, hit)
    return hits[:lines]


def word(store: "Store", project: str, hit: "Hit") -> None:
    """Write the line of a hit, and find the files it names that are gone from the project."""
    hit.line = _line(hit)
    if not hit.subject or not project:
        return
    words = (word.strip("`'\"()[]{},;:!?").rstrip(".").removeprefix("./") for word in hit.line.split())
    names = dict.fromkeys(name for name in words if "." in name[1:-1] and files_in([name.lower()]))
    if missing := [name for name in names if not os.path.exists(f"{project}/{name}")]:
        from eventlog.app.search.gone_files import gone

        hit.gone = gone(store, project, missing)


def line_of(hit: "Hit", locale: str) -> str:
    """Return the line of a hit, within bounds, with what is gone of the files it names."""
    if not hit.gone:
        return hit.line
    from eventlog.app.search.gone_files import worded
    from eventlog.format import timestamps

    note = worded(hit.gone, locale, timestamps.from_ns(timestamps.system_clock())[:4])
    return cut(hit.line, _LINE - len(note)) + note


def _clock(store: "Store", timezone: str) -> "Local":
    if timezone == "UTC":
        return str
    from eventlog.app.build.zone_offsets import read_offsets
    from eventlog.format.local_time import local_time

    return local_time(timezone, read_offsets(store, timezone))


def recall_text(hits: "Sequence[Hit]", locale: str, conversation: str = "", local: "Local" = str) -> str:
    """Word what was found, with its dates on those clocks and ids, in a fence of its own."""
    if not hits:
        return ""
    days = (last_mention(local(hit.last_at), hit.times, is_doubtful=hit.is_doubtful) for hit in hits)
    lines = (f"    - [{day} {hit.found.id[-8:]}] {line_of(hit, locale)}" for day, hit in zip(days, hits, strict=True))
    return fenced("prompt", without_tags("\n".join(lines)), locale, conversation)


def append_receipt(
    store: "Store", request: RecallRequest, hits: "Sequence[Hit]", text: str, trigger: "Trigger" = "prompt"
) -> bool:
    """Append the receipt; False where another registration was first. Raises NotStored."""
    from eventlog.fast.sha import sha256
    from eventlog.hosts.call import present

    envelope: Envelope = {
        "type": "context_injected",
        "conversation_id": request.conversation,
        "project": request.project,
        "agent": request.agent,
    }
    digest = sha256(text.encode("utf-8", "replace"))
    event: ContextInjected = {
        "digest": digest,
        "chars": len(text),
        "trigger": "file" if trigger == "file" else "prompt",
        "sources": [hit.found.id for hit in hits],
        "lines": line_marks(hit.found.shown for hit in hits),
        "about": [
            things_named(texts_in(hit.fields, "entities"), text_in(hit.fields, "key"), hit.found.shown) for hit in hits
        ],
    }
    if trigger != "prompt":
        event[trigger] = request.prompt
    key = f"recall\n{request.conversation}\n{digest}"
    return append_once(store, {**present(envelope), **event}, key, within_ms=SAME_CALL_MS)


def _bearing(index: "SearchIndex", prompt: str, projects: tuple[str, ...]) -> "Iterator[Hit]":
    """Yield what bears on a prompt, each statement once, and a conversation again for what else it decided."""
    gate, hits = candidates(index, prompt, projects)
    for hit, verdict in judged(index, gate, hits):
        if verdict == "told":
            hit.weights = gate.weights
            yield hit


def judged(index: "SearchIndex", gate: "Gate", hits: "Iterable[Hit]") -> "Iterator[tuple[Hit, Verdict]]":
    """Pair what is found, best first, with whether it is to be shown; a session by its better text.

    Before a fact comes the newest that opposes it, in whichever words, and before a session what has replaced a fact of
    it: alone, the older would be taken for what holds. So would what a session only answered, by what held then: it
    comes last, unless anything that is told was stated since, and nothing is measured by how it repeats its question.
    """
    seen: set[str] = set()
    minimum, newest = 0.0, ""
    answers: list[Hit] = []
    for hit in hits:
        if not hit.found.leave_out(seen) or hit.found.names <= seen:
            yield hit, "said already"
        elif hit.score < minimum:
            yield hit, "far below the first"
        elif not gate.bears_on(tokens(hit.found.telling)):
            yield hit, "too little weight"
        elif _only_answers(index, better := index.in_full(hit)):
            seen |= better.found.names
            answers.append(better)
        else:
            minimum = minimum or NEAR * hit.score
            for newer in _opposing(index, better, gate):
                if not newer.found.names <= seen:
                    seen |= newer.found.names
                    newest = max(newest, newer.last_at)
                    yield index.in_full(newer), "told"
            seen |= hit.found.names | better.found.names
            newest = max(newest, better.last_at)
            yield better, "told"
    for answer in answers:
        yield answer, "told" if answer.last_at > newest else "said already"


def _only_answers(index: "SearchIndex", hit: "Hit") -> bool:
    """Return whether a session changed, decided and saved nothing."""
    found = hit.found
    if found.type != "conversation_text" or found.files or found.decisions or found.fixes:
        return False
    stated = (*index.of_conversation(found.conversation), *index.replacing(found.conversation))
    return all(each.found.type == found.type or each.fields.get("layer") == SESSION_END for each in stated)


def _opposing(index: "SearchIndex", hit: "Hit", gate: "Gate") -> "list[Hit]":
    """Find the newest fact that opposes a fact, if any; of all, not only of those with words of the prompt.

    Of the facts that have replaced or oppose one of a session, the one that has most of the prompt.
    """
    if hit.found.type not in CONVERSATION:
        return _opposing_fact(index, hit)
    since = hit.found.after or hit.found.ts
    near = NEAR * gate.weight(tokens(hit.found.words))  # else that fact is not what it answers by
    stated = (fact for fact in index.of_conversation(hit.found.conversation) if fact.subject == hit.subject)
    answering = (fact for fact in stated if gate.weight(tokens(fact.found.words)) >= near)
    opposing = [newer for each in (*answering, hit) for newer in _opposing_fact(index, each)]
    facts = (each for each in (*opposing, *index.replacing(hit.found.conversation)) if each.subject == hit.subject)
    weights = {gate.weight(tokens(each.found.words)): each for each in facts if each.last_at > since}
    best = max(weights, default=0.0)
    hit.newer += [weights[best]] if best else []
    return hit.newer


def _opposing_fact(index: "SearchIndex", hit: "Hit") -> "list[Hit]":
    from eventlog.app.search.search_index import Scope

    types = _FACTS if hit.found.type == "fact" else _STATING
    words = tokens(hit.found.words) if hit.found.type in types else ()
    rare = {word: count for word, count in index.having(words).items() if 0 < count <= _OF_FEW}
    found = index.find(rare, "", Scope((hit.subject,), types), _ALIKE) if len(rare) >= _MANY_SHARED else []
    newer = next((same.newer for same in found if same.found.names == hit.found.names), [])
    certain = [each for each in newer if len(rare.keys() & tokens(each.found.words)) >= _MANY_SHARED]
    hit.newer += certain
    return sorted(certain, key=lambda each: each.last_at)[-1:]


def candidates(index: "SearchIndex", prompt: str, projects: "Collection[str] | None") -> "tuple[Gate, list[Hit]]":
    """Find the gate of a prompt, and the things that are looked at before it; of any project where None is named."""
    from eventlog.app.search.search_index import Scope

    gate = gate_of(index, prompt)
    terms = gate.asked(_MAX_ROWS)
    scope = Scope(projects)
    units = None if gate.is_met_by_one() else index.sharing(terms, gate.counted, scope)
    return gate, index.find(terms, "", scope, _LOOKED_AT, units)


def gate_of(index: "SearchIndex", prompt: str) -> Gate:
    """Make the gate of a prompt, by all that the index has."""
    return Gate.of(subject_of(prompt), index.having, index.texts(), is_of_us=asks_of_us(prompt))


def subject_of(prompt: str) -> list[str]:
    """List the tokens that name the subject of a prompt."""
    return subjects(tokens(prompt[:_READ_OF_PROMPT]))


def _line(hit: "Hit") -> str:
    """Return the line of it, within bounds, without what acts on a terminal or hides."""
    whole = one_line(hit.found.shown)
    if not hit.weights or (hit.found.type == "fact" and len(whole) <= _LINE):
        return cut(whole, _LINE)
    from eventlog.projections.search.recalled_line import recalled_line

    return recalled_line(hit.found, hit.weights)


def _below(path: str, project: str) -> str:
    """Write a path as it lies below the project; "" where it does not."""
    full = os.path.normpath(path if path.startswith("/") else f"{project}/{path}")
    inside = full.removeprefix(f"{project.rstrip('/')}/")
    return inside if inside != full else ""


def about_file(store: "Store", request: RecallRequest, lines: int) -> "list[Hit]":
    """Find what was decided about the file `request.prompt` names, newest first; raises OSError or DatabaseError."""
    return _search_for(store, request, lines, lambda index, projects: _decided(index, request.prompt, projects))


def _decided(index: "SearchIndex", path: str, projects: tuple[str, ...]) -> "Iterator[Hit]":
    """Yield what names the file, and the decisions of sessions that changed it, each once."""
    from eventlog.app.search.search_index import Scope

    names = index.having(names_of(path))
    stating = (hit for hit in index.find(names, "", Scope(projects, _STATING), _OF_A_FILE) if hit.found.statements)
    named = [hit for hit in stating if speaks_of(set(tokens(hit.found.words)), path)]
    done = index.find(names, "", Scope(projects, _DONE), _OF_A_FILE)
    touched = [hit for hit in done if any(speaks_of({file.casefold()}, path) for file in hit.found.files)]
    theirs = [hit for hit_of_file in touched for hit in index.of_conversation(hit_of_file.found.conversation)]
    summaries = [hit for hit in theirs if hit.found.decisions and hit.subject in projects]
    seen: set[str] = set()
    for hit in _newest_first([*named, *summaries]):
        if hit.found.leave_out(seen):
            seen |= hit.found.statements
            hit.found.shown = hit.found.decided or hit.found.shown
            yield hit


def _newest_first(hits: "Sequence[Hit]") -> "list[Hit]":
    return sorted(hits, key=lambda hit: (hit.found.after or hit.found.ts, hit.found.id), reverse=True)


_PASSED = {"en": "`{}` passed after this", "zh": "此后 `{}` 通过"}


def _fix_of(store: "Store", request: RecallRequest, lines: int) -> "list[Hit]":
    """Find the command that passed after a failure of this signature, last in this project; raises as `recall`."""
    form = _PASSED.get(cached.preferences(store)["locale"], _PASSED["en"])
    return _search_for(
        store, request, min(lines, 1), lambda index, projects: _fixes(index, request.prompt, projects[-1:], form)
    )


def _fixes(index: "SearchIndex", failure: str, projects: "Collection[str]", form: str) -> "Iterator[Hit]":
    """Yield the sessions that have a fix which any agent may repeat, newest first."""
    from eventlog.app.search.search_index import Scope
    from eventlog.hosts.transcripts.failures import repeatable

    having = index.having([failure])
    hits = index.find(having, "", Scope(projects, _DONE), _OF_A_FILE) if any(having.values()) else []
    for hit in _newest_first(hits):
        if passed := repeatable(hit.found.fixes.get(failure, "")):
            hit.found.shown = form.format(passed)
            yield hit
