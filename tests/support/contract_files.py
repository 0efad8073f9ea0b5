"""The contract in short: what each knowledge file says, as plain data, from what holds (`contract.py`)."""

import itertools
import re
from collections import defaultdict
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from eventlog.store import project_slug
from tests.support.contract import agents_own, counting, names_only, standing, turn
from tests.support.contract_text import cut, distinct, one_line, same, same_todo, stage_line

DECISIONS, PREFERENCES, LESSONS, KNOWLEDGE = "Key decisions", "User preferences", "Lessons", "Project knowledge"
SECTIONS = (DECISIONS, PREFERENCES, LESSONS, KNOWLEDGE, "Experience")
OF_CATEGORY = {
    "decision": DECISIONS, "决策": DECISIONS, "preference": PREFERENCES, "偏好": PREFERENCES, "lesson": LESSONS,
    "lessons": LESSONS, "教训": LESSONS,
}  # fmt: skip
INSIGHTS = ("insight", "洞察", "decision", "决策", "lesson", "lessons", "教训")
VALUE = re.compile(r"\d+|mondays?|tuesdays?|fridays?")  # of which one holds


def local(ts, zone):
    return datetime.fromisoformat(ts).astimezone(ZoneInfo(zone))


def project_name(project):
    return project.rpartition("/")[2] if project else None


def path_of(contract, project):
    return f"projects/{project_slug(contract.homes.get(project, project))}/MEMORY.md" if project else "MEMORY.md"


# ---------------------------------------------------------------------------------------------- sessions.jsonl


def sessions(contract):
    """List the conversations that have more than an end, or receipts, by start."""
    begun = []
    for conversation, events in contract.conversations.items():
        kinds = [event["type"] for event in events]
        if contract.work(conversation) and len(kinds) > kinds.count("context_injected") + ("session_end" in kinds):
            begun.append((events[0]["ts"], conversation))
    return [_session(contract, conversation) for _, conversation in sorted(begun)]


def _session(contract, conversation):
    events, at_work = contract.conversations[conversation], contract.work(conversation)
    saves, facts = contract.saves_of(conversation), contract.facts_of(conversation)
    came_to = contract.conclusion(saves, facts)
    rest = f"{came_to.joint}… (+{came_to.more})" if came_to.more else ""
    scopes = [save.get("scope", "stage") for save in agents_own(saves)]
    ends = sorted((event for event in events if event["type"] == "session_end"), key=turn)
    work = [turn(event)[0] for event in events if event["type"] in ("session_start", "turn_end")]
    end: dict[Any, Any] = next(
        (end for end in ends[-1:] if turn(end)[0] >= max(work, default="")), {}
    )  # it may have come back
    return {
        "session_id": conversation,
        "topic": came_to.topic,
        "summary": cut(came_to.joint.join(came_to.parts), 500 - len(rest)) + rest,
        "decisions": contract.decisions(saves),
        "todos": contract.todos(saves),
        "timestamp": came_to.saved_at or at_work[-1]["ts"],
        "auto_generated": came_to.is_composed,
        "source": came_to.source,
        "project": contract.first(conversation, "project").get("project"),
        "agent": contract.first(conversation, "agent").get("agent"),
        "started_at": events[0]["ts"],
        "ended_at": end.get("ts"),
        "end_reason": end.get("reason"),
        "turns": max(
            [sum(event["type"] == "turn_end" for event in events), *(end.get("turns", 0) for end in ends[-1:])]
        ),
        "facts": len(facts),
        "stages": scopes.count("stage"),
        "revisions": max(0, scopes.count("session") - 1),
        "events": len(at_work),
    }


# ---------------------------------------------------------------------------------------------- sessions/*.md


