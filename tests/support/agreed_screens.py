"""What is asked for each agreed screen, verb by verb; `zh-` is a screen of a store whose locale is Chinese."""

import json

from eventlog.format.marks import line_marks
from tests.support.scene import MEMORY, SHOP, Screen

SESSION = "5f0c1f0e-shop-cart"
TOTALS = "Totals are rounded half even, once per line item and never again"
PRICES = "Prices are integers in cents; floats are converted at the edge only"
LONG = "笔记按日期存放,文件名是年月日;附件放在同名目录里,不要放在仓库根目录下,否则搜索时找不到它们"
PLAN = "version: 1.0.0\nentries:\n  - key: {path: user, heading: Work, level: 9}\n    content: x\n  - content: y\n"
NOTES = "# Notes\n\n- The staging database is reset every night\n- Ask Bo before a release on Fridays\n"
CLAUDE = (("install", "claude", "--no-allow"),)
FORGOT = (("forget", f"{MEMORY}:5", "--yes"),)
SAID_AND_FORGOT = (("fact", TOTALS, "--session", "new"), ("forget", PRICES, "--yes"))
APPLIED = (("apply",),)
_NEW = ("--session", "new", "--agent", "claude-code", "--project", SHOP)
_ASKED = ("append", "host_event", "name=UserPromptSubmit", *_NEW)
_TOLD = {
    "digest": "d",
    "chars": 120,
    "trigger": "prompt",
    "sources": ["x", "y"],
    "about": [line_marks(["购物车"]), line_marks(["x"])],
}
RECALLED = (
    _ASKED, ("append", "context_injected", "--json", json.dumps(_TOLD), *_NEW), _ASKED, _ASKED,
    ("fact", TOTALS, "--entity", "购物车", *_NEW[:2]),
)  # fmt: skip


def _reads(*asked: str, locale: str = "en", cwd: str = SHOP) -> Screen:
    return Screen(asked, writes=False, locale=locale, cwd=cwd)


def _chinese(*asked: str) -> Screen:
    return _reads(*asked, locale="zh")


