"""LongMemEval (Wu et al. 2025, MIT): read where it lies.

`longmemeval_s.json` (github.com/xiaowu0162/LongMemEval links to it) is a list of questions, each with a haystack of
its own: `question_id`, `question`, `haystack_session_ids`, `haystack_dates` (`2023/05/20 (Sat) 02:21`),
`haystack_sessions` (lists of turns with `role`, `content` and, where the answer is, `has_answer`) and
`answer_session_ids`. Questions whose id ends in `_abs` have no answer and are left out.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.memory.locomo import Dialogue
from bench.memory.world import Query, Question, Recording, Unit, World

_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d) \(\w+\) (\d\d:\d\d)")


def load(path: Path) -> list[Dialogue]:
    """One dialogue for every question that has an answer. Raises OSError, ValueError or KeyError for any other file."""
    given = json.loads(path.read_text(encoding="utf-8"))
    return [_dialogue(row) for row in given if not row["question_id"].endswith("_abs")]


def _dialogue(row: dict[str, Any]) -> Dialogue:
    name = row["question_id"]
    query = Query(row["question"], f"/longmemeval/{name}", f"asks-{name}")
    found = list(_units(row, query.project))
    sessions = [(unit, recording) for unit, recording, _ in found if "#" not in unit.id]
    turns = [(unit, recording) for unit, recording, _ in found if "#" in unit.id]
    answers = frozenset(unit.id for unit, _, answer in found if answer)
    return Dialogue(
        name,
        _world(sessions, Question("sessions", query, frozenset(row["answer_session_ids"]))),
        _world(turns, *([Question("turns", query, answers)] if answers else [])),
    )


def _units(row: dict[str, Any], project: str) -> Iterator[tuple[Unit, Recording, bool]]:
    """Every session and every turn of it, `SESSION#3`, with whether the turn has the answer."""
    days = zip(row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True)
    for session, date, turns in days:
        common = {"conversation_id": session, "project": project}
        said = [f"{date} {turn['role']}: {turn['content']}" for turn in turns]
        for place, (turn, text) in enumerate(zip(turns, said, strict=True)):
            ts = _ts(date, place)
            fields = {"type": "fact", "ts": ts, **common, "content": text}
            unit = f"{session}#{place}"
            yield Unit(unit, project, ts, text), Recording(unit, fields), bool(turn.get("has_answer"))
        ts = _ts(date, len(turns))
        about = {"title": said[0], "prompts": said, "closing": said[-1], "files": []} if said else {}
        fields = {"type": "conversation_text", "ts": ts, **common, **about}
        yield Unit(session, project, ts, "\n".join(said)), Recording(session, fields), False


def _world(said: list[tuple[Unit, Recording]], *asked: Question) -> World:
    return World([unit for unit, _ in said], [recording for _, recording in said], asked)


def _ts(date: str, place: int) -> str:
    match = _DATE.fullmatch(date)
    if match is None:
        raise ValueError(f"{date!r} is not a date of LongMemEval, 2023/05/20 (Sat) 02:21")
    year, month, day, time = match.groups()
    return f"{year}-{month}-{day}T{time}:00.{place:06d}Z"
