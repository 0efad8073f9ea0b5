"""A host in a terminal, driven through tmux: typing, and reading the screen as a person does."""

import shutil
import subprocess
import time
from collections.abc import Callable

from tests.realhosts.model.server import Call
from tests.realhosts.outcome import Fails, Skipped
from tests.realhosts.scene import Scene

_TRUST = "Do you trust the files in this folder?"
_WIDTH, _HEIGHT = 150, 50
_READY, _ANSWER = 30, 30  # seconds waited for
_CALM = 1.5  # seconds without a change that mean: it waits for the user


class Terminal:
    """A conversation of a scene's host; ends with the `with` block."""

    def __init__(self, scene: Scene) -> None:
        if not shutil.which("tmux"):
            raise Skipped("no tmux on this machine")
        self.scene = scene
        self._socket = str(scene.home.parent / "tmux")

    def __enter__(self) -> "Terminal":
        host = self.scene.host
        program = [str(host.program(self.scene.modules)), *host.terminal()]
        self._tmux("new-session", "-d", "-x", str(_WIDTH), "-y", str(_HEIGHT), *program)
        self._until_calm(_READY)
        if _TRUST in self.screen:
            self._tmux("send-keys", "Enter")  # yes
            self._until_calm(_READY)
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server", check=False)

    @property
    def screen(self) -> str:
        """What is on the screen, without blank lines."""
        printed = self._tmux("capture-pane", "-p", "-S", "-200", check=False)
        return "\n".join(line.rstrip() for line in printed.splitlines() if line.strip())

    def say(self, prompt: str) -> list[Call]:
        """Send a prompt; the model's turns it led to. Fails where the model is not asked."""
        before = len(self.scene.model.main)
        self.type(prompt)
        if not self._until(lambda: len(self.scene.model.main) > before, _ANSWER):
            raise Fails(f"the model was not asked after {prompt!r}; on the screen: {self.screen[-400:]!r}")
        self._until_calm(_ANSWER)
        return self.scene.model.main[before:]

    def type(self, text: str) -> None:
        """Type a line, press Enter, and wait until the host waits again."""
        self._tmux("send-keys", "-l", text)
        time.sleep(0.7)  # what comes faster is taken for pasted text
        self._tmux("send-keys", "Enter")
        time.sleep(0.7)
        self._until_calm(_ANSWER)

    def _until_calm(self, seconds: float) -> None:
        """Until screen and model have been the same for a while."""
        seen, since = ("", -1), time.monotonic()

        def calm() -> bool:
            nonlocal seen, since
            now = (self.screen, len(self.scene.model.calls))
            if now != seen:
                seen, since = now, time.monotonic()
            return bool(now[0]) and time.monotonic() - since > _CALM

        self._until(calm, seconds)

    def _until(self, holds: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not (held := holds()) and time.monotonic() < end:
            time.sleep(0.2)
        return held

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        command = ["tmux", "-S", self._socket, "-f", "/dev/null", *arguments]
        ended = subprocess.run(
            command, cwd=self.scene.project, env=self.scene.environment, capture_output=True, text=True, check=False
        )
        if check and ended.returncode:
            raise Fails(f"the terminal is gone: {ended.stderr.strip()}")
        return ended.stdout
