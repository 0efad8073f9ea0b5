"""`python -m bench.search [--facts N]`: what an index of that many facts costs to make, to add to and to ask."""

import argparse
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

import eventlog
from bench.generate import PROJECT
from bench.hook import hook
from bench.measure import FLOOR, Row, Run, compare, process
from eventlog import Memory
from eventlog.format import codec, ids, timestamps
from eventlog.format.events import Event, Fact
from eventlog.log.event_log import EventLog

_PROJECT = "/home/ada/src/shop"
_FIRST_DAY = datetime(2025, 1, 1, tzinfo=UTC)
_SHARES = {"en": 55, "zh": 35, "both": 10}
_LETTERS, _COMMON = "abcdefghiklmnoprstuvw", ("abacus", "lantern", "harbour", "pebble", "violin")
_PLANTED = (
    "The reindex job needs the maintenance lock, or the Zanzibar replica answers with stale prices",
    "发票编号必须连续，取消的订单保留编号并标记为作废",
    f"The quokka of the {' '.join(_COMMON)} is shorn on Mondays",
)
_FIRES = (
    "why does the Zanzibar replica answer with stale prices?",
    "取消的订单的发票编号怎么处理",
    f"when is the quokka shorn, of the {' '.join(_COMMON)}?",  # some hundred facts have each of these words
)
_SILENT = ("how do I boil an egg", "run the tests again")
_QUERIES = {
    "a common word": "cart",
    "three frequent words": "cart price index",
    "three rare words": "brabra lolo tofin",
    "a sentence": "why does the cart price of the retry schema worker lie in the queue",
}
_OF_A_THOUSAND = {"three rare words": "brabrami bradufin brabralo"}  # a store of 1,000 has none of the others
_ROUNDS = 21
_numbers = itertools.count()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.search")
    parser.add_argument("--facts", type=int, default=100_000, help="facts of a year [%(default)s]")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table("what", "median", "python -I -S -c pass", "ratio", "goal")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        store = Path(scratch) / "store"
        generate(store / "log", options.facts)
        EventLog(store).index.catch_up()
        built = _processor_seconds(_process(store, _BUILD))
        table.add_row(f"index of {options.facts:,} made", f"{built:.1f} s of a processor", "", "", "≤ 4 s")
        added = float(subprocess.run(_process(store, _ADD), check=True, capture_output=True).stdout)
        table.add_row("one added", f"{added * 1000:.1f} ms of a processor", "", "", "≤ 2 ms")
        for what, run, goal in _asked(store):
            row = compare(what, run, "", process(FLOOR), goal, _ROUNDS)
            times = [f"{seconds * 1000:.1f} ms" for seconds in (row.seconds, row.reference_seconds)]
            table.add_row(what, *times, f"{row.ratio:.2f}", goal)
    console.print(table)


def rows(store: Path, small: Path, events: int) -> Iterator[Row]:
    """The bars of searches by a process that has asked before, in a store of that many events and one of 1,000."""
    for what, query in _QUERIES.items():
        large = partial(_searched, Memory(store), query)
        little = partial(_searched, Memory(small), _OF_A_THOUSAND.get(what, query))
        name = f"search for {what}, in {events:,}, processor time"
        yield compare(name, large, "the same in 1,000", little, "≤ 1.5", rounds=15)


def _searched(memory: Memory, query: str) -> float:
    begun = time.process_time()
    memory.search(query, project=PROJECT)
    return time.process_time() - begun


def generate(log_dir: Path, facts: int) -> None:
    """Write facts in English, Chinese and both, a hundred to a conversation; and two to be asked for."""
    log_dir.mkdir(parents=True, exist_ok=True)
    lines: dict[str, list[bytes]] = {}
    for event in _facts(facts):
        lines.setdefault(event.ts[:10], []).append(codec.encode(event) + b"\n")
    for day, found in lines.items():
        (log_dir / f"{day}.jsonl").write_bytes(b"".join(found))