def pages(contract, zone):
    """Map each conversation that came to something to the lines of its page."""
    found = {}
    for line in sessions(contract):
        conversation, events = line["session_id"], contract.conversations[line["session_id"]]
        saves = contract.saves_of(conversation)
        came_to = contract.conclusion(saves, contract.facts_of(conversation))
        if not came_to.parts:
            continue
        begun, last = (
            f"{local(event['ts'], zone):%Y-%m-%d %H:%M}" for event in (events[0], contract.work(conversation)[-1])
        )
        until = "" if begun == last else f" – {last[11:] if begun[:10] == last[:10] else last}"
        project = project_name(contract.project_of(conversation))
        stages = [
            save
            for save in contract.saves
            if save["conversation_id"] == conversation and save.get("scope", "stage") == "stage"
        ]
        more = [f"… (+{came_to.more})"] if came_to.more else []
        fields = {
            "Session ID": one_line(conversation),
            "Time": f"{begun}{until} {zone}",
            "Project": project,
            "Mode": "workflow" if stages else "free",
            "Topic": "" if came_to.parts[0].startswith(came_to.topic) else came_to.topic,
        }
        parts = {
            "What was done": [*came_to.parts, *more],
            "Key decisions": line["decisions"][::-1],
            "Open": line["todos"],
        }
        found[conversation] = [
            *("# Session summary", "", *(f"**{name}:** {value}" for name, value in fields.items() if value)),
            *itertools.chain(
                *(["", f"## {title}", *(f"- {text}" for text in texts)] for title, texts in parts.items() if texts)
            ),
        ]
    return found


# ---------------------------------------------------------------------------------------------- MEMORY.md


def memories(contract, zone):
    """Map the path of each MEMORY.md to its sections, each with its bullets: last day, how often, in doubt, wording."""
    found = {}
    for project, statements in contract.memories().items():
        groups = [
            group for group in standing(statements) if any(each.is_heard for each in group) or len(_sessions(group)) > 1
        ]
        doubtful, opposed = _pairs(groups)
        groups.sort(key=lambda group: (group[0].turn, group[0].place))
        groups.sort(key=lambda group: (group[-1].confidence, group[-1].turn[1]), reverse=True)
        groups.sort(key=lambda group: group[-1].turn[0], reverse=True)
        groups.sort(key=lambda group: (max(each.importance for each in group), len(_sessions(group))), reverse=True)
        section: dict[Any, Any] = {}
        sections: dict[Any, Any] = defaultdict(list)
        for group in _newer_first(groups, opposed):
            name = section.setdefault(group[0].same, min(map(_section_of, group), key=_place))
            section.update((older, name) for older in opposed.get(group[0].same, ()) if older not in section)
            day = f"{local(group[-1].event['ts'], zone):%Y-%m-%d}"
            sections[name].append((day, len(group), group[0].same in doubtful, group[0].text))
        if sections:
            titles = _titles(groups, project)
            found[path_of(contract, project)] = [
                (titles.get(name, name), sections[name]) for name in sorted(sections, key=_place)
            ]
    return found


def _sessions(group):
    return {each.event["conversation_id"] for each in group}


def _section_of(statement):
    if statement.is_decision:
        return DECISIONS
    if category := same(one_line(statement.event.get("category") or "")):
        return OF_CATEGORY.get(category, category)
    return {"W": KNOWLEDGE, "O": PREFERENCES, "B": "Experience"}[statement.event.get("memory_type", "W")]


def _place(section):
    return SECTIONS.index(section) if section in SECTIONS else len(SECTIONS), section


def _titles(groups, project):
    """Spell a free category as it was first spelled; what is known about no project is general."""
    titles = {} if project else {KNOWLEDGE: "General knowledge"}
    for each in sorted((each for group in groups for each in group), key=lambda each: each.turn):
        category = one_line(each.event.get("category") or "")
        if _section_of(each) not in SECTIONS:
            title = category[:1].upper() + category[1:] if category == category.lower() else category
            titles.setdefault(_section_of(each), title)
    return titles


