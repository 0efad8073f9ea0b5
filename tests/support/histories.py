"""Hypothesis strategies of whole histories: few conversations, projects and texts, so that everything meets."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st

from eventlog.format import codec, ids, timestamps
from eventlog.format.marks import digest_of, line_marks
from eventlog.log.event_log import EventLog
from tests.support import builders

DAYS = ("2026-02-19", "2026-02-20", "2026-02-21")
REPLICAS = ("", ".laptop", ".desk")

_texts = st.sampled_from(
    [
        "Use RS256",
        "use  rs256.",
        "ＵＳＥ ＲＳ256！",
        "Port 8443",
        "阶段摘要：写完",
        "写完。",
        "…",
        "\x1b[1mbold\x07",
        "a\u202eb",
        "x" * 600,
    ]
)
_few_texts = st.lists(_texts, max_size=2)
_common: dict[str, st.SearchStrategy] = {
    "conversation_id": st.sampled_from(["c", "../d", "会话"]),
    "project": st.sampled_from([None, "/p/shop", "/q/shop", "/p/写作"]),
    "agent": st.sampled_from([None, "codex", "cursor"]),
    "subagent": st.sampled_from([None, None, None, "helper"]),
    "layer": st.sampled_from([None, None, 1, 2, 3, 4]),
}
_fact: dict[str, st.SearchStrategy] = {
    "type": st.just("fact"), "content": _texts, "memory_type": st.sampled_from("WBO"), "key": st.sampled_from([None, None, "k", "K"]),
    "category": st.sampled_from([None, "decision", "lesson", "Style", "my style", "Notes"]), "importance": st.integers(1, 5),
    "confidence": st.sampled_from([0.5, 0.9]), "scope": st.sampled_from([None, "user", "project"]),
}  # fmt: skip
_summary: dict[str, st.SearchStrategy] = {
    "type": st.just("stage_summary"), "scope": st.sampled_from(["stage", "session"]), "topic": st.sampled_from(["", "Login"]),
    "summary": _texts, "decisions": _few_texts, "todos": _few_texts, "done": _few_texts,
}  # fmt: skip
_receipt: dict[str, st.SearchStrategy] = {
    "type": st.just("context_injected"), "digest": st.just("d"), "chars": st.just(9), "trigger": st.sampled_from(["start", "prompt", "file"]),
    "sources": st.just(["x", "y"]), "about": st.just([line_marks(["k", "z"]), line_marks(["other"])]),
}  # fmt: skip
_others: list[dict[str, st.SearchStrategy]] = [
    {"type": st.just("session_start")},
    {"type": st.just("turn_end")},
    {"type": st.just("save_requested"), "trigger": st.sampled_from(["stop", "pre_compact"])},
    {"type": st.just("session_end"), "reason": st.sampled_from([None, "clear"])},
    {"type": st.just("future")},
    {"type": st.just("host_event"), "name": st.sampled_from(["UserPromptSubmit", "PostToolUse"])},
    _receipt,
]
_entry: dict[str, st.SearchStrategy] = {
    "type": st.just("plan_entry"), "content": _texts.filter(str.isprintable),
    "key": st.fixed_dictionaries({"path": st.sampled_from(["user", "soul"]), "heading": st.sampled_from(["Tea", "Work"])}),
}  # fmt: skip
_kinds = (_fact, _fact, _summary, _summary, *_others)
_fields = st.one_of([st.fixed_dictionaries({**_common, **one}) for one in _kinds])
_fields_with_plans = st.one_of([st.fixed_dictionaries({**_common, **one}) for one in (*_kinds, _entry, _entry)])
# the event at that position, a conversation, or what anybody states
_withdrawn = st.tuples(st.sampled_from(["target"]), st.integers(0, 20)) | st.tuples(
    st.sampled_from(["conversation"]), _common["conversation_id"]
)
_withdrawal = st.tuples(st.sampled_from(["retraction", "rejected"]), _withdrawn) | st.tuples(
    st.just("rejected"),
    st.tuples(st.sampled_from(["statement", "", "5a17"]), _texts),  # or a salt
)


_LINKS = st.sampled_from(["retraction", "restored"])  # what takes back the one before


@st.composite
def histories(draw, max_size=10, *, plans=False):
    """Lines of a log, in no order; some have an id of another day, some withdraw what others said or withdrew."""
    said = draw(st.lists(_fields_with_plans if plans else _fields, min_size=1, max_size=max_size))
    chains = draw(st.lists(st.tuples(_withdrawal, st.lists(_LINKS, max_size=2)), max_size=2))
    many = said + [
        fields for position, chain in enumerate(chains) for fields in _chain(len(said) + 3 * position, *chain)
    ]
    clocks = draw(
        st.lists(st.tuples(st.sampled_from(DAYS), st.integers(0, 1439)), min_size=len(many), max_size=len(many))
    )
    stamps = [f"{day}T{minute // 60:02d}:{minute % 60:02d}:00.000000Z" for day, minute in clocks]
    homes = [draw(st.sampled_from([ts, ts, ts, f"{draw(st.sampled_from(DAYS))}T12:00:00.000000Z"])) for ts in stamps]
    names = [ids.derived(timestamps.to_ms(home), str(number)) for number, home in enumerate(homes)]
    lines = []
    for fields, ts, name in zip(many, stamps, names, strict=True):
        given = {key: value for key, value in fields.items() if value is not None}
        if "target" in fields:
            given["target"] = names[fields["target"] % len(names)]
        lines.append(codec.encode(codec.from_fields({**given, "ts": ts, "id": name})))
    return lines


def _chain(position, withdrawal, links):
    """A withdrawal, what takes that back, and so on, where the first of them is at that position; always three."""
    kind, (how, what) = withdrawal
    is_marked = how in ("", "5a17")
    aim = {"salt": how, "digest": digest_of(what, how)} if is_marked else {how: what}
    chain = [{"type": kind, **aim}]
    chain += [{"type": link, "target": position + number} for number, link in enumerate(links)]
    chain += [{"type": "retraction", "target": position + 2}] * (3 - len(chain))  # of itself, which does nothing
    return [{"conversation_id": "by-hand", **link} for link in chain]


def ts_of(line):
    return codec.decode(line).ts


@contextmanager
def a_log():
    """A log of one's own, gone at the end of the block; hypothesis runs a test many times in one `tmp_path`."""
    with tempfile.TemporaryDirectory() as directory:
        yield EventLog(Path(directory) / "store", fsync=False)


@contextmanager
def log_of(lines):
    """A log with these lines in the files of their days, in the order given."""
    with a_log() as log:
        write(log, lines)
        yield log


def write(log, lines, replicas=None):
    """Put lines into the files of their days: of the log itself, or of the replica named for each."""
    files: dict[str, list[bytes]] = {}
    for line, replica in zip(lines, replicas or [""] * len(lines), strict=True):
        files.setdefault(f"{ts_of(line)[:10]}{replica}.jsonl", []).append(line)
    for name, there in files.items():
        builders.write(log.store.log, b"".join(line + b"\n" for line in there), name)
