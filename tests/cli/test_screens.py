"""Every screen as a person sees it, at 80 and 120 columns, in English and Chinese, and as a program gets it in a pipe.

The screens lie in `screens/`; EVENTLOG_SCREENS=write writes them anew, for whoever has changed one on purpose to read.
"""

import os
from pathlib import Path

import click
import pytest

from eventlog import ids
from eventlog.cli.cells import cells
from tests.support import builders
from tests.support.command_line import call
from tests.support.screen import foreign_styles, seen, told
from tests.support.tree import ROOT

KEPT = Path(__file__).parent / "screens"
NOW = "2026-02-20T18:00:00.000000Z"
SESSION = "5f0c1f0e-shop-cart"
SHOP = "projects/shop-957ed0/MEMORY.md"
SCREENS = {
    "brief": (),
    "sessions": ("sessions",),
    "query": ("query",),
    "query-session": ("query", "--session", SESSION),
    "query-words": ("query", "--grep", "cents prices"),
    "query-nothing": ("query", "--grep", "cents unicorns"),
    "query-markdown": ("query", "--session", SESSION, "--format", "markdown"),
    "why-line": ("why", f"{SHOP}:5"),
    "why-file": ("why", SHOP),
    "stats": ("stats",),
    "stats-nets": ("stats", "--nets"),
    "status": ("status",),
    "doctor": ("doctor",),
    "memory": ("memory", "shop"),
    "fact": ("fact", "Totals are rounded half even, once per line item and never again", "--category", "decision", "--session", "new"),
    "fact-again": ("fact", "Prices are integers in cents", "--category", "decision", "--session", "s1", "--project", ""),
    "summary": ("summary", "--topic", "Cart", "--summary", "Rewrote the cart on integers", "--session", "new"),
    "plan": ("plan", "--path", "user", "--heading", "Work", "--content", "Backend.", "--session", "new"),
    "replay": ("replay",),
    "apply": ("apply",),
    "resolve": ("resolve",),
    "context": ("context",),
    "verify": ("verify",),
    "config": ("config",),
    "project-list": ("project", "list"),
    "typo": ("sesions",),
}  # fmt: skip
CHINESE = {
    "zh-sessions": ("sessions", "--project", "notes"),
    "zh-query": ("query", "--project", "notes"),
    "zh-query-words": ("query", "--grep", "中文 术语"),
    "zh-memory": ("memory", "notes"),
    "zh-why-line": ("why", "MEMORY.md:10"),
    "zh-fact": ("fact", "笔记按日期存放,文件名是年月日;附件放在同名目录里,不要放在仓库根目录下,否则搜索时找不到它们", "--session", "new"),
    "zh-summary": ("summary", "--topic", "编码问题", "--summary", "修复了 GBK 与 UTF-8 混用的问题 🎉", "--session", "new"),
}  # fmt: skip

UNBROKEN = {"query-markdown": True, "config": True}  # a page for a file; places are whole, to be copied


@pytest.fixture
def scene(home, monkeypatch):
    """A week of three agents, and a person's own: ids, clock and places are the same in every run."""
    numbers = iter(range(1, 1000))
    monkeypatch.setattr("eventlog.app.machine.time.time_ns", lambda: builders.NOON + 6 * 3600 * 10**9)
    monkeypatch.setattr("eventlog.ids.new", lambda ms: ids.derived(ms, f"screen {next(numbers)}"))
    monkeypatch.setenv("EVENTLOG_DISABLED", "0")
    monkeypatch.chdir(home)
    (home / ".claude").mkdir()
    (home / ".eventlog").mkdir(mode=0o700)
    (home / ".eventlog" / "config.yaml").write_text("version: 1\ntimezone: Europe/Berlin\n")
    (home / ".eventlog" / "config.yaml").chmod(0o600)
    call("append", "--stdin", stdin=(ROOT / "fixtures" / "demo" / "events.jsonl").read_bytes())
    call("fact", "Prices are integers in cents", "--category", "decision", "--session", "s1", "--project", "")
    call("replay")
    call(
        "plan",
        "--path",
        "soul",
        "--heading",
        "Tone",
        "--content",
        "Short sentences.",
        "--session",
        "s1",
        "--project",
        "",
    )
    call("apply")
    call(
        "plan",
        "--path",
        "user",
        "--heading",
        "Work",
        "--content",
        "Backend, mostly.",
        "--session",
        "s1",
        "--project",
        "",
    )
    then = builders.NOON + 5 * 3600 * 10**9
    os.utime(home / ".eventlog" / "knowledge" / "sessions.jsonl", ns=(then, then))
    return home


def _compare(name, said, home):
    said = said.replace(str(home), "~")
    if os.environ.get("EVENTLOG_SCREENS") == "write":
        KEPT.mkdir(exist_ok=True)
        (KEPT / name).write_text(said, encoding="utf-8")
    assert (KEPT / name).read_text(encoding="utf-8") == said


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", SCREENS | CHINESE)
def test_a_screen_is_as_it_was_agreed(scene, name, columns):
    if name.startswith("zh-"):
        with (scene / ".eventlog" / "config.yaml").open("a") as config:
            config.write("locale: zh\n")
        call("replay")
    said = told(*(SCREENS | CHINESE)[name], columns=columns)

    assert not foreign_styles(said)
    assert UNBROKEN.get(name) or columns >= max(
        map(cells, click.unstyle(said).replace(str(scene), "~").splitlines()), default=0
    )
    _compare(f"{name}-{columns}.txt", seen(said, columns), scene)


@pytest.mark.parametrize("name", SCREENS)
def test_a_pipe_gets_no_colours_and_whole_values(scene, name):
    ran = call(*SCREENS[name])

    assert "\x1b" not in ran.out + ran.err
    _compare(f"{name}-piped.txt", ran.out + ran.err, scene)


def test_every_screen_that_is_kept_is_one_that_is_shown():
    shown = {f"{name}-{columns}.txt" for name in SCREENS | CHINESE for columns in (80, 120)}

    assert shown | {f"{name}-piped.txt" for name in SCREENS} == {path.name for path in KEPT.iterdir()}
