"""LoCoMo (Maharana et al. 2024, CC BY-NC 4.0): read where it lies, never bundled.

`locomo10.json` of github.com/snap-research/LoCoMo is a list of dialogues. `conversation` holds `session_N` (turns of
`speaker`, `dia_id`, `text` and, with a picture, `blip_caption`) and `session_N_date_time`; `qa` holds questions whose
`evidence` are ids of turns, written `D3:12` and in a few other ways. Dialogues 1 to 3 are for tuning, 4 to 10 for the
reported figure. Every dialogue is a project of its own.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench.memory import store, transcripts
from bench.memory.world import Haystack, Need, Query, Question, Recording, Unit, World

TUNING = 3  # the first so many dialogues
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_TIME = "%I:%M %p on %d %B, %Y"


class Dialogue(NamedTuple):
    """One conversation of two people over months, as sessions and as turns."""

    name: str
    sessions: World
    turns: World


def load(path: Path) -> list[Dialogue]:
    """All dialogues of the file, in its order. Raises OSError, ValueError or KeyError for any other file."""
    return [_dialogue(given) for given in json.loads(path.read_text(encoding="utf-8"))]


def needed(turns: World) -> Iterator[Need]:
    """Every turn that answers a question, once for each question."""
    said = {unit.id: unit for unit in turns.units}
    for question in turns.questions:
        for unit in sorted(question.gold):
            yield Need("turns", said[unit].project, said[unit].text)


def _dialogue(given: dict[str, Any]) -> Dialogue:
    name = str(given["sample_id"])
    project = f"/locomo/{name}"
    turns = list(_turns(given["conversation"], project))
    asked = list(_questions(given["qa"], name, project, {unit.id for unit, _ in turns}))
    by_session = [_lifted(question) for question in asked]
    sessions = list(_sessions(turns, project))
    return Dialogue(
        name,
        World([unit for unit, _ in sessions], [recording for _, recording in sessions], by_session),
        World([unit for unit, _ in turns], [recording for _, recording in turns], asked),
    )


def as_facts(dialogues: Sequence[Dialogue], place: Path) -> tuple[World, Haystack]:
    """Record a fact for each turn, of all dialogues in one store; what is found of a session answers for it."""
    world = _together(dialogues)
    return world, store.build(world, place)


def as_transcripts(dialogues: Sequence[Dialogue], scratch: Path) -> tuple[World, Haystack]:
    """Record them as a host would: a transcript for each session, in which one asks and the other answers."""
    world, chance = _together(dialogues), random.Random(TUNING)
    for recordings in _by_session(world.recordings).values():
        fields = [recording.fields for recording in recordings]
        turns = [(one["ts"], one["content"].split(": ", 1)[0].rpartition(" ")[2], one["content"]) for one in fields]
        session = transcripts.of_dialogue(recordings[0].unit, fields[0]["project"], turns, chance)
        session.write(scratch / "claude" / "projects")
    log = transcripts.imported(scratch / "claude", scratch / "store")
    return world, Haystack(world.units, scratch / "store", {event.id: event.conversation_id for event in log.read()})


def _together(dialogues: Sequence[Dialogue]) -> World:
    """The sessions of all, each turn recorded by itself: a session is named as its conversation."""
    units, recordings, questions = [], [], []
    for name, sessions, turns in dialogues:
        units += [unit._replace(id=f"{name}-{unit.id}") for unit in sessions.units]
        recordings += [turn._replace(unit=f"{name}-{_session(turn.unit)}") for turn in turns.recordings]
        questions += [_renamed(question, f"{name}-") for question in sessions.questions]
    return World(units, recordings, questions)


def _renamed(question: Question, before: str) -> Question:
    return question._replace(gold=frozenset(before + unit for unit in question.gold))


def _by_session(recordings: Iterable[Recording]) -> dict[str, list[Recording]]:
    found: dict[str, list[Recording]] = {}
    for recording in recordings:
        found.setdefault(recording.unit, []).append(recording)
    return found


def _turns(conversation: dict[str, Any], project: str) -> Iterator[tuple[Unit, Recording]]:
    for number in sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key)):
        date = conversation[f"session_{number}_date_time"]
        began = datetime.strptime(date, _TIME)  # noqa: DTZ007 (the data set has no time zones)
        for place, turn in enumerate(conversation[f"session_{number}"]):
            ts = began.strftime("%Y-%m-%dT%H:%M:%S") + f".{place:06d}Z"
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{date} {turn['speaker']}: {turn['text']}{caption}"
            unit = Unit(_plain(*_numbers(turn["dia_id"])[0]), project, ts, text)
            fields = {"type": "fact", "ts": ts, "conversation_id": f"{project[8:]}-{number}", "project": project}
            yield unit, Recording(unit.id, {**fields, "content": text})


def _sessions(turns: list[tuple[Unit, Recording]], project: str) -> Iterator[tuple[Unit, Recording]]:
    """All turns of a session as one unit, recorded as the text of a conversation."""
    by_session: dict[str, list[Unit]] = {}
    for unit, _ in turns:
        by_session.setdefault(_session(unit.id), []).append(unit)
    for name, units in by_session.items():
        said = [unit.text for unit in units]
        about = {"title": said[0], "prompts": said, "closing": said[-1], "files": []}
        common = {"ts": units[-1].ts, "conversation_id": f"{project[8:]}-{name}", "project": project}
        recording = Recording(name, {"type": "conversation_text", **common, **about})
        yield Unit(name, project, units[-1].ts, "\n".join(said)), recording


def _questions(given: list[dict[str, Any]], name: str, project: str, known: set[str]) -> Iterator[Question]:
    """Those with evidence that is there."""
    for number, asked in enumerate(given):
        evidence = {_plain(*pair) for text in asked["evidence"] for pair in _numbers(text)}
        if gold := frozenset(evidence & known):
            yield Question("turns", Query(asked["question"], project, f"{name}-asks-{number}"), gold)


def _lifted(question: Question) -> Question:
    """The same question, answered by sessions."""
    return question._replace(group="sessions", gold=frozenset(_session(turn) for turn in question.gold))


def _numbers(text: str) -> list[tuple[str, str]]:
    return _EVIDENCE.findall(text)


def _plain(session: str, turn: str) -> str:
    return f"D{int(session)}:{int(turn)}"


def _session(turn: str) -> str:
    return turn.partition(":")[0]