def _facts(facts: int) -> Iterator[Event]:
    chance = random.Random(7)
    english = ["".join(chance.choices(_LETTERS, k=chance.randint(3, 10))) for _ in range(20_000)]
    english[100 : 100 * len(_COMMON) + 1 : 100] = _COMMON
    chinese = ["".join(chr(0x4E00 + chance.randrange(3000)) for _ in range(2)) for _ in range(8_000)]
    step = timedelta(days=365) / facts
    texts = itertools.chain(_PLANTED, (_text(chance, english, chinese) for _ in range(facts - len(_PLANTED))))
    for number, text in enumerate(texts):
        ts = (_FIRST_DAY + number * step).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        told, about = ids.derived(timestamps.to_ms(ts), str(number)), f"told-{number // 100}"
        yield Fact(id=told, ts=ts, content=text, conversation_id=about, project=_PROJECT, agent="claude-code")


def _text(chance: random.Random, english: list[str], chinese: list[str]) -> str:
    kind = chance.choices([*_SHARES], [*_SHARES.values()])[0]
    some = " ".join(_often(chance, english) for _ in range(chance.randint(8, 18)))
    others = "".join(_often(chance, chinese) for _ in range(chance.randint(6, 14)))
    return {"en": some, "zh": others, "both": f"{some[:40]} {others}"}[kind]


def _often(chance: random.Random, words: list[str]) -> str:
    """A word, the first ones far more often, as in every language."""
    return words[int(len(words) ** chance.random()) - 1]


_BUILD = "open_index(store).close()"
_ASK = """
index = open_index(store, patience=1.0)  # as a prompt has it: without libraries
index.find(index.having(tokens(sys.argv[3])), "", Scope(("", sys.argv[4])), 10)
"""
_ADD = """
import time
from eventlog.format.events import Fact
from eventlog import EventLog
log, alone, added = EventLog(sys.argv[2]), [], []
for number in range(50):
    for taken in (alone, added):
        begun = time.process_time()
        open_index(store).close()
        taken.append(time.process_time() - begun)
        if taken is alone:
            log.append(Fact(conversation_id="c", project="/x", content=f"word{number} of the retry is kept by 索引"))
print(sorted(added)[25] - sorted(alone)[25])
"""


def _process(store: Path, code: str, *arguments: str) -> tuple[str, ...]:
    """The command of a process with nothing but the index in it."""
    begin = """
import sys
sys.path.insert(0, sys.argv[1])
from eventlog.fast import modules as own_modules
own_modules.install()
from eventlog.app.search.open_index import open_index
from eventlog.app.search.search_index import Scope
from eventlog.projections.search.words import tokens
from eventlog.store import Store
store = Store(sys.argv[2])
"""
    flags = ("-I", "-S") if code is _ASK else ("-I",)
    root = str(Path(eventlog.__file__).parents[1])
    return (sys.executable, *flags, "-c", begin + code, root, str(store), *arguments)


def _processor_seconds(command: tuple[str, ...]) -> float:
    before = os.times()
    subprocess.run(command, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _asked(store: Path) -> Iterator[tuple[str, Run, str]]:
    for prompt in _FIRES:
        yield f"cold query: {prompt}", process(_process(store, _ASK, prompt, _PROJECT)), "≤ 4"
    asks = hook(store, "UserPromptSubmit")
    for kind, prompts in (("fires", _FIRES), ("silent", _SILENT)):
        for prompt in prompts:
            yield f"prompt hook, {kind}: {prompt}", process(asks, partial(_payload, prompt)), "≤ 2.5"


def _payload(prompt: str) -> bytes:
    """A prompt of a conversation of its own."""
    session = f"asks-{next(_numbers)}"
    about = {"session_id": session, "cwd": _PROJECT, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    return orjson.dumps({"transcript_path": "/nowhere/transcript.jsonl", **about})


if __name__ == "__main__":
    main()
