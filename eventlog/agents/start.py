"""What a session is given at its start: how to save, and what is known already.

Runs inside agents' hooks, while a session waits to begin: reads a few rendered files, never the log.
"""

import os

from eventlog import wire
from eventlog.agents import prompts
from eventlog.agents.moment import Moment, text
from eventlog.agents.preferences import preferences
from eventlog.project import project_root
from eventlog.store import Store, project_slug

LONGEST = 9000  # characters; hosts put what is longer than 10,000 into a file the agent may not read
_SUMMARIES = 2
_RECENT_BYTES = 256 << 10  # of sessions.jsonl, from its end

_TITLES = {
    "en": {"user": "What is known about the user", "project": "What is known about this project",
           "recent": "The last sessions in this project", "cut": "… (cut; the rest: `{path}`)"},
    "zh": {"user": "关于用户", "project": "关于本项目", "recent": "本项目最近的会话", "cut": "…(已截断;全文:`{path}`)"},
}  # fmt: skip


def start_context(store: Store, moment: Moment) -> str:
    """The text a session starts with, at most `LONGEST` characters; never empty."""
    chosen = preferences(store)
    source = text(moment.payload, "source")
    again = prompts.flush(store, moment, chosen.locale) + "\n" if source == "compact" else ""
    parts = again + prompts.start(store, moment, chosen.locale)
    for part in _knowledge(store, moment, _TITLES.get(chosen.locale, _TITLES["en"]), resumed=source == "resume"):
        parts += f"\n{part[: max(0, LONGEST - len(parts) - 1)]}"
    return parts[:LONGEST].rstrip() + "\n"


def _knowledge(store: Store, moment: Moment, titles: "dict[str, str]", *, resumed: bool) -> "list[str]":
    """The sections, most needed first; a resumed session still has its own history."""
    project = project_root(moment.where)
    files = {
        "project": f"{store.knowledge}/projects/{project_slug(project)}/MEMORY.md",
        "user": f"{store.knowledge}/MEMORY.md",
    }
    recent = "" if resumed else _recent(store, project, moment.session)
    parts = [_section(titles["recent"], recent)] if recent else []
    for name, path in files.items():
        if known := _body(path):
            parts.append(_section(titles[name], _cut(known, titles["cut"].format(path=path))))
    return parts


def _section(title: str, body: str) -> str:
    return f"# {title}\n\n{body}\n"


def _cut(body: str, note: str, limit: int = 3000) -> str:
    """Whole lines only."""
    if len(body) <= limit:
        return body
    return body[: body.rfind("\n", 0, limit)] + f"\n{note}"


def _body(path: str) -> str:
    """A memory file without its title and its stamp."""
    try:
        with open(path, encoding="utf-8", errors="replace") as opened:
            lines = opened.read().splitlines()
    except OSError:
        return ""
    return "\n".join(line for line in lines if not line.startswith(("# ", "<!-- eventlog "))).strip()


def _recent(store: Store, project: str, session: str) -> str:
    """The newest summaries of the project, of other sessions."""
    found: list[str] = []
    for line in reversed(_tail(f"{store.knowledge}/sessions.jsonl")):
        try:
            one = wire.loads(line)
        except ValueError:
            continue
        if isinstance(one, dict) and one.get("project") == project and one.get("session_id") != session:
            found += [_summary(one)] if one.get("summary") else []
        if len(found) == _SUMMARIES:
            break
    return "\n".join(found)


def _summary(one: "dict[str, object]") -> str:
    todos = one.get("todos")
    left = "; ".join(map(str, todos)) if isinstance(todos, list) else ""
    return f"- [{str(one.get('timestamp'))[:10]}] {one.get('topic')}: {one.get('summary')}" + (
        f" → {left}" * bool(left)
    )


def _tail(path: str) -> "list[bytes]":
    try:
        with open(path, "rb") as opened:
            opened.seek(max(0, os.fstat(opened.fileno()).st_size - _RECENT_BYTES))
            return opened.read().splitlines()
    except OSError:
        return []
