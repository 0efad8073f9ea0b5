"""Random logs for the contract: few projects, machines, conversations and texts, so that everything meets."""

import hmac
import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.contract_text import likeness, same

PATHS = ("/w/shop", "/w/blog")
ADDRESSES = ("github.com/ada/shop", "github.com/ada/tool")
MACHINES = ("m1", "m2")
STATEMENTS = (
    "Prices are integers", "The API listens on port 8443", "Tests run in CI", "文章一律使用简体中文", "用 pytest 跑测试", "Cache is Redis",
    "Zebra crossing", "Use café au lait", "Timeout is 30 seconds", "Timeout is 60 seconds", "限流为 5 次", "限流为 7 次",
    "Deploys go out on Fridays", "Deploys go out on Tuesdays", "Deploys go out on Mondays", "Ω is the unit; ﬁles are not",
    "# Not a heading", "*stars* and `ticks`", "Straße in größe", "İstanbul 👩‍💻 works",
)  # fmt: skip
DECISIONS = (
    "Use JWT",
    "Pay with Stripe",
    "Prices are integers",
    "第三章用倒叙",
    "Cache is Redis",
    "Apple first",
    "None",
)
TODOS = ("Write docs", "Load test", "校对引文", "Ask legal", "None")
SUMMARIES = (
    "Did it",
    "Moved login",
    "阶段摘要：写完第三章",
    "Fixed the cart",
    "long words go on " * 40,
    "长文本，" * 40,
)
KINDS = {
    "fact": 8, "stage_summary": 6, "withdrawal": 6, "session_start": 1, "session_end": 1, "turn_end": 1, "again": 2,
    "project": 1, "weather": 0.5, "context_injected": 0.5, "redacted": 0.3, "plan": 4,
}  # fmt: skip
HABITS = (
    "keys", "retraction", "rejected", "restored", "quarantine", "helpers", "zones", "layers", "late", "machines",
    "wandering", "categories", "corrections", "ahead", "newer", "copies", "plans",
)  # fmt: skip
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Shanghai", "Pacific/Apia")


Event = dict[str, Any]


