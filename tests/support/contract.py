"""The contract in short: what holds by a log, in plain loops over all of its events.

Written from the documents; it shares no code with what it judges, and is slow: every question goes through the log
anew. `contract_files.py` says how files tell it, `tests/laws/test_reference.py` compares them with a replay.
"""

import hmac
import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from tests.support.contract_text import (
    cut,
    distinct,
    key_name,
    likeness,
    one_line,
    same,
    same_todo,
    stage_line,
    states_nothing,
)

WITHDRAWALS = ("retraction", "rejected", "restored")
OF_NO_CONVERSATION = (
    "rejected", "restored", "project_seen", "project_joined", "entry_resolved", "entry_applied", "knowledge_edited",
)  # fmt: skip
STANDS_IN = "\ue000"
DRAWN = 3  # the layer of what a program drew from a transcript
SOURCES = {2: "layer2_precompact", 3: "layer3_auto", 4: "layer4_stop"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def clock(event):
    return event["ts"], event["id"]


def turn(event):
    """When an event counts: one made while the log was ahead of its clock takes the place of another time."""
    return event.get("after") or event["ts"], event["id"]


def events_of(files):
    """Read day files (name -> lines). Each id is one event: its line on the day that the id names, else on the first.

    Of several lines on that day, that in the log's own file counts, else the smaller.
    """
    found: dict[Any, Any] = {}
    for name, lines in files.items():
        for line in lines:
            event = json.loads(line)
            day = f"{EPOCH + timedelta(milliseconds=int(event['id'][:8] + event['id'][9:13], 16)):%Y-%m-%d}"
            claim = name[:10] != day, name[:10], name.count(".") > 1, line
            if event["id"] not in found or claim < found[event["id"]][0]:
                found[event["id"]] = claim, event
    return sorted((event for _, event in found.values()), key=turn)


class Statement:
    """What a fact says, or a decision of a summary, the `place`th of its conversation."""

    def __init__(self, event, text, place=0, *, is_heard=True):
        self.event, self.place, self.is_heard = event, place, is_heard
        self.is_decision = event["type"] == "stage_summary"
        self.turn = turn(event)
        self.text = stage_line(text) if self.is_decision else one_line(text)
        self.same = same(text)
        self.key = key_name(event.get("key") or "")
        self.importance, self.confidence = event.get("importance", 3), event.get("confidence", 0.9)


def standing(statements):
    """Group the statements of one memory that stand, each group oldest first.

    A key stands for what it says last. A statement that was corrected, or that is what a key has said and says no
    more, stands only where somebody has said it since.
    """
    in_order = sorted(statements, key=lambda each: (each.turn, each.place))
    last = {each.key: each for each in in_order if each.key}
    current = {each.same for each in last.values()}
    over = defaultdict(list)
    for each in in_order:
        if each.key and each.same not in current:
            over[each.same].append(last[each.key].turn)
        for digest in each.event.get("instead_of", ()):
            over[digest].append(each.turn)
    groups = defaultdict(list)
    for each in in_order:
        is_of_key = not each.key or last[each.key].same == each.same
        if is_of_key and all(each.turn >= at for at in [*over[each.same], *over[likeness(each.text)]]):
            groups[each.same].append(each)
    return list(groups.values())


class Conclusion(NamedTuple):
    topic: str = ""
    parts: Sequence[str] = ()
    joint: str = ""
    more: int = 0
    saved_at: str = ""
    source: str = "none"
    is_composed: bool = False


def agents_own(saves):
    return [save for save in saves if save.get("layer") != DRAWN]


def counting(saves):
    """Leave out what a program drew before its newest."""
    drawn = [save for save in saves if save.get("layer") == DRAWN]
    return [save for save in saves if save.get("layer") != DRAWN or save is drawn[-1]]


def _keyed(salt, text):
    return hmac.new(salt.encode(), same(text).encode(), "sha256").hexdigest()


def names_only(save):
    """Return whether a program drew nothing but a topic."""
    return save.get("layer") == DRAWN and one_line(save["summary"]) == one_line(save.get("topic", ""))


def is_saved(event):
    return event["type"] in ("fact", "stage_summary")


class Contract:
    """A log. Helpers' events are for audits only; what a newer program writes is only counted."""

    def __init__(self, events):
        known = [{**event, "type": event["type"] if event["v"] == 1 else "newer"} for event in events]
        self.events = [event for event in known if not event.get("subagent")]
        self.by_id = {event["id"]: event for event in known}
        self._withdraw()

    # ------------------------------------------------------------------------------------------ what is withdrawn

    def _withdraw(self):
        """A withdrawal counts unless a later one that counts takes it back; agents take back no decision of a person."""
        taken_back, self.in_force = set(), []
        for event in sorted(self.events, key=turn, reverse=True):
            target = self.by_id.get(event.get("target"), event)
            is_agents = event["type"] == "retraction" and target["type"] in ("rejected", "restored")
            if event["type"] in WITHDRAWALS and not is_agents and event["id"] not in taken_back:
                self.in_force.append(event)
                taken_back.add(event.get("target"))
        self.gone = {event["target"] for event in self.in_force if event.get("target")}
        self.quarantined = {event["conversation"] for event in self.in_force if event.get("conversation")}
        # what a person has recorded by hand and taken back was no work
        self.never = {event["target"] for event in self.in_force if event["type"] == "restored"}

    def holds(self, event):
        return event["id"] not in self.gone and event["conversation_id"] not in self.quarantined

    def is_rejected(self, text):
        """Return whether a person does not want this said, in whatever words.

        A rejection has the statement, or a salt and a digest of it; so has a text that stands in for rejected words.
        """
        for event in self.in_force:
            if event["type"] == "rejected" and not event.get("target"):
                salt, own = event.get("salt", ""), _keyed(event.get("salt", ""), text)
                digest = _keyed("", event["statement"]) if "statement" in event else event.get("digest")
                if digest and (digest == own or (text[:1] == STANDS_IN and f"{salt}:{digest}" in text[1:].split())):
                    return True
        return False

    def allowed(self, texts):
        return [text for text in texts if not self.is_rejected(text)]

    @cached_property
    def facts(self):
        facts = [event for event in self.events if event["type"] == "fact" and self.holds(event)]
        return [fact for fact in facts if not self.is_rejected(fact["content"])]

    @cached_property
    def saves(self):
        return [event for event in self.events if event["type"] == "stage_summary" and self.holds(event)]

    # ------------------------------------------------------------------------------------------ conversations

    @cached_property
    def conversations(self):
        """Each conversation with its events, by the clock; what a person decides is a part of none."""
        found = defaultdict(list)
        for event in sorted(self.events, key=clock):
            is_persons = event["type"] == "retraction" and event.get("agent") == "human"
            if event["type"] not in OF_NO_CONVERSATION and not is_persons:
                found[event["conversation_id"]].append(event)
        return found

    def work(self, conversation):
        return [
            event for event in self.conversations[conversation] if not (is_saved(event) and event["id"] in self.never)
        ]

    def first(self, conversation, field):
        """Find the first event of a conversation with that field."""
        return next((event for event in self.conversations[conversation] if event.get(field)), {})

    # ------------------------------------------------------------------------------------------ projects

    @cached_property
    def seen(self):
        return [event for event in self.events if event["type"] == "project_seen" and self.holds(event)]

    @cached_property
    def stays(self):
        """Collect each path with its machines, the first one first."""
        found = defaultdict(list)
        for event in self.events:
            path = event.get("path") if event["type"] == "project_seen" else event.get("project")
            if path and event.get("replica"):
                found[path].append(event["replica"])
        return found

    def part(self, path, replica):
        """Name a path of a machine: by its address; else by itself on the machine that was there first."""
        machines = [*self.stays[path], None]
        at = [event for event in self.seen if (event.get("replica"), event["path"]) == (replica or machines[0], path)]
        if at and at[-1].get("remote"):
            return at[-1]["remote"]
        return path if replica in (None, machines[0]) or machines[0] is None else f"{replica}:{path}"

    def part_named(self, name):
        replica, colon, path = name.partition(":")
        if name.startswith("/"):
            return self.part(name, None)
        return self.part(path, replica) if colon else name

    @cached_property
    def joined(self):
        """Map the parts of what a person has joined to all of its parts."""
        groups: dict[str, set[str]] = {}
        for event in self.events:
            if event["type"] == "project_joined" and self.holds(event):
                parts = {self.part_named(name) for name in event["projects"]}
                group = parts.union(*(groups.get(part, ()) for part in parts))
                groups.update(dict.fromkeys(group, group))
        return groups

    def project(self, path, replica):
        """Name a project: of several parts by an address, else by the first of them."""
        part = self.part(path, replica)
        return min(self.joined.get(part, [part]), key=lambda name: (name[0] == "/" or ":" in name, name))

    def project_at(self, event):
        """Name the project of an event; one that names no machine is of that of its conversation."""
        replica = event.get("replica") or self.first(event["conversation_id"], "replica").get("replica")
        return self.project(event["project"], replica)

    def project_of(self, conversation):
        """Name the project that a conversation named first: all that it saved is of that one. None: the user's."""
        named = self.first(conversation, "project")
        return self.project_at(named) if named else None

    def memory_of(self, fact):
        """Name the project that a fact is about; None: the user."""
        scope = fact.get("scope") or ("user" if fact.get("memory_type") in ("B", "O") else "project")
        return self.project_at(fact) if scope == "project" and fact.get("project") else None

    @cached_property
    def homes(self):
        """Map projects to what their directories are called after: the first name on record, unless another has it."""
        names = {self.project(path, replica) for path, machines in self.stays.items() for replica in machines}
        found: dict[str, str] = {}
        for event in self.seen:
            name, home = self.project(event["path"], event.get("replica")), event.get("known_as")
            if home and name not in found and home not in names - {name} and home not in found.values():
                found[name] = home
        return found

    # ------------------------------------------------------------------------------------------ memories

    def memories(self):
        """Map each project, and None for the user, to its statements."""
        found = defaultdict(list)
        for fact in self.facts:
            if one_line(fact["content"]):
                found[self.memory_of(fact)].append(Statement(fact, fact["content"]))
        for conversation in {save["conversation_id"] for save in self.saves}:
            project = self.project_of(conversation)
            saves = self.saves_of(conversation)
            places = [same(text) for text in self.decisions(saves)]
            for save in saves:
                users = map(same, save.get("of_user", ()) if project else ())
                for text in distinct(save.get("decisions", ())):
                    if same(text) in places:
                        # what a program drew counts once the user said it, or a second conversation
                        is_heard = save.get("layer") != DRAWN or same(text) in users
                        found[project].append(Statement(save, text, places.index(same(text)), is_heard=is_heard))
        return found

    # ------------------------------------------------------------------------------------------ conclusions

    def saves_of(self, conversation):
        return counting([save for save in self.saves if save["conversation_id"] == conversation])

    def facts_of(self, conversation):
        return [fact for fact in self.facts if fact["conversation_id"] == conversation]

    def decisions(self, saves):
        """List those of all saves: only a withdrawal takes one away."""
        every = (text for save in saves for text in save.get("decisions", ()) if not states_nothing(text))
        return self.allowed(distinct(every))

    def todos(self, saves):
        """List those of the newest save that names any, the agent's first, but for what later saves call done."""
        naming = [save for save in saves if any(map(stage_line, save.get("todos", ())))]
        lists = agents_own(naming) or naming
        if not lists:
            return []
        later = saves[saves.index(lists[-1]) + 1 :]
        done = {same_todo(text) for save in later for text in save.get("done", ())}
        todos = [stage_line(text) for text in lists[-1]["todos"] if not states_nothing(text)]
        return self.allowed({same_todo(text): text for text in todos if same_todo(text) not in done}.values())

    def topic(self, save):
        topic, summary = (text if self.allowed([text]) else "" for text in (save.get("topic", ""), save["summary"]))
        return cut(one_line(topic) or cut(stage_line(summary), 50, ""), 100)

    def telling(self, saves):
        """Choose the saves whose text stands: the agent's newest of the session, else its stages, else what was drawn."""
        own = agents_own(saves)
        return [save for save in own if save.get("scope") == "session"][-1:] or own or saves[-1:]

    def conclusion(self, saves, facts):
        """Conclude from the saves of a conversation, else from its facts."""
        worded = [save for save in saves if not self.is_rejected(save["summary"])]
        if chosen := self.telling([save for save in worded if not names_only(save)]):
            layers = [save.get("layer") for save in chosen]
            if layers[-1] == DRAWN or chosen[-1].get("scope") == "session":
                source = SOURCES.get(layers[-1], "layer1_rules")
            else:
                source = next((SOURCES[net] for net in (2, 4) if net in layers), SOURCES[DRAWN])
            is_composed = layers[-1] == DRAWN or chosen[-1].get("scope") != "session"
            parts = distinct(save["summary"] for save in chosen)
            return Conclusion(self.topic(chosen[0]), parts, " → ", 0, chosen[-1]["ts"], source, is_composed)
        if texts := self.most_important(facts):
            saved_at = max(fact["ts"] for fact in facts)
            return Conclusion(
                cut(texts[0], 50, ""), texts[:5], "; ", max(0, len(texts) - 5), saved_at, SOURCES[DRAWN], True
            )
        return Conclusion(next(filter(None, map(self.topic, reversed(saves))), ""))

    def most_important(self, facts):
        """List the facts, each once, those that matter most first."""
        by_memory = defaultdict(list)
        for fact in facts:
            by_memory[self.memory_of(fact)].append(Statement(fact, fact["content"]))
        groups = [group for statements in by_memory.values() for group in standing(statements)]
        groups.sort(key=lambda group: (-max(each.importance for each in group), group[0].turn))
        return [group[0].text for group in groups]
