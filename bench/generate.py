"""A store like life of any size, the same on every machine: agents at work for a year, in many projects.

Most events are tools, some are words: English by Zipf's law, one text in eight Chinese, with the commits and paths that
agents write. Facts under keys are said again, some are withdrawn. A few conversations go on for two months, and some
days have a conversation of 20,000 tool calls.
"""

import random
from bisect import bisect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

import orjson

from bench.measure import Run
from eventlog import EventLog, Fact
from eventlog.format import ids

PROJECT = "/home/ada/src/project-3"
EVENTS_PER_CONVERSATION = 50  # the last is at 49
BUSY_DAY = 20_000  # tool events of one conversation, in a log that has ten times as many
_FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
_AGENTS = ("claude-code", "cursor", "codex")
_FAMILIAR = ["cart", "price", "index", "token", "cache", "retry", "schema", "worker", "queue", "parser"]
_SYLLABLES = ["ka", "to", "mi", "ren", "sal", "vor", "pli", "ne", "du", "gar", "este", "lo", "fin", "bra", "che"]
_TOOLS = ("Bash", "Read", "Edit", "Grep")
_CHINESE, _OF_WORK, _KEYED, _OF_THE_USER, _DOUBTFUL = 0.12, 0.4, 0.1, 0.1, 0.01  # shares of texts and of facts
_DAY_OF_WORK = timedelta(hours=8)
_LONG, _LONG_EVERY = timedelta(days=60), 100
_ASKED_FOR = 11  # a conversation of `PROJECT` in a store of any size

_Line = tuple[str, bytes]  # time and line


