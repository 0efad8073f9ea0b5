"""The project's own set, in English and Chinese: `data/`, written by hand before any ranking existed, and frozen."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.memory.world import Need, Query, Question, Recording, Unit, World

DATA = Path(__file__).parent / "data"
_ROOT = "/home/ada/src"
_USERS_HOME = {"en": "shop", "zh": "billing"}  # where things about the user were said
_AGES = {"old": 28, "new": 6, "pair": 16, "said": 12, "withdrawn": 11}  # days, of the cases that name none
_FAR = 7  # tasks away: the branch of another one
KINDS = ("near", "far", "blind", "across")  # with a rare word of the fact, ordinary ones, none; in the other language
NEEDED = KINDS[:2]  # that words of the question alone can answer
Row = Mapping[str, Any]


def rows(name: str) -> list[dict[str, Any]]:
    """The lines of one file of the set."""
    text = (DATA / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def facts() -> list[dict[str, Any]]:
    """The facts of both languages, each with its language."""
    return [{**fact, "lang": lang} for lang in ("en", "zh") for fact in rows(f"facts.{lang}")]


def own(now: datetime) -> World:
    """The set as of `now`: what was said in the weeks before, and what is asked today."""
    said = [*_facts(now), *_sessions(now), *_cases(now), *_pairs(now), *_listeners(now)]
    return World(
        units=[unit for unit, _ in said if unit],
        recordings=[recording for _, recording in said],
        questions=list(_questions()),
        foreign=[_query(row, row["prompt"]) for row in rows("foreign")],
        repeats=[[_query(row, prompt) for prompt in row["prompts"]] for row in rows("repeats")],
        shared=[_query(row, row["prompt"])._replace(shared=True) for row in rows("shared")],
    )


def needed(*, tuning: bool = False) -> Iterator[Need]:
    """What starts of sessions are asked for: facts, and the file or decision a task goes back to.

    Every second task is for tuning; the others are reported.
    """
    yield from (Need(f"facts {row['lang']}", path_of(_where(row)), row["content"]) for row in facts())
    branches = [row["branch"] for row in rows("branches")]
    of_session = {row["id"]: row["files"] for row in rows("sessions")}
    asked = list(zip(rows("tasks"), branches, branches[_FAR:] + branches[:_FAR], strict=True))
    for row, branch, other in asked[0 if tuning else 1 :: 2]:
        files = [file for one in row["sessions"] for file in of_session[one] if file != row["needs"]]
        yield Need(f"tasks {row['lang']}", path_of(row["project"]), row["needs"], branch, other, tuple(files[:1]))


def path_of(project: str) -> str:
    """The absolute path of a project of the set; "" stays what it is: about the user."""
    return f"{_ROOT}/{project}" if project else ""


Said = Iterator[tuple[Unit | None, Recording]]


def _facts(now: datetime) -> Said:
    for order, row in enumerate(facts()):
        where = _where(row)
        told = {name: row[name] for name in ("content", "category", "memory_type") if name in row}
        ts = _ts(now, row["age"], order)
        yield _said(row["id"], row["project"], _event("fact", ts, f"{where}-{row['lang']}-{row['age']}", where, **told))


def _sessions(now: datetime) -> Said:
    for order, row in enumerate(rows("sessions")):
        common = (row["id"], row["project"])
        began = _ts(now, row["age"], 300 + order)
        ended = _ts(now, row["age"], 340 + order)
        about = {name: row[name] for name in ("title", "prompts", "closing", "files")}
        summary = {"scope": "session", "topic": row["title"], "summary": row["closing"], "decisions": row["decisions"]}
        text = "\n".join((row["title"], *row["prompts"], row["closing"], *row["decisions"], *row["files"]))
        shown = "\n".join((row["title"], row["closing"], *row["files"]))
        yield None, Recording("", _event("session_start", began, *common, source="startup"))
        unit = Unit(row["id"], path_of(row["project"]), ended, text, shown)
        yield unit, Recording(row["id"], _event("conversation_text", ended, *common, **about))
        yield None, Recording(row["id"], _event("stage_summary", ended, *common, layer=1, **summary))
        yield None, Recording("", _event("session_end", ended, *common, reason="other"))


def _cases(now: datetime) -> Said:
    """What was replaced under its key, withdrawn by itself, or withdrawn with its whole conversation."""
    for order, row in enumerate(rows("stale")):
        key = {"key": row["key"]} if "key" in row else {}
        old, new, conversation = f"{row['id']}-old", f"{row['id']}-new", f"told-{row['id']}"
        where = row["project"]
        ts = _ts(now, _AGES["old" if key else "said"], 400 + order)
        yield _said(old, where, _event("fact", ts, conversation, where, content=row["old"], **key))
        ts = _ts(now, _AGES["new" if key else "withdrawn"], 400 + order)
        if row["kind"] == "replaced":
            yield _said(new, where, _event("fact", ts, f"{conversation}-again", where, content=row["new"], **key))
            continue
        whole = row["kind"] == "quarantined"
        taken = _event("retraction", ts, "human", where) | ({"conversation": conversation} if whole else {})
        yield None, Recording("", taken, withdraws="" if whole else old)


def _pairs(now: datetime) -> Said:
    for order, row in enumerate(rows("pairs")):
        for side in ("a", "b"):
            where, content = row[side]["project"], row[side]["content"]
            ts = _ts(now, _AGES["pair"], 500 + order)
            event = _event("fact", ts, f"{row['id']}-{side}", where, content=content, category="convention")
            yield _said(f"{row['id']}-{side}", where, event)


def _listeners(now: datetime) -> Said:
    """The sessions others listen to have begun, and the log knows which they are."""
    for order, row in enumerate(rows("shared")):
        conversation = _query(row, row["prompt"]).conversation
        begun = _event("session_start", _ts(now, 1, 600 + order), conversation, row["project"], session_type="shared")
        yield None, Recording("", begun)


def _questions() -> Iterator[Question]:
    for row in facts():
        about = {**row, "project": _where(row)}
        for kind in (kind for kind in KINDS if kind in row):
            group = f"{'facts' if kind in NEEDED else kind} {row['lang']}"
            yield Question(group, _query(about, row[kind], kind), frozenset({row["id"]}), kind=kind)
    for row in rows("tasks"):
        yield Question("sessions", _query(row, row["prompt"]), frozenset(row["sessions"]))
    for row in rows("stale"):
        new = frozenset({f"{row['id']}-new"}) if row["kind"] == "replaced" else frozenset[str]()
        yield Question("successors", _query(row, row["question"]), new, frozenset({f"{row['id']}-old"}))
    for row in rows("pairs"):
        for side in ("a", "b"):
            query = _query({**row, "project": row[side]["project"]}, row["question"], side)
            yield Question("pairs", query, frozenset({f"{row['id']}-{side}"}))
    of = {fact["id"]: fact for fact in facts()}
    for row in rows("across"):
        about = {**row, "project": _where(of[row["fact"]])}
        group = f"across {of[row['fact']]['lang']}"
        yield Question(group, _query(about, row["prompt"]), frozenset({row["fact"]}), kind="across")


def _where(fact: Row) -> str:
    """The project it was said and is asked in."""
    return str(fact["project"] or _USERS_HOME[fact["lang"]])


def _query(row: Row, text: str, part: str = "") -> Query:
    return Query(text, path_of(row["project"]), f"asks-{row['id']}{part}")


def _said(unit: str, project: str, event: Row) -> tuple[Unit, Recording]:
    return Unit(unit, path_of(project), event["ts"], event["content"]), Recording(unit, event)


def _event(kind: str, ts: str, conversation: str, project: str, **fields: object) -> dict[str, Any]:
    common = {"type": kind, "ts": ts, "conversation_id": conversation, "project": path_of(project)}
    return {**common, "agent": "claude-code", **fields}


def _ts(now: datetime, age: int, minutes: int) -> str:
    """So many minutes after eight in the morning, so many days ago: whole days, whatever the hour is now."""
    day = (now - timedelta(days=age)).replace(hour=8, minute=0, second=0, microsecond=0)
    return (day + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
