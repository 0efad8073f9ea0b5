"""Users at work for some months, and their events split over files in every way: by the hour, at random, and twice."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from eventlog.format import codec, ids, timestamps
from eventlog.log.event_log import EventLog

FIRST = datetime(2025, 3, 1, tzinfo=UTC)
_WORDS = ("cart", "price", "token", "cache", "retry", "缓存", "worker", "parser", "cents", "Straße")


def events_of(user, count, days):
    """The lines of a user, with the hour of each, in the order of their times."""
    chance = random.Random(user)
    told: list[tuple[str, str]] = []
    for number in range(count):
        start = FIRST + timedelta(days=days * number / count, seconds=chance.random())
        ts = start.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        home = ts if chance.random() < 0.98 or not told else told[0][0]
        event_id = ids.derived(timestamps.to_ms(home), f"{user} {number}")
        fields = {**_fields(chance, [one for _, one in told[-50:]]), "ts": ts, "id": event_id}
        fields["conversation_id"] = f"{user}-{number // 40}"
        fields["project"] = f"/home/{user}/{chance.choice(('shop', 'blog'))}"
        fields["agent"] = chance.choice(("codex", "cursor"))
        told.append((ts, event_id))
        yield ts, codec.encode(codec.from_fields(fields))


def _fields(chance, earlier):
    words = " ".join(chance.choices(_WORDS, k=6))
    key = {"path": "user", "heading": chance.choice(("Tea", "Editor"))}
    said = [
        {"type": "fact", "content": words, "key": chance.choice((None, "port", "tea"))},
        {"type": "fact", "content": words, "subagent": "helper"},
        {"type": "stage_summary", "scope": "session", "topic": words[:20], "summary": words, "todos": [words]},
        {"type": "turn_end"},
        {"type": "retraction", "target": chance.choice(earlier)} if earlier else {"type": "turn_end"},
    ]
    tool = {
        "type": "host_event",
        "name": "PostToolUse",
        "payload": {"tool_name": "Bash", "tool_input": {"command": words}},
    }
    plan = {"type": "plan_entry", "key": key, "content": words}
    return plan if chance.random() < 0.005 else chance.choice([*said, *[tool] * 6])


def _by_hour(chance, ts):
    return [f"{ts[:10]}.h{ts[11:13]}.jsonl"]


def _at_random(chance, ts):
    return [f"{ts[:10]}{chance.choice(('', '.a', '.b', '.c'))}.jsonl"]


def _with_copies(chance, ts):
    files = [f"{ts[:10]}{replica}.jsonl" for replica in ("", ".a", ".b")]
    return chance.sample(files, 2 if chance.random() < 0.2 else 1)


SPLITS = {
    "whole": lambda _chance, ts: [f"{ts[:10]}.jsonl"],
    "by hour": _by_hour,
    "at random": _at_random,
    "with copies": _with_copies,
}


def written(root, user, split, count, days):
    """A store with the lines of a user, split in one of these ways."""
    chance = random.Random(user)
    files: dict[str, list[bytes]] = {}
    for ts, line in events_of(user, count, days):
        for name in SPLITS[split](chance, ts):
            files.setdefault(name, []).append(line + b"\n")
    log = EventLog(Path(root) / user, fsync=False)
    Path(log.store.log).mkdir(parents=True)
    for name, lines in files.items():
        chance.shuffle(lines)
        (Path(log.store.log) / name).write_bytes(b"".join(lines))
    return log
