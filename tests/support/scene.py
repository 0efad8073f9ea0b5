"""A week of three agents, and a person's own: ids, clock and places are the same in every run, and each screen begins with it."""

import itertools
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from eventlog.format import ids
from eventlog.store import append_once
from tests.support import builders
from tests.support.command_line import call
from tests.support.screen import told
from tests.support.tree import ROOT

SHOP = "/home/ada/src/shop"
MEMORY = "projects/shop-957ed0/MEMORY.md"
_MINE = ("--session", "s1", "--project", "")


class Screen(NamedTuple):
    """What is asked, after what, in which state; `answer` is what a person says when asked."""

    asked: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    answer: str = ""
    files: tuple[tuple[str, str], ...] = ()
    writes: bool = True
    locale: str = "en"
    cwd: str = SHOP


class Scene:
    """The home of the person; a screen that writes begins with a copy of its own, all others share one."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch) -> None:
        self.home = place / "home"
        self._kept = place / "kept"
        self._patch = patch
        self._there = ""
        patch.chdir(place)
        for name in list(os.environ):
            if name.startswith("EVENTLOG_") or name in {"CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR", "NO_COLOR"}:
                patch.delenv(name)
        patch.setenv("HOME", str(self.home))
        patch.setenv("PATH", str(place / "bin"))
        (place / "bin").mkdir()
        (place / "bin" / "eventlog").touch(mode=0o755)  # what agents are told to call
        clock = builders.Clock(builders.NOON + 6 * 3600 * 10**9)
        defaults = append_once.append_once.__kwdefaults__
        assert defaults
        patch.setitem(defaults, "clock", clock)  # the real one was taken when it was imported
        patch.setattr("eventlog.format.timestamps.system_clock", clock)
        patch.setattr(os, "nice", lambda _: 0)  # this process goes on
        for locale in ("en", "zh"):
            self._prepare(locale)

    def told(self, screen: Screen, columns: int, **options: bool) -> str:
        """All that a terminal of so many columns is told."""
        self._begin(screen)
        return str(told(*screen.asked, columns=columns, answer=screen.answer, **options))

    def piped(self, screen: Screen) -> str:
        """All that a pipe is told, complaints last."""
        self._begin(screen)
        ran = call(*screen.asked, stdin=screen.answer.encode())
        return f"{ran.out}{ran.err}"

    def _prepare(self, locale: str) -> None:
        self._number("kept")
        self._patch.setattr(os, "getcwd", lambda: SHOP)
        store = self.home / ".eventlog"
        store.mkdir(mode=0o700, parents=True)
        (self.home / ".claude").mkdir()
        (store / "config.yaml").write_text(f"version: 1\ntimezone: Europe/Berlin\nlocale: {locale}\n")
        (store / "config.yaml").chmod(0o600)
        call("append", "--stdin", stdin=(ROOT / "fixtures" / "demo" / "events.jsonl").read_bytes())
        call("fact", "Prices are integers in cents", "--category", "decision", *_MINE)
        call("replay")
        call("plan", "--path", "soul", "--heading", "Tone", "--content", "Short sentences.", *_MINE)
        call("apply")
        call("plan", "--path", "user", "--heading", "Work", "--content", "Backend, mostly.", *_MINE)
        then = builders.NOON + 5 * 3600 * 10**9
        os.utime(store / "knowledge" / "sessions.jsonl", ns=(then, then))
        self.home.rename(self._kept.with_name(locale))

    def _begin(self, screen: Screen) -> None:
        if self._there != screen.locale or screen.writes or screen.before or screen.files:
            shutil.rmtree(self.home, ignore_errors=True)
            shutil.copytree(self._kept.with_name(screen.locale), self.home)
            self._there = "" if screen.writes or screen.before or screen.files else screen.locale
        for name, text in screen.files:
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(text, encoding="utf-8")
            os.utime(self.home / name, ns=(builders.NOON, builders.NOON))
        self._number("screen")
        self._patch.chdir(self.home)
        self._patch.setattr(os, "getcwd", lambda: screen.cwd or str(self.home))
        for args in screen.before:
            call(*args)

    def _number(self, word: str) -> None:
        numbers = itertools.count(1)
        self._patch.setattr("eventlog.format.ids.new", lambda ms: ids.derived(ms, f"{word} {next(numbers)}"))
