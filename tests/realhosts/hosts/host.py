"""A real command-line agent: where its program is, how it is told of our model, how it is asked for a turn."""

import json
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, NamedTuple

_PATIENCE = 60  # seconds for a program to say its version
KEY = "sk-test"  # no host is ever given another


class Ended(NamedTuple):
    """A program that ran: how it ended and what it said."""

    code: int
    out: str
    err: str
    seconds: float


class Host(ABC):
    """What differs between hosts; everything else of a scenario is the same for all."""

    name: ClassVar[str]  # as `eventlog install` calls it
    agent: ClassVar[str]  # as events do
    title: ClassVar[str]
    quit: ClassVar[str] = "/exit"
    compact: ClassVar[str] = "/compact"
    removes: ClassVar[str] = ""  # the command that removes our plugin; "" where it takes none
    tells_of_failures: ClassVar[bool] = False  # of turns that end by an error of the model
    tells_of_ends: ClassVar[bool] = True  # of a conversation without a terminal
    tells_what_it_wrote: ClassVar[bool] = False  # of a conversation to compact it
    helper: ClassVar[
        tuple[str, str, Mapping[str, object]]
    ]  # its tool that starts one: name, key of the prompt, the rest
    in_background: ClassVar[Mapping[str, object]] = {}  # what the call of that tool has beside, so that nobody waits
    tells_helpers: ClassVar[bool] = True  # what the hook of a helper's start answers

    @abstractmethod
    def program(self, modules: Path) -> Path:
        """The executable among npm's packages."""

    @abstractmethod
    def files(self, project: Path, address: str) -> Mapping[str, str]:
        """Files of the home directory as someone has them who used the host before: path -> text."""

    @abstractmethod
    def environment(self, address: str) -> Mapping[str, str]:
        """What leads it to our model and keeps it from calling home."""

    @abstractmethod
    def turn(self, prompt: str, session: str, *, resume: bool, free: bool) -> list[str]:
        """Arguments of one turn without a terminal; `free` lets it run every command unasked."""

    def fork(self, resume: list[str]) -> list[str]:
        """Arguments of a turn in a copy of the conversation that these would resume; none where it makes no copies."""
        return []

    @abstractmethod
    def terminal(self) -> list[str]:
        """Arguments of a conversation in a terminal, free to run every command."""

    def consenting(self, install: str) -> str:
        """The command that installs a plugin, with what a person would answer."""
        return install

    def session(self, ended: Ended, wanted: str) -> str:
        """The id of the conversation a turn belonged to."""
        return wanted

    def version(self, modules: Path) -> str:
        """As the program says; "?" where it does not."""
        command = [str(self.program(modules)), "--version"]
        try:
            said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE).stdout
        except subprocess.TimeoutExpired:
            return "?"
        found = re.search(r"\d+\.\d+\.\d+", said)
        return found[0] if found else "?"


def as_json(value: object) -> str:
    """A configuration file as people have it."""
    return json.dumps(value, indent=2) + "\n"