def generate(
    log_dir: Path, events: int, days: int = 365, first: datetime = _FIRST_DAY, projects: int = 40, seed: int = 7
) -> None:
    """Write day files directly, as the log would have written them; only the days not over are in memory."""
    log_dir.mkdir(parents=True, exist_ok=True)
    work = _Work(random.Random(seed), projects)
    calls = min(BUSY_DAY, events // 10)
    busy_days = events // (10 * calls) if calls else 0
    conversations = max(1, (events - busy_days * calls) // EVENTS_PER_CONVERSATION)
    busy = {(2 * day + 1) * conversations // (2 * busy_days): calls for day in range(busy_days)}
    end = first + timedelta(days=days)
    lines: dict[str, list[_Line]] = {}
    for number in range(conversations):
        start = first + timedelta(days=number * days / conversations, seconds=work.chance.random())
        _write(log_dir, lines, before=start.strftime("%Y-%m-%d"))
        for line in work.conversation(number, start, end, busy.get(number, 0)):
            lines.setdefault(line[0][:10], []).append(line)
    _write(log_dir, lines)


def call_tools(log_dir: Path, calls: int) -> None:
    """Write a day, today, on which one conversation called so many tools until now."""
    now = datetime.now(UTC)
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    common: dict[str, object] = {"conversation_id": "busy", "project": PROJECT, "agent": _AGENTS[0]}
    lines = _Work(random.Random(calls), 1).tools(common, start, now - start, calls)
    _write(log_dir, {f"{now:%Y-%m-%d}": list(lines)})


def after_a_fact(store: Path, run: Run) -> Run:
    """A run that finds something new in the log of a store, so that nothing that was made of it before holds."""
    log = EventLog(store)

    def after() -> object:
        log.append(Fact(conversation_id="bench", project=PROJECT, content=f"fact of {log.now()}"))
        return run()

    return after


def conversation_id(number: int) -> str:
    """The id of a generated conversation."""
    return f"{number:08x}-4f6e-4c7e-9f5e-2b8d41c0aa77"


def _write(log_dir: Path, lines: dict[str, list[_Line]], before: str = "~") -> None:
    """Write the days that are over, and let go of them; conversations begin one after the other."""
    for day in [day for day in lines if day < before]:
        (log_dir / f"{day}.jsonl").write_bytes(b"".join(line for _, line in sorted(lines.pop(day))))


class _Work:
    """What is done and said, drawn by chance."""

    def __init__(self, chance: random.Random, projects: int) -> None:
        self.chance = chance
        words = {"".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(20_000)}
        self._words = [*_FAMILIAR, *sorted(words)]
        self._chinese = ["".join(chr(0x4E00 + chance.randrange(3000)) for _ in range(2)) for _ in range(8_000)]
        self._shares = list(accumulate(1 / (place + 3) for place in range(projects)))
        self._said: list[str] = []  # ids of facts that may be withdrawn

    def conversation(self, number: int, start: datetime, end: datetime, calls: int) -> Iterator[_Line]:
        """Yield the lines of a conversation; one in a hundred goes on for two months."""
        place = bisect(self._shares, self.chance.random() * self._shares[-1])
        common: dict[str, object] = {
            "conversation_id": conversation_id(number),
            "project": PROJECT if number == _ASKED_FOR else f"/home/ada/src/project-{place}",
            "agent": _AGENTS[number % 3],
        }
        goes_on = number % _LONG_EVERY == _LONG_EVERY // 2
        step = min(_LONG, end - start) / EVENTS_PER_CONVERSATION if goes_on else timedelta(seconds=20)
        for position in range(EVENTS_PER_CONVERSATION):
            fields = self._fields(position, str(common["project"]))
            yield self._line(start + step * position, f"{number}/{position}", common, fields)
        yield from self.tools(common, start, _DAY_OF_WORK, calls)

    def tools(self, common: dict[str, object], start: datetime, span: timedelta, calls: int) -> Iterator[_Line]:
        """Yield the lines of so many calls of tools, over that time."""
        for call in range(calls):
            key = f"{common['conversation_id']}/call/{call}"
            yield self._line(start + span * call / calls, key, common, self._tool(call))

    def _line(self, moment: datetime, key: str, common: dict[str, object], fields: dict[str, object]) -> _Line:
        ts = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        event_id = ids.derived(int(moment.timestamp() * 1000), key)
        if fields["type"] == "fact" and self.chance.random() < _DOUBTFUL:
            self._said.append(event_id)
        kind = {"v": 1, "id": event_id, "ts": ts, "type": fields["type"]}
        return ts, orjson.dumps(kind | common | fields) + b"\n"

    def _fields(self, position: int, project: str) -> dict[str, object]:
        fields: dict[str, object]
        match position:
            case 0:
                fields = {"type": "session_start", "source": "startup", "model": "opus", "git_branch": "main"}
            case 7 | 23 | 39:
                fields = self._fact(project)
            case 40 if self._said:
                fields = {"type": "retraction", "target": self._said.pop(0), "reason": self._text(4)}
            case 46:
                words = {"topic": self._text(4), "summary": self._text(30), "decisions": [self._text(8)]}
                fields = {"type": "stage_summary", "scope": "session", **words}
            case 49:
                fields = {"type": "session_end", "reason": "prompt_input_exit"}
            case 9 | 19 | 29 | 38 | 48:
                fields = {"type": "turn_end", "turn_id": str(position), "status": "completed"}
            case _:
                fields = self._tool(position)
        return fields

    def _fact(self, project: str) -> dict[str, object]:
        content = self._text(20)
        if self.chance.random() < _OF_WORK:
            path = f"{project}/src/{self._word()}/{self._word()}.py"
            content = f"{content} in {path}, since {self.chance.randbytes(20).hex()}"
        key = {"key": f"{self._word()}-{self._word()}"} if self.chance.random() < _KEYED else {}
        about_user = {"memory_type": "O"} if self.chance.random() < _OF_THE_USER else {}
        return {"type": "fact", "content": content, **about_user, "entities": [self._word()], **key}

    def _tool(self, position: int) -> dict[str, object]:
        size = int(2 ** (self.chance.random() ** 16 * 10))  # most are short, a few have kilobytes
        command = self._text(8) + f" {self._word()}.py" * size
        call = {
            "tool_name": _TOOLS[position % 4],
            "tool_input": {"command": command},
            "tool_use_id": f"toolu_{position}",
        }
        return {"type": "host_event", "name": "PostToolUse", "payload": call}

    def _text(self, words: int) -> str:
        if self.chance.random() < _CHINESE:
            return "".join(_often(self.chance, self._chinese) for _ in range(words))
        return " ".join([self._word() for _ in range(words)])

    def _word(self) -> str:
        return _often(self.chance, self._words)


def _often(chance: random.Random, words: list[str]) -> str:
    """A word, the first ones far more often, as in every language."""
    return words[int(len(words) ** chance.random()) - 1]
