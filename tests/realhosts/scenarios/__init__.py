"""The behaviours looked at, by name; a scenario returns a word on what it saw, raises Fails or Skipped."""

from collections.abc import Callable

from tests.realhosts.scenarios import (
    broken,
    fallback,
    going_on,
    installing,
    recalling,
    speed,
    start,
    surroundings,
    tools,
    weeks,
)
from tests.realhosts.scene import Scene

Scenario = Callable[[Scene], str]

TIMED = (
    "speed",
    "speed-of-events",
    "hook-processes",
)  # what they print would be the time of whatever plays beside them

HEADLESS: dict[str, Scenario] = {
    "start": start.start,
    "told-once": start.told_once,
    "save": start.save,
    "save-by-shell": start.save_by_shell,
    "four-turns": start.four_turns,
    "no-false-flush": start.no_false_flush,
    "own-words": start.own_words,
    "drawn-summary": start.drawn_summary,
    "stop-obeyed": fallback.stop_obeyed,
    "stop-ignored": fallback.stop_ignored,
    "compaction": going_on.compaction,
    "packet": going_on.packet,
    "resume-twice": going_on.resume_twice,
    "fork": going_on.fork,
    "parallel": going_on.parallel,
    "default-permissions": installing.default_permissions,
    "recall": recalling.recall,
    "recall-before-file": recalling.recall_before_file,
    "tools": tools.tools,
    "named-tool": weeks.named_tool,
    "nasty": weeks.nasty,
    "nasty-by-shell": weeks.nasty_by_shell,
    "no-allow": weeks.no_allow,
    "no-allow-by-shell": weeks.no_allow_by_shell,
    "plan": weeks.plan,
    "helpers": weeks.helpers,
    "background-helpers": weeks.background_helpers,
    "killed": weeks.killed,
    "next-session-tells": weeks.next_session_tells,
    "plugin": surroundings.plugin,
    "cross-host": surroundings.cross_host,
    "worktree": surroundings.worktree,
    "api-error": surroundings.api_error,
    "missing-package": broken.missing_package,
    "missing-python": broken.missing_python,
    "read-only-store": broken.read_only_store,
    "full-store": broken.full_store,
    "locked-store": broken.locked_store,
    "uninstall": installing.uninstall,
    "speed": speed.turn_with_and_without,
    "speed-of-events": speed.each_event,
    "hook-processes": speed.processes_of_a_turn,
}