def _pairs(groups):
    """Find the statements in doubt (a number differs in just one other), and what each says otherwise than an older."""
    frames: dict[Any, Any] = defaultdict(dict)
    for group in groups:
        text = group[0].same
        for value in VALUE.finditer(text) if not group[0].key else ():
            # in full-width letters a word is none of these
            if value[0].isdigit() or value[0] in group[0].text.lower():
                frames[text[: value.start()], text[value.end() :]][value[0]] = group
    doubtful: set[str] = set()
    opposed: dict[str, list[str]] = {}
    for values in frames.values():
        if len(values) == 2:  # three are a list
            older, newer = sorted(values.values(), key=lambda group: group[-1].event["ts"])
            opposed.setdefault(newer[0].same, []).append(older[0].same)
            doubtful |= {group[0].same for value, group in values.items() if value[0].isdigit()}
    return doubtful, opposed


def _newer_first(groups, opposed):
    found = []
    for group in groups:
        found += [other for other in groups if group[0].same in opposed.get(other[0].same, ()) and other not in found]
        found += [group] if group not in found else []
    return found


# ---------------------------------------------------------------------------------------------- memory/DAY.md


def notes(contract, zone):
    """Map each day to its events, insights and open to-dos: of each conversation what it came to on that day alone."""
    items: dict[Any, Any] = defaultdict(list)
    done: dict[Any, Any] = defaultdict(str)
    for fact in contract.facts:
        section = "insights" if same(one_line(fact.get("category") or "")) in INSIGHTS else "events"
        items[_day(fact, zone)].append((fact, section, contract.memory_of(fact), one_line(fact["content"])))
    by_day = defaultdict(list)
    for save in contract.saves:
        by_day[_day(save, zone), save["conversation_id"]].append(save)
    for (day, conversation), saves in by_day.items():
        project = contract.project_of(conversation)
        for save in saves:
            for closed in map(same_todo, save.get("done", ())):
                done[day, project, closed] = max(done[day, project, closed], save["ts"])
        items[day] += [(event, section, project, text) for event, section, text in _items_of(contract, saves)]
    return {day: _note(day, found, done, zone) for day, found in items.items() if any(item[3] for item in found)}


def _day(event, zone):
    return f"{local(event['ts'], zone):%Y-%m-%d}"


def _items_of(contract, saves):
    """Yield what saves came to, each text with the save that said it first, a to-do with the last."""
    saves = counting(saves)

    def saying(text, field):
        return [save for save in saves if same(text) in map(same, save.get(field, ()))]

    worded = [save for save in saves if not contract.is_rejected(save["summary"]) and not names_only(save)]
    for text in distinct(save["summary"] for save in contract.telling(worded)):
        yield next(save for save in worded if same(save["summary"]) == same(text)), "events", text
    for text in contract.decisions(saves):
        yield saying(text, "decisions")[0], "insights", text
    for text in contract.todos(saves):
        yield (
            [save for save in saves if same_todo(text) in map(same_todo, map(stage_line, save.get("todos", ())))][-1],
            "todos",
            text,
        )


def _note(day, items, done, zone):
    found: dict[Any, Any] = {}
    for event, section, project, text in sorted(items, key=lambda item: (item[0]["ts"], item[0]["id"])):
        is_todo = section == "todos"
        if not text or (is_todo and done[day, project, same_todo(text)] > event["ts"]):
            continue
        key = is_todo, project, same_todo(text) if is_todo else same(text)
        first = found.setdefault(key, {"section": section, "event": event, "text": text, "project": project})
        first["section"] = max(first["section"], section)  # an insight stays one
    note: dict[str, list[str]] = {"events": [], "insights": [], "todos": []}
    for item in found.values():
        mark = {"events": f"{local(item['event']['ts'], zone):%H:%M} ", "insights": "", "todos": "[ ] "}[
            item["section"]
        ]
        name = f"{project_name(item['project'])}: " if item["project"] else ""
        note[item["section"]].append(f"{mark}{name}{item['text']}")
    return note
