"""What a replay writes is what the contract says: `tests/support/contract.py` is its short form, in plain loops.

Random logs are read by both. A difference is a fault of one of them; the documents decide of which.
"""

import json
import random
import re
from pathlib import Path

import pytest

from eventlog.app.ask.history import Omission, replay_at
from eventlog.settings.schema import MemorySettings, Settings, SummarySettings
from tests.support import builders, contract_files, effort
from tests.support.contract import Contract, events_of
from tests.support.contract_bases import bases
from tests.support.contract_logs import RandomLog
from tests.support.contract_read import read_back
from tests.support.golden import rendered, tree
from tests.support.histories import a_log
from tests.support.use_cases import opened, rebuild

ROOM = 10**9  # what is cut to a budget is a matter of other laws


def settings(zone):
    memory, summaries = MemorySettings(max_lines=ROOM, max_bytes=ROOM), SummarySettings(keep=ROOM, max_chars=ROOM)
    return Settings(timezone=zone, memory=memory, summaries=summaries)


def put(log, files):
    for name, lines in files.items():
        builders.write(log.store.log, b"".join(line + b"\n" for line in lines), name)


def replayed(files, zone, **options):
    with a_log() as log:
        put(log, files)
        return rendered(log, settings(zone), **options)


def differences(documents, files, zone):
    """Each file that says something else than the contract, with both."""
    contract, found = Contract(events_of(files)), read_back(documents)
    meant = {
        "sessions": {line["session_id"]: line for line in contract_files.sessions(contract)},
        "memories": contract_files.memories(contract, zone),
        "notes": contract_files.notes(contract, zone),
        "pages": contract_files.pages(contract, zone),
        "bases": bases(contract),
    }
    order = [*found["sessions"]], [*meant["sessions"]]
    return [("order", *order)] * (order[0] != order[1]) + [
        (kind, name, found[kind].get(name), meant[kind].get(name))
        for kind in meant
        for name in {**found[kind], **meant[kind]}
        if found[kind].get(name) != meant[kind].get(name)
    ]


@pytest.mark.parametrize("seed", range(50))
def test_a_replay_writes_what_the_contract_says(seed):
    for log in (RandomLog(seed), RandomLog(50 + seed)):
        assert differences(replayed(log.files, log.zone), log.files, log.zone) == []


@pytest.mark.slow
@pytest.mark.fuzz
def test_so_does_a_replay_of_what_was_added_to_a_part_up_to_a_moment_and_without_a_part():
    start = effort.seed()
    found = 2425300590  # a person edits an entry that no section could have
    for seed in (found, *range(start, start + effort.rounds(fixed=100, fuzz=1000))):
        log, chance = RandomLog(seed), random.Random(seed)
        for look in (_whole, _grown, _cut, _without):
            assert (seed, look.__name__, look(log, chance)) == (seed, look.__name__, [])


def _whole(log, chance):
    return differences(replayed(log.files, log.zone), log.files, log.zone)


def _grown(log, chance):
    """Some of the lines are replayed first: the rest is taken in by what the first replay has kept."""
    with a_log() as growing:
        put(growing, _only(log.files, lambda _: chance.random() < 0.6))
        rendered(growing, settings(log.zone))
        put(growing, log.files)
        return differences(rendered(growing, settings(log.zone)), log.files, log.zone)


def _cut(log, chance):
    """`--as-of` a moment is a replay of the log cut there."""
    moment = chance.choice(["2026-03-01T00:00:00.000000Z", *(event["ts"] for event in log.events)])
    cut = _only(log.files, lambda event: event["ts"] <= moment)
    return differences(replayed(log.files, log.zone, until=moment), cut, log.zone)


def _without(log, chance):
    """`--without` an event, a conversation or an agent is a replay of a log that never had it."""
    if not log.events:
        return []
    named = chance.choice(log.events)
    left_out = chance.choice((
        Omission(events=frozenset([named["id"]])), Omission(sessions=frozenset([named["conversation_id"]])),
        Omission(agents=frozenset(["cursor"])),
    ))  # fmt: skip
    remaining = _only(log.files, lambda event: not (
        event["id"] in left_out.events or event["conversation_id"] in left_out.sessions or event.get("agent") in left_out.agents
    ))  # fmt: skip
    with a_log() as whole:
        put(whole, log.files)
        done = replay_at(opened(whole, settings(log.zone)), without=left_out)
        return differences({document.path: document.data for document in done.documents}, remaining, log.zone)


@pytest.mark.slow
@pytest.mark.fuzz
def test_a_memory_says_what_a_person_left_in_it_and_the_other_files_what_the_contract_says_of_that(monkeypatch):
    start = effort.seed()
    found = 428040272  # after its last line, a conversation turns out to be of another machine's project
    for seed in (found, *range(start, start + effort.rounds(fixed=15, fuzz=200))):
        log, chance = RandomLog(seed), random.Random(seed)
        with a_log() as edited:
            monkeypatch.setenv("HOME", f"{edited.store.root}-home")
            home = Path(f"{edited.store.root}-home/.config/agents")
            put(edited, log.files)
            rebuild(edited, settings(log.zone))
            knowledge = Path(edited.store.knowledge)
            for file in sorted(knowledge.rglob("MEMORY.md"))[:1]:
                lines = _edited(file.read_text("utf-8").split("\n"), chance)
                file.write_text("\n".join(lines), "utf-8")
                rebuild(edited, settings(log.zone))

                assert (seed, _bullets(lines)) == (
                    seed,
                    _bullets(file.read_text("utf-8").split("\n") if file.exists() else ()),
                )
            files = {name: data.splitlines() for name, data in tree(edited.store.log).items()}
            documents = {path: data for path, data in tree(knowledge).items() if ".edited-" not in path}
            documents |= {f"bases/{file.stem.lower()}.md": file.read_bytes() for file in home.glob("*.md")}

            assert (seed, differences(documents, files, log.zone)) == (seed, [])
            assert rebuild(edited, settings(log.zone)).published.changes == 0


def _edited(lines, chance):
    """A line is removed, changed, added, or two change their places; up to three times."""
    for number in range(chance.randint(1, 3)):
        places = [at for at, line in enumerate(lines) if line.startswith("- [")]
        deed = chance.choice(("remove", "change", "add", "move")) if places else "none"
        at, other = (chance.choice(places or [0]) for _ in range(2))
        if deed == "remove":
            del lines[at]
        elif deed == "change":
            lines[at] += f" indeed{number}"
        elif deed == "add":
            lines.insert(at + 1, f"- Zoo keeper{number} feeds elk")
        elif deed == "move":
            lines[at], lines[other] = lines[other], lines[at]
    return lines


def _bullets(lines):
    return sorted(re.sub(r"^- (\[.*?\] )?", "", line) for line in lines if line.startswith("- "))


def _only(files, has):
    return {name: [line for line in lines if has(json.loads(line))] for name, lines in files.items()}
