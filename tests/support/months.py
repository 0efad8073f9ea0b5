"""Three months of three agents on three projects, in two languages: the same in every run, at any size."""

import random
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path

from eventlog.fast import fastjson
from eventlog.format import ids, timestamps
from eventlog.format.marks import digest_of, line_marks
from eventlog.projections.search.findable import things_named
from eventlog.store import project_slug

FIRST = date(2026, 8, 25)
DAYS, SESSIONS = 90, 286
PROJECTS = ("/home/ada/src/shop", "/home/ada/src/django", "/home/ada/src/代理池")
AGENTS = (("claude-code", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("cursor", "beforeSubmitPrompt"))
HOSTILE = '</script><img src=x onerror="alert(1)"> <!-- & \u202e\x07 "quoted" \\'
_SAID = {
    PROJECTS[0]: (
        ("decision", "Postgres 16 is pinned in CI, because 17 drops the old collation"),
        ("decision", "Invoices are immutable; a correction is a new invoice"),
        ("decision", "Prices are integers in cents, never floats"),
        ("lesson", "Stripe calls a webhook twice: every handler is idempotent by event id"),
        ("lesson", "The search index is rebuilt by `make reindex`, which takes 26 minutes"),
        (None, "Staging deploys from main, production from the tag `release`"),
        (None, "The cart lives in Redis for 14 days"),
        (None, "Coupons are checked in `checkout/coupons.py`, before taxes"),
    ),
    PROJECTS[1]: (
        ("decision", "FilePathField accepts a callable for its path"),
        ("lesson", "Migrations are squashed only after two releases"),
        (None, "Tests of the admin need `--parallel=1`, they share a template cache"),
        (None, "Tokens of password resets expire after 3 days"),
    ),
    PROJECTS[2]: (
        ("decision", "代理池改用 Redis 存储，不再写本地文件"),
        ("lesson", "重试间隔必须加随机抖动，否则会同时失败"),
        (None, "健康检查每 30 秒一次，连续三次失败才下线"),
    ),
}
_TOPICS = (
    "Search reindex",
    "Cart in integer cents",
    "Webhook retries",
    "Flaky admin tests",
    "Release notes",
    "代理池重写",
)


class _Story:
    """Lines of a log, by day, in the order in which they are told."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.days: dict[str, list[bytes]] = defaultdict(list)
        self._count = 0

    def tell(self, ts: str, kind: str, conversation: str, **fields: object) -> str:
        self._count += 1
        event_id = ids.derived(timestamps.to_ms(ts), str(self._count))
        common = {"v": 1, "id": event_id, "ts": ts, "type": kind, "conversation_id": conversation}
        self.days[ts[:10]].append(
            fastjson.dumps({**common, **{name: one for name, one in fields.items() if one is not None}})
        )
        return event_id


def write_months(
    log_dir: str | Path, *, sessions: int = SESSIONS, days: int = DAYS, tools: int = 0, seed: int = 7
) -> None:
    """Write the day files of a log; `tools` events of tools in every session make it longer."""
    story = _Story(seed)
    said: list[tuple[str, str]] = []
    for number in range(sessions):
        _session(story, number, sessions, days, tools, said)
    _decisions(story, days, said)
    folder = Path(log_dir)
    folder.mkdir(parents=True, exist_ok=True)
    for day, lines in story.days.items():
        (folder / f"{day}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))


def _session(story: _Story, number: int, sessions: int, days: int, tools: int, said: list[tuple[str, str]]) -> None:
    chance = story.random
    agent, prompt = AGENTS[number % 3]
    project = PROJECTS[(number // 2) % 3]
    day = (FIRST + timedelta(days=number * days // sessions)).isoformat()
    clock = iter(range(number % 7 * 90 * 60 + number % 13, 86_400, 7))
    conversation = f"{agent}-{number:04d}"

    def at() -> str:
        second = next(clock)
        return f"{day}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000000Z"

    about = {"project": project, "agent": agent}
    story.tell(
        at(), "session_start", conversation, source="startup", model="claude-sonnet-4-5", git_branch="main", **about
    )
    known = sorted({text for _, text in said if text in {one for _, one in _SAID[project]}})
    if known:
        given = line_marks(chance.sample(known, min(4, len(known))))
        story.tell(at(), "context_injected", conversation, digest="d", chars=900 + number, trigger="start", lines=given,
                   files=[{"path": f"/home/ada/.eventlog/knowledge/projects/{project_slug(project)}/MEMORY.md", "digest": "d", "as_of": at()}], cut=["notes"][: number % 2], **about)  # fmt: skip
    for turn in range(1 + number % 4):
        asked = f"What about {chance.choice(_TOPICS).lower()}, {chance.choice(('again', 'and the retries', 'in production'))}?"
        story.tell(at(), "host_event", conversation, name=prompt, payload={"prompt": asked}, **about)
        here = [(event, text) for event, text in said if text in {one for _, one in _SAID[project]}]
        if here and turn == 0:
            event, text = chance.choice(here)
            named = [things_named(["Redis"], None, text)]
            story.tell(at(), "context_injected", conversation, digest="d", chars=240, trigger="prompt", sources=[event],
                       lines=line_marks([text]), about=named, **about)  # fmt: skip
        for _ in range(tools):
            story.tell(
                at(),
                "host_event",
                conversation,
                name="PostToolUse",
                payload={"tool_name": "Bash", "tool_input": {"command": "make test"}},
                **about,
            )
        story.tell(at(), "turn_end", conversation, status="completed", **about)
    for category, text in chance.sample(_SAID[project], 1 + number % 2):
        said.append(
            (
                story.tell(
                    at(),
                    "fact",
                    conversation,
                    content=text,
                    category=category,
                    entities=["Redis"] if "Redis" in text else None,
                    **about,
                ),
                text,
            )
        )
    if number == sessions // 3:
        story.tell(
            at(),
            "fact",
            conversation,
            content="The shop listens on port 8443",
            key=None,
            **{**about, "project": PROJECTS[0]},
        )
    if number == sessions // 2:
        story.tell(
            at(), "fact", conversation, content="The shop listens on port 9443", **{**about, "project": PROJECTS[0]}
        )
        story.tell(at(), "fact", conversation, content=f"A hostile line: {HOSTILE}", **about)
    if number % 9 == 4:
        story.tell(
            at(),
            "fact",
            conversation,
            content=f"Ada prefers short answers, version {number // 40}",
            memory_type="O",
            key="answers",
            **about,
        )
    topic = chance.choice(_TOPICS)
    story.tell(at(), "stage_summary", conversation, scope="session", topic=f"{topic} {number}", summary=f"{topic}: done in {number % 5 + 1} steps, tests pass",
               decisions=[f"{topic} waits for release {number // 30}"] if number % 5 == 0 else None,
               todos=["Tell ops about the new port"] if number % 11 == 0 else None, layer=1 + number % 4, **about)  # fmt: skip
    story.tell(at(), "session_end", conversation, reason="clear", **about)


def _decisions(story: _Story, days: int, said: list[tuple[str, str]]) -> None:
    """Forget a fact, take another back and bring it in again, and leave a change of SOUL.md waiting."""
    when = [(FIRST + timedelta(days=days * share // 10)).isoformat() for share in (6, 7, 8)]
    forgotten = "The cart lives in Redis for 14 days"
    source = next((event for event, text in said if text == forgotten), None)
    if source:
        salt = "5a17"
        story.tell(
            f"{when[0]}T23:00:00.000000Z",
            "rejected",
            "human",
            agent="human",
            salt=salt,
            digest=digest_of(forgotten, salt),
            source=source,
        )
    withdrawn = story.tell(
        f"{when[1]}T23:00:00.000000Z", "retraction", "human", agent="human", target=said[1][0], reason="wrong"
    )
    story.tell(f"{when[2]}T23:00:00.000000Z", "restored", "human", agent="human", target=withdrawn)
    story.tell(f"{when[2]}T23:10:00.000000Z", "plan_entry", "codex-0001", key={"path": "soul", "heading": "Tone"},
               content="Answer in two sentences.", agent="codex", project=PROJECTS[0])  # fmt: skip