RECORD = {
    "fact": Screen(("fact", TOTALS, "--category", "decision", "--session", "new")),
    "fact-again": Screen(("fact", "Prices are integers in cents", "--category", "decision", "--session", "s1", "--project", "")),
    "fact-rejected": Screen(("fact", "Prices are integers in cents; floats are converted at the edge only", "--session", "new"), FORGOT),
    "fact-of-nobody": Screen(("fact", TOTALS)),
    "summary": Screen(("summary", "--topic", "Cart", "--summary", "Rewrote the cart on integers", "--session", "new")),
    "plan": Screen(("plan", "--path", "user", "--heading", "Work", "--content", "Backend.", "--session", "new")),
    "plan-dry-run": Screen(("plan", "--path", "user", "--heading", "Work", "--content", "Backend.", "--session", "new", "--dry-run")),
    "append": Screen(("append", "session_end", "reason=done", "--session", "s1")),
    "append-stream": Screen(("append", "--stdin"), answer='{"type":"fact","content":"a","conversation_id":"x"}\n{"type":"fact","content":"b","conversation_id":"x"}\n'),
    "append-mistake": Screen(("append", "--stdin"), answer='{"type":"fact","content":"a","conversation_id":"x"}\n{"type":"fact"}\n'),
    "import-dry-run": Screen(("import", "bullets", "NOTES.md", "--dry-run"), files=(("NOTES.md", NOTES),), cwd=""),
    "import": Screen(("import", "bullets", "NOTES.md"), files=(("NOTES.md", NOTES),), cwd=""),
    "import-nothing": _reads("import", "claude"),
}  # fmt: skip
AGENTS = {
    "init": Screen(("init",), answer="y\n"),
    "init-nothing": Screen(("init",), (("init", "--yes"),)),
    "install": Screen(("install", "claude"), answer="y\n"),
    "install-again": Screen(("install", "claude", "--no-allow"), CLAUDE),
    "plugin": Screen(("plugin", "build", "plugin")),
    "uninstall": Screen(("uninstall", "claude"), CLAUDE),
    "uninstall-nothing": Screen(("uninstall", "claude")),
    "doctor": _reads("doctor"),
    "doctor-installed": Screen(("doctor",), CLAUDE),
    "doctor-config": Screen(("doctor",), files=((".eventlog/config.yaml", "version: 1\ntimezone: Mars/Olympus\nlocal: en\n"),)),
    "hook": _reads("hook", "--help"),
    "mcp": _reads("mcp", "--help"),
    "context": _reads("context"),
    "context-session": Screen(("context", "--session", "new")),
    "lifecycle-run": Screen(("lifecycle", "run", "end", "--session", "s1")),
    "lifecycle-hooks": _reads("lifecycle", "hooks"),
    "lifecycle-trust": _reads("lifecycle", "trust"),
    "settle": Screen(("settle",)),
}  # fmt: skip
_FACT = (
    '{"v":1,"id":"019c7858-a000-7000-8000-000000000001","ts":"2026-02-20T00:00:00.000000Z","type":"fact",'
    '"conversation_id":"c1","agent":"cli","content":"%s"}\n'
)
KNOWLEDGE = {
    "replay": Screen(("replay",)),
    "replay-conflict": Screen(
        ("replay",),
        files=(
            (".eventlog/log/2026-02-20.desk.jsonl", _FACT % "ports are odd"),
            (".eventlog/log/2026-02-20.evil.jsonl", _FACT % "ports are even"),
        ),
    ),
    "replay-check": Screen(("replay", "--check")),
    "replay-without": _reads("replay", "--without", f"session={SESSION}"),
    "replay-without-nothing": _reads("replay", "--without", "agent=gemini"),
    "apply": Screen(("apply",)),
    "apply-dry-run": _reads("apply", "--dry-run"),
    "apply-nothing": Screen(("apply",), APPLIED),
    "status": _reads("status"),
    "status-forgotten": Screen(("status",), FORGOT),
    "resolve": _reads("resolve"),
    "resolve-apply": Screen(("resolve", "--apply")),
    "resolve-discard": Screen(("resolve", "--discard")),
    "resolve-nothing": Screen(("resolve",), (("resolve", "--discard"),)),
    "validate": Screen(("validate", "plan.yaml"), files=(("plan.yaml", PLAN),), cwd=""),
    "config": _reads("config"),
    "why-line": _reads("why", f"{MEMORY}:5"),
    "why-file": _reads("why", MEMORY),
    "why-words": _reads("why", "integers", "in", "cents"),
    "why-session": Screen(("why", "--session", "new"), (("context", "--session", "new"),)),
    "why-not": Screen(("why", "--not", "floats are converted at the edge only"), FORGOT),
    "why-not-known": _reads("why", "--not", "unicorns"),
    "show-session": _reads("show", SESSION),
    "show-event": _reads("show", "31d1ca"),
    "show-file": _reads("show", MEMORY, "--as-of", "2026-02-17"),
    "diff": _reads("diff", "--from", "2026-02-17", MEMORY),
    "diff-nothing": _reads("diff", "--from", "today", MEMORY),
    "bisect": _reads("bisect", MEMORY, "Invoices are immutable"),
    "bisect-nothing": _reads("bisect", MEMORY, "unicorns"),
    "search": _reads("search", "rounding"),
    "search-nothing": _reads("search", "unicorns"),
    "recall-explain": _reads("recall", "--explain", "which rounding do carts in cents have?"),
    "forget": Screen(("forget", f"{MEMORY}:5"), answer="y\n"),
    "forget-matching": _reads("forget", "--matching", "integers"),
    "forget-matching-all": Screen(("forget", "--matching", "integers", "--all"), answer="y\n"),
    "edit": Screen(("edit", f"{MEMORY}:5", "--content", "Prices are integers in euro cents"), answer="y\n"),
    "edit-nothing": _reads("edit", "unicorns", "--content", "horses"),
    "move": Screen(("move", f"{MEMORY}:5", "user"), answer="y\n"),
    "review": Screen(("review",), answer="s\ns\ns\ns\ns\ns\nq\n"),
    "today": _reads("today"),
    "week": _reads("week", "--since", "2026-02-16"),
    "on": _reads("on", "2026-02-17", "--all-projects"),
    "forget-declined": Screen(("forget", f"{MEMORY}:5"), answer="n\n"),
    "forget-nothing": _reads("forget", "unicorns"),
    "redact": Screen(("redact", f"{MEMORY}:5"), answer="y\n"),
    "redact-dry-run": _reads("redact", "integers in CENTS", "--dry-run"),
    "scan": _reads("scan"),
    "backup": _reads("backup", "restore", "NOTES.md"),
    "redact-nothing": _reads("redact", "unicorns"),
    "undo": Screen(("undo",), FORGOT, answer="y\n"),
    "undo-applied": Screen(("undo",), APPLIED, answer="y\n"),
    "undo-nothing": Screen(("undo", "31d1ca")),
    "restore": Screen(("restore", MEMORY, "--as-of", "2026-02-20T17:00:00Z"), SAID_AND_FORGOT, answer="y\n"),
    "restore-nothing": _reads("restore", MEMORY, "--as-of", "today"),
    "share": _reads("share", "--help"),
    "team": _reads("team", "--help"),
}  # fmt: skip
AUDIT = {
    "brief": _reads(),
    "export": _reads("export", "--format", "markdown"),
    "prune": _reads("prune", "--help"),
    "report": _reads("report", "--help"),
    "serve": _reads("serve", "--help"),
    "query-all-projects": _reads("query", "--all-projects"),
    "sessions-all-projects": _reads("sessions", "--all-projects"),
    "memory": _reads("memory"),
    "memory-nothing": _reads("memory", cwd=""),
    "sessions": _reads("sessions"),
    "sessions-nothing": _reads("sessions", "--agent", "gemini"),
    "query": _reads("query"),
    "query-session": _reads("query", "--session", SESSION),
    "query-words": _reads("query", "--grep", "cents prices"),
    "query-nothing": _reads("query", "--grep", "cents unicorns"),
    "query-markdown": _reads("query", "--session", SESSION, "--format", "markdown"),
    "stats": _reads("stats"),
    "sync": _reads("sync", "status"),
    "sync-dry-run": _reads("sync", "--dry-run"),
    "stats-nets": _reads("stats", "--nets"),
    "stats-recall": Screen(("stats",), RECALLED),
    "project-list": _reads("project", "list"),
    "project-join": Screen(("project", "join", "shop", "notes")),
    "verify": _reads("verify"),
    "seal": Screen(("seal",)),
    "seal-again": Screen(("seal",), (("seal",),)),
    "verify-damaged": Screen(("verify",), files=((".eventlog/log/2026-02-15.jsonl", '{"v":1,"id":"x"}\n{"broken\n'),)),
}  # fmt: skip
SHELL = {
    "completion": Screen(("completion", "bash", "--install")),
    "help": _reads("--help"),
    "help-verb": _reads("help", "forget"),
    **{f"help-{topic}": _reads("help", topic) for topic in ("names", "time")},
    "no-verb": _reads("sesions"),
    "no-option": _reads("sessions", "--limt", "3"),
    "no-choice": _reads("install", "clod"),
    "no-project": _reads("sessions", "--project", "shp"),
    "no-session": _reads("show", "ffffff"),
    "no-file": _reads("why", "MEMROY.md:5"),
    "no-time": _reads("sessions", "--since", "yesterdy"),
    "no-argument": _reads("bisect", MEMORY),
}  # fmt: skip
CHINESE = {
    "zh-brief": _chinese(),
    "zh-sessions": _chinese("sessions", "--project", "notes"),
    "zh-query": _chinese("query", "--project", "notes"),
    "zh-query-words": _chinese("query", "--grep", "中文 术语"),
    "zh-search": _chinese("search", "中文", "--all-projects"),
    "zh-memory": _chinese("memory", "notes"),
    "zh-show-session": _chinese("show", "019c6a10-codex-notes"),
    "zh-show-file": _chinese("show", "user/MEMORY.md", "--as-of", "2026-02-19"),
    "zh-diff": _chinese("diff", "--from", "2026-02-17", "user/MEMORY.md"),
    "zh-bisect": _chinese("bisect", "user/MEMORY.md", "中文交流"),
    "zh-why-line": _chinese("why", "user/MEMORY.md:10"),
    "zh-why-file": _chinese("why", "user/MEMORY.md"),
    "zh-why-not": _chinese("why", "--not", "文件名"),
    "zh-context": _chinese("context"),
    "zh-stats": _chinese("stats"),
    "zh-stats-recall": Screen(("stats",), RECALLED, locale="zh"),
    "zh-forget": Screen(("forget", "user/MEMORY.md:10"), answer="y\n", locale="zh"),
    "zh-fact": Screen(("fact", LONG, "--session", "new"), locale="zh"),
    "zh-summary": Screen(("summary", "--topic", "编码问题", "--summary", "修复了 GBK 与 UTF-8 混用的问题 🎉", "--session", "new"), locale="zh"),
    "zh-plan": Screen(("plan", "--path", "user", "--heading", "工作", "--content", LONG, "--session", "new"), locale="zh"),
    "zh-apply": Screen(("apply",), (("plan", "--path", "user", "--heading", "工作", "--content", LONG, "--session", "new"),), locale="zh"),
}  # fmt: skip
SCREENS = RECORD | AGENTS | KNOWLEDGE | AUDIT | SHELL
