"""Two other programs, told and asked through their own verbs, one store of theirs for each project.

projectmem searches for a substring or a regular expression: it gets any word of the question, and prints the oldest
first. wake-memory searches its decisions for the question as a substring; at a prompt its hook whispers.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import orjson

from bench.measure import Run
from bench.memory.arms import DEPTH, Arm, Line, Pusher
from bench.memory.world import Haystack, Query, Unit
from bench.peers import begin, installed

Call = Callable[..., bytes]  # one command in one project, for its output
_WORD = re.compile(r"\w{3,}|[\u4e00-\u9fff]{2,}")


def arms(scratch: Path) -> dict[str, Arm]:
    """Both, installed into an environment of their own below `scratch`."""
    run = installed(scratch)
    return {"projectmem": Projectmem(run), "wake-memory": Wake(run)}


class Peer(Pusher):
    """A program with a directory for each project; what is about the user is told in all of them."""

    def __init__(self, run: Call) -> None:
        self.run = run

    def index(self, haystack: Haystack) -> None:
        super().index(haystack)
        self.answers: dict[tuple[str, str], list[str]] = {}
        self.calls: dict[str, Call] = {}
        for project in sorted({unit.project for unit in haystack.units} - {""}):
            folder = haystack.store.parent / type(self).__name__ / Path(project).name
            folder.mkdir(parents=True)
            self.calls[project] = partial(self.run, folder)
            begin(self.calls[project])
        for unit in haystack.units:
            for project in [unit.project] if unit.project else self.calls:
                self.tell(self.calls[project], _plain(unit))

    def rank(self, query: Query) -> list[str]:
        asked = (query.project, query.text)
        if asked not in self.answers:
            self.answers[asked] = self.said(self.search(query), query)[:DEPTH]
        return self.answers[asked]

    def cold(self, query: Query) -> Run:
        return lambda: self.search(query)

    def said(self, output: str, query: Query) -> list[str]:
        """The units whose text stands in the output, in its order."""
        places = {unit.id: output.find(_plain(unit)) for unit in self.around(query)}
        return sorted((unit for unit, place in places.items() if place >= 0), key=places.__getitem__)

    def tell(self, call: Call, text: str) -> None:
        raise NotImplementedError

    def search(self, query: Query) -> str:
        raise NotImplementedError


class Projectmem(Peer):
    """`pjm note` and `pjm search --regex`."""

    def tell(self, call: Call, text: str) -> None:
        call("pjm", "note", "--", text)

    def search(self, query: Query) -> str:
        words = "|".join(map(re.escape, _WORD.findall(query.text))) or re.escape(query.text)
        return self.calls[query.project]("pjm", "search", "--regex", "--", words).decode()


class Wake(Peer):
    """`wake log decision`, `wake search`, and its hook at a prompt."""

    def tell(self, call: Call, text: str) -> None:
        call("wake", "log", "decision", f"--decision={text}", "--rationale=said")

    def search(self, query: Query) -> str:
        found = self.calls[query.project]("wake", "search", "--", query.text).splitlines()
        return "\n".join(str(orjson.loads(line)["summary"]) for line in found)

    def answer(self, query: Query) -> list[Line]:
        payload = {"session_id": query.conversation, "prompt": query.text, "hook_event_name": "UserPromptSubmit"}
        output = self.calls[query.project]("wake", "claude-prompt-whisper", stdin=orjson.dumps(payload)).decode()
        return [Line(unit, self.units[unit].line) for unit in self.said(output, query)]


def _plain(unit: Unit) -> str:
    """Its text in one line, as both print it."""
    return " ".join(unit.text.split())
