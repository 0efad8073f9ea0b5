"""One scenario's world: a home, a project, a store and a model of its own, and a host living in it."""

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from tests.realhosts.hosts.host import Ended, Host
from tests.realhosts.model.script import Hang
from tests.realhosts.model.server import Call, Model
from tests.realhosts.outcome import Fails

KNOWN = "The kingfisher nests in column seven"  # a fact of an earlier conversation: who was told it has our context
ENOUGH = 5_000  # tokens of a conversation that hosts find worth compacting
PATIENCE = 60  # seconds a turn may take on a quiet machine before it counts as hanging; without us it takes one to 18
KILLED_WITHIN = 30  # seconds a model thinks whose host is killed meanwhile
SETTLING = 10  # seconds for what hooks do in the background


class Turn(NamedTuple):
    """One turn: how the host ended, its conversation, and what the model was asked meanwhile."""

    ended: Ended
    session: str
    calls: list[Call]

    @property
    def main(self) -> list[Call]:
        """The model's turns of the conversation."""
        return [call for call in self.calls if call.is_main]


class Scene:
    """A host and its surroundings; everything is written below `root`."""

    def __init__(self, host: Host, modules: Path, python: Path, root: Path) -> None:
        self.host, self.modules, self.python = host, modules, python
        self.home, self.project = root / "home", root / "project"
        self.where, self.programs = self.project, root / "bin"
        self.store = self.home / ".eventlog"
        self.model = Model()
        shutil.rmtree(root, ignore_errors=True)
        self.home.mkdir(parents=True)
        self._furnish()

    # -- eventlog

    def eventlog(self, *arguments: str, code: int | None = 0) -> str:
        """What `eventlog ARGUMENTS` prints; Fails where it ends with another code (None: any)."""
        ended = self.run([str(self.python), "-m", "eventlog", *arguments])
        if code is not None and ended.code != code:
            raise Fails(f"`eventlog {' '.join(arguments)}` ended with {ended.code}: {_last(ended)}")
        return ended.out

    def own_installation(self) -> Path:
        """Make an installation of this world's own, for hooks to be registered with; return its directory of packages."""
        environment = self.home.parent / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        ours = next((self.python.parent.parent / "lib").glob("python3.*")) / "site-packages"
        packages = next((environment / "lib").glob("python3.*")) / "site-packages"
        shutil.copytree(ours, packages, dirs_exist_ok=True)
        self.python = environment / "bin" / "python"
        return packages

    def install(self, *flags: str) -> None:
        """Register with the host, with something to tell it: a fact an earlier conversation left."""
        self.eventlog("install", self.host.name, *flags)
        self.eventlog("fact", KNOWN, "--session", "earlier", "--project", str(self.project))

    def configure(self, settings: str) -> None:
        """Set these settings, as a user's `config.yaml` has them, in force at once."""
        (self.store / "config.yaml").write_text(f"version: 1\n{settings}\n")
        self.eventlog("settle")

    def events(self, kind: str, session: str = "") -> list[dict[str, Any]]:
        """The events of a type in the log, oldest first; of one conversation, if given."""
        flags = ["--session", session] if session else []
        printed = self.eventlog("query", "--type", kind, "--format", "jsonl", *flags)
        return [json.loads(line) for line in printed.splitlines()]

    def wait_for(self, kind: str, session: str = "", count: int = 1) -> list[dict[str, Any]]:
        """The events of a type as soon as there are so many, for some come from the background."""
        end = time.monotonic() + SETTLING
        while len(found := self.events(kind, session)) < count and time.monotonic() < end:
            time.sleep(0.2)
        return found

    def let_hours_pass(self) -> None:
        """Age what was noted of open conversations by a day, and settle them."""
        for note in (self.store / "cache" / "open").iterdir():
            os.utime(note, (time.time() - 86_400,) * 2)
        self.eventlog("settle")

    def beginning_of_context(self) -> str:
        """The first line of what a session is given, by which its place is found; the log has one session more."""
        return self.eventlog("context", "--session", "onlooker", "--project", str(self.project)).partition("\n")[0]

    # -- the host

    def say(self, prompt: str, session: str = "", *, free: bool = True, patience: float = PATIENCE) -> Turn:
        """One turn of the host without a terminal, of a new conversation or of one that goes on."""
        told, before = session or str(uuid4()), len(self.model.calls)
        arguments = self.host.turn(prompt, told, resume=bool(session), free=free)
        ended = self.run([str(self.host.program(self.modules)), *arguments], patience=patience)
        return Turn(ended, self.host.session(ended, told), self.model.calls[before:])

    def answered(self, prompt: str, session: str = "", **options: Any) -> Turn:
        """The same, and the model was asked; Fails where the host never came so far."""
        turn = self.say(prompt, session, **options)
        if not turn.main:
            raise Fails(
                f"the model was never asked; {self.host.title} ended with {turn.ended.code}: {_last(turn.ended)}"
            )
        return turn

    def with_host(self, host: Host) -> "Scene":
        """The same world with another host in it."""
        other = copy.copy(self)
        other.host = host
        other._write_files()
        return other

    def shell(self, line: str) -> Ended:
        """Run a line of a shell that finds the host and eventlog by their names; Fails where it fails."""
        self.programs.mkdir(exist_ok=True)
        for name, program in (
            (self.host.name, self.host.program(self.modules)),
            ("eventlog", self.python.parent / "eventlog"),
        ):
            if not (self.programs / name).is_symlink():
                (self.programs / name).symlink_to(program)
        ended = self.run(["/bin/sh", "-c", line])
        if ended.code:
            raise Fails(f"`{line}` ended with {ended.code}: {_last(ended)}")
        return ended

    def killed(self, prompt: str) -> str:
        """Kill a host, without a chance to say so, while its model thinks; return the conversation."""
        told, before = str(uuid4()), len(self.model.calls)
        self.model.script.when(prompt, Hang(KILLED_WITHIN))
        arguments = self.host.turn(prompt, told, resume=False, free=True)
        command = [str(self.host.program(self.modules)), *arguments]
        running = subprocess.Popen(
            command,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        end = time.monotonic() + PATIENCE
        while not any(call.is_main for call in self.model.calls[before:]) and time.monotonic() < end:
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        self.model.script.when(prompt)  # hosts put what the next session is told of it before the next prompt
        return str(self.events("session_start")[-1]["conversation_id"])

    def run(self, command: Sequence[str], *, patience: float = PATIENCE) -> Ended:
        """A program of this world; ended, with all it started, when it takes longer than `patience` seconds.

        Where others use the machine, too, they are as many times longer as the program has to share a core.
        """
        begun = time.monotonic()
        patience *= max(1, os.getloadavg()[0] / (os.cpu_count() or 1))
        running = subprocess.Popen(
            command,
            cwd=self.where,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = running.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            out, err = running.communicate()
            raise Fails(f"{Path(command[0]).name} was still running after {patience:.0f} s") from None
        return Ended(
            running.returncode, out.decode(errors="replace"), err.decode(errors="replace"), time.monotonic() - begun
        )

    @property
    def environment(self) -> dict[str, str]:
        """A user's plain one; nothing of ours but the host's own settings."""
        path = f"{self.programs}:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
        node = str(Path(shutil.which("node") or "/usr/bin/node").parent)
        plain = {"HOME": str(self.home), "PATH": f"{path}:{node}", "LANG": "C.UTF-8", "SHELL": "/bin/bash", "USER": "u"}
        return {**plain, "TERM": "xterm-256color", "NO_COLOR": "1", **self.host.environment(self.model.address)}

    def _write_files(self) -> None:
        for name, text in self.host.files(self.project, self.model.address).items():
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def _furnish(self) -> None:
        self._write_files()
        self.project.mkdir()
        (self.project / "README.md").write_text("# A shop\n")
        self.run(["git", "init", "-q", "-b", "main"])
        with (self.project / ".git" / "config").open("a") as config:  # Gemini's shell reads none of the home's
            config.write("[user]\n\tname = u\n\temail = u@example.com\n")
        for command in (["add", "."], ["commit", "-qm", "Begin"]):
            self.run(["git", *command])


def _last(ended: Ended) -> str:
    """The end of what a program said, on one line."""
    return " ".join((ended.err.strip() or ended.out.strip()).split())[-300:]
