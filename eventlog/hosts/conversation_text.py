"""The text of a conversation from its steps, by which it is found: title, requests, closing words, files; pure."""

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from eventlog.format.text import cut, one_line
from eventlog.hosts.steps import Step

MOST_CHARS = 4000  # of all fields together
_TITLE, _CLOSING, _FILES = 200, 1200, 800
_PROMPT = 600
_SHORTEST_PROMPT = 3  # characters; less says nothing


class DrawnText(NamedTuple):
    """The fields of a `conversation_text`."""

    title: str
    prompts: list[str]
    closing: str
    files: list[str]


class TextDrawer:
    """The parts of a conversation its text needs, kept while its steps stream by to somebody else."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._title = self._closing = ""
        self._prompts: list[str] = []
        self._files: dict[str, None] = {}

    def watch(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Hand the steps on, and look at each."""
        for step in steps:
            self._take_in(step)
            yield step

    def drawn(self) -> DrawnText | None:
        """Return the text within its bounds; None where nobody asked anything."""
        if not self._prompts:
            return None
        title = cut(self._title or self._prompts[0], _TITLE)
        closing, files = cut(self._closing, _CLOSING), list(_within(self._files, _FILES))
        room = MOST_CHARS - len(title) - len(closing) - sum(map(len, files))
        return DrawnText(title, _first_and_last(self._prompts, room), closing, files)

    def _take_in(self, step: Step) -> None:
        said = one_line(step.text)
        if step.kind == "title":
            self._title = said
        elif step.kind == "prompt" and len(said) >= _SHORTEST_PROMPT:
            self._prompts.append(cut(said, _PROMPT))
        elif step.kind == "reply" and said:
            self._closing = said
        elif step.kind == "file" and said:
            self._files[self._below_project(said)] = None

    def _below_project(self, path: str) -> str:
        inside = self._project and PurePath(path).is_relative_to(self._project)
        return str(PurePath(path).relative_to(self._project)) if inside else path


def _within(texts: Iterable[str], room: int) -> Iterator[str]:
    """Yield texts as long as there is room."""
    for text in texts:
        room -= len(text)
        if room < 0:
            return
        yield text


def _first_and_last(prompts: list[str], room: int) -> list[str]:
    """Choose prompts for which there is room, from both ends: what was wanted first, and what it came to."""
    kept: dict[int, str] = {}
    last = len(prompts) - 1
    order = (place for pair in zip(range(last + 1), range(last, -1, -1), strict=True) for place in pair)
    for place in dict.fromkeys(order):
        room -= len(prompts[place])
        if room < 0:
            break
        kept[place] = prompts[place]
    return [kept[place] for place in sorted(kept)]