class RandomLog:
    """The lines of each day file, and the time zone of its user; the same ones for a seed."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.habits = {habit for habit in HABITS if self.maybe(0.7)}
        self.zone = self.chance.choice(ZONES) if "zones" in self.habits else "UTC"
        self.statements = self.chance.sample(STATEMENTS, 5)
        self.conversations = [f"c{number}" for number in range(self.chance.choice((1, 2, 3)))]
        self.home = {name: self.chance.choice((*PATHS, None)) for name in self.conversations}
        self.agent = {name: self.chance.choice(("claude-code", "cursor", None)) for name in self.conversations}
        self.machine = {name: self.chance.choice(MACHINES) for name in self.conversations}
        self.now = datetime(
            2026,
            self.chance.choice((3, 10)),
            self.chance.choice((24, 27, 28, 29)),
            self.chance.choice((0, 12, 22, 23)),
            tzinfo=UTC,
        )
        self.ahead = ""
        self.events: list[Event] = []
        for _ in range(self.chance.choice((4, 12, 20, 30, 40))):
            self.now += timedelta(minutes=self.chance.choice((0, 1, 7, 60, 300, 1200)))
            self._go_on(self.chance.choices(list(KINDS), list(KINDS.values()))[0])
        self.files = self._scattered()

    def maybe(self, share):
        return self.chance.random() < share

    def _scattered(self):
        """Name -> lines, in no order; some lines lie in the file of another machine."""
        found: dict[str, list[bytes]] = {}
        for event in self.events:
            name = f"{event['ts'][:10]}{self.chance.choice(('', '', '.m2'))}.jsonl"
            line = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
            lines = found.setdefault(name, [])
            lines.insert(self.chance.randint(0, len(lines)), line)
        return found

    def _go_on(self, kind):
        if kind == "again":
            self._tell_again()
        elif kind == "withdrawal":
            self._withdraw()
        elif kind == "project":
            self._see_project()
        elif kind == "plan":
            self._plan()
        else:
            conversation = self.chance.choice(self.conversations)
            makers = {"fact": self._fact, "stage_summary": self._summary, "session_end": self._end}
            fields = makers.get(kind, lambda: {"was": "fact", "digest": "d", "chars": 1})()
            self._add(kind, conversation, **self._speaker(conversation), **fields)

    def _add(self, kind, conversation, /, **fields):
        """Append an event; some are late, some of a clock that had been ahead, some of a newer program."""
        moment = self.now
        if "late" in self.habits and self.maybe(0.2):
            moment -= timedelta(minutes=self.chance.choice((1, 100, 3000)))
        if "ahead" in self.habits and not self.ahead and self.maybe(0.1):
            moment += timedelta(days=self.chance.choice((0, 2)), hours=3)
            self.ahead = f"{moment:%Y-%m-%dT%H:%M:%S}"
        number = len(self.events)
        ts = f"{moment:%Y-%m-%dT%H:%M:%S}.{number:06d}Z"
        after = f"{self.ahead}.{number:06d}Z" if self.ahead and ts < self.ahead else ""
        stamp = f"{int(moment.timestamp() * 1000):012x}"
        event_id = f"{stamp[:8]}-{stamp[8:]}-7000-8000-{number:012x}"
        version = 9 if "newer" in self.habits and self.maybe(0.05) else 1
        odd = {"mood": ["good"]} if "newer" in self.habits and self.maybe(0.2) else {}
        event = {
            "v": version,
            "id": event_id,
            "ts": ts,
            "after": after,
            "type": kind,
            "conversation_id": conversation,
            **fields,
            **odd,
        }
        self.events.append(
            {name: value for name, value in event.items() if value is not None and (name, value) != ("after", "")}
        )

    def _speaker(self, conversation):
        fields: Event = {"project": self.home[conversation], "agent": self.agent[conversation]}
        if "wandering" in self.habits and self.maybe(0.2):
            fields["project"] = self.chance.choice((None, *PATHS))
        if "machines" in self.habits and self.maybe(0.9):
            fields["replica"] = self.machine[conversation]
        if "helpers" in self.habits and self.maybe(0.1):
            fields["subagent"] = "helper"
        if "layers" in self.habits and self.maybe(0.5):
            fields["layer"] = self.chance.choice((1, 2, 3, 3, 3, 4))
        return fields

    def _fact(self):
        choices = {
            "memory_type": "WBO", "importance": (1, 2, 3, 4, 5), "confidence": (0.5, 0.9, 1.0), "scope": ("project", "user"),
            "category": ("decision", "lesson", "preference", "insight", "style", "Lesson"), "entities": (["api"], ["redis"]),
        }  # fmt: skip
        fields = {name: self.chance.choice(values) for name, values in choices.items() if self.maybe(0.25)}
        if "categories" in self.habits and "category" in fields:
            fields["category"] = self._odd(fields["category"])
        if "keys" in self.habits and self.maybe(0.5):
            fields["key"] = self.chance.choice(("port", "db_port", "DB port", "db-port"))
        if "corrections" in self.habits and self.events and self.maybe(0.3):
            fields["replaces"] = [self.chance.choice(self.events)["id"]]
            fields["instead_of"] = [likeness(self.chance.choice((*self.statements, *DECISIONS))) for _ in range(2)]
        return {"content": self._odd(self.chance.choice(self.statements)), **fields}

    def _summary(self):
        fields = {"summary": self._odd(self.chance.choice(SUMMARIES))}
        choices = {"scope": ("session",), "topic": ("Login", "Cart", "第三章", "topic goes on " * 10)}
        fields |= {name: self.chance.choice(values) for name, values in choices.items() if self.maybe(0.5)}
        lists = {"decisions": (DECISIONS, 0.5), "todos": (TODOS, 0.5), "done": (TODOS, 0.5)}
        for name, (texts, share) in lists.items():
            if self.maybe(share):
                fields[name] = [self._odd(text) for text in self.chance.sample(texts, self.chance.randint(1, 3))]
        for name in ("todos", "done"):
            if name in fields and self.maybe(0.3):
                fields[name] = [" ".join(reversed(text.split(" "))) for text in fields[name]]
        if "layers" in self.habits and self.maybe(0.2):
            fields |= {"topic": "Cart fix", "summary": "Cart fix"}
        if "decisions" in fields and self.maybe(0.2):
            fields["of_user"] = fields["decisions"][:1]
        return fields

    def _end(self):
        return {"reason": self.chance.choice(("clear", "logout")), **({"turns": 3} if self.maybe(0.3) else {})}

    def _withdraw(self):
        habits = [habit for habit in ("retraction", "rejected", "restored", "quarantine") if habit in self.habits]
        if not (habits and self.events):
            return
        kind = self.chance.choice(habits)
        made = [event for event in self.events if event["type"] in ("retraction", "rejected", "restored")]
        by_hand = [event for event in made if event["type"] != "retraction"]
        aims = by_hand if kind == "retraction" else made
        target = self.chance.choice(aims[-3:] if aims and self.maybe(0.5) else self.events)["id"]
        if kind == "retraction":
            who = {
                "conversation": self.chance.choice((self.conversations[0], "by-hand")),
                "agent": self.chance.choice(("human", "cursor")),
            }
            self._add(kind, who["conversation"], agent=who["agent"], target=target)
        elif kind == "quarantine":
            self._add("retraction", "by-hand", agent="cursor", conversation=self.chance.choice(self.conversations))
        elif kind == "rejected":
            self._add(kind, "human", agent="human", **self._rejected(target))
        else:  # of what was withdrawn, sometimes of what a person recorded
            aim = self.chance.choice(made)["id"] if made and self.maybe(0.8) else target
            self._add(kind, "human", agent="human", target=aim)

    def _rejected(self, target):
        text = self._odd(self.chance.choice((*self.statements, *DECISIONS, *TODOS, "Did it", "Login")))
        salted = {"salt": "ab12", "digest": hmac.new(b"ab12", same(text).encode(), "sha256").hexdigest()}
        whole = {"conversation": self.chance.choice(self.conversations)}
        return self.chance.choice(({"target": target}, {"statement": text}, salted, whole))

    def _see_project(self):
        if "machines" not in self.habits:
            return
        if self.maybe(0.3):
            names = (*PATHS, *(f"{machine}:{path}" for machine in MACHINES for path in PATHS), *ADDRESSES)
            self._add("project_joined", "human", agent="human", replica="m1", projects=self.chance.sample(names, 2))
            return
        fields = {
            "remote": self.chance.choice((None, *ADDRESSES)),
            "known_as": self.chance.choice((None, None, *PATHS, ADDRESSES[0])),
        }
        self._add(
            "project_seen",
            "human",
            agent="cli",
            path=self.chance.choice(PATHS),
            replica=self.chance.choice(MACHINES),
            **fields,
        )

    def _plan(self):
        """Plan a change of a section, or let a person decide about one."""
        planned = [event["id"] for event in self.events if event["type"] == "plan_entry"]
        if "plans" not in self.habits:
            return
        if planned and self.maybe(0.3):
            decision = {
                "target": self.chance.choice(planned),
                "choice": self.chance.choice(("apply", "discard", "edited")),
            }
            self._add("entry_resolved", "human", agent="human", content=self.chance.choice(("- green", "")), **decision)
            return
        conversation = self.chance.choice(self.conversations)
        key = {"path": self.chance.choice(("user", "user", "soul")), "heading": self.chance.choice(("Tea", "Work"))}
        fields = {
            "content": self.chance.choice(("- green", "- black\n- white", "Prices are integers", "", None)),
            "batch": self.chance.choice((None, "b1")),
        }
        operation = self.chance.choice((None, None, None, "delete", "clear", "no-op"))
        self._add("plan_entry", conversation, **self._speaker(conversation), key=key, operation=operation, **fields)

    def _tell_again(self):
        """An event once more: the same line, with other bytes, or on another day."""
        if not self.events:
            return
        worded = [event for event in self.events if "content" in event or "summary" in event]
        event = dict(self.chance.choice(worded or self.events))
        if "copies" in self.habits:
            event |= {name: self.chance.choice(self.statements) for name in ("content", "summary") if event.get(name)}
            if self.maybe(0.3):
                event["ts"] = f"{event['ts'][:8]}{self.chance.choice((25, 28, 29))}{event['ts'][10:]}"
        self.events.append(event)

    def _odd(self, text):
        """The same text as somebody else would write it."""
        for _ in range(self.chance.choice((0, 0, 0, 1, 2))):
            ways = (
                text.upper(), text + self.chance.choice((".", "!", "。", "！", " .", "...")), text.replace(" ", "  "), f"{text[:3]}\u200b{text[3:]}",
                "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text), f" {text} ", text.replace("用 ", "用"),
            )  # fmt: skip
            text = self.chance.choice(ways)
        return text
