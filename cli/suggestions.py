"""Suggest words: completions of names of the log in a shell, and the nearest of a choice where another was typed.

A completion prints no error: it suggests nothing instead.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from eventlog.app.open_store import Machine, OpenStore
from eventlog.app.open_store import open_store as opening
from eventlog.format.text import is_harmless, one_line
from eventlog.hosts import room_name
from eventlog.store import Store

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_Suggest = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]
_Suggestion = tuple[str, str]  # the word, and its description
_NEWEST = 30


def _suggesting(find: Callable[[OpenStore], Iterable[_Suggestion]]) -> _Suggest:
    """Build a completion from a search of the store named on the command line."""

    def suggest(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem[str]]":
        from click.shell_completion import CompletionItem

        with suppress(Exception):
            store = ctx.params.get("store") or Store.locate(None, os.environ)
            found = find(opening(store, Machine.here()))
            words = {word: one_line(text) for word, text in found if word.startswith(incomplete) and is_harmless(word)}
            return [CompletionItem(_typed(word), help=text) for word, text in words.items()]
        return []

    return suggest


def _typed(word: str) -> str:
    """Quote a word for bash, which takes it into the command line as it is; other shells quote by themselves."""
    is_plain = not os.environ.get("_EVENTLOG_COMPLETE", "").startswith("bash") or re.fullmatch(r"[\w@%+=:,./-]+", word)
    return word if is_plain else shlex.quote(word)


def _projects(opened: OpenStore) -> Iterator[_Suggestion]:
    from eventlog.app.naming.projects import all_projects

    found = all_projects(opened.log)
    names = [project.name for project in found]
    for name, (_, path) in zip(names, (project.places[-1] for project in found), strict=True):
        yield (name if names.count(name) == 1 else path), path


def _agents(_: OpenStore) -> Iterator[_Suggestion]:
    from eventlog.hosts import rooms

    yield from ((room, agent) for agent, room in rooms().items())


def _sessions(opened: OpenStore) -> Iterator[_Suggestion]:
    from eventlog.app.ask.sessions import sessions
    from eventlog.app.naming.references import ShortIds

    short = ShortIds(opened.store)
    yield "last", "the newest"
    yield from ((short.of(row.session_id), row.topic) for row in reversed(sessions(opened, limit=_NEWEST)))


def _events(opened: OpenStore) -> Iterator[_Suggestion]:
    from eventlog.app.ask.query import EventFilter, query
    from eventlog.app.naming.references import ShortIds
    from eventlog.cli.show.events import describe

    short = ShortIds(opened.store)
    for entry in query(opened.log, EventFilter(), limit=_NEWEST, reverse=True):
        yield short.of(entry.event.id), describe(entry.event)


def _staged(opened: OpenStore) -> Iterator[_Suggestion]:
    from eventlog.app.naming.references import ShortIds
    from eventlog.app.write.resolve import waiting

    short = ShortIds(opened.store)
    yield from ((short.of(staged.entry.id), staged.section) for staged in waiting(opened))


projects, agents, sessions, events, staged = map(_suggesting, (_projects, _agents, _sessions, _events, _staged))


class NearChoice(click.Choice[str]):
    """A choice that suggests the nearest word."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Suggest the nearest choice, or list all."""
        from eventlog.app.naming.names import nearest

        del ctx
        words = [*map(str, self.choices)]
        near = nearest(str(value), words)
        hint = f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(words)}"
        return f"no {str(value)!r}; {hint}"


class HostChoice(NearChoice):
    """A choice of hosts, by any of their names."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Translate any name of a host into its name on the command line."""
        return super().convert(room_name(value), param, ctx)
